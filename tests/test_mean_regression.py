"""The mean of other columns follows from known ones by a ridge regression, judged by rows that are left out."""

import numpy as np
import pytest

from curplus.evaluation.history import MEAN_RIDGES, MeanRegression, _ridge


def table(rng, n=60, k=8, noise=0.3):
    X = rng.standard_normal((n, 2)) @ rng.standard_normal((2, k)) + noise * rng.standard_normal((n, k)) + 1
    return X, X[:, :3].sum(axis=1) / 5 + noise * rng.standard_normal(n)


def ridge_of(X, t, ridge):
    """Coefficients and prediction of a dense ridge regression with a free intercept."""
    Y = X - X.mean(axis=0)
    slope = np.linalg.solve(Y.T @ Y + ridge * np.eye(X.shape[1]), Y.T @ (t - t.mean()))
    return slope, lambda x: t.mean() + (x - X.mean(axis=0)) @ slope


@pytest.mark.parametrize("shape", [(60, 8), (10, 25)])
def test_the_ridge_is_the_one_that_predicts_left_out_rows_best(rng, shape):
    X, t = table(rng, *shape)
    centred = X - X.mean(axis=0)
    unit = np.mean(np.sum(centred**2, axis=0))

    def errors(ridge):
        kept = [np.delete(np.arange(len(X)), i) for i in range(len(X))]
        # the centre of all rows stays, as in the formula of leverages: a ridge around it, with an intercept
        design = np.column_stack([np.ones(len(X)), centred])
        penalty = ridge * np.diag([0.0] + [1.0] * X.shape[1])
        return np.array(
            [
                t[i] - design[i] @ np.linalg.solve(design[some].T @ design[some] + penalty, design[some].T @ t[some])
                for i, some in enumerate(kept)
            ]
        )

    squares = [np.mean(errors(ridge * unit) ** 2) for ridge in MEAN_RIDGES[9:]]
    best = MEAN_RIDGES[9:][int(np.argmin(squares))] * unit
    slope, left_out = _ridge(centred, t - t.mean(), 0.0)
    np.testing.assert_allclose(slope, ridge_of(X, t, best)[0], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(left_out, errors(best), rtol=1e-6, atol=1e-9)


def test_the_blend_is_no_worse_at_left_out_rows_than_either_of_its_parts(rng):
    X, t = table(rng, 40, 12, noise=1.0)
    fit = MeanRegression.fit(X, t)
    centred = t - t.mean() - (X - X.mean(axis=0)).mean(axis=1)
    plain = np.mean((centred * 40 / 39) ** 2)
    assert np.mean(fit.left_out**2) <= min(plain, np.mean(_ridge(X - X.mean(axis=0), t - t.mean(), 0.0)[1] ** 2))


def test_an_exact_relation_is_found(rng):
    X = rng.standard_normal((30, 2)) @ rng.standard_normal((2, 6))
    fit = MeanRegression.fit(X, X @ np.arange(6.0))
    new = rng.standard_normal((5, 2)) @ np.linalg.lstsq(np.eye(2), np.zeros((2, 6)), rcond=None)[0] + X[:5]
    np.testing.assert_allclose(fit.predict(new), new @ np.arange(6.0), atol=1e-6)
    assert fit.error < 1e-6


def test_noise_of_the_values_adds_to_the_error_and_makes_coefficients_small(rng):
    X, t = table(rng)
    exact, noisy = MeanRegression.fit(X, t), MeanRegression.fit(X, t, noise=2.0)
    assert np.linalg.norm(noisy.slope) < np.linalg.norm(exact.slope)
    assert noisy.error == pytest.approx(np.sqrt(np.mean(noisy.left_out**2) + 4 * np.sum(noisy.slope**2)))


@pytest.mark.parametrize(("n", "k"), [(1, 3), (2, 3), (5, 0), (4, 1)])
def test_few_rows_and_no_columns_have_finite_predictions(rng, n, k):
    fit = MeanRegression.fit(rng.standard_normal((n, k)), rng.standard_normal(n))
    assert np.isfinite(fit.predict(rng.standard_normal((3, k)))).all()
    assert np.isfinite(fit.error)


def test_columns_that_do_not_vary_predict_the_mean(rng):
    t = rng.standard_normal(20)
    fit = MeanRegression.fit(np.ones((20, 4)), t)
    assert fit.predict(np.ones((1, 4))) == pytest.approx(t.mean())


@pytest.mark.parametrize("unit", [1e-100, 1e100])
def test_units_do_not_matter(rng, unit):
    X, t = table(rng)
    plain, scaled = MeanRegression.fit(X, t), MeanRegression.fit(X * unit, t * unit)
    np.testing.assert_allclose(scaled.predict(X * unit), plain.predict(X) * unit)
    assert scaled.error == pytest.approx(plain.error * unit)
