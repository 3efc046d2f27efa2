"""Dask arrays all the way: tall parts stay in blocks where they are, and the answer is that of NumPy."""

import os
import signal
import sys
import threading
import time
import uuid
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import curplus
from curplus import _arrays, _dask
from curplus.exceptions import FileFormatError, InvalidArgumentError
from curplus.factorization import leading_basis
from curplus.sources import DaskSource
from tests.conftest import effort

da = pytest.importorskip("dask.array")

SHAPE = N, M = 400, 230
COUNTS = {"n_columns": 12, "n_rows": 15, "n_entries": 500}
CHUNKS = {
    "one block": (400, 230),
    "rows of blocks": (90, 230),
    "columns of blocks": (400, 50),
    "a grid": (90, 60),
    "uneven blocks": ((1, 0, 250, 149), (200, 7, 23)),
    "few rows a block": (7, 230),
}
METHODS = {  # of the models, the skeleton alone needs no list of all cells
    "cur_plus": lambda seen: curplus.cur_plus(seen, 5, holdout=0.1),
    "approximate": lambda seen: curplus.approximate(seen, 5, models="skeleton"),
    "approximate without a rank": lambda seen: curplus.approximate(seen, models="skeleton"),
    "approximate as C U R": lambda seen: curplus.approximate(seen, 5, models="skeleton", form="cur"),
}


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    """Blocks of the result are as short as those of the matrix."""
    monkeypatch.setattr("curplus.sources.dask.LEAST_LENGTH", 64)


@pytest.fixture
def matrix(full_rank):
    return full_rank(SHAPE, rank=4, noise=0.05)


def dask_source(matrix, chunks=(90, 60)):
    return DaskSource(da.from_array(matrix, chunks=chunks), distributed=True)


def observed(matrix, counts=COUNTS, **options):
    return curplus.observe(matrix, **counts, **options, rng=3)


def close(x, expected, tol=1e-10):
    return np.linalg.norm(np.asarray(x) - expected) <= tol * np.linalg.norm(expected)


# Reading


@pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)
def test_any_chunking_gives_the_values_of_the_matrix_cut_along_the_long_side(matrix, chunks):
    kinds = dict(zip(CHUNKS.values(), (np.float32, np.int16, *(np.float64,) * 4), strict=True))
    M = (10 * matrix).astype(kinds[chunks])
    seen, expected = observed(dask_source(M, chunks)), observed(M)
    for name in ("columns", "rows", "values"):
        part = getattr(seen, name)
        assert isinstance(part, da.Array)
        assert part.dtype == expected.dtype
        np.testing.assert_array_equal(np.asarray(part), getattr(expected, name))
    assert seen.columns.numblocks[1] == seen.rows.numblocks[0] == 1
    assert min(seen.columns.chunks[0][:-1], default=64) >= 64
    assert seen.fingerprint == expected.fingerprint


def test_blocks_of_sparse_matrices_are_read(matrix):
    scipy_sparse = pytest.importorskip("scipy.sparse")
    M = np.where(np.abs(matrix) > 1, matrix, 0.0)
    seen = observed(DaskSource(da.from_array(M, chunks=(90, 60)).map_blocks(scipy_sparse.csr_array), distributed=True))
    np.testing.assert_array_equal(np.asarray(seen.columns), observed(M).columns)


def test_what_is_read_of_a_large_matrix_stays_in_dask_and_of_a_small_one_does_not():
    assert DaskSource(da.zeros((2**20, 2), chunks=(2**18, 2))).distributed
    assert DaskSource(da.zeros((2, 2**20), chunks=(2, 2**18))).distributed
    assert not DaskSource(da.zeros((2**20 - 1, 2), chunks=(2**18, 2))).distributed
    assert not DaskSource(da.zeros((2**20, 2), chunks=(2**18, 2)), distributed=False).distributed


def test_a_value_that_is_not_finite_is_found_in_its_block(matrix):
    matrix[200, :] = np.nan
    with pytest.raises(InvalidArgumentError, match=r"columns\[200, 0\]=nan \(row 200, column"):
        observed(dask_source(matrix))


def test_each_block_is_computed_once_for_everything(matrix):
    computed = []

    def block(block_info=None):
        (a, b), (c, d) = block_info[None]["array-location"]
        computed.append((a, c))
        return matrix[a:b, c:d]

    array = da.map_blocks(block, chunks=((100,) * 4, (115, 115)), dtype=float, meta=np.empty((0, 0)))
    seen = observed(DaskSource(array, distributed=True))
    for method in METHODS.values():
        method(seen).svd().U.compute()
    curplus.certify(method(seen), seen)
    assert sorted(computed) == [(a, c) for a in range(0, 400, 100) for c in (0, 115)]


