"""What to read next, given what is known: a pure function, which reads nothing and remembers nothing.

A few columns and rows are drawn uniformly, as pilots. From then on every column is known in the rows read so far, and
every row in the columns read so far, so that both can be judged before the next few of them are read; entries come
last. Every choice follows from the seed and from what has been read, so that an acquisition that was interrupted can go
on where it stopped.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .._sets import NO_INDEX, is_in
from .._spelling import counted
from .._typing import IndexVector, RandomState, Shape
from .._validation import check_count, check_index, check_real, random_generator
from ..evaluation import Best
from ..exceptions import InvalidArgumentError
from ..observation import Observation, SampleCounts, SamplePlan, SamplingDesign, uniform_plan
from ..observation.observation import check_observation
from ..observation.plan import distinct_others
from ..observation.symmetry import PSD, SYMMETRIC
from .aims import MATRIX, check_alone, check_goal, round_for
from .budget import check_budget
from .candidates import Candidates, candidate_columns, candidate_rows
from .choice import ENTRY_STRATEGIES, STRATEGIES
from .cholesky import propose_psd, psd_totals
from .costs import Costs
from .entry_strategies import EntryDraws, EntryStrategy
from .goal import Goal, Lines
from .limits import limits_for
from .mean_widths import NarrowMeans
from .purse import goal_for
from .select_columns import select_columns
from .steps import Step, next_step
from .strategies import Strategy

__all__ = ["propose", "seed_of"]

PSD_OVERHEAD = 0.1  # entries where proposed columns intersect, as a share of the columns
PILOTS, PILOTS_OF_PRIOR = 0.2, 0.5  # shares of the rows and columns that are read first


def propose(
    observation: Observation,
    *,
    n_columns: int | None = None,
    n_rows: int | None = None,
    n_entries: int | None = None,
    budget: float | None = None,
    costs: Costs | None = None,
    required: Any = None,
    forbidden: Any = None,
    prior: Any = None,
    strategy: str | Strategy = "auto",
    entry_strategy: str | EntryStrategy = "uniform",
    symmetric: bool = False,
    horizon: float | None = None,
    few_rounds: bool = False,
    goal: str | Best | NarrowMeans = MATRIX,
    width: float | None = None,
    rng: RandomState = None,
) -> SamplePlan | None:
    """What to read next, so that in the end so many columns, rows and entries are known, or a budget is spent.

    Parameters
    ----------
    observation : Observation
        What is known; ``Observation(shape=(n, m))`` is nothing.
    n_columns, n_rows, n_entries : int, optional
        How many there should be in the end, those that are known included, and entries that could not be measured. All
        of them, or those that a ``budget`` should not decide. Of a symmetric matrix ``n_rows`` may be left out, and of
        a PSD one ``n_entries`` as well.
    budget, costs, required, forbidden, prior : optional
        See :func:`curplus.acquire`. The budget is that of the end too, what is known included.
    strategy : str or Strategy, default "auto"
        How to choose rows and columns: see :func:`curplus.acquire`.
    entry_strategy : str or EntryStrategy, default "uniform"
        How to choose entries.
    symmetric : bool, default False
        Whether rows and columns are the same set: only columns are then proposed. An observation that has a
        ``symmetry`` needs no such word.
    horizon : float, optional
        The budget that will have been spent one day, where ``budget`` is only the next part of it: the share for rows
        and columns is that of the horizon.
    few_rounds : bool, default False
        Whether a round costs so much that there should be few: pilots and the entries that help to choose are proposed
        together, then all rows or columns of one kind, and those of the other with the last entries.
    goal, width : optional
        What it is for: see :func:`curplus.acquire`. With another goal than the matrix, only ``budget``, ``costs`` and
        ``forbidden`` rows and columns can be given besides.
    rng : None, int or numpy.random.Generator
        With an int, the plan depends on it and on what is known alone. A generator is asked for such a number.

    Returns
    -------
    SamplePlan or None
        None once the totals or the goal are reached, or once nothing but rounding is left of the diagonal of a PSD
        matrix.

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
    counts = {"n_columns": n_columns, "n_rows": n_rows, "n_entries": n_entries}
    if (aim := check_goal(goal, width)) is not None:
        check_real(observation.values, "goals")
        check_alone(symmetric or observation.symmetry, **counts, required=required, prior=prior)
        return round_for(observation, aim, budget, costs, forbidden, seed_of(rng))
    if observation.symmetry == PSD:
        n_columns = _psd_columns(observation.shape, n_columns, budget, costs, required, forbidden, prior)
        total = psd_totals(observation.shape, n_columns, n_rows, n_entries, strategy)
        return propose_psd(observation, total, strategy=str(strategy), seed=seed_of(rng))
    symmetric = symmetric or observation.symmetry == SYMMETRIC
    if symmetric and n_rows is None:
        n_rows = n_columns
    counts["n_rows"] = n_rows
    limits = limits_for(observation, required, forbidden)
    totals = goal_for(observation, counts, budget, costs, limits, symmetric=symmetric, horizon=horizon)
    _check_totals(observation, totals.counts, symmetric)
    chooser, drawer = _resolved(strategy, entry_strategy)
    seed = seed_of(rng)
    state = np.random.default_rng([seed, *observation.counts] if any(observation.counts) else seed)
    if (first := limits.plan_for_required(observation)) is not None:
        return first
    simple = not chooser.rounds and entry_strategy == "uniform" and not symmetric and not limits.any
    if simple and not any(observation.counts):
        at_once = totals.counts._replace(n_entries=totals.n_entries_first)
        return uniform_plan(observation.shape, **at_once._asdict(), rng=state) if any(at_once) else None
    _check_prior(prior, observation.shape)
    share = PILOTS if prior is None else PILOTS_OF_PRIOR
    rounds = min(chooser.rounds, 1) if few_rounds else chooser.rounds
    n_pilots = int(share * totals.n_of_a_kind + 1e-9)
    step = next_step(observation.counts, totals.counts, rounds, symmetric, n_pilots=n_pilots)
    missing = totals.counts.n_entries - observation.n_entries - len(observation.unmeasured_i)
    drawn = partial(_entries, limits.hidden_from(observation), drawer, state, totals)
    if step is None:
        return drawn(missing)
    can_steer = entry_strategy == "uniform" and not (symmetric and observation.noise is not None)
    steering = _n_steering(chooser, totals.n_entries_first) - int(np.count_nonzero(observation.steering))
    steering = min(missing, steering) if can_steer else 0
    if steering > 0 and not step.uniform:
        return drawn(steering, evidence=False)
    lines = _rows_or_columns(observation, step, chooser, state, totals, prior=prior, symmetric=symmetric)
    if not few_rounds:
        return lines
    if step.uniform:
        return _together(lines, drawn(steering, evidence=False))
    return _together(lines, drawn(missing)) if _is_last(lines, observation, totals) else lines


