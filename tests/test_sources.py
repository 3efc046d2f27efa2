"""Every kind of source reads like the dense matrix it stands for."""

import decimal
import gc
import re
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import NamedTuple

import array_api_strict
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings

import curplus
from curplus.exceptions import InvalidArgumentError, MissingExtraError, SourceError
from curplus.sources import ArraySource, ChunkedSource, DaskSource, MappedSource, StripedSource, striped
from curplus.sources.convert import whole_matrix
from curplus.sources.file import READERS
from tests.conftest import RecordingSource, effort
from tests.strategies import indices, shapes

N, M = SHAPE = (9, 7)
EMPTY = np.empty(0, dtype=np.int64)
ROWS, COLUMNS = np.array([8, 0, 3, 3]), np.array([6, 2, 0])
AT_I, AT_J = np.array([0, 8, 4, 4, 2]), np.array([6, 0, 3, 3, 5])
GENES, TISSUES = [f"gene {k}" for k in range(N)], [f"tissue {k}" for k in range(M)]

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


def sparse_(x):
    return scipy.sparse.csc_array(x)


def frame_with_sparse_columns(x):
    """A table with sparse columns of whole numbers and of truth values among dense ones."""
    frame = mixed_frame(x)
    return frame.assign(c0=frame["c0"].astype("Sparse[int64]"), c2=frame["c2"].astype(pd.SparseDtype(float, 0.0)))


def exact_factorization(x):
    seen = curplus.observe(x, n_columns=x.shape[1], n_rows=x.shape[0], n_entries=0)
    return curplus.cur_full(x, seen)


def function_of_position(block_size):
    def make(x, _):
        return curplus.CallableSource(lambda i, j: x[i, j], x.shape, block_size=block_size, dtype=x.dtype)

    return make


def hdf5(chunks=None, dtype=np.float64):
    """A dataset of a file that is open; without chunks it lies there row after row."""

    def make(x, folder):
        h5py = pytest.importorskip("h5py")
        with h5py.File(folder / "matrix.h5", "w") as file:
            file.create_dataset("group/matrix", data=x.astype(dtype), chunks=chunks)
        return h5py.File(folder / "matrix.h5")["group/matrix"]

    return make


def zarr_(chunks, dtype=np.float64, shards=None):
    def make(x, folder):
        zarr = pytest.importorskip("zarr")
        array = zarr.create_array(folder / "matrix.zarr", shape=x.shape, chunks=chunks, shards=shards, dtype=dtype)
        array[:] = x
        return zarr.open_array(folder / "matrix.zarr", mode="r")

    return make


def dask_(chunks, dtype=np.float64):
    return lambda x, _: pytest.importorskip("dask.array").from_array(x.astype(dtype), chunks=chunks)


def polars_(make=pd.DataFrame):
    def frame(x, _):
        table = make(x)
        return pytest.importorskip("polars").DataFrame({str(name): table[name].to_numpy() for name in table})

    return frame


def arrow(make=pd.DataFrame):
    return lambda x, _: pytest.importorskip("pyarrow").Table.from_pandas(make(x))


def in_several_pieces(x, _):
    """An Arrow table whose columns are stored in pieces, as those of a large file are."""
    pa = pytest.importorskip("pyarrow")
    return pa.concat_tables([pa.Table.from_pandas(pd.DataFrame(part)) for part in (x[:2], x[2:5], x[5:])])


def anndata_(make, *, backed=False):
    """An AnnData object, in memory or in a file."""

    def data(x, folder):
        anndata = pytest.importorskip("anndata")
        names = {"obs": pd.DataFrame(index=GENES), "var": pd.DataFrame(index=TISSUES)}
        table = anndata.AnnData(make(x), **names)
        if not backed:
            return table
        table.write_h5ad(folder / "cells.h5ad")
        return anndata.read_h5ad(folder / "cells.h5ad", backed="r")

    return data


