"""The recommended front door: everything that was read is used, and nothing needs to be set.

CUR+ fits a small core to scattered entries and forgets that whole rows and columns were read. Here they come first: the
ridge skeleton predicts the rest from them, what was read is put back where it belongs, and only then is the result cut
down to the rank asked for. Scattered entries check the answer and, where they are many enough to say something about
every row and column, refine it; a refinement is kept only if entries that it did not see are predicted better.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import svds

from ..._arrays import largest, power_of_two, to_numpy
from ..._typing import IndexVector, RandomState
from ..._validation import check_count
from ...exceptions import InvalidArgumentError
from ...factorization.basis import leading_basis
from ...factorization.factorization import Factorization, FitReport
from ...observation.observation import Observation
from .als import alternate, measured, solve_rows
from .assemble import complete, leading_part
from .correction import corrected
from .skeleton import Skeleton, ridge_skeleton

__all__ = ["approximate"]

FloatArray = NDArray[np.floating[Any]]

MOST_CHECKED = 1500  # enough to tell the error of a benign answer to 4 %, and too few to be missed by a fit
HUGE = 1e10  # beyond this, or below its inverse, squares are taken of scaled numbers


def approximate(observation: Observation, rank: int | None = None, *, rng: RandomState = 0) -> Factorization:
    r"""Best low-rank approximation we know how to make from sampled rows, columns and entries.

    Parameters
    ----------
    observation : Observation
        Rows, columns and entries, as many of each as there are; at least two of the three, or rows or columns alone.
    rank : int, optional
        Rank of the answer; chosen from the singular values of the sampled rows and columns if left out.
    rng : None, int or numpy.random.Generator, default 0
        Decides which entries are set aside to check the answer.

    Returns
    -------
    Factorization
        ``choices`` says what was chosen and why; ``held_out`` which entries the fit did not see. The answer is not
        confined to the span of the sampled rows and columns, so it has no C U R form.

    Notes
    -----
    1. Predict what was not read by :func:`~curplus.skeleton.ridge_skeleton`, its ridge chosen by leaving sampled rows
       and columns out, or by scattered entries where there are no more than ``rank`` of either.
    2. Correct the prediction by a small core fitted to its error at the scattered entries.
    3. Complete: rows and columns as they were read, the prediction elsewhere; keep the leading ``rank`` directions.
    4. With at least ``rank * (n + m) / 2`` entries outside the sampled lines, refine by alternating least squares.

    Steps 2 and 4 are kept only if entries set aside are predicted better by more than two standard errors.

    Cost is :math:`O((n + m) (d_1 + d_2)^2)`, and :math:`O(|\Omega| r^2)` a sweep of refinement.

    Examples
    --------
    >>> import numpy as np, curplus
    >>> rng = np.random.default_rng(0)
    >>> M = rng.standard_normal((300, 5)) @ rng.standard_normal((5, 200))
    >>> seen = curplus.observe(M, n_columns=5, n_rows=5, n_entries=0, rng=0)
    >>> approx = curplus.approximate(seen, rank=5)
    >>> bool(np.linalg.norm(approx.to_array() - M) < 1e-10 * np.linalg.norm(M))
    True
    >>> print(approx.report.verdict)
    unverifiable: it fits what was read, and nothing is left to check it with
    """
    if observation.n_columns == 0 and observation.n_rows > 0:
        answer = approximate(observation.T, rank, rng=rng).T
        assert answer.report is not None
        answer.report = answer.report._replace(rank_reason=answer.report.rank_reason.replace("columns", "rows"))
        return answer
    seen, unit = _on_host(observation)
    rank, why = _rank(seen, rank)
    use, check = _split(seen, np.random.default_rng(rng))
    if seen.n_rows:
        skeleton = ridge_skeleton(seen, rank, use)
        B, correction_z = corrected(seen, skeleton.X @ seen.rows, use, check)
        start = complete(seen, B, rank)
    else:
        skeleton, correction_z = None, math.nan
        start = _from_entries(seen, rank, use)
    answer, gain = start, math.nan
    if start.rank and len(check) and len(use) >= rank * sum(seen.shape) / 2:
        refined = alternate(start, seen, use=use, check=check)
        gain = _gain(start, refined, seen, check)
        answer = refined if gain > 2 else start
    used = answer is not start or correction_z > 2 or skeleton is None or skeleton.entry_ridge >= 0
    held_out = check if used else np.sort(np.concatenate([use, check]))
    gains = {"correction_z": correction_z, "refinement_z": gain, "refined": answer is not start}
    choices = _choices(seen, rank, why, skeleton, answer, gains, held_out)
    return _finish(answer, observation, unit, held_out, choices)


def _on_host(observation: Observation) -> tuple[Observation, float]:
    """The observation as NumPy arrays of a harmless scale, and the unit that was divided out."""
    parts = [to_numpy(part) for part in (observation.columns, observation.rows, observation.values)]
    if not any(part.size for part in parts):
        raise InvalidArgumentError("nothing was observed: no columns, no rows and no entries. Observe some of them.")
    magnitude = max(largest(part) for part in parts)
    unit = 1.0
    if magnitude and not 1 / HUGE < magnitude < HUGE:
        unit = power_of_two(magnitude, np.concatenate([part.reshape(-1)[:1] for part in parts]))
        parts = [part / unit for part in parts]
    columns, rows, values = parts
    return replace(observation, columns=columns, rows=rows, values=values), unit


def _split(seen: Observation, rng: np.random.Generator) -> tuple[IndexVector, IndexVector]:
    """Entries outside the sampled lines, in two parts: to fit, and to check. A repeated position stays together."""
    outside = np.flatnonzero(seen.outside)
    place = seen.i[outside] * seen.shape[1] + seen.j[outside]
    places = np.sort(place)
    places = places[np.diff(places, prepend=-1) > 0]
    chosen = np.sort(rng.permutation(len(places))[: min(MOST_CHECKED, len(places) // 10)])
    aside = _among(place, places[chosen])
    return outside[~aside], outside[aside]


def _among(x: IndexVector, few: IndexVector) -> NDArray[np.bool_]:
    """Whether each of ``x`` is one of the ascending ``few``."""
    bounded = np.append(few, np.iinfo(np.int64).max)
    found: NDArray[np.bool_] = bounded[np.searchsorted(few, x)] == x
    return found


def _rank(seen: Observation, rank: int | None) -> tuple[int, str]:
    if rank is not None:
        return check_count(rank, name="rank", at_least=1), "asked for"
    lines = {"columns": seen.columns, "rows": seen.rows.T}
    spectra = {what: np.linalg.svd(x, compute_uv=False) for what, x in lines.items() if x.shape[1]}
    if not spectra:
        raise InvalidArgumentError("rank is needed where no rows and no columns were read. Give rank=...")
    exact = {what: _exact_rank(s, lines[what].shape) for what, s in spectra.items()}
    deficient = [what for what, s in spectra.items() if exact[what] < len(s)]
    if deficient:
        what = min(deficient, key=lambda what: exact[what])
        return max(1, exact[what]), f"the sampled {what} have no more independent directions"
    what = max(spectra, key=lambda what: len(spectra[what]))
    found = min(_above_noise(spectra[what], lines[what].shape), *(len(s) for s in spectra.values()))
    return max(1, found), f"as many singular values of the sampled {what} stand out from their median"


def _exact_rank(s: FloatArray, shape: tuple[int, int]) -> int:
    return int(np.count_nonzero(s > max(shape) * np.finfo(s.dtype).eps * s[0]))


def _above_noise(s: FloatArray, shape: tuple[int, int]) -> int:
    """How many singular values exceed the optimal hard threshold for noise of unknown size (Gavish, Donoho 2014)."""
    beta = min(shape) / max(shape)
    threshold = (0.56 * beta**3 - 0.95 * beta**2 + 1.82 * beta + 1.43) * float(np.median(s))
    return int(np.count_nonzero(s > threshold))


def _from_entries(seen: Observation, rank: int, use: IndexVector) -> Factorization:
    """Without rows: from the columns' leading subspace, or the entries' own, and a fit of the other side to entries."""
    by_columns = measured(seen, use).T
    if not seen.n_columns:
        filled = scipy.sparse.csr_array(by_columns.values.T) * (math.prod(seen.shape) / max(len(use), 1))
        if not np.any(filled.data):
            return leading_part(np.zeros((seen.shape[0], 1)), np.zeros((seen.shape[1], 1)), rank)
        if rank >= min(seen.shape) - 1:
            return leading_part(filled.toarray(), np.eye(seen.shape[1]), rank)
        U, s, Vt = svds(filled, k=rank, random_state=0)
        return leading_part(U * s, Vt.T, rank)
    basis = leading_basis(seen.columns, rank)
    known = seen.columns.T @ basis.vectors
    left_over = float(np.sum(seen.columns**2) - np.sum(known**2)) / seen.columns.size
    ridge = max(left_over, 0.0) / max(float(np.sum(known**2)) / max(known.size, 1), np.finfo(float).tiny)
    V = solve_rows(by_columns, basis.vectors, max(ridge, 1e-12 / seen.shape[0]))
    assert basis.coefficients is not None
    return complete(seen, basis.coefficients @ V.T, rank)


def _squares(answer: Factorization | None, seen: Observation, which: IndexVector) -> FloatArray:
    guess = 0.0 if answer is None else answer.entries(seen.i[which], seen.j[which])
    errors: FloatArray = (seen.values[which] - guess) ** 2 * seen.fit_weights[which]
    return errors


def _gain(before: Factorization | None, after: Factorization, seen: Observation, check: IndexVector) -> float:
    """By how many standard errors ``after`` predicts the entries ``check`` better than ``before``; None is zero."""
    difference = _squares(before, seen, check) - _squares(after, seen, check)
    spread = float(np.std(difference)) / math.sqrt(max(len(check), 1))
    return float(np.mean(difference)) / spread if spread > 0 else 0.0


def _choices(
    seen: Observation,
    rank: int,
    why: str,
    skeleton: Skeleton | None,
    answer: Factorization,
    gains: dict[str, Any],
    held_out: IndexVector,
) -> FitReport:
    against_zero = _gain(None, answer, seen, held_out) if len(held_out) > 1 else math.nan
    left_out_error = math.nan if skeleton is None else skeleton.left_out_error
    if against_zero > 2:
        verdict = (
            f"better than no answer on {len(held_out)} entries it did not see, by {against_zero:.1f} standard errors"
        )
    elif left_out_error < 0.99:
        verdict = f"left-out rows and columns are predicted to {1 - left_out_error:.1%} of their squares"
    elif math.isnan(left_out_error) and not len(held_out):
        verdict = "unverifiable: it fits what was read, and nothing is left to check it with"
    else:
        verdict = "outside the sampled rows and columns, there is no evidence that it is better than zero"
    return FitReport(
        rank=answer.rank,
        rank_reason=why if answer.rank >= rank else f"{rank} was {why}, but what was read has no more directions",
        row_ridge=math.nan if skeleton is None else skeleton.row_ridge,
        column_ridge=math.nan if skeleton is None else skeleton.column_ridge,
        entry_ridge=math.nan if skeleton is None else skeleton.entry_ridge,
        sum_coefficient=0.0 if skeleton is None else skeleton.sum_coefficient,
        intersection_condition=math.nan if skeleton is None else skeleton.condition,
        left_out_error=left_out_error,
        verdict=verdict,
        **gains,
    )


def _finish(
    answer: Factorization, observation: Observation, unit: float, held_out: IndexVector, choices: FitReport
) -> Factorization:
    """The answer in the scale and type of the observation, with its names and what was chosen."""
    values = to_numpy(observation.values)
    kind = values.dtype
    U, Z, V = answer.left.vectors, answer.core.Z, answer.right.vectors
    misfit = float(np.linalg.norm(values / unit - answer.entries(observation.i, observation.j))) * unit
    return Factorization(
        answer.left._replace(vectors=U.astype(kind, copy=False)),
        answer.core._replace(Z=(Z * unit).astype(kind, copy=False), solver="approximate", residual_norm=misfit),
        answer.right._replace(vectors=V.astype(kind, copy=False)),
        row_names=observation.row_names,
        column_names=observation.column_names,
        held_out=held_out,
        report=choices,
    )
