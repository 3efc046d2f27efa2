"""A promise about the matrix: a value of a symmetric matrix stands in two places, and the promise is kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus import Observation
from curplus.exceptions import InconsistentObservationError, InvalidArgumentError
from curplus.observation.symmetry import mirrored
from tests.strategies import adjoint, gaussian, observed, plans, seeds
from tests.test_observation import assert_same

WORDS = ("symmetric", "psd")


def psd_matrix(n, rank, seed, scale=1.0, dtype=np.float64):
    X = np.random.default_rng(seed).standard_normal((n, rank))
    K = scale * (X @ X.T)
    return ((K + K.T) / 2).astype(dtype)


@st.composite
def psd_matrices(draw, max_side=14):
    """PSD matrices of a random size, rank, scale and type."""
    n = draw(st.integers(1, max_side))
    scale = 10.0 ** draw(st.integers(-10, 10))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    return psd_matrix(n, draw(st.integers(1, n)), draw(seeds), scale, dtype)


@st.composite
def samples(draw, word):
    """A PSD matrix, and some of its columns, rows and entries."""
    M = draw(psd_matrices())
    return M, observed(M, draw(plans(M.shape)), symmetry=word)


@pytest.mark.parametrize("word", WORDS)
@given(st.data())
def test_the_promise_is_kept(tmp_path_factory, word, data):
    M, seen = data.draw(samples(word))
    assert word in repr(seen)
    path = tmp_path_factory.mktemp("saved") / "seen.npz"
    seen.save(path)
    loaded = curplus.load(path)
    assert_same(loaded, seen)
    nothing = np.empty(0, dtype=np.int64)
    others = [loaded, seen.T, seen.divide(2.0), seen.subset(rows=nothing), seen.extend(Observation(shape=M.shape))]
    other = observed(M, data.draw(plans(M.shape)))
    others += [seen.extend(other), other.extend(seen)]
    assert [o.symmetry for o in others] == [word] * len(others)


def test_of_two_promises_the_stronger_holds():
    symmetric, psd = (Observation(shape=(3, 3), symmetry=word) for word in WORDS)
    assert symmetric.extend(psd).symmetry == psd.extend(symmetric).symmetry == "psd"


def test_a_psd_matrix_divided_by_a_negative_number_is_only_symmetric():
    seen = Observation(shape=(2, 2), i=[0], j=[0], values=[1.0], symmetry="psd")
    assert seen.divide(-2.0).symmetry == "symmetric"


def test_a_file_without_a_promise_loads_as_before(tmp_path):
    Observation(shape=(2, 2), i=[0], j=[0], values=[1.0]).save(tmp_path / "plain.npz")
    assert b"symmetry" not in (tmp_path / "plain.npz").read_bytes()
    assert curplus.load(tmp_path / "plain.npz").symmetry is None


@pytest.mark.parametrize("word", WORDS)
@given(st.data())
def test_all_that_is_known_is_what_the_matrix_has_there(word, data):
    M, seen = data.draw(samples(word))
    whole = mirrored(seen)
    lines = sorted({*seen.column_index.tolist(), *seen.row_index.tolist()})
    assert sorted(whole.column_index.tolist()) == sorted(whole.row_index.tolist()) == lines
    np.testing.assert_array_equal(whole.columns, M[:, whole.column_index])
    np.testing.assert_array_equal(whole.rows, M[whole.row_index])
    np.testing.assert_array_equal(whole.values, M[whole.i, whole.j])
    off = seen.i != seen.j
    assert {*zip(whole.i, whole.j, strict=True)} == {
        *zip(seen.i, seen.j, strict=True),
        *zip(seen.j[off], seen.i[off], strict=True),
    }
    diagonal = seen.diagonal()
    known = ~np.isnan(diagonal)
    np.testing.assert_array_equal(diagonal[known], np.diag(M)[known])
    assert {*np.flatnonzero(known)} == {*lines, *seen.i[~off]}


def test_a_filled_matrix_has_every_value_in_both_places():
    M = psd_matrix(12, 5, 0)
    fields = {"column_index": [3], "columns": M[:, [3]], "i": [1], "j": [7], "values": [M[1, 7]]}
    seen = Observation(shape=M.shape, **fields, symmetry="symmetric")
    filled = seen.fill(curplus.approximate(seen, rank=2))
    np.testing.assert_array_equal(filled[3], M[3])
    np.testing.assert_array_equal(filled[:, 3], M[:, 3])
    assert filled[7, 1] == filled[1, 7] == M[1, 7]


ASYMMETRIC = np.arange(16.0).reshape(4, 4)


@pytest.mark.parametrize(
    ("fields", "kind", "message"),
    [
        ({"symmetry": "yes"}, InvalidArgumentError, "symmetry='yes' is unknown"),
        ({"symmetry": "psd", "shape": (4, 3)}, InvalidArgumentError, "4 x 3, not square"),
        (
            {"symmetry": "symmetric", "column_index": [0, 1], "columns": ASYMMETRIC[:, :2]},
            InconsistentObservationError,
            r"states M = M\.T",
        ),
        (
            {"symmetry": "symmetric", "row_index": [0], "rows": ASYMMETRIC[:1], "i": [2], "j": [0], "values": [8.0]},
            InconsistentObservationError,
            r"states M = M\.T",
        ),
        (
            {"symmetry": "psd", "i": [0, 2], "j": [0, 2], "values": [1.0, -0.5]},
            InconsistentObservationError,
            "row 2, column 2 was read as -0.5",
        ),
    ],
)
def test_a_promise_that_is_seen_to_be_broken_is_refused(fields, kind, message):
    with pytest.raises(kind, match=message):
        Observation(**{"shape": (4, 4)} | fields)


def test_what_is_joined_later_is_held_to_the_promise_too():
    seen = Observation(shape=(4, 4), column_index=[0], columns=ASYMMETRIC[:, :1], symmetry="symmetric")
    more = Observation(shape=(4, 4), column_index=[1], columns=ASYMMETRIC[:, 1:2])
    with pytest.raises(InconsistentObservationError, match=r"states M = M\.T"):
        seen.extend(more)


def test_noise_may_make_two_places_differ():
    M = psd_matrix(6, 3, 0)
    noisy = M + 0.01 * np.random.default_rng(1).standard_normal(M.shape)
    seen = Observation(shape=M.shape, column_index=[0, 1], columns=noisy[:, :2], noise=0.01, symmetry="symmetric")
    whole = mirrored(seen)
    np.testing.assert_array_equal(whole.columns[:2], whole.rows[:, :2])


def hermitian(rng, n=150, signs=1):
    """A Hermitian matrix whose eigenvalues fall off, PSD with signs of one."""
    X = np.linalg.qr(gaussian(rng, (n, 30), "complex")).Q
    M = (X * (signs * 0.6 ** np.arange(30))) @ adjoint(X)
    return (M + adjoint(M)) / 2


@pytest.mark.parametrize("how", [{"tol": 1e-3}, {"n_columns": 12, "n_entries": 800}, {"budget": 0.3}])
def test_a_hermitian_matrix_is_acquired_and_approximated_by_a_hermitian_one(rng, how):
    M = hermitian(rng, signs=rng.choice([-1, 1], 30))
    seen = curplus.acquire(M, symmetric=True, rng=0, **how)
    for form in ("free", "cur"):
        approx = curplus.approximate(seen, form=form, models=("skeleton", "interpolation", "offsets"))
        dense = approx.to_array()
        assert approx.is_symmetric
        np.testing.assert_array_equal(dense, adjoint(dense))
        assert np.linalg.norm(dense - M) < 0.02 * np.linalg.norm(M)
        with pytest.raises(InvalidArgumentError, match=r"complex Hermitian matrix .* Use \.H"):
            _ = approx.T


@pytest.mark.parametrize("strategy", ["auto", "rpcholesky", "uniform"])
def test_the_trace_bounds_the_error_of_a_complex_psd_matrix(rng, strategy):
    M = hermitian(rng)
    seen = curplus.acquire(M, n_columns=12, psd=True, strategy=strategy, rng=0)
    approx = curplus.approximate(seen)
    found = curplus.certify(approx, seen)
    error = M - approx.to_array()
    assert np.linalg.eigvalsh(error)[0] > -1e-12
    assert found.trace == pytest.approx(np.trace(error).real)
    assert found.interval[0] <= np.linalg.norm(error) <= found.interval[1]


def test_a_complex_matrix_that_equals_its_transpose_is_refused(rng):
    M = hermitian(rng)
    with pytest.raises(InconsistentObservationError, match=r"states M = M\.H, its conjugate transpose, so columns"):
        curplus.acquire(M + M.T + 1j * (M + M.T), tol=1e-3, symmetric=True, rng=0)


@pytest.mark.parametrize("strategy", ["auto", "pivoted", "residual_norm", "leverage"])
def test_phases_of_rows_and_columns_do_not_change_what_is_chosen(rng, strategy):
    M = (gaussian(rng, (80, 20), "complex") * 0.7 ** np.arange(20)) @ gaussian(rng, (20, 60), "complex")
    p, q = (np.exp(2j * np.pi * rng.random(size)) for size in M.shape)
    counts = {"n_columns": 10, "n_rows": 12, "n_entries": 200, "strategy": strategy, "rng": 0}
    one, other = (curplus.acquire(x, **counts) for x in (M, p[:, None] * M * q))
    np.testing.assert_array_equal(one.row_index, other.row_index)
    np.testing.assert_array_equal(one.column_index, other.column_index)
