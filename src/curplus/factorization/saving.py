"""What a saved approximation holds: arrays, and fields that JSON can have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .new_rows import FittedModel
from .provenance import method_record

if TYPE_CHECKING:
    from .factorization import Factorization

__all__ = ["saved_parts"]


def saved_parts(a: Factorization) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays and the fields of the header."""
    arrays = {f"left_{name}": part for name, part in a.left._asdict().items()}
    if a.right is not a.left:
        arrays |= {f"right_{name}": part for name, part in a.right._asdict().items()}
    arrays |= {"row_names": a.row_names, "column_names": a.column_names, "held_out": a.held_out}
    diagnostics = a.core._asdict()
    arrays["Z"] = diagnostics.pop("Z")
    model = a.provenance.model
    if model is not None:
        arrays |= {f"model_{name}": getattr(model, name) for name in FittedModel.ARRAYS}
    refits = a.provenance.refits
    if refits is not None:
        arrays |= {f"refits_{name}": getattr(refits, name) for name in ("fold", "rows", "columns")}
        for k, fit in enumerate(refits.fits):
            parts = (fit.left.vectors, fit.core.Z, fit.right.vectors)
            arrays |= {f"refit_{k}_{name}": x for name, x in zip(("left", "Z", "right"), parts, strict=True)}
    fields = {
        "core": diagnostics,
        "method": method_record(a.provenance.method),
        "fingerprint": a.provenance.fingerprint,
        "report": a.report.facts,
        "model": None if model is None else {"noise": model.noise, "error": model.error},
        "n_refits": 0 if refits is None else len(refits.fits),
    }
    return arrays, fields
