"""How a budget is split between rows, columns and entries.

Rows and columns get money in proportion to the square root of their lengths, whatever they cost: of all ways to
divide it, that was the best or near it on every matrix tried (``benchmarks/budget.py``). The same money for both buys
far too many of the short ones if a matrix is long. How much goes to single entries follows from how many crosses,
a row and a column each, the budget could buy: with few crosses, entries alone are better; many crosses are better
than entries. Once some rows, columns and entries are read, money moves to rows, or columns, if few of them have a large
share of the residuals.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._typing import Shape
from .._validation import check_amount
from ..exceptions import InvalidArgumentError
from ..observation.plan import parts_of_lines, share_for_lines
from .costs import Costs, Prices
from .unexplained import Unexplained

__all__ = ["Split", "check_budget", "split_budget"]

ALL = frozenset({"n_columns", "n_rows", "n_entries"})
NOTHING_SEEN = Unexplained()
ORDINARY = 3.0  # times as much unexplained as elsewhere: rows and columns of any matrix differ by that


class Split(NamedTuple):
    """Money for rows, columns and entries."""

    columns: float
    rows: float
    entries: float
    reason: str


def check_budget(budget: Any, costs: Costs | None, shape: Shape) -> tuple[float, Prices]:
    """A budget in money, and the prices; without costs an entry costs 1, and a budget below 1 is a share."""
    prices = (Costs() if costs is None else _check_costs(costs)).of(shape)
    return check_amount(budget, shape, is_money=costs is not None), prices


def _check_costs(costs: Any) -> Costs:
    if not isinstance(costs, Costs):
        raise InvalidArgumentError(f"costs={costs!r} are no prices. Give curplus.Costs(row=, column=, entry=).")
    return costs


def split_budget(
    money: float,
    prices: Prices,
    *,
    missing: frozenset[str] = ALL,
    symmetric: bool = False,
    horizon: float = 0.0,
    unexplained: Unexplained = NOTHING_SEEN,
) -> Split:
    """Money for columns, rows and entries.

    Parameters
    ----------
    money : float
        The budget.
    prices : Prices
        What rows, columns and entries cost.
    missing : set of str
        Which of ``"n_columns"``, ``"n_rows"`` and ``"n_entries"`` it is for.
    symmetric : bool, default False
        Whether rows come with the columns, so that only columns are paid for.
    horizon : float, default 0.0
        The money in the end, if that is more: it decides how much goes to rows and columns.
    unexplained : Unexplained
        Residuals of rows and columns: if clearly more is unexplained in the largest of a kind than elsewhere, that kind
        gets more, and the others less, down to half.
    """
    kinds = [name for name in ("n_columns", "n_rows") if name in missing and not (symmetric and name == "n_rows")]
    if not kinds:
        return Split(0.0, 0.0, money, "all for entries")
    mean = {"n_columns": float(np.mean(prices.columns)), "n_rows": float(np.mean(prices.rows))}
    crosses = max(money, horizon) / sum(mean[name] for name in kinds)
    share = share_for_lines(crosses)
    reason = f"{share:.0%} for rows and columns: it could buy {crosses:.3g} of each"
    if "n_entries" not in missing:
        share, reason = 1.0, "all for rows and columns"
    elif not share:
        reason = f"all for entries: it could buy {crosses:.1f} rows and columns, too few to be of use"
    lengths = {"n_columns": len(prices.rows), "n_rows": len(prices.columns)}
    parts = dict(zip(kinds, parts_of_lines(*(lengths[name] for name in kinds)), strict=True))
    columns, rows = (share * parts.get(name, 0.0) for name in ("n_columns", "n_rows"))
    more = [part * max(times - ORDINARY, 0.0) for part, times in zip((columns, rows), unexplained, strict=True)]
    moved = 1 / max(sum(more), 1.0)  # the kind without such rows or columns keeps half of its money
    columns, rows = columns + moved * more[0], rows + moved * more[1]
    unit = money / (columns + rows + 1 - share)
    return Split(unit * columns, unit * rows, unit * (1 - share), reason)
