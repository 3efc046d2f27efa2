r"""How good an answer is, from entries and rows it did not see.

The error is known on the sampled rows and columns and where entries were fitted. What it is elsewhere can be estimated
from entries that the fit did not use: their mean squared error, times the number of places that were never read, is
what the rest contributes. Where there are none, rows can be left out and predicted. Either is an average over a sample,
and an interval for it means something only as long as no few numbers decide it. A sample of hundreds can miss what
decides; the errors on everything else that was read, often twenty times as many, are witnesses to it. Where they or the
sample itself show heavy tails, the interval is refused, with the reason.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.special
from numpy.typing import NDArray

from .._arrays import to_numpy
from .._typing import IndexVector
from ..exceptions import InvalidArgumentError
from ..factorization.factorization import Factorization
from ..methods.approximate.approximate import approximate
from ..observation.observation import Observation
from .effective_sample import sharing, tail_index, trust

__all__ = ["Certificate", "certify"]

FloatArray = NDArray[np.floating[Any]]

ROW_CAUTION = 1.15  # standard errors from left-out rows are stretched: rows share their fits
FOLDS = 10
MET = 5  # expected meetings with a kind of error: the chance that there was none is then 1 in 150


@dataclass(frozen=True)
class Certificate:
    """What is known of the error ``E = M - answer``, M as it was measured. Norms are Frobenius where not said."""

    error: float  # estimate of || E ||; nan where there is no evidence
    relative_error: float  # the same divided by an estimate of || M ||
    interval: tuple[float, float] | None  # for || E ||, at ``level``; None where it is refused
    level: float
    reason: str  # why the interval is refused; empty otherwise
    evidence: str  # "held-out entries", "left-out rows", "everything was read", or "none"
    lower_bound: float  # exact: the error at the places that were read and not fitted, or fitted badly
    spectral_lower_bound: float  # exact: the larger spectral norm of E on the sampled rows and on the columns
    spectral_estimate: float  # of || E ||_2, from left-out rows; an estimate, not a bound; nan without them
    entries_to_halve: int | None  # how many more entries would halve the interval
    squares: FloatArray  # the squared errors that the estimate rests on
    blind_share: float  # large errors at a smaller share of all places may not have been met anywhere

    @property
    def verdict(self) -> str:
        """The certificate in one sentence."""
        if math.isnan(self.error):
            return f"nothing can be said of the error but that it is at least {self.lower_bound:.4g}: {self.reason}"
        size = f"the error is about {self.error:.4g}, {self.relative_error:.2%} of the matrix"
        if self.interval is None:
            return f"{size}, and at least {self.lower_bound:.4g}; no interval: {self.reason}"
        low, high = self.interval
        return f"{size}, with {self.level:.0%} confidence between {low:.4g} and {high:.4g}"

    def __str__(self) -> str:
        lines = {
            "verdict": self.verdict,
            "evidence": f"{self.evidence}, {len(self.squares)} squared errors" if len(self.squares) else "none",
            "lower bound": f"{self.lower_bound:.4g}",
            "spectral norm": f"at least {self.spectral_lower_bound:.4g}"
            + ("" if math.isnan(self.spectral_estimate) else f", about {self.spectral_estimate:.4g}"),
        }
        if self.interval is not None:
            lines["cannot see"] = (
                f"large errors at fewer than 1 in {1 / self.blind_share:,.0f} places, "
                "or in rows and columns none of which was read"
            )
        if self.entries_to_halve is not None:
            lines["to halve the interval"] = f"{self.entries_to_halve} more entries"
        return "\n".join(f"{name}: {value}" for name, value in lines.items())


def certify(factorization: Factorization, observation: Observation, *, level: float = 0.95) -> Certificate:
    r"""Estimate the error of an answer from what its fit did not see.

    .. math:: \|E\|_F^2 \approx \|E_{\text{known}}\|_F^2 + N_{\text{rest}} \, \overline{e^2}

    The error is known on the sampled rows and columns and at the entries that were fitted.

    Parameters
    ----------
    factorization : Factorization
        The answer; its ``held_out`` says which entries its fit did not see.
    observation : Observation
        What it was computed from.
    level : float, default 0.95
        Confidence of the interval.

    Returns
    -------
    Certificate
        Print it, or ask for ``error``, ``interval``, ``reason`` and ``verdict``.

    Notes
    -----
    Held-out entries come first: they must have been drawn uniformly, or with known ``probabilities``. Otherwise, for an
    answer of :func:`curplus.approximate` and rows drawn uniformly, tenths of the rows are left out, the fit is repeated
    and predicts them; that errs a little on the safe side, since it has fewer rows.

    The interval is one for the logarithm of the mean of the squares q, which suits skewed sums. Its width follows from
    :math:`s = (\sum q)^2 / \sum q^2`, the number of squares that effectively share the sum, with Student's t of s / 4
    degrees of freedom. A few hundred squares often miss the giant ones that decide the truth, so everything else that
    was read is asked as well: s is the least of the value above and of :math:`h \bar q^2 / \overline{w^2}`, with w the
    squared errors on the sampled rows, on the sampled columns, and at the entries that were fitted (for left-out rows:
    the sums over the sampled columns). It is what s would be if the h squares were as unequal as those.

    The interval is refused where s is below 100 (50 for rows), or where the largest squares fall off more slowly than
    the power 2.5 (Hill's index of the largest 100 squared errors among all these, the single ones of left-out rows
    included, that exceed the upper twentieth of what was held or left out): below 2 there is no variance to speak of,
    and samples of this size do not tell 2 from 2.5. The standard error from rows is stretched by 1.15, since they share
    their fits.

    Errors that sit in so few places that nothing which was read shows them cannot be guarded against: to be seen in all
    but one of 150 samples, they must be expected at five of the places that were read.

    Examples
    --------
    >>> import numpy as np, curplus
    >>> rng = np.random.default_rng(0)
    >>> M = rng.standard_normal((300, 4)) @ rng.standard_normal((4, 200)) + 0.1 * rng.standard_normal((300, 200))
    >>> seen = curplus.observe(M, n_columns=10, n_rows=10, n_entries=8000, rng=0)
    >>> approx = curplus.approximate(seen, rank=4)
    >>> certificate = curplus.certify(approx, seen)
    >>> low, high = certificate.interval
    >>> bool(low < np.linalg.norm(M - approx.to_array()) < high)
    True
    """
    if not 0 < level < 1:
        raise InvalidArgumentError(f"level={level} is not a confidence. Give a number between 0 and 1, such as 0.95.")
    if factorization.shape != observation.shape:
        raise InvalidArgumentError(
            f"the answer has shape {factorization.shape} and the observation {observation.shape}. "
            "Give the observation that the answer was computed from."
        )
    seen = _Residual(factorization, observation)
    if seen.n_rest == 0:
        return seen.certificate(0.0, _Average(math.inf, 0.0, ""), np.empty(0), "everything was read", level)
    entries = _by_entries(seen, level)
    chosen = entries
    if entries.interval is None:
        rows = _by_rows(seen, level)
        if rows.interval is not None or (math.isnan(entries.error) and not math.isnan(rows.error)):
            chosen = rows
        elif rows.reason:
            chosen = replace(entries, reason=f"{entries.reason}; {rows.reason}")
    return chosen


class _Average(NamedTuple):
    """How far to trust an average of squares."""

    sharing: float  # how many of them share it, in effect
    spread: float  # relative standard error
    reason: str  # why there can be no interval; empty where there can


class _Residual:
    """The error where it is known, and the part of the matrix where it is not."""

    def __init__(self, answer: Factorization, observation: Observation) -> None:
        self.answer, self.observation = answer, observation
        n, m = observation.shape
        self.outside = observation.outside
        self.unseen_rows = np.ones(n, dtype=bool)
        self.unseen_rows[observation.row_index] = False
        self.n_rest = (n - observation.n_rows) * (m - observation.n_columns)
        parts = [to_numpy(part) for part in (observation.rows, observation.columns, observation.values)]
        self.unit = max(float(np.abs(part).max(initial=0)) for part in parts) or 1.0
        rows = self._scaled(parts[0], to_numpy(answer.rows(observation.row_index)))
        columns = self._scaled(parts[1], to_numpy(answer.columns(observation.column_index)))
        self.row_squares, self.column_squares = rows**2, columns**2
        self.known = float(np.sum(self.row_squares) + np.sum(self.column_squares[self.unseen_rows]))
        self.known_matrix = float(
            np.sum(self._scaled(parts[0]) ** 2) + np.sum(self._scaled(parts[1])[self.unseen_rows] ** 2)
        )
        self.spectral = max(_spectral(rows), _spectral(columns)) * self.unit

    def _scaled(self, values: FloatArray, guess: FloatArray | float = 0.0) -> FloatArray:
        scaled: FloatArray = (np.asarray(values, dtype=np.float64) - guess) / self.unit
        return scaled

    def squares_at(self, which: IndexVector) -> FloatArray:
        """Squared errors at some of the scattered entries, in units."""
        i, j = self.observation.i[which], self.observation.j[which]
        values = to_numpy(self.observation.values)[which]
        return self._scaled(values, to_numpy(self.answer.entries(i, j))) ** 2

    def held_out(self) -> IndexVector:
        """Entries that the fit did not see, outside the sampled lines; each place once, if all had the same chance."""
        held = self.answer.held_out[self.outside[self.answer.held_out]]
        return held if self.observation.probabilities is not None else self._once(held)

    def fitted(self, held: IndexVector) -> IndexVector:
        """Entries that the fit saw, outside the sampled lines; each place once, and none that was held out too."""
        others = self._once(np.setdiff1d(np.flatnonzero(self.outside), self.answer.held_out))
        return others[~np.isin(self._place(others), self._place(held))]

    def distinct_sum(self, which: IndexVector) -> float:
        """Sum of the squared errors at some of the entries, each place once."""
        return float(np.sum(self.squares_at(self._once(which))))

    def _place(self, which: IndexVector) -> IndexVector:
        place: IndexVector = self.observation.i[which] * self.observation.shape[1] + self.observation.j[which]
        return place

    def _once(self, which: IndexVector) -> IndexVector:
        return which[np.unique(self._place(which), return_index=True)[1]]

    def certificate(
        self, rest: float, average: _Average, squares: FloatArray, evidence: str, level: float, **more: Any
    ) -> Certificate:
        """A certificate for the estimate ``rest`` of the squares that are not ``known``."""
        known = more.pop("known", self.known)
        error = math.sqrt(known + rest) * self.unit
        interval = None
        if not average.reason:
            freedom = max(average.sharing / 4, 1.0)
            reach = math.exp(average.spread * float(scipy.special.stdtrit(freedom, (1 + level) / 2)))
            low, high = (math.sqrt(known + rest * factor) * self.unit for factor in (1 / reach, reach))
            interval = (low, high)
        matrix = math.sqrt(self.known_matrix + self._matrix_outside())
        return Certificate(
            error=error,
            relative_error=error / (matrix * self.unit) if matrix else math.nan,
            interval=interval,
            level=level,
            reason=average.reason,
            evidence=evidence,
            lower_bound=more.pop("lower_bound", math.sqrt(self.known) * self.unit),
            spectral_lower_bound=self.spectral,
            spectral_estimate=more.pop("spectral_estimate", math.nan),
            entries_to_halve=more.pop("entries_to_halve", None) if interval else None,
            squares=squares,
            blind_share=MET / max(self.observation.n_values_read, MET),
        )

    def nothing(self, level: float, reason: str) -> Certificate:
        return self.certificate(math.nan, _Average(math.nan, math.nan, reason), np.empty(0), "none", level)

    def _matrix_outside(self) -> float:
        """Sum of squares of the matrix where no line was read, from the entries there or, without them, the lines."""
        n, m = self.observation.shape
        where = np.flatnonzero(self.outside)
        if len(where):
            values = to_numpy(self.observation.values)[where] / self.unit
            return self.n_rest * float(np.average(values**2, weights=self.observation.importance_weights[where]))
        read = n * m - self.n_rest
        return self.known_matrix * self.n_rest / read if read else math.nan


def _by_entries(seen: _Residual, level: float) -> Certificate:
    observation, held = seen.observation, seen.held_out()
    if not len(held):
        return seen.nothing(level, "no entry was kept out of the fit")
    squares = seen.squares_at(held)
    weights = observation.importance_weights[held] / np.mean(observation.importance_weights[held])
    mean = float(np.mean(weights * squares))
    fitted = seen.squares_at(seen.fitted(held))
    witnesses = {
        "sampled rows": seen.row_squares.ravel(),
        "sampled columns": seen.column_squares.ravel(),
        "fitted entries": fitted,
    }
    # Places that were fitted are known; with unequal chances, the weights speak for them as well.
    n_rest, known = seen.n_rest, seen.known
    if observation.probabilities is None:
        n_rest, known = n_rest - len(fitted), known + float(np.sum(fitted))
    index = tail_index(weights * squares, *witnesses.values())
    shared, reason = trust(weights * squares, witnesses, "held-out entries", count=sharing(weights), index=index)
    drawn_once = 1 - len(held) / max(n_rest, 1) if observation.probabilities is None else 1.0
    variance = max(
        float(np.mean((weights * (squares / mean - 1)) ** 2)) / len(held) if mean > 0 else math.nan,
        1 / shared - 1 / sharing(weights),
    )
    return seen.certificate(
        n_rest * mean,
        _Average(shared, math.sqrt(max(drawn_once, 0.0) * variance), _how_drawn(observation) or reason),
        squares * seen.unit * seen.unit,
        "held-out entries",
        level,
        known=known,
        lower_bound=math.sqrt(seen.known + float(np.sum(fitted)) + seen.distinct_sum(held)) * seen.unit,
        entries_to_halve=3 * len(held),
    )


def _how_drawn(observation: Observation) -> str:
    if observation.design.entries == "uniform" or observation.probabilities is not None:
        return ""
    return "how the entries were chosen is not known, so they may not speak for the rest (observe draws uniformly)"


def _by_rows(seen: _Residual, level: float) -> Certificate:
    observation, answer = seen.observation, seen.answer
    if answer.report is None:
        return seen.nothing(level, "rows can be left out only from an answer of approximate")
    if observation.design.rows != "uniform":
        return seen.nothing(level, "the rows were not drawn uniformly, so leaving them out says nothing of the others")
    if observation.n_rows < 2 or not observation.n_columns:
        return seen.nothing(level, "too few rows were read to leave any out")
    errors = _left_out_errors(observation, max(answer.report.rank, 1)) / seen.unit
    squares = np.sum(errors**2, axis=1)
    unseen, width = observation.shape[0] - observation.n_rows, errors.shape[1]
    across = np.sum(seen.column_squares[seen.unseen_rows], axis=1) * (width / observation.n_columns)
    index = tail_index(errors.ravel() ** 2, seen.column_squares.ravel())
    shared, reason = trust(squares, {"sampled columns": across}, "left-out rows", count=len(squares), index=index)
    # The rows that were read tell of the mean; those that were not have a mean of their own.
    own = 1 + len(squares) / unseen
    spread = ROW_CAUTION * math.sqrt(max(1 / shared - 1 / len(squares), 0.0) * own)
    return seen.certificate(
        unseen * float(np.mean(squares)),
        _Average(shared, spread, reason),
        squares * seen.unit * seen.unit,
        "left-out rows",
        level,
        spectral_estimate=math.sqrt(unseen / observation.n_rows) * _spectral(errors) * seen.unit,
    )


def _left_out_errors(observation: Observation, rank: int) -> FloatArray:
    """Errors (d2, m - d1) of sampled rows, each predicted by a fit that did not have it."""
    rows = to_numpy(observation.rows)
    outside = np.ones(observation.shape[1], dtype=bool)
    outside[observation.column_index] = False
    errors = np.empty((observation.n_rows, int(outside.sum())))
    order = np.random.default_rng(0).permutation(observation.n_rows)
    for fold in np.array_split(order, min(FOLDS, observation.n_rows)):
        kept = np.setdiff1d(np.arange(observation.n_rows), fold)
        fewer = replace(observation, row_index=observation.row_index[kept], rows=rows[kept])
        guess = to_numpy(approximate(fewer, rank).rows(observation.row_index[fold]))
        errors[fold] = (rows[fold] - guess)[:, outside]
    return errors


def _spectral(x: FloatArray) -> float:
    """Spectral norm of a matrix with one short side, from its small Gram matrix."""
    gram = x @ x.T if x.shape[0] <= x.shape[1] else x.T @ x
    return math.sqrt(max(float(np.linalg.eigvalsh(gram)[-1]), 0.0)) if gram.size else 0.0
