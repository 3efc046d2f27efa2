"""When an average of squared errors can be given an interval: many share it, and the largest fall off fast."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from .._arrays import array_namespace, is_numpy_array, to_numpy
from .._typing import FloatArray, Vector

__all__ = ["MIN_EFFECTIVE_SIZE", "Squares", "check_tails", "effective_sample_size", "tail_index"]

MIN_EFFECTIVE_SIZE = {"held-out entries": 100, "left-out rows": 50}  # of an average that is given an interval
MIN_TAIL_INDEX = 2.5  # least power with which the largest squares must fall off: 2 makes a variance, the rest is safety
N_LARGEST = 100  # how many of them show it
LARGEST_SQUARE = 1e100  # a squared error that is as bad as any larger one


class Squares(NamedTuple):
    """All that is asked of many squares: their number, the mean of their squares, and the largest of them."""

    number: int
    mean_square: float
    top: FloatArray  # ascending, on the host

    @classmethod
    def of(cls, parts: Iterable[Vector]) -> Squares:
        """Those of squares that come a part at a time."""
        number, total, top = 0, 0.0, np.empty(0)
        for part in parts:
            number += part.shape[0]
            total += float(_bounded(part) @ _bounded(part))
            least = top[0] if len(top) > N_LARGEST else -math.inf
            top = np.sort(np.concatenate([top, _largest_above(part, least)]))[-N_LARGEST - 1 :]
        return cls(number, total / max(number, 1), top)


def check_tails(
    squares: FloatArray, reference_errors: Mapping[str, Vector | Squares], evidence: str, *, count: float, index: float
) -> tuple[float, str]:
    """The effective sample size of ``squares``, and why their average cannot be trusted; empty where it can.

    ``reference_errors`` are squares of the same kind at other positions, ``count`` is the number of squares if all had
    the same chance, ``index`` the power with which the largest squared errors fall off.
    """
    mean = float(np.mean(squares))
    if mean == 0:
        return 1.0, (
            f"all errors of the {len(squares)} {evidence} are zero, which says nothing of those that were not drawn"
        )
    references = {where: _squares(others) for where, others in reference_errors.items()}
    sizes = {"": effective_sample_size(squares)} | {
        f"judged by the {where}, ": count / (others.mean_square / mean) * mean
        for where, others in references.items()
        if others.mean_square > 0
    }
    judge = min(sizes, key=lambda where: sizes[where])
    size, least = sizes[judge], MIN_EFFECTIVE_SIZE[evidence]
    reason = ""
    if size < least:
        reason = f"the error rests on too few of the {evidence}: {judge}{size:.0f} in effect, and it takes {least}"
    elif index < MIN_TAIL_INDEX:
        reason = (
            f"the largest squared errors fall off so slowly (index {index:.2f}, below {MIN_TAIL_INDEX:g}) that those "
            "not drawn may hold more than all that were"
        )
    return size, reason


def _squares(x: Vector | Squares) -> Squares:
    return x if isinstance(x, Squares) else Squares.of([x])


def _bounded(x: Vector) -> Vector:
    """Numbers whose squares can be added up: those beyond are as bad as any."""
    if not x.shape[0] or float(array_namespace(x).max(x)) < LARGEST_SQUARE:
        return x
    xp = array_namespace(x)
    return xp.where(x > LARGEST_SQUARE, xp.full_like(x, LARGEST_SQUARE), x)


def effective_sample_size(squares: FloatArray) -> float:
    r"""Kish's effective sample size :math:`(\sum q)^2 / \sum q^2`: their number if all are equal, 1 if one has all."""
    shares = squares / max(float(np.sum(squares)), np.finfo(float).tiny)
    return 1 / max(float(np.sum(shares**2)), np.finfo(float).tiny)


def tail_index(squares: Vector, *reference_errors: Vector | Squares) -> float:
    """Hill's estimate of the power with which the largest squares fall off.

    They are the largest of those beyond the upper twentieth of ``squares``: smaller reference errors add nothing.
    """
    size = squares.shape[0]
    threshold = _order_statistic(squares, max(size - max(10, size // 20) - 1, 0))
    top = np.sort(np.concatenate([_largest_above(x, threshold) for x in (squares, *reference_errors)]))
    top = top[-N_LARGEST - 1 :]
    excess = np.log(top[top > 0] / np.min(top[top > 0], initial=math.inf))
    return (len(excess) - 1) / float(np.sum(excess)) if np.any(excess > 0) else math.inf


def _order_statistic(x: Vector, place: int) -> float:
    return float(np.partition(x, place)[place] if is_numpy_array(x) else array_namespace(x).sort(x)[place])


def _largest_above(x: Vector | Squares, threshold: float) -> FloatArray:
    """The largest numbers from a threshold on, ascending, on the host."""
    if isinstance(x, Squares):
        return x.top[x.top >= threshold]
    if not x.shape[0]:
        return np.empty(0)
    top = x[x >= threshold] if threshold > -math.inf else x
    if is_numpy_array(top) and len(top) > N_LARGEST + 1:
        top = np.partition(top, -N_LARGEST - 1)[-N_LARGEST - 1 :]
    top = array_namespace(top).sort(top)
    return to_numpy(top[max(top.shape[0] - N_LARGEST - 1, 0) :])
