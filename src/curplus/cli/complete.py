"""``curplus complete``: fill the gaps of a table; names and measured values are kept."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer

from .. import methods
from .._arrays import to_numpy
from ..evaluation import certify
from ..factorization import Fact
from ..observation import Observation
from ..observation.fill import filled_array
from ..sources import Form, LongSource, Source
from ..sources.convert import whole_matrix
from . import show
from .given import Given, open_given
from .options import AS_FOUND, NO_LOGS, Json, Logs, MatrixFile, Rank, Reading, Seed, out_option, with_groups
from .results import end_facts
from .write import TABLES, Written, write_matrix

__all__ = ["complete"]

Out = Annotated[Path | None, out_option("the filled table", (*TABLES, ".npz"))]
Limit = Annotated[float | None, typer.Option(help="Filled values are not beyond this; measured ones stay.")]


class Filled(NamedTuple):
    """A filled table, and what is known of it."""

    table: Written
    facts: list[Fact]


@with_groups
def complete(
    file: MatrixFile,
    rank: Rank = None,
    min_value: Limit = None,
    max_value: Limit = None,
    seed: Seed = 0,
    out: Out = None,
    json: Json = False,
    reading: Reading = AS_FOUND,
    logs: Logs = NO_LOGS,
) -> None:
    """Fill the gaps of a table, wide or long; names and measured values are kept as they are."""
    given = open_given(file, reading, logs)
    low, high = -math.inf if min_value is None else min_value, math.inf if max_value is None else max_value
    with show.working(f"filling {given.name}"):
        if given.source is None or isinstance(given.source, LongSource):
            filled = _from_entries(given, rank, low, high)
        else:
            filled = _from_table(given.source, rank, low, high, seed)
    if out is not None:
        write_matrix(filled.table, out)
    end = end_facts(out, "add --out filled.csv, .xlsx or .parquet to keep the filled table")
    show.result([*filled.facts, *end], as_json=json)


def _from_table(source: Source, rank: int | None, low: float, high: float, seed: int) -> Filled:
    """Fill a wide table by its rows and columns; a column without any value stays empty."""
    from ..estimators import CURImputer  # scikit-learn takes a while to load

    whole = whole_matrix(source)
    table = np.asarray(whole.toarray() if hasattr(whole, "toarray") else to_numpy(whole))
    gaps = np.isnan(table)
    empty = gaps.all(axis=0)
    model = CURImputer(rank, min_value=low, max_value=high, keep_empty_features=True, random_state=seed)
    filled = model.fit_transform(table) if gaps.any() else table
    if empty.any():
        filled[:, empty] = np.nan
    errors = model.error_ if gaps.any() else np.zeros(table.shape[1])
    squares = float(np.sum(np.where(empty | ~gaps.any(axis=0), 0.0, gaps.sum(axis=0) * errors**2)))
    names = getattr(source, "column_names", None)
    labels = np.arange(table.shape[1]) if names is None else names
    facts = [
        Fact("shape", table.shape),
        Fact("rank", model.n_components_ if gaps.any() else None),
        *_filled_facts(int(gaps[:, ~empty].sum()), squares),
        Fact("interval", None, reason="none: an error at left-out values has no interval" if gaps.any() else ""),
        Fact(
            "column_errors",
            dict(zip(map(str, labels), errors.tolist(), strict=True)) if gaps.any() else None,
            "largest column errors",
        ),
        Fact("empty_columns", [str(name) for name in labels[empty]] or None, "left empty: no value at all in"),
    ]
    rows, form = getattr(source, "row_names", None), getattr(source, "form", Form())
    return Filled(Written(filled.shape, filled.__getitem__, rows, names, form), facts)


def _from_entries(given: Given, rank: int | None, low: float, high: float) -> Filled:
    """Fill the matrix of a long table, or of what was read before."""
    seen = Observation.from_table(given.source) if given.observation is None else given.observation
    approx = methods.approximate(seen, rank)
    filled = to_numpy(filled_array(seen, approx, low, high))
    found = certify(approx, seen)
    error, *ends = (np.maximum(0.0, x**2 - found.lower_bound**2) for x in (found.error, *(found.interval or ())))
    interval = tuple(math.sqrt(end) for end in ends) or None
    facts = [
        Fact("shape", approx.shape),
        Fact("rank", approx.rank),
        *_filled_facts(filled.size - seen.n_values_read, float(error)),
        Fact("interval", interval, "95% interval", reason="" if interval else f"none: {found.reason}"),
    ]
    return Filled(Written(filled.shape, filled.__getitem__, seen.row_names, seen.column_names), facts)


def _filled_facts(n_gaps: int, squares: float) -> list[Fact]:
    """How many gaps were filled, and the error expected there."""
    return [
        Fact("n_filled", n_gaps, "gaps filled"),
        Fact("error", math.sqrt(squares), unit="at all of them, in the Frobenius norm"),
        Fact("rmse", math.sqrt(squares / n_gaps) if n_gaps else None, "error of one", "root mean square"),
    ]
