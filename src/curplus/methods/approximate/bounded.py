r"""Cells of which a bound is known take part in a fit as the values that are to be expected there.

That is the EM algorithm (Dempster, Laird and Rubin 1977) for a normal distribution that is cut off, a Tobit model
(Tobin 1958): a fit predicts the bounded cells; each of them gets the mean beyond its bound of a normal distribution
around the prediction; the fit is made again with these. The standard deviation is the error at left-out values, which
are never bounds. A fit without a fold has guesses of its own, so that none of them knows of a value that was left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..._arrays import to_numpy
from ..._typing import FloatArray
from ...evaluation.effective_sample import FEWEST
from ...evaluation.left_out import LeftOut
from ...observation import Cells
from ...observation.bounds import truncated_mean
from .blend import Trials, blended, trials_of
from .models import Model
from .prediction import Prediction

__all__ = ["repeated_with_bounds", "trials_with_bounds"]

MOST_ROUNDS = 5  # steps: of guesses and fits
SETTLED = 0.05  # steps: standard deviations, root mean square: a change of the guesses that ends the rounds


def trials_with_bounds(models: Sequence[Model], cells: Cells, left_out: LeftOut) -> Trials:
    """Each model fitted to everything and without each fold, where bounded cells have the values expected there.

    The weights and the deviation are those of fits to which bounded cells are gaps: values that were left out are no
    bounds, so they are on average below what a fit that knows of lower bounds predicts.
    """
    known = trials_of(models, cells, left_out)
    weights = (known.weights, *(known.weights_without(k) for k in range(len(known.parts))))
    found, deviation = [known], _error_of_blend(known)

    def blends(trials: Trials) -> list[Prediction]:
        return [blended(some, weight) for some, weight in zip((trials.whole, *trials.parts), weights, strict=True)]

    def fit(parts: Sequence[Cells]) -> list[Prediction]:
        whole, *others = parts
        folds = zip(left_out.folds, others, strict=True)
        out = tuple(fold._replace(cells=whole if fold.cells is cells else part) for fold, part in folds)
        settled = found[-1].models if len(found) > 1 else models
        found.append(trials_of(settled, whole, left_out._replace(folds=out), weights))
        return blends(found[-1])

    _rounds([cells, *(fold.cells for fold in left_out.folds)], blends(known), fit, deviation)
    return replace(found[-1], left_out=left_out, deviation=deviation)


def repeated_with_bounds(
    models: Sequence[Model], weights: Sequence[float], cells: Cells, deviation: float
) -> Prediction:
    """A blend with known weights and a known deviation, fitted to other cells."""
    found: list[Prediction] = []

    def fit(parts: Sequence[Cells]) -> list[Prediction]:
        found.append(blended([model.fit(parts[0]) for model in models], weights))
        return found[-1:]

    _rounds([cells], fit([cells]), fit, deviation)
    return found[-1]


def _error_of_blend(trials: Trials) -> float:
    """Root mean square error of the blend at left-out values; 0 if they are too few."""
    held = trials.held
    if len(held.values) < FEWEST:
        return 0.0
    return math.sqrt(float(np.average((held.values - held.predicted @ trials.weights) ** 2, weights=held.weights)))


def _rounds(
    parts: Sequence[Cells],
    first: Sequence[Prediction],
    fit: Callable[[Sequence[Cells]], Sequence[Prediction]],
    deviation: float,
) -> None:
    """Guess and fit in turn, until the guesses stay; the ``first`` fits do not know the bounds, so they are clipped."""
    limits = [part.at_bounds() for part in parts]

    def predicted(fits: Sequence[Prediction]) -> list[FloatArray]:
        return [to_numpy(prediction.at(x.i, x.j)) for prediction, x in zip(fits, limits, strict=True)]

    def expected(means: Sequence[FloatArray]) -> list[FloatArray]:
        return [truncated_mean(mean, deviation, x.low, x.high) for mean, x in zip(means, limits, strict=True)]

    guesses = expected([np.clip(mean, x.low, x.high) for mean, x in zip(predicted(first), limits, strict=True)])
    for _ in range(MOST_ROUNDS):
        fits = fit([part.with_guesses(guess) for part, guess in zip(parts, guesses, strict=True)])
        before, guesses = guesses, expected(predicted(fits))
        if math.sqrt(float(np.mean((guesses[0] - before[0]) ** 2))) <= SETTLED * deviation:
            return
