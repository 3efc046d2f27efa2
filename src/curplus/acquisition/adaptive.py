"""The automatic choice of rows and columns: unlike the others, large, or not touched by any reading yet."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import adjoint, array_namespace, take, to_device, to_numpy
from .._typing import FloatArray, IndexVector, Vector
from ..evaluation.effective_sample import FEWEST_FOR_T
from .candidates import Candidates
from .score import ResidualColumns, gumbel_keys, gumbel_noise, squared_norms

__all__ = ["Adaptive", "are_untouched"]

POWER = 3  # of expected squares, in draws by size
UNTOUCHED = 0.01  # a candidate with less than this share of the mean squares in the sample is untouched
ALIKE = 0.2  # share by which candidates may differ in what they explain, and one of them is drawn
SURPRISE = 0.2  # share of the square of one entry that counts for its candidate: single entries exaggerate


@dataclass(frozen=True)
class Adaptive:
    r"""The automatic choice: something of each rule, in proportions that suit dense and sparse matrices alike.

    A good sample has one column of every large group of similar columns, the few that are unlike all others, and those
    that are so large that they should be known exactly; rows likewise. Each round takes these shares, of the kind (rows
    or columns) of which clearly more are wanted and of the other, in this order

    ====================================  ===============  ===============
    the candidate that ...                of the more      else
    ====================================  ===============  ===============
    explains most of the residuals        a quarter        half
    is drawn by its residual              a quarter        half
    is drawn by its expected squares      half             none
    ====================================  ===============  ===============

    Of candidates that explain about as much, within a fifth, one is drawn by its residual: the best of many similar
    ones is best by its noise. The other draws have chances in proportion to the third power of the squares: they almost
    follow the order of size if sizes are very unequal, and are almost uniform otherwise. A draw by expected squares
    takes a candidate outside the span of those taken as long as there is one, and fills the round after that.

    **Exploration.** A row that is zero in every sampled column carries no information. Half of the entries are
    therefore read first; their mean square in such rows, with one prior observation of the size of the others, is the
    expected gain of a uniform choice among them. A candidate with a smaller residual gives its place to such a choice
    (half of a round at most). An entry that the rows and columns read so far do not explain adds to the residual of its
    row and column, which is how a small untouched block is found.

    **Size.** Rows that are large in the sampled columns are often large elsewhere, as in text; or they are merely near
    those columns, as in a kernel. Expected squares follow a power of the size, between 0 and 1. It is fitted to the
    rows read so far: the residual of each, given the others, against its size in the sample.

    Parameters
    ----------
    rounds : int, default 8
        More rounds are slightly better and take more time.
    steering : float, default 0.5
        Share of the entries that is read first and helps to choose. They are then no evidence of the error.

    Notes
    -----
    Pivoting alone misses groups: none of a hundred similar documents has a large residual, but together
    they can be a leading singular vector. Proportions and power were settled on four real matrices (Dexter, Farm Ads,
    KOS, MNIST), the rules for entries and similar candidates on blocks, communities, kernels, rows of noise and
    a hidden block as well; ``benchmarks/acquisition.py`` and ``benchmarks/exploration.py`` measure them on those and
    others. ``benchmarks/choice_parts.py`` leaves out one part after the other: without the draws by expected squares
    Basehock is 12 % worse, without their power a kernel is 28 % worse.
    """

    rounds: int = 8
    steering: float = 0.5

    def choose(self, candidates: Candidates, count: int, rng: np.random.Generator) -> IndexVector:
        expected = _expected(candidates)
        chosen, n_places, is_spanned = _different_ones(candidates, expected, count, rng)
        chosen += _untouched_ones(expected, chosen, n_places, rng)
        if len(chosen) < count:
            chosen += _drawn_by_size(candidates, expected, chosen, count - len(chosen), rng, is_spanned=is_spanned)
        return np.asarray(chosen, dtype=np.int64)


class Expected(NamedTuple):
    """The expected gain of candidates, in squares at as many positions as the sample has."""

    surprise: FloatArray  # (size,): what unexplained entries add
    untouched: NDArray[np.bool_]  # (size,): candidates that are zero in the sample
    of_untouched: float  # expected squares of a uniform draw among them; 0 if not known
    of_touched: float  # and among the others


def are_untouched(candidates: Candidates) -> NDArray[np.bool_]:
    """Which candidates are nearly zero in the sample, so that only single entries can show them, shape (size,)."""
    norms = to_numpy(squared_norms(candidates.sample))
    untouched: NDArray[np.bool_] = (norms < UNTOUCHED * np.mean(norms)) & candidates.is_available
    return untouched


def _expected(candidates: Candidates) -> Expected:
    d, size = candidates.sample.shape
    norms = to_numpy(squared_norms(candidates.sample))
    untouched = are_untouched(candidates)
    touched = candidates.is_available & ~untouched
    size_of_touched = float(np.mean(norms[touched])) / d if np.any(touched) else 0.0
    of_untouched = d * _mean_square(candidates, untouched, prior=size_of_touched)
    of_touched = d * _mean_square(candidates, touched)
    surprise = SURPRISE * np.bincount(candidates.entry_index, candidates.entry_squares, size)
    return Expected(surprise, untouched, of_untouched, of_touched)


def _expected_squares(candidates: Candidates, expected: Expected) -> FloatArray:
    """The expected squares of each candidate, shape (size,)."""
    squares: FloatArray = to_numpy(squared_norms(candidates.sample)) ** _power_of_size(candidates)
    if expected.of_untouched > 0 and expected.of_touched > 0:
        touched = candidates.is_available & ~expected.untouched
        squares *= expected.of_touched / np.mean(squares[touched])
        squares[expected.untouched] = expected.of_untouched
    return squares + expected.surprise


def _mean_square(candidates: Candidates, among: NDArray[np.bool_], *, prior: float = 0.0) -> float:
    """Mean squared residual of the entries in some of the candidates; 0 if there are too few.

    A ``prior`` counts as one entry more: if none of a few entries is large, others may still be.
    """
    squares = candidates.entry_squares[among[candidates.entry_index]]
    if len(squares) < FEWEST_FOR_T:
        return 0.0
    return (float(np.sum(squares)) + prior) / (len(squares) + (prior > 0))


def _power_of_size(candidates: Candidates) -> float:
    """The power, from 0 to 1, of a candidate's squares in the sample that its squares elsewhere follow.

    It is twice the slope of a regression, on logarithms, of the residuals of candidates read whole, each given the
    others; two standard errors are added, so that it is below 1 only if the entries clearly show it.
    """
    if candidates.whole is None or candidates.whole.shape[1] < 4:
        return 1.0
    whole = candidates.taken[: candidates.whole.shape[1]]
    sizes = to_numpy(squared_norms(take(candidates.sample, whole, axis=1)))
    left = _unexplained_by_others(to_numpy(adjoint(candidates.whole) @ candidates.whole))
    some = (sizes > 1e-12 * np.max(sizes, initial=0)) & (left > 1e-12 * np.max(left, initial=0))
    if np.count_nonzero(some) < 3:
        return 1.0
    x, y = np.log(sizes[some]), np.log(left[some])
    x, y = x - np.mean(x), y - np.mean(y)
    total = float(x @ x) + 1e-12
    slope = float(x @ y) / total
    error = math.sqrt(float(np.sum((y - slope * x) ** 2)) / max(len(x) - 2, 1) / total)
    return float(np.clip(2 * (slope + 2 * error), 0.0, 1.0))


def _unexplained_by_others(gram: FloatArray) -> FloatArray:
    """Squared distance of each vector from the span of the others, from their inner products."""
    ridge = 1e-6 * np.trace(gram).real / len(gram) or 1.0
    return 1.0 / np.diag(np.linalg.inv(gram + ridge * np.eye(len(gram)))).real


def _different_ones(
    candidates: Candidates, expected: Expected, count: int, rng: np.random.Generator
) -> tuple[list[int], int, bool]:
    """Candidates with large residuals, how many of their places are better drawn, and whether nothing is left over."""
    sample, taken, excluded, prices = candidates.sample, candidates.taken, candidates.excluded, candidates.prices
    wanted = math.ceil(count / 2) if candidates.wanted_more else count
    residual = ResidualColumns(sample, taken, excluded, prices)
    picks = _picks(residual, expected.surprise, wanted, len(taken) % 2 == 0, rng)
    worse = [j for j, squares in picks if squares < expected.of_untouched][: math.ceil(count / 2)]
    chosen = [j for j, _ in picks if j not in worse]
    is_spanned = len(picks) < wanted
    if candidates.wanted_more and is_spanned:  # a second choice
        unavailable = np.concatenate([taken, excluded, chosen]).astype(np.int64)
        residual = ResidualColumns(sample, excluded=unavailable, prices=prices)
        chosen += [j for j, _ in _picks(residual, expected.surprise, wanted - len(picks), True, rng)]
    return chosen, len(worse), is_spanned


def _picks(
    residual: ResidualColumns, surprise: FloatArray, count: int, explaining_first: bool, rng: np.random.Generator
) -> list[tuple[int, float]]:
    """Up to ``count`` picks, each with its squares: half explain most of the residuals, the others are drawn by them.

    Of an odd number, the first kind has one more.
    """
    by_residual = _drawn_by_residual(residual, surprise, POWER, rng)
    explaining = _explaining(residual, _drawn_by_residual(residual, surprise, 1, rng))
    n_explaining = (count + explaining_first) // 2
    picks = []
    for t in range(count):
        before = residual.residual_norms
        picked = residual.pick(1, explaining if t < n_explaining else by_residual)
        picks += [(j, float(before[j]) + float(surprise[j])) for j in picked]
    return picks


def _explaining(residual: ResidualColumns, drawn: Callable[[], Vector]) -> Callable[[], Vector]:
    """Scores of those that explain most of the residuals; of those that explain about as much, one is drawn.

    The very best of many similar ones is best by its noise, which is then larger in the sample than elsewhere.
    """

    def scores() -> Vector:
        explained, keys = residual.explained(ridge=0.1), drawn()
        xp = array_namespace(explained)
        best = float(xp.max(xp.where(residual.selectable, explained, xp.zeros_like(explained))))
        return xp.where(explained >= (1 - ALIKE) * best, keys, xp.full_like(keys, -math.inf))

    return scores


def _drawn_by_residual(
    residual: ResidualColumns, surprise: FloatArray, power: int, rng: np.random.Generator
) -> Callable[[], Vector]:
    """Scores whose order is that of draws by a power of residuals and surprises, for their price."""
    xp = array_namespace(residual.residual_norms)
    noise = gumbel_noise(len(surprise), rng, residual.residual_norms)  # once: scores are asked for at every pick
    unexplained = to_device(surprise, noise)

    def scores() -> Vector:
        squares = residual.worth(xp.clip(residual.residual_norms, min=0.0) + unexplained)
        return power * xp.log(xp.clip(squares, min=float(np.finfo(float).tiny))) + noise

    return scores


def _untouched_ones(expected: Expected, chosen: list[int], count: int, rng: np.random.Generator) -> list[int]:
    """Untouched candidates not chosen yet: half have the most surprising entries, others are uniform draws."""
    untouched = rng.permutation(np.setdiff1d(np.flatnonzero(expected.untouched), chosen))
    order = untouched[np.argsort(-expected.surprise[untouched], kind="stable")]
    named = [int(j) for j in order[: math.ceil(count / 2)] if expected.surprise[j] > 0]
    blind = untouched[~np.isin(untouched, named)][: count - len(named)]
    return named + [int(j) for j in blind]


def _drawn_by_size(
    candidates: Candidates,
    expected: Expected,
    chosen: list[int],
    count: int,
    rng: np.random.Generator,
    *,
    is_spanned: bool,
) -> list[int]:
    """So many more draws, by expected squares: of untouched candidates, of those that bring something new."""
    power = POWER if candidates.wanted_more else 1
    squares = candidates.worth(_expected_squares(candidates, expected))
    keys = gumbel_keys((squares / (np.max(squares, initial=0.0) or 1.0)) ** power, rng)
    drawn: list[int] = []
    if expected.of_untouched > 0:
        first = _leading(candidates.available_except(chosen), keys, count)
        drawn += first[expected.untouched[first]].tolist()
    if not is_spanned:
        taken = np.concatenate([candidates.taken, chosen, drawn]).astype(np.int64)
        residual = ResidualColumns(candidates.sample, taken, candidates.excluded)
        by_key = to_device(keys, residual.residual_norms)
        drawn += residual.pick(count - len(drawn), lambda: by_key)
    drawn += _leading(candidates.available_except(chosen + drawn), keys, count - len(drawn)).tolist()
    return drawn


def _leading(others: IndexVector, keys: FloatArray, count: int) -> IndexVector:
    """Those with the largest keys, in order, the first ones of equal keys; only these few are sorted."""
    if count <= 0:
        return others[:0]
    if count < len(others):
        least = np.partition(keys[others], len(others) - count)[len(others) - count]
        others = others[keys[others] >= least]
    return others[np.argsort(-keys[others], kind="stable")][:count]
