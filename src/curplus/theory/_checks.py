"""Checks on the numbers that the theorems take; each error has the remedy for its argument."""

from math import inf

from .._typing import Shape
from .._validation import check_count, check_shape
from ..exceptions import InvalidArgumentError

__all__ = ["area", "at_least", "positive", "target_rank"]

_SINGULAR_VALUE = "It is a singular value: compute it with numpy.linalg.svd."
_INCOHERENCE = "Compute it with theory.incoherence, from orthonormal vectors."

#: What to do about each argument that is out of range.
REMEDIES = {
    "eta": "It is a noise floor, as a mean square per entry: give 0 or more.",
    "mu": _INCOHERENCE,
    "mu_eta": "Compute it with theory.generalized_incoherence.",
    "mu_hat": _INCOHERENCE,
    "projection_error": "It is a norm: compute it with numpy.linalg.norm.",
    "rank_eta": "Compute it with theory.numerical_rank; it is 0 only for a matrix of zeros.",
    "sigma_next": _SINGULAR_VALUE,
    "sigma_rank": _SINGULAR_VALUE,
    "t": "The chance of failing falls like exp(-t): try t=3.",
}


def target_rank(rank: int, shape: Shape) -> int:
    return check_count(rank, name="rank", at_least=1, at_most=min(check_shape(shape)), of="columns or rows")


def area(shape: Shape) -> int:
    n, m = check_shape(shape)
    return n * m


def at_least(least: float, **named: float) -> float:
    ((name, value),) = named.items()
    if not least - 1e-9 <= value < inf:  # a computed incoherence of 1 may be rounded down
        raise InvalidArgumentError(
            f"{name}={value}, which by its definition is finite and at least {least}. {REMEDIES[name]}"
        )
    return max(value, least)


def positive(**named: float) -> float:
    ((name, value),) = named.items()
    if not 0 < value < inf:
        raise InvalidArgumentError(f"{name}={value}, but only positive finite numbers make sense. {REMEDIES[name]}")
    return value
