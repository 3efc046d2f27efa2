"""Argument checks: small, named, shared. Each returns the value in the form the caller computes with."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

from ._arrays import array_namespace, host_array, is_array_api_obj, is_complex, largest, largest_known, to_numpy
from ._support.sets import NO_INDEX
from ._typing import Array, IndexVector, Names, RandomState, Shape
from .exceptions import InvalidArgumentError, RankTooLargeError

__all__ = [
    "UNKNOWN_NOISE",
    "check_amount",
    "check_count",
    "check_finite",
    "check_gaps",
    "check_index",
    "check_level",
    "check_names",
    "check_one_noise",
    "check_rank",
    "check_real",
    "check_shape",
    "check_share",
    "check_two_dimensional",
    "random_generator",
]


UNKNOWN_NOISE = "unknown"  # of a noise
MOST_POSITIONS = 2**63 - 1  # of a matrix: a position is one int64


def check_count(value: Any, *, name: str, at_most: int | None = None, of: str = "", at_least: int = 0) -> int:
    """A whole number between ``at_least`` and ``at_most``, the number of things called ``of``."""
    try:
        count = operator.index(value)
    except TypeError:
        raise InvalidArgumentError(f"{name}={value!r} is not a whole number. Give an int.") from None
    if isinstance(value, (bool, np.bool_)):
        raise InvalidArgumentError(f"{name}={value!r} is a truth value, not a number. Give an int.")
    if count < at_least:
        raise InvalidArgumentError(f"{name}={count} is too small. Give at least {at_least}.")
    if at_most is not None and count > at_most:
        raise InvalidArgumentError(
            f"{name}={count} but the matrix has only {at_most} {of}, and each is read at most once. "
            f"Use {name}={at_most} or less."
        )
    return count


def check_one_noise(noise: Any) -> float | str | None:
    """None, a standard deviation, or the word for an unknown one."""
    if noise is None or (isinstance(noise, str) and noise == UNKNOWN_NOISE):
        return noise
    if isinstance(noise, (bool, np.bool_)) or not isinstance(noise, Real) or not 0 < float(noise) < math.inf:
        raise InvalidArgumentError(
            f"noise={noise!r} is not a standard deviation. Give a positive number, or 'unknown'; leave it out if "
            "readings are exact."
        )
    return float(noise)


def check_amount(budget: Any, shape: Shape, *, is_money: bool = False) -> float:
    """A budget as a number of values, or as money; below 1, values are a share of the matrix."""
    if isinstance(budget, bool) or not isinstance(budget, (Real, np.number)) or not 0 < float(budget) < math.inf:
        raise InvalidArgumentError(
            f"budget={budget!r} is not an amount. Give a share of the matrix below 1, or a number of values from 1 on; "
            "where there are costs, money."
        )
    amount = float(budget)
    return amount if is_money or amount >= 1 else amount * shape[0] * shape[1]


def check_rank(rank: Any, *, n_columns: int, n_rows: int) -> int:
    """A rank that the sampled columns and rows could span."""
    r = check_count(rank, name="rank", at_least=1)
    for count, what, argument in ((n_columns, "columns", "n_columns"), (n_rows, "rows", "n_rows")):
        if r > count:
            use = f" or use rank={count}" if count else ""
            raise RankTooLargeError(
                f"rank={r} but only {count} {what} were sampled, and {count} {what} cannot span a "
                f"{r}-dimensional space. Sample at least {r} {what} ({argument}={r}){use}."
            )
    return r


def check_real(x: Array, what: str) -> None:
    """That numbers are real, for what is not defined for complex ones."""
    if is_complex(x):
        raise InvalidArgumentError(
            f"{what} are for real numbers, and these are complex ({x.dtype}). Treat the real and imaginary parts "
            "separately."
        )


def check_axis(axis: Any) -> None:
    """1 for rows, or 0 for columns."""
    if axis not in (0, 1) or isinstance(axis, (bool, np.bool_)):
        raise InvalidArgumentError(f"axis={axis!r} is neither 1, for rows, nor 0, for columns.")


def check_share(value: Any, *, name: str, below: float = 1.0) -> float:
    """A number from 0 on, less than ``below``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)) or not 0 <= value < below:
        raise InvalidArgumentError(f"{name}={value!r} is not a share. Give a number from 0 on, below {below:g}.")
    return float(value)


def check_level(level: Any) -> float:
    """A confidence between 0 and 1."""
    if isinstance(level, (bool, np.bool_)) or not isinstance(level, Real) or not 0 < float(level) < 1:
        raise InvalidArgumentError(f"level={level!r} is not a confidence. Give a number between 0 and 1, such as 0.95.")
    return float(level)


