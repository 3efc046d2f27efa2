r"""The contestants of Experiment II, one row of a table each.

All start from one :class:`Sample`: the bases of the sampled columns and rows, found once, and the projection
:math:`\hat U^\top M \hat V`, which only the methods that see the whole matrix may use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from ..factorization.basis import Basis, leading_basis
from ..factorization.core import Core
from ..factorization.factorization import Factorization
from ..methods.approximate.approximate import approximate
from ..observation.observation import Observation
from ..solvers import SOLVERS, AcceleratedGradient, CoreSolver

__all__ = ["METHODS", "Method", "Sample", "cur_e", "sample"]


class Sample(NamedTuple):
    """Columns, rows and entries of a matrix, with what all methods need of them."""

    observation: Observation
    left: Basis  # all that the columns span, leading directions first
    right: Basis  # all that the rows span
    projection: Any  # left.T @ M @ right, for those who may see the whole matrix


def sample(matrix: Any, observation: Observation) -> Sample:
    """The bases and the projection, each found once."""
    left = leading_basis(observation.columns, index=observation.column_index)
    right = leading_basis(observation.rows.T, index=observation.row_index)
    return Sample(observation, left, right, left.vectors.T @ (matrix @ right.vectors))


def _cur_plus(solver: str | CoreSolver) -> Callable[[Sample, int], Factorization]:
    def method(seen: Sample, rank: int) -> Factorization:
        left, right = seen.left.leading(rank), seen.right.leading(rank)
        chosen = SOLVERS.resolve(solver)
        return Factorization(left, chosen.solve(left.vectors, right.vectors, seen.observation.entries), right)

    return method


def _cur_f(seen: Sample, _rank: int) -> Factorization:
    return Factorization(seen.left, Core(seen.projection, "CUR-F"), seen.right)


def _best_core(seen: Sample, rank: int) -> Factorization:
    left, right = seen.left.leading(rank), seen.right.leading(rank)
    return Factorization(left, Core(seen.projection[: left.rank, : right.rank], "best core"), right)


def _cur_e(seen: Sample, _rank: int) -> Factorization:
    entries = seen.observation
    known = scipy.sparse.csr_array((entries.values, (entries.i, entries.j)), shape=entries.shape)
    return cur_e(seen, known, entries.n_entries)


def cur_e(seen: Sample, known: Any, n_entries: int) -> Factorization:
    """CUR-E from ``n_entries`` uniformly drawn entries, of which the sparse matrix ``known`` has those not zero."""
    n, m = known.shape
    known.eliminate_zeros()
    hit = np.flatnonzero(np.diff(known.indptr))
    Z = seen.left.vectors[hit].T @ (known[hit] @ seen.right.vectors) * (n * m / n_entries)
    return Factorization(seen.left, Core(Z, "CUR-E"), seen.right)


def _truncated(method: Callable[[Sample, int], Factorization]) -> Callable[[Sample, int], Factorization]:
    return lambda seen, rank: method(seen, rank).truncate(rank)


def _approximate(seen: Sample, rank: int) -> Factorization:
    return approximate(seen.observation, rank)


@dataclass(frozen=True)
class Method:
    """A contestant: how it answers, whether the entries matter to it, and how it is drawn."""

    name: str
    answer: Callable[[Sample, int], Factorization]
    uses_entries: bool
    colour: str
    line: str = "-"


GRADIENT_STEPS = 10  # the paper does not say how many; more than a few tens come near the converged answer

#: Those who take part, in the order of the legends. A new one is a new row.
METHODS = (
    Method("CUR+ converged", _cur_plus("auto"), True, "#d55e00"),
    Method(
        f"CUR+, {GRADIENT_STEPS} steps",
        _cur_plus(AcceleratedGradient(max_iter=GRADIENT_STEPS, tol=0.0)),
        True,
        "#e69f00",
        "--",
    ),
    Method("CUR-E", _cur_e, True, "#cc79a7"),
    Method("CUR-E, rank r", _truncated(_cur_e), True, "#cc79a7", ":"),
    Method("CUR-F", _cur_f, False, "#666666"),
    Method("CUR-F, rank r", _truncated(_cur_f), False, "#666666", ":"),
    Method("best core", _best_core, False, "#009e73", "--"),
    Method("approximate", _approximate, True, "#0072b2"),
)
