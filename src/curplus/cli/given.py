"""What the argument FILE stands for: a matrix to be read, or an observation that was saved."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .._files import FILE_HEADER
from ..exceptions import InvalidArgumentError
from ..factorization import Factorization
from ..methods import load
from ..observation import Observation, observe
from ..sources import LongSource, Source, open_logs, open_source
from . import show
from .options import Logs, Reading, Sampling, spelled

__all__ = ["Given", "is_saved", "observation_of", "open_given"]


@dataclass(frozen=True)
class Given:
    """A matrix that can be read, or what was read of one; one of the two is None."""

    name: str
    source: Source | None = None
    observation: Observation | None = None
    design: str | None = None  # how single values were chosen, as is promised

    def matrix(self) -> Source:
        """The matrix; an error where there is none to read."""
        if self.source is None:
            raise InvalidArgumentError(
                f"{self.name} holds what was read of a matrix, and not the matrix. Give the matrix itself."
            )
        return self.source

    @cached_property
    def entries(self) -> Observation | None:
        """All values of a long table or an observation; None of a matrix, from which values are drawn here."""
        seen = Observation.from_table(self.source) if isinstance(self.source, LongSource) else self.observation
        if seen is None and self.design is not None:
            raise InvalidArgumentError(
                f"{spelled('design', self.design)} was given, but it is for single values, and {self.name} is a "
                "matrix. Leave it out, or say --long."
            )
        return seen if seen is None or self.design is None else seen.with_design(entries=self.design)


def is_saved(name: str) -> bool:
    """Whether a file is one that curplus saved."""
    path = Path(name)
    if not path.is_file() or not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return f"{FILE_HEADER}.npy" in archive.namelist()


def open_given(name: str, reading: Reading, logs: Logs | None = None, design: str | None = None) -> Given:
    """Open a file, or logs; what was found out about it is said on standard error."""
    logs = Logs() if logs is None else logs
    how = logs.as_keywords(reading.as_keywords())
    if logs.format:
        return Given(name, open_logs(name, **how), design=design)
    if is_saved(name):
        saved = load(name)
        if isinstance(saved, Factorization):
            raise InvalidArgumentError(
                f"{name} holds an approximation that curplus saved, not a matrix. Give the matrix, or look at the "
                "approximation with 'curplus info'."
            )
        return Given(name, observation=saved, design=design)
    source = open_source(name, **how)
    if notes := getattr(source, "notes", ()):
        options = ", ".join(dict.fromkeys(_otherwise(note.name, note.value) for note in notes if note.name))
        otherwise = f" (if not so, use {options})" if options else ""
        show.note(f"{name}: {'; '.join(note.text for note in notes)}{otherwise}")
    return Given(name, source, design=design)


def _otherwise(name: str, value: object) -> str:
    """The option that says the contrary of what was found."""
    return spelled(name, not value) if isinstance(value, bool) else spelled(name, "").partition(" ")[0]


def observation_of(given: Given, rank: int | None, sampling: Sampling) -> Observation:
    """What is read of a file: as much as is asked for of a matrix, everything of a long table or an observation."""
    if given.entries is not None:
        asked = {name: value for name, value in vars(sampling).items() if name != "seed" and value is not None}
        if asked:
            listed = ", ".join(f"--{name}={value}" for name, value in asked.items())
            raise InvalidArgumentError(
                f"{listed} was given, but {given.name} holds single values, all of which are used. Leave it out."
            )
        return given.entries
    source = given.matrix()
    with show.working(f"reading {given.name}") as progress:
        if hasattr(source, "limit"):
            source.limit(progress=progress)
        return _drawn(source, rank, sampling)


def _drawn(source: Source, rank: int | None, sampling: Sampling) -> Observation:
    """Rows, columns and entries drawn uniformly: as many as is said, or as a budget buys."""
    if sampling.budget is None:
        return observe(source, **sampling.counts(source.shape, rank)._asdict(), rng=sampling.seed)
    if any(count is not None for count in sampling.said.values()):
        raise InvalidArgumentError("give --budget, or --columns, --rows and --entries, and not both.")
    return observe(source, budget=sampling.budget, rng=sampling.seed)
