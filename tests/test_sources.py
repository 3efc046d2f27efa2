"""Every kind of source reads like the dense matrix it stands for."""

import re
from typing import NamedTuple

import array_api_strict
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings

import curplus
from curplus.exceptions import InvalidArgumentError, SourceError
from tests.conftest import RecordingSource
from tests.strategies import indices, shapes

N, M = SHAPE = (9, 7)
EMPTY = np.empty(0, dtype=np.int64)
ROWS, COLUMNS = np.array([8, 0, 3, 3]), np.array([6, 2, 0])
AT_I, AT_J = np.array([0, 8, 4, 4, 2]), np.array([6, 0, 3, 3, 5])

# Small whole numbers, a third of them zero: every dtype of the table below holds them exactly.
WHOLE = np.random.default_rng(0).integers(-3, 4, size=SHAPE).astype(np.float64)
WHOLE[WHOLE == 3] = 0


class Kind(NamedTuple):
    """One row of the table of sources: how to make it from a dense matrix, and what it returns."""

    make: object  # dense matrix, folder -> what a user gives
    dense: np.ndarray = WHOLE
    dtype: type = np.float64
    exact: bool = True


class Foreign:
    """Somebody else's matrix, with the five members that make a source and not one more."""

    def __init__(self, matrix):
        self._matrix, self.shape, self.dtype = matrix, matrix.shape, matrix.dtype

    def rows(self, index):
        return self._matrix[index]

    def columns(self, index):
        return self._matrix[:, index]

    def entries(self, i, j):
        return self._matrix[i, j]


def memory_mapped(x, folder):
    path = folder / "matrix.npy"
    np.save(path, x)
    return np.load(path, mmap_mode="r")


def with_duplicates(x, dtype=np.float64):
    """A COO array that stores ``x`` as sums, and its zeros as well."""
    i, j = (index.reshape(-1) for index in np.indices(x.shape))
    half = x.reshape(-1) // 2
    data = np.concatenate([half, x.reshape(-1) - half]).astype(dtype)
    return scipy.sparse.coo_array((data, (np.tile(i, 2), np.tile(j, 2))), shape=x.shape)


def unsorted_with_duplicates(x):
    """A CSR array whose rows are stored backwards, each entry in two parts."""
    column = np.repeat(np.arange(x.shape[1])[::-1], 2)
    data = np.repeat(x[:, ::-1], 2, axis=1) / 2
    start = np.arange(x.shape[0] + 1) * len(column)
    return scipy.sparse.csr_array((data.reshape(-1), np.tile(column, len(x)), start), shape=x.shape)


def mixed_frame(x):
    """A table whose columns are whole numbers, single and double precision, in turn."""
    dtypes = (np.int64, np.float32, np.float64, np.int8)
    return pd.DataFrame({f"c{k}": x[:, k].astype(dtypes[k % 4]) for k in range(x.shape[1])})


def frame_with_truth_values(x):
    frame = mixed_frame(x)
    frame["c1"] = x[:, 1] != 0
    return frame


def exact_factorization(x):
    seen = curplus.observe(x, n_columns=x.shape[1], n_rows=x.shape[0], n_entries=0)
    return curplus.cur_full(x, seen)


def function_of_position(block_size):
    def make(x, _):
        return curplus.CallableSource(lambda i, j: x[i, j], x.shape, block_size=block_size)

    return make


TRUTH = np.where(WHOLE != 0, 1.0, 0.0)
POSITIVE = np.abs(WHOLE)
LARGE = 120 * POSITIVE  # up to 360: each half fits into uint8, the sum does not
TRUTH_IN_ONE_COLUMN = np.where(np.arange(M) == 1, TRUTH, WHOLE)

