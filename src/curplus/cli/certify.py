"""``curplus certify``: how large the error of an approximation is, judged by what its fit did not use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import evaluation, methods
from ..exceptions import InvalidArgumentError
from ..factorization import Fact, Factorization
from . import show
from .given import Given, observation_of, open_given
from .options import Design, Level, Logs, MatrixFile, Rank, Reading, Sampling, verb
from .results import certificate_facts, read_facts

__all__ = ["certify"]


Saved = Annotated[
    Path | None, typer.Option(help="A saved approximation, computed from the observation in FILE; made if left out.")
]


@verb
def certify(
    file: MatrixFile,
    sampling: Sampling,
    reading: Reading,
    logs: Logs,
    approximation: Saved = None,
    rank: Rank = None,
    level: Level = 0.95,
    design: Design = None,
) -> list[Fact]:
    """Say how large the error of an approximation is, and how sure that is."""
    given = open_given(file, reading, logs, design)
    observation = observation_of(given, rank, sampling)
    with show.working("certifying"):
        approx = methods.approximate(observation, rank) if approximation is None else _loaded(approximation)
        certificate = evaluation.certify(approx, observation, level=level)
    known = [Fact("shape", approx.shape), Fact("rank", approx.rank), Fact("verdict", certificate.verdict)]
    if approximation is None:
        known.insert(0, Fact("judged", f"an approximation made of {_sample(given)}"))
    end = Fact("next", f"curplus approximate {file} --out answer.npz keeps the approximation that was judged")
    facts = [*known, *certificate_facts(certificate), *read_facts(observation, given.source)]
    return [*facts, end] if approximation is None else facts


def _sample(given: Given) -> str:
    """What an approximation is made of, in words."""
    if given.entries is not None:
        return f"all values of {given.name}"
    return f"a random sample of {given.name}, whose size --budget, or --columns, --rows and --entries, set"


def _loaded(path: Path) -> Factorization:
    saved = methods.load(path)
    if not isinstance(saved, Factorization):
        raise InvalidArgumentError(
            f"{path} holds an observation, not an approximation. Save one with approximate --out."
        )
    return saved
