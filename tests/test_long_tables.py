"""Long tables: each line has a row, a column and a value; what has no line is a gap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus.exceptions import InvalidArgumentError, SourceError
from curplus.sources import LongSource, ParquetSource

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

NAN = float("nan")
RATINGS = pd.DataFrame(
    {"row": ["ann", "bob", "ann", "eve", "bob"], "column": list("yxxyx"), "value": [5.0, 3.5, 1.0, NAN, 4.5]}
)
DENSE = [[5.0, 1.0], [NAN, 4.0], [NAN, NAN]]  # rows ann, bob, eve; columns y, x


def save(frame, path):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path, index=False, row_group_size=2)
    else:
        frame.to_feather(path)
    return path


def in_memory(kind):
    if kind == "pandas":
        return RATINGS
    if kind == "polars":
        return pytest.importorskip("polars").from_pandas(RATINGS)
    return pytest.importorskip("pyarrow").Table.from_pandas(RATINGS, preserve_index=False)


def everything(source):
    return source.rows(np.arange(source.shape[0]))


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".feather"])
@pytest.mark.parametrize("long", [None, True, ("row", "column", "value"), [0, 1, 2]])
def test_a_long_table_in_a_file_is_a_matrix_with_gaps(tmp_path, ending, long):
    source = curplus.open_source(save(RATINGS, tmp_path / f"ratings{ending}"), long=long)
    np.testing.assert_array_equal(everything(source), DENSE)
    assert source.row_names.tolist() == ["ann", "bob", "eve"]
    assert source.column_names.tolist() == ["y", "x"]
    assert source.gaps
    assert [note.name for note in source.notes] == (["long"] if long is None else [])


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_a_long_table_in_memory_is_a_matrix_with_gaps(kind):
    source = curplus.open_source(in_memory(kind), long=True)
    np.testing.assert_array_equal(everything(source), DENSE)


def test_an_observation_of_a_long_table_has_every_value_as_an_entry(tmp_path):
    seen = curplus.Observation.from_table(curplus.open_source(save(RATINGS, tmp_path / "r.parquet")))
    assert seen.counts == (0, 0, 4)
    assert seen.n_values_read == 3
    assert seen.unmeasured_i.tolist(), seen.unmeasured_j.tolist() == ([2], [0])
    assert seen.row_names.tolist() == ["ann", "bob", "eve"]
    assert curplus.Observation.from_table(curplus.open_source(RATINGS, long=True), missing=5.0).n_entries == 3


def test_categories_that_no_line_has_are_no_rows(tmp_path):
    frame = RATINGS.assign(row=pd.Categorical(RATINGS["row"], categories=["zoe", "eve", "bob", "ann"]))
    for table in (frame, save(frame, tmp_path / "r.parquet"), save(frame, tmp_path / "r.feather")):
        source = curplus.open_source(table, long=True)
        assert sorted(source.row_names) == ["ann", "bob", "eve"]
        assert source.n_known == 3


def test_columns_of_other_names_are_said(tmp_path):
    frame = pd.DataFrame({"time": [1, 2], "film": [7, 3], "user": [10, 9], "rating": [1.0, 2.0]})
    for ending in (".csv", ".parquet", ".arrow"):
        source = curplus.open_source(save(frame, tmp_path / f"r{ending}"), long=("user", "film", "rating"))
        assert source.row_names.tolist() == [9, 10]  # whole numbers are in order
        assert source.column_names.tolist() == [3, 7]
        np.testing.assert_array_equal(everything(source), [[2.0, NAN], [NAN, 1.0]])


def test_a_table_of_three_columns_of_numbers_is_no_long_table(tmp_path):
    source = curplus.open_source(save(pd.DataFrame(np.eye(4)[:, :3], columns=list("abc")), tmp_path / "t.parquet"))
    assert source.shape == (4, 3)
    (tmp_path / "t.csv").write_text("name,a,b\nx,1,2\ny,3,4\n")
    assert not isinstance(curplus.open_source(tmp_path / "t.csv"), LongSource)
    (tmp_path / "t.csv").write_text("i,j,value\n1,1,2\n1,3,4\n")
    assert isinstance(curplus.open_source(tmp_path / "t.csv"), LongSource)
    assert not isinstance(curplus.open_source(tmp_path / "t.csv", long=False), LongSource)


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".feather"])
def test_words_beside_names_of_rows_make_no_long_table(tmp_path, ending):
    people = pd.DataFrame({"name": ["ann", "bob", "eve"], "sex": ["f", "m", "f"], "height": [170, 180, 165]})
    with pytest.raises(SourceError, match=r"is not a number|not numeric"):
        curplus.open_source(save(people, tmp_path / f"people{ending}"))
    (tmp_path / "t.csv").write_text("well,a,b\nA1,1.5,2\nA2,<0.1,3\nA2,1,3\n")
    source = curplus.open_source(tmp_path / "t.csv")
    assert not isinstance(source, LongSource)
    assert [x.tolist() for x in source.bounds] == [[1], [0], [0.1], [-1]]


def test_a_long_table_without_header_loses_no_line(tmp_path):
    (tmp_path / "t.csv").write_text("ann;x;1,5\nbob;y;2\nann;y;3\n")
    source = curplus.open_source(tmp_path / "t.csv")
    np.testing.assert_array_equal(everything(source), [[1.5, 3], [NAN, 2]])


@pytest.mark.parametrize(
    ("text", "long", "message"),
    [
        ("row,column,value\na,x,1\nb,y,high\n", None, "'high' in line 3 (row 'b'), column 'value' is not a number"),
        ("row,column,value\na,x,1\n,y,2\n", None, "line 1 of the values (counted from 0) has no row"),
        ("row,column,value\na,x,1\n", ("row", "value"), "does not name three of the columns row, column, value"),
        ("row,column,value\na,x,1\n", "row", "long='row' does not name three of the columns"),
    ],
)
def test_a_long_table_that_cannot_be_read_says_why(tmp_path, text, long, message):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(SourceError) as caught:
        curplus.open_source(tmp_path / "t.csv", long=long)
    assert message in str(caught.value)


def test_a_long_table_needs_columns():
    with pytest.raises(InvalidArgumentError, match="a ndarray is no table with named columns"):
        curplus.open_source(np.eye(3), long=True)
    with pytest.raises(InvalidArgumentError, match="i, j and values have lengths 1, 1 and 2"):
        LongSource((2, 2), [0], [1], [1.0, 2.0])


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.floats(-1e6, 1e6)), max_size=20))
def test_a_long_source_reads_means_and_gaps_as_a_dense_matrix_does(records):
    i, j, values = (np.array(part) for part in zip(*records, strict=True)) if records else ([], [], [])
    dense = np.full((5, 4), NAN)
    for a in range(5):
        for b in range(4):
            here = [value for row, column, value in records if (row, column) == (a, b)]
            dense[a, b] = np.mean(here) if here else NAN
    source = LongSource((5, 4), i, j, values)
    rows, columns = np.array([4, 0, 2, 2]), np.array([3, 1])
    for part, expected in (
        (source.rows(rows), dense[rows]),
        (source.columns(columns), dense[:, columns]),
        (source.entries(rows, np.array([3, 0, 1, 1])), dense[rows, [3, 0, 1, 1]]),
    ):
        np.testing.assert_allclose(part, expected, rtol=1e-12, atol=1e-9)


# Large Parquet files, by groups of rows


@pytest.fixture
def large(tmp_path, monkeypatch, rng):
    """A Parquet file of 90 x 12 in groups of 20 rows, which is taken for a large one, and its values."""
    monkeypatch.setattr("curplus.sources.parquet.WHOLE_BYTES", 0)
    monkeypatch.setattr("curplus.sources.parquet.CHUNK_BYTES", 8 * 20 * 5)
    values = rng.standard_normal((90, 12))
    values[3, 4] = NAN
    frame = pd.DataFrame(values, index=[f"r{k}" for k in range(90)], columns=[f"c.{k}" for k in range(12)])
    frame.to_parquet(tmp_path / "large.parquet", row_group_size=20)
    return tmp_path / "large.parquet", values


def test_a_large_parquet_file_is_read_by_groups_of_rows_and_by_column(large):
    path, values = large
    source = curplus.open_source(path)
    assert isinstance(source, ParquetSource)
    assert source.row_names[89] == "r89"
    assert source.column_names.tolist() == [f"c.{k}" for k in range(12)]
    np.testing.assert_array_equal(source.columns(np.array([7, 4])), values[:, [7, 4]])
    assert source.bytes_read == 8 * 2 * 90
    source = curplus.open_source(path)
    np.testing.assert_array_equal(source.rows(np.array([25])), values[[25]])
    assert source.bytes_read == 8 * 12 * 20
    i, j = np.array([0, 3, 89]), np.array([11, 4, 0])
    np.testing.assert_array_equal(source.entries(i, j), values[i, j])


def test_a_plan_takes_gaps_from_a_large_parquet_file(large):
    path, values = large
    seen = curplus.observe(curplus.open_source(path), n_columns=12, n_rows=3, n_entries=20, rng=0)
    assert seen.n_gaps == 1
    np.testing.assert_array_equal(seen.columns, values[:, seen.column_index])
