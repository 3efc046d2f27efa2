"""Few values: rows and columns as such, or as scattered values among the others, whichever says more.

As such they name a subspace. That is worth most where there is little noise, and little where there are few of them. A
model of all values as scattered ones makes nothing of whole rows, and is not hurt where they are few. Entries set aside
choose between the two answers and their mean; where there are none, the number of rows and columns does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._arrays import to_numpy
from ..._typing import IndexVector
from ...factorization import Fact, Factorization, FitReport
from ...observation import Entries, Observation
from ...observation.holdout import evidence_outside, split_entries
from .assemble import mean_of, with_lines
from .evidence import FEWEST, best_on
from .rank import RankChoice
from .report import fitted_again, judgements
from .start import Start
from .verdict import judged
from .way import Way

__all__ = [
    "Trial",
    "best_share",
    "blended",
    "blended_answer",
    "blended_facts",
    "judged_by",
    "set_aside",
    "share_of_few",
]

SPREAD = 0.25  # of the best share around a half, from matrix to matrix
SMALL = 0.2  # a share that is not worth a second fit
HALF, TENTH = 0.5, 0.1  # of the entries are set aside, at most and at least
LEAST, MOST = 20, 1500  # so many; with fewer nothing is chosen
FEW_LINES = 4  # rows, or columns, which say less as such than in a mean; a single one says nothing
TINY = np.finfo(float).tiny


class Trial(NamedTuple):
    """A mean of both readings that was made without some entries."""

    answer: Factorization
    way: Way  # by which it was made
    refine: bool  # likewise
    noise: float | None  # root mean square error, where something tells it


def set_aside(observation: Observation, rng: np.random.Generator) -> IndexVector:
    """Entries that choose: a tenth, more where that is few, and none where even half of them would say nothing."""
    share = min(max(TENTH, FEWEST / max(len(evidence_outside(observation)), 1)), HALF)
    aside = split_entries(observation, share, rng, at_most=MOST)[1]
    return aside if len(aside) >= LEAST else aside[:0]


def share_of_few(observation: Observation) -> float:
    """How much of the answer shall come from scattered values where nothing can choose: all, half or none of it."""
    fewest = min(observation.n_rows, observation.n_columns)
    return 1.0 if fewest <= 1 else HALF if fewest <= FEW_LINES else 0.0


def best_share(lines: Factorization, values: Factorization, entries: Entries, rank: int | None) -> float:
    """How much of the answer shall come from scattered values, by entries that had no part in either.

    It is the share that explains the entries best, shrunk towards a half: the fewer they are, and the less the two
    answers differ, the more. Where a mean is cut to a rank, it must be better than either of the two.
    """
    i, j, weights = entries.i, entries.j, entries.fit_weights
    first, second = (to_numpy(answer.entries(i, j)) for answer in (lines, values))
    error, step = to_numpy(entries.values) - first, second - first
    shrinkage = float(np.mean(weights * (error - step / 2) ** 2)) / SPREAD**2
    share = (np.sum(weights * error * step) + shrinkage / 2) / max(np.sum(weights * step**2) + shrinkage, TINY)
    share = float(np.clip(share, 0.0, 1.0))
    share = round(share) if min(share, 1 - share) < SMALL else share
    shares = [share] if rank is None else [share, 0.0, 1.0]
    return float(shares[best_on(entries, [blended(lines, values, x, rank) for x in shares])])


def blended(lines: Factorization, values: Factorization, share: float, rank: int | None) -> Factorization:
    """The answer of which a share comes from scattered values, of at most some rank."""
    if share in (0.0, 1.0):
        return values if share else lines
    answer = mean_of(lines, values, share=share)
    return answer if rank is None else answer.truncate(min(rank, answer.rank))


def blended_answer(
    lines: Factorization, values: Factorization, way: Way, sample: Observation, rank: int | None
) -> Factorization:
    """The same with rows and columns as they were read, if they say anything of the rest."""
    if way.bare:
        return blended(lines, values, way.share, rank)
    return with_lines(blended(lines, values, way.share, None), sample, rank)


def blended_facts(report: FitReport, rank: int, share: float) -> FitReport:
    """The facts of the fit that an answer is made from, and what else it is made from."""
    facts = (fact._replace(value=rank) if fact.name == "rank" else fact for fact in report.facts)
    how = "instead of rows and columns" if share == 1 else "in a mean with rows and columns as such"
    which = Fact("scattered_share", share, "all values as scattered ones", "of the answer", how)
    return FitReport((*(fact for fact in facts if not fact.is_judgement), which))


def judged_by(trial: Factorization, sample: Observation, aside: IndexVector) -> tuple[Fact, ...]:
    """What entries set aside say of an answer that was made without them."""
    use = np.setdiff1d(np.arange(sample.n_entries), aside)
    verdict = judged(trial, sample, Start(trial, RankChoice(trial.rank, "")), use, aside)
    return judgements(verdict) + ((fitted_again(sample.n_entries),) if len(aside) else ())
