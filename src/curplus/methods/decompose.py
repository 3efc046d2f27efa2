r"""The paper's front door: CUR+ and the baselines it is compared with, composed from the steps before.

All three approximate M by :math:`\hat U Z \hat V^\top` and differ in the core Z. CUR+ fits it to the observed entries
(eq. opt); CUR-F uses the whole matrix, :math:`\hat U^\top M \hat V`; CUR-E replaces M there by an unbiased estimate
made of the entries (Section 4.2).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from .._arrays import array_namespace, blocks, largest
from .._typing import IndexVector, Matrix
from .._validation import check_finite, check_rank
from ..exceptions import InvalidArgumentError, TooFewEntriesError
from ..factorization.basis import Basis, leading_basis
from ..factorization.core import Core
from ..factorization.factorization import Factorization
from ..observation.observation import Observation
from ..solvers import CoreSolver, choose_solver
from ..solvers.equations import entry_equations
from ..sources import as_source
from ..sources.source import Source

__all__ = ["cur_full", "cur_plus", "cur_unbiased"]


def cur_plus(observation: Observation, rank: int, *, solver: str | CoreSolver = "auto") -> Factorization:
    r"""CUR+: the low-rank matrix in the sampled subspaces that fits the observed entries best.

    .. math:: \min_Z \tfrac12 \|\mathcal R_\Omega(M) - \mathcal R_\Omega(\hat U Z \hat V^\top)\|_F^2

    Parameters
    ----------
    observation : Observation
        What was seen: at least ``rank`` columns and rows, and ``rank**2`` entries.
    rank : int
        ReferenceMatrix rank :math:`r`: how many leading directions of the sampled columns and rows to use.
    solver : str or solver object, default "auto"
        How to solve for Z: see :func:`curplus.choose_solver` for the names and what ``"auto"`` does. The answer does
        not depend on it.

    Returns
    -------
    Factorization
        Its ``core`` says how Z was found and how far to trust it. If the samples have fewer than ``rank`` independent
        columns or rows the bases are narrower, and ``core.notes`` says so.

    Raises
    ------
    RankTooLargeError
        If fewer than ``rank`` columns or rows were sampled.
    TooFewEntriesError
        If there are fewer entries than unknowns, unless ``solver=MinimumNorm()``.

    Notes
    -----
    On an incoherent matrix of rank r this is exact (Theorem 1). On sparse or coherent matrices of full rank the entries
    rarely hit what matters, and the least-squares answer can be worse than no answer at all. ``core.condition`` warns.

    Examples
    --------
    >>> import numpy as np, curplus
    >>> rng = np.random.default_rng(0)
    >>> M = rng.standard_normal((300, 4)) @ rng.standard_normal((4, 200))
    >>> seen = curplus.observe(M, n_columns=8, n_rows=8, n_entries=40, rng=0)
    >>> approx = curplus.cur_plus(seen, rank=4)
    >>> bool(np.linalg.norm(approx.to_array() - M) < 1e-11 * np.linalg.norm(M))
    True
    """
    rank = check_rank(rank, n_columns=observation.n_columns, n_rows=observation.n_rows)
    _check_has_entries(observation, "CUR+")
    left, right = _bases(observation, rank)
    method = choose_solver(solver, unknowns=left.rank * right.rank, entries=observation.n_entries)
    core = method.solve(left.vectors, right.vectors, observation)
    notes = (*_notes_on_bases(left, right, rank), *_notes_on_equations(core, observation.n_entries))
    return _answer(left, core._replace(notes=core.notes + notes), right, observation)


def cur_full(source: Any, observation: Observation, rank: int | None = None) -> Factorization:
    r"""CUR-F: the best core for the sampled columns and rows, found with the whole matrix.

    .. math:: Z = C^\dagger M R^\dagger, \qquad \hat M = C Z R = \hat U (\hat U^\top M \hat V) \hat V^\top

    Parameters
    ----------
    source : array, sparse matrix, DataFrame or source of shape (n, m)
        The matrix; all of it is read, a block of rows at a time.
    observation : Observation
        Its columns C and rows R are used; its entries are not.
    rank : int, optional
        Use only the ``rank`` leading directions of each sample; all of them if left out. The latter is the paper's
        baseline, of rank up to ``min(n_columns, n_rows)``.

    Returns
    -------
    Factorization
        The closest matrix to M, in Frobenius norm, with these column and row spaces.
    """
    source = as_source(source)
    if tuple(source.shape) != observation.shape:
        raise InvalidArgumentError(
            f"the source has shape {tuple(source.shape)} but the observation is of a matrix of shape "
            f"{observation.shape}. Give the matrix that was observed."
        )
    left, right = _bases(observation, rank)
    Z = _project(source, left.vectors, right.vectors)
    core = Core(Z, "cur_full", notes=_notes_on_bases(left, right, rank))
    return _answer(left, core, right, observation, held_out=np.arange(observation.n_entries))


def cur_unbiased(observation: Observation, rank: int | None = None) -> Factorization:
    r"""CUR-E: as CUR-F, with the matrix replaced by an unbiased estimate from the entries.

    .. math:: Z = C^\dagger M_e R^\dagger, \qquad
              [M_e]_{ij} = \tfrac{nm}{|\Omega|} M_{ij} \text{ on } \Omega, \text{ 0 elsewhere}

    Parameters
    ----------
    observation : Observation
        Columns, rows and at least one entry. A position that was recorded twice counts twice. Entries drawn with
        unequal probabilities count in inverse proportion to them, so that the estimate stays unbiased.
    rank : int, optional
        Use only the ``rank`` leading directions of each sample; all of them if left out.

    Returns
    -------
    Factorization
    """
    _check_has_entries(observation, "CUR-E")
    left, right = _bases(observation, rank)
    equations = entry_equations(left.vectors, right.vectors, replace(observation, weights=None))
    xp = array_namespace(left.vectors)
    Z = xp.astype(equations.adjoint(equations.target) * equations.unit, left.vectors.dtype)
    return _answer(left, Core(Z, "cur_unbiased", notes=_notes_on_bases(left, right, rank)), right, observation)


def _bases(observation: Observation, rank: int | None) -> tuple[Basis, Basis]:
    if rank is not None:
        rank = check_rank(rank, n_columns=observation.n_columns, n_rows=observation.n_rows)
    left = leading_basis(observation.columns, rank, index=observation.column_index)
    right = leading_basis(observation.rows.T, rank, index=observation.row_index)
    return left, right


def _answer(
    left: Basis, core: Core, right: Basis, observation: Observation, held_out: IndexVector | None = None
) -> Factorization:
    return Factorization(
        left,
        core,
        right,
        row_names=observation.row_names,
        column_names=observation.column_names,
        held_out=held_out,
    )


def _project(source: Source, U: Matrix, V: Matrix) -> Matrix:
    """The core ``U.T @ M @ V``."""
    matmat = getattr(source, "matmat", None)
    if matmat is not None:
        with np.errstate(invalid="ignore"):  # what is not finite is looked for below
            Z = U.T @ matmat(V)
        if math.isfinite(largest(Z)):
            return Z
    Z = U[:0, :].T @ V[:0, :]
    for part in blocks(*source.shape):
        index = np.arange(part.start, part.stop)
        rows = source.rows(index)
        check_finite(rows, name="rows", place=lambda k, j, index=index: f"row {index[k]}, column {j}")
        Z = Z + U[part, :].T @ (rows @ V)
    return Z


def _check_has_entries(observation: Observation, method: str) -> None:
    if observation.n_entries == 0:
        raise TooFewEntriesError(
            f"{method} finds the core from scattered entries, and this observation has none. "
            "Observe some (n_entries), at least rank**2 for CUR+."
        )


def _notes_on_bases(left: Basis, right: Basis, rank: int | None) -> tuple[str, ...]:
    sides = ((left, "columns"), (right, "rows"))
    return tuple(
        f"rank {rank} was asked for, but the rank of the sampled {what} is only {basis.rank}."
        for basis, what in sides
        if rank is not None and basis.rank < rank
    )


def _notes_on_equations(core: Core, n_entries: int) -> tuple[str, ...]:
    unknowns = math.prod(core.Z.shape)
    notes = []
    if not core.converged:
        after = f" after {core.iterations} iterations" if core.iterations else ""
        notes.append(f"{core.solver} did not reach the accuracy asked for{after}.")
    if core.rank is not None and core.rank < unknowns:
        notes.append(f"the entries determine {core.rank} of {unknowns} unknowns; the core is the one of least norm.")
    if core.condition is not None and core.condition > 100:
        notes.append(
            f"the condition of the equations is {core.condition:.1e}: whatever the bases miss may be amplified."
        )
    if n_entries < 4 * unknowns:
        notes.append(f"{n_entries} entries for {unknowns} unknowns: noise is amplified below {4 * unknowns} entries.")
    return tuple(notes)
