"""The last step of every fit: units, type and names of what was observed."""

from __future__ import annotations

import numpy as np

from ..._arrays import array_namespace, to_numpy
from ...factorization import Factorization, Provenance
from ...observation import Observation

__all__ = ["finished"]


def finished(answer: Factorization, observation: Observation, unit: float, provenance: Provenance) -> Factorization:
    """The approximation in the units and the type of the observation, with its names."""
    xp, kind = array_namespace(observation.values), observation.dtype
    values = to_numpy(observation.values) / unit
    misfit = float(np.linalg.norm(values - to_numpy(answer.entries(observation.i, observation.j)))) * unit
    left = answer.left._replace(vectors=xp.astype(answer.left.vectors, kind, copy=False))
    right = answer.right._replace(vectors=xp.astype(answer.right.vectors, kind, copy=False))
    return Factorization(
        left,
        answer.core._replace(Z=xp.astype(answer.core.Z * unit, kind, copy=False), residual_norm=misfit),
        left if answer.is_symmetric else right,
        observation.row_names,
        observation.column_names,
        provenance,
    )
