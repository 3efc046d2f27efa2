r"""Bounds: readings that say of a value only that it is at least, or at most, a number, such as ``>10000``.

They are no entries: no error, mean or interval rests on them. A fit uses them as what they are, by the mean of a normal
distribution around its prediction that is cut off at the bound (Tobin 1958),

.. math:: E[x \mid x > b] = \mu + \sigma \, \frac{\varphi(\alpha)}{1 - \Phi(\alpha)}, \quad \alpha = (b - \mu) / \sigma,

and so does everything that predicts the value of such a cell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.special

from .._arrays import index_table
from .._support.sets import NO_INDEX, is_in
from .._typing import FloatArray, IndexVector, Shape
from .._validation import check_index
from ..exceptions import InconsistentObservationError, InvalidArgumentError

__all__ = ["AT_LEAST", "AT_MOST", "Bounds", "Limits", "bound_text", "check_bounds", "truncated_mean"]

AT_LEAST, AT_MOST = 1, -1  # sides
PARTS = ("bounds_i", "bounds_j", "bounds_value", "bounds_side")


class Limits(NamedTuple):
    """The interval that bounds leave for each of some cells."""

    i: IndexVector  # (k,)
    j: IndexVector  # (k,)
    low: FloatArray  # (k,), -inf where there is no lower bound
    high: FloatArray  # (k,)


@dataclass(frozen=True, eq=False)
class Bounds:
    """Cells of which one side is known; a cell may have a bound on each side.

    Examples
    --------
    >>> from curplus.observation import Bounds
    >>> Bounds([0, 2], [1, 1], [10000.0, 0.5], [1, -1])
    <Bounds of 2 values, 1 from below and 1 from above>
    """

    i: IndexVector = field(default_factory=NO_INDEX.copy)  # (k,)
    j: IndexVector = field(default_factory=NO_INDEX.copy)  # (k,)
    value: FloatArray = field(default_factory=lambda: np.empty(0))  # (k,)
    side: IndexVector = field(default_factory=NO_INDEX.copy)  # (k,), 1: the true value is at least this, -1: at most

    def __len__(self) -> int:
        return len(self.i)

    def __repr__(self) -> str:
        below = int(np.count_nonzero(np.asarray(self.side) == AT_LEAST))
        return f"<Bounds of {len(self)} values, {below} from below and {len(self) - below} from above>"

    @property
    def reason(self) -> str:
        """Why exact values are no sample of all values; empty if there are no bounds."""
        if not len(self):
            return ""
        return f"{len(self):,} values are known as bounds only, and nothing represents the values beyond bounds"

    @property
    def T(self) -> Bounds:
        """The same of the transposed matrix."""
        return replace(self, i=self.j, j=self.i)

    def take(self, which: Any) -> Bounds:
        """Some of them."""
        return Bounds(self.i[which], self.j[which], self.value[which], self.side[which])

    def divide(self, unit: float) -> Bounds:
        """The same in other units."""
        return replace(self, value=self.value / unit, side=self.side if unit > 0 else -self.side)

    def union(self, other: Bounds, shape: Shape) -> Bounds:
        """Both; of each cell and side, the tighter one."""
        pairs = zip(self._parts, other._parts, strict=True)
        i, j, value, side = (np.concatenate(pair) for pair in pairs) if len(other) else self._parts
        order = np.lexsort((-value * side, side, i * shape[1] + j))
        i, j, value, side = (x[order] for x in (i, j, value, side))
        first = np.append(True, (np.diff(i) != 0) | (np.diff(j) != 0) | (np.diff(side) != 0))[: len(i)]
        found = Bounds(i, j, value, side).take(first)
        _check_order(found.limits(shape))
        return found

    def without(self, flat: IndexVector, shape: Shape) -> Bounds:
        """Those of other cells than some, which are given as ascending numbers ``i * m + j``."""
        return self.take(~is_in(self.i * shape[1] + self.j, flat)) if len(self) else self

    def on_lines(self, rows: IndexVector, columns: IndexVector, shape: Shape) -> Any:
        """Which of them are on some rows and columns, (k,)."""
        return (index_table(rows, shape[0])[self.i] >= 0) | (index_table(columns, shape[1])[self.j] >= 0)

    def limits(self, shape: Shape) -> Limits:
        """What they leave for each cell, each once, in the order of the cells."""
        flat, cell = np.unique(self.i * shape[1] + self.j, return_inverse=True)
        low, high = np.full(len(flat), -np.inf), np.full(len(flat), np.inf)
        is_low = self.side == AT_LEAST
        np.maximum.at(low, cell[is_low], self.value[is_low])
        np.minimum.at(high, cell[~is_low], self.value[~is_low])
        return Limits(flat // shape[1], flat % shape[1], low, high)

    @property
    def _parts(self) -> tuple[Any, ...]:
        return self.i, self.j, self.value, self.side

    @property
    def texts(self) -> list[str]:
        """The bounds as people write them, such as ``>10000``; a table that has them is read with the same bounds."""
        return [bound_text(value, side) for value, side in zip(self.value.tolist(), self.side.tolist(), strict=True)]

    def parts(self) -> dict[str, Any]:
        """The numbers as arrays, for a file."""
        return dict(zip(PARTS, self._parts, strict=True)) if len(self) else {}

    @classmethod
    def of_parts(cls, arrays: dict[str, Any]) -> Bounds:
        """The bounds that :meth:`parts` made arrays of, taken out of these."""
        found = {name.removeprefix("bounds_"): arrays.pop(name) for name in PARTS if name in arrays}
        return cls(**found)


def bound_text(value: float, side: int) -> str:
    """A bound as people write it."""
    return f"{'>' if side == AT_LEAST else '<'}{str(value).removesuffix('.0')}"


def _check_order(limits: Limits) -> None:
    wrong = np.flatnonzero(limits.low > limits.high)
    if len(wrong):
        i, j, low, high = (x[wrong[0]] for x in limits)
        raise InconsistentObservationError(
            f"row {i}, column {j} is at least {low:g} and at most {high:g}, which no number is. Correct one of the two."
        )


def check_bounds(bounds: Any, shape: Shape, *, name: str = "bounds") -> Bounds:
    """Bounds of cells of a matrix of this size, at most one for each cell and side."""
    if bounds is None:
        return Bounds()
    try:
        parts = bounds._parts if isinstance(bounds, Bounds) else tuple(bounds)
        i, j, value, side = map(np.atleast_1d, parts)
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"{name}={bounds!r} are no bounds. Give Bounds(i, j, value, side).") from None
    i, j = check_index(i, shape[0], name=f"{name} i"), check_index(j, shape[1], name=f"{name} j")
    value, side = np.asarray(value, dtype=np.float64), np.asarray(side)
    if not len(i) == len(j) == len(value) == len(side):
        raise InvalidArgumentError(
            f"{name} have {len(i)}, {len(j)}, {len(value)} and {len(side)} numbers. Give i, j, value and side for each."
        )
    if not (np.isfinite(value).all() and np.isin(side, (AT_LEAST, AT_MOST)).all()):
        raise InvalidArgumentError(
            f"{name} need finite values and sides of 1 (the true value is at least this) or -1 (at most). Correct them."
        )
    return Bounds().union(Bounds(i, j, value, side.astype(np.int64)), shape) if len(i) else Bounds()


def truncated_mean(mean: Any, deviation: Any, low: Any, high: Any) -> FloatArray:
    """The mean of a normal distribution between two ends; with no deviation, the number between them nearest to it."""
    mean, deviation, low, high = np.broadcast_arrays(*(np.asarray(x, float) for x in (mean, deviation, low, high)))
    nearest: FloatArray = np.clip(mean, low, high)
    with np.errstate(all="ignore"):
        a, b = (low - mean) / deviation, (high - mean) / deviation
        turn = a + b < 0  # so that both ends are in the upper half, or the interval is about the mean
        a, b = np.where(turn, -b, a), np.where(turn, -a, b)
        share = (a - b) * (a + b) / 2  # logarithm of the density at b, relative to that at a
        erfcx_a, erfcx_b = (scipy.special.erfcx(x / math.sqrt(2)) for x in (a, b))
        below = erfcx_a - np.where(share > -np.inf, np.exp(share) * erfcx_b, 0.0)
        z = np.where(turn, -1.0, 1.0) * math.sqrt(2 / math.pi) * -np.expm1(share) / below
        found = np.clip(mean + deviation * z, low, high)
    return np.where((deviation > 0) & np.isfinite(found), found, nearest)
