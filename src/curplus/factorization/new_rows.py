r"""Rows that the matrix does not have yet, completed from those of their values that are known.

The fitted rows show what rows look like: their mean :math:`c`, and how far they lie along which directions (the columns
of F, so that :math:`F F^\top` is the covariance of the fitted rows). A new row is

.. math:: x = c + a \mathbf 1 + F w + e, \qquad w \sim N(0, I), \quad a \sim N(0, \psi^2), \quad
          e \sim N(0, \sigma^2 I),

with the noise :math:`\sigma` that the fit found. An offset a costs no more than the residual of a single value: where
the directions say nothing, a share k / (k + 1) of it is found from k known values, however alike the fitted rows are.
So it is never zero because the rest is shrunk, and takes nothing from what directions explain exactly. An offset of
more than three standard deviations has itself shown that it can be larger, and is hardly shrunk at all.

The prior is in ``row_prior.py``. Given the known values, w and a have a closed form, in ``row_scores.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._arrays import array_namespace, gather, largest, power_of_two, take, to_device, to_numpy
from .._typing import FloatArray, Matrix, Names
from ..exceptions import InvalidArgumentError
from .row_prior import row_prior
from .row_scores import KnownValues, row_scores
from .tables import check_not_infinite, column_order, like_table, numbers, within

if TYPE_CHECKING:
    from .factorization import Factorization

__all__ = ["Limits", "complete_columns", "complete_rows"]

FAR = 3.0  # in standard deviations: an offset beyond is not one of the fitted rows


class Limits(NamedTuple):
    """Between which numbers all predictions lie; None for no limit."""

    min_value: float | None = None
    max_value: float | None = None


def complete_rows(approximation: Factorization, rows: Any, limits: Limits) -> Any:
    """A table of new rows (p, m) with predictions in place of NaN; see :meth:`curplus.Factorization.complete_rows`."""
    values, _, names = numbers(rows, name="rows")
    return like_table(rows, _filled(approximation, values, names, limits, ("rows", "columns")))


def complete_columns(approximation: Factorization, columns: Any, limits: Limits) -> Any:
    """A table of new columns (n, p) with predictions in place of NaN."""
    values, names, _ = numbers(columns, name="columns")
    return like_table(columns, _filled(approximation.T, values.T, names, limits, ("columns", "rows")).T)


def _filled(
    approximation: Factorization, values: Matrix, names: Names | None, limits: Limits, words: tuple[str, str]
) -> Matrix:
    """The rows with predictions in place of NaN."""
    (name, axis), m = words, approximation.shape[1]
    if values.shape[1] != m:
        raise InvalidArgumentError(
            f"the new {name} have {values.shape[1]} values each but the matrix has {m} {axis}. Give a value for each "
            f"of its {axis}, NaN where it is not known."
        )
    check_not_infinite(values, name=name)
    order = column_order(names, approximation.column_names, name=name, axis=axis)
    xp = array_namespace(values)
    is_known = ~xp.isnan(values)
    predicted = within(_predicted(approximation, values if order is None else values[:, order]), *limits, like=values)
    return xp.where(is_known, values, predicted if order is None else predicted[:, np.argsort(order)])


def _predicted(approximation: Factorization, rows: Matrix) -> Matrix:
    """Predictions for all values of ``rows``, in the library of the approximation."""
    xp = array_namespace(rows)
    i, j = (to_numpy(k).astype(np.int64, copy=False) for k in xp.nonzero(~xp.isnan(rows)))
    prior = row_prior(approximation)
    deviations = to_numpy(gather(rows, i, j)).astype(np.float64) - to_numpy(take(prior.mean, j, axis=0))
    unit = power_of_two(largest(deviations), deviations)
    known = KnownValues(i, j, np.column_stack([deviations / unit, np.ones(len(i))]))
    scores, response = row_scores(known, tuple(rows.shape), prior.directions, prior.noise)
    if not prior.is_exact:
        scores = _with_far_offsets(scores, response, prior.offset, prior.unit / unit)
    return prior.mean + unit * (to_device(scores, prior.mean) @ prior.directions.T)


def _with_far_offsets(scores: FloatArray, response: FloatArray, length: float, unit: float) -> FloatArray:
    r"""Scores in which offsets that rows like the fitted ones do not have are hardly shrunk.

    Parameters
    ----------
    scores : array of shape (p, r + 1)
        For the deviations of each row from the mean row.
    response : array of shape (p, r + 1)
        The same for deviations of 1. Of any offset, a share ``length * response[:, -1]`` is found.
    length : float
        Of the direction of the offset.
    unit : float
        Of the prior, in terms of that of the scores.

    Notes
    -----
    An offset that is z times its standard deviation, z > 3, has itself shown that its variance is larger; with the most
    likely variance, a share of :math:`1 - 1/z^2` of it is found. The other directions follow, without what they
    explained of it.
    """
    share = np.clip(length * response[:, -1], np.finfo(float).tiny, 1 - np.finfo(float).eps)
    z = scores[:, -1] / (unit * np.sqrt(share * (1 - share)))
    far = np.abs(z) > FAR
    grown = np.where(far, np.maximum(share, 1 - 1 / np.where(far, z, 1) ** 2), share)
    less = (1 - grown / share) * length * scores[:, -1] / (1 - share)  # of the offset, so that more of it is explained
    out: FloatArray = scores + less[:, None] * response
    out[:, -1] = scores[:, -1] * grown / share
    return out