KINDS = {
    "C order": Kind(lambda x, _: np.ascontiguousarray(x)),
    "Fortran order": Kind(lambda x, _: np.asfortranarray(x)),
    "every second of a larger array": Kind(lambda x, _: np.repeat(np.repeat(x, 2, axis=0), 3, axis=1)[::2, ::3]),
    "backwards view": Kind(lambda x, _: x[::-1, ::-1].copy()[::-1, ::-1]),
    "read-only": Kind(lambda x, _: np.frombuffer(x.tobytes()).reshape(x.shape)),
    "float32": Kind(lambda x, _: x.astype(np.float32), dtype=np.float32),
    "float16": Kind(lambda x, _: x.astype(np.float16), dtype=np.float32),
    "longdouble": Kind(lambda x, _: x.astype(np.longdouble)),
    "big-endian": Kind(lambda x, _: x.astype(">f8")),
    "int8": Kind(lambda x, _: x.astype(np.int8)),
    "int64": Kind(lambda x, _: x.astype(np.int64)),
    "uint16": Kind(lambda x, _: x.astype(np.uint16), dense=POSITIVE),
    "bool": Kind(lambda x, _: x != 0, dense=TRUTH),
    "nested list": Kind(lambda x, _: x.tolist()),
    "nested tuple of ints": Kind(lambda x, _: tuple(tuple(int(v) for v in row) for row in x)),
    "np.matrix": Kind(lambda x, _: x.view(np.matrix)),
    "memory-mapped file": Kind(memory_mapped),
    "memory-mapped integers": Kind(lambda x, folder: memory_mapped(x.astype(np.int16), folder)),
    "strict float64": Kind(lambda x, _: array_api_strict.asarray(x)),
    "strict float32": Kind(lambda x, _: array_api_strict.asarray(x.astype(np.float32)), dtype=np.float32),
    "strict int64": Kind(lambda x, _: array_api_strict.asarray(x.astype(np.int64))),
    "strict bool": Kind(lambda x, _: array_api_strict.asarray(x != 0), dense=TRUTH),
    "DataFrame": Kind(lambda x, _: pd.DataFrame(x)),
    "DataFrame of float32": Kind(lambda x, _: pd.DataFrame(x.astype(np.float32)), dtype=np.float32),
    "DataFrame of ints": Kind(lambda x, _: pd.DataFrame(x.astype(np.int64))),
    "DataFrame of mixed numbers": Kind(lambda x, _: mixed_frame(x)),
    "DataFrame of numbers and truth values": Kind(lambda x, _: frame_with_truth_values(x), dense=TRUTH_IN_ONE_COLUMN),
    "DataFrame of nullable numbers": Kind(lambda x, _: pd.DataFrame(x).astype("Int64")),
    "DataFrame with repeated names": Kind(lambda x, _: pd.DataFrame(x, index=["a"] * N, columns=["b"] * M)),
    "DataFrame with shuffled numbers as names": Kind(lambda x, _: pd.DataFrame(x, range(N, 0, -1), range(M, 0, -1))),
    "csr_array": Kind(lambda x, _: scipy.sparse.csr_array(x)),
    "csc_array": Kind(lambda x, _: scipy.sparse.csc_array(x)),
    "coo_array": Kind(lambda x, _: scipy.sparse.coo_array(x)),
    "lil_array": Kind(lambda x, _: scipy.sparse.lil_array(x)),
    "dok_array": Kind(lambda x, _: scipy.sparse.dok_array(x)),
    "csr_matrix": Kind(lambda x, _: scipy.sparse.csr_matrix(x)),
    "csc_matrix": Kind(lambda x, _: scipy.sparse.csc_matrix(x)),
    "coo_matrix": Kind(lambda x, _: scipy.sparse.coo_matrix(x)),
    "lil_matrix": Kind(lambda x, _: scipy.sparse.lil_matrix(x)),
    "csr_array of float32": Kind(lambda x, _: scipy.sparse.csr_array(x.astype(np.float32)), dtype=np.float32),
    "csc_array of ints": Kind(lambda x, _: scipy.sparse.csc_array(x.astype(np.int8))),
    "csr_matrix of bools": Kind(lambda x, _: scipy.sparse.csr_matrix(x != 0), dense=TRUTH),
    "coo_array with duplicates and explicit zeros": Kind(lambda x, _: with_duplicates(x)),
    "coo_array whose duplicates overflow": Kind(lambda x, _: with_duplicates(x, np.uint8), dense=LARGE),
    "csr_array unsorted, with duplicates": Kind(lambda x, _: unsorted_with_duplicates(x)),
    "function, one position at a time": Kind(function_of_position(1)),
    "function, blocks of 7": Kind(function_of_position(7)),
    "function, one block": Kind(function_of_position(10**6)),
    "Factorization": Kind(lambda x, _: exact_factorization(x), exact=False),
    "recording source": Kind(lambda x, _: RecordingSource(x)),
    "foreign object": Kind(lambda x, _: Foreign(x)),
}


