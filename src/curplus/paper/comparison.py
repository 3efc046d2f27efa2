r"""CUR+ and its baselines on real matrices (Experiment II): Figures 3 to 7 come from this one sweep.

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
from ..evaluation.metrics import ReferenceMatrix, Spectrum, frobenius_error, leading_error
from ..factorization import Factorization
from ..methods.method import sampled_bases
from ..observation import Observation, SamplePlan, SamplingDesign, read
from ..observation.plan import distinct
from . import matrices
from .methods import COMPARED_METHODS, PaperSample
from .spectra import spectrum_of_each
from .sweep import Cell
from .tables import Row, Rows, rounded, unique

__all__ = ["Comparison", "relative_errors"]

BEST = {"spectral": Spectrum.best_spectral_error, "frobenius": Spectrum.best_frobenius_error}
CUBED = ("CUR-E", "CUR-E, rank r")  # the methods that are also given alpha**3 portions of entries, for Figure 4


@dataclass(frozen=True)
class Comparison:
    """Options of Experiment II."""

    matrices: tuple[str, ...]
    ranks: tuple[int, ...]
    alphas: tuple[int, ...]
    growths: tuple[int, ...]  # multiples of Omega_0 at the largest alpha; elsewhere 1
    repetitions: int
    methods: tuple[str, ...] = tuple(method.name for method in COMPARED_METHODS)
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
        sample = self._sample(target, rank, alpha, max(growths), rng)
        known: Row = {"data": name, "rank": rank, "alpha": alpha, "repetition": repetition}
        rows: Rows = []
        starts: dict[str, Any] = {}  # direction of the largest error of each method's last approximation
        for growth, method, entries, approximation in self._fits(target, sample, rank, alpha, growths, rng):
            errors, starts[method] = _errors(target, approximation, starts.get(method))
            rows.append(known | {"growth": growth, "method": method, "entries": entries, **errors})
        return rows

    def _sample(
        self, target: ReferenceMatrix, rank: int, alpha: int, growth: int, rng: np.random.Generator
    ) -> PaperSample:
        """The first columns and rows of a random order, and entries in random order."""
        n, m = target.shape
        columns = rng.permutation(m)[: min(m, alpha * rank)]
        rows = rng.permutation(n)[: min(n, alpha * alpha * rank)]
        entries = rng.permutation(distinct(rng, n * m, _size(target, rank, growth)))
        uniform = SamplingDesign("uniform", "uniform", "uniform")
        plan = SamplePlan(target.shape, np.sort(columns), np.sort(rows), entries // m, entries % m, design=uniform)
        observation = read(target.matrix, plan)
        return PaperSample(target.matrix, observation, sampled_bases(observation, None))

    def _fits(
        self,
        target: ReferenceMatrix,
        sample: PaperSample,
        rank: int,
        alpha: int,
        growths: tuple[int, ...],
        rng: np.random.Generator,
    ) -> Iterator[tuple[int, str, int, Factorization]]:
        """Growth, method, number of entries and approximation, for each method and number of entries."""
        methods = [method for method in COMPARED_METHODS if method.name in self.methods]
        for growth in growths:
            size = _size(target, rank, growth)
            some = replace(sample, observation=_first(sample.observation, size))
            for method in methods:
                if method.uses_entries:
                    yield growth, method.name, size, method.fit(some, rank)
                elif growth == growths[0]:
                    yield 0, method.name, 0, method.fit(some, rank)
        cube = alpha**3
        if cube not in growths:
            size = _size(target, rank, cube)
            some = replace(sample, observation=_nonzeros_of_a_draw(target, sample.observation, size, rng))
            for method in methods:
                if method.name in CUBED:
                    yield cube, method.name, size, method.fit(some, rank)


def relative_errors(results: dict[str, Rows], norm: str) -> Rows:
    """Errors relative to those of the best rank r, with the zero matrix, the best of rank 0, as a method of its own."""
    spectra, best = spectrum_of_each(results["spectra"]), BEST[norm]
    rows = [
        {k: v for k, v in row.items() if k not in BEST}
        | {"error": rounded(row[norm] / best(spectra[row["data"]], row["rank"]))}
        for row in results["comparison"]
    ]
    zero = {"alpha": 0, "repetition": 0, "growth": 0, "method": "zero matrix", "entries": 0}
    return rows + [
        {"data": name, "rank": rank} | zero | {"error": rounded(best(spectra[name], 0) / best(spectra[name], rank))}
        for name in unique(rows, "data")
        for rank in unique(rows, "rank")
    ]


def _size(target: ReferenceMatrix, rank: int, growth: int) -> int:
    """So many entries are ``growth * Omega_0``, or all there are."""
    n, m = target.shape
    nnz = target.matrix.nnz if target.is_sparse else np.count_nonzero(target.matrix)
    return min(n * m, round(growth * n * m * rank**2 / nnz))


def _first(observation: Observation, size: int) -> Observation:
    return observation.subset(entries=np.arange(size), design=observation.design)


def _nonzeros_of_a_draw(
    target: ReferenceMatrix, observation: Observation, size: int, rng: np.random.Generator
) -> Observation:
    """The same columns and rows, with the nonzero entries of a draw in which each entry has the chance ``size / nm``.

    Zeros, which are most of the draw, do not matter to CUR-E and are never drawn. The k nonzeros stand for the whole
    draw: with the probability ``size / (n * m * k)`` each, CUR-E multiplies them by ``n * m / size``.
    """
    n, m = target.shape
    nonzeros = scipy.sparse.csr_array(target.matrix).tocoo()
    drawn = np.flatnonzero(rng.random(nonzeros.nnz) < size / (n * m))
    if not len(drawn):  # CUR-E needs one; with alpha**3 * r**2 expected, only a draw for rank 1 may have none
        drawn = rng.integers(nonzeros.nnz, size=1)
    i, j, k = nonzeros.row[drawn], nonzeros.col[drawn], len(drawn)
    chances = np.full(k, size / (n * m * k))
    return replace(observation, i=i, j=j, values=nonzeros.data[drawn], probabilities=chances)


def _errors(target: ReferenceMatrix, approximation: Factorization, start: Any) -> tuple[Row, Any]:
    """The errors in both norms, and the vector with which the spectral one was found; ``start`` is such a vector."""
    rank = approximation.rank
    compact = approximation.truncate(rank) if rank else approximation  # the same matrix in the fewest vectors
    worst = leading_error(target, compact, tol=1e-4, start=start)
    return {"spectral": worst.norm, "frobenius": frobenius_error(target, compact)}, worst.vector
