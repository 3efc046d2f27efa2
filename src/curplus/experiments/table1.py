"""Table 1: entries that methods ask for, beside the fewest from which CUR+ recovered every matrix of Figure 1."""

from __future__ import annotations

from ..theory import SAMPLE_COMPLEXITIES, distinct_entries, sample_complexity
from .experiment import Experiment
from .figure1 import minima
from .tables import Row, Rows, different, where

__all__ = ["EXPERIMENT"]


def table(results: dict[str, Rows]) -> Rows:
    """Orders of growth, which leave out constants, the information limit r (2n - r), and what was measured."""
    smallest = where(minima(results["recovery"]), solver="exact")
    return [_row(smallest, n, rank) for n in different(smallest, "n") for rank in sorted(different(smallest, "rank"))]


def _row(smallest: Rows, n: int, rank: int) -> Row:
    d, size = (where(smallest, n=n, rank=rank, sample=sample)[0]["smallest"] for sample in ("d", "entries"))
    orders = {method: sample_complexity(method, n=n, rank=rank) for method in SAMPLE_COMPLEXITIES}
    measured = round(distinct_entries((n, n), n_columns=d, n_rows=d, n_entries=size)) if min(d, size) > 0 else -1
    return {
        "n": n,
        "rank": rank,
        **{method: float(f"{order:.4g}") for method, order in orders.items()},
        "information limit": rank * (2 * n - rank),
        "CUR+ measured": measured,
        "measured d": d,
        "measured entries": size,
    }


EXPERIMENT = Experiment("table1", "entries asked for, and entries needed", ("recovery",), table)