@pytest.fixture(params=KINDS.values(), ids=KINDS.keys(), scope="module")
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def user_matrix(kind, tmp_path_factory):
    """What the user gives."""
    return kind.make(kind.dense.copy(), tmp_path_factory.mktemp("source"))


@pytest.fixture(scope="module")
def source(user_matrix):
    return curplus.as_source(user_matrix)


def check_equals(part, expected, kind):
    """``part`` has the values, the shape and the type that the table promises."""
    part = np.asarray(part)
    assert part.shape == expected.shape
    assert part.dtype == kind.dtype
    np.testing.assert_allclose(part, expected, rtol=0, atol=0 if kind.exact else 1e-13 * np.abs(kind.dense).max())


# What is read


def test_shape_and_dtype_are_those_of_what_is_read(source, kind):
    assert tuple(source.shape) == SHAPE
    assert str(source.dtype).endswith(np.dtype(kind.dtype).name)
    assert isinstance(source, curplus.Source)


@pytest.mark.parametrize("index", [ROWS, EMPTY, np.arange(N)], ids=["some", "none", "all"])
def test_rows_are_those_of_the_dense_matrix(source, kind, index):
    check_equals(source.rows(index), kind.dense[index], kind)


@pytest.mark.parametrize("index", [COLUMNS, EMPTY, np.arange(M)], ids=["some", "none", "all"])
def test_columns_are_those_of_the_dense_matrix(source, kind, index):
    check_equals(source.columns(index), kind.dense[:, index], kind)


@pytest.mark.parametrize(("i", "j"), [(AT_I, AT_J), (AT_I[:1], AT_J[:1]), (EMPTY, EMPTY)], ids=["some", "one", "none"])
def test_entries_are_those_of_the_dense_matrix(source, kind, i, j):
    check_equals(source.entries(i, j), kind.dense[i, j], kind)


@settings(max_examples=10)
@given(rows=indices(N), columns=indices(M))
def test_all_three_ways_to_read_agree(source, kind, rows, columns):
    i, j = (index.reshape(-1) for index in np.meshgrid(rows, columns, indexing="ij"))
    expected = kind.dense[np.ix_(rows, columns)]
    check_equals(np.asarray(source.rows(rows))[:, columns], expected, kind)
    check_equals(np.asarray(source.columns(columns))[rows], expected, kind)
    check_equals(np.asarray(source.entries(i, j)).reshape(expected.shape), expected, kind)


@pytest.mark.parametrize("n_entries", [0, 20])
def test_an_observation_holds_what_the_dense_matrix_holds(user_matrix, kind, n_entries):
    seen = curplus.observe(user_matrix, n_columns=3, n_rows=4, n_entries=n_entries, rng=1)
    check_equals(seen.columns, kind.dense[:, seen.column_index], kind)
    check_equals(seen.rows, kind.dense[seen.row_index], kind)
    check_equals(seen.values, kind.dense[seen.i, seen.j], kind)


def test_a_part_of_a_mixed_table_has_the_type_of_the_whole():
    source = curplus.as_source(mixed_frame(WHOLE))
    for k in range(M):
        assert source.columns(np.array([k])).dtype == source.dtype == np.float64


