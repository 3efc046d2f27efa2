"""In which order rows, columns and entries are read: pilots, entries that help to choose, rounds, entries."""

from __future__ import annotations

from typing import NamedTuple

from ..observation import SampleCounts

__all__ = ["Step", "next_step"]

CLEARLY_MORE = 1.5  # times the other kind


class Step(NamedTuple):
    """How many columns and rows come next."""

    n_columns: int
    n_rows: int
    uniform: bool  # drawn uniformly, as pilots
    wanted_more: bool = False  # of the kind of which clearly more are wanted in the end


def next_step(have: SampleCounts, goal: SampleCounts, rounds: int, symmetric: bool, *, n_pilots: int) -> Step | None:
    """Pilots of both kinds, then rounds in which the fewer go first. Nothing can be judged without the other kind."""
    known, wanted = (have.n_columns, have.n_rows), (goal.n_columns, goal.n_rows)
    kinds = (0,) if symmetric else (0, 1)
    pilots = wanted if rounds == 0 or min(wanted) == 0 else (max(1, n_pilots),) * 2
    first = [max(pilots[k] - known[k], 0) if k in kinds else 0 for k in (0, 1)]
    if any(first):
        return Step(first[0], first[1], uniform=True)
    fewer_first = sorted(kinds, key=lambda k: wanted[k])
    for t in range(rounds):
        for k in fewer_first:
            total = pilots[k] + (wanted[k] - pilots[k]) * (t + 1) // rounds
            if known[k] < total:
                more = total - known[k]
                wanted_more = not symmetric and wanted[k] >= CLEARLY_MORE * wanted[1 - k]
                return Step(0 if k else more, more if k else 0, uniform=False, wanted_more=wanted_more)
    return None