def _is_last(lines: SamplePlan, observation: Observation, goal: Goal) -> bool:
    """Whether no rows and columns are wanted after these; of a budget, what is left is known when they are read."""
    have = (observation.n_columns + len(lines.column_index), observation.n_rows + len(lines.row_index))
    return goal.prices is None and have == goal.counts[:2]


def _together(lines: SamplePlan, entries: SamplePlan | None) -> SamplePlan:
    """One plan for rows, columns and entries."""
    if entries is None:
        return lines
    return entries._replace(
        column_index=lines.column_index,
        row_index=lines.row_index,
        design=SamplingDesign(lines.design.columns, lines.design.rows, entries.design.entries),
        reasons=(*(lines.reasons or ()), *(entries.reasons or ())),
    )


def _psd_columns(shape: Shape, n_columns: int | None, budget: Any, costs: Any, *places: Any) -> int | None:
    """How many columns of a PSD matrix a budget buys, after its diagonal."""
    if any(place is not None for place in places):
        raise InvalidArgumentError(
            "columns of a PSD matrix are chosen by what is left of its diagonal. Leave out required, forbidden and "
            "prior, or use symmetric=True instead of psd=True."
        )
    if budget is None:
        return n_columns
    if costs is not None:
        raise InvalidArgumentError("a PSD matrix is bought by columns, all at the same price. Leave out costs.")
    money, _ = check_budget(budget, None, shape)
    bought = int((money / shape[0] - 1) / (1 + PSD_OVERHEAD))
    if bought < 1:
        raise InvalidArgumentError(
            f"budget={budget!r} is {money:.0f} values, and the diagonal and one column are {2 * shape[0]}. Give more."
        )
    return min(bought if n_columns is None else min(bought, n_columns), shape[1])


def seed_of(rng: RandomState) -> int:
    """A seed: the number itself, or one that a generator draws."""
    if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool):
        random_generator(rng)  # refuses what cannot be a seed
        return int(rng)
    return int(random_generator(rng).integers(2**63))


