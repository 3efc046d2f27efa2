"""Random shapes, ranks, plans and observations for property tests."""

import numpy as np
from hypothesis import strategies as st

from curplus import Observation, SamplePlan

FIELDS = ("real", "complex")
seeds = st.integers(0, 2**32 - 1)
fields = st.sampled_from(FIELDS)
float_dtypes = st.sampled_from([np.float32, np.float64])


def gaussian(rng, shape, field="real"):
    """Independent Gaussian numbers, real or complex."""
    x = rng.standard_normal(shape)
    return x if field == "real" else x + 1j * rng.standard_normal(shape)


def adjoint(x):
    """The conjugate transpose."""
    return x.conj().T


def in_field(dtype, field):
    """The type of real or complex numbers with as many digits as ``dtype``."""
    return dtype if field == "real" else np.result_type(dtype, np.complex64)


def shapes(min_side=1, max_side=12):
    """Sizes (n, m) of small matrices."""
    return st.tuples(st.integers(min_side, max_side), st.integers(min_side, max_side))


def ranks(shape):
    """Ranks that a matrix of this size can have, 0 excluded."""
    return st.integers(1, min(shape))


def counts(shape):
    """How many columns, rows and entries to observe, from none to all, as keywords of ``observe``."""
    n, m = shape
    return st.fixed_dictionaries(
        {"n_columns": st.integers(0, m), "n_rows": st.integers(0, n), "n_entries": st.integers(0, n * m)}
    )


def indices(size, *, unique=False, max_size=20):
    """Positions in ``range(size)``, in any order."""
    positions = st.lists(st.integers(0, size - 1), unique=unique, max_size=max_size)
    return positions.map(lambda index: np.array(index, dtype=np.int64))


@st.composite
def low_rank_matrices(draw, max_side=12, dtypes=float_dtypes):
    """Matrices of a random size, rank, scale and type."""
    n, m = draw(shapes(max_side=max_side))
    r = draw(ranks((n, m)))
    rng = np.random.default_rng(draw(seeds))
    scale = 10.0 ** draw(st.integers(-10, 10))
    return (scale * rng.standard_normal((n, r)) @ rng.standard_normal((r, m))).astype(draw(dtypes))


@st.composite
def plans(draw, shape):
    """Which columns, rows and entries to read: positions in any order, entries possibly more than once."""
    n, m = shape
    pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, m - 1)), max_size=20))
    i, j = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return SamplePlan(shape, draw(indices(m, unique=True)), draw(indices(n, unique=True)), i, j)


def observed(matrix, plan, **more):
    """The observation of a NumPy matrix according to a plan, put together by hand."""
    return Observation(
        shape=matrix.shape,
        column_index=plan.column_index,
        columns=matrix[:, plan.column_index],
        row_index=plan.row_index,
        rows=matrix[plan.row_index],
        i=plan.i,
        j=plan.j,
        values=matrix[plan.i, plan.j],
        **more,
    )


@st.composite
def observations(draw, **more):
    """Observations of low-rank matrices, with nothing or everything seen and all between."""
    matrix = draw(low_rank_matrices())
    return observed(matrix, draw(plans(matrix.shape)), **more)


def drawn_by_value(seed, shape=(60, 40), n_draws=1500):
    """A noisy matrix of rank 2, and independent draws of its entries: large values are likelier."""
    rng = np.random.default_rng([7, seed])
    n, m = shape
    M = 1 + rng.standard_normal((n, 2)) @ rng.standard_normal((2, m)) + 0.4 * rng.standard_normal(shape)
    chances = (0.3 + M**2) / np.sum(0.3 + M**2)
    flat = rng.choice(n * m, n_draws, p=chances.ravel())
    i, j = np.divmod(flat, m)
    return M, Observation(shape=shape, i=i, j=j, values=M[i, j], probabilities=chances[i, j])
