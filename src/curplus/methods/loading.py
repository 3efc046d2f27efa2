"""Reading back what was saved: observations, and approximations with the method that made them."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .._files import SavedFile, damage_reported, read_file
from .._typing import Shape
from .._validation import check_index, check_names
from ..exceptions import FileFormatError
from ..factorization import Basis, Core, Fact, Factorization, FitReport, FittedModel, Provenance
from ..factorization.provenance import Refits
from ..factorization.zarr_store import read_store
from ..observation import Bounds, Fingerprint, Observation
from ..observation.forbidden import Region
from .choice import method_of

__all__ = ["load"]

SQLITE = b"SQLite format 3\x00"  # first bytes of its files


def load(path: str | PathLike[str]) -> Factorization | Observation:
    """Read a saved :class:`Factorization` or :class:`Observation`.

    Parameters
    ----------
    path : str or path
        A file that ``save`` wrote, or a store that ``to_zarr`` wrote.

    Returns
    -------
    Factorization or Observation
        An approximation has its method again if that is one of :data:`curplus.methods.METHODS`; with another one it
        works as before, but cannot be fitted again.

    Raises
    ------
    FileFormatError
        If the file is damaged, truncated or was not written by curplus.
    """
    try:
        saved = read_store(path) if Path(path).is_dir() else read_file(path)
    except FileFormatError:
        if _is_study(path):
            why = "not an approximation or an observation. Open it with Study.open(path)"
            raise FileFormatError(f"{path} is a study, {why}.") from None
        raise
    if saved.kind not in SAVED_KINDS:
        raise FileFormatError(f"{path} holds a {saved.kind!r}, which this version of curplus cannot read.")
    with damage_reported(path):
        return SAVED_KINDS[saved.kind](saved)


def _observation(saved: SavedFile) -> Observation:
    arrays = dict(saved.arrays)
    forbidden, bounds = Region.of_parts(arrays), Bounds.of_parts(arrays)
    return Observation(**arrays, **saved.fields, forbidden=forbidden, bounds=bounds)


def _factorization(saved: SavedFile) -> Factorization:
    arrays, fields = saved.arrays, saved.fields
    left = _basis(arrays, "left")
    right = _basis(arrays, "right") if "right_vectors" in arrays else left
    core = Core(**fields["core"] | {"Z": arrays["Z"], "notes": tuple(fields["core"]["notes"])})
    _check_numbers(left, core, right)
    return Factorization(
        left,
        core,
        right,
        check_names(arrays.get("row_names"), len(left.vectors), name="row_names"),
        check_names(arrays.get("column_names"), len(right.vectors), name="column_names"),
        Provenance(
            method_of(fields["method"]),
            check_index(arrays["held_out"], np.iinfo(np.int64).max, name="held_out"),
            None if fields["fingerprint"] is None else Fingerprint(*fields["fingerprint"]),
            FitReport(tuple(Fact(*fact) for fact in fields["report"])),
            _model(saved, (len(left.vectors), len(right.vectors))),
            _refits(saved),
        ),
    )


def _basis(arrays: dict[str, Any], side: str) -> Basis:
    return Basis(**{name: arrays.get(f"{side}_{name}") for name in Basis._fields})


def _model(saved: SavedFile, shape: Shape) -> FittedModel | None:
    """The fitted means and noise; files of earlier versions have none."""
    numbers = saved.fields.get("model")
    if numbers is None:
        return None
    arrays = {name: saved.arrays[f"model_{name}"] for name in FittedModel.ARRAYS}
    for (name, x), size in zip(arrays.items(), reversed(shape), strict=True):
        if x.dtype.kind not in "fc" or x.shape != (size,) or not np.isfinite(x).all():
            raise ValueError(f"model_{name} has shape {x.shape} and type {x.dtype}, and needs {size} finite numbers")
    return FittedModel(**arrays, noise=float(numbers["noise"]), error=float(numbers["error"]))


def _refits(saved: SavedFile) -> Refits | None:
    """The fits without each fold of the entries."""
    arrays = saved.arrays
    if "refits_fold" not in arrays:
        return None
    fits = []
    for k in range(saved.fields["n_refits"]):
        left, Z, right = (arrays[f"refit_{k}_{name}"] for name in ("left", "Z", "right"))
        parts = Basis(left), Core(Z, "approximate"), Basis(right)
        _check_numbers(*parts)
        fits.append(Factorization(*parts))
    fold, rows, columns = (np.asarray(arrays[f"refits_{name}"], dtype=np.int64) for name in ("fold", "rows", "columns"))
    if any(np.any((x < -1) | (x >= len(fits))) for x in (fold, rows, columns)):
        raise ValueError(f"refits name folds that are not there: the file has {len(fits)} of them")
    return Refits(fold, rows, columns, tuple(fits))


def _is_study(path: str | PathLike[str]) -> bool:
    """Whether a file is one of SQLite, in which studies are kept."""
    if Path(path).is_dir():
        return False
    with Path(path).open("rb") as stream:
        return stream.read(len(SQLITE)) == SQLITE


SAVED_KINDS: dict[str, Callable[[SavedFile], Factorization | Observation]] = {
    "observation": _observation,
    "factorization": _factorization,
}


def _check_numbers(left: Basis, core: Core, right: Basis) -> None:
    """Finite numbers in arrays that fit together."""
    d1, d2 = core.Z.shape
    for name, x, shape in (
        ("Z", core.Z, (d1, d2)),
        ("left_vectors", left.vectors, (len(left.vectors), d1)),
        ("right_vectors", right.vectors, (len(right.vectors), d2)),
        *_sample_parts("left", left),
        *_sample_parts("right", right),
    ):
        if x.dtype.kind not in "fc" or x.shape != shape or not np.isfinite(x).all():
            raise ValueError(f"{name} has shape {x.shape} and type {x.dtype}, and needs finite numbers, shape {shape}")


def _sample_parts(side: str, basis: Basis) -> list[tuple[str, Any, tuple[int, ...]]]:
    if basis.sample is None or basis.coefficients is None:
        return []
    n, r = basis.vectors.shape
    d = basis.sample.shape[1]
    return [(f"{side}_sample", basis.sample, (n, d)), (f"{side}_coefficients", basis.coefficients, (d, r))]
