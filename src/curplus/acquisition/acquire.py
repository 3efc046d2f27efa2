"""Reading a matrix in rounds: what was read decides what is read.

The paper draws rows and columns uniformly and names adaptive sampling as its next step. On matrices whose information
sits in few places, such as text, choosing them is worth more than any way of computing with the sample afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

from .._support.progress import showing
from .._support.sets import NO_INDEX
from .._typing import RandomState, Shape
from ..evaluation import Best
from ..exceptions import CURPlusError, InconsistentObservationError, InvalidArgumentError, SourceError
from ..observation import Observation, SamplePlan, read
from ..observation.observation import check_observation
from ..observation.plan import ALL_UNIFORM
from ..observation.symmetry import PSD, SYMMETRIC, mirrored, promise, promised
from ..sources import Source, as_source
from .budget import check_budget
from .entry_strategies import EntryStrategy
from .goals import MATRIX, carried_out, check_alone, check_goal
from .mean_widths import NarrowMeans
from .prices import Costs
from .propose import proposer, seed_of
from .strategies import Strategy
from .tolerance import Allowance, rounds_to_tolerance

__all__ = ["acquire"]


def acquire(
    source: Any,
    *,
    n_columns: int | None = None,
    n_rows: int | None = None,
    n_entries: int | None = None,
    budget: float | None = None,
    costs: Costs | None = None,
    tol: float | None = None,
    required: Any = None,
    forbidden: Any = None,
    strategy: str | Strategy = "auto",
    entry_strategy: str | EntryStrategy = "uniform",
    start: Observation | None = None,
    symmetric: bool = False,
    psd: bool = False,
    gaps: bool = False,
    noise: float | str | None = None,
    goal: str | Best | NarrowMeans = MATRIX,
    width: float | None = None,
    on_round: Callable[[Observation], Any] | None = None,
    progress: bool = False,
    rng: RandomState = None,
) -> Observation:
    r"""Read columns, rows and entries of a matrix, chosen in rounds from what has been read so far.

    Parameters
    ----------
    source : array, sparse matrix, DataFrame or source of shape (n, m)
        The matrix. Nothing but the chosen parts is read, and no row, column or entry twice. A function
        (:class:`~curplus.CallableSource`) is asked for no position twice.
    n_columns, n_rows, n_entries : int, optional
        How many there should be in the end, those of ``start`` included. 0 is allowed. All of them, or those that the
        ``budget`` should not decide. Of a symmetric matrix ``n_rows`` may be left out, and of a PSD one ``n_entries``
        as well.
    budget : float, optional
        How much may be read, ``start`` included: below 1 a share of the matrix, from 1 on a number of values, and with
        ``costs`` money. How it is split between rows, columns and entries follows at first from the prices, and then
        from what was read: ``history`` says how and why.
    costs : Costs, optional
        Prices of rows, columns and entries. What costs less is chosen more often: squares count for what they cost.
    tol : float, optional
        Read until the relative error is below this with a confidence of 95 % over all looks, or the ``budget`` is
        spent; ``history`` says which, and what the entries that were read to judge by cannot exclude. Needs no counts.
        What is judged is the cross of the rows and columns read before; :func:`curplus.approximate`, which has it as
        the model ``"interpolation"``, makes the answer.
    required, forbidden : dict, optional
        ``rows``, ``columns`` and ``cells`` (two arrays of positions) that must be read, and are read first, or must
        not be. A forbidden row is not read as a whole; entries of it may be. A row with a forbidden cell is not chosen,
        unless there may be gaps.
    strategy : str or Strategy, default "auto"
        How to choose rows and columns. ``"auto"`` needs no knowledge of the matrix.

        ======================  ==============================================  =======================================
        name                    object                                          rows and columns
        ======================  ==============================================  =======================================
        ``"auto"``              :class:`~curplus.acquisition.Adaptive`          explaining, far from the others, large
        ``"uniform"``           :class:`~curplus.acquisition.Uniform`           uniformly, as :func:`curplus.observe`
        ``"pivoted"``           :class:`~curplus.acquisition.Pivoted`           far from the span of those taken
        ``"residual_norm"``     :class:`~curplus.acquisition.ResidualNorm`      drawn by their residuals
        ``"leverage"``          :class:`~curplus.acquisition.Leverage`          drawn by their leverage scores
        ======================  ==============================================  =======================================
    entry_strategy : str or EntryStrategy, default "uniform"
        How to choose entries: uniformly from all positions, which keeps error estimates simple, or
        ``"product_leverage"`` (:class:`~curplus.acquisition.ProductLeverage`), where they matter to the core.
    start : Observation, optional
        What is known already. It is kept, and reading goes on from there.
    symmetric : bool, default False
        Promise that :math:`M = M^\top`, and of complex numbers that :math:`M = M^*`. Rows and columns are then the same
        set, only the columns are read, and ``n_rows`` must equal ``n_columns``.
    psd : bool, default False
        Promise that the matrix is symmetric, or complex Hermitian, and positive semidefinite, such as a kernel or a
        covariance matrix. Its diagonal is read, n values, and columns are chosen by what is left of it. ``strategy`` is
        ``"auto"``, ``"rpcholesky"`` or ``"uniform"``. No rows are read. There may be fewer columns than were asked
        for: where nothing but rounding is left of the diagonal, no further column would add anything.
    gaps : bool, default False
        Whether NaN means that something could not be measured; otherwise it is an error. A row with gaps counts as
        read, an entry that could not be measured counts as asked for, and neither is asked for again.
    noise : float or "unknown", optional
        Standard deviation of a reading, if readings are not exact: see :class:`Observation`.
    goal : {"matrix", "means"} or Best, default "matrix"
        What it is for: an approximation of the whole matrix; the means of rows, from scattered entries, until each
        interval is at most ``width`` wide (:class:`~curplus.acquisition.NarrowMeans` has more options); or the k best
        rows (:class:`curplus.Best`), from columns that are read in the rows that are left, until it is decided
        (:func:`curplus.decide`). ``budget`` ends it before, and the last line of ``history`` says which. Other rows and
        columns of ``forbidden`` are not read; counts, ``tol``, ``required`` and a symmetry cannot be given.
    width : float, optional
        For ``goal="means"``: how wide the interval of each mean may be, at 95 %.
    on_round : callable, optional
        Called after each round with what has been read so far, to save it for example.
    progress : bool, default False
        Whether to show on standard error how far it has come, if it takes more than a second.
    rng : None, int or numpy.random.Generator
        A seed, or a generator that is asked for one. What is read follows from the seed and the matrix alone.

    Returns
    -------
    Observation
        Rows and columns in the order they were read. ``design`` says which parts are still a uniform sample: after an
        adaptive choice rows and columns are not, and estimates that need that are no longer valid. ``evidence`` says
        which entries took no part in choosing, ``history`` what was read and why, and
        ``symmetry`` keeps the promise, which approximations follow.

    Raises
    ------
    InvalidArgumentError
        If more is asked for than the matrix has or less than ``start`` has, if the matrix is seen not to be symmetric
        or PSD despite the promise, or if something that was read is not finite.
    SourceError
        If the source fails. The error's ``observation`` has everything that was read before: give it as ``start``, with
        the same seed, and the result is the same as without the failure; with ``tol``, reading goes on with a new look.

    Notes
    -----
    A fifth of the smaller of the two numbers is first drawn uniformly of each kind. With ``"auto"``, half of the
    entries are read next, and help to choose. Entries that lie on rows or columns already read are not asked for again.
    Choosing costs
    :math:`O(d_1^2 n + d_2^2 m + d_1 d_2 (n + m))` a round. :func:`curplus.propose` is one round without the reading.
    Where each round is a pass through a file in chunks that is larger than what the source keeps of it, there are three
    rounds instead of some eighteen: pilots with the entries that help to choose, all rows or columns of one kind, and
    those of the other with the last entries.

    Columns of a PSD matrix are read in about eight blocks. For a block some are drawn with chances in proportion to
    what is left of the diagonal, and the entries where they intersect are read. ``"rpcholesky"`` rejects some of them,
    so that the others have the distribution of randomly pivoted Cholesky. ``"auto"`` draws more, and keeps those that
    explain most of the others; these entries are a twentieth of the columns, and more where few of a block are kept.

    Examples
    --------
    >>> import numpy as np, curplus
    >>> M = 0.01 * np.random.default_rng(0).standard_normal((200, 100))
    >>> M[3, 10:60] += 5.0
    >>> M[50, 40:90] += 7.0
    >>> seen = curplus.acquire(M, n_columns=15, n_rows=15, n_entries=0, rng=0)
    >>> sorted({3, 50} & {int(i) for i in seen.row_index})
    [3, 50]
    """
    source = as_source(source)
    seed = seed_of(rng)
    seen = _begin(source, start, n_entries, gaps=gaps, noise=noise)
    seen = _with_promise(seen, PSD if psd else SYMMETRIC if symmetric else None)
    counts: dict[str, Any] = {"n_columns": n_columns, "n_rows": n_rows, "n_entries": n_entries}
    how: dict[str, Any] = {"budget": budget, "costs": costs, "required": required, "forbidden": forbidden}
    aim = check_goal(goal, width)
    if aim is not None:
        check_alone(seen.symmetry, tol=tol)
    if tol is not None:
        _check_alone(tol, psd, *counts.values(), required, forbidden)
        allowance = Allowance.of(budget, costs, seen.shape, seen.symmetry == SYMMETRIC)
        rounds = rounds_to_tolerance(seen, float(tol), allowance, seed=seed)
    else:
        how |= {"strategy": strategy, "entry_strategy": entry_strategy}
        how["few_rounds"] = getattr(source, "a_round_is_a_pass", False) is True
        rounds = proposer(seen, aim, counts, seed, **how).rounds(seen)
    n_wanted = _n_wanted(seen.shape, counts, budget, costs)
    with showing("reading", wanted=progress) as tell:

        def carry_out(plan: SamplePlan, known: Observation) -> Observation:
            known = _next_round(source, plan, known, seed)
            if progress:
                tell(known.n_values_read, n_wanted)
            if on_round is not None:
                on_round(known)
            return known

        return carried_out(rounds, carry_out)


def _n_wanted(shape: Shape, counts: dict[str, Any], budget: float | None, costs: Costs | None) -> float | None:
    """How many values there should be in the end, if that is known from the beginning."""
    if budget is not None:
        return None if costs is not None else check_budget(budget, None, shape)[0]
    if None in counts.values():
        return None
    (n, m), (d1, d2, n_entries) = shape, counts.values()
    return float(n * d1 + m * d2 - d1 * d2 + n_entries)


def _check_alone(tol: Any, psd: bool, *others: Any) -> None:
    if isinstance(tol, bool) or not isinstance(tol, Real) or not 0 < float(tol) < 1:
        raise InvalidArgumentError(f"tol={tol!r} is not a relative error. Give a number between 0 and 1, such as 1e-3.")
    if psd:
        raise InvalidArgumentError(
            "the error of a PSD matrix is known exactly from its diagonal. Give n_columns or a budget, and see "
            "curplus.certify; or use symmetric=True instead of psd=True."
        )
    if any(other is not None for other in others):
        raise InvalidArgumentError(
            "tol= decides itself what is read. Leave out n_columns, n_rows, n_entries, required and forbidden, or "
            "leave out tol."
        )


def _next_round(source: Source, plan: SamplePlan, seen: Observation, seed: int) -> Observation:
    """What is known after a plan was carried out; an error carries what was known before."""
    symmetric = seen.symmetry == SYMMETRIC
    try:
        # Rows of a symmetric matrix were not read, so columns are: they show whether the promise holds.
        columns_only = symmetric and len(plan.column_index)
        more = read(source, plan, known=seen.subset(rows=NO_INDEX) if columns_only else seen)
        return _mirrored(seen, more) if symmetric else seen.extend(more)
    except CURPlusError as error:
        error.observation = seen
        raise
    except Exception as error:
        raise SourceError(
            f"the source raised {type(error).__name__}: {error} when it was asked for {len(plan.column_index)} "
            f"columns, {len(plan.row_index)} rows and {len(plan.i)} entries. What was read before is kept in the "
            f"error's .observation: go on with start=error.observation and rng={seed}.",
            observation=seen,
        ) from error


def _mirrored(seen: Observation, more: Observation) -> Observation:
    """What is known, with columns that are rows as well; entries stay as they are."""
    try:
        return seen.extend(more.extend(more.subset(entries=NO_INDEX).H))
    except InconsistentObservationError as error:
        raise InconsistentObservationError(
            f"symmetric=True states {promise(seen)}, so columns were used as rows, but {error} "
            "Use symmetric=False for this matrix."
        ) from error


def _with_promise(seen: Observation, symmetry: str | None) -> Observation:
    """What is known, with a promise about the matrix; rows of a PSD one are known as columns."""
    if symmetry is not None and seen.shape[0] != seen.shape[1]:
        n, m = seen.shape
        raise InvalidArgumentError(f"{symmetry}=True but the matrix is {n} x {m}, not square. Use {symmetry}=False.")
    if symmetry is None and seen.symmetry is None:
        return seen
    kept = promised(seen, symmetry)
    return mirrored(kept, which=NO_INDEX).subset(rows=NO_INDEX) if kept.symmetry == PSD and kept.n_rows else kept


def _begin(source: Source, start: Observation | None, n_entries: int | None, **how: Any) -> Observation:
    """What is known before the first reading."""
    shape = (int(source.shape[0]), int(source.shape[1]))
    nothing = read(source, SamplePlan(shape, NO_INDEX, NO_INDEX, NO_INDEX, NO_INDEX, design=ALL_UNIFORM), **how)
    if start is None:
        return nothing
    if check_observation(start, name="start").shape != shape:
        raise InvalidArgumentError(
            f"start is of a matrix of shape {start.shape} but the source has shape {shape}. Give the same matrix."
        )
    if start.weights is not None and n_entries is not None and n_entries > start.n_entries:
        raise InvalidArgumentError(
            f"start has a weight for each of its {start.n_entries} entries, and those of the "
            f"{n_entries - start.n_entries} to be read are not known. Read no more entries "
            f"(n_entries={start.n_entries}), or leave the weights out."
        )
    return start.extend(nothing)
