r"""What is promised: how much must be looked at, and how good the answer then is.

CUR+ works when information is spread evenly, so that no row or column matters far more than the others. *Incoherence*
measures that, from 1 (perfectly even) up to ``n / r`` (all in r rows). Each theorem of the paper asks for ``d``
columns, ``d`` rows and :math:`|\Omega|` entries, and promises an error with some probability. The functions here
evaluate it as a :class:`Guarantee`, which also says when, at the given sizes, nothing is promised.

Equation numbers are those of Xu, Jin and Zhou, *CUR Algorithm for Partially Observed Matrices*, ICML 2015. The paper
takes n >= m; here the longer side plays its n.
"""

from collections.abc import Callable
from math import ceil, exp, inf, log, sqrt
from typing import Final, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray

from ._typing import Shape
from ._validation import check_count, check_shape
from .exceptions import InvalidArgumentError

__all__ = [
    "SAMPLE_COMPLEXITIES",
    "Guarantee",
    "distinct_entries",
    "frobenius_bound",
    "generalized_incoherence",
    "incoherence",
    "lemma_1",
    "lemma_2",
    "numerical_rank",
    "projection_bound",
    "sample_complexity",
    "sin_theta",
    "theorem_1",
    "theorem_2",
    "theorem_3",
]


class Guarantee(NamedTuple):
    """What a theorem asks for, and what it promises in return."""

    n_columns: int  #: fewest columns, and as many rows, that it asks for (the paper's d)
    n_entries: int  #: fewest uniformly sampled entries that it asks for
    probability: float  #: with which the bound holds, over the choice of the sample; never below 0
    bound: float  #: on the norm in the theorem, not on its square
    vacuous: bool  #: whether nothing is promised at these sizes
    reason: str  #: why nothing is promised, with the numbers; empty otherwise


def incoherence(left: ArrayLike, right: ArrayLike) -> float:
    r"""How unevenly two subspaces are spread over the coordinates, eqs. (4) and (5).

    .. math:: \mu(r) = \max\Bigl(\max_i \tfrac{n}{r} |U_{i,*}|^2,\; \max_j \tfrac{m}{r'} |V_{j,*}|^2\Bigr)

    Parameters
    ----------
    left, right : arrays of shape (n, r) and (m, r')
        Orthonormal columns: singular vectors give :math:`\mu`, bases made of samples :math:`\hat\mu`.

    Returns
    -------
    float
        At least 1, at most ``max(n / r, m / r')``; a property of the subspaces, whatever their bases.

    Examples
    --------
    >>> even, spiked = np.full((4, 1), 0.5), np.eye(4)[:, :1]
    >>> incoherence(even, even), incoherence(even, spiked)
    (1.0, 4.0)
    """
    bases = _orthonormal(left, "left"), _orthonormal(right, "right")
    return float(max(Q.shape[0] / Q.shape[1] * np.square(Q).sum(axis=1).max() for Q in bases))


def numerical_rank(singular_values: ArrayLike, shape: Shape, *, eta: float) -> float:
    r"""Number of singular values that stand out from a noise floor (Section 3.2).

    .. math:: r(M, \eta) = \sum_i \frac{\sigma_i^2}{\sigma_i^2 + n m \eta}

    Parameters
    ----------
    singular_values : array of shape (k,)
        The :math:`\sigma_i`, in any order. Zeros count for nothing and may be left out.
    shape : (int, int)
        Size :math:`(n, m)` of the matrix.
    eta : float
        Noise floor, as a mean square per entry. Larger means fewer directions count.

    Returns
    -------
    float
        Between 0 and ``k``; tends to the rank as ``eta`` tends to 0, and equals it there.

    Examples
    --------
    >>> round(numerical_rank([10.0, 10.0, 0.01], shape=(20, 20), eta=1e-3), 2)
    1.99
    """
    return float(_weights(singular_values, shape, eta).sum())


