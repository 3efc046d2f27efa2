r"""How good an approximation is, from entries and rows that its fit did not use.

The error is known on the sampled rows and columns and where entries were fitted. What it is elsewhere can be estimated
from entries that the fit did not use: their mean squared error, times the number of positions that were never read, is
what the rest contributes. Where there are none, rows can be left out and predicted, by the method that made the
approximation. Either is an average over a sample, and an interval for it means something only if a few numbers do not
decide it. A sample of hundreds can miss what decides; the errors on everything else that was read, often twenty times
as many, serve as reference. Where they or the sample itself have heavy tails, the interval is refused, with the reason.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.special

from .._arrays import array_namespace, float64, take, to_numpy
from .._typing import FloatArray, Matrix
from ..exceptions import InvalidArgumentError
from ..factorization import Factorization
from ..observation import Observation
from .certificate import ALL_READ, HELD_OUT, LEFT_OUT, NO_EVIDENCE, Certificate
from .effective_sample import check_tails, effective_sample_size, tail_index
from .residual import Residual, spectral_norm, zero_at_gaps

__all__ = ["certify"]

LEAVE_OUT_INFLATION = 1.15  # of standard errors from left-out rows: rows share their fits
FOLDS = 10
EXPECTED_MEETINGS = 5  # with a kind of error: the chance that there was none is then 1 in 150


def certify(approximation: Factorization, observation: Observation, *, level: float = 0.95) -> Certificate:
    r"""Estimate the error of an approximation from what its fit did not use.

    .. math:: \|E\|_F^2 \approx \|E_{\text{known}}\|_F^2 + N_{\text{rest}} \, \overline{e^2}

    The error is known on the sampled rows and columns and at the entries that were fitted.

    Parameters
    ----------
    approximation : Factorization
        It knows which entries its fit did not use, and the method that made it.
    observation : Observation
        What it was computed from; another one is refused.
    level : float, default 0.95
        Confidence of the interval.

    Returns
    -------
    Certificate
        Print it, or ask for ``error``, ``interval``, ``reason`` and ``verdict``.

    Notes
    -----
    Held-out entries come first: they must have been drawn uniformly, or with known ``probabilities``. Otherwise, for
    rows drawn uniformly, tenths of the rows are left out, the method of the approximation is fitted again and predicts
    them; that errs a little on the safe side, since it has fewer rows.

    Gaps count as positions that were not read: the error is known only where a value is, and a left-out row is judged
    by what is known of it.

    The interval is one for the logarithm of the mean of the squares q, which suits skewed sums. Its width follows from
    the effective sample size :math:`s = (\sum q)^2 / \sum q^2`, with Student's t of s / 4 degrees of freedom. A few
    hundred squares often miss the giant ones that decide the truth, so everything else that was read is used as well:
    s is the least of the value above and of :math:`h \bar q^2 / \overline{w^2}`, with w the squared errors on the
    sampled rows, on the sampled columns, and at the entries that were fitted (for left-out rows: the sums over the
    sampled columns). It is what s would be if the h squares were as unequal as those.

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
    _check(approximation, observation, level)
    residual = Residual(approximation, observation)
    if residual.n_rest == 0:
        return _certificate(residual, Estimate(ALL_READ, rest=0.0, effective_size=math.inf, spread=0.0), level)
    by_entries = _by_entries(residual)
    if not by_entries.reason:
        return _certificate(residual, by_entries, level)
    by_rows = _by_rows(residual)
    if not by_rows.reason or (math.isnan(by_entries.rest) and not math.isnan(by_rows.rest)):
        return _certificate(residual, by_rows, level)
    reason = "; ".join(dict.fromkeys([by_entries.reason, by_rows.reason]))
    return _certificate(residual, by_entries._replace(reason=reason), level)


class Estimate(NamedTuple):
    """What the positions that are not known contribute, and how far to trust it; squares are in units."""

    evidence: str
    rest: float = math.nan  # sum of squared errors there
    effective_size: float = math.nan  # of the average that it rests on
    spread: float = math.nan  # relative standard error
    reason: str = ""  # why there can be no interval; empty where there can
    squares: FloatArray = np.empty(0)
    fitted: float = 0.0  # sum of squared errors at entries that were fitted
    read: float = 0.0  # and at all entries, as far as they are no part of the known rows and columns
    spectral_estimate: float = math.nan
    entries_to_halve: int | None = None


