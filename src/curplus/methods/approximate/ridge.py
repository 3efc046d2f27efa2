"""Which ridge suits a first guess: the one with which rows and columns that are left out are predicted best."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..._typing import FloatArray
from ...evaluation.effective_sample import effective_sample_size
from .cross import Cross
from .entry_lines import EntryLines
from .first_guess import FirstGuess
from .leave_out import RIDGES, LeftOut, Svd, most_cautious, svd_of

__all__ = ["RidgeChoice", "ridge_for"]

FEW, COARSE = 64, 4  # with more rows and columns, every so many of the ridges are tried first


class RidgeChoice(NamedTuple):
    """A first guess with the ridge that suits it."""

    guess: FirstGuess
    svd: Svd  # of the deviations from it, where rows and columns intersect
    ridge: float  # relative to the largest squared singular value
    left_out: float = math.nan  # share of the squares of left-out rows and columns that is not predicted
    score: float = math.nan  # by which first guesses are compared
    errors: FloatArray | None = None  # squared errors that add up to it, where there are entries to judge

    def is_clearly_better(self, other: RidgeChoice) -> bool:
        """Whether its squared errors are less by more than a standard error of the difference.

        Where only one of the two could be judged by rows and columns, their sums are compared.
        """
        if self.errors is None or other.errors is None or len(self.errors) != len(other.errors):
            return self.score < other.score
        gain = other.errors - self.errors
        return float(np.sum(gain)) > float(np.std(gain)) * math.sqrt(len(gain))


class _Side(NamedTuple):
    """Rows, or columns, that are left out."""

    left_out: LeftOut
    number: int
    total: float  # sum of their squares
    stands_for: float  # how many each of them stands for
    squares_of_weights: FloatArray  # of those that are left out
    unit: float  # by which weighted squares are multiplied, so that they add up to as much as those without weights


def ridge_for(
    guess: FirstGuess,
    cross: Cross,
    plain: Svd,
    rank: int,
    uniform: bool,
    judges: EntryLines | None,
    decompose: Callable[[FloatArray], Svd] = svd_of,
) -> RidgeChoice:
    """The ridge that left-out rows and columns ask for, and entries where there are ``judges``.

    ``plain`` is the intersection as ``decompose`` gives it. Where there are many rows and columns, some of the ridges
    are tried, and then those beside the best.
    """
    svd = plain if guess.is_plain else decompose(guess.intersection(cross))
    sides = [
        _side(f, c, x)
        for f, c, x in ((guess, cross, svd), (guess.T, cross.T, svd.T))
        if len(c.W) > rank and np.trace(c.row_gram[:-1, :-1]) > 0
    ]
    if not sides:
        return RidgeChoice(guess, svd, 0.0)
    nothing = RidgeChoice(guess, svd, math.nan)
    if min(cross.W.shape) <= FEW:
        return _best(nothing, sides, uniform, judges, RIDGES)
    about = _best(nothing, sides, uniform, judges, RIDGES[::COARSE])
    k = int(np.flatnonzero(about.ridge == RIDGES)[0])
    return _best(nothing, sides, uniform, judges, RIDGES[max(k - COARSE + 1, 0) : k + COARSE])


def _side(guess: FirstGuess, cross: Cross, svd: Svd) -> _Side:
    plain = cross.row_gram[:-1, :-1]
    gram = guess.of_rows(guess.of_rows(cross.row_gram).T)
    stands_for = max(cross.unread_rows, np.finfo(float).tiny)
    squares = np.ones(len(plain)) if guess.weights is None else guess.weights.rows**2
    total = float(np.trace(plain))
    left_out = LeftOut(svd, gram, guess.own_rows)
    weighted = float(squares @ np.diag(plain))  # where all columns were read, nothing but rounding, of either sign
    unit = total / weighted if weighted > 0 else 1.0
    return _Side(left_out, len(plain), total, stands_for, squares[left_out.chosen], unit)


def _best(
    choice: RidgeChoice, sides: list[_Side], uniform: bool, judges: EntryLines | None, ridges: FloatArray
) -> RidgeChoice:
    """The choice with the largest of the ridges that is not clearly worse than the best."""
    squares = [side.left_out.squares(ridges) for side in sides]
    shares = [(x / side.squares_of_weights).sum(axis=1) / side.total for x, side in zip(squares, sides, strict=True)]
    estimates = [x * (side.unit * side.stands_for) for x, side in zip(squares, sides, strict=True)]
    larger = max(range(len(sides)), key=lambda k: sides[k].number)
    errors = np.hstack(estimates) / len(sides) if uniform else estimates[larger]
    rounding = 1e-13 * float(errors[-1].sum())
    if judges is not None:
        errors = _both(errors, _squares_at(choice, judges, ridges))
    chosen = most_cautious(errors, rounding)
    left_out = float(np.mean([share[chosen] for share in shares]))
    if judges is None:
        return choice._replace(ridge=float(ridges[chosen]), left_out=left_out, score=left_out)
    return RidgeChoice(
        choice.guess, choice.svd, float(ridges[chosen]), left_out, float(errors[chosen].sum()), errors[chosen]
    )


def _both(left_out: FloatArray, at_entries: FloatArray) -> FloatArray:
    """Two estimates of the same sum of squares together, each by how many squares it rests on in effect."""
    if not np.all(np.isfinite(left_out)):
        return at_entries
    sizes = [effective_sample_size(squares[-1]) for squares in (left_out, at_entries)]
    return np.hstack([x * (size / sum(sizes)) for x, size in zip((left_out, at_entries), sizes, strict=True)])


def _squares_at(choice: RidgeChoice, judges: EntryLines, ridges: FloatArray) -> FloatArray:
    """Squared errors at some entries for each of the ridges, shape (len(ridges), k)."""
    guess, (a, s, bt) = choice.guess, choice.svd.above(np.finfo(float).eps)
    parts = (judges.of_columns @ guess.by_columns(bt.T)) * (judges.of_rows @ guess.T.by_columns(a))
    inverses = s / (s**2 + ridges[:, None] * s.max(initial=0.0) ** 2)
    rest = judges.values - judges.combined(guess.left, guess.right) - inverses @ parts.T
    squares: FloatArray = judges.weights * rest**2
    return squares