def test_what_is_observed_stays_in_the_array_library_it_came_from(xp):
    seen = curplus.observe(xp.asarray(WHOLE), n_columns=3, n_rows=4, n_entries=5, rng=1)
    assert {type(part) for part in (seen.columns, seen.rows, seen.values)} == {type(xp.asarray(1.0))}


def test_what_is_observed_of_a_mapped_file_is_a_plain_array(tmp_path):
    seen = curplus.observe(memory_mapped(WHOLE, tmp_path), n_columns=3, n_rows=4, n_entries=5, rng=1)
    assert {type(part) for part in (seen.columns, seen.rows, seen.values)} == {np.ndarray}


def test_reading_changes_nothing_that_is_the_users(kind, tmp_path):
    (tmp_path / "untouched").mkdir()
    given, untouched = (kind.make(kind.dense.copy(), folder) for folder in (tmp_path, tmp_path / "untouched"))
    source = curplus.as_source(given)
    curplus.observe(source, n_columns=3, n_rows=4, n_entries=20, rng=1)
    curplus.cur_full(source, curplus.observe(source, n_columns=2, n_rows=2, n_entries=0, rng=1))
    for part, expected in zip(contents(given), contents(untouched), strict=True):
        assert part.dtype == expected.dtype
        np.testing.assert_array_equal(part, expected)


def contents(given):
    """The arrays that make up what a user gave."""
    if isinstance(given, pd.DataFrame):
        return [given.to_numpy(), given.dtypes.to_numpy(), given.index.to_numpy(), given.columns.to_numpy()]
    if scipy.sparse.issparse(given):
        stored = {"csr": ("data", "indices", "indptr"), "csc": ("data", "indices", "indptr"), "coo": ("data", "coords")}
        parts = [np.asarray(getattr(given, name)) for name in stored.get(given.format, ())]
        return parts or [given.toarray()]
    if isinstance(given, curplus.Factorization):
        return [given.left.vectors, given.core.Z, given.right.vectors]
    if isinstance(given, (Foreign, RecordingSource, curplus.CallableSource)):
        return [given.rows(np.arange(N))]
    return [np.asarray(given)]


def test_a_writable_array_stays_writable():
    matrix = WHOLE.copy()
    curplus.observe(matrix, n_columns=M, n_rows=N, n_entries=N * M)
    matrix[0, 0] = 100.0


def test_changing_the_matrix_later_does_not_change_what_was_observed():
    matrix = WHOLE.copy()
    seen = curplus.observe(matrix, n_columns=M, n_rows=N, n_entries=N * M)
    matrix[:] = 100.0
    np.testing.assert_array_equal(seen.columns, WHOLE)
    np.testing.assert_array_equal(seen.rows, WHOLE)


def test_a_source_is_returned_as_it_is(source):
    assert curplus.as_source(source) is source


def test_an_entry_that_is_not_stored_is_the_value_zero():
    source = curplus.as_source(scipy.sparse.coo_array(([5.0], ([1], [2])), shape=(3, 4)))
    np.testing.assert_array_equal(source.entries(np.array([0, 1]), np.array([0, 2])), [0.0, 5.0])


@given(shapes(min_side=1))
def test_a_matrix_of_any_size_can_be_observed_whole(shape):
    matrix = np.arange(np.prod(shape)).reshape(shape)
    for given_matrix in (matrix, scipy.sparse.csr_array(matrix), pd.DataFrame(matrix)):
        seen = curplus.observe(given_matrix, n_columns=shape[1], n_rows=shape[0], n_entries=matrix.size)
        np.testing.assert_array_equal(seen.columns, matrix)
        np.testing.assert_array_equal(seen.rows, matrix)
        np.testing.assert_array_equal(seen.values, matrix.reshape(-1))


# Functions of the position


