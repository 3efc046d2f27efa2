"""What an observation must fulfil: parts that fit together, finite numbers, and one value for each position."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .._arrays import array_namespace, gather, index_table, real_array, rounding_unit, take, to_numpy
from .._typing import Array, IndexVector, Shape, Vector
from .._validation import check_finite
from ..exceptions import InconsistentObservationError, InvalidArgumentError
from .plan import DESIGNS, SamplingDesign

if TYPE_CHECKING:
    from .observation import Observation

__all__ = [
    "check_agreement",
    "check_chances",
    "check_design",
    "check_no_repeats",
    "check_observation",
    "check_positive",
    "check_range",
    "check_repeated",
    "check_shapes",
    "check_values",
]

AGREEMENT = 1e-6  # two readings of one position may differ by this much, relative to the larger
RAREST = 1e-100  # the least chance of a position, relative to a uniform draw, whose inverse can still be squared


def check_design(design: Any) -> SamplingDesign:
    """How columns, rows and entries were chosen, in known words."""
    words = tuple(design) if isinstance(design, (tuple, list)) else ()
    if len(words) != 3 or not set(words) <= set(DESIGNS):
        raise InvalidArgumentError(
            f"design={design!r} must say 'uniform', 'given' or 'adaptive' for columns, rows and entries, as "
            "SamplingDesign does."
        )
    return design if isinstance(design, SamplingDesign) else SamplingDesign(*words)


def check_positive(values: Any, size: int, *, name: str, at_most: float = math.inf) -> Vector | None:
    """One positive finite number for each entry, or None."""
    if values is None:
        return None
    x = to_numpy(real_array(values, name=name)).astype(np.float64, copy=False)
    if x.shape != (size,):
        raise InvalidArgumentError(f"{name} has shape {x.shape} but there are {size} entries. Give one for each.")
    _check_each(x, (x > 0) & (x <= at_most) & np.isfinite(x), name, at_most)
    return x


def _check_each(x: Vector, good: Any, name: str, at_most: float) -> None:
    if not good.all():
        t = int(np.argmin(good))
        limit = f" and at most {at_most:g}" if math.isfinite(at_most) else ""
        raise InvalidArgumentError(
            f"{name}[{t}]={x[t]} must be a positive finite number{limit}. Leave such entries out."
        )


def check_chances(probabilities: Vector | None, shape: Shape) -> None:
    """No chance so small that its inverse would leave the range of numbers."""
    if probabilities is None or not len(probabilities):
        return
    t = int(np.argmin(probabilities))
    if probabilities[t] * math.prod(shape) < RAREST:
        raise InvalidArgumentError(
            f"probabilities[{t}]={probabilities[t]} makes this one entry stand for more than 1e100 others. "
            "Leave it out, or give the chance in one draw, so that all positions add up to 1."
        )


def check_shapes(observation: Observation) -> None:
    """As many columns, rows and values as there are positions for them."""
    n, m = observation.shape
    for name, index, expected in (
        ("columns", "column_index", (n, observation.n_columns)),
        ("rows", "row_index", (observation.n_rows, m)),
        ("values", "i", (observation.n_entries,)),
        ("j", "i", (observation.n_entries,)),
    ):
        shape = tuple(getattr(observation, name).shape)
        if shape != expected:
            raise InvalidArgumentError(
                f"{name} has shape {shape} but {index} has {len(getattr(observation, index))} positions of a {n} x {m} "
                f"matrix, so it must have shape {expected}."
            )


def check_observation(observation: Any, *, name: str = "observation") -> Observation:
    """What a method works on."""
    from .observation import Observation

    if not isinstance(observation, Observation):
        raise InvalidArgumentError(
            f"{name} is a {type(observation).__name__}. Give an Observation: observe(source, ...) or "
            "acquire(source, ...) reads one."
        )
    return observation


def check_no_repeats(index: IndexVector, name: str) -> None:
    """Each column or row at most once."""
    values, counts = np.unique(index, return_counts=True)
    if np.any(counts > 1):
        raise InvalidArgumentError(
            f"{name} contains {values[np.argmax(counts > 1)]} more than once. Keep each only once: a repeated reading "
            "adds no direction."
        )


def check_values(observation: Observation) -> float:
    """Only finite numbers, and NaN where there may be gaps; the largest magnitude of them."""
    o = observation
    places: dict[str, Any] = {
        "columns": lambda i, k: f"row {i}, column {o.column_index[k]}",
        "rows": lambda k, j: f"row {o.row_index[k]}, column {j}",
        "values": lambda t: f"row {o.i[t]}, column {o.j[t]}",
    }
    return max(check_finite(getattr(o, name), name=name, place=place, gaps=o.gaps) for name, place in places.items())


def check_range(magnitude: float, shape: Shape, like: Array) -> None:
    """The norm of a matrix of such numbers must be a number of their type."""
    most = float(array_namespace(like).finfo(like.dtype).max)
    if magnitude / most * math.sqrt(math.prod(shape)) > 1:
        kind = str(like.dtype).rpartition(".")[2]
        raise InvalidArgumentError(
            f"values up to {magnitude:.3g} in a {shape[0]} x {shape[1]} matrix: its norm may exceed {most:.3g}, the "
            f"range of {kind}. Divide the values by a power of two first, such as 2.0**{math.frexp(magnitude)[1]}."
        )


def check_agreement(first: Observation, second: Observation, magnitude: float) -> None:
    """Positions that the rows or entries of one and the rows or columns of the other share were read alike."""
    rounding = 8 * rounding_unit(first.values) * magnitude
    if first.n_rows and second.n_columns:
        ours = take(first.rows, second.column_index, axis=1)
        theirs = take(second.columns, first.row_index, axis=0)
        place = _crossing(first.row_index, second.column_index)
        _compare("rows", ours, "columns", theirs, place, rounding)
    if not first.n_entries:
        return
    on_row = index_table(second.row_index, second.shape[0])
    on_column = index_table(second.column_index, second.shape[1])
    t = np.flatnonzero(on_row[first.i] >= 0)
    i, j, ours = first.i[t], first.j[t], take(first.values, t, axis=0)
    _compare("entries", ours, "rows", gather(second.rows, on_row[i], j), _pair(i, j), rounding)
    t = np.flatnonzero(on_column[first.j] >= 0)
    i, j, ours = first.i[t], first.j[t], take(first.values, t, axis=0)
    _compare("entries", ours, "columns", gather(second.columns, i, on_column[j]), _pair(i, j), rounding)


def check_repeated(first: Observation, second: Observation, magnitude: float) -> None:
    """Columns that both have were read alike, and rows."""
    rounding = 8 * rounding_unit(first.values) * magnitude
    for what, a, b in (("columns", first, second), ("rows", first.T, second.T)):
        where = index_table(a.column_index, a.shape[1])[b.column_index]
        both = np.flatnonzero(where >= 0)
        if len(both):
            ours, theirs = take(a.columns, where[both], axis=1), take(b.columns, both, axis=1)
            place = _crossing(np.arange(a.shape[0]), b.column_index[both])
            if what == "rows":
                place = _turned(place)
            _compare(f"first {what}", ours, f"{what} of the second", theirs, place, rounding)


Place: TypeAlias = Callable[[int], tuple[int, int]]  # row and column of the t-th number of an array


def _pair(i: IndexVector, j: IndexVector) -> Place:
    return lambda t: (int(i[t]), int(j[t]))


def _crossing(i: IndexVector, j: IndexVector) -> Place:
    return lambda t: (int(i[t // len(j)]), int(j[t % len(j)]))


def _turned(place: Place) -> Place:
    return lambda t: place(t)[::-1]


def _compare(first: str, ours: Array, second: str, theirs: Array, place: Place, rounding: float) -> None:
    """Two readings of the same places, compared where they are: whole columns can be among them."""
    if not math.prod(ours.shape):
        return
    xp = array_namespace(ours, theirs)
    a, b = xp.reshape(ours, (-1,)), xp.reshape(theirs, (-1,))
    with np.errstate(over="ignore"):  # an infinite difference is a difference
        gap = xp.abs(a - b)
    bad = (gap > rounding) & (gap > AGREEMENT * xp.abs(a)) & (gap > AGREEMENT * xp.abs(b))
    if bool(xp.any(bad)):
        t = int(xp.argmax(xp.astype(bad, xp.uint8)))
        i, j = place(t)
        raise InconsistentObservationError(
            f"row {i}, column {j} was read as {to_numpy(a[t])} among the {first} and as {to_numpy(b[t])} among the "
            f"{second}. One place has one value (to {AGREEMENT:g} relative): check which reading is right, or average "
            "them first."
        )
