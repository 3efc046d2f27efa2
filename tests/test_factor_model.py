import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curplus.methods.approximate import factor_model
from curplus.methods.approximate.factor_model import FactorModel, Table, fit_factor_model


def table_of(X):
    return Table(X.shape, lambda rows: X[rows])


def fitted(X, n_factors=None):
    return fit_factor_model(table_of(X), n_factors, np.random.default_rng(0))


def draw(seed=0, n=300, m=12, rank=2, gaps=0.3, noise=0.1):
    rng = np.random.default_rng(seed)
    signal = 2 + rng.standard_normal((n, rank)) @ rng.standard_normal((rank, m))
    X = signal + noise * rng.standard_normal((n, m))
    hidden = rng.random((n, m)) < gaps
    return X, np.where(hidden, np.nan, X), hidden


def test_rows_are_completed_by_their_conditional_mean():
    rng = np.random.default_rng(0)
    m, k = 7, 3
    loadings, noise = rng.standard_normal((m, k + 1)), rng.uniform(0.1, 2, size=m)
    model = FactorModel(loadings, np.zeros((m, (k + 1) * (k + 2) // 2)), noise)
    rows = np.where(rng.random((20, m)) < 0.5, np.nan, rng.standard_normal((20, m)))
    V, mean = loadings[:, :k], loadings[:, k]
    covariance = V @ V.T + np.diag(noise)
    for row, completed in zip(rows, model.complete(rows), strict=True):
        o, g = np.flatnonzero(~np.isnan(row)), np.flatnonzero(np.isnan(row))
        expected = mean[g] + covariance[np.ix_(g, o)] @ np.linalg.solve(covariance[np.ix_(o, o)], row[o] - mean[o])
        assert completed[g] == pytest.approx(expected)


def test_recovers_a_matrix_of_low_rank():
    X, table, hidden = draw(noise=0)
    assert np.max(np.abs(fitted(table).complete(table) - X)[hidden]) < 1e-2


def test_gaps_are_filled_nearly_as_well_as_the_noise_allows():
    X, table, hidden = draw(n=1000)
    error = np.sqrt(np.mean((fitted(table).complete(table) - X)[hidden] ** 2))
    assert error < 0.1 * np.sqrt(1 + 2 / (0.7 * 12)) * 1.1


def test_each_column_has_noise_of_its_own():
    rng = np.random.default_rng(0)
    deviations = np.linspace(0.3, 1, 12)
    X = draw(n=3000, noise=0, gaps=0)[0] + deviations * rng.standard_normal((3000, 12))
    X[rng.random(X.shape) < 0.3] = np.nan
    assert np.sqrt(fitted(X, 2).noise) == pytest.approx(deviations, rel=0.1)


def test_directions_that_nothing_supports_are_left_out():
    assert fitted(draw(n=2000, m=30)[1], 10).n_factors == 2


def test_more_factors_hardly_hurt():
    X, table, hidden = draw(n=200, m=30, noise=0.5)
    errors = [np.sqrt(np.mean((fitted(table, k).complete(table) - X)[hidden] ** 2)) for k in (2, 5, 15)]
    assert errors[2] < 1.03 * errors[0]


def test_a_change_of_units_changes_the_model_alike():
    X, table, _ = draw()
    model = fitted(table)
    shift, scale = np.arange(12.0), np.geomspace(0.01, 100, 12)
    there = model.rescale(shift, scale).complete((table - shift) / scale)
    assert np.allclose(there * scale + shift, model.complete(table), atol=1e-6 * np.max(np.abs(X)))


def test_blocks_do_not_matter(monkeypatch):
    table = draw()[1]
    expected = fitted(table).complete(table)
    monkeypatch.setattr(factor_model, "BLOCK", 100)
    assert np.allclose(fitted(table).complete(table), expected, atol=1e-9)


def test_part_of_the_rows_of_a_long_table_tell_as_much():
    X, table, hidden = draw(n=20_000, m=6)
    seen = []

    def rows(index):
        seen.append(len(table[index]))
        return table[index]

    model = fit_factor_model(Table(table.shape, rows), 2, np.random.default_rng(0))
    assert max(seen) < 5_000
    error = np.sqrt(np.mean((model.complete(table) - X)[hidden] ** 2))
    assert error < 1.02 * np.sqrt(np.mean((fitted(table[:10_000], 2).complete(table) - X)[hidden] ** 2))


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 12),
    m=st.integers(1, 8),
    share=st.floats(0, 0.9),
    unit=st.sampled_from([1e-30, 1.0, 1e30]),
    single=st.booleans(),
)
def test_small_and_strange_tables_have_finite_answers(seed, n, m, share, unit, single):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, m)) * (1.0 if single else unit)
    X = np.where(rng.random((n, m)) < share, np.nan, X).astype(np.float32 if single else np.float64)
    X[0] = unit if not single else 1
    completed = fitted(X).complete(X)
    assert np.isfinite(completed).all()
    assert np.max(np.abs(completed)) <= 20 * np.nanmax(np.abs(X))
