"""The lemmas and theorems: what each requires, what it guarantees, and when that is nothing."""

from math import ceil, exp, log, sqrt
from typing import NamedTuple

from .._typing import Shape
from .._validation import check_count, check_shape
from ..exceptions import InvalidArgumentError
from ._checks import area, at_least, positive, target_rank

__all__ = [
    "Guarantee",
    "frobenius_bound",
    "lemma_1",
    "lemma_2",
    "projection_bound",
    "theorem_1",
    "theorem_2",
    "theorem_3",
]


class Guarantee(NamedTuple):
    """The samples that a theorem requires, and the bound that it guarantees."""

    n_columns: int  #: fewest columns, and as many rows, that it requires (the paper's d)
    n_entries: int  #: fewest uniformly sampled entries that it requires
    probability: float  #: with which the bound holds, over the choice of the sample; never below 0
    bound: float  #: on the norm in the theorem, not on its square
    vacuous: bool  #: whether nothing is guaranteed at these sizes
    reason: str  #: why nothing is guaranteed, with the numbers; empty otherwise


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
    return 2 * positive(rank_eta=rank_eta) * at_least(1, mu_eta=mu_eta)


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
    bound = 2 * at_least(0, sigma_next=sigma_next) * sqrt(1 + sum(shape) / d)
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
    >>> found = theorem_1(shape=(1000, 1000), rank=5, mu=1.5, t=4.0)
    >>> found.n_columns, found.n_entries, round(found.probability, 2)
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
        Confidence: larger needs more samples and fails less often.
    n_columns : int, optional
        Columns sampled, and as many rows (d). By default the fewest that are required.

    Examples
    --------
    >>> found = theorem_2(shape=(400, 400), rank=2, mu=1.0, mu_hat=1.5, sigma_next=1e-6, t=4.0)
    >>> found.n_columns, found.n_entries, round(found.bound, 4)
    (66, 340, 0.0058)
    """
    demanded = _column_demand(shape, rank, mu, t)
    n_entries = _entry_demand(at_least(1, mu_hat=mu_hat) * rank, rank, t)
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
        As for :func:`lemma_2`, from which it follows.

    Notes
    -----
    It is vacuous unless :math:`d > 72 (x + 1)(t + \ln n)`: below that :math:`|\Omega|` exceeds ``n m``. Since
    :math:`x \ge 1/2` and :math:`t > \ln 7`, that never happens when a side is shorter than 4095.

    Examples
    --------
    >>> known = dict(rank=1, mu_eta=1.0, rank_eta=0.5, sigma_rank=1.0, sigma_next=0.1, t=3.0)
    >>> found = theorem_3(shape=(40_000, 40_000), n_columns=10_000, **known)
    >>> found.n_columns, found.n_entries, found.vacuous
    (327, 724765503, False)
    """
    x, need = _spectral_need(shape, mu_eta, rank_eta, t)
    d = _sampled(shape, n_columns)
    n_entries = _entry_demand(2 * x + 72 * max(shape) / d * need, target_rank(rank, shape), t)
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
    size = check_count(n_entries, name="n_entries", at_least=1, at_most=area(shape), of="entries")
    demanded = _entry_demand(at_least(1, mu_hat=mu_hat) * target_rank(rank, shape), rank, positive(t=t))
    if not 0 < delta < 1:
        raise InvalidArgumentError(f"delta={delta} is not a chance of failing. Give a number between 0 and 1.")
    bound = sqrt(1 + 4 * (mu_hat * rank) ** 2 / (delta * size)) * at_least(0, projection_error=projection_error)
    few = f"n_entries={size} is fewer than the {demanded} required" if size < demanded else ""
    return _guarantee(shape, rank, demanded, failure=delta + exp(-t), bound=bound, d=rank, doubts=(few,))


def _column_demand(shape: Shape, rank: int, mu: float, t: float) -> int:
    """Least d >= 7 mu r (t + ln r)."""
    return ceil(7 * at_least(1, mu=mu) * target_rank(rank, shape) * (positive(t=t) + log(rank)))


def _entry_demand(mu_times_rank: float, rank: int, t: float) -> int:
    """Least size of Omega >= 7 (mu r)^2 (t + 2 ln r)."""
    return ceil(7 * mu_times_rank**2 * (t + 2 * log(rank)))


def _spectral_need(shape: Shape, mu_eta: float, rank_eta: float, t: float) -> tuple[float, float]:
    """Return x = mu(eta) r(M, eta) and (x + 1)(t + ln n), of which Lemma 2 and Theorem 3 are made."""
    x = lemma_1(mu_eta=mu_eta, rank_eta=rank_eta) / 2
    return x, (x + 1) * (positive(t=t) + log(max(check_shape(shape))))


def _error_bound(shape: Shape, sigma_next: float, d: int) -> float:
    """Bound of Theorems 2 and 3, with the square root taken."""
    return at_least(0, sigma_next=sigma_next) * sqrt(8 * (1 + 2 * area(shape)) * (1 + sum(shape) / d))


def _no_gap(sigma_rank: float, sigma_next: float) -> str:
    least = sqrt(2) * at_least(0, sigma_next=sigma_next)
    short = at_least(0, sigma_rank=sigma_rank) < least
    return f"sigma_rank={sigma_rank:.6g} is below sqrt(2) * sigma_next = {least:.6g}" if short else ""


def _guarantee(
    shape: Shape, n_columns: int, n_entries: int, *, failure: float, bound: float, d: int, doubts: tuple[str, ...] = ()
) -> Guarantee:
    """Requirements and bound as a value, with every reason why nothing is guaranteed if d columns are sampled."""
    n, m = shape
    found = [
        f"it requires {n_columns} columns and rows of a {n} x {m} matrix" if n_columns > min(n, m) else "",
        f"n_columns={d} is fewer than the {n_columns} required" if d < n_columns <= min(n, m) else "",
        f"it requires {n_entries} entries of the {n * m} there are" if n_entries > n * m else "",
        f"its bound on the chance of failing is {failure:.3g}, not below 1; increase t" if failure >= 1 else "",
        *doubts,
    ]
    reason = "; ".join(filter(None, found))
    return Guarantee(n_columns, n_entries, max(0.0, 1 - failure), float(bound), bool(reason), reason)


def _sampled(shape: Shape, n_columns: int | None, otherwise: int = 1) -> int:
    if n_columns is None:
        return min(otherwise, *shape)
    return check_count(n_columns, name="n_columns", at_least=1, at_most=min(shape), of="columns or rows")