def _none(reason: str) -> Estimate:
    return Estimate(NO_EVIDENCE, reason=reason)


def _certificate(residual: Residual, estimate: Estimate, level: float) -> Certificate:
    """The certificate that an estimate makes."""
    unit, known = residual.unit, residual.known_error + estimate.fitted
    error = math.sqrt(known + estimate.rest) * unit
    interval = None
    if not estimate.reason:
        freedom = max(estimate.effective_size / 4, 1.0)
        reach = math.exp(estimate.spread * float(scipy.special.stdtrit(freedom, (1 + level) / 2)))
        interval = (
            math.sqrt(known + estimate.rest / reach) * unit,
            math.sqrt(known + estimate.rest * reach) * unit,
        )
    matrix = residual.matrix_norm() * unit
    return Certificate(
        error=error,
        relative_error=error / matrix if matrix else math.nan,
        interval=interval,
        level=float(level),
        reason=estimate.reason,
        evidence=estimate.evidence,
        lower_bound=math.sqrt(residual.known_error + estimate.read) * unit,
        spectral_lower_bound=residual.spectral_norm,
        spectral_estimate=estimate.spectral_estimate,
        entries_to_halve=estimate.entries_to_halve if interval else None,
        errors=np.sqrt(estimate.squares) * unit,
        detection_limit=EXPECTED_MEETINGS / max(residual.observation.n_values_read, EXPECTED_MEETINGS),
    )


def _by_entries(residual: Residual) -> Estimate:
    r"""From entries that the fit did not use.

    The rest is :math:`N \, \overline{w e^2}` with importance weights w of mean 1. Its relative variance is
    :math:`\overline{w^2 (e^2 / \overline{e^2} - 1)^2} / h`, times the finite-population factor 1 - h / N where each
    position was drawn once; it is at least what the effective sample size says.
    """
    observation, held = residual.observation, residual.held_out()
    if not len(held):
        return _none("no entry was kept out of the fit")
    squares = residual.squares_at(held)
    weights = observation.entries.importance_weights[held]
    weights = weights / np.mean(weights)
    mean = float(np.mean(weights * squares))
    fitted, steering = residual.squares_at(residual.fitted(held)), residual.squares_at(residual.steering())
    reference_errors = {
        "sampled rows": residual.row_squares,
        "sampled columns": residual.column_squares,
        "fitted entries": fitted,
    }
    index = tail_index(weights * squares, *reference_errors.values())
    n_equal = effective_sample_size(weights)
    size, reason = check_tails(weights * squares, reference_errors, HELD_OUT, count=n_equal, index=index)
    # Positions that were fitted are known; with unequal chances, the weights of the others account for all of them but
    # those that took part in choosing.
    uniform = observation.probabilities is None
    known = fitted if uniform else steering
    n_rest = residual.n_rest - len(known)
    variance = max(
        float(np.mean((weights * (squares / mean - 1)) ** 2)) / len(held) if mean > 0 else math.nan,
        1 / size - 1 / n_equal,
    )
    not_drawn = 1 - len(held) / max(n_rest, 1) if uniform else 1.0
    return Estimate(
        HELD_OUT,
        rest=n_rest * mean,
        effective_size=size,
        spread=math.sqrt(max(not_drawn, 0.0) * variance),
        reason=_design_of_entries(observation) or reason,
        squares=squares,
        fitted=float(np.sum(known)),
        read=float(np.sum(fitted)) + float(np.sum(residual.squares_at(residual.once(held)))),
        entries_to_halve=3 * len(held),
    )


def _design_of_entries(observation: Observation) -> str:
    if observation.design.entries == "uniform" or observation.probabilities is not None:
        return ""
    return "how the entries were chosen is not known, so they may not represent the rest (observe draws uniformly)"