TRUTH = np.where(WHOLE != 0, 1.0, 0.0)
POSITIVE = np.abs(WHOLE)
LARGE = 120 * POSITIVE  # up to 360: each half fits into uint8, the sum does not
COMPLEX = WHOLE + 1j * WHOLE[::-1, ::-1]
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
    "DataFrame of sparse columns": Kind(lambda x, _: pd.DataFrame(x).astype("Sparse[float64]")),
    "DataFrame of sparse columns, zeros left out": Kind(lambda x, _: pd.DataFrame.sparse.from_spmatrix(sparse_(x))),
    "DataFrame of sparse float32": Kind(
        lambda x, _: pd.DataFrame.sparse.from_spmatrix(sparse_(x.astype(np.float32))), dtype=np.float32
    ),
    "DataFrame of sparse and dense columns": Kind(lambda x, _: frame_with_sparse_columns(x)),
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
    "chunks": Kind(lambda x, _: ChunkedSource(lambda r, c: x[r, c], x.shape, (4, 3))),
    "sparse chunks": Kind(lambda x, _: ChunkedSource(lambda r, c: sparse_(x[r, c]), x.shape, ((1, 8), (2, 0, 5)))),
    "stripes of rows": Kind(lambda x, _: StripedSource(lambda r, c: x[r, c], x.shape, line_bytes=2**22)),
    "stripes of columns": Kind(
        lambda x, _: StripedSource(lambda r, c: x[r, c], x.shape, axis=1, line_bytes=2**22, cache_bytes=0)
    ),
    "mapped file in stripes": Kind(lambda x, folder: MappedSource(memory_mapped(x, folder))),
    "mapped file in stripes, Fortran order": Kind(
        lambda x, folder: MappedSource(memory_mapped(np.asfortranarray(x.astype(np.int16)), folder))
    ),
    "HDF5": Kind(hdf5((4, 3))),
    "HDF5 without chunks": Kind(hdf5()),
    "HDF5 of float32": Kind(hdf5((2, 7), np.float32), dtype=np.float32),
    "HDF5 of big-endian ints": Kind(hdf5((9, 1), ">i2")),
    "HDF5 of truth values": Kind(hdf5((4, 3), bool), dense=TRUTH),
    "Zarr": Kind(zarr_((4, 3))),
    "Zarr of ints": Kind(zarr_((1, 7), np.int8)),
    "Zarr of float16": Kind(zarr_((20, 20), np.float16), dtype=np.float32),
    "Zarr in shards": Kind(zarr_((2, 2), shards=(4, 4))),
    "Dask": Kind(dask_((4, 3))),
    "Dask of float32 in uneven chunks": Kind(dask_(((1, 8), (5, 2)), np.float32), dtype=np.float32),
    "Polars": Kind(polars_()),
    "Polars of mixed numbers": Kind(polars_(mixed_frame)),
    "Polars of numbers and truth values": Kind(polars_(frame_with_truth_values), dense=TRUTH_IN_ONE_COLUMN),
    "Polars of float32": Kind(polars_(lambda x: pd.DataFrame(x.astype(np.float32))), dtype=np.float32),
    "Arrow": Kind(arrow()),
    "Arrow of mixed numbers": Kind(arrow(mixed_frame)),
    "Arrow of numbers and truth values": Kind(arrow(frame_with_truth_values), dense=TRUTH_IN_ONE_COLUMN),
    "Arrow of float16": Kind(arrow(lambda x: pd.DataFrame(x.astype(np.float16))), dtype=np.float32),
    "Arrow in several pieces": Kind(in_several_pieces),
    "AnnData": Kind(anndata_(np.asarray)),
    "AnnData, sparse": Kind(anndata_(scipy.sparse.csr_matrix)),
    "AnnData in a file": Kind(anndata_(np.asarray, backed=True)),
    "AnnData in a file, CSR": Kind(anndata_(scipy.sparse.csr_matrix, backed=True)),
    "AnnData in a file, CSC": Kind(anndata_(scipy.sparse.csc_matrix, backed=True)),
    "complex128": Kind(lambda x, _: x, dense=COMPLEX, dtype=np.complex128),
    "complex64, Fortran order": Kind(
        lambda x, _: np.asfortranarray(x.astype(np.complex64)), dense=COMPLEX, dtype=np.complex64
    ),
    "complex longdouble": Kind(lambda x, _: x.astype(np.clongdouble), dense=COMPLEX, dtype=np.complex128),
    "strict complex64": Kind(
        lambda x, _: array_api_strict.asarray(x.astype(np.complex64)), dense=COMPLEX, dtype=np.complex64
    ),
    "complex csr_array": Kind(lambda x, _: scipy.sparse.csr_array(x), dense=COMPLEX, dtype=np.complex128),
    "complex function": Kind(function_of_position(7), dense=COMPLEX, dtype=np.complex128),
    "complex chunks": Kind(
        lambda x, _: ChunkedSource(lambda r, c: x[r, c], x.shape, (4, 3), dtype=x.dtype),
        dense=COMPLEX,
        dtype=np.complex128,
    ),
    "complex HDF5": Kind(hdf5((4, 3), np.complex64), dense=COMPLEX, dtype=np.complex64),
    "complex Zarr": Kind(zarr_((4, 3), np.complex128), dense=COMPLEX, dtype=np.complex128),
    "complex Dask": Kind(dask_((4, 3), np.complex128), dense=COMPLEX, dtype=np.complex128),
    "complex foreign object": Kind(lambda x, _: Foreign(x), dense=COMPLEX, dtype=np.complex128),
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


def test_rows_are_those_of_the_dense_matrix(source, kind):
    for index in (ROWS, EMPTY, np.arange(N)):
        check_equals(source.rows(index), kind.dense[index], kind)


def test_columns_are_those_of_the_dense_matrix(source, kind):
    for index in (COLUMNS, EMPTY, np.arange(M)):
        check_equals(source.columns(index), kind.dense[:, index], kind)


def test_entries_are_those_of_the_dense_matrix(source, kind):
    for i, j in ((AT_I, AT_J), (AT_I[:1], AT_J[:1]), (EMPTY, EMPTY)):
        check_equals(source.entries(i, j), kind.dense[i, j], kind)


