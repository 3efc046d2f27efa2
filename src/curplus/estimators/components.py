r"""Finding components from parts of a table: what to read, and how to weigh what was read.

An approximation of X should be right at every entry; components should be the leading directions of the samples, old
and new ones. So the samples that are read are drawn uniformly, as the new ones will be, and the features are chosen
by all of these samples. Documents chosen because they are unlike all others make bad components.

There are then two estimates of :math:`X^\top X`. The approximation has the features that were read exactly, and shrinks
the others if the samples predict them badly, so its components may be single features. The samples have all features,
with the noise of a small sample. The weighted mean of both captures more of new samples than either.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.extmath import svd_flip

from .._arrays import largest, numerical_rank
from .._support.sets import NO_INDEX
from .._typing import FloatArray, IndexVector, Matrix, RandomState
from ..acquisition.candidates import scaled
from ..acquisition.score import ResidualColumns
from ..factorization import Factorization
from ..observation import Observation, SampleCounts, SamplePlan, read, uniform_plan
from ..observation.plan import CHOSEN_ROWS_AND_COLUMNS
from ..sources import as_source

__all__ = ["Components", "mean_components", "read_samples_then_features"]

NOISE = 0.1  # of the mean residual: keeps features of mere noise from being chosen, as in Adaptive
WEIGHT_OF_ROWS = 2 / 3  # if the approximation has none of their squares; between 1/2 and 0.9 it matters little


class Components(NamedTuple):
    """Orthonormal directions of the samples, largest first."""

    singular_values: FloatArray  # (k,), estimates of those of X
    vectors: FloatArray  # (k, n_features)


def read_samples_then_features(X: Any, counts: SampleCounts, rng: RandomState) -> Observation:
    """Samples and entries drawn uniformly, then features that are chosen by what all of these samples show.

    Samples and entries are those that :func:`curplus.observe` reads with the same seed.
    """
    source = as_source(X)
    n, m = source.shape
    uniform = uniform_plan((n, m), **counts._asdict(), rng=rng)
    seen = read(source, uniform._replace(column_index=NO_INDEX))
    chosen = _telling_features(scaled(seen.rows), counts.n_columns)
    plan = SamplePlan((n, m), chosen, NO_INDEX, NO_INDEX, NO_INDEX, design=CHOSEN_ROWS_AND_COLUMNS)
    return seen.extend(read(source, plan, known=seen))


def _telling_features(rows: Matrix, count: int) -> IndexVector:
    """Each time the feature that explains most of the residual of the others; the largest, once all is explained.

    The size of a feature is the sum of its squares without the largest: one sample alone does not make a feature large
    in the others.
    """
    residual = ResidualColumns(rows)
    chosen = residual.pick(count, lambda: residual.explained(ridge=NOISE))
    squares = rows**2
    sizes = np.sum(squares, axis=0)
    others = np.lexsort((-sizes, np.max(squares, axis=0) - sizes))  # ties by all squares
    others = others[~np.isin(others, chosen)][: count - len(chosen)]
    return np.concatenate([np.asarray(chosen, dtype=np.int64), others])


def mean_components(approximation: Factorization, observation: Observation, rank: int) -> Components:
    r"""Leading eigenvectors of a weighted mean of two estimates of :math:`X^\top X`.

    .. math:: (1 - a) \, \hat X^\top \hat X + a \, \tfrac{n}{d_2} \, V_r (\Lambda_r - \sigma^2 I) V_r^\top,
              \qquad a = \tfrac 2 3 (1 - q)

    The second one is the covariance of the sampled rows as probabilistic PCA sees it: their r leading directions, less
    the mean :math:`\sigma^2` of the other eigenvalues. q is the share of the squares of the sampled rows that lies in
    the sampled columns.

    Parameters
    ----------
    approximation : Factorization
        The approximation :math:`\hat X`, of rank r.
    observation : Observation
        What it was made from. Rows that are not a uniform sample do not represent the others, and are left out.
    rank : int
        How many components, at most.
    """
    _, s, Vt = approximation.svd()
    unit = max(largest(s), largest(observation.rows)) or 1.0
    weighted = (np.asarray(s, dtype=float) / unit)[:, None] * Vt
    if observation.n_rows and observation.design.rows == "uniform":
        rows = np.asarray(observation.rows, dtype=float) / unit
        share = _weight_of_rows(rows, observation.column_index)
        direct = _directions_of_rows(rows, rank, observation.shape[0])
        weighted = np.concatenate([np.sqrt(1 - share) * weighted, np.sqrt(share) * direct])
    U, s, Vt = np.linalg.svd(weighted, full_matrices=False)
    count = min(rank, numerical_rank(s, weighted.shape))
    return Components(s[:count] * unit, svd_flip(U, Vt, u_based_decision=False)[1][:count])


def _weight_of_rows(rows: FloatArray, column_index: Any) -> float:
    """The share of the squares of the rows that the sampled columns do not have, times the weight of the rows."""
    total = float(np.sum(rows**2))
    return WEIGHT_OF_ROWS * max(1 - float(np.sum(rows[:, column_index] ** 2)) / total, 0.0) if total else 0.0


def _directions_of_rows(rows: FloatArray, rank: int, n: int) -> FloatArray:
    """Leading right singular vectors of the rows, scaled by their eigenvalues above the noise, for n rows."""
    _, s, Vt = np.linalg.svd(rows, full_matrices=False)
    noise = float(np.mean(s[rank:] ** 2)) if len(s) > rank else 0.0
    lengths = np.sqrt((s[:rank] ** 2 - noise) * (n / len(rows)))
    return np.asarray(lengths[:, None] * Vt[:rank])
