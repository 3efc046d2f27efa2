"""What to read next, given what is known: a pure function, which reads nothing and remembers nothing.

A few columns and rows are drawn uniformly, as pilots. From then on every column is known in the rows read so far, and
every row in the columns read so far, so that both can be judged before the next few of them are read; entries come
last. Every choice follows from the seed and from what has been read, so that an acquisition that was interrupted can go
on where it stopped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._support.sets import NO_INDEX, is_in
from .._support.spelling import counted
from .._typing import IndexVector, RandomState
from .._validation import check_count, check_index, check_real, random_generator
from ..evaluation import Best
from ..exceptions import InvalidArgumentError
from ..observation import Observation, SampleCounts, SamplePlan, SamplingDesign, uniform_plan
from ..observation.observation import check_observation
from ..observation.plan import ALL_UNIFORM, CHOSEN_ROWS_AND_COLUMNS, distinct_others
from ..observation.symmetry import PSD, SYMMETRIC
from .budget import Budget, Side, Wanted
from .candidates import candidate_columns, candidate_rows
from .choice import ENTRY_STRATEGIES, STRATEGIES
from .constraints import Constraints
from .entry_strategies import EntryDraws, EntryStrategy
from .goals import MATRIX, Proposer, check_alone, check_goal, how_it_ended, round_for
from .mean_widths import NarrowMeans
from .prices import Costs, spent
from .psd import propose_psd, psd_totals
from .strategies import Strategy

__all__ = ["Purchase", "propose", "proposer", "seed_of"]

PILOTS = 0.2  # share of the rows and columns that is read first
CLEARLY_MORE = 1.5  # times the other kind


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
    strategy: str | Strategy = "auto",
    entry_strategy: str | EntryStrategy = "uniform",
    symmetric: bool = False,
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
    budget, costs, required, forbidden : optional
        See :func:`curplus.acquire`. The budget is that of the end too, what is known included.
    strategy : str or Strategy, default "auto"
        How to choose rows and columns: see :func:`curplus.acquire`.
    entry_strategy : str or EntryStrategy, default "uniform"
        How to choose entries.
    symmetric : bool, default False
        Whether rows and columns are the same set: only columns are then proposed. An observation that has a
        ``symmetry`` needs no such word.
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
    how = {"budget": budget, "costs": costs, "required": required, "forbidden": forbidden}
    how |= {"strategy": strategy, "entry_strategy": entry_strategy, "symmetric": symmetric}
    return proposer(observation, check_goal(goal, width), counts, seed_of(rng), **how).next_plan(observation)


def proposer(
    observation: Observation,
    goal: Best | NarrowMeans | None,
    counts: dict[str, Any],
    seed: int,
    *,
    symmetric: bool = False,
    **how: Any,
) -> Proposer:
    """The rule by which a matrix is read of which something is known already."""
    budget, costs, forbidden = how["budget"], how["costs"], how["forbidden"]
    if goal is not None:
        check_real(observation.values, "goals")
        check_alone(symmetric or observation.symmetry, **counts, required=how["required"])
        next_plan = partial(round_for, goal=goal, budget=budget, costs=costs, forbidden=forbidden, seed=seed)
        return Proposer(next_plan, ended=partial(how_it_ended, goal=goal, budget=budget))
    if observation.symmetry == PSD:
        strategy = how["strategy"]
        total = psd_totals(observation.shape, counts, budget, (costs, how["required"], forbidden), strategy)
        return Proposer(partial(propose_psd, n_columns=total, strategy=strategy, seed=seed))
    purchase = Purchase.of(observation, counts, symmetric=symmetric, **how)
    next_plan = partial(purchase.next_plan, seed=seed)
    return Proposer(next_plan) if budget is None else Proposer(next_plan, purchase.begins, purchase.ended)


def seed_of(rng: RandomState) -> int:
    """A seed: the number itself, or one that a generator draws."""
    if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool):
        random_generator(rng)  # refuses what cannot be a seed
        return int(rng)
    return int(random_generator(rng).integers(2**63))


@dataclass(frozen=True)
class Purchase:
    """What to buy of a matrix that is to be approximated: how much in the end, under which constraints, chosen how."""

    budget: Budget
    constraints: Constraints
    chooser: Strategy
    drawer: EntryStrategy
    few_rounds: bool = False  # whether each is a pass through a file: what can be read together is

    @classmethod
    def of(
        cls,
        observation: Observation,
        counts: dict[str, Any],
        *,
        budget: Any = None,
        costs: Any = None,
        required: Any = None,
        forbidden: Any = None,
        strategy: Any = "auto",
        entry_strategy: Any = "uniform",
        symmetric: bool = False,
        horizon: Any = None,
        few_rounds: bool = False,
    ) -> Purchase:
        """As :func:`curplus.acquire` takes it; the ``horizon`` is the budget of the end, if this is a part of it."""
        symmetric = symmetric or observation.symmetry == SYMMETRIC
        if symmetric and counts["n_rows"] is None:
            counts = counts | {"n_rows": counts["n_columns"]}
        constraints = Constraints.of(observation, required, forbidden)
        what = Budget.of(observation.shape, counts, budget, costs, symmetric=symmetric, horizon=horizon)
        chooser, drawer = _resolved(strategy, entry_strategy)
        return cls(what, constraints, chooser, drawer, few_rounds)

    def next_plan(self, observation: Observation, seed: int) -> SamplePlan | None:
        """What is required, pilots, entries that help to choose, rows and columns in rounds, and the other entries."""
        wanted = self.budget.wanted(observation, self.constraints)
        _check_totals(observation, wanted, self.budget)
        rng = np.random.default_rng([seed, *observation.counts] if any(observation.counts) else seed)
        if (first := self.constraints.plan_for_required(observation)) is not None:
            self.budget.check_affordable(first, wanted.money)
            return first
        if not self.chooser.rounds and self._is_plain and not any(observation.counts):
            at_once = wanted.counts._replace(n_entries=wanted.n_entries_first)
            return uniform_plan(observation.shape, **at_once._asdict(), rng=rng) if any(at_once) else None
        coming = self._next_round(observation.counts, wanted)
        missing = wanted.counts.n_entries - observation.n_entries - len(observation.unmeasured_i)
        if coming is None:
            return self._entries(observation, wanted, missing, rng)
        steering = min(missing, self._n_steering(observation, wanted))
        if steering > 0 and not coming.uniform:
            return self._entries(observation, wanted, steering, rng, evidence=False)
        plan = self._rows_or_columns(observation, wanted, coming, rng)
        if not self.few_rounds:
            return plan
        if coming.uniform:
            return _together(plan, self._entries(observation, wanted, steering, rng, evidence=False))
        have = (observation.n_columns + len(plan.column_index), observation.n_rows + len(plan.row_index))
        if math.isinf(wanted.money) and have == wanted.counts[:2]:  # what is left of a budget is known afterwards
            return _together(plan, self._entries(observation, wanted, missing, rng))
        return plan

    def begins(self, observation: Observation) -> str:
        """How a budget is split before anything is seen, in words."""
        return f"a budget of {self.budget.amount:g}: {self.budget.wanted(observation, self.constraints).reason}"

    def ended(self, observation: Observation) -> str:
        """How a budget was spent, in words."""
        paid = spent(observation, self.budget.prices, symmetric=self.budget.symmetric)
        parts = [f"{part / (paid.total or 1.0):.0%} on {kind}" for kind, part in paid._asdict().items()]
        return f"spent {paid.total:.10g}: {', '.join(parts)}"

    @property
    def _is_plain(self) -> bool:
        """Whether all can be drawn as by :func:`curplus.observe`."""
        uniform = self.drawer == ENTRY_STRATEGIES["uniform"]
        return uniform and not self.budget.symmetric and not self.constraints.any

    def _next_round(self, have: SampleCounts, wanted: Wanted) -> _Round | None:
        """Pilots of both kinds, then rounds in which the fewer go first. Nothing can be judged without the other."""
        known, totals, symmetric = have[:2], wanted.counts[:2], self.budget.symmetric
        rounds = min(self.chooser.rounds, 1) if self.few_rounds else self.chooser.rounds
        kinds = (0,) if symmetric else (0, 1)
        n_pilots = max(1, int(PILOTS * wanted.n_of_a_kind + 1e-9))
        pilots = totals if rounds == 0 or min(totals) == 0 else (n_pilots, n_pilots)
        first = [max(pilots[k] - known[k], 0) if k in kinds else 0 for k in (0, 1)]
        if any(first):
            return _Round(first[0], first[1], uniform=True)
        for t in range(rounds):
            for k in sorted(kinds, key=lambda k: totals[k]):
                more = pilots[k] + (totals[k] - pilots[k]) * (t + 1) // rounds - known[k]
                if more > 0:
                    wanted_more = not symmetric and totals[k] >= CLEARLY_MORE * totals[1 - k]
                    return _Round(0 if k else more, more if k else 0, uniform=False, wanted_more=wanted_more)
        return None

    def _n_steering(self, observation: Observation, wanted: Wanted) -> int:
        """How many more entries should help to choose."""
        can_steer = self.drawer == ENTRY_STRATEGIES["uniform"]
        if not can_steer or (self.budget.symmetric and observation.noise is not None):
            return 0
        share = getattr(self.chooser, "steering", 0.0)
        return int(share * wanted.n_entries_first) - int(np.count_nonzero(observation.steering))

    def _rows_or_columns(
        self, observation: Observation, wanted: Wanted, coming: _Round, rng: np.random.Generator
    ) -> SamplePlan:
        """The next rows, or columns, or pilots of both."""
        design, why = CHOSEN_ROWS_AND_COLUMNS, "drawn uniformly, as pilots"
        words = ["given" if len(side.forbidden) else "uniform" for side in (wanted.columns, wanted.rows)]
        drawn = SamplingDesign(words[0], words[1], "uniform")
        columns = rows = NO_INDEX
        if coming.uniform:
            columns, rows = _pilots(wanted.columns, coming.n_columns, rng), _pilots(wanted.rows, coming.n_rows, rng)
            if not self.budget.symmetric:  # rows chosen together with the columns are no independent sample
                design = drawn
        else:
            transposed, why = not coming.n_columns, f"chosen by {self.chooser!r} from what was read"
            candidates = (candidate_rows if transposed else candidate_columns)(observation, coming.wanted_more)
            side, count = (wanted.rows, coming.n_rows) if transposed else (wanted.columns, coming.n_columns)
            if candidates.sample.shape[0]:
                candidates = candidates._replace(excluded=side.excluded, prices=side.prices)
                chosen = _check_choice(self.chooser, self.chooser.choose(candidates, count, rng), candidates, count)
            else:
                chosen = _pilots(side, count, rng)
                design, why = drawn, "drawn uniformly: nothing is known of them yet"
            columns, rows = (NO_INDEX, chosen) if transposed else (chosen, NO_INDEX)
        columns, rows = wanted.columns.within_money(columns), wanted.rows.within_money(rows)
        parts = [counted(len(x), what) for x, what in ((columns, "column"), (rows, "row")) if len(x)]
        because = f"; {wanted.because}" if wanted.because and not coming.uniform else ""
        reason = f"{' and '.join(parts)}, {why}{because}"
        return SamplePlan(observation.shape, columns, rows, NO_INDEX, NO_INDEX, design=design, reasons=(reason,))

    def _entries(
        self,
        observation: Observation,
        wanted: Wanted,
        count: int,
        rng: np.random.Generator,
        *,
        evidence: bool = True,
    ) -> SamplePlan | None:
        """So many more entries; None where none are wanted, or can be paid for."""
        if count <= 0:
            return None
        hidden = self.constraints.hidden_from(observation)
        draws = _check_draws(self.drawer, self.drawer.draw(hidden, count, rng), hidden, count)
        kept = wanted.within_money(hidden, draws.i, draws.j, rng, evidence=evidence)
        if not len(kept):
            return None
        why = f"{counted(len(kept), 'entry')} drawn by {self.drawer!r}" + ("" if evidence else ", to help to choose")
        plan = SamplePlan(observation.shape, NO_INDEX, NO_INDEX, draws.i[kept], draws.j[kept], reasons=(why,))
        return plan._replace(
            probabilities=None if draws.probabilities is None else draws.probabilities[kept],
            design=ALL_UNIFORM if draws.uniform else ALL_UNIFORM._replace(entries="adaptive"),
            evidence=evidence,
            forbidden=hidden.forbidden,
        )


class _Round(NamedTuple):
    """How many columns and rows come next."""

    n_columns: int
    n_rows: int
    uniform: bool  # drawn uniformly, as pilots
    wanted_more: bool = False  # of the kind of which clearly more are wanted in the end


def _pilots(side: Side, count: int, rng: np.random.Generator) -> IndexVector:
    """Rows, or columns, drawn uniformly from those that can be chosen."""
    closed, size = np.union1d(side.taken, side.excluded), len(side.prices)
    return distinct_others(rng, size, min(count, size - len(closed)), closed)


def _together(plan: SamplePlan, entries: SamplePlan | None) -> SamplePlan:
    """One plan for rows, columns and entries."""
    if entries is None:
        return plan
    return entries._replace(
        column_index=plan.column_index,
        row_index=plan.row_index,
        design=SamplingDesign(plan.design.columns, plan.design.rows, entries.design.entries),
        reasons=(*(plan.reasons or ()), *(entries.reasons or ())),
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


def _check_totals(observation: Observation, wanted: Wanted, budget: Budget) -> None:
    """Totals that the matrix has, and no fewer than are known; of a symmetric one, the same rows and columns."""
    (n, m), (n_columns, n_rows, _) = observation.shape, budget.given
    if budget.symmetric and n != m:
        raise InvalidArgumentError(f"symmetric=True but the matrix is {n} x {m}, not square. Use symmetric=False.")
    if budget.symmetric and None not in (n_columns, n_rows) and n_columns != n_rows:
        raise InvalidArgumentError(
            f"n_columns={n_columns} and n_rows={n_rows}, but with symmetric=True rows and columns are the "
            f"same set. Use n_rows={n_columns} with n_columns={n_columns}."
        )
    for name, given, total in zip(wanted.counts._fields, budget.given, wanted.counts, strict=True):
        have, what = getattr(observation, name), name.removeprefix("n_")
        if have > (total if given is None else given):
            raise InvalidArgumentError(
                f"start has {have} {what} but {name}={given} is the total, start included. Use {name}={have} or more."
            )
        if math.isinf(wanted.money) and given is not None and total < given:
            raise InvalidArgumentError(
                f"{name}={given} but only {total} {what} are not forbidden and have no forbidden cell. "
                f"Use {name}={total} or fewer, or let rows and columns have gaps (gaps=True)."
            )
    if budget.symmetric and set(observation.row_index.tolist()) != set(observation.column_index.tolist()):
        raise InvalidArgumentError(
            "symmetric=True needs the same rows and columns, and those of start differ. Use symmetric=False, "
            "or give the rows of start as columns too."
        )


def _check_choice(strategy: Strategy, index: Any, candidates: Any, count: int) -> IndexVector:
    """What a strategy chose; one that breaks its contract must not break the totals."""
    chosen = np.asarray(index, dtype=np.int64)
    fits = chosen.shape == (count,) and np.all((chosen >= 0) & (chosen < candidates.sample.shape[1]))
    if not fits or len(np.unique(chosen)) < count or np.isin(chosen, candidates.taken).any():
        raise InvalidArgumentError(
            f"{strategy!r} was asked for {count} distinct candidates that are not taken, and chose {index!r}."
        )
    return chosen


def _check_draws(strategy: EntryStrategy, draws: Any, observation: Observation, count: int) -> EntryDraws:
    """What a strategy for entries drew: so many positions in the matrix, none of them known to be a gap."""
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
    return draws._replace(i=i, j=j)
