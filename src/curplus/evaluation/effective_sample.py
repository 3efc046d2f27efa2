"""When an average of squared errors can be trusted: enough of them share it, and the largest fall off fast enough."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FEWEST", "sharing", "tail_index", "trust"]

FloatArray = NDArray[np.floating[Any]]

FEWEST = {"held-out entries": 100, "left-out rows": 50}  # how many must share an average that is given an interval
SLOWEST = 2.5  # least power with which the largest squared errors must fall off: 2 makes a variance, the rest is safety
LARGEST = 100  # how many of them show it
HUGE = 1e100  # a ratio of squared errors that is as bad as any larger one


def trust(
    squares: FloatArray, witnesses: dict[str, FloatArray], what: str, *, count: float, index: float
) -> tuple[float, str]:
    """How many of ``squares`` share their average in effect, and why it cannot be trusted; empty where it can.

    ``witnesses`` are squares of the same kind at other places, ``count`` is the number of squares if all had the same
    chance, ``index`` the power with which the largest squared errors fall off.
    """
    mean = float(np.mean(squares))
    if mean == 0:
        return 1.0, f"all errors of the {len(squares)} {what} are zero, which says nothing of those that were not drawn"
    in_effect = {"": sharing(squares)} | {
        f"judged by the {where}, ": count / float(np.mean(np.square(np.minimum(others / mean, HUGE))))
        for where, others in witnesses.items()
        if np.any(others)
    }
    judge = min(in_effect, key=lambda where: in_effect[where])
    shared, reason = in_effect[judge], ""
    if shared < FEWEST[what]:
        reason = f"the error rests on too few of the {what}: {judge}{shared:.0f} in effect, and it takes {FEWEST[what]}"
    elif index < SLOWEST:
        reason = (
            f"the largest squared errors fall off so slowly (index {index:.1f}, below {SLOWEST:g}) that those not "
            "drawn may hold more than all that were"
        )
    return shared, reason


def sharing(squares: FloatArray) -> float:
    """How many squares share their sum: their number if all are equal, 1 if one has everything."""
    shares = squares / max(float(np.sum(squares)), np.finfo(float).tiny)
    return 1 / max(float(np.sum(shares**2)), np.finfo(float).tiny)


def tail_index(squares: FloatArray, *witnesses: FloatArray) -> float:
    """Hill's estimate of the power with which the largest squares fall off.

    They are the largest of those beyond the upper twentieth of ``squares``: smaller witnesses have nothing to add.
    """
    place = max(len(squares) - max(10, len(squares) // 20) - 1, 0)
    pool = np.concatenate([squares, *witnesses])
    top = np.sort(pool[pool >= np.partition(squares, place)[place]])[-LARGEST - 1 :]
    excess = np.log(top[top > 0] / np.min(top[top > 0], initial=math.inf))
    return (len(excess) - 1) / float(np.sum(excess)) if np.any(excess > 0) else math.inf
