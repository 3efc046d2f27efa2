"""``curplus complete``: fill the gaps of a table; names and measured values are kept."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from .. import methods
from .._arrays import to_numpy
from .._support.spelling import option
from .._typing import FloatArray
from ..evaluation import certify
from ..factorization import Fact
from ..observation import Bounds, Observation
from ..observation.fill import filled_array
from ..observation.scale import filled_in_units, in_logarithms, span_note
from ..sources import Form, Source
from ..sources.convert import whole_matrix
from . import show
from .given import open_given
from .options import Design, Logs, MatrixFile, Range, Rank, Reading, Scale, Seed, out_option, verb
from .results import end_facts
from .write import TABLES, Written, write_matrix

__all__ = ["complete"]

MOST_GRADES = 11  # values such as 0 and 1, or 1 to 5: their largest and smallest may be limits


Out = Annotated[Path | None, out_option("the filled table", (*TABLES, ".npz"))]


class Filled(NamedTuple):
    """A filled table, and what is known of it."""

    table: Written
    facts: list[Fact]


@verb
def complete(
    file: MatrixFile,
    limits: Range,
    reading: Reading,
    logs: Logs,
    rank: Rank = None,
    scale: Scale = None,
    design: Design = None,
    seed: Seed = 0,
    out: Out = None,
) -> list[Fact]:
    """Fill the gaps of a table, wide or long; names and measured values are kept as they are."""
    given = open_given(file, reading, logs, design)
    low = -math.inf if limits.min_value is None else limits.min_value
    high = math.inf if limits.max_value is None else limits.max_value
    with show.working(f"filling {given.name}"):
        if given.entries is not None:
            filled = _from_entries(given.entries, rank, low, high, scale)
        else:
            filled = _from_table(given.matrix(), rank, low, high, scale, seed)
    if out is not None:
        write_matrix(filled.table, out)
    return [*filled.facts, *end_facts(out, "add --out filled.csv, .xlsx or .parquet to keep the filled table")]


def _from_table(source: Source, rank: int | None, low: float, high: float, scale: str | None, seed: int) -> Filled:
    """Fill a wide table by its rows and columns; a column without any value stays empty."""
    from ..estimators import CURImputer  # scikit-learn takes a while to load

    whole = whole_matrix(source)
    table = np.asarray(whole.toarray() if hasattr(whole, "toarray") else to_numpy(whole))
    gaps, bounds = np.isnan(table), Bounds(*(getattr(source, "bounds", None) or ()))
    empty = gaps.all(axis=0) & ~np.isin(np.arange(table.shape[1]), bounds.j)
    names = getattr(source, "column_names", None)
    model = CURImputer(rank, min_value=low, max_value=high, scale=scale, keep_empty_features=True, random_state=seed)
    filled = model.fit_transform(table, bounds=bounds) if gaps.any() else table
    if empty.any():
        filled[:, empty] = np.nan
    errors = model.error_ if gaps.any() else np.zeros(table.shape[1])
    squares = float(np.sum(np.where(empty | ~gaps.any(axis=0), 0.0, gaps.sum(axis=0) * errors**2)))
    labels = np.arange(table.shape[1]) if names is None else names
    by_column = dict(zip(map(str, labels), errors.tolist(), strict=True)) if gaps.any() else None
    rank = model.n_components_ if gaps.any() else None
    facts = [
        *_facts(filled, rank, int(gaps[:, ~empty].sum()), squares, scale, len(bounds), (table,), (low, high)),
        Fact("interval", None, reason="none: an error at left-out values has no interval" if gaps.any() else ""),
        Fact("column_errors", by_column, "largest column errors"),
        Fact("empty_columns", [str(name) for name in labels[empty]] or None, "left empty: no value at all in"),
    ]
    rows, form = getattr(source, "row_names", None), getattr(source, "form", Form())
    return Filled(Written(filled.shape, filled.__getitem__, rows, names, form), facts)


def _from_entries(read: Observation, rank: int | None, low: float, high: float, scale: str | None) -> Filled:
    """Fill the matrix of a long table, or of what was read before."""
    seen = read if scale is None else in_logarithms(read)
    approx = methods.approximate(seen, rank)
    filled = to_numpy((filled_array if scale is None else filled_in_units)(read, approx, low, high))
    found = certify(approx, seen)
    error, *ends = (np.maximum(0.0, x**2 - found.lower_bound**2) for x in (found.error, *(found.interval or ())))
    interval = tuple(math.sqrt(end) for end in ends) or None
    known, n_gaps = (read.rows, read.columns, read.values), filled.size - seen.n_values_read
    facts = [
        *_facts(filled, approx.rank, n_gaps, float(error), scale, len(seen.bounds), known, (low, high)),
        Fact("interval", interval, "95% interval", reason="" if interval else f"none: {found.reason}"),
    ]
    return Filled(Written(filled.shape, filled.__getitem__, seen.row_names, seen.column_names), facts)


def _facts(
    filled: FloatArray,
    rank: int | None,
    n_gaps: int,
    squares: float,
    scale: str | None,
    n_bounds: int,
    values: tuple[Any, ...],
    limits: tuple[float, float],
) -> list[Fact]:
    """How many gaps were filled, the error expected there, and whether logarithms or limits would help."""
    of = "" if scale is None else " of natural logarithms"
    hints = [] if scale is not None else [span_note(*values), _limits_note(values, filled, limits)]
    why = "filled with what is expected beyond them; no error rests on them"
    return [
        Fact("shape", filled.shape),
        Fact("rank", rank),
        Fact("n_filled", n_gaps, "gaps filled"),
        Fact("error", math.sqrt(squares), unit=f"at all of them, in the Frobenius norm{of}"),
        Fact("rmse", math.sqrt(squares / n_gaps) if n_gaps else None, "error of one", f"root mean square{of}"),
        Fact("n_bounds", n_bounds or None, "bounds", reason=why if n_bounds else ""),
        Fact("scale", scale),
        Fact("hint", "; ".join(filter(None, hints)) or None),
    ]


def _limits_note(values: tuple[Any, ...], filled: FloatArray, limits: tuple[float, float]) -> str:
    """A hint for values within 0 and 1, or of a few grades, where some that were filled are beyond them."""
    known = np.concatenate([np.empty(0), *(to_numpy(x)[~np.isnan(to_numpy(x))].ravel() for x in values)])
    if not len(known) or limits != (-math.inf, math.inf):
        return ""
    low, high = float(known.min()), float(known.max())
    if 0 <= low < high <= 1:
        low, high = 0.0, 1.0
    elif len(np.unique(known)) > MOST_GRADES:
        return ""
    if low <= np.nanmin(filled) and np.nanmax(filled) <= high:
        return ""
    how = f"{option('min_value', f'{low:g}')} {option('max_value', f'{high:g}')}"
    return f"all values are from {low:g} to {high:g}, and some that were filled are not: {how} keep them there"
