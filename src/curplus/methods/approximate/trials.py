"""Each model without each fold of the values: the predictions by which they are blended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..._arrays import to_numpy
from ..._typing import FloatArray, IndexVector
from ...evaluation.left_out import Fold, LeftOut
from ...observation import Cells
from .blend import Held, blend_weights, blended
from .models import Model
from .prediction import Prediction

__all__ = ["Trials", "trials_of"]


@dataclass(frozen=True, eq=False)
class Trials:
    """Predictions by models for values that they were not fitted to."""

    models: tuple[Model, ...]  # with their settings
    whole: tuple[Prediction, ...]  # each model, fitted to everything
    left_out: LeftOut
    parts: tuple[tuple[Prediction, ...], ...]  # each model, fitted without each fold
    given: tuple[FloatArray, ...] | None = (
        None  # weights of the models, of all and without each fold, if not found here
    )
    deviation: float = 0.0  # standard deviation of values from the blend, by which bounded cells were fitted

    @cached_property
    def fold(self) -> IndexVector:
        """The fold in which each value was left out, shape (h,)."""
        return np.repeat(np.arange(len(self.parts)), [len(fold.i) for fold in self.left_out.folds])

    @cached_property
    def held(self) -> Held:
        """All values that were left out, with the predictions of the models."""
        found = [_held(fold, fits) for fold, fits in zip(self.left_out.folds, self.parts, strict=True)]
        if not found:
            return Held(np.zeros((0, len(self.models))), np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64))
        predicted, values, weights = (np.concatenate([x[part] for x in found]) for part in range(3))
        sizes = np.cumsum([0, *(int(x.group.max(initial=-1)) + 1 for x in found[:-1])])
        group = np.concatenate([x.group + size for x, size in zip(found, sizes, strict=True)])
        return Held(predicted, values, weights, group)

    @cached_property
    def weights(self) -> FloatArray:
        """The weights that predict left-out values best; a single model is the answer."""
        if self.given is not None:
            return self.given[0]
        return np.ones(1) if len(self.models) == 1 else blend_weights(self.held)

    def weights_without(self, fold: int) -> FloatArray:
        """The weights by the values of the other folds; by all if there is no other."""
        if self.given is not None:
            return self.given[fold + 1]
        if len(self.parts) == 1 or len(self.models) == 1:
            return self.weights
        return blend_weights(self.held.take(np.flatnonzero(self.fold != fold)))

    def of(self, name: str) -> FloatArray | None:
        """The prediction of a model for left-out values, shape (h,); None if it is not one of these."""
        names = [model.name for model in self.models]
        return self.held.predicted[:, names.index(name)] if name in names else None

    def without(self, fold: int) -> tuple[Cells, Prediction]:
        """The cells without a fold, and the blend that was made of them."""
        cells = self.left_out.folds[fold].cells
        return cells, blended(self.parts[fold], self.weights_without(fold))


def trials_of(models: Sequence[Model], cells: Cells, left_out: LeftOut) -> Trials:
    """Each model fitted to everything, and without each fold; one that does not use entries as it is."""
    settled = tuple(model.settled(cells) for model in models)
    whole = tuple(model.fit(cells) for model in settled)

    def fits(fold: Fold) -> tuple[Prediction, ...]:
        return tuple(
            fit if fold.cells is cells or not (model.uses_entries or fold.hides_sampled) else _fit(model, fold.cells)
            for model, fit in zip(settled, whole, strict=True)
        )

    return Trials(settled, whole, left_out, tuple(fits(fold) for fold in left_out.folds))


def _fit(model: Model, cells: Cells) -> Prediction:
    """A model of a part of the cells; zero if there is too little for it."""
    if model.applies(cells):
        return model.fit(cells)
    return Prediction.of(np.zeros((cells.shape[0], 0)), np.zeros((cells.shape[1], 0)))


def _held(fold: Fold, fits: tuple[Prediction, ...]) -> Held:
    predicted = np.column_stack([to_numpy(fit.at(fold.i, fold.j)) for fit in fits])
    return Held(predicted, fold.values, fold.weights, fold.group)
