"""MovieLens ``u.data``: "user movie rating time" per line, users and movies counted from 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ..._typing import Shape
from ..files import DataFile
from .numbers import check_no_repeats, check_range, number_blocks

__all__ = ["read_movielens"]

LOWEST, HIGHEST = 1, 5


def read_movielens(file: DataFile, shape: Shape) -> Any:
    """Ratings as the stored entries of a CSR array of shape (users, movies), which is the ``shape`` given."""
    n_users, n_movies = shape
    blocks = [np.empty((0, 4), dtype=np.int64)]
    for first, table in number_blocks(file, file.lines(), width=4, meaning="'user movie rating time'"):
        check_range(file, table[:, 0], 1, n_users, name="user", first_line=first)
        check_range(file, table[:, 1], 1, n_movies, name="movie", first_line=first)
        check_range(file, table[:, 2], LOWEST, HIGHEST, name="rating", first_line=first)
        blocks.append(table)
    users, movies, ratings, _ = np.concatenate(blocks).T
    i, j = users - 1, movies - 1
    check_no_repeats(file, i, j, n_movies, what="a movie that the user has rated before", first_line=1)
    return scipy.sparse.csr_array((ratings.astype(np.float64), (i, j)), shape=shape)
