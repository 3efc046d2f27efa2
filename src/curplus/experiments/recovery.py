r"""How little is enough: the smallest samples that recover a matrix of exact rank (Experiment I).

For each size n and rank r, ten matrices :math:`M = M_L M_R` with Gaussian factors; for each the smallest number d of
columns and rows, with ample entries, and the smallest number of entries, with ample columns and rows, from which CUR+
has a relative error of at most 2e-4. The smallest number that serves all ten is the largest of the ten. Samples are
nested, so that more is never worse. M is never formed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core import AcceleratedGradient, CoreSolver
from ..datasets import FactoredMatrix, make_low_rank
from ..datasets.folders import DataHome
from ..decompose import cur_plus
from ..factorization import Factorization
from ..observation import read
from ..sampling import SamplePlan, distinct
from .cells import Cell
from .tables import Row, Rows

__all__ = ["PAPER", "QUICK", "Recovery"]


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
    seed: int = 0

    name: ClassVar[str] = "recovery"

    def cells(self) -> list[Cell]:
        """One for each matrix and solver."""
        return [
            (solver, n, rank, trial)
            for solver in ("exact", "gradient")
            for rank in sorted(self.ranks, reverse=True)
            for n in self.sizes
            for trial in range(self.trials)
        ]

    def measure(self, cell: Cell, data_home: DataHome) -> Rows:
        """The smallest d and the smallest number of entries for one matrix; -1 where even the ample number fails."""
        solver, n, rank, trial = cell
        rng = np.random.default_rng([self.seed, n, rank, trial])
        matrix = make_low_rank(n, n, rank, rng)
        most_lines, most_entries = min(n, self.ample_columns * rank), min(n * n, self.ample_entries * rank**2)
        columns, rows = rng.permutation(n)[:most_lines], rng.permutation(n)[:most_lines]
        entries = rng.permutation(distinct(rng, n * n, most_entries))

        def recovers(d: int, size: int) -> bool:
            picked = entries[:size]
            plan = SamplePlan(matrix.shape, columns[:d], rows[:d], picked // n, picked % n)
            approx = cur_plus(read(matrix, plan), rank, solver=self._solver(solver))
            return relative_error(matrix, approx) <= self.tolerance

        # With fewer than r columns or r^2 entries, some part of M has left no trace in what was read.
        lines = smallest(lambda d: recovers(d, most_entries), rank, most_lines)
        size = smallest(lambda size: recovers(most_lines, size), rank**2, most_entries)
        known: Row = {"solver": solver, "n": n, "rank": rank, "trial": trial}
        return [known | {"sample": "d", "smallest": lines}, known | {"sample": "entries", "smallest": size}]

    def _solver(self, name: str) -> CoreSolver | str:
        return "auto" if name == "exact" else AcceleratedGradient(max_iter=self.gradient_steps, tol=0.0)


def relative_error(matrix: FactoredMatrix, approx: Factorization) -> float:
    r""":math:`\|M - \hat M\|_F / \|M\|_F` from the factors: the triangles of their QR factorizations have the norms."""
    left = np.hstack([matrix.left, approx.left.vectors @ -approx.core.Z])
    right = np.hstack([matrix.right.T, approx.right.vectors])
    difference = np.linalg.qr(left).R @ np.linalg.qr(right).R.T
    return float(np.linalg.norm(difference) / np.linalg.norm(matrix.singular_values()))


def smallest(works: Callable[[int], bool], least: int, most: int) -> int:
    """The smallest number from ``least`` to ``most`` that works, by doubling steps, then halving; -1 if none does."""
    fails, candidate, step = least - 1, least, 1
    while not works(candidate):
        if candidate == most:
            return -1
        fails, candidate, step = candidate, min(most, candidate + step), 2 * step
    while candidate - fails > 1:
        middle = (candidate + fails) // 2
        if works(middle):
            candidate = middle
        else:
            fails = middle
    return candidate


PAPER = Recovery(sizes=(1000, 2000, 4000, 8000, 10_000), ranks=(10, 20, 30, 50), trials=10)
QUICK = Recovery(sizes=(300, 600, 1200), ranks=(5, 10, 15, 20), trials=3)
