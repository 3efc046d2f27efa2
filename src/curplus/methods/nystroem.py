"""The approximation of a PSD matrix from some of its columns, and its error by the diagonal."""

from __future__ import annotations

import math

import numpy as np

from .._arrays import adjoint, array_namespace, to_device, to_numpy
from .._typing import FloatArray, Matrix
from .._validation import check_count
from ..factorization import Basis, Fact, Factorization, FitReport
from ..factorization.nystroem import NYSTROEM, Nystroem, nystroem_of
from ..factorization.symmetric import leading_eigenvalues, symmetric_core
from ..observation import Observation
from ..observation.symmetry import PSD
from .form import stored
from .notes import ASKED_FOR

__all__ = ["by_nystroem", "has_other_entries", "is_nystroem"]

FEWEST_OFF_DIAGONAL = 100  # usual: entries off the diagonal; with fewer, the blend is not compared with it
# rounding: least pivot, relative to the largest diagonal value, for a C U R form that keeps half of them
HALF_OF_DIGITS = 1e-8


def is_nystroem(observation: Observation) -> bool:
    """Whether the approximation can be made of exact, complete columns of a PSD matrix."""
    o = observation
    return o.symmetry == PSD and o.noise is None and not o.has_gaps and o.n_columns + o.n_rows > 0


def has_other_entries(observation: Observation) -> bool:
    """Whether there are enough entries off the diagonal, not chosen adaptively, to compare with the blend."""
    o = observation
    return o.design.entries != "adaptive" and int(np.count_nonzero(o.outside & (o.i != o.j))) >= FEWEST_OFF_DIAGONAL


def by_nystroem(observation: Observation, unit: float, rank: int | None, form: str) -> tuple[Factorization, FitReport]:
    """The approximation in units of ``unit``, and the facts."""
    wanted = None if rank is None else check_count(rank, name="rank", at_least=1)
    found = nystroem_of(observation.divide(unit), least=HALF_OF_DIGITS if form == "cur" else 0.0)
    values, vectors, coefficients = _eigenvectors(found)
    basis = Basis(vectors)
    if form == "cur":
        sample = observation.columns if not observation.n_rows else found.columns * unit  # as they were read
        basis = Basis(vectors, sample, to_device(coefficients / unit, vectors), found.column_index)
    kept, leading, left_out = leading_eigenvalues(basis, values, len(values) if wanted is None else wanted)
    kept = stored(kept) if form == "cur" else kept
    answer = Factorization(kept, symmetric_core(leading, found.factor, NYSTROEM), kept)
    return answer, _report(found, leading, left_out, wanted, unit)


def _eigenvectors(found: Nystroem) -> tuple[FloatArray, Matrix, FloatArray]:
    """Eigenvalues (k,), descending, eigenvectors (n, k), and these as combinations (d, k) of the columns."""
    F = found.factor
    Q, R = array_namespace(F).linalg.qr(F)
    P, s, Qh = np.linalg.svd(to_numpy(R))
    kept = s > 0
    vectors = Q @ to_device(np.ascontiguousarray(P[:, kept]), Q)
    return s[kept] ** 2, vectors, found.coefficients @ (adjoint(Qh[kept]) / s[kept])


def _report(found: Nystroem, values: FloatArray, left_out: FloatArray, wanted: int | None, unit: float) -> FitReport:
    d, known = len(found.column_index), not np.isnan(found.residual).any()
    exact = known and found.is_exact and not len(left_out)
    why = ASKED_FOR if wanted == len(values) else "as many columns were read"
    if exact:
        why = "nothing but rounding is left of the diagonal, so that no further column adds anything"
    elif not len(left_out) and len(values) < d:
        why = "the columns have no more independent directions"
    trace = math.fsum(found.residual) + math.fsum(left_out) if known else math.nan
    share = trace / whole if known and (whole := math.fsum(found.diagonal)) else math.nan
    return FitReport(
        (
            Fact("rank", len(values), reason=why),
            Fact("model", "C W^+ C^T of the columns C and their intersection W"),
            Fact("trace_error", trace * unit, "trace of the error", is_judgement=True),
            Fact("trace_share", share, "share of the trace", "of the matrix left", is_judgement=True),
            Fact("verdict", _verdict(exact, trace * unit, share), is_judgement=True),
        )
    )


def _verdict(exact: bool, trace: float, share: float) -> str:
    if exact:
        return "exact, if the matrix is PSD: nothing but rounding is left of its diagonal"
    if math.isnan(trace):
        return "unverifiable: it fits what was read, and the diagonal, which bounds the error, is not known"
    part = "" if math.isnan(share) else f", {share:.2%} of that of the matrix"
    return f"the trace of the error is {trace:.4g}{part}, from the diagonal, if the matrix is PSD"
