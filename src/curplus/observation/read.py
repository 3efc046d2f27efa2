"""Reading a source: the only place where that happens."""

from __future__ import annotations

from typing import Any

from .._typing import RandomState
from ..sources import as_source
from .observation import Observation
from .plan import SamplePlan, uniform_plan

__all__ = ["observe", "read"]


def observe(source: Any, *, n_columns: int, n_rows: int, n_entries: int, rng: RandomState = None) -> Observation:
    r"""Read columns, rows and entries of a matrix, chosen uniformly at random.

    Parameters
    ----------
    source : array, sparse matrix, DataFrame or source of shape (n, m)
        The matrix :math:`M`. Nothing but the chosen parts is read.
    n_columns, n_rows, n_entries : int
        How many to read: :math:`d_1`, :math:`d_2` and :math:`|\Omega|`. Each is drawn without replacement; 0 is
        allowed. The entries are drawn from all :math:`nm` positions, so some may fall on sampled rows and columns.
    rng : None, int or numpy.random.Generator
        Passed to :func:`numpy.random.default_rng`. The same seed gives the same bits.

    Returns
    -------
    Observation

    Raises
    ------
    InvalidArgumentError
        If more is asked for than the matrix has, or if something that was read is not finite.

    Examples
    --------
    >>> import numpy as np, curplus
    >>> M = np.arange(600.0).reshape(20, 30)
    >>> curplus.observe(M, n_columns=3, n_rows=4, n_entries=12, rng=0)
    <Observation of a 20 x 30 matrix: 3 columns, 4 rows, 12 entries, float64>
    """
    source = as_source(source)
    plan = uniform_plan(source.shape, n_columns=n_columns, n_rows=n_rows, n_entries=n_entries, rng=rng)
    return read(source, plan)


def read(source: Any, plan: SamplePlan) -> Observation:
    """Carry out a plan: read exactly the positions it names.

    Parameters
    ----------
    source : array, sparse matrix, DataFrame or source
        The matrix.
    plan : SamplePlan
        What to read of it.

    Returns
    -------
    Observation
    """
    source = as_source(source)
    return Observation(
        shape=plan.shape,
        column_index=plan.column_index,
        columns=source.columns(plan.column_index),
        row_index=plan.row_index,
        rows=source.rows(plan.row_index),
        i=plan.i,
        j=plan.j,
        values=source.entries(plan.i, plan.j),
        row_names=getattr(source, "row_names", None),
        column_names=getattr(source, "column_names", None),
        design=plan.design,
    )
