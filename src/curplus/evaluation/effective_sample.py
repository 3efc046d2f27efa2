"""When an average of squared errors can be given an interval: not if a few decide it, nor with a heavy tail."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.special
from numpy.typing import NDArray

from .._arrays import array_namespace, blocks, by_block, is_dask_array, is_numpy_array, largest, to_numpy
from .._typing import FloatArray, Vector

__all__ = [
    "FEWEST",
    "FEWEST_FOR_T",
    "MIN_EFFECTIVE_SIZE",
    "Squares",
    "Tail",
    "check_tails",
    "effective_sample_size",
    "is_bounded",
    "tail_of",
    "too_alike",
]

FEWEST = 30  # usual: values, and their effective number, for any statement on their mean
FEWEST_FOR_T = 10  # usual: values for an interval by Student's t, a slope, or a fourth power
# tuned: of an average that is given an interval; it trades refusals for coverage, as do the numbers below
MIN_EFFECTIVE_SIZE = dict.fromkeys(("held-out entries", "cross-fitted entries"), 100)
MIN_EFFECTIVE_SIZE |= dict.fromkeys(("left-out rows", "left-out columns", "bounded errors"), 50)  # tuned: as above
MIN_TAIL_POWER = 2.0  # tuned: squares that fall off so have a variance; flat from 2 to 3 (benchmarks/tails.py)
# tuned: 1/2 for squares of errors with exponential tails, about .4 for Student's t(4); the coverage is flat from .35 to
# .45, and 44 to 37 % of the intervals are given (benchmarks/tails.py)
MIN_LIGHTNESS = 0.4
# tuned: without reference errors, which would show what a sample has missed; the coverage is flat from .4 to .5, but
# with .4 one in ten and not one in thirty of the most unequal counts gets an interval (benchmarks/tails.py)
MIN_LIGHTNESS_ALONE = 0.45
LIGHT_ENOUGH = 0.6  # tuned: samples of lighter tails miss too little; flat from .6 to .7 (benchmarks/tails.py)
N_LARGEST = 100  # tuned: of the squares, which show how they fall off; flat from 50 to 100 (benchmarks/tails.py)
GAUSSIAN_LIGHTNESS = 1.0  # mathematics: of squares of Gaussian values; power laws never seem so light
RULE_OF_THREE = 3.0  # mathematics: what none of n draws met has, with 95 % confidence, a share below 3 / n
LEVELS = 64  # cost: between which numbers are counted at once
LARGEST_SQUARE = 1e100  # rounding: a squared error that is as bad as any larger one


class Squares(NamedTuple):
    """Many squares in short: their number, the mean of their squares, and the largest of them."""

    number: int
    mean_square: float
    top: FloatArray  # ascending, on the host

    @classmethod
    def of(cls, parts: Iterable[Vector]) -> Squares:
        """A summary of squares that come in parts; the blocks of a Dask array, of any shape, are parts too."""
        number, total, top = 0, 0.0, np.empty(0)
        for part in parts:
            if is_dask_array(part):
                return cls.joined(by_block(_of_block, part))
            for some in blocks(part.shape[0], 1, most=2**16 if is_numpy_array(part) else 2**24):  # cost: memory
                squares = part[some]
                peak = float(array_namespace(part).max(squares))
                least = top[0] if len(top) > N_LARGEST else -math.inf
                bounded = squares if peak < LARGEST_SQUARE else _bounded(squares)
                number, total = number + squares.shape[0], total + float(bounded @ bounded)
                if peak >= least:
                    top = np.sort(np.concatenate([top, _largest_above(squares, least)]))[-N_LARGEST - 1 :]
        return cls(number, total / max(number, 1), top)

    @classmethod
    def joined(cls, found: list[Squares]) -> Squares:
        """One summary of all parts."""
        number = sum(part.number for part in found)
        total = math.fsum(part.number * part.mean_square for part in found)
        top = np.sort(np.concatenate([np.empty(0), *(part.top for part in found)]))
        return cls(number, total / max(number, 1), top[-N_LARGEST - 1 :])


def _of_block(block: FloatArray) -> Squares:
    return Squares.of([block.reshape(-1)])


class Tail(NamedTuple):
    r"""How fast the largest squares fall off.

    Hill's index of a power law is the same at every depth; that of lighter tails grows with it. The lightness c is the
    exponent of a tail :math:`\exp(-x^c)` with that index at that depth: 1 for squares of Gaussian errors, 1/2 for those
    of errors with exponential tails, and less the deeper one looks for power laws.
    """

    power: float  # Hill's index
    lightness: float
    number: float = math.inf  # of squares that it is estimated from

    def is_heavy(self, least: float = MIN_LIGHTNESS) -> bool:
        """Whether squares that were not drawn may add up to more than those that were."""
        return self.power < MIN_TAIL_POWER and self.lightness < least

    @property
    def stretch(self) -> float:
        """Factor for the upper half of an interval, by the lightness less one standard error; at most two.

        Missed large errors bias an estimate down (benchmarks/tails.py: two and a half is as good).
        """
        lack = (LIGHT_ENOUGH - self.lightness * (1 - 1 / math.sqrt(self.number))) / (LIGHT_ENOUGH - MIN_LIGHTNESS)
        return 1 + min(max(lack, 0.0), 1.0)


def check_tails(
    squares: FloatArray,
    reference_errors: Mapping[str, Vector | Squares],
    evidence: str,
    *,
    count: float,
    tail: Tail,
    limits: FloatArray | None = None,
) -> tuple[float, str]:
    """The effective sample size of ``squares``, and why their average cannot be trusted; empty if it can.

    ``reference_errors`` are squares of the same kind at other positions, ``count`` is the number of squares if all had
    the same chance, ``tail`` how the largest squared errors fall off; with ``limits``, see :func:`is_bounded`.
    """
    mean = float(np.mean(squares))
    if mean == 0:
        return 1.0, too_alike(squares, evidence)
    references = {name: _squares(others) for name, others in reference_errors.items()}
    sizes = {"": effective_sample_size(squares)} | {
        f" (judged by the {name})": count / (others.mean_square / mean) * mean
        for name, others in references.items()
        if others.mean_square > 0
    }
    judge = min(sizes, key=lambda name: sizes[name])
    bounded = limits is not None and is_bounded(squares, limits)
    size, least = sizes[judge], MIN_EFFECTIVE_SIZE["bounded errors" if bounded else evidence]
    lightness = MIN_LIGHTNESS if len(sizes) > 1 else MIN_LIGHTNESS_ALONE
    reason = ""
    if size < least:
        shown = min(round(size), least - 1)
        reason = f"the effective sample size of the {evidence} is {shown}{judge}, and at least {least} is needed"
    elif tail.is_heavy(lightness) and not bounded:
        reason = (
            f"the squared errors have too heavy a tail (lightness {_rounded_down(tail.lightness)}, and at least "
            f"{lightness:g} is needed): those not drawn may add up to more than those drawn"
        )
    return size, reason


def is_bounded(squares: FloatArray, limits: FloatArray) -> bool:
    """Whether errors that none of the draws met would add no more than those that were drawn.

    ``limits`` are the squares of the values less their mean: hardly an error is larger than the largest of them. If
    their tail is as light as of Gaussian values, the largest is much the same in the whole matrix. By the rule of
    three, what none of n draws met then adds at most three times as much to the sum of n squared errors.
    """
    is_light = tail_of(limits).lightness >= GAUSSIAN_LIGHTNESS
    return is_light and RULE_OF_THREE * float(np.max(limits)) <= float(np.sum(squares))


def too_alike(squares: FloatArray, evidence: str, values: FloatArray | None = None) -> str:
    """Why errors do not show how large others are: all are zero, or all values are the same; empty if neither."""
    if not np.any(squares):
        return f"all errors of the {len(squares)} {evidence} are zero, so they do not show how large others are"
    if values is not None and np.all(values == values[0]):
        return f"the {len(values)} {evidence} all have the same value, so they do not show how far others are from it"
    return ""


def _rounded_down(x: float) -> str:
    """Two digits, rounded down: a number below a limit must not be printed as the limit."""
    return f"{math.floor(100 * x) / 100:.2f}"  # usual: digits shown


def _squares(x: Vector | Squares) -> Squares:
    return x if isinstance(x, Squares) else Squares.of([x])


def _bounded(x: Vector) -> Vector:
    """Numbers capped so that their squares can be added up."""
    xp = array_namespace(x)
    return xp.where(x > LARGEST_SQUARE, xp.full_like(x, LARGEST_SQUARE), x)


def effective_sample_size(squares: FloatArray) -> float:
    r"""Kish's effective sample size :math:`(\sum q)^2 / \sum q^2`: from 1 to their number if all are equal."""
    shares = squares / max(float(np.sum(squares)), np.finfo(float).tiny)
    return 1 / max(float(np.sum(shares**2)), np.finfo(float).tiny)


