r"""What the sampled rows and columns say of the rest: a prediction of everything that was not read.

Where sampled rows and columns intersect, both are known. If rows depend on one another in the rest of the matrix as
they do in the sampled columns, then :math:`M \approx C W^+ R` with W the intersection. On real data W is noisy, so
its inverse is shrunk by a ridge, towards a first guess (:mod:`.frame`). Which guess and how large a ridge is decided
by leaving sampled rows and columns out: predict each from its values in the intersection, compare with what was read.
All of it works on d x d matrices.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..._arrays import array_namespace, float64, rounding_unit, take, to_device, to_numpy
from ..._typing import FloatArray, IndexVector
from ...evaluation.effective_sample import effective_sample_size
from ...observation import Observation
from .cross import Cross, cross_of
from .evidence import FEWEST
from .frame import Frame, offset_frame, sum_frame, zero_frame
from .leave_out import RIDGES, left_out_squares, most_cautious
from .prediction import Prediction
from .rank import exact_rank, singular_values

__all__ = ["Skeleton", "ridge_skeleton"]

SAFE_CONDITION = 1e8  # of an intersection that is inverted as it is, where nothing can check it
MOST_GROWTH = 10.0  # beyond it, mean square of a prediction, relative to what was read
CONFIRMING = 1000  # entries that confirm an exact prediction
FEW_LINES, MOST_WITNESSES = 20, 5000  # with fewer rows and columns, as many entries help to choose


class Skeleton(NamedTuple):
    """The prediction ``[C, 1] @ mixing @ coefficients @ [R; 1]``, and what leaving rows and columns out says of it."""

    mixing: FloatArray  # (d1 + 1, k)
    coefficients: FloatArray  # (k, d2 + 1)
    frame: str = "zero"  # the first guess
    ridge: float = 0.0  # relative to the largest squared singular value; 0 where there is none
    condition: float = 1.0  # of the intersection, after the cut
    left_out_error: float = math.nan  # share of the squares of left-out rows and columns that is not predicted
    score: float = math.nan  # by which first guesses are compared
    asked_entries: bool = False  # whether entries had a part in it
    reliability: float = 0.0  # of offsets that are the first guess: the share of their variance that is not chance
    is_exact: bool = False  # whether the ranks, or all the entries, say that it is exact

    def prediction(self, observation: Observation) -> Prediction:
        """The prediction, on the device of the sample."""
        C, Rt = float64(observation.columns), float64(observation.rows).T
        xp = array_namespace(C)
        right = Rt @ to_device(self.coefficients[:, :-1].T, Rt)
        if self.frame != "offsets":
            return Prediction(C, self.mixing[:-1], right)
        features = xp.concat([C, xp.ones_like(C[:, :1])], axis=1)
        return Prediction(features, self.mixing, right + to_device(self.coefficients[:, -1], Rt))


def ridge_skeleton(observation: Observation, rank: int, use: IndexVector, offsets: str | bool = "auto") -> Skeleton:
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

    Notes
    -----
    The sums are used only where rows and columns were drawn uniformly: a chosen row says nothing of those that were not
    chosen.
    """
    cross = cross_of(observation)
    plain = _plain_inverse(cross)
    if _ranks_agree(observation, cross) or _is_exact(plain, observation, use):
        return plain._replace(is_exact=True)
    can_leave_out = max(observation.n_rows, observation.n_columns) > rank
    if not can_leave_out and (not len(use) or max(cross.W.shape) < 2):
        return _bounded(plain, cross)
    rank = rank if can_leave_out else 1
    uniform = observation.design.columns == observation.design.rows == "uniform"
    witnesses = _witnesses(observation, use) if max(cross.W.shape) < FEW_LINES else None
    candidates = [_held_back(frame, cross, rank, uniform, witnesses) for frame in _frames(cross, uniform, offsets)]
    best = min(candidates, key=lambda skeleton: skeleton.score)
    return best._replace(asked_entries=witnesses is not None)


class Witnesses(NamedTuple):
    """Some entries outside the sampled rows and columns, with what was read of their row and of their column."""

    values: FloatArray  # (k,)
    weights: FloatArray  # (k,), that add up to the number of positions they stand for
    of_columns: FloatArray  # (k, d1 + 1), values of their rows in the sampled columns, and ones
    of_rows: FloatArray  # (k, d2 + 1), values of their columns in the sampled rows, and ones


def _witnesses(observation: Observation, use: IndexVector) -> Witnesses | None:
    """Entries that say which ridge is right, where few rows and columns can be left out."""
    if len(use) < FEWEST:
        return None
    if len(use) > MOST_WITNESSES:
        use = np.random.default_rng(0).choice(use, MOST_WITNESSES, replace=False)
    return _around(observation, use)


def _around(observation: Observation, use: IndexVector) -> Witnesses:
    """Some entries, with what was read of their rows and columns; only that leaves the device."""
    at, weights = observation.entries.take(use), observation.entries.fit_weights[use]
    n_rest = (observation.shape[0] - observation.n_rows) * (observation.shape[1] - observation.n_columns)
    samples = (
        take(float64(x), index, axis=0) for x, index in ((observation.columns, at.i), (observation.rows.T, at.j))
    )
    of_columns, of_rows = (np.column_stack([to_numpy(x), np.ones(len(at))]) for x in samples)
    return Witnesses(to_numpy(float64(at.values)), weights * (n_rest / weights.sum()), of_columns, of_rows)