@settings(max_examples=effort(5, 200))
@given(rows=indices(N), columns=indices(M))
def test_all_three_ways_to_read_agree(source, kind, rows, columns):
    i, j = (index.reshape(-1) for index in np.meshgrid(rows, columns, indexing="ij"))
    expected = kind.dense[np.ix_(rows, columns)]
    check_equals(np.asarray(source.rows(rows))[:, columns], expected, kind)
    check_equals(np.asarray(source.columns(columns))[rows], expected, kind)
    check_equals(np.asarray(source.entries(i, j)).reshape(expected.shape), expected, kind)


def test_an_observation_holds_what_the_dense_matrix_holds(user_matrix, kind):
    for n_entries in (0, 20):
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
    if type(given).__name__ == "AnnData":
        return [given.to_memory().to_df().to_numpy()]
    if isinstance(given, (Foreign, RecordingSource, ChunkedSource, curplus.CallableSource)):
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
    seen = curplus.observe(source, n_columns=3, n_rows=4, n_entries=20, rng=0)
    for i, j in asked:
        assert i.ndim == j.ndim == 1
        assert 1 <= len(i) == len(j) <= block_size
        assert i.dtype == j.dtype == np.int64
    sizes = (3 * N, 4 * (M - 3), int(seen.outside.sum()))  # rows outside the columns, entries outside of both
    assert sum(len(i) for i, _ in asked) == sum(sizes) == seen.n_values_read
    assert len(asked) == sum(-(-size // block_size) for size in sizes)


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
        (lambda i, j: 1j * i, "it is complex, and dtype=float64 keeps real numbers. Give dtype=complex."),
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
        ({"dtype": int}, "dtype=int64 is not supported. Use float32, float64, complex64 or complex128."),
        ({"row_names": ["a", "b"]}, "row_names has shape (2,) but the matrix needs 9 names. Give one each."),
    ],
)
def test_a_callable_source_says_what_it_cannot_be_made_of(arguments, message):
    with pytest.raises(InvalidArgumentError, match=re.escape(message)):
        curplus.CallableSource(**{"function": lambda i, j: i, "shape": SHAPE} | arguments)


