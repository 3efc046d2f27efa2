"""Is the matrix exactly of low rank? Then rows, columns and their intersection are the answer, and nothing is chosen.

There are three tests. All entries are predicted by :math:`C W^+ R` to rounding. Or rows, columns and their
intersection have the same rank, below the number of rows or of columns. Or as many rows or columns
were read as the wanted rank, and no entry: then the prediction must be of the size of what was read, which it is not
with a noisy intersection.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..._arrays import (
    abs_squared,
    adjoint,
    array_namespace,
    blocks,
    conjugate,
    double,
    host_kind,
    is_dask_array,
    is_numpy_array,
    keep_tall,
    to_device,
    to_numpy,
)
from ..._support.sets import evenly_spaced
from ..._typing import FloatArray, Matrix, Shape
from ...factorization import Basis, Core, Factorization, leading_basis
from ...observation import Cells, Observation
from .assemble import exact_rank
from .cross import Cross, cross_of, zero_target
from .prediction import Prediction
from .skeleton import Svd, inverse_of, svd_of

__all__ = ["Exact", "exact_answer"]

# cost: entries that confirm an exact prediction, and of those, the first to be compared
CONFIRMING, CONFIRMING_FIRST = 1000, 20
FULL_LEVERAGE = 1 - 1e-6  # rounding: of a row that the others do not span
MOST_OF_FULL_LEVERAGE = 0.25  # tuned: share of such rows, above which the rank is probably larger (Good 1953)
# tuned: mean square of a prediction, relative to what was read (tests/test_exact.py: of rank 5, 150 of 150
# Gaussian matrices are below, of noise 1 to 5; for rank 1 and 2 the test has no power, and the wanted rank is taken)
MOST_GROWTH = 2.0
LOW_RANK = 2  # usual: up to it the test of growth has no power


class Exact(NamedTuple):
    """A prediction that is exact, if the matrix has the rank that it seems to have."""

    prediction: Prediction
    reason: str
    is_confirmed: bool  # whether something that was read confirms it
    intersection: Svd  # without what is rounding

    @property
    def condition(self) -> float:
        """Condition of the intersection."""
        s = self.intersection.s
        return float(s[0] / s[-1]) if len(s) else 1.0

    def factored(self, cells: Cells) -> Factorization:
        r"""The prediction as a factorization.

        With :math:`W = P S Q^\top`, it is :math:`(C Q S^{-1}) \, S \, (S^{-1} P^\top R)`. The outer factors are
        orthonormal in the sampled rows and columns, so they are well conditioned if the prediction is not much larger
        elsewhere.
        """
        a, s, bh = self.intersection
        C, Rh = double(cells.columns), double(cells.turned_rows)
        left = leading_basis(C @ to_device(adjoint(bh) / s, C), least=cells.rounding)
        right = leading_basis(Rh @ to_device(a / s, Rh), least=cells.rounding)
        parts = (np.linalg.pinv(to_numpy(basis.coefficients)) for basis in (left, right))
        P, s, Qh = np.linalg.svd((next(parts) * s) @ adjoint(next(parts)), full_matrices=False)
        kept = exact_rank(s, cells.rounding)
        core = to_device(np.diag(s[:kept]).astype(host_kind(C)), C)
        bases = zip((left, right), (P[:, :kept], adjoint(Qh[:kept])), strict=True)
        U, V = (Basis(keep_tall(basis.vectors @ to_device(turn, C), axis=0)) for basis, turn in bases)
        return Factorization(U, Core(core, "approximate"), V)


def exact_answer(cells: Cells, observation: Observation, rank: int | None) -> Exact | None:
    """The prediction ``C W^+ R``, or None without a sign that it is exact."""
    if not cells.is_cross or cells.has_gaps or len(cells.hidden):
        return None
    cross = cross_of(cells)
    svd = svd_of(cross.W)
    plain = inverse_of(cells, zero_target(cross), svd, 0.0)
    kept = svd.above(np.finfo(float).eps)
    if np.any(to_numpy(cells.entries.values)):
        return Exact(plain, "entries are predicted to rounding", True, kept) if _meets(plain, cells) else None
    if _ranks_agree(cells, observation, cross, svd):
        return Exact(plain, "rows, columns and their intersection have the same rank", True, kept)
    if rank == min(cross.W.shape) and not len(cells.entries) and _is_plausible(plain, cross, cells.shape):
        return Exact(plain, "as many rows and columns as the rank that was asked for", False, kept)
    return None


def _meets(plain: Prediction, cells: Cells) -> bool:
    """Whether entries are predicted to half of the digits; they must not be all zero."""
    some = evenly_spaced(len(cells.entries), CONFIRMING)
    entries = cells.entries.take(some)
    values = to_numpy(entries.values)
    limit = math.sqrt(cells.rounding) * float(np.linalg.norm(values))
    for count in (CONFIRMING_FIRST, len(some)):  # a few are enough to refuse
        errors = values[:count] - to_numpy(plain.at(entries.i[:count], entries.j[:count]))
        if not 0 < limit >= np.linalg.norm(errors):
            return False
    return True


def _ranks_agree(cells: Cells, observation: Observation, cross: Cross, svd: Svd) -> bool:
    """Whether rows, columns and their intersection have the same rank, below the number of rows or of columns.

    Of rows drawn at random, the share of those that the others do not span is that of the unread rows that they do
    not span (Good 1953): if it is large, the rank is larger than that of the sample.
    """
    rank = exact_rank(svd.s, cells.rounding)
    if not 0 < rank < max(cross.W.shape) or any(
        _clearly_above(rank, gram) for gram in (cross.row_gram, cross.column_gram)
    ):
        return False
    both = ((observation.design.rows, svd.a), (observation.design.columns, adjoint(svd.bh)))
    sides = [side for side in both if len(side[1]) > rank]  # if they are as many as the rank, all have full leverage
    if any(word != "adaptive" and _share_alone(vectors[:, :rank]) > MOST_OF_FULL_LEVERAGE for word, vectors in sides):
        return False
    parts = (
        (cells.columns, adjoint(svd.bh)[:, :rank], cross.column_gram[:-1, :-1] + adjoint(cross.W) @ cross.W),
        (cells.turned_rows, svd.a[:, :rank], cross.row_gram[:-1, :-1] + cross.W @ adjoint(cross.W)),
    )
    return all(
        _has_rank(x, directions, svd.s[rank - 1], gram, cells.rounding)
        or exact_rank(_singular_values(x), cells.rounding) == rank
        for x, directions, gram in parts
    )


def _has_rank(x: Matrix, directions: FloatArray, least: float, gram: FloatArray, rounding: float) -> bool:
    """Whether a matrix has, but for rounding, just the row space of a part of it with this least singular value."""
    limit = 32 * rounding * math.sqrt(np.linalg.eigvalsh(gram)[-1])  # rounding: as in exact_rank
    if least <= limit or is_dask_array(x):
        return False
    on_device, squares = to_device(directions, x), 0.0
    for part in blocks(x.shape[0], x.shape[1]):
        rest = x[part, :] - (x[part, :] @ on_device) @ adjoint(on_device)
        squares += float(array_namespace(x).sum(abs_squared(rest)))
    return math.sqrt(squares) <= limit


def _share_alone(vectors: FloatArray) -> float:
    """Share of the rows, or columns, without which there would be a direction less; from singular vectors (d, r)."""
    return float(np.mean(np.sum(abs_squared(vectors), axis=1) > FULL_LEVERAGE))


def _clearly_above(rank: int, gram: FloatArray) -> bool:
    """Whether inner products show more directions than this, by more than the square root of rounding."""
    values = np.linalg.eigvalsh(gram[:-1, :-1])
    return int(np.count_nonzero(values > 1e-10 * values[-1])) > rank  # rounding: of inner products


def _singular_values(x: Any) -> FloatArray:
    """All singular values, on the host, from the triangle of a QR factorization."""
    triangle = np.linalg.qr(x, mode="r") if is_numpy_array(x) else array_namespace(x).linalg.qr(x)[1]
    return np.linalg.svdvals(to_numpy(triangle))


def _is_plausible(plain: Prediction, cross: Cross, shape: Shape) -> bool:
    """Whether the prediction is of the size of what was read, as that of a noisy intersection is not."""
    growth = _growth(plain, cross, shape)
    return growth <= MOST_GROWTH or (min(cross.W.shape) <= LOW_RANK and math.isfinite(growth))


def _growth(plain: Prediction, cross: Cross, shape: Shape) -> float:
    """Mean square of the prediction where nothing was read, relative to that of rows and columns."""
    mixed, combined, (d2, d1) = plain.mixing, plain.coefficients, cross.W.shape
    rows, columns = (gram[:-1, :-1] for gram in (cross.row_gram, cross.column_gram))
    of_columns, of_rows = adjoint(mixed) @ columns @ mixed, combined @ rows @ adjoint(combined)
    squares = float(np.sum((of_columns * conjugate(of_rows)).real))
    sides = ((rows, shape[0] - d2, d2), (columns, shape[1] - d1, d1))
    read = sum(float(np.trace(gram).real) / count * unread for gram, unread, count in sides)
    return squares / (read / 2) if read > 0 and np.isfinite(squares) else math.inf
