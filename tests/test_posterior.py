"""Both factors as normal variables: the sweeps, row by row, and what they gain."""

import numpy as np
import pytest

from curplus.methods.approximate import posterior
from curplus.methods.approximate.posterior import POSTERIOR_SWEEPS, Pair, SparseSums, posterior_mean
from curplus.observation import Entries
from tests.strategies import FIELDS, adjoint, gaussian


@pytest.fixture(params=FIELDS)
def draw(rng, request):
    """A signal of rank 3, entries of it with noise, and its own factors as a start."""
    field = request.param
    signal = gaussian(rng, (30, 3), field) @ gaussian(rng, (3, 24), field)
    i, j = np.divmod(rng.permutation(720)[:300], 24)
    values = signal[i, j] + gaussian(rng, 300, field)
    U, s, Vt = np.linalg.svd(signal, full_matrices=False)
    start = Pair(U[:, :3] * np.sqrt(s[:3]), adjoint(Vt[:3]) * np.sqrt(s[:3]))
    return signal, Entries(signal.shape, i, j, values, weights=rng.uniform(0.5, 2, 300)), start


def one_side(mine, values, other, covariance, entries, size, prior, noise):
    """Mean and covariance of each row, from those of its columns, by the formulas of the module."""
    means, covariances = (
        np.zeros(shape, dtype=other.dtype) for shape in ((size, len(prior)), (size, *covariance[0].shape))
    )
    for k in range(size):
        on = np.flatnonzero(mine[0] == k)
        columns, w = mine[1][on], entries.weights[on] / noise
        moments = other[columns].conj()[:, :, None] * other[columns][:, None, :] + covariance[columns]
        covariances[k] = np.linalg.inv(np.diag(prior) + np.einsum("t,tab->ab", w, moments))
        means[k] = (w * values[on]) @ other[columns] @ covariances[k]
    return means, covariances


def by_loops(entries, start):
    """The sweeps of variational Bayes with one small matrix for each row."""
    (n, m), k = entries.shape, start.left.shape[1]
    unit = np.sqrt(np.mean(np.abs(start.left) ** 2, axis=0))
    V = start.right * unit
    prior = 1 / np.mean(np.abs(V) ** 2, axis=0)
    S = np.zeros((m, k, k), dtype=V.dtype)
    rest = entries.values - start.at(entries.i, entries.j)
    noise = np.average(np.abs(rest) ** 2, weights=entries.weights)
    for _ in range(POSTERIOR_SWEEPS):
        U, T = one_side((entries.i, entries.j), entries.values, V, S, entries, n, np.ones(k), noise)
        V, S = one_side((entries.j, entries.i), entries.values.conj(), U, T, entries, m, prior, noise)
        scale = 1 / np.sqrt(np.mean(np.abs(U) ** 2 + np.einsum("kaa->ka", T).real, axis=0))
        U, T = U * scale, T * np.outer(scale, scale)
        V, S = V / scale, S / np.outer(scale, scale)
        prior = 1 / np.mean(np.abs(V) ** 2 + np.einsum("kaa->ka", S).real, axis=0)
        u, v, t, s = U[entries.i], V[entries.j], T[entries.i], S[entries.j]
        means = np.sum(u * v.conj(), axis=1)
        spread = sum(
            np.einsum(*x).real
            for x in (("ta,tab,tb->t", u, s, u.conj()), ("ta,tab,tb->t", v, t, v.conj()), ("tab,tab->t", t, s.conj()))
        )
        noise = np.average(np.abs(entries.values - means) ** 2 + spread, weights=entries.weights)
    return U @ adjoint(V)


@pytest.mark.parametrize(("enough_noise", "atol"), [(np.inf, 1e-8), (1e-3, 1e-5)])
def test_sweeps_are_those_of_one_small_matrix_for_each_row(draw, monkeypatch, enough_noise, atol):
    """In double precision, and beside noise nearly so in single precision."""
    monkeypatch.setattr(posterior, "ENOUGH_NOISE", enough_noise)
    monkeypatch.setattr(posterior, "MANY_ENTRIES", 1)
    _, entries, start = draw
    for found, expected in (
        (posterior_mean(SparseSums.of(entries), start), by_loops(entries, start)),
        (posterior_mean(SparseSums.of(entries.H), Pair(*start[::-1])), adjoint(by_loops(entries, start))),
    ):
        np.testing.assert_allclose(found.left @ adjoint(found.right), expected, atol=atol)


def test_averaged_factors_err_less_than_those_of_least_squares(draw):
    signal, entries, start = draw
    U, V = start
    for _ in range(30):
        both = (V, entries.j, (U, entries.i), entries.H.values), (U, entries.i, (V, entries.j), entries.values)
        for mine, at, other, values in both:
            for k in range(len(mine)):
                A = other[0][other[1][at == k]].conj()
                mine[k] = np.linalg.lstsq(A, values[at == k])[0]
    found = posterior_mean(SparseSums.of(entries), start)
    most = 1.0 if np.iscomplexobj(signal) else 0.8  # equations of complex numbers are rarely as ill-conditioned
    assert np.linalg.norm(found.left @ adjoint(found.right) - signal) < most * np.linalg.norm(U @ adjoint(V) - signal)


def test_directions_that_nothing_supports_shrink(rng):
    i, j = np.divmod(rng.permutation(3000)[:900], 50)
    noise = Entries((60, 50), i, j, rng.standard_normal(900), weights=np.ones(900))
    start = Pair(rng.standard_normal((60, 2)), rng.standard_normal((50, 2)))
    found = posterior_mean(SparseSums.of(noise), start)
    assert np.linalg.norm(found.left @ adjoint(found.right)) < 0.3 * np.linalg.norm(start.left @ start.right.T)


def test_of_no_directions_nothing_is_made(draw):
    _, entries, _ = draw
    start = Pair(np.zeros((30, 0)), np.zeros((24, 0)))
    assert posterior_mean(SparseSums.of(entries), start) is start
