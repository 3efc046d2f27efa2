r"""CUR+: the core that fits the observed entries best (Section 3.1 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._support.sets import NO_INDEX, different, is_in
from .._typing import IndexVector, RandomState
from .._validation import check_rank, check_share, random_generator
from ..factorization import Factorization
from ..observation import Observation
from ..observation.observation import check_observation
from ..solvers import SOLVERS, CoreSolver
from .method import Bases, approximation_of, check_complete, check_has_entries, sampled_bases
from .notes import notes_on_core

__all__ = ["CURPlus", "cur_plus"]


def cur_plus(
    observation: Observation, rank: int, *, solver: str | CoreSolver = "auto", holdout: float = 0.0
) -> Factorization:
    r"""CUR+: the low-rank matrix in the sampled subspaces that fits the observed entries best.

    .. math:: \min_Z \tfrac12 \|\mathcal R_\Omega(M) - \mathcal R_\Omega(\hat U Z \hat V^\top)\|_F^2

    Parameters
    ----------
    observation : Observation
        What was read: at least ``rank`` columns and rows, and ``rank**2`` entries.
    rank : int
        Target rank :math:`r`: how many leading directions of the sampled columns and rows to use.
    solver : str or solver object, default "auto"
        How to solve for Z: a name in :data:`curplus.solvers.SOLVERS`, or an object. The result does not depend on it.
    holdout : float, default 0
        Share of the entries outside the sampled rows and columns that is kept out of the fit, so that
        :func:`curplus.certify` can estimate the error from them.

    Returns
    -------
    Factorization
        Its ``core`` records how Z was found and how far to trust it. If the samples have fewer than ``rank``
        independent columns or rows, the bases are narrower, and ``core.notes`` has a warning.

    Raises
    ------
    InvalidArgumentError
        If the sampled rows or columns have gaps: :func:`curplus.approximate` uses those.
    RankTooLargeError
        If fewer than ``rank`` columns or rows were sampled.
    TooFewEntriesError
        If there are fewer entries than unknowns, unless ``solver=MinimumNorm()``.

    Notes
    -----
    On an incoherent matrix of rank r this is exact (Theorem 1). On sparse or coherent matrices of full rank the entries
    rarely hit the large values, and the least-squares answer can be worse than zero: look at ``core.condition``.

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
    return CURPlus(rank, solver, holdout).fit(observation)


@dataclass(frozen=True)
class CURPlus:
    """The method :func:`curplus.cur_plus`, with its options."""

    rank: int
    solver: str | CoreSolver = "auto"
    holdout: float = 0.0
    sees_whole_matrix: ClassVar[bool] = False

    def fit(self, observation: Observation, *, rng: RandomState = 0, bases: Bases | None = None) -> Factorization:
        """The approximation; ``bases`` are those of the samples, if they are known already."""
        check_observation(observation)
        check_complete(observation, "CUR+")
        solver = SOLVERS.resolve(self.solver)
        rank = check_rank(self.rank, n_columns=observation.n_columns, n_rows=observation.n_rows)
        bases = sampled_bases(observation, rank, bases)
        check_has_entries(observation, "CUR+")
        held_out = self._held_out(observation, rng)
        entries = observation.entries
        if len(held_out):
            entries = entries.take(np.setdiff1d(np.arange(len(entries)), held_out, assume_unique=True))
        core = solver.solve(bases.left.vectors, bases.right.vectors, entries)
        core = core._replace(notes=(*core.notes, *notes_on_core(core, len(entries))))
        return approximation_of(observation, bases, core, self, rank=self.rank, held_out=held_out)

    def _held_out(self, observation: Observation, rng: RandomState) -> IndexVector:
        """Records outside the sampled rows and columns, drawn at random; those of one position stay together."""
        share = check_share(self.holdout, name="holdout")
        return _some_entries(observation, share, random_generator(rng)) if share else NO_INDEX


def _some_entries(observation: Observation, share: float, rng: np.random.Generator) -> IndexVector:
    """A random share of the records outside the sampled rows and columns: of their positions, rounded down.

    Records that helped to choose rows and columns are not among them, and at most half of the others are.
    """
    outside = np.flatnonzero(observation.outside)
    place, steering = observation.entries.flat_index[outside], observation.steering[outside]
    places = different(place[~steering])
    most = max(len(places) // 2, int(share * len(places)))
    count = min(int(share * (len(places) + len(different(place[steering])))), most)
    return outside[is_in(place, np.sort(places[rng.permutation(len(places))[:count]]))]