def _frames(cross: Cross, uniform: bool, offsets: str | bool) -> list[Frame]:
    """The first guesses that compete."""
    if offsets is True:
        return [offset_frame(cross)]
    frames = [zero_frame(cross)]
    if uniform and min(cross.W.shape) > 1:
        frames.append(sum_frame(cross))
    if offsets == "auto":
        frames.append(offset_frame(cross))
    return frames


def _held_back(frame: Frame, cross: Cross, rank: int, uniform: bool, witnesses: Witnesses | None) -> Skeleton:
    """The skeleton on deviations from a first guess, with the ridge that left-out rows and columns ask for."""
    W = frame.intersection(cross)
    squares, shares = [], []
    for f, c, w in ((frame, cross, W), (frame.T, cross.T, W.T)):
        total = float(np.trace(c.row_gram[:-1, :-1]))
        if len(w) > rank and total > 0:
            errors = left_out_squares(w, f.rows @ c.row_gram @ f.rows.T, f.own_rows)
            squares.append(errors * max(c.unread_rows, np.finfo(float).tiny))
            shares.append(errors.sum(axis=1) / total)
    if not squares:
        return _skeleton(frame, W, 0.0)
    larger = max(squares, key=lambda errors: errors.shape[1])
    errors = np.hstack(squares) / len(squares) if uniform else larger
    total = float(errors[-1].sum())
    if witnesses is not None:
        errors = _both(errors, _witness_squares(frame, W, witnesses))
    chosen = most_cautious(errors, 1e-13 * total)
    skeleton = _skeleton(frame, W, RIDGES[chosen])
    skeleton = skeleton._replace(reliability=frame.reliability)
    left_out = float(np.mean([share[chosen] for share in shares]))
    score = left_out if witnesses is None else float(errors[chosen].sum())
    return skeleton._replace(left_out_error=left_out if math.isfinite(left_out) else math.nan, score=score)


def _both(left_out: FloatArray, witnesses: FloatArray) -> FloatArray:
    """Two estimates of the same sum of squares together, each by how many squares it rests on in effect."""
    if not np.all(np.isfinite(left_out)):
        return witnesses
    sizes = [effective_sample_size(squares[-1]) for squares in (left_out, witnesses)]
    return np.hstack([x * (size / sum(sizes)) for x, size in zip((left_out, witnesses), sizes, strict=True)])


def _witness_squares(frame: Frame, W: FloatArray, witnesses: Witnesses) -> FloatArray:
    """Squared errors at some entries for each of the ridges, shape (len(RIDGES), k)."""
    a, s, bt = _kept_svd(W)
    guess = np.vecdot(witnesses.of_columns @ frame.left, witnesses.of_rows @ frame.right.T)
    parts = (witnesses.of_columns @ (frame.columns @ bt.T)) * (witnesses.of_rows @ (frame.rows.T @ a))
    inverses = s / (s**2 + RIDGES[:, None] * s.max(initial=0.0) ** 2)
    squares: FloatArray = witnesses.weights * (witnesses.values - guess - inverses @ parts.T) ** 2
    return squares


def _skeleton(frame: Frame, W: FloatArray, ridge: float) -> Skeleton:
    """The first guess, and the ridge inverse of the deviations from it, in factored form."""
    a, s, bt = _kept_svd(W)
    inverse = s / (s**2 + ridge * s.max(initial=0.0) ** 2)
    return Skeleton(
        np.hstack([frame.columns @ bt.T, frame.left]),
        np.vstack([(a * inverse).T @ frame.rows, frame.right]),
        frame.name,
        float(ridge),
        float(s[0] / s[-1]) if len(s) else 1.0,
    )


def _kept_svd(W: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Singular values above rounding, with their vectors."""
    a, s, bt = np.linalg.svd(W, full_matrices=False)
    kept = s > np.finfo(float).eps * s.max(initial=0.0)
    return a[:, kept], s[kept], bt[kept]


def _plain_inverse(cross: Cross) -> Skeleton:
    return _skeleton(zero_frame(cross), cross.W, 0.0)


def _ranks_agree(observation: Observation, cross: Cross) -> bool:
    """Whether rows, columns and their intersection have the same rank, below the number of either."""
    rounding = rounding_unit(observation.values)
    rank = exact_rank(np.linalg.svdvals(cross.W), rounding)
    if not 0 < rank < min(cross.W.shape) or any(
        _clearly_above(rank, gram) for gram in (cross.row_gram, cross.column_gram)
    ):
        return False
    return all(exact_rank(singular_values(x), rounding) == rank for x in (observation.columns, observation.rows.T))


def _clearly_above(rank: int, gram: FloatArray) -> bool:
    """Whether inner products show more directions than this, by more than the square root of rounding."""
    values = np.linalg.eigvalsh(gram[:-1, :-1])
    return int(np.count_nonzero(values > 1e-10 * values[-1])) > rank


def _is_exact(plain: Skeleton, observation: Observation, use: IndexVector) -> bool:
    """Whether entries are predicted to rounding; they must not be all zero."""
    if not len(use):
        return False
    values, _, of_columns, of_rows = _around(observation, use[:CONFIRMING])
    if not np.any(values):
        return False
    error = values - np.vecdot(of_columns @ plain.mixing, of_rows @ plain.coefficients.T)
    return bool(np.linalg.norm(error) <= math.sqrt(rounding_unit(observation.values)) * np.linalg.norm(values))


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
