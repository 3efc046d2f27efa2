"""Choosing what to look at next: a matrix is read in rounds, and what was read decides what is read.

The paper draws rows and columns blindly and names adaptive sampling as its next step. Here a few of each are drawn
blindly, as pilots. From then on every column is known in the rows read so far, and every row in the columns read so
far, so that both can be judged before the next few of them are bought. On matrices whose information sits in few
places, such as text, that is worth more than any way of computing with the sample afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .._arrays import array_namespace, gather, take, to_numpy
from .._typing import Array, IndexVector, Matrix, RandomState, Vector
from .._validation import check_count
from ..exceptions import InconsistentObservationError, InvalidArgumentError
from ..observation.observation import Observation
from ..observation.plan import SampleCounts, SamplePlan, SamplingDesign
from ..observation.read import read
from ..sources import as_source
from ..sources.source import Source
from .strategies import STRATEGIES, Candidates, EntryDraws, ProductLeverage, Strategy, distinct_others, scaled

__all__ = ["acquire"]

NONE: IndexVector = np.empty(0, dtype=np.int64)


def acquire(
    source: Any,
    *,
    n_columns: int,
    n_rows: int,
    n_entries: int,
    strategy: str | Strategy | ProductLeverage = "auto",
    start: Observation | None = None,
    symmetric: bool = False,
    rng: RandomState = None,
) -> Observation:
    r"""Read columns, rows and entries of a matrix, chosen in rounds from what has been seen so far.

    Parameters
    ----------
    source : array, sparse matrix, DataFrame or source of shape (n, m)
        The matrix. Nothing but the chosen parts is read, and no row or column twice.
    n_columns, n_rows, n_entries : int
        How many there shall be in the end, those of ``start`` included. 0 is allowed.
    strategy : str, Strategy or ProductLeverage, default "auto"
        How to choose. ``"auto"`` needs no knowledge of the matrix.

        ======================  =================================  ========================================
        name                    object                             rows and columns
        ======================  =================================  ========================================
        ``"auto"``              :class:`~curplus.Adaptive`         explaining, sticking out, and heavy ones
        ``"uniform"``           :class:`~curplus.Uniform`          blindly, as :func:`curplus.observe`
        ``"pivoted"``           :class:`~curplus.Pivoted`          those that stick out
        ``"residual_norm"``     :class:`~curplus.ResidualNorm`     drawn by what is left of them
        ``"leverage"``          :class:`~curplus.Leverage`         drawn by their leverage scores
        ``"product_leverage"``  :class:`~curplus.ProductLeverage`  as ``"auto"``; entries by leverage
        ======================  =================================  ========================================

        All but the last draw the entries uniformly from all positions, which keeps error estimates simple.
    start : Observation, optional
        What is known already. It is kept, and reading goes on from there.
    symmetric : bool, default False
        Promise that :math:`M = M^\top`. Rows and columns are then the same set, only the columns are read, and
        ``n_rows`` must equal ``n_columns``.
    rng : None, int or numpy.random.Generator
        Passed to :func:`numpy.random.default_rng`. The same seed gives the same bits.

    Returns
    -------
    Observation
        Rows and columns in the order they were read. ``drawn`` says which parts are still a uniform sample: after an
        adaptive choice rows and columns are not, and estimates that need that are no longer valid.

    Raises
    ------
    InvalidArgumentError
        If more is asked for than the matrix has or less than ``start`` has, if the matrix is seen not to be symmetric
        despite the promise, or if something that was read is not finite.

    Notes
    -----
    A fifth of the smaller of the two numbers is first read blindly of each kind. Entries that lie on rows or columns
    already read are not asked for again. Choosing costs
    :math:`O(d_1^2 n + d_2^2 m + d_1 d_2 (n + m))` a round.

    Examples
    --------
    >>> import numpy as np, curplus
    >>> M = 0.01 * np.random.default_rng(0).standard_normal((200, 100))
    >>> M[[3, 50], 10:20] += [[5.0], [7.0]]
    >>> seen = curplus.acquire(M, n_columns=15, n_rows=15, n_entries=0, rng=0)
    >>> sorted({3, 50} & {int(i) for i in seen.row_index})
    [3, 50]
    """
    source = as_source(source)
    wanted = _check_counts(source, n_columns, n_rows, n_entries, symmetric)
    lines, entries = _check_strategy(strategy)
    seen = _begin(source, start, wanted, symmetric)
    rng = np.random.default_rng(rng)
    for step in _schedule(seen, wanted, lines.rounds, symmetric):
        seen = _read_lines(source, seen, step, lines, symmetric, rng)
    return _read_entries(source, seen, wanted.n_entries - seen.n_entries, entries, rng)


class Step(NamedTuple):
    """One reading of rows or of columns."""

    is_row: bool
    size: int
    blind: bool  # drawn uniformly
    longer: bool  # of the kind of which more are wanted in the end


def _schedule(seen: Observation, wanted: SampleCounts, rounds: int, symmetric: bool) -> Iterator[Step]:
    """Pilots of both kinds, then rounds in which the fewer go first. Nothing can be judged without the other kind."""
    have, goal = (seen.n_columns, seen.n_rows), (wanted.n_columns, wanted.n_rows)
    kinds = (False,) if symmetric else (False, True)
    pilots = goal if rounds == 0 or min(goal) == 0 else (max(1, min(goal) // 5),) * 2
    first = [max(h, p) for h, p in zip(have, pilots, strict=True)]
    yield from (Step(k, first[k] - have[k], True, False) for k in kinds if first[k] > have[k])
    fewer_first = sorted(kinds, key=lambda k: goal[k])
    for t in range(rounds):
        for k in fewer_first:
            left = goal[k] - first[k]
            count = left * (t + 1) // rounds - left * t // rounds
            if count > 0:
                yield Step(k, count, False, k == fewer_first[-1] and not symmetric)


def _read_lines(
    source: Source, seen: Observation, step: Step, strategy: Strategy, symmetric: bool, rng: np.random.Generator
) -> Observation:
    taken = seen.row_index if step.is_row else seen.column_index
    if step.blind:
        index = distinct_others(rng, seen.shape[0 if step.is_row else 1], step.size, taken)
    else:
        known = to_numpy(seen.columns).T if step.is_row else to_numpy(seen.rows)
        candidates = Candidates(scaled(known), taken, step.longer)
        index = _check_choice(strategy.choose(candidates, step.size, rng), candidates, step.size, strategy)
    if symmetric:
        return _with_both(seen, index, source.columns(index))
    if step.is_row:
        return _with_rows(seen, index, source.rows(index), _label(seen.design.rows, seen.n_rows, step.blind))
    return _with_columns(seen, index, source.columns(index), _label(seen.design.columns, seen.n_columns, step.blind))


def _with_columns(seen: Observation, index: IndexVector, columns: Matrix, label: str) -> Observation:
    return replace(
        seen,
        column_index=np.concatenate([seen.column_index, index]),
        columns=_join(seen.columns, columns, axis=1),
        design=seen.design._replace(columns=label),
    )


def _with_rows(seen: Observation, index: IndexVector, rows: Matrix, label: str) -> Observation:
    return replace(
        seen,
        row_index=np.concatenate([seen.row_index, index]),
        rows=_join(seen.rows, rows, axis=0),
        design=seen.design._replace(rows=label),
    )


def _with_both(seen: Observation, index: IndexVector, columns: Matrix) -> Observation:
    """Columns that are rows as well. Rows chosen together with the columns are no independent sample."""
    try:
        return _with_rows(_with_columns(seen, index, columns, "adaptive"), index, columns.T, "adaptive")
    except InconsistentObservationError as error:
        raise InconsistentObservationError(
            f"symmetric=True promises M = M.T, so columns were used as rows, but {error} "
            "Use symmetric=False for this matrix."
        ) from error


def _read_entries(
    source: Source, seen: Observation, count: int, strategy: ProductLeverage | None, rng: np.random.Generator
) -> Observation:
    if count == 0:
        return seen
    draws = _uniform_entries(seen, count, rng) if strategy is None else strategy.draw(seen, count, rng)
    values = _values(source, seen, draws.i, draws.j)
    return replace(
        seen,
        i=np.concatenate([seen.i, draws.i]),
        j=np.concatenate([seen.j, draws.j]),
        values=_join(seen.values, values, axis=0),
        probabilities=_join_probabilities(seen, draws),
        design=seen.design._replace(entries=_label(seen.design.entries, seen.n_entries, draws.probabilities is None)),
    )


def _uniform_entries(seen: Observation, count: int, rng: np.random.Generator) -> EntryDraws:
    """Entries from all positions, as the paper draws them; not those of a uniform start a second time."""
    n, m = seen.shape
    known = np.unique(seen.i * m + seen.j) if seen.probabilities is None else NONE
    flat = distinct_others(rng, n * m, count, known)
    return EntryDraws(flat // m, flat % m)


def _values(source: Source, seen: Observation, i: IndexVector, j: IndexVector) -> Vector:
    """The entries at ``(i, j)``: from known rows and columns where they lie there, each other one asked for once."""
    n, m = seen.shape
    flat, inverse = np.unique(i * m + j, return_inverse=True)
    i, j = flat // m, flat % m
    row, column = _places(seen.row_index, n)[i], _places(seen.column_index, m)[j]
    on_row = np.flatnonzero(row >= 0)
    on_column = np.flatnonzero((row < 0) & (column >= 0))
    new = np.flatnonzero((row < 0) & (column < 0))
    known = _join(gather(seen.rows, row[on_row], j[on_row]), gather(seen.columns, i[on_column], column[on_column]))
    values = _join(known, source.entries(i[new], j[new]))
    return take(values, np.argsort(np.concatenate([on_row, on_column, new]))[inverse], axis=0)


def _places(index: IndexVector, size: int) -> IndexVector:
    """Where each of ``range(size)`` stands in ``index``; -1 where it does not."""
    places = np.full(size, -1)
    places[index] = np.arange(len(index))
    return places


def _join_probabilities(seen: Observation, draws: EntryDraws) -> Vector | None:
    if seen.probabilities is None and draws.probabilities is None:
        return None
    alike = 1.0 / math.prod(seen.shape)
    old = np.full(seen.n_entries, alike) if seen.probabilities is None else seen.probabilities
    new = np.full(len(draws.i), alike) if draws.probabilities is None else draws.probabilities
    return np.concatenate([old, new])


def _label(before: str, count: int, blind: bool) -> str:
    """How a part was drawn after a further draw: uniform if every draw was."""
    return "uniform" if blind and (count == 0 or before == "uniform") else "adaptive"


def _join(a: Array, b: Array, *, axis: int = 0) -> Array:
    """Two arrays one after the other, in the library that they share."""
    try:
        xp = array_namespace(a, b)
    except TypeError:
        kinds = " and ".join(type(x).__module__ for x in (a, b))
        raise InvalidArgumentError(
            f"start and the source hold arrays of different libraries ({kinds}). Convert start to that of the source."
        ) from None
    return xp.concat([a, b], axis=axis)


# Checks


def _check_counts(source: Source, n_columns: Any, n_rows: Any, n_entries: Any, symmetric: bool) -> SampleCounts:
    n, m = source.shape
    if n * m > np.iinfo(np.int64).max:
        raise InvalidArgumentError(f"a matrix of shape {(n, m)} has more than 2**63 entries, too many to number.")
    d1 = check_count(n_columns, name="n_columns", at_most=m, of="columns")
    d2 = check_count(n_rows, name="n_rows", at_most=n, of="rows")
    if symmetric and n != m:
        raise InvalidArgumentError(f"symmetric=True but the matrix is {n} x {m}, not square. Use symmetric=False.")
    if symmetric and d1 != d2:
        raise InvalidArgumentError(
            f"n_columns={d1} and n_rows={d2}, but with symmetric=True rows and columns are the same set. "
            f"Use n_rows={d1} with n_columns={d1}."
        )
    return SampleCounts(d1, d2, check_count(n_entries, name="n_entries", at_most=n * m, of="entries"))


def _check_strategy(strategy: Any) -> tuple[Strategy, ProductLeverage | None]:
    """How to choose rows and columns, and how entries if not uniformly."""
    if isinstance(strategy, str):
        if strategy not in STRATEGIES:
            raise InvalidArgumentError(f"strategy={strategy!r} is unknown. Use one of {', '.join(STRATEGIES)}.")
        strategy = STRATEGIES[strategy]
    lines, entries = (strategy.lines, strategy) if isinstance(strategy, ProductLeverage) else (strategy, None)
    if not isinstance(lines, Strategy):
        raise InvalidArgumentError(
            f"strategy={lines!r} has no rounds and choose(candidates, count, rng). "
            f"Use one of {', '.join(STRATEGIES)}, or an object that has."
        )
    check_count(lines.rounds, name="rounds")
    return lines, entries


def _check_choice(index: Any, candidates: Candidates, count: int, strategy: Strategy) -> IndexVector:
    """Someone else's strategy must not break the budget either."""
    chosen = np.asarray(index, dtype=np.int64)
    fits = chosen.shape == (count,) and np.all((chosen >= 0) & (chosen < candidates.sample.shape[1]))
    if not fits or len(np.unique(chosen)) < count or np.isin(chosen, candidates.taken).any():
        raise InvalidArgumentError(
            f"{strategy!r} was asked for {count} distinct candidates that are not taken, and chose {index!r}."
        )
    return chosen


