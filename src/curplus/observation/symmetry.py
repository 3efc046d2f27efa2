"""What is known of a matrix that equals its adjoint: every value stands in two places, conjugated in one of them.

The promise ``"symmetric"`` of a complex matrix means that it is Hermitian, :math:`M = M^*`, and ``"psd"`` that it is
Hermitian and PSD. There is no promise for a complex matrix that equals its transpose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays import array_namespace, conjugate, gather, is_complex, rounding_unit, take, to_device, to_numpy
from .._sets import NO_INDEX
from .._typing import FloatArray, IndexVector, Vector
from ..exceptions import InconsistentObservationError, InvalidArgumentError
from .agreement import check_agreement
from .noise import noise_of_records

if TYPE_CHECKING:
    from .observation import Observation

__all__ = [
    "PSD",
    "SYMMETRIC",
    "check_symmetric",
    "check_symmetry",
    "check_transposable",
    "folded",
    "joined_symmetry",
    "known_diagonal",
    "mirrored",
    "negative_beyond",
    "promised",
    "symmetry_in_units",
]

SYMMETRIC, PSD = "symmetric", "psd"
SYMMETRIES = (None, SYMMETRIC, PSD)  # of two promises about one matrix, the later word holds
NEGATIVE = 1e-6  # share of the largest diagonal value that a number may be below zero by the rounding of its readings


def check_symmetry(symmetry: Any, shape: tuple[int, int]) -> str | None:
    """A word that a matrix of this shape can have."""
    if symmetry not in SYMMETRIES:
        raise InvalidArgumentError(f'symmetry={symmetry!r} is unknown. Give None, "symmetric" or "psd".')
    if symmetry is not None and shape[0] != shape[1]:
        raise InvalidArgumentError(
            f"symmetry={symmetry!r} but the matrix is {shape[0]} x {shape[1]}, not square. Leave symmetry out."
        )
    return None if symmetry is None else str(symmetry)


def check_transposable(observation: Observation) -> None:
    """That the transpose is a matrix of which the same is promised as of this one, known from the same values."""
    if observation.symmetry is not None and is_complex(observation.values):
        raise InvalidArgumentError(
            "the transpose of a complex Hermitian matrix is its complex conjugate, another matrix. Use .H, the adjoint."
        )


def joined_symmetry(first: Observation, second: Observation) -> str | None:
    """What is promised of a matrix of which there are two samples."""
    return max(first.symmetry, second.symmetry, key=SYMMETRIES.index)


def symmetry_in_units(symmetry: str | None, unit: float) -> str | None:
    """What is left of the promise when a matrix is divided by a number."""
    return SYMMETRIC if symmetry == PSD and unit < 0 else symmetry


def check_symmetric(observation: Observation, magnitude: float) -> None:
    """Values that stand for each other were read alike, and no diagonal value of a PSD matrix is negative."""
    o = observation
    if o.symmetry is None:
        return
    turned = o.H
    try:
        check_agreement(o, turned, magnitude)
        check_agreement(turned, o, magnitude)
    except InconsistentObservationError as error:
        promise = "M = M.H, its conjugate transpose" if is_complex(o.values) else "M = M.T"
        raise InconsistentObservationError(
            f"symmetry={o.symmetry!r} promises {promise}, so a value stands for two places, but {error} "
            "If the matrix is not symmetric, leave the promise out."
        ) from error
    if o.symmetry == PSD and o.noise is None:
        _check_diagonal(known_diagonal(o), negative_beyond(o))


def promised(observation: Observation, symmetry: str | None) -> Observation:
    """The same observation with a promise that it keeps, or with a stronger one that it has."""
    word = max(observation.symmetry, check_symmetry(symmetry, observation.shape), key=SYMMETRIES.index)
    kept = observation._replaced(symmetry=word)
    check_symmetric(kept, kept.magnitude)
    return kept


def negative_beyond(observation: Observation) -> float:
    """Share of the largest diagonal value below which a negative number is more than rounding."""
    return max(NEGATIVE, float(np.sqrt(rounding_unit(observation.values))))


def _check_diagonal(diagonal: FloatArray, share: float) -> None:
    known = np.flatnonzero(~np.isnan(diagonal))
    if len(known) and np.min(diagonal[known]) < -share * np.max(np.abs(diagonal[known])):
        i = known[np.argmin(diagonal[known])]
        raise InconsistentObservationError(
            f'symmetry="psd" promises that no diagonal value is negative, but row {i}, column {i} was read as '
            f'{diagonal[i]:.6g}. If the matrix is symmetric and not PSD, use "symmetric".'
        )


def known_diagonal(observation: Observation) -> FloatArray:
    """The diagonal of a Hermitian matrix, float64 on the host, shape (n,); NaN where it is not known."""
    o = observation
    diagonal = np.full(o.shape[0], np.nan)
    on_diagonal = np.flatnonzero(o.i == o.j)
    diagonal[o.i[on_diagonal]] = to_numpy(take(o.values, on_diagonal, axis=0)).real
    for lines, index in ((o.rows.T, o.row_index), (o.columns, o.column_index)):
        if len(index):
            own = to_numpy(gather(lines, index, np.arange(len(index)))).real.astype(np.float64)
            diagonal[index] = np.where(np.isnan(own), diagonal[index], own)
    return diagonal


def folded(observation: Observation) -> Observation:
    """The same records, each moved to the upper triangle, where the value stands too."""
    o = observation
    values = _conjugated(o.values, o.i > o.j)
    return o._replaced(i=np.minimum(o.i, o.j), j=np.maximum(o.i, o.j), values=values)


def _conjugated(values: Vector, which: Any) -> Vector:
    """The values of some records, on the host a truth value each, conjugated."""
    if not is_complex(values):
        return values
    return array_namespace(values).where(to_device(which, values), conjugate(values), values)


def mirrored(observation: Observation, which: IndexVector | None = None) -> Observation:
    """All that is known: each row and column as both, and copies of entries where they stand too, after the others.

    Parameters
    ----------
    observation : Observation
        A sample of a symmetric matrix.
    which : array of positions, optional
        Which records to copy, of those off the diagonal; all if left out.
    """
    o = observation
    lines = o.subset(entries=NO_INDEX, design=o.design)._replaced(repeats=None)
    both = lines.extend(lines.H)
    which = np.arange(o.n_entries) if which is None else which
    copied = which[o.i[which] != o.j[which]]
    order = np.concatenate([np.arange(o.n_entries), copied])
    return both._replaced(
        i=np.concatenate([o.i, o.j[copied]]),
        j=np.concatenate([o.j, o.i[copied]]),
        values=_conjugated(take(o.values, order, axis=0), np.arange(len(order)) >= o.n_entries),
        probabilities=None if o.probabilities is None else o.probabilities[order],
        weights=None if o.weights is None else o.weights[order],
        evidence=None if o.evidence is None else o.evidence[order],
        noise=noise_of_records(o.noise, order),
        design=o.design,
        repeats=o.repeats,
        gaps=o.gaps,
    )