def _rows_or_columns(
    observation: Observation,
    step: Step,
    strategy: Strategy,
    rng: np.random.Generator,
    goal: Goal,
    *,
    prior: Any,
    symmetric: bool,
) -> SamplePlan:
    """The next rows, or columns, or pilots of both."""
    design = SamplingDesign("adaptive", "adaptive", "uniform")
    words = ["given" if len(lines.forbidden) else "uniform" for lines in (goal.columns, goal.rows)]
    drawn = SamplingDesign(words[0], words[1], "uniform")
    why = f"chosen by {strategy!r} from what was read"
    columns = rows = NO_INDEX
    if step.uniform:
        columns = _pilots(goal.columns, observation.shape[1], step.n_columns, prior, rng)
        rows = _pilots(goal.rows, observation.shape[0], step.n_rows, None if prior is None else prior.T, rng)
        why = "drawn uniformly, as pilots" if prior is None else "chosen from the prior matrix"
        if prior is None and not symmetric:  # rows chosen together with the columns are no independent sample
            design = drawn
    else:
        transposed = not step.n_columns
        candidates = (candidate_rows if transposed else candidate_columns)(observation, step.wanted_more)
        lines, count = (goal.rows, step.n_rows) if transposed else (goal.columns, step.n_columns)
        if candidates.sample.shape[0]:
            chosen = _check_choice(strategy, _priced(candidates, lines), count, rng)
        else:
            chosen = _pilots(lines, candidates.sample.shape[1], count, None, rng)
            design, why = drawn, "drawn uniformly: nothing is known of them yet"
        columns, rows = (NO_INDEX, chosen) if transposed else (chosen, NO_INDEX)
    columns, rows = goal.columns.within_money(columns), goal.rows.within_money(rows)
    parts = [counted(len(x), what) for x, what in ((columns, "column"), (rows, "row")) if len(x)]
    reason = f"{' and '.join(parts)}, {why}" + (f"; {goal.because}" if goal.because and not step.uniform else "")
    return SamplePlan(observation.shape, columns, rows, NO_INDEX, NO_INDEX, design=design, reasons=(reason,))


def _pilots(lines: Lines, size: int, count: int, prior: Any, rng: np.random.Generator) -> IndexVector:
    """The first rows, or columns: drawn uniformly, or those that represent the prior matrix."""
    excluded = np.union1d(lines.taken, lines.excluded)
    if prior is None or not count:
        return distinct_others(rng, size, min(count, size - len(excluded)), excluded)
    order = select_columns(prior, size, method="qdeim", rank=min(count, *np.shape(prior)), rng=rng)
    return order[~np.isin(order, excluded)][:count]


def _check_prior(prior: Any, shape: Shape) -> None:
    if prior is not None and tuple(np.shape(prior)) != tuple(shape):
        raise InvalidArgumentError(
            f"prior has shape {np.shape(prior)} and the matrix {tuple(shape)}. Give an older or simulated matrix with "
            "the same rows and columns."
        )


def _priced(candidates: Candidates, lines: Lines) -> Candidates:
    return candidates._replace(excluded=lines.excluded, prices=lines.prices)


def _n_steering(strategy: Strategy, n_entries: int) -> int:
    """How many entries a strategy wants before it chooses."""
    return int(getattr(strategy, "steering", 0.0) * n_entries)


def _entries(
    observation: Observation,
    strategy: EntryStrategy,
    rng: np.random.Generator,
    goal: Goal,
    count: int,
    *,
    evidence: bool = True,
) -> SamplePlan | None:
    """So many more entries; None where none are wanted, or can be paid for."""
    if count <= 0:
        return None
    draws: Any = strategy.draw(observation, count, rng)
    if not isinstance(draws, EntryDraws) or not len(draws.i) == len(draws.j) == count:
        raise InvalidArgumentError(f"{strategy!r} was asked for EntryDraws of {count} positions, and drew {draws!r}.")
    n, m = observation.shape
    i, j = check_index(draws.i, n, name="i"), check_index(draws.j, m, name="j")
    in_vain = is_in(i * m + j, observation.gap_index())
    if in_vain.any():
        t = int(np.argmax(in_vain))
        raise InvalidArgumentError(
            f"{strategy!r} drew row {i[t]}, column {j[t]}, which is known to be a gap. Leave out the positions in "
            "observation.gap_index()."
        )
    word = "uniform" if draws.uniform else "adaptive"
    kept = goal.within_money(observation, i, j, rng, evidence=evidence)
    if not len(kept):
        return None
    return SamplePlan(
        observation.shape,
        NO_INDEX,
        NO_INDEX,
        i[kept],
        j[kept],
        None if draws.probabilities is None else draws.probabilities[kept],
        SamplingDesign("uniform", "uniform", word),
        (f"{counted(len(kept), 'entry')} drawn by {strategy!r}" + ("" if evidence else ", to help to choose"),),
        evidence,
        observation.forbidden,
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
