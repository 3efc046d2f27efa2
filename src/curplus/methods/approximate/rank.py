"""How many directions the approximation has, where the user does not say."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._arrays import array_namespace, is_numpy_array, numerical_rank, rounding_unit, to_numpy
from ..._validation import check_count
from ...observation import Observation

__all__ = ["ASKED_FOR", "RankChoice", "choose_rank", "exact_rank", "is_complete", "singular_values"]


ASKED_FOR = "asked for"


class RankChoice(NamedTuple):
    """A rank, and why it was taken."""

    rank: int
    reason: str  # "{axis}" stands for the axis
    axis: str = ""


def choose_rank(observation: Observation, rank: int | None) -> RankChoice:
    """The rank that was asked for; else the least that the singular values of sampled columns and rows suggest."""
    if rank is not None:
        return RankChoice(check_count(rank, name="rank", at_least=1), ASKED_FOR)
    if is_complete(observation):
        why = "all {axis} are complete, and every direction helps to complete others"
        return RankChoice(min(observation.shape), why, "columns")
    samples = {"columns": observation.columns, "rows": observation.rows.T}
    spectra = {axis: singular_values(x) for axis, x in samples.items() if x.shape[1]}
    if not spectra:
        return RankChoice(min(observation.shape), "as many directions as entries left out in turn support")
    ranks = {axis: exact_rank(s, rounding_unit(observation.values)) for axis, s in spectra.items()}
    deficient = [axis for axis, s in spectra.items() if ranks[axis] < len(s)]
    if deficient:
        axis = max(deficient, key=lambda axis: ranks[axis])
        return RankChoice(max(1, ranks[axis]), "the sampled {axis} have no more independent directions", axis)
    axis = max(spectra, key=lambda axis: len(spectra[axis]))
    found = min(_above_noise(spectra[axis], samples[axis].shape), *(len(s) for s in spectra.values()))
    why = "as many singular values of the sampled {axis} exceed a multiple of their median"
    return RankChoice(max(1, found), why, axis)


def is_complete(observation: Observation) -> bool:
    """Whether every column was read, and no row, which would be read already."""
    return observation.n_columns == observation.shape[1] and not observation.n_rows


def exact_rank(s: NDArray[Any], rounding: float) -> int:
    """How many singular values of a matrix whose entries have this relative rounding are not made by it."""
    return numerical_rank(s, (), 32 * rounding)


def singular_values(x: Any) -> NDArray[Any]:
    """All singular values, on the host, from the triangle of a QR factorization."""
    triangle = np.linalg.qr(x, mode="r") if is_numpy_array(x) else array_namespace(x).linalg.qr(x)[1]
    return np.linalg.svdvals(to_numpy(triangle))


def _above_noise(s: NDArray[Any], shape: tuple[int, int]) -> int:
    """How many singular values exceed the optimal hard threshold for noise of unknown size (Gavish, Donoho 2014)."""
    beta = min(shape) / max(shape)
    threshold = (0.56 * beta**3 - 0.95 * beta**2 + 1.82 * beta + 1.43) * float(np.median(s))
    return int(np.count_nonzero(s > threshold))
