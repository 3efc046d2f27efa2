r"""How good an answer is, from entries and rows it did not see.

The error on the sampled rows and columns is known. What it is elsewhere can be estimated from entries that the fit did
not use: their mean squared error, times the number of places that were never read, is what the rest contributes. Where
there are none, rows can be left out and predicted. Either is an average over a sample, and an interval for it means
something only as long as no few numbers decide it: on heavy-tailed errors it is refused, with the reason.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.special
from numpy.typing import NDArray

from ._arrays import to_numpy
from ._typing import IndexVector
from .approximation import approximate
from .exceptions import InvalidArgumentError, MissingExtraError
from .factorization import Factorization
from .observation import Observation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Certificate", "certify"]

FloatArray = NDArray[np.floating[Any]]

FEWEST = {"held-out entries": 100, "left-out rows": 50}  # how many must share an average that is given an interval
LARGEST_SHARE = {"held-out entries": 0.03, "left-out rows": 0.05}  # most that one of them may contribute
HEAVIEST = 2.0  # least power with which the largest of them must fall off
ROW_CAUTION = 1.15  # standard errors from left-out rows are stretched: rows share their fits
FOLDS = 10


@dataclass(frozen=True)
class Certificate:
    """What is known of the error ``E = M - answer``, M as it was measured. Norms are Frobenius where not said."""

    error: float  # estimate of || E ||; nan where there is no evidence
    relative_error: float  # the same divided by an estimate of || M ||
    interval: tuple[float, float] | None  # for || E ||, at ``level``; None where it is refused
    level: float
    reason: str  # why the interval is refused; empty otherwise
    evidence: str  # "held-out entries", "left-out rows", or "none"
    lower_bound: float  # exact: the error at the places that were read and not fitted, or fitted badly
    spectral_lower_bound: float  # exact: the larger spectral norm of E on the sampled rows and on the columns
    spectral_estimate: float  # of || E ||_2, from left-out rows; an estimate, not a bound; nan without them
    entries_to_halve: int | None  # how many more entries would halve the interval
    squares: FloatArray  # the squared errors that the estimate rests on

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
        if self.entries_to_halve is not None:
            lines["to halve the interval"] = f"{self.entries_to_halve} more entries"
        return "\n".join(f"{name}: {value}" for name, value in lines.items())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Which share of the squared errors the largest ones make up: an interval is given while none stands out.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure if left out.

        Returns
        -------
        matplotlib.axes.Axes
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise MissingExtraError("pictures need Matplotlib: pip install 'curplus[plot]'.") from error
        ax = plt.subplots(figsize=(6, 3.6), layout="constrained")[1] if ax is None else ax
        share = np.sort(self.squares)[::-1] / max(float(np.sum(self.squares)), np.finfo(float).tiny)
        rank = np.arange(1, len(share) + 1)
        ax.loglog(rank, share, color="#0072b2", lw=2, label="share of each squared error, largest first")
        guard = LARGEST_SHARE.get(self.evidence, 1.0)
        ax.axhline(guard, color="#d55e00", ls="--", label=f"guard: {guard:.0%}")
        positive = share[share > 0]
        if len(positive):
            ax.set_ylim(max(positive.min(), positive.max() * 1e-6) / 2, 1.0)
        ax.set(xlabel=f"rank among {len(share)} ({self.evidence})", ylabel="share of the sum")
        interval = "refused" if self.interval is None else f"{self.interval[0]:.3g} to {self.interval[1]:.3g}"
        ax.set_title(f"error {self.error:.3g}, interval {interval}", fontsize=10)
        ax.legend(fontsize=8, frameon=False)
        ax.grid(alpha=0.3)
        return ax


def certify(factorization: Factorization, observation: Observation, *, level: float = 0.95) -> Certificate:
    r"""Estimate the error of an answer from what its fit did not see.

    .. math:: \|E\|_F^2 \approx \|E_{\text{known rows and columns}}\|_F^2 + N_{\text{rest}} \, \overline{e^2}

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

    The interval is one for the logarithm of the mean of the squares q, which suits skewed sums, with Student's t and a
    quarter of :math:`s = (\sum q)^2 / \sum q^2` degrees of freedom, where s is the number of squares that effectively
    share the sum; the standard error from rows is stretched by 1.15, since they share their fits. It is refused where
    s is below 100 (50 for rows), where one square has more than 3 % of the sum (5 % for rows), or where the largest
    twentieth falls off so slowly (Hill's index, less its standard error, below 2) that the variance may not exist: what
    was not drawn may hold more than what was.

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
    entries = _by_entries(seen, level)
    chosen = entries
    if entries.interval is None:
        rows = _by_rows(seen, level)
        if rows.interval is not None or (math.isnan(entries.error) and not math.isnan(rows.error)):
            chosen = rows
        elif rows.reason:
            chosen = replace(entries, reason=f"{entries.reason}; {rows.reason}")
    return chosen


class _Residual:
    """The error where it is known, and the part of the matrix where it is not."""

    def __init__(self, answer: Factorization, observation: Observation) -> None:
        self.answer, self.observation = answer, observation
        n, m = observation.shape
        known_rows, known_columns = np.zeros(n, dtype=bool), np.zeros(m, dtype=bool)
        known_rows[observation.row_index] = known_columns[observation.column_index] = True
        rows = to_numpy(observation.rows) - to_numpy(answer.rows(observation.row_index))
        columns = to_numpy(observation.columns) - to_numpy(answer.columns(observation.column_index))
        self.outside = ~(known_rows[observation.i] | known_columns[observation.j])
        self.n_rest = (n - observation.n_rows) * (m - observation.n_columns)
        self.unit = max(float(np.abs(to_numpy(part)).max(initial=0)) for part in
                        (observation.rows, observation.columns, observation.values)) or 1.0  # fmt: skip
        self.known = (_sum(rows, self.unit) + _sum(columns[~known_rows], self.unit)) * 1.0
        self.known_matrix = _sum(to_numpy(observation.rows), self.unit) + _sum(
            to_numpy(observation.columns)[~known_rows], self.unit
        )
        self.spectral = max(_spectral(rows / self.unit), _spectral(columns / self.unit)) * self.unit

    def held_out(self) -> IndexVector:
        """Entries that the fit did not see, outside the sampled lines; each place once, if all had the same chance."""
        held = self.answer.held_out[self.outside[self.answer.held_out]]
        if self.observation.probabilities is not None:
            return held
        place = self.observation.i[held] * self.observation.shape[1] + self.observation.j[held]
        return held[np.unique(place, return_index=True)[1]]

    def certificate(
        self, rest: float, spread: float, squares: FloatArray, evidence: str, level: float, reason: str, **more: Any
    ) -> Certificate:
        """A certificate for the estimate ``rest`` of the squares outside, with its relative standard error."""
        error = math.sqrt(self.known + rest) * self.unit
        interval = None
        if not reason:
            freedom = max(_sharing(squares) / 4, 1.0)
            reach = math.exp(spread * float(scipy.special.stdtrit(freedom, (1 + level) / 2)))
            low, high = (math.sqrt(self.known + rest * factor) * self.unit for factor in (1 / reach, reach))
            interval = (low, high)
        matrix = math.sqrt(self.known_matrix + self._matrix_outside())
        return Certificate(
            error=error,
            relative_error=error / (matrix * self.unit) if matrix else math.nan,
            interval=interval,
            level=level,
            reason=reason,
            evidence=evidence,
            lower_bound=more.pop("lower_bound", math.sqrt(self.known) * self.unit),
            spectral_lower_bound=self.spectral,
            spectral_estimate=more.pop("spectral_estimate", math.nan),
            entries_to_halve=more.pop("entries_to_halve", None) if interval else None,
            squares=squares,
        )

    def nothing(self, level: float, reason: str) -> Certificate:
        return self.certificate(math.nan, math.nan, np.empty(0), "none", level, reason)

    def _matrix_outside(self) -> float:
        """Sum of squares of the matrix where no line was read, from the entries there or, without them, the lines."""
        n, m = self.observation.shape
        where = np.flatnonzero(self.outside)
        if len(where):
            values = to_numpy(self.observation.values)[where] / self.unit
            return self.n_rest * float(np.average(values**2, weights=self.observation.inverse_chances[where]))
        read = n * m - self.n_rest
        return self.known_matrix * self.n_rest / read if read else math.nan


def _by_entries(seen: _Residual, level: float) -> Certificate:
    observation, held = seen.observation, seen.held_out()
    if not len(held):
        return seen.nothing(level, "no entry was kept out of the fit")
    values = to_numpy(observation.values)[held] / seen.unit
    guess = to_numpy(seen.answer.entries(observation.i[held], observation.j[held])) / seen.unit
    squares = (values - guess) ** 2
    weights = observation.inverse_chances[held]
    mean = float(np.average(squares, weights=weights))
    influence = weights * (squares - mean) / np.mean(weights)
    drawn_once = 1 - len(held) / max(seen.n_rest, 1) if observation.probabilities is None else 1.0
    spread = math.sqrt(max(drawn_once, 0.0) * float(np.mean(influence**2)) / len(held)) / mean if mean > 0 else math.nan
    reason = _how_drawn(observation) or _heavy_tail(weights * squares, "held-out entries")
    return seen.certificate(
        seen.n_rest * mean,
        spread,
        squares * seen.unit**2,
        "held-out entries",
        level,
        reason,
        lower_bound=math.sqrt(seen.known + float(np.sum(squares))) * seen.unit,
        entries_to_halve=3 * len(held),
    )


def _how_drawn(observation: Observation) -> str:
    if observation.drawn.entries == "uniform" or observation.probabilities is not None:
        return ""
    return "how the entries were chosen is not known, so they may not speak for the rest (observe draws uniformly)"


def _heavy_tail(squares: FloatArray, what: str) -> str:
    """Why an average of ``squares`` cannot be trusted; empty where it can."""
    total = float(np.sum(squares))
    if total == 0:
        return f"all errors of the {len(squares)} {what} are zero, which says nothing of those that were not drawn"
    sharing, largest, index = _sharing(squares), float(np.max(squares)) / total, _tail_index(squares)
    if sharing < FEWEST[what]:
        return f"the error rests on too few of the {what}: {sharing:.0f} in effect, and it takes {FEWEST[what]}"
    if largest > LARGEST_SHARE[what]:
        most = LARGEST_SHARE[what]
        return f"one of the {what} has {largest:.0%} of the squared error, and {most:.0%} is the most to trust"
    if index < HEAVIEST:
        return f"the largest squared errors of the {what} fall off too slowly (index {index:.1f}, below {HEAVIEST:g})"
    return ""


def _sharing(squares: FloatArray) -> float:
    """How many squares share their sum: their number if all are equal, 1 if one has everything."""
    shares = squares / max(float(np.sum(squares)), np.finfo(float).tiny)
    return 1 / max(float(np.sum(shares**2)), np.finfo(float).tiny)


def _tail_index(squares: FloatArray) -> float:
    """Hill's estimate of the power with which the largest twentieth falls off, less its standard error.

    The variance is finite above 2.
    """
    top = np.sort(squares)[::-1][: max(10, len(squares) // 20) + 1]
    top = top[top > 0]
    excess = np.log(top[:-1] / top[-1]) if len(top) > 1 else np.zeros(1)
    return (1 - 1 / math.sqrt(len(excess))) / float(np.mean(excess)) if np.any(excess > 0) else math.inf


def _by_rows(seen: _Residual, level: float) -> Certificate:
    observation, answer = seen.observation, seen.answer
    if answer.choices is None:
        return seen.nothing(level, "rows can be left out only from an answer of approximate")
    if observation.drawn.rows != "uniform":
        return seen.nothing(level, "the rows were not drawn uniformly, so leaving them out says nothing of the others")
    if observation.n_rows < 2 or not observation.n_columns:
        return seen.nothing(level, "too few rows were read to leave any out")
    errors = _left_out_errors(observation, max(answer.choices.rank, 1)) / seen.unit
    squares = np.sum(errors**2, axis=1)
    mean = float(np.mean(squares))
    spread = ROW_CAUTION * float(np.std(squares, ddof=1)) / math.sqrt(len(squares)) / mean if mean > 0 else math.nan
    unseen = observation.shape[0] - observation.n_rows
    return seen.certificate(
        unseen * mean,
        spread,
        squares * seen.unit**2,
        "left-out rows",
        level,
        _heavy_tail(squares, "left-out rows"),
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


def _sum(x: FloatArray, unit: float) -> float:
    return float(np.sum((x / unit) ** 2))


def _spectral(x: FloatArray) -> float:
    """Spectral norm of a matrix with one short side, from its small Gram matrix."""
    gram = x @ x.T if x.shape[0] <= x.shape[1] else x.T @ x
    return math.sqrt(max(float(np.linalg.eigvalsh(gram)[-1]), 0.0)) if gram.size else 0.0
