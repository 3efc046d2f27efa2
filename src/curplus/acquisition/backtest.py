"""Replaying a matrix that is known, to see what a budget would have bought."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._support.extras import import_extra
from .._support.processes import ignoring_interrupts, workers
from .._support.progress import showing
from .._typing import FloatArray
from .._validation import check_count, check_real
from ..exceptions import InvalidArgumentError
from ..methods import approximate
from ..methods.approximate import Offsets
from ..observation import Cells, Observation
from .acquire import acquire
from .prices import Costs
from .strategies import Strategy

__all__ = ["Backtest", "Trial", "backtest"]

BUDGETS = (0.02, 0.05, 0.1, 0.2, 0.4)
STRATEGIES = ("auto", "uniform", "entries")


class Trial(NamedTuple):
    """One budget, spent once."""

    strategy: str
    method: str
    budget: float
    seed: int
    error: float  # root mean square at the values that were not read, relative to that of the whole matrix
    n_values: int  # that were read
    seconds: float


@dataclass(frozen=True)
class Backtest:
    """Errors of all trials."""

    trials: tuple[Trial, ...]

    def table(self) -> list[dict[str, Any]]:
        """One line for each strategy, method and budget: mean error, its standard error, values read and seconds."""
        key = lambda trial: (trial.strategy, trial.method, trial.budget)  # noqa: E731
        groups = {k: list(group) for k, group in itertools.groupby(sorted(self.trials, key=key), key)}
        return [
            {
                "strategy": strategy,
                "method": method,
                "budget": budget,
                "error": float(np.mean([t.error for t in group])),
                "standard_error": _standard_error([t.error for t in group]),
                "n_values": float(np.mean([t.n_values for t in group])),
                "seconds": float(np.mean([t.seconds for t in group])),
            }
            for (strategy, method, budget), group in groups.items()
        ]

    def to_frame(self) -> Any:
        """All trials as a pandas DataFrame, one line each."""
        pandas = import_extra("pandas", extra="pandas", purpose="tables of trials need pandas")
        return pandas.DataFrame(list(self.trials), columns=list(Trial._fields))

    def __str__(self) -> str:
        lines = [f"{'strategy':16} {'method':12} {'budget':>8} {'error':>8} {'+-':>8} {'values':>9}"]
        lines += [
            f"{row['strategy']:16} {row['method']:12} {row['budget']:8g} {row['error']:8.4f} "
            f"{row['standard_error']:8.4f} {row['n_values']:9.0f}"
            for row in self.table()
        ]
        return "\n".join(lines)


def backtest(
    matrix: Any,
    *,
    budgets: Sequence[float] = BUDGETS,
    strategies: Sequence[str | Strategy] = STRATEGIES,
    methods: Sequence[str] = ("approximate", "additive"),
    seeds: int | Iterable[int] = 10,
    costs: Costs | None = None,
    jobs: int = 1,
    on_trial: Callable[[Trial], Any] | None = None,
    progress: bool = False,
) -> Backtest:
    """Replay a known matrix: the error that each budget would have reached, for each way to read.

    Parameters
    ----------
    matrix : array of shape (n, m)
        All values: last year's screen, or any matrix like the one to be read. NaN is a value that could not be
        measured, and is not judged.
    budgets : sequence of float
        What may be spent, as in :func:`curplus.acquire`.
    strategies : sequence of str or Strategy
        Ways to choose rows and columns; ``"entries"`` spends everything on entries, drawn uniformly.
    methods : sequence of str
        ``"approximate"``, and ``"additive"``: a constant and shrunken offsets of rows and columns, fitted to everything
        that was read.
    seeds : int or iterable of int, default 10
        How often, or with which seeds.
    costs : Costs, optional
        Prices of rows, columns and entries.
    jobs : int, default 1
        How many processes work at the same time.
    on_trial : callable, optional
        Called with each :class:`Trial` as soon as it is done.
    progress : bool, default False
        Whether to show on standard error how far it has come, if it takes more than a second.

    Returns
    -------
    Backtest

    Examples
    --------
    >>> import numpy as np, curplus
    >>> rng = np.random.default_rng(0)
    >>> M = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 50)) + 0.1 * rng.standard_normal((60, 50))
    >>> result = curplus.backtest(M, budgets=[0.2, 0.5], strategies=["auto"], methods=["approximate"], seeds=2)
    >>> [(row["budget"], row["error"] < 0.3) for row in result.table()]
    [(0.2, True), (0.5, True)]
    """
    M = _checked(matrix)
    _check_words(methods, ("approximate", "additive"), "methods")
    which = range(check_count(seeds, name="seeds", at_least=1)) if isinstance(seeds, (int, np.integer)) else list(seeds)
    cases = [_Case(M, s, tuple(methods), b, seed, costs) for b in budgets for s in strategies for seed in which]
    trials: list[Trial] = []
    with showing("trying budgets", wanted=progress) as tell:
        for found in _run(cases, check_count(jobs, name="jobs", at_least=1)):
            trials += found
            tell(len(trials), len(cases) * len(methods))
            for trial in found:
                if on_trial is not None:
                    on_trial(trial)
    return Backtest(tuple(trials))


class _Case(NamedTuple):
    matrix: FloatArray
    strategy: str | Strategy
    methods: tuple[str, ...]
    budget: float
    seed: int
    costs: Costs | None


def _run(cases: list[_Case], jobs: int) -> Iterable[list[Trial]]:
    if jobs == 1:
        return map(_trials, cases)
    return _in_processes(cases, jobs)


def _in_processes(cases: list[_Case], jobs: int) -> Iterable[list[Trial]]:
    with workers(min(jobs, len(cases))) as pool:
        with ignoring_interrupts():
            found = pool.map(_trials, cases)
        yield from found


def _trials(case: _Case) -> list[Trial]:
    """Read once, and answer by every method."""
    M = case.matrix
    start = time.perf_counter()
    seen = _read(case)
    reading = time.perf_counter() - start
    unread = ~_known(seen) & ~np.isnan(M)
    trials = []
    for method in case.methods:
        start = time.perf_counter()
        answer = approximate(seen).to_array() if method == "approximate" else Offsets().fit(Cells.of(seen)).to_array()
        error = float(np.sqrt(np.mean((M - answer)[unread] ** 2) / (np.nanmean(M**2) or 1.0))) if unread.any() else 0.0
        seconds = reading + time.perf_counter() - start
        trials.append(Trial(str(case.strategy), method, case.budget, case.seed, error, seen.n_values_read, seconds))
    return trials


def _read(case: _Case) -> Observation:
    how: dict[str, Any] = {"gaps": bool(np.isnan(case.matrix).any()), "rng": case.seed}
    if case.strategy == "entries":
        return acquire(case.matrix, budget=case.budget, costs=case.costs, n_columns=0, n_rows=0, **how)
    return acquire(case.matrix, budget=case.budget, costs=case.costs, strategy=case.strategy, **how)


def _known(seen: Observation) -> np.ndarray[Any, Any]:
    known = np.zeros(seen.shape, dtype=bool)
    known[seen.row_index] = known[:, seen.column_index] = known[seen.i, seen.j] = True
    return known


def _standard_error(errors: list[float]) -> float:
    return float(np.std(errors, ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else float("nan")


def _checked(matrix: Any) -> FloatArray:
    M = np.asarray(matrix)
    check_real(M, "backtests")
    M = np.asarray(M, dtype=np.float64)
    if M.ndim != 2 or not M.size or np.isinf(M).any() or np.isnan(M).all():
        raise InvalidArgumentError(
            f"backtest needs a matrix whose values are known, and got an array of shape {M.shape}. NaN may stand for "
            "some values, not for all, and none may be infinite."
        )
    return M


def _check_words(words: Sequence[str], known: tuple[str, ...], name: str) -> None:
    for word in words:
        if word not in known:
            raise InvalidArgumentError(f"{name} has {word!r}, which is not one of {', '.join(known)}.")
