"""A prediction as four factors does what the dense matrix does."""

import numpy as np
import pytest

from curplus.methods.approximate.prediction import Prediction


@pytest.fixture(params=[(30, 8, 5, 3, 3), (8, 30, 2, 3, 9), (12, 12, 9, 2, 6)])
def both(request, rng, xp):
    """A prediction, and the matrix that it is."""
    n, m, p, k, q = request.param
    left, mixing, coefficients, right = (rng.standard_normal(s) for s in ((n, p), (p, k), (k, q), (m, q)))
    return Prediction(xp.asarray(left), mixing, coefficients, xp.asarray(right)), left @ mixing @ coefficients @ right.T


def test_every_view_is_that_of_the_dense_matrix(both, rng):
    prediction, dense = both
    n, m = dense.shape
    np.testing.assert_allclose(np.asarray(prediction.to_array()), dense)
    np.testing.assert_allclose(np.asarray(prediction.H.to_array()), dense.conj().T)
    i, j = rng.integers(n, size=15), rng.integers(m, size=15)
    np.testing.assert_allclose(np.asarray(prediction.at(i, j)), dense[i, j])
    np.testing.assert_allclose(np.asarray(prediction.H.at(j, i)), dense[i, j].conj())
    left, right = prediction.factors
    np.testing.assert_allclose(np.asarray(left @ right.T), dense)
    np.testing.assert_allclose(np.asarray(prediction.combined(prediction.left[:3, :]) @ prediction.right.T), dense[:3])
    np.testing.assert_allclose(np.asarray(prediction.times(-2.5).to_array()), -2.5 * dense)


def test_a_sum_is_that_of_the_dense_matrices(both, rng):
    prediction, dense = both
    left, right = rng.standard_normal((dense.shape[0], 2)), rng.standard_normal((dense.shape[1], 2))
    total = prediction.plus(Prediction.of(left, right))
    np.testing.assert_allclose(np.asarray(total.to_array()), dense + left @ right.T)
    assert type(total.left) is type(prediction.left)


def test_nothing_predicts_zero():
    nothing = Prediction.of(np.zeros((5, 0)), np.zeros((4, 0)))
    np.testing.assert_array_equal(nothing.to_array(), np.zeros((5, 4)))
    np.testing.assert_array_equal(nothing.at(np.arange(3), np.arange(3)), np.zeros(3))
