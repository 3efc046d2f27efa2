r"""How good an approximation is, from entries and rows that its fit did not use.

The error is known on the sampled rows and columns and at fitted entries. Elsewhere, held-out entries estimate it: their
mean squared error, times the number of positions that were never read, is the contribution of the rest. If held-out
entries are few, the method is fitted again without each fold of the entries (cross-fitting), so that a fit that did not
have it predicts each entry once. If there are none, rows are left out and predicted in the same way. Each estimate is
an average over a sample, and an interval for it means something only if a few numbers do not decide it. The errors on
everything else that was read serve as reference. If they or the sample have a heavy tail, the interval is refused, with
the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..factorization import Factorization
from ..observation import Observation
from .by_entries import by_entries
from .by_rows import by_columns, by_rows
from .certificate import ALL_READ, Certificate
from .cross_fit import check_arguments, judged_part, with_what_is_withheld
from .estimate import Estimate
from .residual import Residual
from .trace import certify_by_trace

__all__ = ["certify"]

EXPECTED_MEETINGS = 5  # mathematics: draws of a kind of error: the chance of none is then exp(-5), 1 in 150


def certify(approximation: Factorization, observation: Observation, *, level: float = 0.95) -> Certificate:
    r"""Estimate the error of an approximation from what its fit did not use.

    .. math:: \|E\|_F^2 \approx \|E_{\text{known}}\|_F^2 + N_{\text{rest}} \, \overline{e^2}

    The error is known on the sampled rows and columns and at the entries that were fitted.

    Parameters
    ----------
    approximation : Factorization
        It keeps which entries its fit did not use, and the method that made it.
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
    Entries come first: they must have been drawn uniformly, or with known ``probabilities``, and those that took part
    in choosing what was read (``Observation.evidence``) do not count. If fewer than 2,000 of them were held out, and
    there are at most 20,000 in all, every one of them is held out once: the method of the approximation is fitted five
    times, each time without a fifth of them (:func:`curplus.approximate` keeps such refits, so they cost nothing more).
    A refit has fewer entries, so it errs a little more: by the mean square by which refits and approximation differ,
    with a standard error of half of that. Values judge one another's refits, which adds to the variance (Bengio and
    Grandvalet, 2004): of 0 and 1 it is most of it. Otherwise, for rows drawn uniformly, tenths of the rows are left out
    in the same way.

    For a PSD matrix (``observation.symmetry``) whose diagonal is known, approximated from its columns, nothing needs to
    be estimated: the trace of the error is known, and it bounds every other norm. ``trace`` has it, ``interval``
    holds for certain, and ``error`` is its upper end.

    Gaps count as positions that were not read: the error is known only where a value is, and a left-out row counts
    by its known values.

    The interval is one for the logarithm of the mean of the squares q, which suits skewed sums. Its width follows from
    the effective sample size :math:`s = (\sum q)^2 / \sum q^2`, with Student's t of s / 4 degrees of freedom. A few
    hundred squares often miss the largest ones, which decide the truth, so reference errors w are used as well: s is
    the smaller of two estimates, the one above and :math:`h \bar q^2 / \overline{w^2}`, which assumes that the h
    squares are as unequal as the reference errors. These are the squared errors on the sampled rows and columns, unless
    they were chosen adaptively, and at the fitted entries, unless the fit overfits them (for left-out rows: the sums
    over the sampled columns).

    The interval is refused if s is below 100 (50 for rows), or if the tail is too heavy. The tail is the largest 100 of
    all these squares that exceed the upper twentieth of what was held or left out. It is too heavy if Hill's index is
    below 2 and the *lightness*, the exponent c of a tail :math:`\exp(-x^c)` with that index there, is below 0.4
    (0.45 without reference errors). The lightness is 1 for squares of Gaussian errors and 0.5 for those of errors with
    exponential tails. From 0.6 down to 0.4, less one standard error, the upper half of the interval is widened, up to
    twice its length: missed large errors bias the estimate down. The standard error from rows is multiplied by 1.15,
    since rows share their fits.

    Of entries, bounded values need less: hardly an error is larger than the largest value less the mean of the values.
    If the lightness of the squares of these differences is at least 1, and three times the largest of them is no more
    than the sum of the squared errors, the tail of the errors is not checked, and an s of 50 is enough. By the rule of
    three, errors that no draw met would then at most double the sum.

    If the probabilities leave some positions no chance, the entries do not represent these: their mean inverse
    probability, relative to a uniform draw, is then below 1, and the interval is refused.

    Large errors in very few places may be missed by every reading. To be drawn in all but one of 150 samples, they must
    be so frequent that five readings are expected to hit them.

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
    check_arguments(approximation, observation, level, caller="certify")
    if (exact := certify_by_trace(approximation, observation)) is not None:
        return exact
    spectral_norm = Residual(approximation, observation).spectral_norm
    residual = Residual(approximation, judged_part(observation))
    estimate = _estimate(residual)
    if (bounded := observation.bounds.reason) and math.isnan(estimate.rest):
        bounded = f"{bounded}; {estimate.reason}"
    estimate = estimate._replace(reason=bounded or estimate.reason)
    return _certificate(residual, estimate, spectral_norm, level)


