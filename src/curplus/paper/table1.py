"""Table 1: entries that methods ask for, beside those from which CUR+ recovered every matrix of Figure 1."""

from __future__ import annotations

from ..theory.complexity import SAMPLE_COMPLEXITIES, sample_complexity
from .experiment import Experiment
from .tables import Row, Rows, unique, where

__all__ = ["EXPERIMENT"]


def table(results: dict[str, Rows]) -> Rows:
    """Orders of growth, which leave out constants, the information limit r (2n - r), and what was measured.

    The latter is with the smallest d and the smallest number of entries together; -1 if that did not recover all.
    """
    smallest = where(results["recovery"], solver="exact")
    sizes, ranks = (sorted(unique(smallest, column)) for column in ("n", "rank"))
    return [_row(smallest, n, rank) for n in sizes for rank in ranks]


def _row(smallest: Rows, n: int, rank: int) -> Row:
    found = {row["sample"]: row["smallest"] for row in where(smallest, n=n, rank=rank)}
    orders = {method: sample_complexity(method, n=n, rank=rank) for method in SAMPLE_COMPLEXITIES}
    return {
        "n": n,
        "rank": rank,
        **{method: float(f"{order:.4g}") for method, order in orders.items()},
        "information limit": rank * (2 * n - rank),
        "CUR+ measured": found["together"],
        "measured d": found["d"],
        "measured entries": found["entries"],
    }


EXPERIMENT = Experiment("table1", "entries asked for, and entries needed", ("recovery",), table)