@pytest.mark.parametrize("block_size", [1, 7, 64, 10**6])
def test_a_function_is_asked_for_bounded_blocks_of_vectors(block_size):
    asked = []

    def function(i, j):
        asked.append((i, j))
        return 10.0 * i + j

    source = curplus.CallableSource(function, SHAPE, block_size=block_size)
    curplus.observe(source, n_columns=3, n_rows=4, n_entries=20, rng=0)
    for i, j in asked:
        assert i.ndim == j.ndim == 1
        assert 1 <= len(i) == len(j) <= block_size
        assert i.dtype == j.dtype == np.int64
    assert sum(len(i) for i, _ in asked) == 3 * N + 4 * M + 20
    assert len(asked) == sum(-(-size // block_size) for size in (3 * N, 4 * M, 20))


def test_a_function_is_not_called_when_nothing_is_asked():
    def function(i, j):
        raise AssertionError("nothing was to be read")

    source = curplus.CallableSource(function, SHAPE)
    seen = curplus.observe(source, n_columns=0, n_rows=0, n_entries=0)
    assert seen.columns.shape == (N, 0)
    assert seen.rows.shape == (0, M)
    assert seen.values.shape == (0,)


def test_a_function_that_writes_into_its_positions_does_not_move_them():
    def function(i, j):
        values = WHOLE[i, j]
        i[:], j[:] = 0, 0
        return values

    source = curplus.CallableSource(function, SHAPE, block_size=7)
    seen = curplus.observe(source, n_columns=3, n_rows=4, n_entries=20, rng=0)
    plan = curplus.observation.uniform_plan(SHAPE, n_columns=3, n_rows=4, n_entries=20, rng=0)
    np.testing.assert_array_equal([seen.i, seen.j], [plan.i, plan.j])
    np.testing.assert_array_equal(seen.values, WHOLE[plan.i, plan.j])


def test_a_function_that_raises_is_named_with_the_block_it_was_asked_for():
    def function(i, j):
        if np.any(i == 5):
            raise OSError("the line is dead")
        return 1.0 * i

    source = curplus.CallableSource(function, SHAPE, block_size=4)
    with pytest.raises(SourceError) as caught:
        source.rows(np.array([4, 5]))
    assert isinstance(caught.value.__cause__, OSError)
    assert str(caught.value) == (
        "the function raised OSError: the line is dead, when asked for a block of 4 positions, rows 4 to 5 and columns "
        "0 to 6, from (4, 4) to (5, 0)."
    )


def test_an_interrupted_function_is_not_an_error_of_the_source():
    def function(i, j):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        curplus.CallableSource(function, SHAPE).entries(AT_I, AT_J)


ASKED = "a block of 5 positions, rows 0 to 8 and columns 0 to 6, from (0, 6) to (2, 5)"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda i, j: 1.0 * i[:-1], "returned an array of shape (4,)"),
        (lambda i, j: np.append(1.0 * i, 1.0), "returned an array of shape (6,)"),
        (lambda i, j: 1.0, "returned an array of shape ()"),
        (lambda i, j: 1.0 * i[:, None], "returned an array of shape (5, 1)"),
        (lambda i, j: np.where(i == 8, np.nan, i), "returned nan at row 8, column 0"),
        (lambda i, j: np.where(j == 3, -np.inf, i), "returned -inf at row 4, column 3"),
        (lambda i, j: 1j * i, "what the function returned is complex (complex128)"),
        (lambda i, j: i.astype(str), "which is not numeric"),
        (lambda i, j: i.astype(object), "what the function returned has dtype object, which is not numeric"),
        (lambda i, j: None, "what the function returned has dtype object, which is not numeric"),
        (lambda i, j: np.ma.masked_equal(1.0 * i, 8.0), "masked"),
    ],
)
def test_an_answer_that_is_no_vector_of_finite_numbers_is_refused(answer, message):
    with pytest.raises(SourceError) as caught:
        curplus.CallableSource(answer, SHAPE).entries(AT_I, AT_J)
    assert message in str(caught.value)
    assert ASKED in str(caught.value)


