"""What is said when a study is created, checked; what a file says is checked again when it is opened."""

from __future__ import annotations

from typing import Any

from .._validation import check_count, check_one_noise
from ..exceptions import FileFormatError, InvalidArgumentError
from ..observation.plan import amount_of
from .ledger import check_counted
from .money import check_costs
from .names import check_axis
from .storage import Settings

__all__ = ["check_settings", "check_stored_settings"]

LONGEST_SIDE = 2**31


def check_settings(
    *, rows: Any, columns: Any, budget: Any, costs: Any, noise: Any, rank: Any, records: Any
) -> Settings:
    """The settings of a study, from what a user says."""
    row_axis, column_axis = check_axis(rows, "row"), check_axis(columns, "column")
    n, m = shape = (row_axis.size, column_axis.size)
    if max(shape) > LONGEST_SIDE:
        raise InvalidArgumentError(f"a matrix of shape {shape} is too large: a side may have {LONGEST_SIDE:,} places.")
    prices = check_costs(costs, shape)
    return Settings(
        shape=(n, m),
        row_names=row_axis.names,
        column_names=column_axis.names,
        budget=None if budget is None else amount_of(budget, shape, is_money=prices is not None),
        costs=prices,
        noise=check_one_noise(noise),
        rank=None if rank is None else check_count(rank, name="rank", at_least=1),
        records=check_counted(records),
    )


def check_stored_settings(settings: Settings, path: Any) -> None:
    """An error if a file has settings that nobody could have given."""
    (n, m), rest = settings.shape, settings._asdict()
    rows, columns = settings.row_names or n, settings.column_names or m
    given = {name: rest[name] for name in ("budget", "costs", "noise", "rank", "records")}
    try:
        check_settings(rows=rows, columns=columns, **given)
    except (InvalidArgumentError, TypeError, ValueError) as error:
        raise FileFormatError(f"{path} cannot be used as a study: {error} Restore it from a copy.") from error
