"""The approximation, which acts like the matrix it stands for."""

from .basis import Basis, leading_basis
from .core import Core
from .cur_form import SVD, CURForm
from .factorization import Factorization, FitReport

__all__ = ["SVD", "Basis", "CURForm", "Core", "Factorization", "FitReport", "leading_basis"]
