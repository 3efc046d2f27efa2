"""Rows, columns and cells that must be read, or must not."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._support.sets import different, is_in, union
from .._typing import IndexVector
from ..exceptions import InvalidArgumentError
from ..observation import Observation, SamplePlan
from ..observation.forbidden import Region, check_region
from ..observation.plan import CHOSEN_ROWS_AND_COLUMNS

__all__ = ["Constraints"]


class Constraints(NamedTuple):
    """What must be read, and which rows, columns and cells must not."""

    required: Region
    rows: IndexVector  # (p,), never chosen
    columns: IndexVector  # (q,)
    cells: tuple[IndexVector, IndexVector]  # never read as entries

    @classmethod
    def of(cls, observation: Observation, required: Any, forbidden: Any) -> Constraints:
        """What must and must not be read of a matrix.

        A row or column with a forbidden cell is not chosen, unless the observation may have gaps: then it has one.
        """
        shape = observation.shape
        must = check_region(required, shape, name="required")
        must_not = check_region(forbidden, shape, name="forbidden")
        i, j = must_not.cells
        rows = must_not.rows if observation.gaps else np.union1d(must_not.rows, i)
        columns = must_not.columns if observation.gaps else np.union1d(must_not.columns, j)
        for what, a, b in (("row", must.rows, rows), ("column", must.columns, columns)):
            both = np.intersect1d(a, b)
            if len(both):
                raise InvalidArgumentError(
                    f"{what} {both[0]} is required, and it is forbidden or has a forbidden cell. Take it out of one of "
                    "them, or let rows and columns have gaps (gaps=True)."
                )
        return cls(must, rows, columns, must_not.cells)

    @property
    def any(self) -> bool:
        """Whether there are any."""
        return Region(self.rows, self.columns, self.cells).any or self.required.any

    def plan_for_required(self, observation: Observation) -> SamplePlan | None:
        """What must be read and is not known yet; None if there is nothing."""
        rows = np.setdiff1d(self.required.rows, observation.row_index)
        columns = np.setdiff1d(self.required.columns, observation.column_index)
        i, j = self.required.cells
        m = observation.shape[1]
        new = ~is_in(i * m + j, union(observation.entries.flat_index, observation.gap_index()))
        if not len(rows) and not len(columns) and not new.any():
            return None
        reason = f"{len(columns)} columns, {len(rows)} rows and {np.count_nonzero(new)} entries that were required"
        shape = observation.shape
        return SamplePlan(
            shape, columns, rows, i[new], j[new], design=CHOSEN_ROWS_AND_COLUMNS, reasons=(reason,), evidence=False
        )

    def hidden_from(self, observation: Observation) -> Observation:
        """What is known, with forbidden cells as gaps: a strategy for entries leaves them out."""
        i, j = self.cells
        if not len(i):
            return observation
        known = is_in(i * observation.shape[1] + j, different(observation.entries.flat_index))
        return observation._replaced(
            gaps=True,
            unmeasured_i=np.concatenate([observation.unmeasured_i, i[~known]]),
            unmeasured_j=np.concatenate([observation.unmeasured_j, j[~known]]),
            forbidden=observation.forbidden.union(Region(cells=self.cells), observation.shape),
        )