# Methods


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_the_answer_is_that_of_numpy_in_all_its_forms(matrix, method):
    approx, expected = method(observed(dask_source(matrix, CHUNKS["uneven blocks"]))), method(observed(matrix))
    whole, rng = expected.to_array(), np.random.default_rng(0)
    i, j, x, y = rng.integers(N, size=50), rng.integers(M, size=50), rng.random((M, 2)), rng.random(N)
    assert isinstance(approx.left.vectors, da.Array)
    assert isinstance(approx.right.vectors, da.Array)
    np.testing.assert_array_equal(approx.held_out, expected.held_out)
    assert approx.report.to_dict().keys() == expected.report.to_dict().keys()
    assert close(approx.to_array(), whole)
    assert close(approx.entries(i, j), whole[i, j])
    assert close(approx.rows(i), whole[i])
    assert close(approx.columns(j), whole[:, j])
    assert close(approx @ x, whole @ x)
    assert close(y @ approx, y @ whole)
    assert close(approx.T.rows(j), whole[:, j].T)
    assert close(approx.truncate(2).to_array(), expected.truncate(2).to_array())
    U, s, Vt = approx.svd()
    assert close(s, expected.svd().s)
    assert close((U * s) @ Vt, whole)
    if expected.left.sample is not None:
        C, core, R, _, _ = approx.cur()
        assert close(C @ core @ R, whole, 1e-8)


def test_single_precision_stays(matrix):
    M = matrix.astype(np.float32)
    for method in METHODS.values():
        approx, expected = method(observed(dask_source(M))), method(observed(M))
        assert approx.left.vectors.dtype == approx.core.Z.dtype == np.float32
        assert close(approx.to_array(), expected.to_array(), 1e-4)


@pytest.mark.parametrize("condition", [1e2, 1e5, 1e7, 1e12])
def test_bases_are_orthonormal_at_any_condition(rng, condition):
    Q, _ = np.linalg.qr(rng.standard_normal((N, 8)))
    A = (Q * np.geomspace(1, 1 / condition, 8)) @ np.linalg.qr(rng.standard_normal((8, 8)))[0]
    basis, expected = leading_basis(da.from_array(A, chunks=(64, 3))), leading_basis(A)
    U = np.asarray(basis.vectors)
    np.testing.assert_allclose(U.T @ U, np.eye(8), atol=1e-13)
    assert close(U @ (U.T @ A), A, 1e-13)
    assert close(U @ U.T, expected.vectors @ expected.vectors.T, 1e-15 * condition + 1e-13)
    assert close(basis.sample @ basis.coefficients, U, 1e-15 * condition + 1e-13)


@pytest.mark.parametrize(("name", "n_entries"), [("cur_plus", 300), ("approximate", 0)])
def test_the_certificate_is_that_of_numpy_from_entries_and_from_rows(matrix, name, n_entries):
    counts = {"n_columns": 25, "n_rows": 60, "n_entries": n_entries}
    seen, expected = observed(dask_source(matrix), counts), observed(matrix, counts)
    found, known = (curplus.certify(METHODS[name](x), x) for x in (seen, expected))
    assert found.evidence == known.evidence
    assert found.interval is not None
    for field in ("error", "relative_error", "interval", "lower_bound", "spectral_lower_bound", "means_error"):
        np.testing.assert_allclose(getattr(found, field), getattr(known, field), rtol=1e-8)


def test_nothing_tall_comes_home(matrix, monkeypatch):
    """Vectors of n numbers may, since entries have such effects; matrices of n rows, or of m columns, may not."""
    shapes = []
    original = _arrays.to_numpy

    def to_numpy(x):
        if isinstance(x, da.Array):
            shapes.append(tuple(x.shape))
        return original(x)

    curplus.certify, curplus.approximate, curplus.acquire  # noqa: B018 (their modules are loaded)
    for name, module in list(sys.modules.items()):
        if name.startswith("curplus") and getattr(module, "to_numpy", None) is original:
            monkeypatch.setattr(module, "to_numpy", to_numpy)
    seen = observed(dask_source(matrix))
    for method in METHODS.values():
        approx = method(seen)
    curplus.certify(approx, seen)
    assert shapes
    assert not [shape for shape in shapes if len(shape) == 2 and {N, M} & set(shape) and 1 not in shape]


