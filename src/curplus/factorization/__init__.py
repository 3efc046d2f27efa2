"""The approximation, which acts like the matrix it stands for and keeps how it was made."""

from .basis import Basis, leading_basis
from .core import SVD, Core, CURForm
from .factorization import Factorization
from .importance import Importance, Merits
from .inverse import ShiftedInverse
from .new_rows import FittedModel
from .provenance import Provenance
from .report import Fact, FitReport
from .top import Top

__all__ = [
    "SVD",
    "Basis",
    "CURForm",
    "Core",
    "Fact",
    "Factorization",
    "FitReport",
    "FittedModel",
    "Importance",
    "Merits",
    "Provenance",
    "ShiftedInverse",
    "Top",
    "leading_basis",
]
