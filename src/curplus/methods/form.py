r"""The approximation made of the sampled columns and rows, so that it has a C U R form.

The free answer takes its directions from everything that was read, and is not confined to the span of the samples.
With orthonormal bases :math:`Q_C` of the sampled columns and :math:`Q_R` of the sampled rows,

.. math:: \hat M_{\text{cur}} = Q_C \, (Q_C^\top \hat M \, Q_R) \, Q_R^\top

is the matrix nearest to the free answer :math:`\hat M` that is made of them. Ridge, weights and rank of the free answer
are kept.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .._arrays import (
    abs_squared,
    adjoint,
    array_namespace,
    device,
    double,
    largest,
    rounding_unit,
    small_svd,
    to_device,
    to_numpy,
)
from .._typing import IndexVector, Matrix
from ..exceptions import InvalidArgumentError
from ..factorization import Basis, Core, Fact, Factorization, leading_basis
from ..factorization.symmetric import leading_eigenvalues, symmetric_core
from ..observation import Observation

__all__ = ["FORMS", "InSpan", "check_form", "in_form", "in_span", "stored"]

FORMS = ("free", "cur")


class InSpan(NamedTuple):
    """An approximation that is made of sampled columns and rows, and what that costs."""

    approximation: Factorization
    outside: float  # share of the squares of the free answer that does not lie in the span

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The cost as facts."""
        label, unit = "outside the span of the samples", "of the squares of the free answer, left out"
        return (Fact("outside_span", self.outside, label, unit, is_judgement=True),)


def check_form(form: Any, observation: Observation) -> str:
    """A form that this observation can have."""
    if form not in FORMS:
        raise InvalidArgumentError(f"form={form!r} is unknown. Give one of {', '.join(map(repr, FORMS))}.")
    if form == "cur":
        _check_samples(observation)
    return str(form)


def _check_samples(observation: Observation) -> None:
    d1, d2 = observation.n_columns, observation.n_rows
    if not (d1 and d2):
        raise InvalidArgumentError(
            f'form="cur" makes the approximation of sampled columns and rows, and this observation has {d1} columns '
            f'and {d2} rows. Observe at least one of each, or use form="free".'
        )
    if observation.has_gaps:
        raise InvalidArgumentError(
            'form="cur" makes the approximation of sampled columns and rows as they were read, and some of them have '
            'gaps. Use form="free", or leave out the rows and columns that have gaps.'
        )


def in_form(form: str, answer: Factorization, observation: Observation) -> tuple[Factorization, tuple[Fact, ...]]:
    """A free answer in the wanted form, and what that costs."""
    if form == "free":
        return answer, ()
    span = in_span(answer, observation)
    return span.approximation, span.facts


def in_span(answer: Factorization, observation: Observation) -> InSpan:
    r"""The matrix nearest to the free answer in the span of the sampled columns and rows.

    Parameters
    ----------
    answer : Factorization
        The free answer, in any unit.
    observation : Observation
        At least one column and one row; the C U R form is made of them.

    Returns
    -------
    InSpan
        Its rank is at most that of the answer. Directions of the samples below the square root of the rounding unit,
        relative to the largest, are left out: ``C @ U @ R`` then keeps at least half of the digits, and ten of them
        at condition 1e6.

    Notes
    -----
    Nothing of size n x m is formed: with :math:`\hat M = U Z V^\top`, the new core is
    :math:`(Q_C^\top U) Z (V^\top Q_R)`. Costs :math:`O(n d_1^2 + m d_2^2)`.
    """
    left = _conditioned_basis(observation.columns, observation.column_index)
    if answer.is_symmetric:
        return _of_columns(answer, left)
    right = _conditioned_basis(adjoint(observation.rows), observation.row_index)
    of_left, of_right = adjoint(left.vectors) @ answer.left.vectors, adjoint(answer.right.vectors) @ right.vectors
    P, s, Qh = small_svd(of_left @ answer.core.Z @ of_right)
    rank = min(answer.rank, int(s.shape[0]))
    xp = array_namespace(s)
    Z = s[:rank, None] * xp.eye(rank, dtype=P.dtype, device=device(s))
    left, right = stored(left.rotate(P[:, :rank])), stored(right.rotate(adjoint(Qh[:rank, :])))
    inside, whole = float(xp.sum(s**2)), float(xp.sum(abs_squared(answer.core.Z)))
    outside = max(1 - inside / whole, 0.0) if whole else math.nan
    return InSpan(Factorization(left, Core(Z, answer.core.solver), right), outside)


def _of_columns(answer: Factorization, basis: Basis) -> InSpan:
    """The same for a symmetric answer, with one basis for columns and rows."""
    part = adjoint(basis.vectors) @ double(answer.left.vectors)
    core = to_numpy((part @ double(answer.core.Z)) @ adjoint(part))
    values, P = np.linalg.eigh((core + adjoint(core)) / 2)
    if np.all(np.diagonal(to_numpy(answer.core.Z)).real >= 0):
        values = np.maximum(values, 0.0)
    inside, whole = float(np.sum(values**2)), float(np.sum(abs_squared(to_numpy(double(answer.core.Z)))))
    rotated = basis.rotate(to_device(P, basis.vectors))
    kept, leading, _ = leading_eigenvalues(rotated, values, min(answer.rank, len(values)))
    kept = stored(kept)
    approximation = Factorization(kept, symmetric_core(leading, kept.vectors, answer.core.solver), kept)
    return InSpan(approximation, max(1 - inside / whole, 0.0) if whole else math.nan)


def _conditioned_basis(sample: Matrix, index: IndexVector) -> Basis:
    """Orthonormal basis of a sample, without the directions that its coefficients would not reproduce.

    Computed in double precision. The norm of the coefficients of a direction is the inverse of its singular value.
    """
    basis = leading_basis(double(sample), index=index)
    xp = array_namespace(basis.vectors)
    assert basis.coefficients is not None
    sizes = xp.linalg.vector_norm(basis.coefficients / (largest(basis.coefficients) or 1.0), axis=0)
    kept = xp.count_nonzero(sizes[:1] > math.sqrt(rounding_unit(sample)) * sizes)
    return basis.leading(int(kept))._replace(sample=sample)


def stored(basis: Basis) -> Basis:
    """The coefficients in the type of the sample, as the C U R form multiplies them."""
    assert basis.sample is not None
    xp = array_namespace(basis.sample)
    return basis._replace(coefficients=xp.astype(basis.coefficients, basis.sample.dtype, copy=False))