def test_acquire_reads_the_same_by_rounds_of_passes(matrix):
    counts = {"n_columns": 6, "n_rows": 7, "n_entries": 100}
    seen = curplus.acquire(dask_source(matrix), **counts, rng=0)
    expected = curplus.acquire(matrix, **counts, rng=0)
    for name in ("column_index", "row_index", "i", "j"):
        np.testing.assert_array_equal(getattr(seen, name), getattr(expected, name))
    np.testing.assert_array_equal(np.asarray(seen.columns), expected.columns)
    assert seen.columns.numblocks[1] == 1


def test_only_models_of_rows_and_columns_are_blended_and_entries_judge_the_blend(matrix):
    seen = observed(dask_source(matrix), COUNTS | {"n_entries": 5000})
    approx = curplus.approximate(seen, 4)
    assert {model.name for model in approx.provenance.method.models} <= {"skeleton", "interpolation"}
    assert approx.report.blend.startswith("100%")
    np.testing.assert_array_equal(approx.held_out, np.flatnonzero(seen.outside))
    error = curplus.certify(approx, seen).cell_error
    assert approx.report.left_out_error == pytest.approx(error, rel=0.05)


@pytest.mark.parametrize("counts", [{"n_rows": 0}, {"n_columns": 0}, {"n_rows": 0, "n_columns": 0}])
def test_approximate_asks_for_columns_and_rows_together(matrix, counts):
    with pytest.raises(InvalidArgumentError, match=r"Read both, or NumPy arrays: DaskSource\(array, distributed=False"):
        curplus.approximate(observed(dask_source(matrix), COUNTS | counts))


def test_an_observation_may_be_built_from_dask_arrays(matrix):
    expected = observed(matrix)
    parts = {name: da.from_array(getattr(expected, name), chunks=50) for name in ("columns", "rows", "values")}
    index = {name: getattr(expected, name) for name in ("column_index", "row_index", "i", "j")}
    seen = curplus.Observation(shape=SHAPE, **parts, **index)
    assert seen.columns.numblocks[1] == seen.rows.numblocks[0] == 1
    assert close(curplus.cur_plus(seen, 4).to_array(), curplus.cur_plus(expected, 4).to_array())


# Keeping


@pytest.mark.parametrize(("method", "is_dask"), [("cur_plus", True), ("approximate", True), ("approximate", False)])
def test_a_zarr_store_gives_back_what_was_written(matrix, tmp_path, method, is_dask):
    pytest.importorskip("zarr")
    seen = observed(dask_source(matrix, CHUNKS["uneven blocks"]) if is_dask else matrix)
    approx = METHODS[method](seen)
    approx.to_zarr(tmp_path / "answer")
    again = curplus.load(tmp_path / "answer")
    assert isinstance(again.left.vectors, da.Array if is_dask else np.ndarray)
    np.testing.assert_array_equal(np.asarray(again.to_array()), np.asarray(approx.to_array()))
    assert again.report.to_dict() == approx.report.to_dict()
    assert again.provenance.fingerprint == seen.fingerprint
    with pytest.raises(InvalidArgumentError, match="exists already, and a store is not written over"):
        approx.to_zarr(tmp_path / "answer")


def test_names_are_kept_in_a_store(tmp_path):
    pytest.importorskip("zarr")
    source = curplus.as_source(np.outer([1.0, 2, 3], [1.0, 2]), row_names=["a", "bé", "ccc"], column_names=[5, 6])
    approx = curplus.approximate(curplus.observe(source, n_columns=1, n_rows=1, n_entries=0, rng=0), 1)
    approx.to_zarr(tmp_path / "answer")
    again = curplus.load(tmp_path / "answer")
    assert list(again.row_names) == ["a", "bé", "ccc"]
    assert list(again.column_names) == [5, 6]


def test_a_store_that_was_not_finished_is_refused(tmp_path):
    zarr = pytest.importorskip("zarr")
    zarr.create_group(str(tmp_path / "answer"))
    with pytest.raises(FileFormatError, match="damaged, truncated or was not written by curplus"):
        curplus.load(tmp_path / "answer")


# Blocks


