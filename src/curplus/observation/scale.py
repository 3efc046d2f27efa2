"""Values that span powers of ten, such as concentrations: logarithms are fitted, and answers are in units again."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._arrays import array_namespace, to_numpy
from .._support.spelling import option
from .._typing import Matrix
from ..exceptions import InvalidArgumentError
from .bounds import Bounds
from .entries import Repeats
from .fill import filled_array, with_measured
from .observation import Observation
from .readings import PSD, SYMMETRIC

__all__ = [
    "LOG",
    "NOT_POSITIVE",
    "check_scale",
    "filled_in_units",
    "in_logarithms",
    "logarithm",
    "logarithm_of_bounds",
    "logarithm_of_limit",
    "span_note",
]

LOG = "log"
WIDE = 1e3  # from the smallest to the largest value: a normal distribution on one scale has no such values
NOT_POSITIVE = (
    "If it lies below what can be measured, write it as a bound, such as <0.5; if nothing was measured, leave it "
    "empty; otherwise leave scale= out"
)


def check_scale(scale: Any) -> str | None:
    """None, for the values as they are, or the word for their logarithms."""
    if scale not in (None, LOG):
        raise InvalidArgumentError(f"{option('scale', scale)} is unknown. Give 'log', or leave it out.")
    return None if scale is None else LOG


def logarithm(x: Matrix, *, rows: Any = None, columns: Any = None) -> Matrix:
    """Natural logarithms of positive values, NaN where a value is NaN.

    The first value without one is refused, with its row and its column; of one-dimensional values, ``rows`` and
    ``columns`` have those of each.
    """
    xp = array_namespace(x)
    wrong = np.argwhere(to_numpy(x <= 0))
    if len(wrong):
        i, j = wrong[0] if x.ndim == 2 else wrong[0].repeat(2)
        row, column = (k if names is None else names[k] for names, k in ((rows, i), (columns, j)))
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise InvalidArgumentError(
            f"the value {float(x[tuple(wrong[0].tolist())]):g} in row {str(row)!r}, column {str(column)!r}{more} has "
            f"no logarithm, and {option('scale', LOG)} was given. {NOT_POSITIVE}."
        )
    return xp.log(x)


def logarithm_of_limit(limit: Any) -> Any:
    """The logarithm of a smallest or largest value, or of several; one that is not positive is no limit from below."""
    if limit is None:
        return None
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(limit, 0.0))


def in_logarithms(observation: Observation) -> Observation:
    """What was read, as logarithms; noise is that of the logarithms."""
    o = observation
    rows, columns = (
        np.arange(n) if x is None else x for n, x in zip(o.shape, (o.row_names, o.column_names), strict=True)
    )
    bounds = o.bounds
    return o._replaced(
        rows=logarithm(o.rows, rows=rows[o.row_index], columns=columns),
        columns=logarithm(o.columns, rows=rows, columns=columns[o.column_index]),
        values=logarithm(o.values, rows=rows[o.i], columns=columns[o.j]),
        bounds=logarithm_of_bounds(bounds, rows, columns),
        repeats=Repeats(),
        symmetry=SYMMETRIC if o.symmetry == PSD else o.symmetry,
    )


def filled_in_units(observation: Observation, approximation: Any, min_value: Any, max_value: Any) -> Matrix:
    """The whole matrix, by an approximation of the logarithms; what was measured is as it was measured."""
    limits = logarithm_of_limit(min_value), logarithm_of_limit(max_value)
    logarithms = filled_array(in_logarithms(observation), approximation, *limits)
    return with_measured(observation, array_namespace(logarithms).exp(logarithms))


def logarithm_of_bounds(bounds: Bounds, rows: Any, columns: Any) -> Bounds:
    """Bounds of logarithms."""
    value = logarithm(bounds.value, rows=np.asarray(rows)[bounds.i], columns=np.asarray(columns)[bounds.j])
    return Bounds(bounds.i, bounds.j, value, bounds.side)


def span_note(*values: Any) -> str:
    """A hint for positive values that span more than three powers of ten; nothing for others."""
    known = np.concatenate([np.empty(0), *(to_numpy(x)[~np.isnan(to_numpy(x))].ravel() for x in values)])
    if not len(known) or known.min() <= 0 or known.max() <= WIDE * known.min():
        return ""
    powers = math.log10(known.max() / known.min())
    return f"all values are positive and span {powers:.1f} powers of ten: {option('scale', LOG)} fits their logarithms"
