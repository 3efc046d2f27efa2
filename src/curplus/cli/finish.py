"""How the verbs that approximate a matrix end: describe the result, compare it with the whole matrix, save it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..evaluation import metrics
from ..factorization import Factorization
from ..methods import cur_full
from ..observation import Observation
from ..sources import Source
from ..sources.convert import whole_matrix
from . import show

__all__ = ["compare", "finish"]


def finish(approx: Factorization, observation: Observation, source: Source, *, check: bool, out: Path | None) -> None:
    """Describe an approximation, and compare it with the whole matrix and save it where that is asked for."""
    show.answer(approx, observation)
    if check:
        rank = max(approx.rank, 1)  # of zeros alone, the approximation has rank 0
        with show.working("reading the whole matrix"):
            best = cur_full(source, observation).truncate(rank)
            target = metrics.ReferenceMatrix(whole_matrix(source))
        compare(target, {approx.core.solver: approx, "CUR-F, which sees all": best}, rank)
    if out is not None:
        approx.save(out)
        show.line(f"saved to {out}")


def compare(target: metrics.ReferenceMatrix, answers: Mapping[str, Factorization], rank: int) -> None:
    """Show how far answers are from the whole matrix, and from the best of their rank."""
    rows = []
    for name, approx in answers.items():
        error = metrics.frobenius_error(target, approx)
        numbers = (
            error / target.frobenius_norm if error else 0.0,
            metrics.relative_frobenius_error(target, approx, rank),
            metrics.relative_spectral_error(target, approx, rank),
        )
        rows.append([name, *(f"{number:.4g}" for number in numbers)])
    title = f"Against the whole matrix (best rank {rank} has l = 1)"
    show.table(["", "relative error", "l_F", "l_s"], rows, title=title)
