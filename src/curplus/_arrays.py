"""The few array operations that differ between libraries, each behind one small function."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse
from array_api_compat import (
    array_namespace,
    device,
    is_array_api_obj,
    is_array_api_strict_namespace,
    is_cupy_namespace,
    is_numpy_array,
    is_torch_array,
)
from numpy.typing import NDArray

from ._dask import (
    by_block,
    dask_inner_products,
    gathered,
    is_dask_array,
    kept,
    merged,
    one_block,
    parts_taken,
    put_values,
    tall,
)
from ._numbers import (
    abs_squared,
    adjoint,
    blocks,
    conjugate,
    double,
    float64,
    harmless_unit,
    host_kind,
    is_complex,
    largest,
    largest_known,
    power_of_two,
    real_part,
    rounding_unit,
)
from ._typing import Array, FloatArray, IndexVector, Matrix, Namespace, Positions, Vector
from .exceptions import InvalidArgumentError

__all__ = [
    "abs_squared",
    "adjoint",
    "array_namespace",
    "blocks",
    "by_block",
    "column_products",
    "concatenate",
    "conjugate",
    "device",
    "distinct",
    "double",
    "float64",
    "gather",
    "harmless_unit",
    "hit_rows",
    "host_array",
    "host_kind",
    "index_table",
    "inner_products",
    "is_among",
    "is_array_api_obj",
    "is_complex",
    "is_dask_array",
    "is_numpy_array",
    "keep",
    "keep_tall",
    "largest",
    "largest_known",
    "number_array",
    "numerical_rank",
    "one_type",
    "power_of_two",
    "put",
    "put_rows",
    "read_only",
    "real_array",
    "real_part",
    "rounding_unit",
    "row_dots",
    "row_products",
    "segment_sum",
    "small_svd",
    "take",
    "to_device",
    "to_numpy",
    "with_nan",
]

NEAR = 2**16  # cost: numbers that stay near the processor, and whose memory is not given back between two parts
ON_DEVICE = 2**24  # cost: numbers of a part on a device: fewer calls against more memory
FEW_PRODUCTS = 2**15  # cost: numbers; below it, the overhead of runs of products is more than they save
PRODUCTS = 2**17  # cost: numbers of a part of them: one that stays near the processor against calls


def number_array(values: Any, *, name: str) -> Array:
    """``values`` as a float32, float64, complex64 or complex128 array of its own library.

    Integers and booleans become float64, half precision float32, extended precision float64 or complex128.
    """
    if scipy.sparse.issparse(values):
        raise InvalidArgumentError(
            f"{name} is a sparse matrix, and must be a dense array here. Convert it: .toarray()."
        )
    x = values if is_array_api_obj(values) else host_array(values, name=name)
    if isinstance(x, np.ma.MaskedArray):
        raise InvalidArgumentError(
            f"{name} is a masked array, and a masked value is a gap that cannot be read. "
            "Use Observation.from_table for all of it, or fill it with NaN and use gaps=True."
        )
    if is_torch_array(x):
        x = x.detach()  # nothing here is differentiated, and a record of it would hold all that was computed
    xp = array_namespace(x)
    try:
        complex_, real = xp.isdtype(x.dtype, "complex floating"), xp.isdtype(x.dtype, "real floating")
        number = complex_ or real or xp.isdtype(x.dtype, ("integral", "bool"))
    except TypeError:  # a dtype outside the library, such as object
        complex_, real, number = False, False, False
    if not number:
        raise InvalidArgumentError(
            f"{name} has dtype {x.dtype}, which is not numeric. Convert it to numbers first, "
            "for example with .astype(float)."
        )
    if x.dtype in (xp.float32, xp.float64, xp.complex64, xp.complex128):
        return x
    if complex_:
        return xp.astype(x, xp.complex128)
    return xp.astype(x, xp.float32 if real and xp.finfo(x.dtype).bits < 32 else xp.float64)


def real_array(values: Any, *, name: str) -> Array:
    """The same for numbers that cannot be complex: tables, weights, prices."""
    x = number_array(values, name=name)
    if is_complex(x):
        raise InvalidArgumentError(
            f"{name} is complex ({x.dtype}), and must be real here. Give the real and imaginary parts separately."
        )
    return x


def one_type(parts: dict[str, tuple[Any, tuple[int, ...]]]) -> list[Array]:
    """The given parts as arrays of one library and dtype, of real or complex numbers; those left out as empty ones."""
    given = {name: number_array(part, name=name) for name, (part, _) in parts.items() if part is not None}
    if not given:
        return [np.empty(shape) for _, shape in parts.values()]
    try:
        xp = array_namespace(*given.values())
    except TypeError:
        kinds = ", ".join(f"{name} is a {type(part).__module__} array" for name, part in given.items())
        raise InvalidArgumentError(f"arrays of different libraries were mixed: {kinds}. Convert them to one.") from None
    dtype = xp.result_type(*given.values())
    return [
        xp.astype(given[name], dtype, copy=False)
        if name in given
        else xp.zeros(shape, dtype=dtype, device=device(next(iter(given.values()))))
        for name, (_, shape) in parts.items()
    ]


def read_only(value: Any) -> Any:
    """A view of a NumPy array that cannot be written to; anything else as it is."""
    if not isinstance(value, np.ndarray):
        return value
    view = value.view()
    view.flags.writeable = False
    return view


def host_array(values: Any, *, name: str) -> np.ndarray[Any, Any]:
    """``values`` as a NumPy array, or an error that names them."""
    try:
        return np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise InvalidArgumentError(f"{name} cannot be made an array ({error}). Give rows of equal length.") from error


def keep(*arrays: Array) -> Any:
    """The same arrays; those of Dask, which are recipes, are computed together, once, where their blocks are."""
    same = kept(*arrays) if any(map(is_dask_array, arrays)) else arrays
    return same if len(arrays) > 1 else same[0]


def keep_tall(x: Matrix, *, axis: int) -> Matrix:
    """The same for a matrix whose side ``axis`` is long: one of Dask is cut along that side only."""
    return keep(tall(x, axis=axis)) if is_dask_array(x) else x


def inner_products(x: Matrix) -> Matrix:
    """The small matrix ``x.H @ x``, in the library of ``x``; that of a Dask array in double precision on the host."""
    return dask_inner_products(x) if is_dask_array(x) else adjoint(x) @ x


def take(x: Array, index: Positions, *, axis: int) -> Array:
    """Slices of ``x`` at the host positions ``index``."""
    if is_numpy_array(x):
        if x.ndim == 2 and x.flags.f_contiguous and not x.flags.c_contiguous:  # all of it would be copied first
            return np.take(x.T, index, axis=1 - axis).T
        return np.take(x, index, axis=axis)
    if is_dask_array(x):
        return parts_taken(x, np.asarray(index), axis=axis)
    return array_namespace(x).take(x, to_device(index, x), axis=axis)


def row_dots(x: Matrix, y: Matrix) -> Vector:
    """Inner products of the rows of two matrices, each with the one beside it; those of ``y`` are conjugated."""
    if is_numpy_array(x):
        return np.vecdot(y, x)
    # on a device, a vector at a time takes several times longer
    return array_namespace(x).sum(x * conjugate(y), axis=1)


def row_products(left: Matrix, right: Matrix, i: Positions, j: Positions) -> Vector:
    """Inner products of the rows ``i[t]`` of one matrix and ``j[t]`` of another, conjugated, a few at a time."""
    xp = array_namespace(left)
    if is_numpy_array(left):  # np.take copies an array that is not stored row by row, and would do so for each part
        left, right = np.ascontiguousarray(left), np.ascontiguousarray(right)
    most = NEAR if is_numpy_array(left) else ON_DEVICE
    parts = [
        row_dots(take(left, i[part], axis=0), take(right, j[part], axis=0))
        for part in blocks(len(i), left.shape[1], most=most)
    ]
    return xp.concat(parts) if parts else xp.sum(left[:0, :], axis=1)


def column_products(x: Matrix, a: IndexVector, b: IndexVector) -> Matrix:
    """Products of the columns ``a``, conjugated, and ``b`` of ``x``, row by row in memory."""
    if is_numpy_array(x):
        if len(x) * len(a) > FEW_PRODUCTS:
            return _runs_of_products(x, a, b)
        x = np.ascontiguousarray(x)
    products = conjugate(take(x, a, axis=1))
    products *= take(x, b, axis=1)
    return products


def _runs_of_products(x: Matrix, a: IndexVector, b: IndexVector) -> Matrix:
    """The same in NumPy: pairs with one ``a`` and consecutive ``b`` are one product of neighbours."""
    products = np.empty((len(x), len(a)), dtype=x.dtype)
    starts = [0, *(np.flatnonzero((a[1:] != a[:-1]) | (b[1:] != b[:-1] + 1)) + 1).tolist()]
    runs = list(zip(a[starts].tolist(), b[starts].tolist(), starts, [*starts[1:], len(a)], strict=True))
    for part in blocks(len(x), len(a), most=PRODUCTS):
        some, out = x[part], products[part]
        factors = conjugate(some)
        for one, first, start, stop in runs:
            np.multiply(some[:, first : first + stop - start], factors[:, one : one + 1], out=out[:, start:stop])
    return products


def gather(x: Matrix, i: IndexVector, j: IndexVector) -> Vector:
    """Values ``x[i[t], j[t]]``."""
    i, j = np.asarray(i), np.asarray(j)
    if is_dask_array(x):
        return gathered(x, i, j)
    return x[i, j] if is_numpy_array(x) else x[to_device(i, x), to_device(j, x)]


def put(x: Array, where: tuple[IndexVector, ...], values: FloatArray) -> Array:
    """A copy of ``x`` with the host ``values`` at the host positions ``where``, one array of them for each axis."""
    xp = array_namespace(x)
    values = values.astype(host_kind(x))
    if is_dask_array(x):
        return put_values(x, where, values)
    new = to_device(values, x)
    if is_numpy_array(x) or is_torch_array(x) or is_cupy_namespace(xp):
        copy = xp.asarray(x, copy=True)
        copy[tuple(to_device(index, x) for index in where)] = new
        return copy
    source = np.arange(math.prod(x.shape))
    source[np.ravel_multi_index(where, x.shape)] = len(source) + np.arange(len(values))
    return xp.reshape(take(xp.concat([xp.reshape(x, (-1,)), new]), source, axis=0), x.shape)


def put_rows(x: Matrix, index: IndexVector, rows: Matrix) -> Matrix:
    """``x`` with other rows at the host positions ``index``: written into it where its library can do that."""
    xp = array_namespace(x)
    rows = xp.astype(rows, x.dtype, copy=False)
    if is_dask_array(x):
        return put_values(x, (index,), to_numpy(rows))
    if is_numpy_array(x) or is_torch_array(x) or is_cupy_namespace(xp):
        x[to_device(index, x)] = rows
        return x
    source = np.arange(x.shape[0])
    source[index] = x.shape[0] + np.arange(len(index))
    return take(xp.concat([x, rows]), source, axis=0)


def with_nan(x: Array, where: Any) -> Array:
    """NaN in place of the numbers where a mask is true; the mask is on the host or beside them."""
    xp = array_namespace(x)
    mask = to_device(where, x) if is_numpy_array(where) else where
    return xp.where(mask, xp.asarray(math.nan, dtype=x.dtype, device=device(x)), x)


def index_table(index: IndexVector, size: int) -> IndexVector:
    """Position of each of ``range(size)`` in ``index``; -1 if it has none."""
    table = np.full(size, -1)
    table[index] = np.arange(len(index))
    return table


def is_among(index: IndexVector, size: int) -> NDArray[np.bool_]:
    """Which of ``range(size)`` are in ``index``, shape (size,)."""
    among = np.zeros(size, dtype=bool)
    among[index] = True
    return among


def distinct(index: Positions, size: int) -> tuple[IndexVector, IndexVector]:
    """The distinct numbers of ``index``, all below ``size``, ascending, and the position of each among them."""
    hit = is_among(np.asarray(index), size)
    return np.flatnonzero(hit), (np.cumsum(hit) - 1)[index]


def hit_rows(x: Matrix, index: IndexVector) -> tuple[Matrix, IndexVector]:
    """The distinct rows of ``x`` at ``index``, or ``x`` itself if they are most, and the position of each there."""
    hit, position = distinct(index, x.shape[0])
    return (x, index) if 2 * len(hit) > x.shape[0] else (take(x, hit, axis=0), position)


def concatenate(first: Array, second: Array, *, axis: int = 0) -> Array:
    """Two arrays one after the other, in the library that they share; an empty one takes the library of the other."""
    if math.prod(first.shape) == 0 or math.prod(second.shape) == 0:
        return first if math.prod(second.shape) == 0 else second
    try:
        xp = array_namespace(first, second)
    except TypeError:
        kinds = " and ".join(type(x).__module__ for x in (first, second))
        raise InvalidArgumentError(
            f"arrays of different libraries cannot be joined ({kinds}). Convert one of them to the other's."
        ) from None
    joint = xp.concat([first, second], axis=axis)
    return merged(joint, axis=axis) if is_dask_array(joint) else joint


def to_device(x: Any, like: Array) -> Array:
    """Host array ``x`` in the library and on the device of ``like``."""
    if is_dask_array(like):
        return x if is_dask_array(x) else one_block(x, like)
    if is_torch_array(like):
        x = np.require(x, requirements=["C", "W"])  # PyTorch takes neither read-only arrays nor negative strides
    return array_namespace(like).asarray(x, device=device(like))


def to_numpy(x: Array) -> np.ndarray[Any, Any]:
    """A host copy of ``x``, or ``x`` itself when it is there already."""
    if is_torch_array(x):
        return np.asarray(x.detach().cpu())
    xp: Namespace = array_namespace(x)
    if is_array_api_strict_namespace(xp):  # it has made-up devices, to find code that forgets about real ones
        x = x.to_device(xp.Device("CPU_DEVICE"))
    return np.asarray(xp.asnumpy(x) if is_cupy_namespace(xp) else x)


def numerical_rank(s: Vector, shape: tuple[int, ...], least: float | None = None) -> int:
    """How many singular values of a matrix of size ``shape``, descending, are more than rounding.

    That is more than the fraction ``least`` of the largest, by default ``max(shape) * eps``.
    """
    if s.shape[0] == 0:
        return 0
    least = max(shape) * rounding_unit(s) if least is None else least
    return int(array_namespace(s).count_nonzero(s > least * s[0]))


def small_svd(x: Matrix) -> tuple[Matrix, Vector, Matrix]:
    """Thin singular value decomposition of a small matrix, found on the host, in the library of ``x``."""
    U, s, Vh = np.linalg.svd(to_numpy(x), full_matrices=False)
    return to_device(U, x), to_device(s, x), to_device(Vh, x)


def segment_sum(x: Matrix, labels: IndexVector, size: int) -> Matrix:
    """Sums of the rows of ``x`` (k, p) that have the same label, shape (size, p); on a GPU, in no fixed order."""
    xp = array_namespace(x)
    out = xp.zeros((size, x.shape[1]), dtype=x.dtype, device=device(x))
    if is_torch_array(x):
        return out.index_add_(0, to_device(labels, x), x)
    if is_cupy_namespace(xp):
        xp.add.at(out, to_device(labels, x), x)
        return out
    sums = np.zeros(out.shape, dtype=np.complex128 if is_complex(x) else np.float64)
    np.add.at(sums, labels, to_numpy(x))
    return to_device(sums, x)
