"""What can be said of an approximation before anybody asks for a certificate, and no more than that.

Values that the fit did not use are compared with three guesses: zero, the means of rows and columns, and the
approximation. As in :func:`curplus.certify`, nothing is said where a few values decide the average, judged by those
values and by the errors on everything that was read.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..._arrays import float64, gather, to_numpy
from ..._typing import FloatArray, IndexVector
from ...evaluation.certificate import HELD_OUT
from ...evaluation.effective_sample import check_tails, effective_sample_size, tail_index
from ...evaluation.residual import Residual
from ...factorization import Factorization, Provenance
from ...observation import Entries, Observation
from ...observation.plan import distinct
from .evidence import FEWEST, KEPT, squared_errors, standard_errors
from .offsets import additive_model
from .start import Start

__all__ = ["Verdict", "judged"]

PREDICTED = 0.99  # more than this share of the squares of left-out rows and columns is as good as all
MOST_CELLS = 10_000  # of the sampled rows and columns that tell the means of rows and columns


class Verdict(NamedTuple):
    """By how many standard errors values set aside are predicted better, and a sentence."""

    against_zero: float
    against_means: float  # nan where zero already decides
    text: str


def judged(answer: Factorization, sample: Observation, start: Start, held_out: IndexVector, aside: Entries) -> Verdict:
    """The verdict on an approximation of ``sample`` of which the values ``aside`` had no part."""
    if len(aside) < FEWEST:
        return Verdict(math.nan, math.nan, _without_entries(sample, start, len(aside)))
    now, weights = squared_errors(answer, aside), aside.fit_weights
    against_zero, against_means = standard_errors(squared_errors(None, aside), now, weights), math.nan
    doubt = _doubt(answer, sample, start, held_out, now * weights)
    if against_zero > KEPT and not doubt:
        means = to_numpy(aside.values) - _means(sample, held_out, aside)
        against_means = standard_errors(means**2, now, weights)
    return Verdict(against_zero, against_means, _sentence(against_zero, against_means, doubt, len(aside)))


def _sentence(against_zero: float, against_means: float, doubt: str, count: int) -> str:
    judges = f"on {count} values that the fit did not use"
    if against_zero <= KEPT:
        return f"there is no evidence that it is better than zero {judges}"
    if doubt:
        return f"better than zero {judges}, but how good it is cannot be told: {doubt}"
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


def _doubt(answer: Factorization, sample: Observation, start: Start, held_out: IndexVector, squares: FloatArray) -> str:
    """Why an average of these squares cannot be trusted; empty where it can."""
    references = {}
    if start.aside is None:
        residual = Residual(replace(answer, provenance=Provenance(held_out=held_out)), sample)
        references = {"sampled rows": residual.row_squares, "sampled columns": residual.column_squares}
        squares = squares / residual.unit**2
    if not np.any(squares):
        return ""
    weights = np.ones(len(squares)) if start.aside is not None else sample.entries.fit_weights[held_out]
    index = tail_index(squares, *references.values())
    return check_tails(squares, references, HELD_OUT, count=effective_sample_size(weights), index=index)[1]


def _means(sample: Observation, held_out: IndexVector, at: Entries) -> FloatArray:
    """What the means of rows and columns, shrunk by how little is known of each, say at some places."""
    rng = np.random.default_rng(0)
    use = np.setdiff1d(np.arange(sample.n_entries), held_out)
    some = sample.entries.take(use)
    parts = [(some.i, some.j, to_numpy(float64(some.values)))]
    for lines, index, turned in ((sample.columns, sample.column_index, False), (sample.rows.T, sample.row_index, True)):
        if len(index):
            size = lines.shape[0] * len(index)
            cells = distinct(rng, size, min(size - 1, MOST_CELLS))
            i, k = cells // len(index), cells % len(index)
            values = to_numpy(float64(gather(lines, i, k)))
            here = (index[k], i) if turned else (i, index[k])
            known = ~np.isnan(values)
            parts.append((here[0][known], here[1][known], values[known]))
    i, j, values = (np.concatenate(x) for x in zip(*parts, strict=True))
    means = additive_model(Entries(sample.shape, i, j, values, weights=np.ones(len(values))))
    return means.at(at.i, at.j)
