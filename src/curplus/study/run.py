"""A study that measures by itself: a function is called for every cell of a list, and each value is kept at once."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._support.progress import Tell
from .._typing import IndexVector
from .._validation import check_count
from ..exceptions import InvalidArgumentError, SourceError
from .drafting import Request, new_list
from .schema import WIDTH
from .storage import Origin, Records, user_of

if TYPE_CHECKING:
    from .progress import Status
    from .study import Study

__all__ = ["Run"]

PURPOSE = "run"  # of lists that are finished by the next run if this one is killed
BROKEN = 10  # calls in a row that raised, whatever was tried
FIRST_LINES = 6  # how many rows and columns the first list could buy, at least
LIST_GROWTH = 0.25  # of what was spent: lists of a run towards a tolerance


class Outcome(NamedTuple):
    """What became of a call."""

    cell: int
    value: float  # nan if it failed
    note: str | None  # why


class Run:
    """One run; see :meth:`curplus.Study.run`."""

    def __init__(
        self,
        study: Study,
        function: Callable[[Any, Any], Any],
        total: float | None,
        tol: float | None,
        n_workers: int,
        n_retries: int,
        wait: float,
        n_rounds: int,
        on_round: Callable[[Status], Any] | None,
        tell: Tell,
    ) -> None:
        if not callable(function):
            raise InvalidArgumentError(f"function={function!r} cannot be called. Give function(row, column) -> value.")
        if tol is not None and not 0 < tol < 1:
            raise InvalidArgumentError(f"tol={tol!r} is no relative error. Give a number between 0 and 1, such as 0.1.")
        budget = study.settings.budget
        if total is None and tol is None and budget is None:
            raise InvalidArgumentError(
                "neither budget nor tol is given, and the study has no budget. Give one of them."
            )
        total = budget if total is None else total
        if total is not None and budget is not None and total > budget:
            raise InvalidArgumentError(
                f"the run would spend {total:,.6g} in all, and the study has a budget of {budget:,.6g}."
            )
        self.study, self.function, self.tol, self.on_round = study, function, tol, on_round
        self.entry = float(study.settings.prices.entry)
        self.total = math.prod(study.settings.shape) * self.entry if total is None else total
        self.n_workers = check_count(n_workers, name="n_workers", at_least=1)
        self.n_retries = check_count(n_retries, name="n_retries")
        self.n_rounds = check_count(n_rounds, name="n_rounds", at_least=1)
        self.wait, self.tell = float(wait), tell
        self.n_done = self.n_out = 0  # cells that came back, and those of all lists so far
        self.has_worked = study._storage.summary().n_values > 0  # whether there was a value yet

    def go(self) -> Status:
        """List after list."""
        while True:
            self._finish_lists()
            if self._is_good_enough():
                break
            budget = self._next_budget()
            if budget < self.entry or not self._ask(budget):
                break
        return self.study.status()

    def _ask(self, budget: float) -> bool:
        try:
            horizon = self.total if self.tol is None else None
            new_list(self.study, Request(budget, horizon=horizon), purpose=PURPOSE)
        except InvalidArgumentError:  # there is no cell left to buy
            if self.study._storage.summary().n_values + self.study._storage.summary().n_failed == 0:
                raise
            return False
        return True

    def _next_budget(self) -> float:
        summary = self.study._storage.summary()
        left = self.total - summary.spent - summary.pending_price
        step = self.total / self.n_rounds if self.tol is None else LIST_GROWTH * summary.spent
        if not summary.n_lists:
            n, m = self.study.settings.shape
            step = max(step, min(self.total / 2, FIRST_LINES * (n + m) * self.entry))
        return left if left < 1.5 * step else step

    def _is_good_enough(self) -> bool:
        if not self.study._storage.summary().n_values:
            return False
        try:
            self.study.certify()
        except InvalidArgumentError:
            return False  # too little is known to fit
        status = self.study.status()
        if self.on_round is not None:
            self.on_round(status)
        return self.tol is not None and status.rounds[-1].high <= self.tol

    # -- one list -------------------------------------------------------------------------------------------------

    def _finish_lists(self) -> None:
        for info in self.study._storage.lists():
            if info.purpose == PURPOSE and info.n_pending:
                _, _, cells = self.study._storage.list_parts(info.id)
                self._measure(cells)

    def _measure(self, cells: IndexVector) -> None:
        """Call the function for each cell; a value is kept as soon as it is there."""
        self.n_out += len(cells)
        waiting: list[Outcome] = []  # calls in a row that raised, or had no value from the start: kept once one has
        with ThreadPoolExecutor(self.n_workers) as pool:
            try:
                for outcomes in self._outcomes(pool, iter(cells.tolist())):
                    waiting += outcomes
                    self.has_worked |= any(math.isfinite(x.value) for x in outcomes)
                    if self.has_worked and any(not x.note for x in outcomes):
                        self._keep(waiting)
                        waiting = []
                    elif len(waiting) >= BROKEN:
                        raise SourceError(
                            f"the function failed for {BROKEN} cells in a row, the last time with "
                            f"{waiting[-1].note or 'no finite number'}. They stay pending: mend the function and run "
                            "again."
                        )
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        self._keep(waiting)

    def _outcomes(self, pool: ThreadPoolExecutor, cells: Iterator[int]) -> Iterator[list[Outcome]]:
        """Outcomes as they come, those that come together in one list; few calls wait for a worker."""
        out: set[Future[Outcome]] = {pool.submit(self._call, cell) for cell in islice(cells, 2 * self.n_workers)}
        while out:
            done, out = wait(out, return_when=FIRST_COMPLETED)
            out |= {pool.submit(self._call, cell) for cell in islice(cells, len(done))}
            yield [future.result() for future in done]

    def _call(self, cell: int) -> Outcome:
        i, j = divmod(cell, WIDTH)
        row, column = (axis.labels([k])[0] for axis, k in zip(self.study.settings.axes, (i, j), strict=True))
        for attempt in range(self.n_retries + 1):
            if attempt:
                time.sleep(self.wait * 2 ** (attempt - 1))
            try:
                value = self.function(row, column)
                number = math.nan if value is None else float(value)
            except Exception as error:
                note = f"{type(error).__name__}: {error}"[:500].replace("\0", " ")
            else:
                return Outcome(cell, number if math.isfinite(number) else math.nan, None)
        return Outcome(cell, math.nan, note)

    def _keep(self, outcomes: list[Outcome]) -> None:
        if not outcomes:
            return
        cells, values, notes = zip(*outcomes, strict=True)
        records = Records.of(np.asarray(cells, dtype=np.int64), np.asarray(values, dtype=float), notes=notes)
        self.study._keep(records, Origin("run", user_of(None)), only_pending=True)
        self.n_done += len(outcomes)
        self.tell(self.n_done, self.n_out)
