"""What to read next, given what is known: a pure function, which reads nothing and remembers nothing.

A few columns and rows are drawn uniformly, as pilots. From then on every column is known in the rows read so far, and
every row in the columns read so far, so that both can be judged before the next few of them are read; entries come
last. Every choice follows from the seed and from what has been read, so that an acquisition that was interrupted can go
on where it stopped.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._typing import IndexVector, RandomState
from .._validation import check_count, check_index, random_generator
from ..exceptions import InvalidArgumentError
from ..observation import Observation, SampleCounts, SamplePlan, SamplingDesign, uniform_plan
from ..observation.checks import check_observation
from ..observation.plan import UNIFORM, check_counts, distinct_others
from ..observation.symmetry import PSD, SYMMETRIC
from .choice import ENTRY_STRATEGIES, STRATEGIES
from .cholesky import propose_psd, psd_totals
from .entry_strategies import EntryDraws, EntryStrategy
from .gaps import without_gaps
from .strategies import Candidates, Strategy, scaled

__all__ = ["propose", "seed_of"]

NO_INDEX: IndexVector = np.empty(0, dtype=np.int64)


def propose(
    observation: Observation,
    *,
    n_columns: int,
    n_rows: int | None = None,
    n_entries: int | None = None,
    strategy: str | Strategy = "auto",
    entry_strategy: str | EntryStrategy = "uniform",
    symmetric: bool = False,
    rng: RandomState = None,
) -> SamplePlan | None:
    """What to read next, so that in the end so many columns, rows and entries are known.

    Parameters
    ----------
    observation : Observation
        What is known; ``Observation(shape=(n, m))`` is nothing.
    n_columns, n_rows, n_entries : int
        How many there shall be in the end, those that are known included, and entries that could not be measured. Of
        a symmetric matrix ``n_rows`` may be left out, and of a PSD one ``n_entries`` as well.
    strategy : str or Strategy, default "auto"
        How to choose rows and columns: see :func:`curplus.acquire`.
    entry_strategy : str or EntryStrategy, default "uniform"
        How to choose entries.
    symmetric : bool, default False
        Whether rows and columns are the same set: only columns are then proposed. An observation that has a
        ``symmetry`` needs no such word.
    rng : None, int or numpy.random.Generator
        With an int, the plan depends on it and on what is known alone. A generator is asked for such a number.

    Returns
    -------
    SamplePlan or None
        None once the totals are reached, or once nothing but rounding is left of the diagonal of a PSD matrix.

    Examples
    --------
    The loop that :func:`curplus.acquire` is, step by step:

    >>> import numpy as np, curplus
    >>> M = np.random.default_rng(0).standard_normal((60, 40))
    >>> seen, totals = curplus.Observation(shape=M.shape), {"n_columns": 6, "n_rows": 8, "n_entries": 50}
    >>> while (plan := curplus.propose(seen, **totals, rng=0)) is not None:
    ...     seen = seen.extend(curplus.read(M, plan, known=seen))
    >>> seen
    <Observation of a 60 x 40 matrix: 6 columns, 8 rows, 50 entries, float64>
    """
    check_observation(observation)
    if observation.symmetry == PSD:
        total = psd_totals(observation.shape, n_columns, n_rows, n_entries, strategy)
        return propose_psd(observation, total, strategy=str(strategy), seed=seed_of(rng))
    symmetric = symmetric or observation.symmetry == SYMMETRIC
    counts = check_counts(observation.shape, n_columns, *_given(n_rows, n_entries, n_columns if symmetric else None))
    goal = _check_totals(observation, counts, symmetric)
    chooser, drawer = _resolved(strategy, entry_strategy)
    seed = seed_of(rng)
    state = np.random.default_rng([seed, *observation.counts] if any(observation.counts) else seed)
    if not chooser.rounds and not any(observation.counts) and not symmetric and entry_strategy == "uniform":
        return uniform_plan(observation.shape, **goal._asdict(), rng=state) if any(goal) else None
    step = _next_step(observation.counts, goal, chooser.rounds, symmetric)
    if step is not None:
        return _rows_or_columns(observation, step, chooser, symmetric, state)
    missing = goal.n_entries - observation.n_entries - len(observation.unmeasured_i)
    return _entries(observation, missing, drawer, state) if missing > 0 else None


def _given(n_rows: int | None, n_entries: int | None, n_same: int | None) -> tuple[int, int]:
    """Numbers of rows and entries; of a symmetric matrix there are as many rows as columns."""
    n_rows = n_same if n_rows is None else n_rows
    if n_rows is None or n_entries is None:
        name = "n_rows" if n_rows is None else "n_entries"
        raise InvalidArgumentError(f"{name} is missing. Say how many there shall be in the end: {name}=0 for none.")
    return n_rows, n_entries


def seed_of(rng: RandomState) -> int:
    """A seed: the number itself, or one that a generator draws."""
    if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool):
        random_generator(rng)  # refuses what cannot be a seed
        return int(rng)
    return int(random_generator(rng).integers(2**63))


class Step(NamedTuple):
    """How many columns and rows come next."""

    n_columns: int
    n_rows: int
    uniform: bool  # drawn uniformly, as pilots
    wanted_more: bool = False  # of the kind of which more are wanted in the end


def _next_step(have: SampleCounts, goal: SampleCounts, rounds: int, symmetric: bool) -> Step | None:
    """Pilots of both kinds, then rounds in which the fewer go first. Nothing can be judged without the other kind."""
    known, wanted = (have.n_columns, have.n_rows), (goal.n_columns, goal.n_rows)
    kinds = (0,) if symmetric else (0, 1)
    pilots = wanted if rounds == 0 or min(wanted) == 0 else (max(1, min(wanted) // 5),) * 2
    first = [max(pilots[k] - known[k], 0) if k in kinds else 0 for k in (0, 1)]
    if any(first):
        return Step(first[0], first[1], uniform=True)
    fewer_first = sorted(kinds, key=lambda k: wanted[k])
    for t in range(rounds):
        for k in fewer_first:
            total = pilots[k] + (wanted[k] - pilots[k]) * (t + 1) // rounds
            if known[k] < total:
                more = total - known[k]
                wanted_more = k == fewer_first[-1] and not symmetric
                return Step(0 if k else more, more if k else 0, uniform=False, wanted_more=wanted_more)
    return None


def _rows_or_columns(
    observation: Observation, step: Step, strategy: Strategy, symmetric: bool, rng: np.random.Generator
) -> SamplePlan:
    n, m = observation.shape
    if step.uniform:
        columns = distinct_others(rng, m, step.n_columns, observation.column_index)
        rows = distinct_others(rng, n, step.n_rows, observation.row_index)
        design, why = UNIFORM, "drawn uniformly, as pilots"
    else:
        columns = rows = NO_INDEX
        if step.n_columns:
            sample = without_gaps(observation.rows, observation.known_rows)
            candidates = Candidates(scaled(sample), observation.column_index, step.wanted_more)
            columns = _check_choice(strategy, candidates, step.n_columns, rng)
        else:
            sample = without_gaps(observation.columns, observation.known_columns).T
            candidates = Candidates(scaled(sample), observation.row_index, step.wanted_more)
            rows = _check_choice(strategy, candidates, step.n_rows, rng)
        design, why = SamplingDesign("adaptive", "adaptive", "uniform"), f"chosen by {strategy!r} from what was read"
    if symmetric:  # rows chosen together with the columns are no independent sample
        design = SamplingDesign("adaptive", "adaptive", "uniform")
    parts = [f"{len(x)} {what}" for x, what in ((columns, "columns"), (rows, "rows")) if len(x)]
    reason = f"{' and '.join(parts)}, {why}"
    return SamplePlan(observation.shape, columns, rows, NO_INDEX, NO_INDEX, design=design, reasons=(reason,))


def _entries(observation: Observation, count: int, strategy: EntryStrategy, rng: np.random.Generator) -> SamplePlan:
    draws: Any = strategy.draw(observation, count, rng)
    if not isinstance(draws, EntryDraws) or not len(draws.i) == len(draws.j) == count:
        raise InvalidArgumentError(f"{strategy!r} was asked for EntryDraws of {count} positions, and drew {draws!r}.")
    n, m = observation.shape
    i, j = check_index(draws.i, n, name="i"), check_index(draws.j, m, name="j")
    in_vain = np.isin(i * m + j, observation.gap_index())
    if in_vain.any():
        t = int(np.argmax(in_vain))
        raise InvalidArgumentError(
            f"{strategy!r} drew row {i[t]}, column {j[t]}, which is known to be a gap. Leave out the positions in "
            "observation.gap_index()."
        )
    word = "uniform" if draws.uniform else "adaptive"
    return SamplePlan(
        observation.shape,
        NO_INDEX,
        NO_INDEX,
        i,
        j,
        draws.probabilities,
        SamplingDesign("uniform", "uniform", word),
        (f"{count} entries drawn by {strategy!r}",),
    )


def _resolved(strategy: Any, entry_strategy: Any) -> tuple[Strategy, EntryStrategy]:
    if isinstance(strategy, str) and strategy not in STRATEGIES and strategy in ENTRY_STRATEGIES:
        raise InvalidArgumentError(
            f"strategy={strategy!r} is a strategy for entries. Use entry_strategy={strategy!r}, with strategy for rows "
            "and columns."
        )
    chooser = STRATEGIES.resolve(strategy)
    check_count(getattr(chooser, "rounds", None), name="rounds")
    return chooser, ENTRY_STRATEGIES.resolve(entry_strategy)


def _check_totals(observation: Observation, goal: SampleCounts, symmetric: bool) -> SampleCounts:
    n, m = observation.shape
    for name, total in goal._asdict().items():
        have = getattr(observation, name)
        if have > total:
            raise InvalidArgumentError(
                f"start has {have} {name.removeprefix('n_')} but {name}={total} is the total, start included. "
                f"Use {name}={have} or more."
            )
    if not symmetric:
        return goal
    if n != m:
        raise InvalidArgumentError(f"symmetric=True but the matrix is {n} x {m}, not square. Use symmetric=False.")
    if goal.n_columns != goal.n_rows:
        raise InvalidArgumentError(
            f"n_columns={goal.n_columns} and n_rows={goal.n_rows}, but with symmetric=True rows and columns are the "
            f"same set. Use n_rows={goal.n_columns} with n_columns={goal.n_columns}."
        )
    if set(observation.row_index.tolist()) != set(observation.column_index.tolist()):
        raise InvalidArgumentError(
            "symmetric=True needs the same rows and columns, and those of start differ. Use symmetric=False, "
            "or give the rows of start as columns too."
        )
    return goal


def _check_choice(strategy: Strategy, candidates: Candidates, count: int, rng: np.random.Generator) -> IndexVector:
    """What a strategy chooses; one that breaks its contract must not break the totals."""
    index = strategy.choose(candidates, count, rng)
    chosen = np.asarray(index, dtype=np.int64)
    fits = chosen.shape == (count,) and np.all((chosen >= 0) & (chosen < candidates.sample.shape[1]))
    if not fits or len(np.unique(chosen)) < count or np.isin(chosen, candidates.taken).any():
        raise InvalidArgumentError(
            f"{strategy!r} was asked for {count} distinct candidates that are not taken, and chose {index!r}."
        )
    return chosen