def _estimate(residual: Residual) -> Estimate:
    """The best estimate of the error that there is evidence for."""
    if residual.size and residual.n_rest == len(residual.once(np.flatnonzero(residual.observation.outside))):
        return _all_read(residual)
    from_entries = by_entries(residual)
    if not from_entries.reason:
        return from_entries
    found, for_an_interval = [from_entries], not math.isnan(from_entries.rest)
    for leave_out in (by_rows, by_columns):
        found.append(leave_out(residual, for_an_interval=for_an_interval))
        if not found[-1].reason:
            return found[-1]
    best = next((estimate for estimate in found if not math.isnan(estimate.rest)), from_entries)
    return best._replace(reason="; ".join(dict.fromkeys(estimate.reason for estimate in found)))


def _all_read(residual: Residual) -> Estimate:
    """The exact error, if every position was read."""
    entries = residual.once(np.flatnonzero(residual.observation.outside))
    known = float(np.sum(residual.squares_at(entries)))
    return Estimate(ALL_READ, rest=0.0, effective_size=math.inf, spread=0.0, fitted=known, read=known)


def _certificate(residual: Residual, estimate: Estimate, spectral_norm: float, level: float) -> Certificate:
    """The certificate that an estimate makes."""
    unit, known, size = residual.unit, residual.known_error + estimate.fitted, max(residual.size, 1)
    error = math.sqrt(known + estimate.rest) * unit
    interval = cell_interval = None
    if not estimate.reason:
        limits = estimate.limits(level)
        interval = _both(limits, lambda rest: math.sqrt(known + rest) * unit)
        cell_interval = _both(limits, lambda rest: math.sqrt(rest / max(estimate.n_rest, 1)) * unit)
    matrix = residual.matrix_norm() * unit
    return Certificate(
        error=error,
        relative_error=error / matrix if matrix else math.nan,
        interval=interval,
        level=float(level),
        reason=with_what_is_withheld(estimate.reason, residual.observation),
        evidence=estimate.evidence,
        lower_bound=math.sqrt(residual.known_error + estimate.read) * unit,
        spectral_lower_bound=spectral_norm,
        spectral_estimate=estimate.spectral_estimate,
        entries_to_halve=estimate.entries_to_halve if interval else None,
        errors=np.sqrt(estimate.squares) * unit,
        detection_limit=EXPECTED_MEETINGS / max(residual.observation.n_values_read, EXPECTED_MEETINGS),
        cell_error=math.sqrt(estimate.rest / estimate.n_rest) * unit if estimate.n_rest else math.nan,
        cell_interval=cell_interval if estimate.n_rest else None,
        mean_cell_error=error / math.sqrt(size),
        spread=residual.matrix_spread() * unit,
        means_error=math.sqrt(estimate.means) * unit,
        n_forbidden=residual.observation.forbidden.size(residual.observation.shape),
    )


def _both(limits: tuple[float, float], of: Callable[[float], float]) -> tuple[float, float]:
    low, high = limits
    return of(low), of(high)