def _by_rows(residual: Residual) -> Estimate:
    """From sampled rows, each predicted by a fit that did not have it."""
    observation, method = residual.observation, residual.approximation.provenance.method
    if method is None:
        return _none("how the approximation was made is not known, so it cannot be made again without some of its rows")
    if method.sees_whole_matrix:
        return _none("the approximation was made from the whole matrix, so leaving rows out says nothing of it")
    if observation.design.rows != "uniform":
        return _none("the rows were not drawn uniformly, so leaving them out says nothing of the others")
    if observation.n_rows < 2 or not observation.n_columns:
        return _none("too few rows were read to leave any out")
    try:
        errors, known = _left_out_errors(observation, method)
    except InvalidArgumentError as error:
        return _none(f"with a tenth of its rows left out, the approximation cannot be made again: {error}")
    if not errors.shape[0]:
        return _none("nothing is known of the sampled rows outside the sampled columns")
    errors = errors / residual.unit
    xp = array_namespace(errors)
    share = 1.0 if known is None else float(xp.mean(float64(known)))  # of these rows that is known
    squares = to_numpy(xp.sum(errors**2, axis=1)) / share
    n_rows_of_rest = residual.n_rest / errors.shape[1]  # as if it were whole rows
    listed = xp.reshape(errors**2, (-1,)) if known is None else errors[known] ** 2
    index = tail_index(listed, residual.column_squares)
    by_row = residual.unread_row_squares * (errors.shape[1] / observation.n_columns)
    size, reason = check_tails(squares, {"sampled columns": by_row}, LEFT_OUT, count=len(squares), index=index)
    # The rows that were read tell of the mean; those that were not have a mean of their own.
    own = 1 + len(squares) / n_rows_of_rest
    return Estimate(
        LEFT_OUT,
        rest=n_rows_of_rest * float(np.mean(squares)),
        effective_size=size,
        spread=LEAVE_OUT_INFLATION * math.sqrt(max(1 / size - 1 / len(squares), 0.0) * own),
        reason=reason,
        squares=squares,
        spectral_estimate=_spectral_estimate(observation, errors, share) * residual.unit,
    )


def _spectral_estimate(observation: Observation, errors: Matrix, share: float) -> float:
    """The spectral norm of the error on the rows that were not read, if they are like those that were left out."""
    unread = observation.shape[0] - observation.n_rows
    return math.sqrt(unread / observation.n_rows / share) * spectral_norm(errors)


def _left_out_errors(observation: Observation, method: Any) -> tuple[Matrix, Matrix | None]:
    """Errors (d2, m - d1) of sampled rows, each predicted by a fit that did not have it, zero at gaps; where none is.

    Rows of which nothing is known there are left out.
    """
    outside = np.setdiff1d(np.arange(observation.shape[1]), observation.column_index)
    order = np.random.default_rng(0).permutation(observation.n_rows)
    parts = []
    for fold in np.array_split(order, min(FOLDS, observation.n_rows)):
        kept = np.setdiff1d(np.arange(observation.n_rows), fold)
        refit = method.fit(observation.subset(rows=kept, design=observation.design))
        errors = float64(take(observation.rows, fold, axis=0)) - float64(refit.rows(observation.row_index[fold]))
        parts.append(take(errors, outside, axis=1))
    errors = take(array_namespace(observation.rows).concat(parts), np.argsort(order), axis=0)
    if observation.known_rows is None:
        return errors, None
    known = take(observation.known_rows, outside, axis=1)
    some = np.flatnonzero(to_numpy(array_namespace(known).any(known, axis=1)))
    errors, known = take(errors, some, axis=0), take(known, some, axis=0)
    return zero_at_gaps(errors, known), known


def _check(approximation: Any, observation: Any, level: Any) -> None:
    if not isinstance(approximation, Factorization) or not isinstance(observation, Observation):
        raise InvalidArgumentError(
            f"certify was given a {type(approximation).__name__} and a {type(observation).__name__}. "
            "Give certify(approximation, observation)."
        )
    if not isinstance(level, Real) or not 0 < float(level) < 1:
        raise InvalidArgumentError(f"level={level!r} is not a confidence. Give a number between 0 and 1, such as 0.95.")
    if approximation.shape != observation.shape:
        raise InvalidArgumentError(
            f"the approximation has shape {approximation.shape} and the observation {observation.shape}. "
            "Give the observation that the approximation was computed from."
        )
    made_from = approximation.provenance.fingerprint
    if made_from is not None and made_from != observation.fingerprint:
        names = ("columns", "rows", "positions of entries", "positions of entries", "values of entries")
        parts = zip(names, made_from, observation.fingerprint, strict=True)
        other = ", ".join(dict.fromkeys(name for name, a, b in parts if a != b))
        raise InvalidArgumentError(
            f"the approximation was computed from another observation: its {other} differ. "
            "Give the one it was computed from, or compute it again from this one."
        )
    last = int(approximation.held_out.max(initial=-1))
    if last >= observation.n_entries:
        raise InvalidArgumentError(
            f"the approximation held out entry {last}, but the observation has {observation.n_entries} entries. "
            "Give the one it was computed from."
        )
