r"""How many entries a matrix of full rank needs: the question that Theorem 3 leaves open.

The theorem asks for :math:`O(n^2 / d^2)` entries. Here they are counted. The matrices are n x n and of full rank: r
singular values are 1, the others fall like :math:`r / (2k)`, so that :math:`\sigma_r \ge \sqrt 2 \sigma_{r+1}`. Their
singular vectors are spread evenly, or one row holds half of each (``coherence``). CUR+ has enough entries if its error
is at most a tenth above the *floor*, the error of the best core in the same bases.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from .._typing import Shape, Vector
from ..acquisition import ProductLeverage
from ..datasets import make_spectrum
from ..datasets.folders import DataHome
from ..methods import Bases, CURPlus, StackedApproximation
from ..methods.method import sampled_bases
from ..observation import Observation, SamplePlan, read
from ..observation.plan import distinct
from ..theory import incoherence
from .sweep import Cell
from .tables import Row, Rows

__all__ = ["ALL_SIZES", "FEW_SIZES", "KINDS", "EntriesNeeded", "spread_bound"]

NONE = np.zeros(0, dtype=np.int64)
KINDS = {"spread": None, "coherent": 0.5}  # of make_spectrum, by the name of the matrix


@dataclass(frozen=True)
class EntriesNeeded:
    """Options of the experiment."""

    sizes: tuple[int, ...]
    columns: tuple[int, ...]  # and as many rows
    repetitions: int
    approximated: int = 1  # in so many repetitions `approximate` is fitted too, which takes the most time
    rank: int = 5
    tolerance: float = 1.1  # times the floor
    steps: int = 4  # between a number of entries and its double
    most: float = 0.25  # of all entries; -1 stands for more
    seed: int = 0

    name: ClassVar[str] = "entries_needed"
    matrices: ClassVar[tuple[str, ...]] = ()  # it makes its own

    def cells(self) -> list[Cell]:
        """One for each matrix; the largest first."""
        sizes = sorted(self.sizes, reverse=True)
        return [(kind, n, k) for n in sizes for kind in KINDS for k in range(self.repetitions)]

    def measure(self, cell: Cell, data_home: DataHome) -> Rows:
        """A row for each number of columns and each thing that is measured.

        ``uniform`` and ``leverage`` are the smallest numbers of entries for CUR+, drawn in these ways. ``approximate``
        is the error of that method without any entry, in terms of the floor. ``incoherence`` is r times that of the
        sampled bases, and ``bound`` is :func:`spread_bound`.
        """
        kind, n, repetition = cell
        rng = np.random.default_rng([self.seed, zlib.crc32(kind.encode()), n, repetition])
        matrix = self.matrix(kind, n, rng)
        columns, rows = rng.permutation(n), rng.permutation(n)
        uniform = _scattered(matrix.shape, rng.permutation(distinct(rng, n * n, int(self.most * n * n))))
        bound = spread_bound(matrix, 1.0)
        found: Rows = []
        for d in self.columns:
            plan = SamplePlan((n, n), np.sort(columns[:d]), np.sort(rows[:d]), NONE, NONE)
            trial = FullRank.of(matrix, plan, self.rank)
            draws = ProductLeverage(self.rank).draw(trial.observation, len(uniform.i), rng)
            by_leverage = _scattered(matrix.shape, draws.i * n + draws.j, draws.probabilities)
            measured = {
                "uniform": self._smallest(trial, uniform),
                "leverage": self._smallest(trial, by_leverage),
                "incoherence": self.rank * incoherence(*(basis.vectors for basis in trial.bases)),
                "bound": bound,
            }
            if repetition < self.approximated:
                measured["approximate"] = trial.approximate_error() / trial.floor
            known: Row = {"matrix": kind, "n": n, "d": d, "repetition": repetition}
            found += [known | {"measured": name, "value": value} for name, value in measured.items()]
        return found

    def matrix(self, kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
        """A matrix of full rank whose ``rank`` leading singular values stand out."""
        k = np.arange(1, n + 1)
        values = np.where(k <= self.rank, 1.0, self.rank / (2 * k))
        source = make_spectrum((n, n), values, coherence=KINDS[kind], rng=rng)
        return np.asarray(source.left @ source.right)

    def _smallest(self, trial: FullRank, entries: SamplePlan) -> int:
        """The first number of entries, in the order of the plan, with which CUR+ comes close to the floor."""
        seen = trial.observation.extend(read(trial.matrix, entries))
        steps = self.steps * math.log2(len(entries.i) / self.rank**2)
        for size in (int(self.rank**2 * 2 ** (k / self.steps)) for k in range(math.ceil(steps))):
            some = seen.subset(entries=np.arange(size), design=seen.design)
            if trial.cur_plus_error(some) <= self.tolerance * trial.floor:
                return size
        return -1


class FullRank(NamedTuple):
    """A matrix, its sampled rows and columns, and the best core in their bases."""

    matrix: np.ndarray
    observation: Observation
    bases: Bases
    core: np.ndarray
    floor: float  # error of the best core

    @classmethod
    def of(cls, matrix: np.ndarray, plan: SamplePlan, rank: int) -> FullRank:
        """With bases of ``rank`` directions."""
        seen = read(matrix, plan)
        bases = sampled_bases(seen, rank)
        core = bases.left.vectors.T @ matrix @ bases.right.vectors
        return cls(matrix, seen, bases, core, float(np.sqrt(np.sum(matrix**2) - np.sum(core**2))))

    def cur_plus_error(self, seen: Observation) -> float:
        """By Pythagoras: the best core leaves the floor, and what differs from it is at right angles to that."""
        found = CURPlus(len(self.core)).fit(seen, bases=self.bases).core.Z
        return float(np.hypot(self.floor, np.linalg.norm(found - self.core)))

    def approximate_error(self) -> float:
        """Error of the recommended method from rows and columns alone."""
        answer = StackedApproximation(len(self.core)).fit(self.observation)
        return float(np.linalg.norm(self.matrix - answer.to_array()))


def spread_bound(matrix: np.ndarray, sigma_rank: float) -> float:
    r"""At least :math:`r \hat\mu(r)`, if the samples have half of their share of the leading directions.

    .. math:: r \hat\mu(r) \le \frac{2 n m \max_{ij} |M_{ij}|^2}{\sigma_r^2}

    Row i of the left basis is no longer than :math:`\|A_i\| / \sigma_r(A)`, and row i of A no longer than
    :math:`\sqrt d \max |M_{ij}|`. If :math:`d \ge 7 \mu(r) r (t + \ln r)`, as in Theorem 2, then
    :math:`\sigma_r(A)^2 \ge \sigma_r^2 d / 2m`. The number of columns d cancels.
    """
    return float(2 * matrix.size * np.max(np.abs(matrix)) ** 2 / sigma_rank**2)


def _scattered(shape: Shape, flat: np.ndarray, probabilities: Vector | None = None) -> SamplePlan:
    return SamplePlan(shape, NONE, NONE, flat // shape[1], flat % shape[1], probabilities)


ALL_SIZES = EntriesNeeded(sizes=(250, 500, 1000, 2000), columns=(20, 40, 80, 160), repetitions=10)
FEW_SIZES = EntriesNeeded(sizes=(100, 200), columns=(20, 40), repetitions=2)
