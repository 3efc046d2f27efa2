r"""How little is enough: the smallest samples that recover a matrix of exact rank (Experiment I).

For each size n and rank r there are ten matrices :math:`M = M_L M_R` with Gaussian factors, and a random order of the
columns, rows and entries of each. Two numbers are searched for: the smallest number d of columns and rows, with ample
entries, and the smallest number of entries, with ample columns and rows, from which CUR+ finds all ten to a relative
error of 2e-4. A solver that is stopped early may fail again with more entries, so numbers are tried one after the
other. M is never formed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ..datasets import make_low_rank
from ..datasets.folders import DataHome
from ..factorization import Factorization
from ..methods import cur_plus
from ..observation import SamplePlan, read
from ..observation.plan import distinct
from ..solvers import AcceleratedGradient, CoreSolver
from ..sources.factored import FactoredSource
from ..theory import distinct_entries
from .sweep import Cell
from .tables import Row, Rows

__all__ = ["PAPER", "QUICK", "Recovery", "relative_error"]


@dataclass(frozen=True)
class Recovery:
    """Options of Experiment I."""

    sizes: tuple[int, ...]
    ranks: tuple[int, ...]
    trials: int
    gradient_steps: int = 50  # of the accelerated gradient, which starts at Z = 0; the paper does not say how many
    tolerance: float = 2e-4
    ample_columns: int = 5  # times r, while the number of entries is searched
    ample_entries: int = 20  # times r^2, while the number of columns and rows is searched
    entries_step: float = 0.02  # times r^2, between the numbers of entries that are tried
    seed: int = 0

    name: ClassVar[str] = "recovery"
    matrices: ClassVar[tuple[str, ...]] = ()  # it makes its own

    def cells(self) -> list[Cell]:
        """One for each solver, rank and size; the largest first."""
        return [
            (solver, rank, n)
            for rank in sorted(self.ranks, reverse=True)
            for n in sorted(self.sizes, reverse=True)
            for solver in ("gradient", "exact")
        ]

    def measure(self, cell: Cell, data_home: DataHome) -> Rows:
        """The smallest d, the smallest number of entries, and how many different entries both make together.

        It is -1 if even the ample number fails, or if the two smallest together do not recover all matrices.
        """
        solver, rank, n = cell
        trials = [RecoveryTrial.draw(self, n, rank, k) for k in range(self.trials)]
        core_solver = "auto" if solver == "exact" else AcceleratedGradient(max_iter=self.gradient_steps, tol=0.0)

        def recovered(d: int, size: int) -> Callable[[RecoveryTrial], bool]:
            return lambda trial: trial.error(d, size, core_solver) <= self.tolerance

        ample_d, ample_size = len(trials[0].columns), len(trials[0].entries)
        # With fewer than r columns or r^2 entries, some part of M has left no trace in what was read.
        numbers_of_columns = range(rank, ample_d + 1)
        numbers_of_entries = range(rank**2, ample_size + 1, max(1, round(self.entries_step * rank**2)))
        d = first_that_recovers_all(trials, numbers_of_columns, lambda d: recovered(d, ample_size))
        size = first_that_recovers_all(trials, numbers_of_entries, lambda size: recovered(ample_d, size))
        together = -1
        if d > 0 and size > 0 and all(map(recovered(d, size), trials)):
            together = round(distinct_entries((n, n), n_columns=d, n_rows=d, n_entries=size))
        known: Row = {"solver": solver, "n": n, "rank": rank}
        found = {"d": d, "entries": size, "together": together}
        return [known | {"sample": sample, "smallest": smallest} for sample, smallest in found.items()]


class RecoveryTrial(NamedTuple):
    """A matrix, and its columns, rows and entries in random order, as many as are ever looked at."""

    matrix: FactoredSource
    columns: np.ndarray
    rows: np.ndarray
    entries: np.ndarray  # numbered row by row

    @classmethod
    def draw(cls, sweep: Recovery, n: int, rank: int, number: int) -> RecoveryTrial:
        """One of the matrices of a size and rank."""
        rng = np.random.default_rng([sweep.seed, n, rank, number])
        matrix = make_low_rank((n, n), rank, rng=rng)
        d, size = min(n, sweep.ample_columns * rank), min(n * n, sweep.ample_entries * rank**2)
        columns, rows = rng.permutation(n)[:d], rng.permutation(n)[:d]
        return cls(matrix, columns, rows, rng.permutation(distinct(rng, n * n, size)))

    def error(self, d: int, size: int, solver: str | CoreSolver) -> float:
        """Relative error of CUR+ from the first d columns and rows and the first entries."""
        n, m = self.matrix.shape
        some = self.entries[:size]
        plan = SamplePlan((n, m), self.columns[:d], self.rows[:d], some // m, some % m)
        return relative_error(self.matrix, cur_plus(read(self.matrix, plan), self.matrix.left.shape[1], solver=solver))


def relative_error(matrix: FactoredSource, approx: Factorization) -> float:
    r""":math:`\|M - \hat M\|_F / \|M\|_F` from the factors: the triangles of their QR factorizations have the norms."""
    left = np.hstack([matrix.left, approx.left.vectors @ -approx.core.Z], dtype=np.float64)
    right = np.hstack([matrix.right.T, approx.right.vectors], dtype=np.float64)
    difference = np.linalg.qr(left).R @ np.linalg.qr(right).R.T
    return float(np.linalg.norm(difference) / np.linalg.norm(matrix.singular_values()))


def first_that_recovers_all(
    trials: list[RecoveryTrial], numbers: Iterable[int], recovered: Callable[[int], Callable[[RecoveryTrial], bool]]
) -> int:
    """The first of ``numbers`` with which every trial is recovered; -1 if there is none."""
    order = list(range(len(trials)))
    for number in numbers:
        succeeds = recovered(number)
        fails = next((place for place, k in enumerate(order) if not succeeds(trials[k])), None)
        if fails is None:
            return number
        order.insert(0, order.pop(fails))  # the one that failed is most likely to fail again, so it goes first
    return -1


PAPER = Recovery(sizes=(1000, 2000, 4000, 8000, 10_000), ranks=(10, 20, 30, 50), trials=10)
QUICK = Recovery(sizes=(300, 600, 1200), ranks=(5, 10, 15, 20), trials=3)