def generalized_incoherence(left: ArrayLike, singular_values: ArrayLike, right: ArrayLike, *, eta: float) -> float:
    r"""Incoherence of a matrix of full rank, directions counted as :func:`numerical_rank` does, eq. (6).

    .. math:: \mu(\eta) = \frac{1}{r(M,\eta)} \max\Bigl(\max_i n \sum_k w_k U_{ik}^2,\; \max_j m \sum_k w_k V_{jk}^2
              \Bigr), \qquad w_k = \frac{\sigma_k^2}{\sigma_k^2 + n m \eta}

    The paper prints :math:`\Sigma` where :math:`\mathrm{diag}(\sqrt{w})` is meant; only then is it at least 1.

    Parameters
    ----------
    left, singular_values, right : arrays of shape (n, k), (k,), (m, k)
        Singular value decomposition; directions with :math:`\sigma_k = 0` may be left out, no others.
    eta : float
        Noise floor, as a mean square per entry. The theorems take :math:`\sigma_r^2 / (n m)`.

    Returns
    -------
    float
        At least 1; at ``eta=0`` it is the :func:`incoherence` of the whole column and row space.

    Examples
    --------
    >>> [round(generalized_incoherence(np.eye(2), [1.0, 0.1], np.eye(2), eta=eta), 2) for eta in (0.0, 0.25)]
    [1.0, 1.96]
    """
    U, V = _orthonormal(left, "left"), _orthonormal(right, "right")
    w = _weights(singular_values, (len(U), len(V)), eta)
    if not U.shape[1] == w.size == V.shape[1]:
        raise InvalidArgumentError(
            f"left has {U.shape[1]} columns, right {V.shape[1]}, and there are {w.size} singular values, but each "
            "direction needs one of each. Pass the three parts of one thin SVD."
        )
    if not w.any():
        raise InvalidArgumentError("all singular values are 0, and a zero matrix has no directions. Pass another.")
    return float(max(len(Q) / w.sum() * (np.square(Q) @ w).max() for Q in (U, V)))