def check_shape(shape: Any) -> Shape:
    """A pair of positive whole numbers."""
    try:
        n, m = shape
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"shape={shape!r} is not a pair (number of rows, number of columns).") from None
    n, m = check_count(n, name="shape[0]", at_least=1), check_count(m, name="shape[1]", at_least=1)
    if n * m > MOST_POSITIONS:
        raise InvalidArgumentError(
            f"shape=({n}, {m}) has more than 2**63 - 1 cells, which cannot be numbered. Give a smaller matrix."
        )
    return n, m


def check_two_dimensional(shape: tuple[int, ...]) -> None:
    """A matrix has rows and columns, nothing less or more."""
    if len(shape) != 2:
        raise InvalidArgumentError(f"the matrix has shape {tuple(shape)}. Give a two-dimensional array.")


def check_gaps(gaps: Any) -> bool:
    """Whether NaN means that something was not measured."""
    if not isinstance(gaps, (bool, np.bool_)):
        raise InvalidArgumentError(
            f"gaps={gaps!r} is not a truth value. Use gaps=True if NaN means that a value could not be measured."
        )
    return bool(gaps)


def check_index(index: Any, size: int, *, name: str) -> IndexVector:
    """One-dimensional positions in ``range(size)``, as int64."""
    x = to_numpy(index) if is_array_api_obj(index) else host_array(index, name=name)
    if x.ndim != 1:
        raise InvalidArgumentError(f"{name} has shape {x.shape}. Give a one-dimensional array of positions.")
    if x.size == 0:
        return NO_INDEX
    if x.dtype.kind not in "iu":
        raise InvalidArgumentError(f"{name} has dtype {x.dtype}. Give positions as whole numbers, counted from 0.")
    outside = (x < 0) | (x >= size)
    if outside.any():
        t = int(np.argmax(outside))
        raise InvalidArgumentError(
            f"{name}[{t}]={x[t]} is out of range. Positions count from 0, so give values from 0 to {size - 1}."
        )
    return x.astype(np.int64, copy=False)


def check_names(names: Iterable[Any] | None, size: int, *, name: str) -> Names | None:
    """One name per row or column, as a NumPy array of numbers or strings that can be saved."""
    if names is None:
        return None
    if isinstance(names, str):
        raise InvalidArgumentError(f"{name}={names!r} is one string but the matrix needs {size} names. Give a list.")
    x = np.asarray(names) if isinstance(names, np.ndarray) else _as_array(list(names))
    if x.dtype.kind not in "iufU":
        x = x.astype(str)
    if x.shape != (size,):
        raise InvalidArgumentError(f"{name} has shape {x.shape} but the matrix needs {size} names. Give one each.")
    return x


def _as_array(names: list[Any]) -> Names:
    """Names of any one kind; several numbers or words for one name become one string."""
    if all(isinstance(name, (int, float, np.number)) for name in names):
        return np.asarray(names)
    return np.asarray([str(name) for name in names], dtype=str)


def check_finite(x: Array, *, name: str, place: Any = None, gaps: bool | None = None) -> float:
    """Largest magnitude in ``x``; an error naming the first NaN or inf, through ``place(index)``.

    With ``gaps`` NaN stands for no value. If ``gaps`` could be given and is False, the error names it.
    """
    magnitude = largest_known(x) if gaps else largest(x)
    if math.isfinite(magnitude):
        return magnitude
    xp = array_namespace(x)
    good = xp.isfinite(x) | xp.isnan(x) if gaps else xp.isfinite(x)
    bad = np.unravel_index(int(xp.argmin(xp.astype(good, xp.uint8))), x.shape)
    value = x[tuple(int(k) for k in bad)]
    value = complex(value) if is_complex(x) else float(value)
    where = f" ({place(*bad)})" if place else ""
    advice = "leave out what could not be measured, or repair it first."
    if gaps is False and np.isnan(value):
        advice = (
            "if NaN means that this could not be measured, use gaps=True, otherwise repair it first. For a table with "
            "gaps there are Observation.from_table and CURImputer."
        )
    raise InvalidArgumentError(
        f"{name}[{', '.join(str(k) for k in bad)}]={value}{where}. Every value that was read must be finite: {advice}"
    )


def random_generator(rng: RandomState) -> np.random.Generator:
    """The generator that ``rng`` stands for, or an error in words."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(
            f"rng={rng!r} cannot seed a generator ({error}). Give None, a whole number from 0 on, or a "
            "numpy.random.Generator."
        ) from None