def _begin(source: Source, start: Observation | None, wanted: SampleCounts, symmetric: bool) -> Observation:
    """What is known before the first reading."""
    shape = (int(source.shape[0]), int(source.shape[1]))
    if start is None:
        return read(
            source, SamplePlan(shape, NONE, NONE, NONE, NONE, design=SamplingDesign("uniform", "uniform", "uniform"))
        )
    if start.shape != shape:
        raise InvalidArgumentError(
            f"start is of a matrix of shape {start.shape} but the source has shape {shape}. Give the same matrix."
        )
    for name, total in wanted._asdict().items():
        have = getattr(start, name)
        if have > total:
            raise InvalidArgumentError(
                f"start has {have} {name.removeprefix('n_')} but {name}={total} is the total, start included. "
                f"Use {name}={have} or more."
            )
    if start.weights is not None and wanted.n_entries > start.n_entries:
        raise InvalidArgumentError(
            f"start has a weight for each of its {start.n_entries} entries, and those of the "
            f"{wanted.n_entries - start.n_entries} to be read are not known. Read no more entries "
            f"(n_entries={start.n_entries}), or leave the weights out."
        )
    if symmetric and set(start.row_index.tolist()) != set(start.column_index.tolist()):
        raise InvalidArgumentError(
            "symmetric=True needs the same rows and columns, and those of start differ. Use symmetric=False, "
            "or give the rows of start as columns too."
        )
    return replace(
        start,
        row_names=getattr(source, "row_names", None) if start.row_names is None else start.row_names,
        column_names=getattr(source, "column_names", None) if start.column_names is None else start.column_names,
    )
