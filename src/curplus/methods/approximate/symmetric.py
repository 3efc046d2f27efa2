r"""Approximations of matrices that equal their transpose, and of PSD ones.

Nothing is lost by following the promise: M is as far from :math:`\hat M^\top` as from :math:`\hat M`, so their mean is
no farther; and a PSD matrix is no farther from the PSD part of an approximation than from the approximation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._arrays import array_namespace, float64, rounding_unit, to_device, to_numpy
from ..._sets import NO_INDEX
from ..._typing import IndexVector
from ...factorization import Basis, Factorization
from ...factorization.symmetric import symmetric_core
from ...observation import Observation
from ...observation.holdout import split_entries
from ...observation.symmetry import PSD, folded, mirrored

__all__ = ["Split", "split_sample", "symmetric_part"]


class Split(NamedTuple):
    """What a fit works on: a sample, and which of its records it uses and keeps to check."""

    sample: Observation
    use: IndexVector
    check: IndexVector


def split_sample(sample: Observation, share: float, rng: np.random.Generator, *, at_most: int) -> Split:
    """A share of the entries set aside; a symmetric matrix shows each value in both places, but none that is set aside.

    Exact records of one place, or of the two that have its value, are used once.
    """
    if sample.symmetry is None:
        return Split(sample, *split_entries(sample, share, rng, at_most=at_most))
    whole = mirrored(folded(sample), which=NO_INDEX)
    use, check = split_entries(whole, share, rng, at_most=at_most)
    if sample.noise is None:
        use = np.sort(use[whole.entries.take(use).unique()])
    both = mirrored(whole, which=use)
    if both.has_gaps and both.n_rows == both.shape[0]:
        both = both.subset(rows=NO_INDEX, design=both.design)  # a table stays one
    return Split(both, np.concatenate([use, np.arange(sample.n_entries, both.n_entries)]), check)


def symmetric_part(answer: Factorization, rank: int, symmetry: str | None) -> Factorization:
    """The symmetric matrix nearest to an answer, or the nearest PSD one, and its leading ``rank`` eigenvalues.

    An answer without a promise is cut to its leading singular values.
    """
    if symmetry is None:
        return answer.truncate(rank)
    xp, U, V = array_namespace(answer.core.Z), float64(answer.left.vectors), float64(answer.right.vectors)
    Q, _ = xp.linalg.qr(xp.concat([U, V], axis=1))
    core = to_numpy(((Q.T @ U) @ float64(answer.core.Z)) @ (V.T @ Q))
    values, P = np.linalg.eigh((core + core.T) / 2)
    order = np.argsort(-np.abs(values), kind="stable")
    least = rounding_unit(values) * np.abs(values).max(initial=0.0)
    kept = order[(values[order] > least) if symmetry == PSD else (np.abs(values[order]) > least)][:rank]
    basis = Basis(Q @ to_device(np.ascontiguousarray(P[:, kept]), Q))
    return Factorization(basis, symmetric_core(values[kept], Q), basis)
