"""What can be said of an approximation before anybody asks for a certificate, and no more than that.

Values that the fit did not use are compared with three guesses: zero, the means of rows and columns, and the
approximation. The rules are those of :func:`curplus.certify`: nothing is said where a few values decide the average,
judged by those values and by the errors on the sampled rows and columns. The values are those set aside, so a verdict
says less than a certificate, which holds all entries out in turn, and never more.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..._arrays import to_numpy
from ..._typing import FloatArray, IndexVector, Vector
from ...evaluation.baseline import means_at
from ...evaluation.by_entries import errors_on_lines
from ...evaluation.certificate import HELD_OUT
from ...evaluation.effective_sample import Squares, check_tails, effective_sample_size, tail_of
from ...evaluation.residual import Residual
from ...factorization import Factorization
from ...observation import Observation
from .evidence import FEWEST, KEPT, squared_errors, standard_errors
from .start import Aside, Start

__all__ = ["Verdict", "judged"]

PREDICTED = 0.99  # more than this share of the squares of left-out rows and columns is as good as all


class Verdict(NamedTuple):
    """By how many standard errors values set aside are predicted better, and a sentence."""

    against_zero: float
    against_means: float  # nan where zero already decides
    text: str


def judged(
    answer: Factorization, sample: Observation, start: Start, use: IndexVector, held_out: IndexVector
) -> Verdict:
    """The verdict on an approximation of ``sample`` of which the entries ``held_out`` had no part."""
    aside = start.aside or Aside(sample.entries.take(held_out))
    if len(aside.entries) < FEWEST:
        return Verdict(math.nan, math.nan, _without_entries(sample, start, len(aside.entries)))
    now, weights = squared_errors(answer, aside.entries), aside.entries.fit_weights
    against_zero, against_means = standard_errors(squared_errors(None, aside.entries), now, weights), math.nan
    doubt = _doubt(now * weights, weights, None if start.aside else Residual(answer, sample))
    if against_zero > KEPT and not doubt:
        means = means_at(sample, use, held_out) if aside.means is None else aside.means
        against_means = standard_errors((to_numpy(aside.entries.values) - means) ** 2, now, weights)
    return Verdict(against_zero, against_means, _sentence(against_zero, against_means, doubt, len(aside.entries)))


def _sentence(against_zero: float, against_means: float, doubt: str, count: int) -> str:
    judges = f"on {count} values that the fit did not use"
    if against_zero <= KEPT:
        return f"there is no evidence that it is better than zero {judges}"
    if doubt:
        return f"better than zero {judges}, but they do not tell how good it is: {doubt} (certify asks all entries)"
    if against_means > KEPT:
        return f"better than means of rows and columns {judges}, by {against_means:.1f} standard errors"
    return (
        f"better than zero {judges}, by {against_zero:.1f} standard errors, and not clearly better than means of rows "
        "and columns"
    )


def _without_entries(sample: Observation, start: Start, count: int) -> str:
    if start.is_exact:
        return "exact, if the matrix has the rank that rows, columns and their intersection show"
    error = math.nan if start.skeleton is None else start.skeleton.left_out_error
    uniform = sample.design.columns == sample.design.rows == "uniform"
    if error < PREDICTED and uniform:
        return f"left-out rows and columns are predicted to {1 - error:.1%} of their squares"
    if error < PREDICTED:
        return (
            f"left-out rows and columns are predicted to {1 - error:.1%} of their squares, but they were chosen, and "
            "that says little of the others"
        )
    if math.isnan(error) and not count:
        return "unverifiable: it fits what was read, and nothing is left to check it with"
    return "outside the sampled rows and columns, there is no evidence that it is better than zero"


def _doubt(squares: FloatArray, weights: FloatArray, residual: Residual | None) -> str:
    """Why an average of these squares cannot be trusted; empty where it can."""
    references: dict[str, Vector | Squares] = {}
    if residual is not None:
        references = errors_on_lines(residual)
        squares = squares / residual.unit**2
    if not np.any(squares):
        return ""
    tail = tail_of(squares, *references.values())
    return check_tails(squares, references, HELD_OUT, count=effective_sample_size(weights), tail=tail)[1]
