"""The loop of reading: propose, read, and propose again from what is known then, until a rule stops it."""

from __future__ import annotations

from collections.abc import Callable, Generator

from ..observation import Observation, SamplePlan

__all__ = ["Rounds", "carried_out", "until_none"]

#: Plans, each with what is known before it; what is known afterwards is sent back, and is returned in the end.
Rounds = Generator[tuple[SamplePlan, Observation], Observation, Observation]


def until_none(
    seen: Observation,
    propose: Callable[[Observation], SamplePlan | None],
    ended: Callable[[Observation], str] | None = None,
) -> Rounds:
    """Plans that follow from what is known alone, until there is none; ``ended`` says why there is not."""
    while (plan := propose(seen)) is not None:
        seen = yield plan, seen
    return seen if ended is None else seen.noted(ended(seen))


def carried_out(rounds: Rounds, carry_out: Callable[[SamplePlan, Observation], Observation]) -> Observation:
    """What is known in the end, once each plan was carried out: this returns all that is known after it."""
    try:
        plan, seen = next(rounds)
        while True:
            plan, seen = rounds.send(carry_out(plan, seen))
    except StopIteration as end:
        found: Observation = end.value
        return found