def sin_theta(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    r"""Sines of the principal angles :math:`\Theta` between two subspaces.

    Parameters
    ----------
    first, second : arrays of shape (n, p) and (n, q)
        Columns that span the subspaces; they need not be orthonormal, nor independent.

    Returns
    -------
    array of shape (min(p, q),)
        Descending, one per dimension of the smaller span; the first is :math:`\|\sin\Theta\|_2`. Tiny angles keep
        their digits, which :math:`\sqrt{1 - \cos^2}` would lose below 1e-8.

    Examples
    --------
    >>> sin_theta([[1.0], [0.0]], [[1.0], [1e-10]])
    array([1.e-10])
    """
    X, Y = _matrix(first, "first"), _matrix(second, "second")
    if len(X) != len(Y):
        raise InvalidArgumentError(
            f"first has {len(X)} rows and second {len(Y)}, so they lie in different spaces and have no angle. "
            "Pass two matrices with the same number of rows."
        )
    if not (X.any() and Y.any()):
        raise InvalidArgumentError("a matrix of zeros spans nothing and has no angles. Pass nonzero columns.")
    sines: NDArray[np.float64] = np.sin(scipy.linalg.subspace_angles(X, Y))
    return sines


def lemma_1(*, mu_eta: float, rank_eta: float) -> float:
    r"""Bound on :math:`r \mu(r)` that always holds: :math:`r \mu(r) \le 2\, r(M, \eta)\, \mu(\eta)` (Lemma 1).

    Parameters
    ----------
    mu_eta, rank_eta : float
        :func:`generalized_incoherence` and :func:`numerical_rank` at :math:`\eta = \sigma_r^2 / (n m)`.

    Examples
    --------
    >>> lemma_1(mu_eta=1.5, rank_eta=4.0)
    12.0
    """
    return 2 * _positive(rank_eta=rank_eta) * _at_least(1, mu_eta=mu_eta)


def lemma_2(
    *, shape: Shape, mu_eta: float, rank_eta: float, sigma_rank: float, sigma_next: float, n_columns: int, t: float
) -> Guarantee:
    r"""Incoherence of the sampled bases, before sampling, with probability :math:`1 - 4e^{-t}` (Lemma 2).

    With :math:`x = \mu(\eta)\, r(M, \eta)`, :math:`\eta = \sigma_r^2/(nm)` and :math:`d \ge 16 (x + 1)(t + \ln n)`,

    .. math:: r \hat\mu(r) \le 2 x + 18 n \delta^2, \qquad \delta^2 = \tfrac{4}{d} (x + 1)(t + \ln n)

    Parameters
    ----------
    mu_eta, rank_eta : float
        :func:`generalized_incoherence` and :func:`numerical_rank` at that :math:`\eta`.
    sigma_rank, sigma_next : float
        :math:`\sigma_r` and :math:`\sigma_{r+1}`; it needs :math:`\sigma_r \ge \sqrt2 \sigma_{r+1}`.
    shape, n_columns, t
        As for :func:`theorem_2`.

    Notes
    -----
    The paper prints :math:`18 n \delta^2 / r`; its proof and Theorem 3 have no ``/ r``. Two gaps remain in the proof:
    :math:`(a + b)^2` needs a factor 2, and the eigengap of :math:`H_A` is at least 1/4, not 1/2.

    Examples
    --------
    >>> known = dict(mu_eta=1.0, rank_eta=0.5, sigma_rank=1.0, sigma_next=0.1, t=3.0)
    >>> lemma_2(shape=(900, 900), n_columns=300, **known).reason
    'it allows r * mu_hat(r) = 3.18e+03, which never exceeds 900 anyway; less takes n_columns > 1058.7'
    """
    x, need = _spectral_need(shape, mu_eta, rank_eta, t)
    n, d = max(shape), _sampled(shape, n_columns)
    bound = 2 * x + 18 * n * 4 * need / d
    idle = f"it allows r * mu_hat(r) = {bound:.3g}, which never exceeds {n} anyway; less takes n_columns > "
    doubts = _no_gap(sigma_rank, sigma_next), f"{idle}{72 * need:.1f}" if bound >= n else ""
    return _guarantee(shape, ceil(16 * need), 0, failure=4 * exp(-t), bound=bound, d=d, doubts=doubts)


def projection_bound(
    *, shape: Shape, rank: int, mu: float, sigma_next: float, t: float, n_columns: int | None = None
) -> Guarantee:
    r"""What the two sampled bases miss, with probability :math:`1 - 2e^{-t}` (appendix, bound on :math:`\Delta`).

    .. math:: \|M - P_{\hat U} M P_{\hat V}\|_2^2 \le 4 \sigma_{r+1}^2 \Bigl(1 + \frac{m + n}{d}\Bigr)
              \quad\text{if}\quad d \ge 7 \mu(r)\, r\, (t + \ln r)

    Parameters
    ----------
    shape, rank, mu, sigma_next, t, n_columns
        As for :func:`theorem_2`.

    Notes
    -----
    The paper's proof takes the span of all d columns for that of their top r singular vectors. Repaired, it gives
    :math:`\|M - P_{\hat U} M\|_2^2 \le \sigma_{r+1}^2 (1 + 8 m / d)`, not :math:`1 + 2 m / d`. As the errors of the
    two bases have orthogonal ranges, their squares add without the paper's factor 2, so that
    :math:`2 \sigma_{r+1}^2 (1 + 4 (m + n) / d)` is proved: less than twice the printed bound.

    Examples
    --------
    >>> round(projection_bound(shape=(400, 300), rank=2, mu=1.0, sigma_next=0.1, t=4.0, n_columns=100).bound, 3)
    0.566
    """
    demanded = _column_demand(shape, rank, mu, t)
    d = _sampled(shape, n_columns, otherwise=demanded)
    bound = 2 * _at_least(0, sigma_next=sigma_next) * sqrt(1 + sum(shape) / d)
    return _guarantee(shape, demanded, 0, failure=2 * exp(-t), bound=bound, d=d)


def theorem_1(*, shape: Shape, rank: int, mu: float, t: float, n_columns: int | None = None) -> Guarantee:
    r"""Exact recovery of a matrix of rank r, with probability :math:`1 - 5e^{-t}` (Theorem 1).

    .. math:: \|M - \hat M\|_2 = 0 \quad\text{if}\quad d \ge 7 \mu(r)\, r\, (t + \ln r), \;
              |\Omega| \ge 7 \mu^2(r)\, r^2 (t + 2 \ln r)

    Parameters
    ----------
    rank : int
        The rank of the matrix itself. The paper allows it to be less, but then the surplus vectors of the sampled
        bases are arbitrary, perhaps coherent, and :math:`\hat\mu(r) = \mu(r)` fails.
    shape, mu, t, n_columns
        As for :func:`theorem_2`.

    Examples
    --------
    >>> promise = theorem_1(shape=(1000, 1000), rank=5, mu=1.5, t=4.0)
    >>> promise.n_columns, promise.n_entries, round(promise.probability, 2)
    (295, 2843, 0.91)
    """
    demanded = _column_demand(shape, rank, mu, t)
    d = _sampled(shape, n_columns, otherwise=demanded)
    return _guarantee(shape, demanded, _entry_demand(mu * rank, rank, t), failure=5 * exp(-t), bound=0.0, d=d)


def theorem_2(
    *, shape: Shape, rank: int, mu: float, mu_hat: float, sigma_next: float, t: float, n_columns: int | None = None
) -> Guarantee:
    r"""Error for any matrix, once the bases are sampled, with probability :math:`1 - 3e^{-t}` (Theorem 2).

    .. math:: \|M - \hat M\|_2^2 \le 8 \sigma_{r+1}^2 (1 + 2 m n) \Bigl(1 + \frac{m + n}{d}\Bigr)
              \quad\text{if}\quad d \ge 7 \mu(r)\, r\, (t + \ln r), \; |\Omega| \ge 7 \hat\mu^2(r)\, r^2 (t + 2 \ln r)

    Parameters
    ----------
    shape : (int, int)
        Size of the matrix.
    rank : int
        Target rank r.
    mu, mu_hat : float
        :func:`incoherence` of the top r singular vectors, and of the bases made of sampled columns and rows.
    sigma_next : float
        :math:`\sigma_{r+1}`, the spectral error of the best matrix of rank r.
    t : float
        Confidence: larger asks for more samples and fails less often.
    n_columns : int, optional
        Columns sampled, and as many rows (d). By default the fewest that are asked for.

    Examples
    --------
    >>> promise = theorem_2(shape=(400, 400), rank=2, mu=1.0, mu_hat=1.5, sigma_next=1e-6, t=4.0)
    >>> promise.n_columns, promise.n_entries, round(promise.bound, 4)
    (66, 340, 0.0058)
    """
    demanded = _column_demand(shape, rank, mu, t)
    n_entries = _entry_demand(_at_least(1, mu_hat=mu_hat) * rank, rank, t)
    d = _sampled(shape, n_columns, otherwise=demanded)
    bound = _error_bound(shape, sigma_next, d)
    return _guarantee(shape, demanded, n_entries, failure=3 * exp(-t), bound=bound, d=d)


def theorem_3(
    *,
    shape: Shape,
    rank: int,
    mu_eta: float,
    rank_eta: float,
    sigma_rank: float,
    sigma_next: float,
    n_columns: int,
    t: float,
) -> Guarantee:
    r"""Error for a matrix whose spectrum has a gap, before sampling, with probability :math:`1 - 7e^{-t}` (Theorem 3).

    The bound of :func:`theorem_2`, if :math:`d \ge 16 (x + 1)(t + \ln n)`, where :math:`x = \mu(\eta) r(M, \eta)`, and

    .. math:: |\Omega| \ge 7 \Bigl(2 x + 72 \frac{n}{d} (x + 1)(t + \ln n)\Bigr)^2 (t + 2 \ln r)

    Parameters
    ----------
    shape, rank, sigma_next, n_columns, t
        As for :func:`theorem_2`.
    mu_eta, rank_eta, sigma_rank
        As for :func:`lemma_2`, on which it rests.

    Notes
    -----
    It says something only if :math:`d > 72 (x + 1)(t + \ln n)`: below that :math:`|\Omega|` exceeds ``n m``. Since
    :math:`x \ge 1/2` and :math:`t > \ln 7`, that never happens when a side is shorter than 4095.

    Examples
    --------
    >>> known = dict(rank=1, mu_eta=1.0, rank_eta=0.5, sigma_rank=1.0, sigma_next=0.1, t=3.0)
    >>> promise = theorem_3(shape=(40_000, 40_000), n_columns=10_000, **known)
    >>> promise.n_columns, promise.n_entries, promise.vacuous
    (327, 724765503, False)
    """
    x, need = _spectral_need(shape, mu_eta, rank_eta, t)
    d = _sampled(shape, n_columns)
    n_entries = _entry_demand(2 * x + 72 * max(shape) / d * need, _rank(rank, shape), t)
    few = f"n_columns={d} is not above 72 * (mu_eta * rank_eta + 1) * (t + ln n) = {72 * need:.1f}"
    doubts = _no_gap(sigma_rank, sigma_next), few if d <= 72 * need else ""
    bound = _error_bound(shape, sigma_next, d)
    return _guarantee(shape, ceil(16 * need), n_entries, failure=7 * exp(-t), bound=bound, d=d, doubts=doubts)


def frobenius_bound(
    *, shape: Shape, rank: int, mu_hat: float, projection_error: float, n_entries: int, delta: float, t: float
) -> Guarantee:
    r"""Error once the bases are sampled, with no factor ``m n``; probability :math:`1 - \delta - e^{-t}`.

    .. math:: \|M - \hat M\|_F^2 \le \Bigl(1 + \frac{4 \hat\mu^2(r)\, r^2}{\delta |\Omega|}\Bigr)
              \|M - P_{\hat U} M P_{\hat V}\|_F^2 \quad\text{if}\quad |\Omega| \ge 7 \hat\mu^2(r)\, r^2 (t + 2 \ln r)

    Not in the paper. With the regression scaled so that its matrix H has mean I, the error of the core is
    :math:`H^{-1} g`, where :math:`\lambda_{\min}(H) \ge 1/2` by Chernoff and :math:`\|g\|^2` is small by Markov.

    Parameters
    ----------
    projection_error : float
        :math:`\|M - P_{\hat U} M P_{\hat V}\|_F`, the error of the best core in these bases.
    n_entries : int
        Entries sampled, :math:`|\Omega|`, independently of the bases.
    delta : float
        Chance, between 0 and 1, that g is larger than assumed.
    shape, rank, mu_hat, t
        As for :func:`theorem_2`.

    Examples
    --------
    >>> known = dict(shape=(400, 400), rank=2, mu_hat=1.5, projection_error=1.0, delta=0.1, t=4.0)
    >>> round(frobenius_bound(n_entries=2000, **known).bound, 2)
    1.09
    """
    size = check_count(n_entries, name="n_entries", at_least=1, at_most=_area(shape), of="entries")
    demanded = _entry_demand(_at_least(1, mu_hat=mu_hat) * _rank(rank, shape), rank, _positive(t=t))
    if not 0 < delta < 1:
        raise InvalidArgumentError(f"delta={delta} is not a chance of failing. Give a number between 0 and 1.")
    bound = sqrt(1 + 4 * (mu_hat * rank) ** 2 / (delta * size)) * _at_least(0, projection_error=projection_error)
    few = f"n_entries={size} is fewer than the {demanded} asked for" if size < demanded else ""
    return _guarantee(shape, rank, demanded, failure=delta + exp(-t), bound=bound, d=rank, doubts=(few,))


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
        A key of ``SAMPLE_COMPLEXITIES``.
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
    return float(SAMPLE_COMPLEXITIES[method](n, _rank(rank, (n, n))))


def distinct_entries(shape: Shape, *, n_columns: int, n_rows: int, n_entries: int) -> float:
    r"""Expected number of different entries seen, where the paper counts :math:`2 d n + |\Omega|`.

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


def _column_demand(shape: Shape, rank: int, mu: float, t: float) -> int:
    """Least d >= 7 mu r (t + ln r)."""
    return ceil(7 * _at_least(1, mu=mu) * _rank(rank, shape) * (_positive(t=t) + log(rank)))


def _entry_demand(mu_times_rank: float, rank: int, t: float) -> int:
    """Least size of Omega >= 7 (mu r)^2 (t + 2 ln r)."""
    return ceil(7 * mu_times_rank**2 * (t + 2 * log(rank)))


def _spectral_need(shape: Shape, mu_eta: float, rank_eta: float, t: float) -> tuple[float, float]:
    """Return x = mu(eta) r(M, eta) and (x + 1)(t + ln n), of which Lemma 2 and Theorem 3 are made."""
    x = lemma_1(mu_eta=mu_eta, rank_eta=rank_eta) / 2
    return x, (x + 1) * (_positive(t=t) + log(max(check_shape(shape))))


def _error_bound(shape: Shape, sigma_next: float, d: int) -> float:
    """Bound of Theorems 2 and 3, with the square root taken."""
    return _at_least(0, sigma_next=sigma_next) * sqrt(8 * (1 + 2 * _area(shape)) * (1 + sum(shape) / d))


def _no_gap(sigma_rank: float, sigma_next: float) -> str:
    least = sqrt(2) * _at_least(0, sigma_next=sigma_next)
    short = _at_least(0, sigma_rank=sigma_rank) < least
    return f"sigma_rank={sigma_rank:.6g} is below sqrt(2) * sigma_next = {least:.6g}" if short else ""


def _guarantee(
    shape: Shape, n_columns: int, n_entries: int, *, failure: float, bound: float, d: int, doubts: tuple[str, ...] = ()
) -> Guarantee:
    """Demands and promise as a value, with every reason why nothing is promised when d columns are sampled."""
    n, m = shape
    found = [
        f"it asks for {n_columns} columns and rows of a {n} x {m} matrix" if n_columns > min(n, m) else "",
        f"n_columns={d} is fewer than the {n_columns} asked for" if d < n_columns else "",
        f"it asks for {n_entries} entries of the {n * m} there are" if n_entries > n * m else "",
        f"its bound on the chance of failing is {failure:.3g}, not below 1; increase t" if failure >= 1 else "",
        *doubts,
    ]
    reason = "; ".join(filter(None, found))
    return Guarantee(n_columns, n_entries, max(0.0, 1 - failure), bound, bool(reason), reason)


def _sampled(shape: Shape, n_columns: int | None, otherwise: int = 1) -> int:
    if n_columns is None:
        return min(otherwise, *shape)
    return check_count(n_columns, name="n_columns", at_least=1, at_most=min(shape), of="columns or rows")


def _rank(rank: int, shape: Shape) -> int:
    return check_count(rank, name="rank", at_least=1, at_most=min(check_shape(shape)), of="columns or rows")


def _area(shape: Shape) -> int:
    n, m = check_shape(shape)
    return n * m


def _at_least(least: float, **named: float) -> float:
    ((name, value),) = named.items()
    if not least - 1e-9 <= value < inf:  # a computed incoherence of 1 may be rounded down
        raise InvalidArgumentError(
            f"{name}={value}, which by its definition is finite and at least {least}. Check how it was computed."
        )
    return max(value, least)


def _positive(**named: float) -> float:
    ((name, value),) = named.items()
    if not 0 < value < inf:
        raise InvalidArgumentError(f"{name}={value}, but only positive finite numbers make sense. Try {name}=3.")
    return value


def _weights(singular_values: ArrayLike, shape: Shape, eta: float) -> NDArray[np.float64]:
    """Return s^2 / (s^2 + n m eta) in a form where no square overflows and 0 is never divided by 0."""
    s = np.asarray(singular_values, dtype=np.float64)
    if s.ndim != 1 or not (np.isfinite(s) & (s >= 0)).all():
        raise InvalidArgumentError(
            f"singular_values={s} must be one list of finite numbers, none negative. Pass those of an SVD."
        )
    length = np.hypot(s, sqrt(_at_least(0, eta=eta)) * sqrt(_area(shape)))
    return np.square(np.divide(s, length, out=np.zeros_like(s), where=length > 0))


def _matrix(x: ArrayLike, name: str) -> NDArray[np.float64]:
    Q = np.asarray(x, dtype=np.float64)
    if Q.ndim != 2 or Q.size == 0 or not np.isfinite(Q).all():
        raise InvalidArgumentError(
            f"{name} has shape {Q.shape} and {(~np.isfinite(Q)).sum()} values that are not finite, so its columns "
            "span no subspace. Pass a finite matrix with at least one row and one column."
        )
    return Q


def _orthonormal(x: ArrayLike, name: str) -> NDArray[np.float64]:
    Q = _matrix(x, name)
    error = np.abs(Q.T @ Q - np.eye(Q.shape[1])).max()
    if error > 1e-4:  # leaves room for single precision
        raise InvalidArgumentError(
            f"{name}.T @ {name} differs from the identity by {error:.3g}, but incoherence is defined for orthonormal "
            f"columns. Pass numpy.linalg.qr({name}).Q instead."
        )
    return Q