@st.composite
def blocked(draw):
    """A matrix, cut along one of its sides, and some positions in it."""
    n, m = draw(st.integers(1, 20)), draw(st.integers(1, 20))
    sizes = [n, m]
    axis = draw(st.integers(0, 1))
    edges = sorted({0, sizes[axis], *draw(st.lists(st.integers(0, sizes[axis]), max_size=4))})
    chunks = [(n,), (m,)]
    chunks[axis] = tuple(np.diff(edges).tolist())
    x = np.random.default_rng(0).standard_normal((n, m))
    index = st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, m - 1)), max_size=10)
    i, j = np.array(draw(index), dtype=int).reshape(-1, 2).T
    return x, da.from_array(x, chunks=tuple(chunks)), i, j


@settings(max_examples=effort(15, 300))
@given(blocked())
def test_parts_of_blocks_are_parts_of_the_matrix(drawn):
    x, blocks, i, j = drawn
    np.testing.assert_array_equal(np.asarray(_dask.parts_taken(blocks, i, axis=0)), x[i])
    np.testing.assert_array_equal(np.asarray(_dask.parts_taken(blocks, j, axis=1)), x[:, j])
    np.testing.assert_array_equal(np.asarray(_dask.gathered(blocks, i, j)), x[i, j])
    np.testing.assert_allclose(_dask.dask_inner_products(blocks), x.T @ x, atol=1e-12)
    assert _dask.range_of(blocks) == (x.min(), x.max())


@settings(max_examples=effort(15, 300))
@given(blocked())
def test_values_put_into_blocks_are_those_put_into_the_matrix(drawn):
    x, blocks, i, _ = drawn
    rows = np.unique(i)
    expected, values = x.copy(), -np.ones((len(rows), x.shape[1]))
    expected[rows] = values
    np.testing.assert_array_equal(np.asarray(_dask.put_values(blocks, (rows,), values)), expected)
    expected = x.copy()
    expected[rows, 0] = 7.0
    put = _dask.put_values(blocks, (rows, np.zeros(len(rows), dtype=int)), np.full(len(rows), 7.0))
    np.testing.assert_array_equal(np.asarray(put), expected)


# Processes


def made(log, block_info=None):
    """One block of a matrix, made where it is needed, and a file that says so."""
    (a, b), (c, d) = block_info[None]["array-location"]
    (Path(log) / f"{a}-{c}-{uuid.uuid4().hex}").touch()
    time.sleep(0.02)
    i, j = np.arange(a, b)[:, None], np.arange(c, d)[None, :]
    return np.sin(0.01 * i) * np.cos(0.03 * j) + 0.5 * np.cos(0.02 * i) + 0.1 * np.sin(0.7 * i * j)


def observed_there(log, **where):
    array = da.map_blocks(
        made, str(log), chunks=((100,) * 20, (60, 60)), dtype=float, meta=np.empty((0, 0)), name=False
    )
    return curplus.observe(DaskSource(array, **where), n_columns=8, n_rows=8, n_entries=300, rng=0)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
@pytest.mark.filterwarnings("ignore")  # of distributed and what it loads
def test_on_processes_of_which_one_is_killed_the_answer_is_that_of_numpy(tmp_path):
    package = pytest.importorskip("distributed")
    logs = [tmp_path / name for name in ("undisturbed", "killed", "here")]
    for log in logs:
        log.mkdir()
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "memory_limit": "1.5GB"}
    with package.LocalCluster(**options) as cluster, package.Client(cluster) as client:
        seen = observed_there(logs[0], distributed=True)
        approx = curplus.cur_plus(seen, 3, holdout=0.1)
        found, error = np.asarray(approx.to_array()), curplus.certify(approx, seen).error
        assert len(list(logs[0].iterdir())) == 40  # blocks, each once
        killer = threading.Thread(target=kill_worker, args=(client, logs[1]))
        killer.start()
        other = np.asarray(
            curplus.approximate(observed_there(logs[1], distributed=True), 3, models="skeleton").to_array()
        )
        killer.join()
    expected = observed_there(logs[2], distributed=False)
    approx = curplus.cur_plus(expected, 3, holdout=0.1)
    assert close(found, approx.to_array())
    assert error == pytest.approx(curplus.certify(approx, expected).error, rel=1e-8)
    assert close(other, curplus.approximate(expected, 3, models="skeleton").to_array())


def kill_worker(client, log):
    """End one worker process when some of the blocks have been computed."""
    pid = next(iter(client.run(os.getpid).values()))
    while len(list(log.iterdir())) < 12:
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
