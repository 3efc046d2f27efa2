"""The weights of the models: beside a dense quadratic program, convex, and zero without evidence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from curplus.methods.approximate.blend import Held, blend_weights, blended
from curplus.methods.approximate.prediction import Prediction
from tests.strategies import seeds


def held_of(predicted, values, weights=None, group=None):
    h = len(values)
    return Held(predicted, values, np.ones(h) if weights is None else weights, np.arange(h) if group is None else group)


def draw(seed, h=200, k=4, noise=1.0, tails=False):
    """Values, and models that each see a part of them."""
    rng = np.random.default_rng(seed)
    parts = rng.standard_normal((h, k))
    error = rng.standard_t(1.5, h) if tails else rng.standard_normal(h)
    values = parts.sum(axis=1) + noise * error
    predicted = parts @ rng.uniform(0, 1, (k, k)) + 0.3 * rng.standard_normal((h, k))
    return held_of(predicted, values, rng.uniform(0.5, 2, h), rng.integers(h // 3, size=h))


def by_quadratic_programs(held):
    """The same weights: the stated objective, minimised by a general solver until the evidence does not change."""
    unit = np.sqrt(np.average(held.values**2, weights=held.weights))
    P, y, w = held.predicted / unit, held.values / unit, held.weights.copy()
    k, groups = P.shape[1], [np.flatnonzero(held.group == g) for g in np.unique(held.group)]
    sizes = [np.sum(w[g] * y[g] ** 2) for g in groups]
    for g, size in zip(groups, sizes, strict=True):
        w[g] *= min(1, 0.1 * (np.sum(sizes) - size) / size)
    now = np.zeros(k)

    def objective(a, scale):
        return scale * np.sum(w * (y - P @ a) ** 2) + np.sum(a**2)

    for _ in range(50):
        squares = np.array([np.sum(w[g] * (y[g] - P[g] @ now) ** 2) for g in groups])
        found = minimize(
            objective,
            np.full(k, 0.5 / k),
            args=(3 * np.sum(squares) / np.sum(squares**2),),
            method="SLSQP",
            bounds=[(0, None)] * k,
            constraints={"type": "ineq", "fun": lambda a: 1 - a.sum()},
            options={"ftol": 1e-14, "maxiter": 500},
        )
        now, before = found.x, now
        if np.max(np.abs(now - before)) < 1e-5:
            break
    return now


@pytest.mark.parametrize("tails", [False, True])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_weights_solve_the_quadratic_program(k, tails):
    for seed in range(6):
        held = draw(seed, k=k, tails=tails)
        np.testing.assert_allclose(blend_weights(held), by_quadratic_programs(held), atol=5e-3)


@given(seeds, st.integers(1, 5), st.integers(0, 30), st.sampled_from([1e-150, 1.0, 1e100]), st.booleans())
def test_weights_are_never_negative_and_add_up_to_one_at_most(seed, k, h, unit, same):
    rng = np.random.default_rng(seed)
    predicted = unit * rng.standard_normal((h, k)) * (rng.random(k) < 0.8)
    predicted[:, -1] = predicted[:, 0] if same else predicted[:, -1]
    held = held_of(predicted, unit * rng.standard_t(2, h), group=rng.integers(max(h // 2, 1), size=h))
    weights = blend_weights(held)
    assert weights.shape == (k,)
    assert np.all(weights >= 0)
    assert weights.sum() <= 1 + 1e-6


def test_much_evidence_gives_the_weights_of_least_squares(rng):
    truth = np.array([0.5, 0.2, 0.0])
    predicted = rng.standard_normal((5000, 3))
    held = held_of(predicted, predicted @ truth + 0.1 * rng.standard_normal(5000))
    np.testing.assert_allclose(blend_weights(held), truth, atol=0.01)


def test_predictions_of_nothing_get_weight_zero_if_there_is_much_evidence(rng):
    held = held_of(rng.standard_normal((5000, 2)), rng.standard_normal(5000))
    assert blend_weights(held).sum() < 0.05


@pytest.mark.parametrize("h", [0, 9])
def test_without_values_or_with_zeros_alone_the_weights_are_zero(h):
    np.testing.assert_array_equal(blend_weights(held_of(np.ones((h, 4)), np.zeros(h))), np.zeros(4))


def test_predictions_without_an_error_take_all_the_weight(rng):
    values = rng.standard_normal(50)
    weights = blend_weights(held_of(np.column_stack([values, rng.standard_normal(50)]), values))
    np.testing.assert_allclose(weights, [1, 0], atol=1e-6)


def test_one_value_that_outweighs_all_the_others_is_little_evidence(rng):
    """A model that alone sees it, by chance, does not get the weight of the models that predict all the others."""
    predicted = rng.standard_normal((300, 2))
    values = predicted @ [0.0, 1.0] + 0.1 * rng.standard_normal(300)
    predicted[0], values[0] = (1000.0, 0.0), 1000.0
    plain = np.linalg.lstsq(predicted, values)[0]
    assert plain[0] > 0.9
    assert blend_weights(held_of(predicted, values))[0] < 0.6


def test_copies_of_values_that_err_together_change_nothing():
    held = draw(0)
    copies = held.take(np.repeat(np.arange(200), 10))
    np.testing.assert_allclose(blend_weights(copies), blend_weights(held), atol=1e-6)
    alone = copies._replace(group=np.arange(2000))
    assert np.max(np.abs(blend_weights(alone) - blend_weights(held))) > 0.01


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_units_and_the_order_of_models_do_not_matter(scale):
    held, order = draw(0), [2, 0, 3, 1]
    weights = blend_weights(held)
    scaled = held._replace(predicted=scale * held.predicted, values=scale * held.values)
    np.testing.assert_allclose(blend_weights(scaled), weights, atol=1e-8)
    turned = held._replace(predicted=held.predicted[:, order])
    np.testing.assert_allclose(blend_weights(turned), weights[order], atol=1e-6)


def test_a_blend_is_the_weighted_sum_of_the_dense_matrices(rng):
    fits = [Prediction.of(rng.standard_normal((9, k)), rng.standard_normal((7, k))) for k in (2, 1, 3)]
    for weights in ([0.5, 0.0, 0.25], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]):
        expected = sum(w * fit.left @ fit.right.T for w, fit in zip(weights, fits, strict=True))
        np.testing.assert_allclose(blended(fits, np.array(weights)).to_array(), expected, atol=1e-12)


def test_a_model_that_is_far_worse_costs_no_digits(rng):
    y = rng.standard_normal(4000)
    worse, best, offsets = (y + size * rng.standard_normal(4000) for size in (1e-5, 3e-7, 0.5))
    held = Held(np.column_stack([worse, best, offsets]), y, np.ones(4000), np.arange(4000))
    np.testing.assert_allclose(blend_weights(held), [0, 1, 0], atol=1e-3)
