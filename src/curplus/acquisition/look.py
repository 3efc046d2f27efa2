r"""A look: the error of the cross of everything that was read before, at fresh entries.

The relative error is the root of a ratio of two mean squares over the matrix, of errors and of values. In both, entries
that were known before count as they are, and the fresh ones, drawn uniformly from all others, stand for the rest. Each
look uses a part of the chance of a wrong bound, and leaves the rest for later ones.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import double, to_numpy
from .._typing import FloatArray, Shape
from ..evaluation.certificate import HELD_OUT
from ..evaluation.effective_sample import Tail, check_tails, tail_of
from ..evaluation.estimate import Estimate
from ..methods.approximate import Interpolation, Prediction
from ..observation import Cells, Observation

__all__ = ["FIRST_LOOK", "Look", "look"]

LEVEL = 0.95  # over all looks together
FIRST_LOOK, FULL_LOOK, LARGEST_LOOK = 100, 12_000, 50_000  # entries of the first look, and of one that may be the last
SHARE_OF_CROSSES = 0.05  # of the values of rows and columns: so many entries cost little beside them
SHARE_OF_MATRIX = 0.25  # of the matrix: more entries than this are not read at once
LIGHT = Tail(math.inf, math.inf)
NEGLIGIBLE = 1e-3  # of the tolerance: smaller errors count as this, since their tail does not matter


class Look(NamedTuple):
    """The errors of the cross of everything that was read before, at fresh entries."""

    cross: Prediction | None  # None as long as no rows or no columns are known
    steering: Observation  # all that is known, with no entry left as evidence
    errors: FloatArray  # magnitudes at its entries, as shares of the largest value
    size: int  # number of fresh entries
    enough: int  # number of entries needed for a bound
    error: float  # relative, estimated
    bound: float  # upper confidence bound of it; infinite if there is none
    summary: str

    @property
    def lacks_entries(self) -> bool:
        """Whether more entries, which cost little beside the rows and columns, may give a bound."""
        return self.size < max(self.enough, _share_of_crosses(self.steering))


def look(seen: Observation, tol: float, number: int) -> Look:
    """The look at the cross by the fresh entries; ``number`` counts the looks that had enough of them."""
    fresh, outside = ~seen.steering, seen.outside
    cells = Cells.of(seen.subset(entries=~fresh, design=seen.design))
    cross = Interpolation().best(cells) if cells.is_cross else None
    values = to_numpy(double(seen.values))
    unit, errors = float(np.max(np.abs(values), initial=0.0)), np.where(outside, values, 0.0)
    if cross is not None:
        errors[outside] -= to_numpy(cross.at(seen.i[outside], seen.j[outside]))
    errors = np.abs(errors / (unit or 1.0))
    size, chance = int(np.count_nonzero(fresh)), (1 - LEVEL) / (number * (number + 1)) / 2
    enough = int(
        min(np.clip(_share_of_crosses(seen), FULL_LOOK, LARGEST_LOOK), SHARE_OF_MATRIX * math.prod(seen.shape))
    )
    steering = seen._replaced(evidence=np.zeros(seen.n_entries, dtype=bool))
    if not size:
        return Look(cross, steering, errors, size, enough, math.inf, math.inf, "no entry was left to measure the error")
    of_matrix = _mean_square(np.abs(values / unit) if unit else np.ones(len(values)), fresh, seen.shape, chance)
    of_errors = _mean_square(errors, fresh, seen.shape, chance, floor=(NEGLIGIBLE * tol) ** 2 * of_matrix.estimate)
    error, bound = math.sqrt(of_errors.estimate / of_matrix.estimate), math.inf
    summary = f"on {size:,} fresh entries, the cross has a relative error of about {error:.2g}"
    if size < enough:
        summary += f"; a bound needs {enough:,} entries"
    elif reason := of_errors.reason or of_matrix.reason:
        summary += f"; there is no bound, as {reason}"
    else:
        bound = math.sqrt(of_errors.high / of_matrix.low)
        summary += (
            f", and below {bound:.3g} with {LEVEL:.0%} confidence over all looks, if errors larger than all of these "
            f"fall off like the largest of them; they are at fewer than 1 of {size / -math.log(chance):,.0f} places"
        )
    return Look(cross, steering, errors, size, enough, error, bound, summary)


def _share_of_crosses(seen: Observation) -> float:
    return SHARE_OF_CROSSES * sum(seen.shape) * (seen.n_rows + seen.n_columns)


class _MeanSquare(NamedTuple):
    """A mean square over the matrix, its limits, and why there are none."""

    estimate: float
    low: float
    high: float
    reason: str


def _mean_square(
    x: FloatArray, fresh: NDArray[np.bool_], shape: Shape, chance: float, *, floor: float = 0.0
) -> _MeanSquare:
    """The mean square of numbers at some positions; for its limits, no square counts less than the ``floor``."""
    n_positions = math.prod(shape)
    known, share = float(np.sum(x[~fresh] ** 2)) / n_positions, 1 - np.count_nonzero(~fresh) / n_positions
    squares = x[fresh] ** 2
    estimate, squares = known + share * float(np.mean(squares)), squares + floor
    size, reason = check_tails(squares, {}, HELD_OUT, count=len(squares), tail=LIGHT)
    mean, missed = float(np.mean(squares)), _missed(squares, chance)
    spread = float(np.std(squares)) / mean / math.sqrt(len(squares)) if mean else math.inf
    low, high = Estimate(HELD_OUT, rest=mean, effective_size=size, spread=spread).limits(1 - chance)
    if math.isinf(missed):
        reason = reason or "the tail of the squares is so heavy that those not drawn may add up to more than all others"
    return _MeanSquare(estimate, known + share * low, known + share * (high + missed), reason)


def _missed(squares: FloatArray, chance: float) -> float:
    r"""Contribution to the mean of squares larger than all that were drawn, if they continue the tail of the largest.

    They are fewer than :math:`\log(1/p) / N` of all, but for a chance p, and with a tail of power :math:`\alpha` their
    mean is :math:`\alpha / (\alpha - 1)` times the largest. Certificates refuse a tail that leaves a two-sided interval
    in doubt, as nearly all errors of a cross do; a tolerance is met if even this contribution fits.
    """
    tail = tail_of(squares)
    power = tail.power * (1 - 1 / math.sqrt(tail.number))  # less a standard error (Hill 1975)
    beyond = float(np.max(squares)) * -math.log(chance) / len(squares)
    return beyond / (1 - 1 / power) if power > 1 else math.inf
