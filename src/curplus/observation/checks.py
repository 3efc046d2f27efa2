"""What an observation must fulfil: parts that fit together, and finite numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import array_namespace, is_complex, real_array, to_numpy
from .._typing import Array, IndexVector, Shape, Vector
from .._validation import check_finite, check_index, check_one_noise
from ..exceptions import InvalidArgumentError
from .plan import DESIGNS, SamplingDesign

__all__ = [
    "check_chances",
    "check_complex",
    "check_design",
    "check_evidence",
    "check_no_repeats",
    "check_noise",
    "check_pairs",
    "check_part",
    "check_positive",
    "check_range",
    "check_symmetry",
    "check_values",
    "positions",
]

RAREST = 1e-100  # the least chance of a position, relative to a uniform draw, whose inverse can still be squared


def check_design(design: Any) -> SamplingDesign:
    """How columns, rows and entries were chosen: one of the known words for each."""
    words = tuple(design) if isinstance(design, (tuple, list)) else ()
    if len(words) != 3 or not set(words) <= set(DESIGNS):
        raise InvalidArgumentError(
            f"design={design!r} must have 'uniform', 'given' or 'adaptive' for columns, rows and entries, as "
            "SamplingDesign does."
        )
    return design if isinstance(design, SamplingDesign) else SamplingDesign(*words)


def check_positive(values: Any, size: int, *, name: str, at_most: float = math.inf) -> Vector | None:
    """One positive finite number for each entry, or None."""
    if values is None:
        return None
    x = to_numpy(real_array(values, name=name)).astype(np.float64, copy=False)
    if x.shape != (size,):
        raise InvalidArgumentError(f"{name} has shape {x.shape} but there are {size} entries. Give one for each.")
    _check_each(x, (x > 0) & (x <= at_most) & np.isfinite(x), name, at_most)
    return x


def _check_each(x: Vector, good: Any, name: str, at_most: float) -> None:
    if not good.all():
        t = int(np.argmin(good))
        limit = f" and at most {at_most:g}" if math.isfinite(at_most) else ""
        raise InvalidArgumentError(
            f"{name}[{t}]={x[t]} must be a positive finite number{limit}. Leave such entries out."
        )


def check_evidence(evidence: Any, size: int) -> NDArray[np.bool_] | None:
    """One truth value for each entry; None if all are true."""
    if evidence is None:
        return None
    x = np.asarray(evidence)
    if x.dtype != bool or x.shape != (size,):
        raise InvalidArgumentError(
            f"evidence has shape {x.shape} and type {x.dtype}, and there are {size} entries. Give one truth value for "
            "each: False if an entry took part in choosing what to read."
        )
    return None if x.all() else x


def check_chances(probabilities: Vector | None, shape: Shape) -> None:
    """No chance so small that its inverse would leave the range of numbers."""
    if probabilities is None or not len(probabilities):
        return
    t = int(np.argmin(probabilities))
    if probabilities[t] * math.prod(shape) < RAREST:
        raise InvalidArgumentError(
            f"probabilities[{t}]={probabilities[t]} makes this one entry stand for more than 1e100 others. "
            "Leave it out, or give the chance in one draw, so that all positions add up to 1."
        )


def check_part(name: str, x: Array, index_name: str, index: IndexVector, expected: Any, shape: Shape) -> None:
    """As many columns, rows or values as there are positions for them."""
    if tuple(x.shape) != expected:
        raise InvalidArgumentError(
            f"{name} has shape {tuple(x.shape)} but {index_name} has {len(index)} positions of a {shape[0]} x "
            f"{shape[1]} matrix, so it must have shape {expected}."
        )


def check_pairs(unmeasured_i: IndexVector, unmeasured_j: IndexVector, *, gaps: bool) -> None:
    """Pairs of positions, where there may be gaps."""
    i, j = len(unmeasured_i), len(unmeasured_j)
    if i != j:
        raise InvalidArgumentError(f"unmeasured_i has {i} positions and unmeasured_j has {j}. Give pairs.")
    if i and not gaps:
        raise InvalidArgumentError(f"{i} entries could not be measured, so there are gaps. Use gaps=True.")


def check_noise(noise: Any, size: int) -> float | str | Vector | None:
    """One noise for all readings, or one for each record."""
    if noise is None or isinstance(noise, (str, Real)):
        return check_one_noise(noise)
    return check_positive(noise, size, name="noise")


def check_symmetry(symmetry: Any, known: tuple[str | None, ...], shape: Shape) -> str | None:
    """A word that a matrix of this shape can have."""
    if symmetry not in known:
        raise InvalidArgumentError(f'symmetry={symmetry!r} is unknown. Give None, "symmetric" or "psd".')
    if symmetry is not None and shape[0] != shape[1]:
        raise InvalidArgumentError(
            f"symmetry={symmetry!r} but the matrix is {shape[0]} x {shape[1]}, not square. Leave symmetry out."
        )
    return None if symmetry is None else str(symmetry)


def positions(chosen: Any, size: int, name: str, *, repeats: bool = False) -> IndexVector:
    """Positions in ``range(size)``, from positions or truth values."""
    chosen = np.asarray(chosen)
    if chosen.dtype == bool and chosen.shape == (size,):
        chosen = np.flatnonzero(chosen)
    index = check_index(chosen, size, name=name)
    if not repeats:
        check_no_repeats(index, name)
    return index


def check_complex(values: Array, *, gaps: bool, noise: Any) -> None:
    """Complex values are exact, and have no gaps."""
    if is_complex(values) and (gaps or noise is not None):
        what = "gaps" if gaps else "noise"
        raise InvalidArgumentError(
            f"complex values cannot have {what} yet. Observe the real and imaginary parts separately, or leave out "
            f"{what}=."
        )


def check_no_repeats(index: IndexVector, name: str) -> None:
    """Each column or row at most once."""
    values, counts = np.unique(index, return_counts=True)
    if np.any(counts > 1):
        raise InvalidArgumentError(
            f"{name} contains {values[np.argmax(counts > 1)]} more than once. Keep each only once: a repeated reading "
            "adds no direction."
        )


def check_values(parts: dict[str, tuple[Array, Callable[..., str]]], *, gaps: bool) -> float:
    """Only finite numbers, and NaN where there may be gaps; the largest magnitude of them."""
    return max(check_finite(x, name=name, place=place, gaps=gaps) for name, (x, place) in parts.items())


def check_range(magnitude: float, shape: Shape, like: Array) -> None:
    """The norm of a matrix of such numbers must be a number of their type."""
    most = float(array_namespace(like).finfo(like.dtype).max)
    if magnitude / most * math.sqrt(math.prod(shape)) > 1:
        kind = str(like.dtype).rpartition(".")[2]
        raise InvalidArgumentError(
            f"values up to {magnitude:.3g} in a {shape[0]} x {shape[1]} matrix: its norm may exceed {most:.3g}, the "
            f"range of {kind}. Divide the values by a power of two first, such as 2.0**{math.frexp(magnitude)[1]}."
        )
