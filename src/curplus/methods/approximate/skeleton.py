r"""What the sampled rows and columns say of the rest: a prediction of everything that was not read.

Where sampled rows and columns intersect, both are known. If rows depend on one another in the rest of the matrix as
they do in the sampled columns, then :math:`M \approx C W^+ R` with W the intersection. On real data W is noisy, so
its inverse is shrunk by a ridge, towards a first guess (:mod:`.first_guess`). Which guess and how large a ridge is
decided by leaving sampled rows and columns out: predict each from its values in the intersection, compare with what was
read. All of it works on d x d matrices.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import scipy.linalg

from ..._arrays import array_namespace, float64, rounding_unit, to_numpy
from ..._sets import NO_INDEX
from ..._typing import FloatArray, IndexVector
from ...observation import Observation
from .cross import Cross, cross_of
from .entry_lines import EntryLines, entry_lines, some_of
from .evidence import FEWEST, KEPT, standard_errors
from .first_guess import GUESSES, FirstGuess, offset_guess, sum_guess, zero_guess
from .leave_out import Svd, leading_svd_of, svd_of
from .line_weights import line_weights
from .prediction import Prediction
from .rank import exact_rank, singular_values
from .ridge import RidgeChoice, ridge_for

__all__ = ["RELIABLE", "Skeleton", "ridge_skeleton"]

SAFE_CONDITION = 1e8  # of an intersection that is inverted as it is, where nothing can check it
MOST_GROWTH = 10.0  # beyond it, mean square of a prediction, relative to what was read
CONFIRMING, FIRST = 1000, 20  # entries that confirm an exact prediction, and of those, the first to be asked
FEW_LINES, MOST_JUDGES = 20, 5000  # with fewer rows and columns, as many entries help to choose
RELIABLE = 0.3  # share of the variance of means that is not chance, above which there are offsets
MOST_COMPARED = 300  # rows and columns by which first guesses are compared
INDEPENDENT = 1e-10  # reciprocal condition of their inner products, above which rows, or columns, are independent
DIRECTIONS_A_RANK, FEWEST_DIRECTIONS = 4, 240  # of rows and columns that are noisy, and twice as many or more
ALONE = 1 - 1e-6  # leverage of a row, or column, that the others do not span
MOST_ALONE = 0.25  # share of those, with which the rank can be what it seems


class Skeleton(NamedTuple):
    """The prediction ``[C, 1] @ mixing @ coefficients @ [R; 1]``, and what leaving rows and columns out says of it."""

    mixing: FloatArray  # (d1 + 1, k)
    coefficients: FloatArray  # (k, d2 + 1)
    guess: str = "zero"  # the first guess
    ridge: float = 0.0  # relative to the largest squared singular value; 0 where there is none
    condition: float = 1.0  # of the intersection, after the cut
    left_out_error: float = math.nan  # share of the squares of left-out rows and columns that is not predicted
    score: float = math.nan  # by which first guesses are compared
    asked_entries: bool = False  # whether entries had a part in it
    n_directions: float = 0.0  # of which it has use: those that the ridge shrinks count in part
    reliability: float = 0.0  # of offsets that are the first guess: the share of their variance that is not chance
    exponent: float = 0.0  # by which rows and columns are weighted, see .line_weights
    is_exact: bool = False  # whether the ranks, or all the entries, say that it is exact
    cross: Cross | None = None  # the small matrices that it was made of

    def prediction(self, observation: Observation) -> Prediction:
        """The prediction, on the device of the sample."""
        C, R = float64(observation.columns), float64(observation.rows)
        if self.guess != "offsets":
            return Prediction(C, self.mixing[:-1], self.coefficients[:, :-1], R.T)
        xp = array_namespace(C)
        left, right = xp.concat([C, xp.ones_like(C[:, :1])], axis=1), xp.concat([R, xp.ones_like(R[:1, :])])
        return Prediction(left, self.mixing, self.coefficients, right.T)


def ridge_skeleton(
    observation: Observation,
    rank: int,
    use: IndexVector,
    offsets: str | bool = "auto",
    guess: str = "",
    exponent: float = 0.0,
) -> Skeleton:
    """Predict the rest of the matrix from sampled rows and columns.

    Parameters
    ----------
    observation : Observation
        At least one row and one column.
    rank : int
        How many directions the matrix is thought to have. With no more rows than that, none can be left out; columns
        likewise. Where neither can, they are left out all the same if there are entries to show that the prediction is
        not exact.
    use : array
        Which entries may be looked at.
    offsets : "auto", True or False, default "auto"
        Whether offsets of rows and columns are the first guess; "auto" lets left-out rows and columns decide.
    guess, exponent : str and float, optional
        The first guess, and by which power rows and columns are weighted, where they were chosen before.

    Notes
    -----
    The sums are used only where rows and columns were drawn uniformly: a chosen row says nothing of those that were not
    chosen.
    """
    cross = cross_of(observation)
    part = cache(lambda: _of_a_part(observation, rank, offsets, guess, exponent))
    few = _few_directions(cross, rank, part)
    decompose = svd_of if few is None else partial(leading_svd_of, count=few)
    svd = decompose(cross.W)
    plain = _skeleton(zero_guess(cross), svd, 0.0)._replace(cross=cross)
    if few is None and (_ranks_agree(observation, cross, svd) or _is_exact(plain, observation, use)):
        return plain._replace(is_exact=True)
    can_leave_out = max(observation.n_rows, observation.n_columns) > rank
    if not can_leave_out and (not len(use) or max(cross.W.shape) < 2):
        return _bounded(plain, cross)
    rank = rank if can_leave_out else 1
    uniform = observation.design.columns == observation.design.rows == "uniform"
    entries = cache(lambda: entry_lines(observation, some_of(use, MOST_JUDGES)) if len(use) >= FEWEST else None)
    judges = entries() if max(cross.W.shape) < FEW_LINES else None
    asked = judges is not None
    if not guess and max(cross.W.shape) > MOST_COMPARED:
        guess, exponent = part().guess, part().exponent
    if guess:
        weights = line_weights(cross, rank, (exponent,)) if exponent else []
        first = GUESSES[guess](cross)._replace(weights=weights[0] if weights else None)
        best = ridge_for(first, cross, svd, rank, uniform, judges, decompose)
    else:
        best = _best_guess([ridge_for(x, cross, svd, rank, uniform, judges) for x in _guesses(cross, uniform, offsets)])
        weighted = [best.guess._replace(weights=x) for x in line_weights(cross, rank)]
        found = [best, *(ridge_for(x, cross, svd, rank, uniform, judges) for x in weighted)]
        best, by_entries = _best_weights(found, entries)
        asked |= by_entries
    return _skeleton(best.guess, best.svd, best.ridge)._replace(
        reliability=best.guess.reliability,
        left_out_error=best.left_out if math.isfinite(best.left_out) else math.nan,
        score=best.score,
        exponent=0.0 if best.guess.weights is None else best.guess.weights.exponent,
        asked_entries=asked,
        cross=cross,
    )


def _best_guess(found: list[RidgeChoice]) -> RidgeChoice:
    """The best; offsets that rows and columns show, if it is not clearly better than they are.

    Few rows and columns tell little of anything else, and entries will add to offsets.
    """
    best = min(found, key=lambda choice: choice.score)
    offsets = [x for x in found if x.guess.reliability > RELIABLE and x.errors is not None]
    return best if not offsets or best.is_clearly_better(offsets[0]) else offsets[0]


def _best_weights(found: list[RidgeChoice], judges: Callable[[], EntryLines | None]) -> tuple[RidgeChoice, bool]:
    """The weights that entries are convinced of, and whether they are; the first of ``found`` has none.

    Or else those that left-out rows and columns ask for, if entries are not predicted worse with them.
    """
    if len(found) == 1:
        return found[0], False
    if (entries := judges()) is None:
        return min(found, key=lambda choice: choice.left_out), False
    whole = [_skeleton(choice.guess, choice.svd, choice.ridge) for choice in found]
    squares = [entries.squared_errors(x.mixing, x.coefficients) for x in whole]
    totals = [float(x.sum()) for x in squares]
    best = int(np.argmin(totals))
    if standard_errors(squares[0], squares[best], np.ones(len(squares[0]))) > KEPT:
        return found[best], True
    possible = [choice for choice, total in zip(found, totals, strict=True) if total <= totals[0]]
    return min(possible, key=lambda choice: choice.left_out), False


def _of_a_part(observation: Observation, rank: int, offsets: str | bool, guess: str, exponent: float) -> Skeleton:
    """The skeleton of as many of the rows and columns as it takes to compare first guesses."""
    rows, columns = (
        np.linspace(0, count - 1, min(count, MOST_COMPARED)).astype(np.int64)
        for count in (observation.n_rows, observation.n_columns)
    )
    part = observation.subset(rows=rows, columns=columns, entries=NO_INDEX, design=observation.design)
    return ridge_skeleton(part, min(rank, MOST_COMPARED - 1), NO_INDEX, offsets, guess, exponent)


def _few_directions(cross: Cross, rank: int, part: Callable[[], Skeleton]) -> int | None:
    """How many directions of many rows and columns are enough; None where all may say something.

    Where noise is such that a part of the rows and columns has use for no more than half as many, the others
    add none that could be told from noise. Where columns depend on each other, and so do rows, there is no noise.
    """
    count = max(DIRECTIONS_A_RANK * rank, FEWEST_DIRECTIONS)
    if min(cross.W.shape) < 2 * count or part().n_directions > FEWEST_DIRECTIONS / 2:
        return None
    return count if _are_independent(cross.whole_column_gram) else None


def _are_independent(gram: FloatArray) -> bool:
    """Whether inner products are those of vectors of which none is nearly a combination of the others."""
    sizes = np.sqrt(np.diag(gram))
    if not np.all(sizes > 0):
        return False
    scaled = gram / np.outer(sizes, sizes)
    triangle, failed = scipy.linalg.lapack.dpotrf(scaled)
    return not failed and scipy.linalg.lapack.dpocon(triangle, np.linalg.norm(scaled, 1))[0] > INDEPENDENT


def _guesses(cross: Cross, uniform: bool, offsets: str | bool) -> list[FirstGuess]:
    """The first guesses that compete."""
    if offsets is True:
        return [offset_guess(cross)]
    guesses = [zero_guess(cross)]
    if uniform and min(cross.W.shape) > 1:
        guesses.append(sum_guess(cross))
    if offsets == "auto":
        guesses.append(offset_guess(cross))
    return guesses


def _skeleton(guess: FirstGuess, svd: Svd, ridge: float) -> Skeleton:
    """The first guess, and the ridge inverse of the deviations from it, in factored form."""
    a, s, bt = svd.above(np.finfo(float).eps)
    inverse = s / (s**2 + ridge * s.max(initial=0.0) ** 2)
    columns, rows = guess.by_columns(bt.T), guess.T.by_columns(a * inverse).T
    return Skeleton(
        np.hstack([columns, guess.left]),
        np.vstack([rows, guess.right]),
        guess.name,
        float(ridge),
        float(s[0] / s[-1]) if len(s) else 1.0,
        n_directions=float(inverse @ s),
    )


def _ranks_agree(observation: Observation, cross: Cross, svd: Svd) -> bool:
    """Whether rows, columns and their intersection have the same rank, below the number of either.

    Of rows drawn at random, the share of those that the others do not span is that of rows which nothing read so far
    spans (Good 1953): if it is large, the rank is larger than they show.
    """
    rounding = rounding_unit(observation.values)
    rank = exact_rank(svd.s, rounding)
    if not 0 < rank < min(cross.W.shape) or any(
        _clearly_above(rank, gram) for gram in (cross.row_gram, cross.column_gram)
    ):
        return False
    sides = ((observation.design.rows, svd.a), (observation.design.columns, svd.bt.T))
    if any(word != "adaptive" and _share_alone(vectors[:, :rank]) > MOST_ALONE for word, vectors in sides):
        return False
    return all(exact_rank(singular_values(x), rounding) == rank for x in (observation.columns, observation.rows.T))


def _share_alone(vectors: FloatArray) -> float:
    """Share of the rows, or columns, without which there would be a direction less; from singular vectors (d, r)."""
    return float(np.mean(np.sum(vectors**2, axis=1) > ALONE))


def _clearly_above(rank: int, gram: FloatArray) -> bool:
    """Whether inner products show more directions than this, by more than the square root of rounding."""
    values = np.linalg.eigvalsh(gram[:-1, :-1])
    return int(np.count_nonzero(values > 1e-10 * values[-1])) > rank


def _is_exact(plain: Skeleton, observation: Observation, use: IndexVector) -> bool:
    """Whether entries are predicted to rounding; they must not be all zero."""
    if not len(use):
        return False
    some = some_of(use, CONFIRMING)
    values = to_numpy(float64(observation.entries.take(some).values))
    limit = math.sqrt(rounding_unit(observation.values)) * float(np.linalg.norm(values))
    for judges in (some[:FIRST], some):  # a few are enough to say no
        at = entry_lines(observation, judges)
        if not 0 < limit >= np.linalg.norm(at.values - at.combined(plain.mixing, plain.coefficients)):
            return False
    return True


def _bounded(plain: Skeleton, cross: Cross) -> Skeleton:
    """The plain inverse, without the directions that make a prediction far larger than what was read."""
    rows, columns = (gram[:-1, :-1] for gram in (cross.row_gram, cross.column_gram))
    left, right = plain.mixing[:-1], plain.coefficients[:, :-1]
    if plain.condition < SAFE_CONDITION or not left.shape[1]:
        return plain
    squares = (left.T @ columns @ left) * (right @ rows @ right.T)
    read = max(np.trace(x[:-1, :-1]) / (len(x) - 1) / max(x[-1, -1], 1) for x in (cross.row_gram, cross.column_gram))
    limit = MOST_GROWTH * float(read) * cross.row_gram[-1, -1] * cross.column_gram[-1, -1]
    size = np.array([squares[:k, :k].sum() for k in range(left.shape[1] + 1)])
    kept = int(np.flatnonzero(size <= limit)[-1])
    return plain._replace(mixing=plain.mixing[:, :kept], coefficients=plain.coefficients[:kept])
