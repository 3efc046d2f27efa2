"""Results as facts: the same facts are printed as text and as JSON."""

from __future__ import annotations

import math
from pathlib import Path

from ..evaluation import Certificate, certify
from ..factorization import Fact, Factorization
from ..observation import Observation
from ..sources import Source

__all__ = [
    "answer_facts",
    "approximation_facts",
    "certificate_facts",
    "end_facts",
    "read_facts",
]


def end_facts(out: Path | None, otherwise: str, then: str = "") -> list[Fact]:
    """Where a result was saved, and what to do next; ``otherwise`` if it was not."""
    if out is None:
        return [Fact("next", otherwise)]
    return [Fact("out", str(out), "saved to"), Fact("next", then or None)]


def read_facts(observation: Observation, source: Source | None = None) -> list[Fact]:
    """What was read, and how many bytes that took where they are counted."""
    o, size = observation, getattr(source, "bytes_read", None)
    read = {
        "columns": o.n_columns,
        "rows": o.n_rows,
        "entries": o.n_entries,
        "values": o.n_values_read,
        "gaps": o.n_gaps,
        "share": o.n_values_read / math.prod(o.shape),
    }
    if len(o.bounds):
        read["bounds"] = len(o.bounds)
    return [Fact("read", read), Fact("bytes_read", size, unit="bytes")]


def answer_facts(approx: Factorization) -> list[Fact]:
    """What an approximation is, and how it was found."""
    names = {"columns": approx.sampled_column_names, "rows": approx.sampled_row_names}
    known = [Fact("shape", approx.shape)]
    if "rank" not in (fact.name for fact in approx.report.facts):
        known.append(Fact("rank", approx.rank))
    for fact in approx.facts:
        if fact.name in names:
            known.append(fact._replace(value=[str(name) for name in names[fact.name]] or None))
        elif fact.name != "shape":
            known.append(fact)
    return known


def certificate_facts(certificate: Certificate) -> list[Fact]:
    """What is known of the error."""
    c = certificate
    others = [f for f in c.facts if f.name not in ("verdict", "cannot_see")]
    return [
        Fact("error", c.error, unit="in the Frobenius norm"),
        Fact("relative_error", c.relative_error, unit=f"of {c.what}"),
        Fact("interval", c.interval, f"{c.level:.0%} interval", reason="" if c.interval else f"none: {c.reason}"),
        Fact("level", c.level),
        *others,
        *(f for f in c.facts if f.name == "cannot_see"),
    ]


def approximation_facts(approx: Factorization, observation: Observation, source: Source | None) -> list[Fact]:
    """What an approximation is, what was read for it and what is known of its error."""
    first, *rest = answer_facts(approx)
    return [first, *read_facts(observation, source), *rest, *certificate_facts(certify(approx, observation))]
