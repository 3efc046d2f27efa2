"""An approximation as a table with the names of its rows and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._arrays import to_numpy
from .._extras import import_extra
from ..observation import Observation
from ..observation.checks import check_observation
from ..observation.fill import limited

if TYPE_CHECKING:
    from .factorization import Factorization

__all__ = ["filled_frame"]


def filled_frame(
    approximation: Factorization, observation: Observation | None, min_value: float | None, max_value: float | None
) -> Any:
    """All numbers of an approximation, or of an observation that it fills, as a pandas DataFrame."""
    pandas = import_extra("pandas", extra="pandas", purpose="tables with names need pandas")
    names = {"row_names": approximation.row_names, "column_names": approximation.column_names}
    if observation is None:
        values = limited(approximation.to_array(), min_value, max_value)
    else:
        values = check_observation(observation).fill(approximation, min_value=min_value, max_value=max_value)
        names = {name: getattr(observation, name) if own is None else own for name, own in names.items()}
    return pandas.DataFrame(to_numpy(values), index=names["row_names"], columns=names["column_names"])