def tail_of(squares: Vector, *reference_errors: Vector | Squares) -> Tail:
    """How the largest squares fall off, by Hill's estimate of the power.

    These are the largest of those beyond the upper twentieth of ``squares``: smaller reference errors add nothing.
    Their depth is the share of ``squares`` that is as large.
    """
    size = squares.shape[0]
    threshold = _order_statistic(squares, max(size - max(10, size // 20) - 1, 0))  # usual: a twentieth
    top = np.sort(np.concatenate([_largest_above(x, threshold) for x in (squares, *reference_errors)]))
    top = top[-N_LARGEST - 1 :]
    excess = np.log(top[top > 0] / np.min(top[top > 0], initial=math.inf))
    if not np.any(excess > 0):
        return Tail(math.inf, math.inf)
    number = len(excess) - 1
    power = number / float(np.sum(excess))
    beyond = max(_n_from(squares, float(top[0])) - 1, 1)
    depth = math.log(max(size / beyond, math.e))
    return Tail(power, power * float(scipy.special.exp1(depth)) * math.exp(depth), number)


def _n_from(x: Vector, least: float) -> int:
    return int(array_namespace(x).count_nonzero(x >= least))


def _order_statistic(x: Vector, place: int) -> float:
    if is_dask_array(x):
        return _order_statistic_by_counts(x, place)
    return float(np.partition(x, place)[place] if is_numpy_array(x) else array_namespace(x).sort(x)[place])


def _order_statistic_by_counts(x: Vector, place: int) -> float:
    """The same for squares, without sorting: counts find the largest number that enough of them reach."""
    low, high = 0.0, math.nextafter(largest(x), math.inf)
    while len(levels := _between(low, high)):
        is_reached = np.sum(by_block(partial(_n_reaching, levels=levels), x), axis=0) >= x.shape[0] - place
        low, high = float(np.max(levels[is_reached], initial=low)), float(np.min(levels[~is_reached], initial=high))
    return low


def _between(low: float, high: float) -> FloatArray:
    """Numbers between two others, ascending; empty if there is none."""
    levels = np.unique(np.linspace(low, high, LEVELS))
    return levels[(levels > low) & (levels < high)]


def _n_reaching(block: FloatArray, levels: FloatArray) -> NDArray[np.int64]:
    """How many numbers of a block are at least as large as each of the levels, which ascend."""
    below = np.bincount(np.searchsorted(levels, block.reshape(-1), side="right"), minlength=len(levels) + 1)
    return block.size - np.cumsum(below)[:-1]


def _largest_above(x: Vector | Squares, threshold: float) -> FloatArray:
    """The largest numbers from a threshold on, ascending, on the host."""
    if isinstance(x, Squares):
        return x.top[x.top >= threshold]
    if not x.shape[0]:
        return np.empty(0)
    if is_dask_array(x):
        top = Squares.of([x]).top
        return top[top >= threshold]
    top = x[x >= threshold] if threshold > -math.inf else x
    if is_numpy_array(top) and len(top) > N_LARGEST + 1:
        top = np.partition(top, -N_LARGEST - 1)[-N_LARGEST - 1 :]
    top = array_namespace(top).sort(top)
    return to_numpy(top[max(top.shape[0] - N_LARGEST - 1, 0) :])
