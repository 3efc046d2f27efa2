"""Which rows are the k best: what is looked for, and what is decided by what was read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import IndexVector, Names, Shape
from .._validation import check_axis, check_count, check_index, check_level, check_real
from ..exceptions import InvalidArgumentError
from ..factorization import Fact
from ..factorization.report import facts_as_html, facts_as_text
from ..observation import Observation
from ..observation.observation import check_observation
from .differences import Paired
from .elimination import RoundOfColumns, Standing, eliminated

__all__ = ["Best", "Decision", "decide", "standing_of"]

LINES = ("columns", "rows")


@dataclass(frozen=True)
class Best:
    """A goal: to find the k rows or columns with the largest, or smallest, means.

    For :func:`curplus.acquire`, :func:`curplus.propose` and :meth:`Study.ask <curplus.Study.ask>`. Columns are drawn
    uniformly and read in all rows that are left, so that rows are compared by paired differences. A row leaves if at
    least k others are above it, and is chosen if all but k of those left are below it; neither is read any more.

    Parameters
    ----------
    k : int
        How many are looked for.
    axis : {1, 0}, default 1
        1 for rows, 0 for columns.
    largest : bool, default True
        Whether large means are good, or small ones.
    level : float, default 0.95
        Probability that the true k best are never ruled out, over all rounds.
    among : sequence of positions, optional
        Which rows (columns) are compared; left out, all of them. Others that are known whole help: they show which
        columns are alike. In a study they are names.

    Examples
    --------
    >>> import numpy as np, curplus
    >>> rng = np.random.default_rng(0)
    >>> answers = (rng.random((20, 600)) < np.linspace(0.9, 0.3, 20)[:, None]).astype(float)
    >>> seen = curplus.acquire(answers, goal=curplus.Best(2), budget=0.5, rng=0)
    >>> decision = curplus.decide(seen, curplus.Best(2))
    >>> sorted(decision.possible.tolist()), decision.is_decided
    ([0, 1], True)
    """

    k: int
    axis: int = 1
    largest: bool = True
    level: float = 0.95  # usual: a confidence
    among: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", check_count(self.k, name="k", at_least=1))
        object.__setattr__(self, "level", check_level(self.level))
        check_axis(self.axis)
        if self.among is not None:
            object.__setattr__(self, "among", tuple(self.among))

    @property
    def what(self) -> str:
        """What is compared: "rows" or "columns"."""
        return LINES[self.axis]

    def candidates(self, shape: Shape) -> IndexVector:
        """Positions of all that are compared, ascending."""
        size = shape[1 - self.axis]
        among = np.arange(size) if self.among is None else np.sort(check_index(self.among, size, name="among"))
        if len(twice := among[1:][among[1:] == among[:-1]]):
            raise InvalidArgumentError(f"among= has {twice[0]} twice. Give each position once.")
        check_count(self.k, name="k", at_least=1, at_most=len(among), of=f"{self.what} to choose from")
        return among


@dataclass(frozen=True, eq=False)
class Decision:
    """What is decided of the k best."""

    chosen: IndexVector  # positions of those that are among the best, the best estimate first
    left: IndexVector  # of those that may be, the best estimate first
    tied: IndexVector  # of those left, which are exactly alike at the last place, all columns being known
    is_decided: bool
    looks: tuple[RoundOfColumns, ...]  # how often rows were compared, in how many columns, and what was left
    error_spent: float  # of 1 - level
    n_more: float  # forecast: values to be read until it is decided; NaN if values forbid to compare
    reason: str
    what: str = "rows"
    names: Names | None = None  # of all rows

    @property
    def n_looks(self) -> int:
        """How often rows were compared."""
        return len(self.looks)

    @property
    def possible(self) -> IndexVector:
        """Positions of all that may be among the k best."""
        return np.concatenate([self.chosen, self.left])

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts, ready to be shown."""
        named = {name: self._named(getattr(self, name)) or None for name in ("chosen", "left", "tied")}
        more = None if self.is_decided or math.isnan(self.n_more) else float(f"{self.n_more:.3g}")
        return (
            Fact("verdict", self.reason),
            Fact("chosen", named["chosen"], "among the best"),
            Fact("left", named["left"], "may be"),
            Fact("tied", named["tied"], "alike"),
            Fact("n_looks", self.n_looks, "times compared"),
            Fact("n_more", more, "values until decided", "about, if means are as estimated"),
        )

    def _named(self, positions: IndexVector) -> list[str]:
        return [str(k if self.names is None else self.names[k]) for k in positions]

    def __str__(self) -> str:
        return facts_as_text(self.facts)

    def __repr__(self) -> str:
        return f"<Decision: {self.reason}>"

    def _repr_html_(self) -> str:
        return facts_as_html("Decision", self.facts)


