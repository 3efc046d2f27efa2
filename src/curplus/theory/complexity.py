"""How many entries methods need (Table 1), and how many a sample holds."""

from collections.abc import Callable
from math import log
from typing import Final

from .._typing import Shape
from .._validation import check_count, check_shape
from ..exceptions import InvalidArgumentError
from ._checks import target_rank

__all__ = ["SAMPLE_COMPLEXITIES", "distinct_entries", "sample_complexity"]


#: Table 1: numbers of entries that suffice for an n x n matrix of rank r, up to a constant.
SAMPLE_COMPLEXITIES: Final[dict[str, Callable[[int, int], float]]] = {
    "CUR+": lambda n, r: n * r * log(r),
    "Krishnamurthy-Singh": lambda n, r: n * r**1.5 * log(r),
    "Bhojanapalli-Jain": lambda n, r: n * r**2,
    "Jain-Netrapalli-Sanghavi": lambda n, r: n * r**4.5 * log(n),
    "nuclear norm": lambda n, r: n * r * log(n) ** 2,
}


def sample_complexity(method: str, *, n: int, rank: int) -> float:
    r"""Entries from which a method recovers an n x n matrix of rank r, up to a constant (Table 1).

    Parameters
    ----------
    method : str
        ``"CUR+"``, ``"Krishnamurthy-Singh"``, ``"Bhojanapalli-Jain"``, ``"Jain-Netrapalli-Sanghavi"`` or
        ``"nuclear norm"``.
    n, rank : int
        Side and rank of the matrix. Orders of growth only: at rank 1 the :math:`n r \ln r` of CUR+ is 0.

    Examples
    --------
    >>> [f"{sample_complexity(method, n=1000, rank=10):.1e}" for method in ("CUR+", "nuclear norm")]
    ['2.3e+04', '4.8e+05']
    """
    if method not in SAMPLE_COMPLEXITIES:
        names = ", ".join(map(repr, SAMPLE_COMPLEXITIES))
        raise InvalidArgumentError(f"method={method!r} is not in Table 1. Give one of {names}.")
    return float(SAMPLE_COMPLEXITIES[method](n, target_rank(rank, (n, n))))


def distinct_entries(shape: Shape, *, n_columns: int, n_rows: int, n_entries: int) -> float:
    r"""Expected number of different entries that are read, where the paper counts :math:`2 d n + |\Omega|`.

    .. math:: n d_1 + m d_2 - d_1 d_2 + |\Omega| \frac{(n - d_2)(m - d_1)}{n m}

    Parameters
    ----------
    shape : (int, int)
        Size :math:`(n, m)` of the matrix.
    n_columns, n_rows, n_entries : int
        How many are sampled, uniformly and without repetition.

    Examples
    --------
    >>> distinct_entries((100, 100), n_columns=10, n_rows=20, n_entries=1000)
    3520.0
    """
    n, m = check_shape(shape)
    d1 = check_count(n_columns, name="n_columns", at_most=m, of="columns")
    d2 = check_count(n_rows, name="n_rows", at_most=n, of="rows")
    k = check_count(n_entries, name="n_entries", at_most=n * m, of="entries")
    return n * d1 + m * d2 - d1 * d2 + k * (n - d2) * (m - d1) / (n * m)
