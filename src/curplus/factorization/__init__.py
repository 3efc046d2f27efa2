"""The approximation, which acts like the matrix it stands for and remembers how it was made."""

from .basis import Basis, leading_basis
from .core import Core
from .cur_form import SVD, CURForm
from .factorization import Factorization
from .fitted_model import FittedModel
from .importance import Importance, Merits
from .provenance import Provenance
from .report import Fact, FitReport

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
    "leading_basis",
]
