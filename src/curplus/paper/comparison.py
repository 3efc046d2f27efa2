r"""CUR+ and its baselines on real matrices (Experiment II): Figures 3 to 7 come from this one study.

With :math:`d_1 = \alpha r` columns and :math:`d_2 = \alpha d_1` rows, drawn uniformly, and a multiple ``growth`` of
:math:`\Omega_0 = n m r^2 / \mathrm{nnz}(M)` entries. Columns and rows of a larger :math:`\alpha` contain those of a
smaller, and more entries contain fewer; only at the largest :math:`\alpha`, where the number of entries is varied, are
they drawn anew. Errors are kept as they are; figures divide them by those of the best rank r.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from ..datasets.folders import DataHome
from ..evaluation.metrics import ReferenceMatrix, frobenius_error, leading_error
from ..factorization.factorization import Factorization
from ..observation.observation import Observation
from ..observation.plan import SamplePlan, SamplingDesign, distinct
from ..observation.read import read
from . import matrices
from .cells import Cell
from .methods import METHODS, Sample, cur_e, sample
from .spectra import references
from .tables import Row, Rows, different, rounded

__all__ = ["Comparison", "relative_errors"]

NORMS = ("spectral", "frobenius")


@dataclass(frozen=True)
class Comparison:
    """Options of Experiment II."""

    matrices: tuple[str, ...]
    ranks: tuple[int, ...]
    alphas: tuple[int, ...]
    growths: tuple[int, ...]  # multiples of Omega_0 at the largest alpha; elsewhere 1
    repetitions: int
    methods: tuple[str, ...] = tuple(method.name for method in METHODS)
    seed: int = 0

    name: ClassVar[str] = "comparison"

    def cells(self) -> list[Cell]:
        """One for each sample of columns and rows; the largest first, so that no worker is left with one at the end."""
        return [
            (name, rank, alpha, repetition)
            for name in self.matrices
            for rank in sorted(self.ranks, reverse=True)
            for alpha in sorted(self.alphas, reverse=True)
            for repetition in range(self.repetitions)
        ]

    def measure(self, cell: Cell, data_home: DataHome) -> Rows:
        """A row for each method and number of entries; ``growth`` is 0 for methods that do not use entries."""
        name, rank, alpha, repetition = cell
        target = matrices.load(name, data_home)
        growths = self.growths if alpha == max(self.alphas) else (1,)
        rng = np.random.default_rng([self.seed, zlib.crc32(name.encode()), rank, repetition])
        seen = self._sample(target, rank, alpha, max(growths), rng)
        known: Row = {"data": name, "rank": rank, "alpha": alpha, "repetition": repetition}
        return [
            known | {"growth": growth, "method": method, "entries": entries, **errors}
            for growth, method, entries, errors in self._errors(target, seen, rank, alpha, growths, rng)
        ]

    def _sample(self, target: ReferenceMatrix, rank: int, alpha: int, growth: int, rng: np.random.Generator) -> Sample:
        """The first columns and rows of a random order, and entries in random order."""
        n, m = target.shape
        columns = rng.permutation(m)[: min(m, alpha * rank)]
        rows = rng.permutation(n)[: min(n, alpha * alpha * rank)]
        entries = rng.permutation(distinct(rng, n * m, _size(target, rank, growth)))
        uniform = SamplingDesign("uniform", "uniform", "uniform")
        plan = SamplePlan(target.shape, np.sort(columns), np.sort(rows), entries // m, entries % m, design=uniform)
        return sample(target.matrix, read(target.matrix, plan))

    def _errors(
        self,
        target: ReferenceMatrix,
        seen: Sample,
        rank: int,
        alpha: int,
        growths: tuple[int, ...],
        rng: np.random.Generator,
    ) -> Iterator[tuple[int, str, int, Row]]:
        """Growth, method, number of entries and errors, for each answer to one sample."""
        contestants = [method for method in METHODS if method.name in self.methods]
        starts: dict[str, Any] = {}  # where each method's last answer erred most: the next one's is likely near
        for growth in growths:
            size = _size(target, rank, growth)
            some = seen._replace(observation=_first(seen.observation, size))
            for method in contestants:
                if method.uses_entries or growth == growths[0]:
                    errors = _measure(target, method.answer(some, rank), method.name, starts)
                    yield (growth, method.name, size, errors) if method.uses_entries else (0, method.name, 0, errors)
        cube = alpha**3
        if cube not in growths:
            size = _size(target, rank, cube)
            answer = cur_e(seen, _known_nonzeros(target, size, rng), size)
            yield cube, "CUR-E", size, _measure(target, answer, "CUR-E", starts)
            yield cube, "CUR-E, rank r", size, _measure(target, answer.truncate(rank), "CUR-E, rank r", starts)


def relative_errors(results: dict[str, Rows], norm: str) -> Rows:
    """Errors relative to those of the best rank r, with the zero matrix as a method of its own."""
    spectra = references(results["spectra"])
    place = NORMS.index(norm)
    rows = [
        {k: v for k, v in row.items() if k not in NORMS}
        | {"error": rounded(row[norm] / spectra[row["data"]].best(row["rank"])[place])}
        for row in results["comparison"]
    ]
    zero = {"alpha": 0, "repetition": 0, "growth": 0, "method": "zero matrix", "entries": 0}
    return rows + [
        {"data": name, "rank": rank} | zero | {"error": rounded(spectra[name].zero(rank)[place])}
        for name in different(rows, "data")
        for rank in different(rows, "rank")
    ]


def _size(target: ReferenceMatrix, rank: int, growth: int) -> int:
    """So many entries are ``growth * Omega_0``, or all there are."""
    n, m = target.shape
    nnz = target.matrix.nnz if target.is_sparse else np.count_nonzero(target.matrix)
    return min(n * m, round(growth * n * m * rank**2 / nnz))


def _first(observation: Observation, size: int) -> Observation:
    return replace(observation, i=observation.i[:size], j=observation.j[:size], values=observation.values[:size])


def _known_nonzeros(target: ReferenceMatrix, size: int, rng: np.random.Generator) -> Any:
    """The entries that are not zero among those drawn, each with the chance that makes ``size`` on average.

    The zeros, which are most of the draw, do not matter to CUR-E and are never drawn.
    """
    matrix = scipy.sparse.csr_array(target.matrix, copy=True)
    n, m = matrix.shape
    matrix.data[rng.random(matrix.nnz) >= size / (n * m)] = 0
    return matrix


def _measure(target: ReferenceMatrix, answer: Factorization, method: str, starts: dict[str, Any]) -> Row:
    compact = answer.truncate(answer.rank) if answer.rank else answer  # the same matrix in the fewest vectors
    worst = leading_error(target, compact, tol=1e-4, start=starts.get(method))
    starts[method] = worst.vector
    return {"spectral": worst.norm, "frobenius": frobenius_error(target, compact)}
