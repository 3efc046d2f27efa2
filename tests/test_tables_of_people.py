"""Files as strangers brought them: read right, or refused with the option that helps; and given back in their form."""

import gzip
import time

import numpy as np
import pytest

import curplus
from curplus.exceptions import CURPlusError, InvalidArgumentError, SourceError
from tests.test_cli_files import printed, run

pytest.importorskip("typer")
pd = pytest.importorskip("pandas")
openpyxl = pytest.importorskip("openpyxl")

N, M = 30, 12


@pytest.fixture
def frame(low_rank, rng):
    """A table of exact rank 2 with gaps."""
    values = low_rank((N, M), 2)
    values[rng.random(values.shape) < 0.15] = np.nan
    return pd.DataFrame(values, columns=[f"c{k}" for k in range(M)])


def with_patients(frame):
    """The table with a column of numbers that count up, though not from 0, and are not called id."""
    return frame.set_axis(pd.Index(np.arange(101, 101 + 3 * N, 3), name="patient"), axis=0)


def everything(source):
    return source.rows(np.arange(source.shape[0]))


WRITERS = {
    "index.csv": lambda frame, path: frame.to_csv(path),
    "no_index.csv": lambda frame, path: frame.to_csv(path, index=False),
    "no_header.csv": lambda frame, path: frame.to_csv(path, index=False, header=False),
    "id.csv": lambda frame, path: frame.rename_axis("id").to_csv(path),
    "patient.csv": lambda frame, path: with_patients(frame).to_csv(path),
    "patient.tsv": lambda frame, path: with_patients(frame).to_csv(path, sep="\t"),
    "german.csv": lambda frame, path: with_patients(frame).to_csv(path, sep=";", decimal=","),
    "packed.csv.gz": lambda frame, path: path.write_bytes(gzip.compress(frame.to_csv().encode())),
    "patient.xlsx": lambda frame, path: with_patients(frame).to_excel(path),
    "no_index.xlsx": lambda frame, path: frame.to_excel(path, index=False),
    "patient.parquet": lambda frame, path: with_patients(frame).reset_index().to_parquet(path),
    "index.parquet": lambda frame, path: with_patients(frame).to_parquet(path),
    "small.csv": lambda frame, path: frame.iloc[:3, :2].to_csv(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_each_file_is_read_as_the_table_that_was_written(frame, tmp_path, name):
    WRITERS[name](frame, tmp_path / name)
    source = curplus.open_source(tmp_path / name)
    expected = (frame.iloc[:3, :2] if name == "small.csv" else frame).to_numpy()
    np.testing.assert_allclose(everything(source), expected, rtol=1e-14 if "xlsx" in name else 0)
    if "patient" in name or name == "german.csv":
        assert source.row_names.tolist() == list(range(101, 101 + 3 * N, 3))
    if name.startswith("patient") and not name.startswith("patient.parquet"):
        assert "counts up" in " ".join(note.text for note in source.notes)


@pytest.mark.parametrize("name", ["index.csv", "no_index.csv", "no_header.csv", "id.csv", "patient.csv", "german.csv"])
def test_a_filled_file_has_the_form_of_the_one_it_was_made_of(frame, tmp_path, name):
    WRITERS[name](frame, tmp_path / name)
    done = run("complete", tmp_path / name, "--out", tmp_path / "filled.csv")
    assert done.returncode == 0, done.stderr
    given, filled = ((tmp_path / n).read_text().splitlines() for n in (name, "filled.csv"))
    assert len(given) == len(filled)
    mark = ";" if name == "german.csv" else ","
    assert [line.count(mark) for line in filled] == [line.count(mark) for line in given]
    if name != "no_header.csv":
        assert filled[0] == given[0]
    if "no_" not in name:
        assert [line.split(mark)[0] for line in filled] == [line.split(mark)[0] for line in given]


def test_a_workbook_is_filled_into_a_workbook(frame, tmp_path):
    with_patients(frame).to_excel(tmp_path / "d.xlsx")
    found = printed("complete", tmp_path / "d.xlsx", "--out", tmp_path / "x.xlsx")
    filled = pd.read_excel(tmp_path / "x.xlsx", index_col=0)
    assert found["n_filled"] == int(frame.isna().to_numpy().sum())
    assert filled.index.name == "patient"
    assert filled.index.tolist() == list(range(101, 101 + 3 * N, 3))
    known = frame.notna().to_numpy()
    np.testing.assert_allclose(filled.to_numpy()[known], frame.to_numpy()[known], rtol=1e-14)
    assert filled.notna().to_numpy().all()


@pytest.mark.parametrize("columns", [("user", "item", "rating"), ("userId", "movieId", "rating"), ("u", "t", "r")])
def test_long_ratings_are_known_by_their_names_or_by_their_text(tmp_path, columns):
    lines = [(user, f"film{item}", user + item) for user in range(5) for item in range(4)]
    pd.DataFrame(lines, columns=columns).to_csv(tmp_path / "long.csv", index=False)
    source = curplus.open_source(tmp_path / "long.csv")
    assert source.shape == (5, 4)
    np.testing.assert_array_equal(everything(source), np.add.outer(np.arange(5), np.arange(4)))


def test_a_column_of_words_is_refused_with_the_option_in_the_words_of_the_caller(tmp_path):
    (tmp_path / "t.csv").write_text("user,item,rating2\n1,a,5\n2,b,4\n")
    with pytest.raises(SourceError, match=r"long=True; if the column holds names, say index_col='item'"):
        curplus.open_source(tmp_path / "t.csv")
    done = run("info", tmp_path / "t.csv")
    assert "say --long; if the column holds names, say --index-col item" in done.stderr
    assert "long=True" not in done.stderr


@pytest.mark.parametrize("text", ["a,b\n", "", "a,b,c\n1,,x\n2,,y\n"])
def test_a_file_without_numbers_is_refused(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(SourceError):
        curplus.open_source(tmp_path / "t.csv")


def test_data_that_ascend_in_several_columns_name_no_rows(tmp_path):
    pd.DataFrame({"a": range(10), "b": range(0, 30, 3), "c": np.arange(10) ** 2.5}).to_csv(
        tmp_path / "t.csv", index=False
    )
    assert curplus.open_source(tmp_path / "t.csv").shape == (10, 3)


# "1,000"


@pytest.mark.parametrize(
    "text", ['gene,a,b\nx,999,2\ny,"1,000",4\n', "gene;a;b\nx;999;2\ny;1,000;4\n", "gene\ta\nx\t1,234,567\ny\t2\n"]
)
def test_a_thousand_is_never_one(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(SourceError, match=r"mark between thousands: leave the mark out(, or with a decimal comma)?"):
        curplus.open_source(tmp_path / "t.csv")


def test_what_the_caller_says_of_a_comma_holds(tmp_path):
    (tmp_path / "t.csv").write_text('gene,a,b\nx,999,2\ny,"1,000",4\n')
    np.testing.assert_array_equal(everything(curplus.open_source(tmp_path / "t.csv", decimal=",")), [[999, 2], [1, 4]])


# A laboratory


LAB = "compound;k1;k2\nunit;nM;nM\nx;1,5;>10000\ny;ND;2,25\nz;4;<1\n"


def test_a_bound_is_read_as_one_beside_units_and_words_for_gaps(tmp_path):
    (tmp_path / "lab.csv").write_text(LAB)
    with pytest.raises(SourceError, match=r"'nM' in line 2 .*skip_rows=\[2\] leaves it out"):
        curplus.open_source(tmp_path / "lab.csv")
    with pytest.raises(SourceError, match=r"'ND' in line 4 .*na_values=\['ND'\] makes it a gap"):
        curplus.open_source(tmp_path / "lab.csv", skip_rows=[2])
    with pytest.raises(SourceError) as refused:
        curplus.open_source(tmp_path / "lab.csv", skip_rows=[2])
    assert "skip_rows" not in str(refused.value)  # the line holds data
    source = curplus.open_source(tmp_path / "lab.csv", skip_rows=[2], na_values="ND")
    seen = curplus.Observation.from_table(source)
    assert (seen.n_values_read, seen.n_gaps) == (3, 3)
    assert list(zip(*(x.tolist() for x in source.bounds), strict=True)) == [(0, 1, 10000.0, 1), (2, 1, 1.0, -1)]


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_units_words_for_gaps_and_decimal_commas_are_said_on_the_command_line(tmp_path, kind):
    if kind == "csv":
        (tmp_path / "lab.csv").write_text(LAB)
    else:
        rows = [line.replace(",", ".").split(";") for line in LAB.splitlines()]
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append([float(x) if x.replace(".", "").isdigit() else x for x in row])
        book.save(tmp_path / "lab.xlsx")
    options = ("--skip-rows", "2-2", "--na-values")
    for words in ("ND", "ND,>10000,<1"):
        found = printed("info", tmp_path / f"lab.{kind}", *options, words)
        assert found["shape"] == [3, 2]
        assert found["n_gaps"] == 3


def test_lines_above_the_table_are_left_out(tmp_path):
    (tmp_path / "t.csv").write_text("Report of May\nmade by hand\nn,a,b\nx,1,2\ny,3,4\n")
    for skip_rows in (2, [1, 2]):
        source = curplus.open_source(tmp_path / "t.csv", skip_rows=skip_rows)
        np.testing.assert_array_equal(everything(source), [[1, 2], [3, 4]])
    with pytest.raises(SourceError, match="skip_rows=1"):
        curplus.open_source(tmp_path / "t.csv")
    with pytest.raises(SourceError, match="skip_rows='2' is neither a number of lines"):
        curplus.open_source(tmp_path / "t.csv", skip_rows="2")


def test_a_sheet_is_named_where_there_are_several(tmp_path):
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        pd.DataFrame(np.eye(3)).to_excel(book, sheet_name="first")
        pd.DataFrame(np.eye(4)).to_excel(book, sheet_name="second")
    with pytest.raises(SourceError, match=r"it has the sheets first, second\. Say which: sheet='first'"):
        curplus.open_source(tmp_path / "t.xlsx")
    for sheet in ("second", 1):
        np.testing.assert_array_equal(everything(curplus.open_source(tmp_path / "t.xlsx", sheet=sheet)), np.eye(4))
    assert printed("info", tmp_path / "t.xlsx", "--sheet", "second")["shape"] == [4, 4]


def test_a_formula_without_a_stored_value_is_refused(tmp_path):
    book = openpyxl.Workbook()
    for row in (["n", "a"], ["x", 1.5], ["y", "=B2*2"]):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(SourceError, match="row 3 has the formula '=B2\\*2' and no stored value"):
        curplus.open_source(tmp_path / "t.xlsx")


# A study reads what the others read


@pytest.fixture
def study(tmp_path):
    with curplus.Study.create(tmp_path / "s.study", rows=["x", "y", "z"], columns=["k1", "k2"]) as made:
        yield made


def test_a_study_is_told_a_table_with_decimal_commas_units_and_words(study, tmp_path):
    (tmp_path / "lab.csv").write_text(LAB)
    receipt = study.tell(tmp_path / "lab.csv", skip_rows=[2], na_values="ND")
    assert (receipt.n_values, receipt.n_bounds) == (5, 2)
    assert study.records()["value"].tolist() == [1.5, ">10000", 2.25, 4.0, "<1"]
    assert study.observation().n_values_read == 3


def test_the_command_line_tells_it_too(study, tmp_path):
    (tmp_path / "lab.csv").write_text(LAB.replace("<1", "7").replace(">10000", "8"))
    done = run("study", "tell", tmp_path / "s.study", tmp_path / "lab.csv", "--skip-rows", "2-2", "--na-values", "ND")
    assert done.returncode == 0, done.stderr
    assert study.status().n_values == 5


def test_a_wide_table_with_a_name_twice_is_refused_and_never_averaged(study, tmp_path):
    (tmp_path / "t.csv").write_text("n,k1,k2\nx,1,2\nx,9,8\n")
    with pytest.raises(InvalidArgumentError, match=r"line 3: a second row is called 'x'\. Keep one"):
        study.tell(tmp_path / "t.csv")
    with pytest.raises(InvalidArgumentError, match="line 1: a second column is called 'k1'"):
        study.tell(pd.DataFrame([[1.0, 2.0]], index=["x"], columns=["k1", "k1"]))
    assert study.status().n_values == 0


def test_frames_of_other_libraries_are_told(study):
    polars = pytest.importorskip("polars")
    assert study.tell(polars.DataFrame({"n": ["x", "y"], "k1": [1, None], "k2": [3.5, 4.5]})).n_values == 3


# Other libraries


def test_tables_that_hand_out_columns_as_arrow_does_are_read(low_rank):
    arrow, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    M = low_rank((6, 4), 2)
    columns = {"gene": [f"g{k}" for k in range(6)]} | {f"c{k}": M[:, k] for k in range(4)}

    class Foreign:
        def __arrow_c_stream__(self, requested_schema=None):
            return arrow.table(columns).__arrow_c_stream__(requested_schema)

    tables = [pd.DataFrame(columns), polars.DataFrame(columns), polars.LazyFrame(columns), arrow.table(columns)]
    for table in (*tables, arrow.table(columns).to_reader(), Foreign()):
        source = curplus.as_source(table)
        np.testing.assert_array_equal(everything(source), M)
        assert source.row_names.tolist() == columns["gene"], type(table)


def test_a_table_of_a_hundred_thousand_columns_and_one_row_is_read_at_once(tmp_path, rng):
    values = rng.standard_normal(100_000)
    (tmp_path / "wide.csv").write_text(
        ",".join(f"c{k}" for k in range(100_000)) + "\n" + ",".join(map(repr, values.tolist()))
    )
    start = time.process_time()
    source = curplus.open_source(tmp_path / "wide.csv")
    assert time.process_time() - start < 4
    np.testing.assert_array_equal(everything(source)[0], values)


@pytest.mark.parametrize("text", ["n,a\nx,1_000\n", "n,a\nx,0x10\n", "n,a\nx,1 000\n", "n,a\nx,12%\n", "n,a\nx,$5\n"])
def test_other_spellings_of_numbers_are_refused(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(CURPlusError, match="is not a number"):
        curplus.open_source(tmp_path / "t.csv")
