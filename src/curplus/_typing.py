"""Array aliases: the name carries the number of axes, docstrings carry the shape.

``Array``, ``Matrix`` and ``Vector`` may come from any array-API library, so no static type can be more precise than
``Any`` without shutting one of them out. ``IndexVector`` is always NumPy: positions live on the host.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = Any
Matrix: TypeAlias = Any
Vector: TypeAlias = Any
Namespace: TypeAlias = Any

FloatArray: TypeAlias = NDArray[np.floating[Any]]  # on the host
IndexVector: TypeAlias = NDArray[np.int64]
Positions: TypeAlias = NDArray[np.integer[Any]]  # short where they fit: SciPy would convert long ones every time
Names: TypeAlias = NDArray[Any]
Shape: TypeAlias = tuple[int, int]

RandomState: TypeAlias = int | np.random.Generator | None
