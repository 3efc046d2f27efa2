"""Each model without each fold: what it predicts, how often it is fitted, and the weights that follow."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pytest

import curplus
from curplus.evaluation.left_out import left_out
from curplus.methods.approximate.blend import blend_weights, trials_of
from curplus.methods.approximate.models import MODELS
from curplus.methods.approximate.offsets import Offsets
from curplus.methods.approximate.prediction import Prediction
from curplus.observation import Cells
from tests.test_evidence import noisy


@dataclass(frozen=True)
class Means:
    """A model that predicts the mean of each column, and counts its fits."""

    fits: list = field(default_factory=list)
    is_settled: bool = False
    name: ClassVar[str] = "means"
    uses_entries: ClassVar[bool] = True

    def applies(self, cells):
        return len(cells.scattered) > 0

    def settled(self, cells):
        return replace(self, is_settled=True)

    def fit(self, cells):
        assert self.is_settled
        self.fits.append(cells)
        e, m = cells.scattered, cells.shape[1]
        means = np.bincount(e.j, e.values, m) / np.maximum(np.bincount(e.j, minlength=m), 1)
        return Prediction.of(np.ones((cells.shape[0], 1)), means[:, None])


@dataclass(frozen=True)
class Lines(Means):
    """The same of rows and columns alone."""

    name: ClassVar[str] = "lines"
    uses_entries: ClassVar[bool] = False


def tried(models, n_columns=4, n_rows=4, n_entries=900, M=None):
    seen = curplus.observe(noisy() if M is None else M, n_columns=n_columns, n_rows=n_rows, n_entries=n_entries, rng=0)
    cells = Cells.of(seen)
    uses_entries = any(model.uses_entries for model in models)
    return cells, trials_of(models, cells, left_out(cells, seen, np.random.default_rng(0), uses_entries=uses_entries))


def test_left_out_values_are_predicted_by_fits_without_them():
    _, trials = tried((Means(), Offsets()))
    start = 0
    for k, fold in enumerate(trials.left_out.folds):
        here = slice(start, start := start + len(fold.i))
        for model, predicted in zip((Means(is_settled=True), Offsets()), trials.held.predicted[here].T, strict=True):
            np.testing.assert_allclose(predicted, model.fit(fold.cells).to_array()[fold.i, fold.j])
        np.testing.assert_array_equal(trials.held.values[here], fold.values)
        assert (trials.fold[here] == k).all()
    assert start == len(trials.held.values)
    np.testing.assert_array_equal(trials.of("offsets"), trials.held.predicted[:, 1])
    assert trials.of("skeleton") is None


@pytest.mark.parametrize(("n_entries", "number"), [(900, 6), (40, 6)])
def test_a_model_is_fitted_once_to_everything_and_once_without_each_fold(n_entries, number):
    model = Means()
    cells, trials = tried((model,), n_entries=n_entries)
    assert len(model.fits) == number
    assert [x is cells for x in model.fits] == [False] * 5 + [True]
    assert len(trials.parts) == 5


def test_a_model_without_entries_is_not_fitted_again_if_only_entries_are_left_out():
    model = Lines()
    tried((model, Means()))
    assert len(model.fits) == 1
    model = Lines()
    _, trials = tried((model, Means()), n_entries=40)  # rows and columns are left out too
    assert len(model.fits) == 1 + sum(fold.hides_sampled for fold in trials.left_out.folds) > 4


def test_groups_of_different_folds_stay_apart():
    _, trials = tried((Means(), Offsets()), n_entries=0)
    for k in range(len(trials.parts)):
        assert not np.isin(trials.held.group[trials.fold == k], trials.held.group[trials.fold != k]).any()
    assert len(np.unique(trials.held.group)) == 8


def test_weights_for_a_fold_come_from_the_other_folds():
    _, trials = tried((Means(), Offsets()))
    np.testing.assert_array_equal(trials.weights, blend_weights(trials.held))
    for k in range(len(trials.parts)):
        others = blend_weights(trials.held.take(np.flatnonzero(trials.fold != k)))
        np.testing.assert_array_equal(trials.weights_without(k), others)
        cells, blend = trials.without(k)
        assert cells is trials.left_out.folds[k].cells
        expected = sum(w * fit.to_array() for w, fit in zip(others, trials.parts[k], strict=True))
        np.testing.assert_allclose(blend.to_array(), expected, atol=1e-12)


def test_the_better_model_has_the_larger_weight():
    M = noisy() + 5 * np.arange(80)[:, None]
    _, trials = tried((Means(), Offsets()), M=M)
    assert trials.weights[1] > 0.9


def test_a_model_alone_has_weight_one_and_is_judged_all_the_same():
    _, trials = tried((Means(),))
    np.testing.assert_array_equal(trials.weights, [1.0])
    np.testing.assert_array_equal(trials.weights_without(0), [1.0])
    assert len(trials.held.values) > 700


def test_a_model_that_does_not_apply_without_a_fold_predicts_zero_there():
    """Of two rows one is left, and the skeleton takes two."""
    M = noisy() + 10
    _, trials = tried(MODELS, n_columns=2, n_rows=2, n_entries=40, M=M)
    zero = [not np.any(parts[0].to_array()) for parts in trials.parts]
    assert any(zero)
    assert not all(zero)


def test_if_nothing_can_be_left_out_the_weights_are_zero():
    _, trials = tried((Means(), Offsets()), n_columns=1, n_rows=0, n_entries=0)
    assert not trials.parts
    np.testing.assert_array_equal(trials.weights, [0.0, 0.0])
