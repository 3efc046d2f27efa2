"""Products and sums over scattered positions of two tall factors on a device, without a copy of their rows.

Rows gathered for k positions are k x r numbers, which each step of an iteration would write and read again. PyTorch has
both operations for sparse matrices, for CuPy they are two small kernels, and other libraries gather; so do complex
numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from array_api_compat import is_cupy_array, is_torch_array

from .._arrays import array_namespace, is_complex, row_dots, segment_sum, to_numpy
from .._typing import Matrix, Namespace, Vector

__all__ = ["scattered_products", "scattered_sums"]

THREADS = 256  # of a block; 32 of them serve one position, or one row

KERNELS = """
extern "C" __global__ void products(
    const T* left, const T* right, const I* i, const I* j, T* out, long long count, int width)
{
    long long t = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / 32;
    if (t >= count) return;
    const T *a = left + (long long)i[t] * width, *b = right + (long long)j[t] * width;
    T sum = 0;
    for (int k = threadIdx.x % 32; k < width; k += 32) sum += a[k] * b[k];
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    if (threadIdx.x % 32 == 0) out[t] = sum;
}

extern "C" __global__ void sums(
    const T* weights, const T* right, const I* start, const I* j, T* out, long long count, int width)
{
    long long row = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / 32;
    if (row >= count) return;
    for (int k = threadIdx.x % 32; k < width; k += 32) {
        T sum = 0;
        for (I t = start[row]; t < start[row + 1]; ++t) sum += weights[t] * right[(long long)j[t] * width + k];
        out[row * width + k] = sum;
    }
}
"""


def scattered_products(left: Matrix, right: Matrix, i: Vector, j: Vector, start: Vector) -> Vector:
    """Inner products of the rows ``left[i[t]]`` and ``right[j[t]]``, conjugated.

    ``i`` is ascending, and the positions of row p are ``start[p]:start[p + 1]``.
    """
    xp = array_namespace(left)
    if is_complex(left):
        return row_dots(xp.take(left, i, axis=0), xp.take(right, j, axis=0))
    if is_cupy_array(left):
        return _launched("products", xp.empty(j.shape, dtype=left.dtype), left, right, i, j)
    if is_torch_array(left) and left.is_cuda:
        with _quiet():
            pattern = _torch_matrix(start, j, left.new_zeros(j.shape), right)
            return xp.sparse.sampled_addmm(pattern, left, right.T).values()
    return row_dots(xp.take(left, i, axis=0), xp.take(right, j, axis=0))


def scattered_sums(weights: Vector, right: Matrix, i: Vector, j: Vector, start: Vector) -> Matrix:
    """Sums of ``weights[t] * right[j[t]]`` over the positions of each row."""
    xp, rows = array_namespace(right), start.shape[0] - 1
    if is_cupy_array(right) and not is_complex(right):
        return _launched("sums", xp.empty((rows, right.shape[1]), dtype=right.dtype), weights, right, start, j)
    if is_torch_array(right) and right.is_cuda:
        with _quiet():
            return _torch_matrix(start, j, weights, right) @ right
    return segment_sum(weights[:, None] * xp.take(right, j, axis=0), to_numpy(i), rows)


def _torch_matrix(start: Vector, j: Vector, values: Vector, right: Matrix) -> Any:
    """The numbers ``values`` at their places, as PyTorch's sparse matrix by rows."""
    size = (start.shape[0] - 1, right.shape[0])
    return array_namespace(right).sparse_csr_tensor(start, j, values, size=size, check_invariants=False)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without PyTorch's warnings that sparse matrices by rows are in beta and that ours are not checked."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse (CSR tensor support|invariant checks)", category=UserWarning)
        yield


def _launched(name: str, out: Any, a: Any, b: Any, first: Any, second: Any) -> Any:
    """A kernel of CuPy, with 32 threads for each position, or for each row, of ``out``."""
    xp = array_namespace(out)
    number, position = ("double", "float")[out.dtype.itemsize == 4], ("long long", "int")[second.dtype.itemsize == 4]
    a, b = xp.ascontiguousarray(a), xp.ascontiguousarray(b)
    blocks = (max(-(-32 * out.shape[0] // THREADS), 1),)
    _module(xp, number, position).get_function(name)(
        blocks, (THREADS,), (a, b, first, second, out, np.int64(out.shape[0]), np.int32(b.shape[1]))
    )
    return out


@cache
def _module(xp: Namespace, number: str, position: str) -> Any:
    """The kernels for numbers and positions of some types, compiled when they are first asked for."""
    return xp.RawModule(code=f"typedef {number} T;\ntypedef {position} I;\n{KERNELS}")
