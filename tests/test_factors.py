"""The factor model, beside the dense Gaussian conditional mean."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import curplus
from curplus import Observation
from curplus.methods.approximate.factors import BlockedTable, FactorModel, Factors, TransposedFactors, fit_factor_model
from curplus.observation import Cells


def table_of(X):
    known = ~np.isnan(X)
    return BlockedTable(X.shape, lambda rows: X[rows], np.flatnonzero(known.any(axis=1)), float(known.mean()))


def fitted(X, n_factors=3):
    return fit_factor_model(table_of(X), n_factors, np.random.default_rng(0))


def predicted(model, X):
    """What a model predicts of a table."""
    return np.column_stack([model.scores_of(table_of(X)), np.ones(len(X))]) @ model.loadings.T


def draw(seed=0, n=300, m=12, rank=2, gaps=0.3, noise=0.1):
    rng = np.random.default_rng(seed)
    signal = 2 + rng.standard_normal((n, rank)) @ rng.standard_normal((rank, m))
    X = signal + noise * rng.standard_normal((n, m))
    hidden = rng.random((n, m)) < gaps
    return X, np.where(hidden, np.nan, X), hidden


def error_at_gaps(X, guess, hidden):
    return np.sqrt(np.mean((guess - X)[hidden] ** 2))


@pytest.mark.parametrize("uncertain", [False, True])
def test_scores_are_the_dense_posterior_mean(rng, uncertain):
    """Given the loadings: of a normal vector, from its known parts; the covariance of a loading adds to its square."""
    m, k = 7, 3
    loadings, noise = rng.standard_normal((m, k + 1)), rng.uniform(0.1, 2, size=m)
    roots = rng.standard_normal((m, k + 1, k + 1)) * (0.2 if uncertain else 0)
    S = roots @ np.swapaxes(roots, 1, 2)
    model = FactorModel(loadings, S[:, *np.triu_indices(k + 1)], noise)
    rows = np.where(rng.random((20, m)) < 0.5, np.nan, rng.standard_normal((20, m)))
    V, mean = loadings[:, :k], loadings[:, k]
    for row, found in zip(rows, model.scores(rows), strict=True):
        o = np.flatnonzero(~np.isnan(row))
        precision = np.eye(k) + sum((np.outer(V[j], V[j]) + S[j, :k, :k]) / noise[j] for j in o)
        right = sum(((row[j] - mean[j]) * V[j] - S[j, :k, k]) / noise[j] for j in o) + np.zeros(k)
        np.testing.assert_allclose(found, np.linalg.solve(precision, right), atol=1e-10)
        if not uncertain:
            covariance = V[o] @ V[o].T + np.diag(noise[o])
            expected = V @ V[o].T @ np.linalg.solve(covariance, row[o] - mean[o])
            np.testing.assert_allclose(V @ found, expected, atol=1e-10)


def test_recovers_a_matrix_of_low_rank():
    X, table, hidden = draw(noise=0)
    assert np.max(np.abs(predicted(fitted(table), table) - X)[hidden]) < 2e-2


def test_gaps_are_filled_nearly_as_well_as_the_noise_allows():
    X, table, hidden = draw(n=1000)
    error = error_at_gaps(X, predicted(fitted(table), table), hidden)
    assert error < 0.1 * np.sqrt(1 + 2 / (0.7 * 12)) * 1.1


def test_each_column_has_noise_of_its_own():
    rng = np.random.default_rng(0)
    deviations = np.linspace(0.3, 1, 12)
    X = draw(n=3000, noise=0, gaps=0)[0] + deviations * rng.standard_normal((3000, 12))
    X[rng.random(X.shape) < 0.3] = np.nan
    np.testing.assert_allclose(np.sqrt(fitted(X, 2).noise), deviations, rtol=0.1)


def test_directions_that_nothing_supports_are_left_out():
    assert fitted(draw(n=2000, m=30)[1], 10).n_factors == 2


def test_more_factors_hardly_hurt():
    X, table, hidden = draw(n=200, m=30, noise=0.5)
    errors = [error_at_gaps(X, predicted(fitted(table, k), table), hidden) for k in (2, 5, 15)]
    assert errors[2] < 1.03 * errors[0]


def test_part_of_the_rows_of_a_long_table_tell_as_much():
    X, table, hidden = draw(n=20_000, m=6)
    sizes, whole = [], table_of(table)

    def rows(index):
        sizes.append(len(index))
        return table[index]

    model = fit_factor_model(whole._replace(rows=rows), 2, np.random.default_rng(0))
    assert max(sizes) < 5_000
    error = error_at_gaps(X, predicted(model, table), hidden)
    assert error < 1.02 * error_at_gaps(X, predicted(fitted(table[:10_000], 2), table), hidden)


@pytest.mark.parametrize("turned", [False, True])
def test_rows_of_the_longer_side_are_the_draws(turned):
    X, table, hidden = draw(n=200, m=20)
    seen = Observation.from_table(table.T if turned else table)
    fit = Factors().fit(Cells.of(seen))
    assert fit.left.shape[0] == seen.shape[0]
    guess = fit.to_array().T if turned else fit.to_array()
    assert error_at_gaps(X, guess, hidden) < 0.14


def test_it_takes_rows_columns_and_entries_alike():
    X, _, _ = draw(n=100, m=30)
    seen = curplus.observe(X, n_columns=6, n_rows=8, n_entries=900, rng=0)
    table = Cells.of(seen).block(np.arange(100))
    fits = [Factors().fit(Cells.of(x)).to_array() for x in (seen, Observation.from_table(table))]
    np.testing.assert_allclose(*fits, atol=1e-8)


def test_a_column_of_which_nothing_is_known_is_like_the_mean_of_the_others():
    table = draw(n=100, m=10)[1]
    table[:, 4] = np.nan
    guess = Factors().fit(Cells.of(Observation.from_table(table))).to_array()
    np.testing.assert_allclose(guess[:, 4], np.delete(guess, 4, axis=1).mean(axis=1), atol=1e-10)


@pytest.mark.parametrize("k", [0, 1])
def test_of_one_known_column_or_none_nothing_is_predicted(k):
    table = np.full((10, 5), np.nan)
    table[:3, :k] = 1.0
    i, j = np.nonzero(~np.isnan(table))
    cells = Cells.of(Observation(shape=(10, 5), i=i, j=j, values=table[i, j]))
    assert not Factors().fit(cells).to_array().any()


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 12),
    m=st.integers(2, 8),
    share=st.floats(0, 0.9),
    unit=st.sampled_from([1e-30, 1.0, 1e30]),
)
@example(seed=0, n=2, m=4, share=0.75, unit=1e30)  # no column varies
def test_small_and_strange_tables_have_finite_answers(seed, n, m, share, unit):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, m)) * unit
    X = np.where(rng.random((n, m)) < share, np.nan, X)
    X[0] = unit
    guess = Factors().fit(Cells.of(Observation.from_table(X))).to_array()
    assert np.isfinite(guess).all()
    assert np.max(np.abs(guess)) <= 20 * np.nanmax(np.abs(X))


@pytest.mark.parametrize("shape", [(60, 40), (40, 60)])
def test_transposed_factors_are_factors_with_both_sides_exchanged(rng, shape):
    M = rng.standard_normal((shape[0], 2)) @ rng.standard_normal((2, shape[1])) + 0.1 * rng.standard_normal(shape)
    cells = Cells.of(curplus.observe(M, n_columns=0, n_rows=0, n_entries=1200, rng=0))
    found, turned = TransposedFactors().fit(cells).to_array(), TransposedFactors().fit(cells.T).to_array()
    np.testing.assert_allclose(found, turned.T, atol=1e-10)
    assert np.linalg.norm(found - M) < 0.3 * np.linalg.norm(M)
    long, wide = np.zeros((2001, 3)), np.zeros((3, 2001))
    for x in (long, wide):
        assert not TransposedFactors().applies(
            Cells.of(Observation.from_table(np.where(np.eye(*x.shape) > 0, np.nan, x)))
        )


def test_a_few_rows_of_noise_do_not_spoil_the_others(rng):
    """Noise by column cannot tell rows of noise from others; noise by row can."""
    M = rng.standard_normal((150, 3)) @ rng.standard_normal((3, 100))
    M[:15] = 5 * rng.standard_normal((15, 100))
    rows = np.r_[:10, 20:26]
    others = np.setdiff1d(np.arange(150), rows)
    columns = rng.choice(100, 12, replace=False)
    i, j = rng.choice(others, 600), rng.integers(100, size=600)
    seen = Observation(
        shape=M.shape,
        row_index=rows,
        rows=M[rows],
        column_index=columns,
        columns=M[:, columns],
        i=i,
        j=j,
        values=M[i, j],
    )
    plain, turned = (
        np.linalg.norm((model.fit(Cells.of(seen)).to_array() - M)[26:]) for model in (Factors(), TransposedFactors())
    )
    assert turned < 0.7 * plain
