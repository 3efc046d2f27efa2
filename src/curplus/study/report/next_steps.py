"""What to measure next, without asking for it: what the next list would have, and what it is expected to bring."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...acquisition.budget import split_budget
from ..drafting import Wishes, draft_of
from ..progress import stopping_sentence
from ..settings import as_costs
from ..storage import Round, Snapshot
from .tables import amount, counted, sentence

if TYPE_CHECKING:
    from ..study import Study

__all__ = ["next_part"]

FIRST_SHARE = 0.1  # of the matrix: a first list, where nobody said how large


def next_part(study: Study, snapshot: Snapshot, rounds: tuple[Round, ...]) -> dict[str, Any]:
    """A list like those before: as large as the last, or as the budget allows. Nothing is kept."""
    settings, budget = snapshot.settings, _budget(study)
    if budget < float(as_costs(settings.costs).entry):
        return _nothing("the budget is spent, or out with lists that did not come back yet")
    about: dict[str, Any] = {"asked_by": "", "purpose": "", "expires_after": None}
    whole = bool(snapshot.lines) or not _could_have_lines(study)
    draft = draft_of(snapshot, budget, Wishes(), Wishes(), 0, whole=whole, **about)
    cells, m = draft.cells[~draft.is_known], settings.shape[1]
    if not len(cells):
        return _nothing("every cell is measured, failed or out")
    lines = [[line for line in draft.lines if line.axis == axis] for axis in (0, 1)]
    rows, columns = ([line.position for line in side] for side in lines)
    single = int(np.count_nonzero(~(np.isin(cells // m, rows) | np.isin(cells % m, columns))))
    price = f"{amount(draft.price)} values" if settings.costs is None else amount(draft.price)
    return {
        "sentence": sentence(stopping_sentence(rounds, len(cells), study.status().where)),
        "call": f"study.ask({budget:.10g}{'' if whole else ', whole=False'})",
        "words": f"{_words((len(rows), len(columns), single), len(cells))}, for {price}",
        "sides": [
            {
                "what": axis.what,
                "names": [str(name) for name in axis.labels([line.position for line in side])],
                "reasons": list(dict.fromkeys(line.reason for line in side)),
            }
            for axis, side in zip((study._rows, study._columns), lines, strict=True)
        ],
    }


def _nothing(why: str) -> dict[str, Any]:
    return {"why_not": f"There is no next list: {why}."}


def _words(counts: tuple[int, int, int], n_cells: int) -> str:
    kinds = ("whole row", "whole column", "single cell")
    parts = [counted(count, kind) for count, kind in zip(counts, kinds, strict=True) if count]
    in_all = f": {counted(n_cells, 'cell')} in all" if len(parts) > 1 else ""
    return " and ".join([*([", ".join(parts[:-1])] if len(parts) > 1 else []), parts[-1]]) + in_all


def _could_have_lines(study: Study) -> bool:
    """Whether rows and columns would have been worth their price on the lists so far."""
    settings, summary = study.settings, study._storage.summary()
    money = settings.budget or summary.spent + summary.pending_price
    return split_budget(money, as_costs(settings.costs).of(settings.shape)).rows > 0


def _budget(study: Study) -> float:
    settings, lists, summary = study.settings, study._storage.lists(), study._storage.summary()
    (n, m), entry = settings.shape, float(as_costs(settings.costs).entry)
    usual = lists[-1].budget if lists else FIRST_SHARE * n * m * entry
    left = math.inf if settings.budget is None else settings.budget - summary.spent - summary.pending_price
    budget = max(min(usual, left), 0.0)
    return budget if settings.costs else float(math.floor(budget + 1e-9))
