"""What reading is for: the matrix, narrow intervals of means, or the best rows; and the loop that ends with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

from ..evaluation import Best, decide
from ..exceptions import InvalidArgumentError
from ..observation import Observation, SamplePlan
from ..observation.forbidden import check_region
from .best_round import best_round
from .budget import check_budget
from .mean_widths import NarrowMeans, mean_round
from .prices import Costs, prices_of, spent

__all__ = [
    "MATRIX",
    "MEANS",
    "Proposer",
    "Rounds",
    "carried_out",
    "check_alone",
    "check_goal",
    "how_it_ended",
    "round_for",
]

MATRIX, MEANS = "matrix", "means"

#: Plans, each with what is known before it; what is known afterwards is sent back, and is returned in the end.
Rounds = Generator[tuple[SamplePlan, Observation], Observation, Observation]


def check_goal(goal: Any, width: Any) -> Best | NarrowMeans | None:
    """The goal as an object; None for the matrix."""
    if isinstance(goal, str) and goal == MEANS:
        if width is None:
            raise InvalidArgumentError('goal="means" reads until intervals are narrow. Say how narrow: width=0.02.')
        return NarrowMeans(width)
    if width is not None:
        raise InvalidArgumentError(f'width={width!r} is for goal="means". Leave it out, or give that goal.')
    if isinstance(goal, (Best, NarrowMeans)):
        return goal
    if not isinstance(goal, str) or goal != MATRIX:
        raise InvalidArgumentError(f'goal={goal!r} is none. Use "matrix", "means" with width=, or curplus.Best(3).')
    return None


def check_alone(symmetry: Any, **others: Any) -> None:
    """That nothing was given which decides what is read besides a goal."""
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise InvalidArgumentError(f"a goal decides itself what is read. Leave out {', '.join(given)}, or the goal.")
    if symmetry:
        raise InvalidArgumentError(
            "rows and columns of a symmetric matrix are the same, and are not drawn one without the other. Leave out "
            "symmetric= and psd=, or the goal."
        )


def round_for(
    observation: Observation, goal: Best | NarrowMeans, budget: Any, costs: Costs | None, forbidden: Any, seed: int
) -> SamplePlan | None:
    """The next round for a goal; None if it is reached, or the budget is spent."""
    places = check_region(forbidden, observation.shape, name="forbidden")
    if len(places.cells[0]):
        raise InvalidArgumentError(
            "with a goal, whole rows and columns can be forbidden, and not cells. Leave them out."
        )
    seen = observation._replaced(forbidden=observation.forbidden.union(places, observation.shape))
    prices = prices_of(costs, seen.shape)
    left = math.inf if budget is None else check_budget(budget, costs, seen.shape)[0] - spent(observation, prices).total
    if isinstance(goal, Best):
        return best_round(seen, goal, left, prices, seed)
    return mean_round(seen, goal, left, prices, seed)


def how_it_ended(observation: Observation, goal: Best | NarrowMeans, budget: Any) -> str:
    """Whether a goal was reached, in words."""
    spent = "no more can be read" if budget is None else "the budget is spent"
    if isinstance(goal, Best):
        decision = decide(observation, goal)
        return decision.reason if decision.is_decided else f"{spent}; {decision.reason}"
    widest = goal.reached(observation)
    if widest <= goal.width:
        return f"all intervals are at most {goal.width:g} wide"
    what = "there are no intervals" if math.isinf(widest) else f"the widest interval is {widest:.3g}"
    return f"{spent}; {what}"


class Proposer(NamedTuple):
    """A rule by which a matrix is read: what comes next follows from what is known alone."""

    next_plan: Callable[[Observation], SamplePlan | None]  # None at the end
    begins: Callable[[Observation], str] | None = None  # what is to be said of it before anything is read
    ended: Callable[[Observation], str] | None = None  # and in the end

    def rounds(self, seen: Observation) -> Rounds:
        """All its plans, one after the other."""
        seen = seen.noted(self.begins(seen)) if self.begins else seen
        while (plan := self.next_plan(seen)) is not None:
            seen = yield plan, seen
        return seen.noted(self.ended(seen)) if self.ended else seen


def carried_out(rounds: Rounds, carry_out: Callable[[SamplePlan, Observation], Observation]) -> Observation:
    """What is known in the end, once each plan was carried out: this returns all that is known after it."""
    try:
        plan, seen = next(rounds)
        while True:
            plan, seen = rounds.send(carry_out(plan, seen))
    except StopIteration as end:
        found: Observation = end.value
        return found
