"""``curplus info``: what a file holds, a matrix or something that curplus saved."""

from __future__ import annotations

import math

import numpy as np

from ..factorization import Fact
from ..methods import load
from ..observation import Observation
from ..sources import LongSource, Source, TableSource
from .given import is_saved, open_given
from .options import Logs, MatrixFile, Reading, verb
from .results import answer_facts, read_facts

__all__ = ["info"]


@verb
def info(file: MatrixFile, reading: Reading, logs: Logs) -> list[Fact]:
    """Say what a file holds: a matrix or table, or something that curplus saved."""
    if logs.format or not is_saved(file):
        return _source_facts(open_given(file, reading, logs).matrix())
    saved = load(file)
    if isinstance(saved, Observation):
        return _observation_facts(saved)
    return [Fact("kind", "approximation"), *answer_facts(saved)]


def _observation_facts(seen: Observation) -> list[Fact]:
    return [
        Fact("kind", "observation"),
        Fact("shape", seen.shape),
        *read_facts(seen),
        Fact("design", dict(seen.design._asdict()), "how they were chosen"),
        *_names(seen),
    ]


def _source_facts(source: Source) -> list[Fact]:
    n_gaps = None
    if isinstance(source, TableSource):
        n_gaps = int(np.isnan(source.rows(np.arange(source.shape[0]))).sum())
    elif isinstance(source, LongSource):
        n_gaps = math.prod(source.shape) - source.n_known
    kind = "long table" if isinstance(source, LongSource) else "matrix"
    return [
        Fact("kind", kind),
        Fact("shape", tuple(int(size) for size in source.shape)),
        Fact("dtype", str(source.dtype)),
        Fact("n_gaps", n_gaps, "gaps"),
        *_names(source),
        Fact("found", {note.name: note.value for note in getattr(source, "notes", ()) if note.name} or None),
    ]


def _names(thing: Observation | Source) -> list[Fact]:
    found = {"columns": getattr(thing, "column_names", None), "rows": getattr(thing, "row_names", None)}
    return [Fact(name, None if names is None else [str(x) for x in names]) for name, names in found.items()]
