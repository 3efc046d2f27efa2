"""Checks on the numbers that theorems are fed with."""

from math import inf

from .._typing import Shape
from .._validation import check_count, check_shape
from ..exceptions import InvalidArgumentError

__all__ = ["area", "at_least", "positive", "target_rank"]


def target_rank(rank: int, shape: Shape) -> int:
    return check_count(rank, name="rank", at_least=1, at_most=min(check_shape(shape)), of="columns or rows")


def area(shape: Shape) -> int:
    n, m = check_shape(shape)
    return n * m


def at_least(least: float, **named: float) -> float:
    ((name, value),) = named.items()
    if not least - 1e-9 <= value < inf:  # a computed incoherence of 1 may be rounded down
        raise InvalidArgumentError(
            f"{name}={value}, which by its definition is finite and at least {least}. Check how it was computed."
        )
    return max(value, least)


def positive(**named: float) -> float:
    ((name, value),) = named.items()
    if not 0 < value < inf:
        raise InvalidArgumentError(f"{name}={value}, but only positive finite numbers make sense. Try {name}=3.")
    return value