def test_an_answer_that_does_not_fit_the_kept_type_is_refused():
    source = curplus.CallableSource(lambda i, j: np.where(i == 8, 1e300, i), SHAPE, dtype=np.float32)
    with pytest.raises(SourceError, match=r"at row 8, column 0"):
        source.entries(AT_I, AT_J)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_answers_are_kept_in_the_type_that_was_asked_for(dtype):
    source = curplus.CallableSource(lambda i, j: i, SHAPE, dtype=dtype)
    assert source.dtype == source.rows(ROWS).dtype == source.entries(AT_I, AT_J).dtype == dtype


@pytest.mark.parametrize("answer", [list, np.float16, np.int8, np.bool, pd.Series, array_api_strict.asarray])
def test_a_function_may_answer_in_any_kind_of_real_numbers(answer):
    source = curplus.CallableSource(lambda i, j: answer(i % 2), SHAPE)
    np.testing.assert_array_equal(source.entries(AT_I, AT_J), AT_I % 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"function": 3.0}, "function=3.0 cannot be called. Give a function of (i, j)."),
        ({"shape": 9}, "shape=9 is not a pair"),
        ({"shape": (9, 7, 2)}, "shape=(9, 7, 2) is not a pair"),
        ({"shape": (0, 7)}, "shape[0]=0 is too small. Give at least 1."),
        ({"shape": (9, -7)}, "shape[1]=-7 is too small. Give at least 1."),
        ({"shape": (9, 7.0)}, "shape[1]=7.0 is not a whole number. Give an int."),
        ({"block_size": 0}, "block_size=0 is too small. Give at least 1."),
        ({"dtype": complex}, "dtype=complex128 is not supported. Use float32 or float64."),
        ({"dtype": int}, "dtype=int64 is not supported. Use float32 or float64."),
        ({"row_names": ["a", "b"]}, "row_names has shape (2,) but the matrix needs 9 names. Give one each."),
    ],
)
def test_a_callable_source_says_what_it_cannot_be_made_of(arguments, message):
    with pytest.raises(InvalidArgumentError, match=re.escape(message)):
        curplus.CallableSource(**{"function": lambda i, j: i, "shape": SHAPE} | arguments)


# Names

GENES, TISSUES = [f"gene {k}" for k in range(N)], [f"tissue {k}" for k in range(M)]


class NamedForeign(Foreign):
    row_names, column_names = GENES, TISSUES


@pytest.mark.parametrize(
    "make",
    [
        lambda x: pd.DataFrame(x, index=GENES, columns=TISSUES),
        lambda x: curplus.as_source(x, row_names=GENES, column_names=TISSUES),
        lambda x: curplus.as_source(scipy.sparse.csr_array(x), row_names=GENES, column_names=(t for t in TISSUES)),
        lambda x: curplus.as_source(pd.DataFrame(x), row_names=GENES, column_names=pd.Index(TISSUES)),
        lambda x: curplus.CallableSource(lambda i, j: x[i, j], x.shape, row_names=GENES, column_names=TISSUES),
        NamedForeign,
        lambda x: curplus.as_source(Foreign(x), row_names=GENES, column_names=np.array(TISSUES)),
    ],
    ids=["DataFrame", "array", "sparse", "renamed DataFrame", "function", "foreign", "renamed foreign"],
)
def test_names_travel_to_the_answer(make):
    seen = curplus.observe(make(WHOLE), n_columns=3, n_rows=4, n_entries=10, rng=0)
    assert list(seen.row_names) == GENES
    assert list(seen.column_names) == TISSUES
    answer = curplus.cur_plus(seen, rank=1)
    assert list(answer.sampled_column_names) == [TISSUES[k] for k in seen.column_index]
    assert list(answer.sampled_row_names) == [GENES[k] for k in seen.row_index]


def test_sources_without_names_give_none():
    seen = curplus.observe(WHOLE, n_columns=3, n_rows=4, n_entries=10)
    assert seen.row_names is seen.column_names is None