def decide(observation: Observation, best: Best) -> Decision:
    """Which are the k best, by what was read.

    All rounds are gone through again, from the values and the order of drawing (``observation.drawn_columns``) alone:
    asking twice costs no probability of error.

    Parameters
    ----------
    observation : Observation
        What :func:`curplus.acquire` or a study read for this goal, or uniformly drawn columns.
    best : Best
        What is looked for.

    Returns
    -------
    Decision
        ``chosen``, ``left``, ``tied``, ``is_decided``, and ``n_more``: a forecast of the values it still takes.

    Notes
    -----
    Successive elimination (Even-Dar, Mannor and Mansour 2006) with acceptance, as for the k best arms of a bandit
    (Bubeck, Wang and Viswanathan 2013). Rows are compared at 20, 22, 24, ... columns. The difference of two rows has
    Student's t interval with the correction for a finite population; the probability of error is spread evenly over the
    logarithm of the number of columns, and over the comparisons of each look: as many as rows are left, or fewer. How
    often one comparison is wrong at several looks follows from their joint normal distribution (Lan and DeMets 1983).
    With rows that are known whole, means are regression estimates (Cochran 1977). Once all columns are read, means are
    exact, and rows with the same mean at the last place are tied: this counts as decided.
    """
    return standing_of(observation, best)[0]


def _not_compared(seen: Observation, rows: IndexVector) -> str:
    """Why no rows were compared yet."""
    paired = Paired.of(seen, rows)
    n_drawn, n_usable = len(paired.columns), int(np.count_nonzero(~paired.is_gap.any(axis=0)))
    if n_usable == n_drawn:
        return "nothing is compared yet"
    return (
        f"nothing is compared yet: only columns without gaps are compared, and {n_drawn - n_usable} of the {n_drawn} "
        "that were drawn have gaps"
    )


def standing_of(observation: Observation, best: Best) -> tuple[Decision, Standing]:
    """What is decided, and what the next round starts from."""
    check_observation(observation)
    if not isinstance(best, Best):
        raise InvalidArgumentError(f"best={best!r} does not say what is looked for. Give curplus.Best(3), for example.")
    check_real(observation.values, "decisions")
    seen = observation if best.axis == 1 else observation.T
    rows = np.setdiff1d(best.candidates(observation.shape), seen.forbidden.rows)
    of = f"{best.what} to choose from that are not forbidden"
    check_count(best.k, name="k", at_least=1, at_most=len(rows), of=of)
    if not len(seen.forbidden.open_rows_and_columns(seen.shape)[1]):
        raise InvalidArgumentError(f"all {LINES[1 - best.axis]} are forbidden, so {best.what} cannot be compared.")
    if np.isin(seen.bounds.i, rows).any():
        found = Standing.of_nothing(rows)
    else:
        found = eliminated(seen, rows, best.k, 1 if best.largest else -1, 1 - best.level)
    n_open = len(found.left)
    if not found.next_size:
        reason = f"not decided: {seen.bounds.reason}"
    elif not found.is_decided:
        what = f"{n_open} of {len(rows)} {best.what} are open"
        reason = (
            f"not decided: {what} after {len(found.looks)} looks" if found.looks else _not_compared(seen, found.left)
        )
    elif len(found.tied):
        reason = f"decided: {n_open} {best.what} have exactly the same mean at place {best.k}"
    else:
        which = f"{best.k} best {best.what}" if best.k > 1 else f"best of the {best.what}"
        reason = f"decided: the {which} after {len(found.looks)} looks"
    decision = Decision(
        chosen=found.chosen,
        left=found.left,
        tied=found.tied,
        is_decided=found.is_decided,
        looks=found.looks,
        error_spent=found.error_spent,
        n_more=found.n_more,
        reason=reason,
        what=best.what,
        names=seen.row_names,
    )
    return decision, found
