"""An approximation as facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._typing import Names
from .report import Fact

if TYPE_CHECKING:
    from .factorization import Factorization

__all__ = ["facts_of", "origin_of"]


def facts_of(a: Factorization) -> tuple[Fact, ...]:
    """Size, core, accuracy on the entries, samples, and the facts of the fit."""
    core = a.core
    return (
        Fact("shape", f"{a.shape[0]} x {a.shape[1]}"),
        Fact("core", f"{a.left.rank} x {a.right.rank}{origin_of(a)}"),
        Fact("found_by", core.solver + ("" if core.converged else " (not converged)")),
        Fact("residual", float(core.residual_norm), unit="on the entries"),
        Fact("condition", None if core.condition is None else float(core.condition), unit="of the equations"),
        Fact("columns", _listed(a.sampled_column_names)),
        Fact("rows", _listed(a.sampled_row_names)),
        *a.report.facts,
        *(Fact("note", note) for note in core.notes),
    )


def origin_of(a: Factorization) -> str:
    """From how many columns and rows it is made; empty if it is not made of them."""
    if a.left.sample is None or a.right.sample is None:
        return ""
    return f", from {len(a.column_index)} columns and {len(a.row_index)} rows"


def _listed(names: Names, most: int = 6) -> str | None:
    shown = ", ".join(str(name) for name in names[:most])
    return shown + (f", ... ({len(names)} in all)" if len(names) > most else "") or None
