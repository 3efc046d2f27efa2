"""What reading is for, as an option."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..acquisition.goals import MATRIX, MEANS
from ..evaluation import Best, decide
from ..exceptions import InvalidArgumentError
from ..factorization import Fact
from ..observation import Observation

__all__ = ["MATRIX", "Goal", "Smallest", "Width", "as_goal", "decision_facts"]

BEST = "best:"

Goal = Annotated[
    str, typer.Option(help="What it is for: matrix, means (with --width), or best:3, the rows with the best means.")
]
Width = Annotated[float | None, typer.Option(help="How wide the interval of a mean may be, for --goal means.")]
Smallest = Annotated[bool, typer.Option("--smallest", help="For --goal best:3: small means are good, not large ones.")]


def as_goal(text: str, *, smallest: bool) -> str | Best:
    """The goal that was written."""
    if text.startswith(BEST) and text.removeprefix(BEST).isdecimal():
        return Best(int(text.removeprefix(BEST)), largest=not smallest)
    if text not in (MATRIX, MEANS):
        raise InvalidArgumentError(f"--goal {text} is none. Write matrix, means, or best:3 for the 3 best rows.")
    if smallest:
        raise InvalidArgumentError(f"--smallest is for --goal best:3, and the goal is {text}. Leave it out.")
    return text


def decision_facts(observation: Observation, goal: Any) -> list[Fact]:
    """What is decided, if the best are looked for."""
    return list(decide(observation, goal).facts[1:]) if isinstance(goal, Best) else []
