"""The models that are blended: a new one is one file, and one row here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

from ...exceptions import InvalidArgumentError
from ...observation import Cells
from .factors import Factors, TransposedFactors
from .interpolation import Interpolation
from .offsets import Offsets
from .prediction import Prediction
from .shrunken import Shrunken
from .skeleton import Skeleton

__all__ = ["MODELS", "Model", "chosen_models"]


@runtime_checkable
class Model(Protocol):
    """A model of the cells: a frozen object that predicts the whole matrix."""

    name: ClassVar[str]
    uses_entries: ClassVar[bool]  # if not, one fit serves all folds of entries

    def applies(self, cells: Cells) -> bool:
        """Whether there is enough for it, and not too much."""

    def settled(self, cells: Cells) -> Model:
        """The same model with its settings chosen, so that fits to parts of the cells need not choose again."""

    def fit(self, cells: Cells) -> Prediction:
        """The prediction of the whole matrix."""


MODELS: tuple[Model, ...] = (Skeleton(), Interpolation(), Offsets(), Shrunken(), Factors(), TransposedFactors())


def _is_model(x: Any) -> bool:
    return isinstance(x, Model) and not isinstance(x, type)


def chosen_models(models: Sequence[Any] | None) -> tuple[Model, ...]:
    """Models by their names, or as they are; all of them if left out."""
    if models is None:
        return MODELS
    by_name = {model.name: model for model in MODELS}
    wanted = (models,) if isinstance(models, str) else tuple(models)
    unknown = [x for x in wanted if not (x in by_name if isinstance(x, str) else _is_model(x))]
    if unknown or not wanted:
        raise InvalidArgumentError(
            f"models={models!r}: {'no model' if not wanted else f'{unknown[0]!r} is no model'}. "
            f"Give some of {', '.join(map(repr, by_name))}, or objects with applies, settled and fit."
        )
    found = tuple(by_name[x] if isinstance(x, str) else x for x in wanted)
    names = [model.name for model in found]
    if len(set(names)) < len(names):
        raise InvalidArgumentError(f"models={models!r}: two have the same name ({names}). Give each its own.")
    return found
