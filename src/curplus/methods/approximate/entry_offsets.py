"""What scattered entries say of the rows and columns they stand in: offsets for the error of a prediction."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..._arrays import to_device
from ..._typing import Vector
from ...observation import Entries, Observation
from .correction import Errors, on_host
from .evidence import Gain, best_gain, left_out_in_turn
from .offsets import Offsets, additive_model
from .prediction import Prediction
from .skeleton import RELIABLE

__all__ = ["kept_above", "with_entry_offsets"]

STEPS = 30  # to find the variances
UNEXPECTED = 3.0  # standard errors that offsets must bring where rows and columns show none


def with_entry_offsets(
    observation: Observation,
    prediction: Prediction,
    errors: Errors,
    *,
    has_constant: bool,
    reliability: float = 0.0,
    gain: Gain | None = None,
) -> tuple[Prediction, Errors, Gain]:
    """The prediction, its errors, and what offsets fitted to them bring (``gain``, where it is known before).

    They are added if that is more than three standard errors; or than zero, where the sampled rows and columns show
    that there are offsets (``reliability``). If ``has_constant``, the feature after the sampled columns is the
    constant.
    """
    fit, aside = (on_host(part) for part in errors)
    whole = cache(lambda: additive_model(fit, STEPS))

    folds = cache(lambda: left_out_in_turn(fit))

    def without(fold: int) -> Entries:
        return fit.take(np.delete(np.arange(len(fit)), folds()[fold]))

    def predicted(fold: int | None, at: Entries) -> list[Vector]:
        return [(whole() if fold is None else additive_model(without(fold), STEPS)).at(at.i, at.j)]

    gain = gain or best_gain(fit, aside, predicted)
    if not gain.standard_errors > kept_above(reliability):
        return prediction, errors, gain
    offsets = whole()
    return (
        _plus(prediction, offsets, observation if has_constant else None),
        errors.minus(offsets, prediction.left),
        gain,
    )


def kept_above(reliability: float) -> float:
    """How many standard errors offsets must bring: none where rows and columns show that there are some."""
    return 0.0 if reliability > RELIABLE else UNEXPECTED


def _plus(prediction: Prediction, offsets: Offsets, with_constant: Observation | None) -> Prediction:
    """The offsets added to a prediction; where there is a constant, it stands after the sampled columns and rows."""
    left, right = offsets.factors()  # the constant is the second of the vectors on the left, the first on the right
    (p, q), o = (prediction.left.shape[1], prediction.right.shape[1]), with_constant
    if o is not None:
        left, right = left[:, :1], right[:, 1:]
    mixing, coefficients = np.zeros((p + left.shape[1], 2)), np.zeros((2, q + right.shape[1]))
    mixing[[p, p + 1 if o is None else o.n_columns], [0, 1]] = 1
    coefficients[[0, 1], [q if o is None else o.n_rows, -1]] = 1
    return prediction.plus(to_device(left, prediction.left), mixing, coefficients, to_device(right, prediction.right))
