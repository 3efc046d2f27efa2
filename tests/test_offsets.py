"""The additive model, beside the best linear unbiased prediction of a dense linear mixed model."""

import numpy as np
import pytest

import curplus
from curplus import Observation
from curplus.evaluation.additive import additive_model
from curplus.methods.approximate.offsets import Offsets
from curplus.observation import Cells, Entries


def entries_of(M, size, rng, weights=None):
    i, j = np.divmod(rng.permutation(M.size)[:size], M.shape[1])
    return Entries(M.shape, i, j, M[i, j], weights=np.ones(size) if weights is None else weights)


def draw(rng, shape=(25, 20), of_rows=1.0, of_columns=0.5, noise=1.0):
    n, m = shape
    rows, columns = of_rows * rng.standard_normal((n, 1)), of_columns * rng.standard_normal((1, m))
    return 2 + rows + columns + noise * rng.standard_normal(shape)


def variances_of(model, entries):
    """The variances of the offsets that the model implies: an offset is its gradient times variance over noise."""
    gradient = entries.weights * model.residual(entries).values
    sides = ((entries.i, model.rows), (entries.j, model.columns))
    return [model.noise * float(np.median(x[x != 0] / np.bincount(at, gradient, len(x))[x != 0])) for at, x in sides]


def mixed_model(entries, noise, variances):
    """Constant by generalised least squares, offsets by their conditional mean: the dense formulas of Robinson 1991."""
    (n, m), k = entries.shape, len(entries)
    Z = np.zeros((k, n + m))
    Z[np.arange(k), entries.i], Z[np.arange(k), n + entries.j] = 1, 1
    G = np.diag(np.repeat(variances, (n, m)))
    V = Z @ G @ Z.T + np.diag(noise / entries.weights)
    ones = np.ones(k)
    constant = ones @ np.linalg.solve(V, entries.values) / (ones @ np.linalg.solve(V, ones))
    offsets = G @ Z.T @ np.linalg.solve(V, entries.values - constant)
    return constant, offsets[:n], offsets[n:]


def test_offsets_are_the_best_linear_unbiased_prediction(rng):
    M = draw(rng)
    for size in (100, 200, 400):
        entries = entries_of(M, size, rng, rng.uniform(0.5, 2, size))
        model = additive_model(entries)
        constant, rows, columns = mixed_model(entries, model.noise, variances_of(model, entries))
        guess = constant + rows[:, None] + columns
        np.testing.assert_allclose(np.array(model.factors()[0] @ model.factors()[1].T), guess, atol=0.02)


def test_variances_are_those_that_the_values_were_drawn_with(rng):
    M = draw(rng, (400, 300), 0.7, 0.4, 1.5)
    entries = entries_of(M, 12_000, rng)
    model = additive_model(entries)
    assert model.noise == pytest.approx(1.5**2, rel=0.05)
    np.testing.assert_allclose(np.sqrt(variances_of(model, entries)), [0.7, 0.4], rtol=0.15)


def test_the_additive_model_of_a_whole_table_is_its_means(rng):
    M = draw(rng, (40, 30), 1.0, 3.0, 0.0)
    model = additive_model(entries_of(M, M.size, rng))
    i, j = np.indices(M.shape).reshape(2, -1)
    np.testing.assert_allclose(model.at(i, j), M.ravel(), atol=1e-3)
    left, right = model.factors()
    np.testing.assert_allclose((left @ right.T).ravel(), model.at(i, j), atol=1e-12)


def test_offsets_that_cannot_be_told_from_noise_are_small(rng):
    noise = rng.standard_normal((60, 50))
    model = additive_model(entries_of(noise, 1500, rng))
    assert np.std(model.rows) + np.std(model.columns) < 0.1


def test_rows_without_entries_have_offset_zero(rng):
    M = draw(rng)
    M[4] += 100
    entries = entries_of(M, 300, rng)
    entries = entries.take(np.flatnonzero((entries.i != 4) & (entries.j != 7)))
    model = additive_model(entries)
    assert model.rows[4] == model.columns[7] == 0
    assert np.count_nonzero(model.rows) == 24


@pytest.mark.parametrize("value", [0.0, 7.0])
def test_a_constant_has_no_offsets(value):
    seen = curplus.observe(np.full((20, 15), value), n_columns=0, n_rows=0, n_entries=60, rng=0)
    np.testing.assert_allclose(curplus.approximate(seen).to_array(), value, atol=1e-9)


def test_it_takes_everything_that_was_read(rng):
    M = draw(rng, (40, 30))
    seen = curplus.observe(M, n_columns=4, n_rows=5, n_entries=200, rng=0)
    i, j = np.nonzero(~np.isnan(Cells.of(seen).block(np.arange(40))))
    scattered = Observation(shape=M.shape, i=i, j=j, values=M[i, j])
    fits = [Offsets().fit(Cells.of(x)).to_array() for x in (seen, scattered)]
    np.testing.assert_allclose(*fits, atol=1e-8)
