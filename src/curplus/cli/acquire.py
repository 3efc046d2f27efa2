"""``curplus acquire``: read a matrix in rounds, where what was read decides what is read next."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from .. import acquisition, methods
from .._support.tables import write_frame
from ..acquisition import ENTRY_STRATEGIES, STRATEGIES
from ..acquisition.goals import MATRIX
from ..evaluation import Best, decide
from ..exceptions import CURPlusError, InvalidArgumentError
from ..factorization import Fact
from ..observation import Observation, SampleCounts
from ..sources import Source
from ..sources.content import ending_of
from . import show
from .given import Given, open_given
from .options import Aim, Json, MatrixFile, Prices, Rank, Reading, Sampling, name_opt, opt, out_option, verb
from .results import approximation_facts, end_facts
from .write import FRAMES, long_frame

__all__ = ["acquire"]


@dataclass(frozen=True)
class Choosing:
    """How it is chosen what to read, and until when."""

    strategy: str = name_opt(STRATEGIES, "How to choose rows and columns", "auto")
    entry_strategy: str = name_opt(ENTRY_STRATEGIES, "How to choose entries", "uniform")
    tol: float | None = opt("Read until the relative error is below this with 95% confidence.")


Out = Annotated[Path | None, out_option("what was read, for curplus.load (.npz) or as a long table", (".npz", *FRAMES))]


@verb
def acquire(
    file: MatrixFile,
    choosing: Choosing,
    aim: Aim,
    sampling: Sampling,
    prices: Prices,
    reading: Reading,
    rank: Rank = None,
    out: Out = None,
    json: Json = False,
) -> list[Fact]:
    """Choose what to read of a matrix by what was read before, and say how well it is known then."""
    tol, goal = choosing.tol, aim.as_goal()
    if prices != Prices() and sampling.budget is None and tol is None:
        raise InvalidArgumentError("prices were given, and no money. Give --budget, or --tol.")
    given = open_given(file, reading)
    how: dict[str, Any] = {"strategy": choosing.strategy, "entry_strategy": choosing.entry_strategy, "tol": tol}
    how |= {"costs": prices.as_costs(), "goal": goal, "width": aim.width}
    observation = _read(given, rank, sampling, how, out)
    with show.working("approximating"):
        approx = methods.approximate(observation, rank)
    shape, read, *others = approximation_facts(approx, observation, given.source)
    is_told = tol is not None or sampling.budget is not None or goal != MATRIX
    ended = Fact("reading_ended", observation.history[-1] if is_told else None, "reading ended")
    decided = decide(observation, goal).facts[1:] if isinstance(goal, Best) else ()
    facts = [shape, read, ended, *decided, *others]
    facts.append(Fact("history", list(observation.history) if json else None))
    if out is not None:
        _save(observation, out)
    return [*facts, *end_facts(out, "add --out seen.npz to keep what was read", f"curplus approximate {out}")]


def _read(given: Given, rank: int | None, sampling: Sampling, how: dict[str, Any], out: Path | None) -> Observation:
    """Read in rounds; what was read before a failure is saved."""
    source = given.matrix()
    try:
        if not hasattr(source, "limit"):
            return _acquired(source, rank, sampling, how | {"progress": show.on_terminal()})
        with show.working(f"reading {given.name}") as progress:
            source.limit(progress=progress)
            return _acquired(source, rank, sampling, how)
    except CURPlusError as error:
        if out is not None and error.observation is not None and any(error.observation.counts):
            _save(error.observation, out)
            show.note(f"what was read before the failure is saved to {out}")
        raise


def _acquired(source: Source, rank: int | None, sampling: Sampling, how: dict[str, Any]) -> Observation:
    """Read in rounds: to a budget or a tolerance, or until there is as much of each as is said."""
    goal = sampling.counts(source.shape, rank)
    if sampling.budget is None and how["tol"] is None and how["goal"] == MATRIX:
        return _to_counts(source, goal, sampling, how)
    return acquisition.acquire(source, **sampling.said, budget=sampling.budget, **how, rng=sampling.seed)


def _to_counts(source: Source, goal: SampleCounts, sampling: Sampling, how: dict[str, Any]) -> Observation:
    """Read in rounds; of a small matrix with gaps, as many entries by default as there are places left."""
    size, start = math.prod(source.shape), None
    if sampling.entries is None and 4 * goal.n_entries > size:
        lines = goal._replace(n_entries=0)
        start = acquisition.acquire(source, **lines._asdict(), **how, rng=sampling.seed)
        goal = goal._replace(n_entries=min(goal.n_entries, size - start.n_gaps))
    return acquisition.acquire(source, **goal._asdict(), **how, start=start, rng=sampling.seed)


def _save(observation: Observation, out: Path) -> None:
    if out.suffix.lower() == ".npz":
        observation.save(out)
    else:
        write_frame(long_frame(observation), out, ending_of(out))