def test_one_side_may_have_names_and_the_other_none():
    source = curplus.as_source(WHOLE, column_names=TISSUES)
    assert list(source.column_names) == TISSUES
    assert source.row_names is None


def test_names_given_to_a_source_do_not_change_the_users_object():
    mine = Foreign(WHOLE)
    named = curplus.as_source(mine, row_names=GENES)
    assert list(named.row_names) == GENES
    assert not hasattr(mine, "row_names")


def test_names_given_to_one_use_of_a_source_do_not_reach_another():
    source = curplus.as_source(WHOLE)
    curplus.as_source(source, row_names=GENES)
    assert source.row_names is None


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (["a", "a", "b"], ["a", "a", "b"]),
        ([30, 20, 10], [30, 20, 10]),
        ([1.5, 2.5, 3.5], [1.5, 2.5, 3.5]),
        (["a", 1, None], ["a", "1", "None"]),
        (pd.date_range("2015-07-06", periods=3), ["2015-07-06", "2015-07-07", "2015-07-08"]),
        (pd.Categorical(["x", "y", "x"]), ["x", "y", "x"]),
        (pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]), ["('a', 1)", "('a', 2)", "('b', 1)"]),
    ],
    ids=["repeated", "ints", "floats", "mixed", "dates", "categories", "levels"],
)
def test_names_of_a_table_may_be_of_any_kind(index, expected, tmp_path):
    seen = curplus.observe(pd.DataFrame(np.eye(3), index=index, columns=index), n_columns=2, n_rows=2, n_entries=2)
    seen.save(tmp_path / "seen.npz")
    for names in (seen.row_names, seen.column_names, curplus.load(tmp_path / "seen.npz").row_names):
        assert names.dtype.kind in "iufU"
        assert [str(name)[:10] if isinstance(index, pd.DatetimeIndex) else name for name in names] == expected


@pytest.mark.parametrize(("names", "shape"), [(["a", "b"], "(2,)"), ([["a"] * N], "(1,)"), ([], "(0,)")])
def test_names_must_be_one_each(names, shape):
    message = f"row_names has shape {shape} but the matrix needs {N} names. Give one each."
    with pytest.raises(InvalidArgumentError, match=re.escape(message)):
        curplus.as_source(WHOLE, row_names=names)


def test_one_string_is_not_a_list_of_names():
    with pytest.raises(InvalidArgumentError, match="row_names='abcdefghi' is one string but the matrix needs 9 names"):
        curplus.as_source(WHOLE, row_names="abcdefghi")


# What is no matrix