# Names


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
        (pd.DataFrame({"b": [1, 2], "a": ["x", "y"]}), "which is not numeric"),
        (pd.DataFrame({"a": pd.date_range("2015", periods=2)}), "which is not numeric"),
        (pd.DataFrame({"a": ["x", "y"]}, dtype="category"), "column 'a' of the table has dtype category, which is not"),
        (pd.DataFrame({"a": pd.interval_range(0, 2)}), "which is not numeric"),
        (pd.DataFrame({"a": pd.arrays.SparseArray(["x", "y"], fill_value="")}), "which is not numeric"),
        (pd.DataFrame({"a": [1j, 2j]}), "the table is complex (complex128), and must be real here"),
        (np.ma.masked_equal(np.eye(2), 0), "the matrix is a masked array, and a masked value is a gap"),
        (lambda i, j: i, "a function alone has no shape. Give CallableSource(function, shape)."),
        (None, "a NoneType cannot be read as a matrix. Give a NumPy array, a pandas DataFrame, a SciPy sparse matrix"),
        ("matrix.npy", "a str cannot be read as a matrix. If it is the path of a file, use open_source."),
        (Path("matrix.npy"), "cannot be read as a matrix. If it is the path of a file, use open_source."),
        ({"a": [1.0]}, "a dict cannot be read as a matrix"),
        (pd.Series([1.0]), "a Series cannot be read as a matrix"),
        ([[1.0, 2.0], [3.0]], "the matrix"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(given_matrix, message):
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


def test_a_sparse_table_is_never_made_dense():
    """It would take 80 MB; what is read of it takes 1 MB."""
    numbers = scipy.sparse.random_array((100_000, 100), density=0.001, rng=np.random.default_rng(0), format="csc")
    source = curplus.as_source(pd.DataFrame.sparse.from_spmatrix(numbers))
    tracemalloc.start()
    seen = curplus.observe(source, n_columns=1, n_rows=20, n_entries=200, rng=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(seen.columns, numbers[:, seen.column_index].toarray())
    np.testing.assert_array_equal(seen.rows, numbers.tocsr()[seen.row_index].toarray())
    assert peak < 20e6


def test_a_gap_in_a_sparse_table_is_not_a_zero():
    gaps = pd.DataFrame({"a": pd.arrays.SparseArray([1.0, np.nan]), "b": [1.0, 2.0]})
    with pytest.raises(InvalidArgumentError, match=re.escape("columns[1, 0]=nan (row 1, column 0)")):
        curplus.observe(gaps, n_columns=2, n_rows=0, n_entries=0)


# Files

PEOPLE = pd.DataFrame([[170.0, 60.5], [180.0, 75.0], [165.0, 52.25]], ["ann", "bob", "eve"], ["height [cm]", "weight"])


def written(path, text):
    path.write_text(text)
    return path


def everything(source):
    return source.rows(np.arange(source.shape[0]))


@pytest.mark.parametrize("as_path", [str, Path])
@pytest.mark.parametrize("ending", [".npy", ".NPY", ".npz", ".NpZ", ".csv", ".CSV", ".tsv", ".TSV"])
def test_a_file_is_opened_by_the_ending_of_its_name(tmp_path, ending, as_path):
    path = tmp_path / f"matrix{ending}"
    with path.open("wb") as stream:
        if ending.lower() == ".npy":
            np.save(stream, WHOLE)
        elif ending.lower() == ".npz":
            scipy.sparse.save_npz(stream, scipy.sparse.csr_array(WHOLE))
        else:
            pd.DataFrame(WHOLE).to_csv(stream, sep="," if ending.lower() == ".csv" else "\t")
    source = curplus.open_source(as_path(path))
    assert isinstance(source, curplus.Source)
    np.testing.assert_array_equal(everything(source), WHOLE)


@pytest.mark.parametrize("given_matrix", [WHOLE, WHOLE.tolist(), pd.DataFrame(WHOLE), scipy.sparse.csr_array(WHOLE)])
def test_what_is_no_path_is_opened_as_a_source(given_matrix):
    source = curplus.open_source(given_matrix)
    np.testing.assert_array_equal(everything(source), WHOLE)
    assert curplus.open_source(source) is source


def test_what_is_neither_a_path_nor_a_matrix_is_refused():
    for wrong in (None, b"matrix.npy", 3.0):
        with pytest.raises(InvalidArgumentError, match="cannot be read as a matrix"):
            curplus.open_source(wrong)


def test_an_array_in_a_file_is_mapped_and_not_read(tmp_path):
    np.lib.format.open_memmap(tmp_path / "large.npy", mode="w+", shape=(100_000, 100))
    tracemalloc.start()
    curplus.observe(curplus.open_source(tmp_path / "large.npy"), n_columns=1, n_rows=2, n_entries=10, rng=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


def test_a_sparse_matrix_in_a_file_stays_sparse(tmp_path):
    scipy.sparse.save_npz(tmp_path / "sparse.npz", scipy.sparse.csr_array(WHOLE))
    source = curplus.open_source(tmp_path / "sparse.npz")
    assert scipy.sparse.issparse(whole_matrix(source))


def test_the_whole_of_a_source_is_the_dense_matrix(source, kind):
    whole = whole_matrix(source)
    dense = whole.toarray() if scipy.sparse.issparse(whole) else np.asarray(whole)
    np.testing.assert_allclose(dense, kind.dense, rtol=0, atol=0 if kind.exact else 1e-12)


def test_names_in_a_table_travel_to_the_answer(tmp_path):
    PEOPLE.to_csv(tmp_path / "people.csv")
    seen = curplus.observe(curplus.open_source(tmp_path / "people.csv"), n_columns=2, n_rows=2, n_entries=4, rng=0)
    answer = curplus.cur_plus(seen, rank=1)
    assert answer.sampled_column_names.tolist() == ["height [cm]", "weight"]
    assert set(answer.sampled_row_names) <= {"ann", "bob", "eve"}


@pytest.mark.parametrize(
    "index",
    [[0, 1, 2], [30, 10, 20], [0.5, 1.5, 2.5], ["ann", "bob", "eve"], [True, False, True]],
    ids=["positions", "whole numbers", "numbers", "words", "truth values"],
)
@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_a_table_as_pandas_writes_it_is_read_with_its_row_names(tmp_path, index, ending):
    frame = PEOPLE.set_axis(index, axis=0)
    frame.to_csv(tmp_path / f"people{ending}", sep="," if ending == ".csv" else "\t")
    source = curplus.open_source(tmp_path / f"people{ending}")
    np.testing.assert_array_equal(everything(source), frame.to_numpy())
    assert [str(name) for name in source.row_names] == [str(name) for name in index]
    assert source.column_names.tolist() == ["height [cm]", "weight"]


@pytest.mark.parametrize(
    ("text", "row_names", "column_names"),
    [
        ("a,b\n1,2\n3,4\n", None, ["a", "b"]),
        ("name,a,b\nx,1,2\ny,3,4\n", ["x", "y"], ["a", "b"]),
        (",a,b\n7,1,2\n8,3,4\n", [7, 8], ["a", "b"]),
        ('"",a,b\n7,1,2\n8,3,4\n', [7, 8], ["a", "b"]),
        (" ,a,b\n7,1,2\n8,3,4\n", [7, 8], ["a", "b"]),
        ("Unnamed: 0,a,b\n7,1,2\n8,3,4\n", [7, 8], ["a", "b"]),
        (",1990,1991\nx,1,2\ny,3,4\n", ["x", "y"], ["1990", "1991"]),
        ("country,1990,1991\nx,1,2\ny,3,4\n", ["x", "y"], ["1990", "1991"]),
        (",0,1\n0,1,2\n1,3,4\n", [0, 1], ["0", "1"]),
        ("a,b\nx,1,2\ny,3,4\n", ["x", "y"], ["a", "b"]),
        ("\ufeffa,b\n1,2\n3,4\n", None, ["a", "b"]),
        ("1_1,1_2\n1,2\n3,4\n", None, ["1_1", "1_2"]),
    ],
    ids=[
        "no row names",
        "words",
        "nameless numbers",
        "quoted nothing",
        "a blank",
        "named by pandas",
        "years, nameless",
        "years",
        "positions on both sides",
        "one name fewer",
        "with a mark in front",
        "names that hold numbers",
    ],
)
def test_a_table_is_read_with_the_names_it_has(tmp_path, text, row_names, column_names):
    source = curplus.open_source(written(tmp_path / "table.csv", text))
    np.testing.assert_array_equal(everything(source), [[1, 2], [3, 4]])
    assert (None if source.row_names is None else source.row_names.tolist()) == row_names
    assert source.column_names.tolist() == column_names


def test_one_column_of_numbers_is_data_even_without_a_name(tmp_path):
    source = curplus.open_source(written(tmp_path / "one.csv", '""\n1\n2\n'))
    np.testing.assert_array_equal(everything(source), [[1], [2]])


def test_a_file_that_is_missing_is_named_with_the_folder_it_was_looked_for_from(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    message = f"there is no file data/m.npy (looked for from {tmp_path}). Check its name and folder."
    with pytest.raises(SourceError, match=re.escape(message)):
        curplus.open_source("data/m.npy")


@pytest.mark.parametrize(
    "text",
    ["1,2\n3,4", "[[1, 2], [3, 4]]", "enron", "1.5,2.5", "a,b\n" + "1,2\n" * 2000, "\0"],
    ids=["lines", "a list", "a word", "numbers", "many lines", "nothing that can be a path"],
)
def test_a_string_that_was_meant_as_data_is_told_to_be_a_path(text):
    with pytest.raises(SourceError) as caught:
        curplus.open_source(text)
    message = str(caught.value)
    assert message.startswith(repr(text if len(text) <= 60 else f"{text[:60]}..."))
    assert "is not the path of a file, and a string is always taken for one." in message
    assert "or the data itself as an array, a list of rows or a DataFrame." in message


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "m.docx",
            b"",
            "m.docx cannot be opened: its ending is not one of .npy, .npz, .csv, .tsv, .txt, .xlsx, .h5, .hdf5, .zarr,",
        ),
        ("m", b"", "m cannot be opened: its ending is not one of"),
        ("m.npy", b"nonsense", "m.npy cannot be read as a .npy file: the magic string is not correct"),
        ("m.npy", b"", "m.npy cannot be read as a .npy file"),
        ("m.npz", b"nonsense", "m.npz cannot be read as a .npz file: File is not a zip file"),
        ("m.csv", b"", "m.csv cannot be read as a .csv file: there is no line in it that is not blank."),
        ("m.csv", b"a,b\n1,x\n", "m.csv cannot be read as a .csv file: 'x' in line 2, column 'b' is not a number"),
        ("m.csv", b"a,b\n1,2\n1,2,3,4\n", "m.csv cannot be read as a .csv file"),
        ("m.csv", b"a,b\n1,\xff\xfe\n", "m.csv cannot be read as a .csv file: 'ÿþ' in line 2, column 'b' is not"),
    ],
)
def test_a_file_that_is_not_what_its_ending_says_is_named(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError, match=re.escape(message)):
        curplus.open_source(tmp_path / name)


def test_an_array_that_is_no_matrix_is_named_with_its_file(tmp_path):
    np.save(tmp_path / "cube.npy", np.zeros((2, 3, 4)))
    np.save(tmp_path / "objects.npy", np.array([[1, None]]))
    with pytest.raises(SourceError, match=r"cube.npy cannot be read .*: the matrix has shape \(2, 3, 4\)\."):
        curplus.open_source(tmp_path / "cube.npy")
    with pytest.raises(SourceError, match=r"objects.npy cannot be read as a .npy file"):
        curplus.open_source(tmp_path / "objects.npy")


def test_an_archive_of_arrays_holds_one_matrix_or_says_which(tmp_path):
    np.savez(tmp_path / "array.npz", WHOLE)
    np.testing.assert_array_equal(everything(curplus.open_source(tmp_path / "array.npz")), WHOLE)
    np.savez(tmp_path / "arrays.npz", a=np.zeros((2, 2)), b=WHOLE)
    with pytest.raises(SourceError, match=r"arrays.npz holds a, b, not one matrix. Say which: open_source\(path, data"):
        curplus.open_source(tmp_path / "arrays.npz")
    np.testing.assert_array_equal(everything(curplus.open_source(tmp_path / "arrays.npz", dataset="b")), WHOLE)
    curplus.observe(WHOLE, n_columns=2, n_rows=2, n_entries=3).save(tmp_path / "seen.npz")
    with pytest.raises(SourceError, match=r"seen.npz holds a result that curplus saved, not a matrix\."):
        curplus.open_source(tmp_path / "seen.npz")


def test_a_folder_is_not_a_matrix(tmp_path):
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(SourceError, match=r"folder.npy cannot be read as a .npy file"):
        curplus.open_source(tmp_path / "folder.npy")


def test_a_workbook_names_the_extra_it_needs_and_a_text_needs_none(tmp_path, monkeypatch):
    for package in ("openpyxl", "pandas"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=re.escape("pip install 'curplus[excel]'")):
        curplus.open_source(written(tmp_path / "table.xlsx", ""))
    assert curplus.open_source(written(tmp_path / "table.csv", "a,b\n1,2\n")).shape == (1, 2)


def test_every_ending_is_documented():
    for ending in READERS:
        assert ending in curplus.open_source.__doc__


# Files that hold arrays in chunks, and tables of columns


def save_hdf5(path, **arrays):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file[name] = array
    return path


def save_zarr(path, x):
    array = pytest.importorskip("zarr").create_array(path, shape=x.shape, chunks=(4, 3), dtype=x.dtype)
    array[:] = x
    return path


def save_anndata(path, x):
    data = anndata_(scipy.sparse.csr_matrix)(x, path.parent)
    data.write_h5ad(path)
    return path


def save_table(path, frame, kind):
    feather, parquet = (pytest.importorskip(f"pyarrow.{name}") for name in ("feather", "parquet"))
    table = pytest.importorskip("pyarrow").Table.from_pandas(frame)
    parquet.write_table(table, path) if kind == "parquet" else feather.write_feather(table, path)
    return path


WRITERS = {
    ".h5": lambda path, x: save_hdf5(path, matrix=x),
    ".hdf5": lambda path, x: save_hdf5(path, matrix=x, scale=np.arange(3.0), labels=np.array([[b"a"]])),
    ".zarr": save_zarr,
    ".h5ad": save_anndata,
    ".parquet": lambda path, x: save_table(path, pd.DataFrame(x), "parquet"),
    ".feather": lambda path, x: save_table(path, pd.DataFrame(x), "feather"),
    ".arrow": lambda path, x: save_table(path, pd.DataFrame(x), "feather"),
}


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("change", [str, str.upper, lambda _: "", lambda _: ".npy", lambda _: ".csv"])
def test_a_file_is_known_by_its_ending_or_by_its_content(tmp_path, ending, change):
    path = WRITERS[ending](tmp_path / f"saved{ending}", WHOLE)
    path = path.rename(tmp_path / f"matrix{change(ending)}")
    source = curplus.open_source(path)
    gc.collect()  # what keeps the file open must be held by the source
    np.testing.assert_array_equal(everything(source), WHOLE)
    seen = curplus.observe(path_source := curplus.open_source(str(path)), n_columns=2, n_rows=2, n_entries=9, rng=0)
    np.testing.assert_array_equal(seen.values, WHOLE[seen.i, seen.j])
    assert path_source.shape == SHAPE


def test_an_array_without_an_ending_is_known_by_its_content(tmp_path):
    with (tmp_path / "matrix").open("wb") as stream:
        np.save(stream, WHOLE)
    with (tmp_path / "sparse.dat").open("wb") as stream:
        scipy.sparse.save_npz(stream, scipy.sparse.csr_array(WHOLE))
    for name in ("matrix", "sparse.dat"):
        np.testing.assert_array_equal(everything(curplus.open_source(tmp_path / name)), WHOLE)


def test_an_archive_that_is_no_array_is_not_taken_for_one(tmp_path):
    with zipfile.ZipFile(tmp_path / "book.xlsx", "w") as archive:
        archive.writestr("[Content_Types].xml", "")
    (tmp_path / "cut.xlsx").write_bytes((tmp_path / "book.xlsx").read_bytes()[:40])
    for name in ("book.xlsx", "cut.xlsx"):
        with pytest.raises(SourceError, match=f"{name} cannot be read as an Excel workbook"):
            curplus.open_source(tmp_path / name)


def test_one_of_several_matrices_in_a_file_is_named(tmp_path):
    h5 = save_hdf5(tmp_path / "two.h5", **{"a/first": WHOLE, "second": WHOLE[:, :2], "cube": np.zeros((2, 2, 2))})
    group = pytest.importorskip("zarr").open_group(tmp_path / "two.zarr", mode="w")
    group.create_array("a/first", data=WHOLE)
    group.create_array("second", data=WHOLE[:, :2])
    for path in (h5, tmp_path / "two.zarr"):
        np.testing.assert_array_equal(everything(curplus.open_source(path, dataset="a/first")), WHOLE)
        np.testing.assert_array_equal(everything(curplus.open_source(path, dataset="/second")), WHOLE[:, :2])
        with pytest.raises(SourceError, match=r"holds 2 matrices: .*a/first of shape \(9, 7\), float64.* Say which:"):
            curplus.open_source(path)
        with pytest.raises(SourceError, match=r"has no dataset 'third'. It holds .*second of shape \(9, 2\), float64"):
            curplus.open_source(path, dataset="third")
    with pytest.raises(SourceError, match=r"two.h5 cannot be read as a .h5 file: the matrix has shape \(2, 2, 2\)\."):
        curplus.open_source(h5, dataset="cube")


def test_a_file_of_one_matrix_takes_no_name(tmp_path):
    path = written(tmp_path / "table.csv", "a,b\n1,2\n")
    with pytest.raises(SourceError, match=r"dataset='a' was given, but .*table.csv is a .csv file, which holds one"):
        curplus.open_source(path, dataset="a")


def test_a_file_without_a_matrix_says_what_it_holds(tmp_path):
    path = save_hdf5(tmp_path / "vectors.h5", a=np.arange(3.0), words=np.array([[b"x", b"y"]]), z=np.zeros((2, 2, 2)))
    with pytest.raises(SourceError, match=r"vectors.h5 holds no matrix of numbers. It holds a of shape \(3,\)"):
        curplus.open_source(path)
    with pytest.raises(SourceError, match=r"empty.h5 holds no matrix of numbers. It holds no arrays."):
        curplus.open_source(save_hdf5(tmp_path / "empty.h5"))


@pytest.mark.parametrize("ending", [".h5", ".hdf5", ".h5ad", ".parquet", ".feather", ".arrow"])
@pytest.mark.parametrize("content", [b"", b"nonsense", "half"], ids=["empty", "text", "cut off"])
def test_a_damaged_file_is_named(tmp_path, ending, content):
    whole = WRITERS[ending](tmp_path / f"whole{ending}", WHOLE).read_bytes()
    (tmp_path / f"m{ending}").write_bytes(whole[: len(whole) // 2] if content == "half" else content)
    with pytest.raises(SourceError, match=f"m{ending} cannot be read as a {ending} file: "):
        curplus.open_source(tmp_path / f"m{ending}")


def test_a_zarr_folder_that_is_damaged_is_named(tmp_path):
    pytest.importorskip("zarr")
    (tmp_path / "m.zarr").mkdir()
    with pytest.raises(SourceError, match=r"m.zarr cannot be read as a .zarr file: "):
        curplus.open_source(tmp_path / "m.zarr")
    (tmp_path / "m.zarr" / "zarr.json").write_text("{")
    with pytest.raises(SourceError, match=r"m.zarr cannot be read as a .zarr file: "):
        curplus.open_source(tmp_path / "m.zarr")


def test_a_chunk_that_is_damaged_is_named_with_its_place(tmp_path):
    path = save_zarr(tmp_path / "m.zarr", WHOLE)
    (tmp_path / "m.zarr" / "c" / "1" / "0").write_bytes(b"nonsense")
    source = curplus.open_source(path)
    np.testing.assert_array_equal(source.rows(np.array([0])), WHOLE[:1])
    with pytest.raises(SourceError, match=r"rows 4 to 7, columns 0 to 2 could not be read: "):
        source.rows(np.array([4]))


@pytest.mark.parametrize("kind", ["parquet", "feather"])
@pytest.mark.parametrize("index", [["ann", "bob", "eve"], [30, 10, 20]], ids=["words", "numbers"])
def test_names_in_a_table_of_columns_are_those_that_pandas_wrote(tmp_path, kind, index):
    frame = PEOPLE.set_axis(index, axis=0)
    source = curplus.open_source(save_table(tmp_path / f"people.{kind}", frame, kind))
    np.testing.assert_array_equal(everything(source), frame.to_numpy())
    assert source.row_names.tolist() == index
    assert source.column_names.tolist() == ["height [cm]", "weight"]


def test_a_first_column_of_words_holds_the_names_of_rows(tmp_path):
    frame = PEOPLE.rename_axis("name").reset_index()
    for categories in (False, True):
        table = frame.astype({"name": "category"}) if categories else frame
        source = curplus.open_source(save_table(tmp_path / "people.parquet", table, "parquet"))
        assert source.row_names.tolist() == ["ann", "bob", "eve"]
        np.testing.assert_array_equal(everything(source), PEOPLE.to_numpy())


def test_names_of_several_levels_are_joined():
    pa = pytest.importorskip("pyarrow")
    levels = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["x", "y"])
    source = curplus.as_source(pa.Table.from_pandas(PEOPLE.set_axis(levels, axis=0)))
    assert source.row_names.tolist() == ["('a', 1)", "('a', 2)", "('b', 1)"]


def test_names_of_tables_and_annotated_data_travel(tmp_path):
    for made in (anndata_(np.asarray), anndata_(scipy.sparse.csr_matrix, backed=True)):
        seen = curplus.observe(made(WHOLE, tmp_path), n_columns=3, n_rows=4, n_entries=10, rng=0)
        assert list(seen.row_names) == GENES
        assert list(seen.column_names) == TISSUES
    seen = curplus.observe(polars_(mixed_frame)(WHOLE, tmp_path), n_columns=3, n_rows=4, n_entries=10, rng=0)
    assert seen.row_names is None
    assert list(seen.column_names) == [f"c{k}" for k in range(M)]


def gaps_in_polars():
    return pytest.importorskip("polars").DataFrame({"a": [1, None], "b": [True, None], "c": [1.5, None]})


def gaps_in_arrow():
    return pytest.importorskip("pyarrow").table({"a": [1, None], "b": [True, None], "c": [1.5, None]})


@pytest.mark.parametrize("make", [gaps_in_polars, gaps_in_arrow])
def test_a_null_is_a_gap(make):
    source = curplus.as_source(make())
    np.testing.assert_array_equal(everything(source), [[1, 1, 1.5], [np.nan] * 3])
    np.testing.assert_array_equal(source.entries(np.array([1, 0, 1]), np.array([0, 1, 1])), [np.nan, 1, np.nan])
    with pytest.raises(InvalidArgumentError, match=re.escape("columns[1, 0]=nan (row 1, column 0)")):
        curplus.observe(source, n_columns=3, n_rows=0, n_entries=0)


def test_decimal_numbers_are_read_as_double_precision():
    numbers = [decimal.Decimal("1.5"), decimal.Decimal("2.25"), None]
    for package in ("polars", "pyarrow"):
        module = pytest.importorskip(package)
        table = module.DataFrame({"a": numbers}) if package == "polars" else module.table({"a": numbers})
        np.testing.assert_array_equal(everything(curplus.as_source(table)), [[1.5], [2.25], [np.nan]])


@pytest.mark.parametrize("package", ["polars", "pyarrow"])
def test_a_column_of_words_is_refused_by_name(package):
    module = pytest.importorskip(package)
    columns = {"a": [1.0], "who": ["x"]}
    table = module.DataFrame(columns) if package == "polars" else module.table(columns)
    with pytest.raises(InvalidArgumentError, match=r"column 'who' of the table has dtype string"):
        curplus.as_source(table)


def test_a_large_mapped_file_is_read_in_stripes(tmp_path, monkeypatch):
    monkeypatch.setattr(striped, "MAPPED_BYTES", 100)
    for order in (np.ascontiguousarray, np.asfortranarray):
        source = curplus.as_source(memory_mapped(order(WHOLE), tmp_path))
        assert isinstance(source, MappedSource)
        np.testing.assert_array_equal(source.columns(COLUMNS), WHOLE[:, COLUMNS])
        assert whole_matrix(source) is source.matrix
    assert isinstance(curplus.as_source(memory_mapped(WHOLE, tmp_path)[::2, ::2]), ArraySource)
    assert isinstance(curplus.as_source(memory_mapped(WHOLE, tmp_path)[2:5]), MappedSource)
    with pytest.raises(InvalidArgumentError, match="which is not numeric"):
        curplus.as_source(memory_mapped(np.zeros((20, 20), dtype="M8[s]"), tmp_path))


def test_what_was_changed_in_a_map_in_memory_is_read_as_it_was_changed(tmp_path):
    np.save(tmp_path / "m.npy", WHOLE)
    changed = np.load(tmp_path / "m.npy", mmap_mode="c")
    changed[3, 3] = 77.0
    source = MappedSource(changed)
    for _ in range(2):
        assert source.entries([3], [3]) == 77.0


def test_a_dask_array_is_computed_once_for_a_pass():
    da = pytest.importorskip("dask.array")
    computed = []

    def block(block_info=None):
        computed.append(1)
        (a, b), (c, d) = block_info[None]["array-location"]
        return WHOLE[a:b, c:d]

    array = da.map_blocks(block, chunks=((4, 5), (3, 4)), dtype=float, meta=np.empty((0, 0)))
    source = curplus.as_source(array)
    seen = curplus.observe(source, n_columns=3, n_rows=4, n_entries=20, rng=0)
    np.testing.assert_array_equal(seen.values, WHOLE[seen.i, seen.j])
    assert len(computed) <= 4
    few = DaskSource(array, compute_bytes=1)
    np.testing.assert_array_equal(few.rows(np.arange(N)), WHOLE)


def test_dask_chunks_of_unknown_size_are_refused():
    da = pytest.importorskip("dask.array")
    array = da.from_array(WHOLE, chunks=(4, 3))
    with pytest.raises(InvalidArgumentError, match=r"chunks of unknown sizes. Call array.compute_chunk_sizes"):
        curplus.as_source(array[array[:, 0] > 0])


def test_annotated_data_without_a_matrix_is_refused():
    anndata = pytest.importorskip("anndata")
    with pytest.raises(InvalidArgumentError, match="the AnnData object has no matrix X"):
        curplus.as_source(anndata.AnnData(obs=pd.DataFrame(index=GENES)))


@pytest.mark.parametrize(
    ("ending", "module", "extra"),
    [
        (".h5", "h5py", "hdf5"),
        (".zarr", "zarr", "zarr"),
        (".h5ad", "anndata", "anndata"),
        (".parquet", "pyarrow.parquet", "arrow"),
        (".feather", "pyarrow.feather", "arrow"),
    ],
)
def test_a_file_names_the_extra_it_needs(tmp_path, monkeypatch, ending, module, extra):
    (tmp_path / f"m{ending}").write_bytes(b"")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=re.escape(f"pip install 'curplus[{extra}]'")):
        curplus.open_source(tmp_path / f"m{ending}")


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
