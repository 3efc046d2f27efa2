"""``curplus approximate``: the matrix in a file, in the way we recommend or by the paper's algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import numpy as np

from .. import methods
from .._arrays import to_numpy
from ..exceptions import InvalidArgumentError
from ..factorization import Fact, Factorization
from ..observation import Observation
from ..solvers import SOLVERS
from ..sources import Form, Source
from . import show
from .given import observation_of, open_given
from .options import Design, Logs, MatrixFile, Rank, Reading, Sampling, name_opt, opt, out_option, verb
from .results import approximation_facts, end_facts
from .write import TABLES, Written, write_matrix

__all__ = ["Out", "approximate", "save_approximation"]


class MethodName(StrEnum):
    """How to approximate."""

    approximate = "approximate"
    cur_plus = "cur-plus"


Out = Annotated[
    Path | None, out_option("the approximation, for curplus.load (.npz), or all of its numbers", (".npz", *TABLES))
]


@dataclass(frozen=True)
class HowTo:
    """How it is approximated."""

    method: MethodName = opt("The recommended method, or the paper's CUR+, which needs a rank.", MethodName.approximate)
    solver: str = name_opt(SOLVERS, "Solver for the core of cur-plus", "auto")


@verb
def approximate(
    file: MatrixFile,
    how: HowTo,
    sampling: Sampling,
    reading: Reading,
    logs: Logs,
    rank: Rank = None,
    out: Out = None,
    design: Design = None,
) -> list[Fact]:
    """Approximate a matrix from a few of its columns, rows and entries."""
    if how.method is MethodName.cur_plus and rank is None:
        raise InvalidArgumentError("--method=cur-plus needs a rank. Give --rank.")
    given = open_given(file, reading, logs, design)
    observation = observation_of(given, rank, sampling)
    with show.working("approximating"):
        approx = _fit(observation, rank, how)
    facts = approximation_facts(approx, observation, given.source)
    if out is not None:
        save_approximation(approx, out, given.source)
    otherwise = "add --out answer.npz to keep the approximation, or answer.csv for all of its numbers"
    return [*facts, *end_facts(out, otherwise)]


def _fit(observation: Observation, rank: int | None, how: HowTo) -> Factorization:
    if how.method is MethodName.cur_plus:
        assert rank is not None
        return methods.cur_plus(observation, rank, solver=how.solver)
    return methods.approximate(observation, rank)


def save_approximation(approx: Factorization, out: Path, source: Source | None = None) -> None:
    """Save an approximation, or all of its numbers, as the ending says."""
    if out.suffix.lower() == ".npz":
        approx.save(out)
        return

    def rows(part: slice) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        return to_numpy(approx.rows(np.arange(part.start, part.stop)))

    form = getattr(source, "form", Form())
    write_matrix(Written(approx.shape, rows, approx.row_names, approx.column_names, form), out)