@pytest.mark.parametrize(
    ("given_matrix", "message"),
    [
        (np.arange(3.0), "the matrix has shape (3,). Give a two-dimensional array."),
        ([1.0, 2.0], "the matrix has shape (2,). Give a two-dimensional array."),
        (np.zeros((2, 3, 4)), "the matrix has shape (2, 3, 4). Give a two-dimensional array."),
        (array_api_strict.zeros((2, 3, 4)), "the matrix has shape (2, 3, 4). Give a two-dimensional array."),
        (np.float64(3), "the matrix has shape (). Give a two-dimensional array."),
        (scipy.sparse.coo_array(np.arange(4.0)), "the matrix has shape (4,). Give a two-dimensional array."),
        (scipy.sparse.coo_array(np.ones((2, 3, 4))), "the matrix has shape (2, 3, 4). Give a two-dimensional array."),
        (np.array([[1, None]]), "the matrix has dtype object, which is not numeric"),
        ([["a", "b"]], "the matrix has dtype <U1, which is not numeric"),
        (np.zeros((2, 2), dtype="M8[s]"), "the matrix has dtype datetime64[s], which is not numeric"),
        (np.zeros((2, 2), dtype="f8,i4"), "which is not numeric"),
        (pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}), "which is not numeric"),
        (pd.DataFrame({"a": pd.date_range("2015", periods=2)}), "which is not numeric"),
        (pd.DataFrame({"a": [1j, 2j]}), "the table is complex (complex128), and only real matrices are supported"),
        (np.eye(2) * 1j, "the matrix is complex (complex128), and only real matrices are supported"),
        (scipy.sparse.eye_array(2) * 1j, "the matrix is complex (complex128), and only real matrices are supported"),
        (array_api_strict.asarray([[1j]]), "and only real matrices are supported"),
        (np.ma.masked_equal(np.eye(2), 0), "the matrix is a masked array, and a masked value is a gap"),
        (lambda i, j: i, "a function alone has no shape. Give CallableSource(function, shape)."),
        (None, "a NoneType cannot be read as a matrix. Give a NumPy array, a pandas DataFrame, a SciPy sparse matrix"),
        ("matrix.npy", "a str cannot be read as a matrix"),
        ({"a": [1.0]}, "a dict cannot be read as a matrix"),
        (pd.Series([1.0]), "a Series cannot be read as a matrix"),
        ([[1.0, 2.0], [3.0]], "the matrix"),
    ],
)
def test_what_is_no_real_matrix_is_refused(given_matrix, message):
    for function in (curplus.as_source, lambda x: curplus.observe(x, n_columns=1, n_rows=1, n_entries=1)):
        with pytest.raises(InvalidArgumentError, match=re.escape(message)):
            function(given_matrix)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("make", [np.zeros, scipy.sparse.csr_array, lambda shape: pd.DataFrame(np.zeros(shape))])
def test_a_matrix_without_entries_is_refused(make, shape):
    with pytest.raises(InvalidArgumentError, match=rf"shape\[{shape.index(0)}\]=0 is too small. Give at least 1."):
        curplus.observe(make(shape), n_columns=0, n_rows=0, n_entries=0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array, pd.DataFrame, Foreign, array_api_strict.asarray])
def test_a_value_that_is_not_finite_is_named_with_its_place(make, bad):
    matrix = WHOLE.copy()
    matrix[3, 5] = bad
    with pytest.raises(InvalidArgumentError, match=rf"={bad} \(row 3, column 5\)\. Every value .* must be finite"):
        curplus.observe(make(matrix), n_columns=M, n_rows=0, n_entries=0)


def test_a_value_that_is_not_finite_does_no_harm_where_nobody_looks():
    matrix = np.full(SHAPE, np.nan)
    matrix[:, [0, 3]] = 1.0
    plan = curplus.SamplePlan(SHAPE, np.array([0, 3]), EMPTY, EMPTY, EMPTY)
    assert np.all(curplus.read(curplus.as_source(matrix), plan).columns == 1.0)


# Real data


def test_word_counts_read_alike_dense_and_sparse(data_dir):
    counts = scipy.sparse.load_npz(data_dir / "basehock.npz")
    how_many = {"n_columns": 20, "n_rows": 30, "n_entries": 2000, "rng": 0}
    sparse = curplus.observe(counts, **how_many)
    dense = curplus.observe(counts.toarray(), **how_many)
    assert np.any(sparse.values > 0)
    for name in ("columns", "rows", "values"):
        np.testing.assert_array_equal(getattr(sparse, name), getattr(dense, name))


def test_ratings_become_an_observation_without_being_a_matrix(data_dir):
    with np.load(data_dir / "movielens_100k.npz") as stored:
        ratings = curplus.Observation(
            shape=tuple(int(n) for n in stored["shape"]), i=stored["rows"], j=stored["cols"], values=stored["values"]
        )
    assert repr(ratings) == "<Observation of a 943 x 1682 matrix: 0 columns, 0 rows, 100000 entries, float64>"
    assert ratings.values.mean() == pytest.approx(3.53, abs=0.005)


def test_a_function_that_returns_a_ragged_list_is_reported():
    source = curplus.CallableSource(lambda i, j: [[1], [1, 2]], (3, 4))
    with pytest.raises(SourceError, match="what the function returned cannot be read"):
        source.entries(np.arange(2), np.arange(2))
