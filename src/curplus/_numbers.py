"""The numbers of an array of any library: their type and digits, complex or real, and how large they are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_numpy_array, is_torch_array

from ._dask import is_dask_array, range_of
from ._typing import Array, Matrix

__all__ = [
    "abs_squared",
    "adjoint",
    "blocks",
    "conjugate",
    "double",
    "float64",
    "harmless_unit",
    "host_kind",
    "is_complex",
    "largest",
    "largest_known",
    "power_of_two",
    "real_part",
    "rounding_unit",
]


def rounding_unit(x: Array) -> float:
    """Machine epsilon of the type of ``x``."""
    return float(array_namespace(x).finfo(x.dtype).eps)


def is_complex(x: Array) -> bool:
    """Whether the numbers of ``x`` are complex."""
    if isinstance(x, np.ndarray):  # asked tens of thousands of times in one fit, and this is ten times as fast
        return bool(x.dtype.kind == "c")
    return bool(array_namespace(x).isdtype(x.dtype, "complex floating"))


def host_kind(x: Array) -> Any:
    """The NumPy type of numbers like those of ``x``, with as many digits, and complex if these are."""
    single = rounding_unit(x) > 1e-10
    if is_complex(x):
        return np.complex64 if single else np.complex128
    return np.float32 if single else np.float64


def float64(x: Array) -> Array:
    """Real numbers in double precision, ``x`` itself if it has it."""
    xp = array_namespace(x)
    return xp.astype(x, xp.float64, copy=False)


def double(x: Array) -> Array:
    """Real or complex numbers in double precision, ``x`` itself if it has it."""
    xp = array_namespace(x)
    return xp.astype(x, xp.complex128 if is_complex(x) else xp.float64, copy=False)


def conjugate(x: Array) -> Array:
    """The complex conjugate; real numbers are not copied."""
    return array_namespace(x).conj(x) if is_complex(x) else x


def adjoint(x: Matrix) -> Matrix:
    """The conjugate transpose; that of a real matrix is its transpose."""
    return conjugate(x).T


def real_part(x: Array) -> Array:
    """The real part; real numbers are not copied."""
    return array_namespace(x).real(x) if is_complex(x) else x


def abs_squared(x: Array) -> Array:
    """Squares of the magnitudes, real numbers."""
    if not is_complex(x):
        return x**2
    xp = array_namespace(x)
    return xp.real(x) ** 2 + xp.imag(x) ** 2


def blocks(size: int, width: int, *, most: int = 2**22) -> Iterator[slice]:
    """Slices of ``range(size)`` such that ``width`` numbers for each position make at most ``most`` at a time."""
    step = max(1, most // max(width, 1))
    for start in range(0, size, step):
        yield slice(start, min(start + step, size))


def largest(x: Array) -> float:
    """Largest magnitude in ``x``, without a temporary; NaN or inf if there is one, 0 for an empty array.

    That of complex numbers is up to the square root of 2 times as large as this, the larger of two parts.
    """
    if math.prod(x.shape) == 0:
        return 0.0
    xp = array_namespace(x)
    if is_complex(x) and is_numpy_array(x) and x.flags.forc:  # both parts in one pass through memory
        return largest((x if x.flags.c_contiguous else x.T).view(x.real.dtype))
    if is_complex(x):
        return max(largest(xp.real(x)), largest(xp.imag(x)), key=lambda part: (math.isnan(part), part))
    if is_torch_array(x):
        return float(xp.linalg.vector_norm(x, ord=math.inf))  # one pass
    low, high = range_of(x) if is_dask_array(x) else (float(xp.min(x)), float(xp.max(x)))
    return math.nan if math.isnan(low) or math.isnan(high) else max(-low, high)


def largest_known(x: Array) -> float:
    """Largest magnitude in ``x`` where it is not NaN, a block at a time; inf if there is one, 0 if all is NaN."""
    xp = array_namespace(x)
    if is_dask_array(x):
        return largest(xp.where(xp.isnan(x), xp.zeros_like(x), x))
    found = 0.0
    for part in blocks(x.shape[0], math.prod(x.shape[1:]), most=2**19):
        block = x[part, ...]
        found = max(found, largest(xp.where(xp.isnan(block), xp.zeros_like(block), block)))
    return found


def power_of_two(magnitude: float, like: Array) -> float:
    """The power of two just above ``magnitude``, such that arrays of the type of ``like`` can be divided by it."""
    if magnitude == 0:
        return 1.0
    limits = np.finfo(host_kind(like))
    return math.ldexp(1.0, min(max(math.frexp(magnitude)[1], limits.minexp + 2), limits.maxexp - 1))


def harmless_unit(magnitude: float, like: Array, *, power: int) -> float:
    """A unit in which numbers of this magnitude can be raised to a power; 1 if they can be as they are."""
    tiny = float(array_namespace(like).finfo(like.dtype).smallest_normal) ** (1 / power)
    return 1.0 if magnitude == 0 or tiny < magnitude < 1 / tiny else power_of_two(magnitude, like)
