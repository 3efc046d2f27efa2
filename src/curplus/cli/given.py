"""What the argument FILE stands for: a matrix to be read, or an observation that was saved."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import NamedTuple

from .._files import FILE_HEADER
from ..exceptions import InvalidArgumentError
from ..factorization import Factorization
from ..methods import load
from ..observation import Observation, observe
from ..sources import LongSource, Source, open_logs, open_source
from . import show
from .options import Logs, Reading, Sampling, counts, spelled

__all__ = ["Given", "check_design", "entries_of", "is_saved", "observation_of", "open_given"]


class Given(NamedTuple):
    """A matrix that can be read, or what was read of one; one of the two is None."""

    name: str
    source: Source | None = None
    observation: Observation | None = None

    def matrix(self) -> Source:
        """The matrix; an error where there is none to read."""
        if self.source is None:
            raise InvalidArgumentError(
                f"{self.name} holds what was read of a matrix, and not the matrix. Give the matrix itself."
            )
        return self.source


def is_saved(name: str) -> bool:
    """Whether a file is one that curplus saved."""
    path = Path(name)
    if not path.is_file() or not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return f"{FILE_HEADER}.npy" in archive.namelist()


def open_given(name: str, reading: Reading, logs: Logs | None = None) -> Given:
    """Open a file, or logs; what was found out about it is said on standard error."""
    logs = Logs() if logs is None else logs
    how = logs.as_keywords(reading.as_keywords())
    if logs.format:
        return Given(name, open_logs(name, **how))
    if is_saved(name):
        saved = load(name)
        if isinstance(saved, Factorization):
            raise InvalidArgumentError(
                f"{name} holds an approximation that curplus saved, not a matrix. Give the matrix, or look at the "
                "approximation with 'curplus info'."
            )
        return Given(name, observation=saved)
    source = open_source(name, **how)
    if notes := getattr(source, "notes", ()):
        options = ", ".join(dict.fromkeys(_otherwise(note.name, note.value) for note in notes if note.name))
        otherwise = f" (if not so, use {options})" if options else ""
        show.note(f"{name}: {'; '.join(note.text for note in notes)}{otherwise}")
    return Given(name, source)


def _otherwise(name: str, value: object) -> str:
    """The option that says the contrary of what was found."""
    return spelled(name, not value) if isinstance(value, bool) else spelled(name, "").partition(" ")[0]


def entries_of(given: Given, design: str | None) -> Observation:
    """All values of a long table or an observation; with a ``design``, this is how they were chosen."""
    seen = Observation.from_table(given.source) if given.observation is None else given.observation
    return seen if design is None else seen.with_design(entries=design)


def check_design(given: Given, design: str | None) -> None:
    """An error if a design is promised of a matrix from which values are drawn here."""
    if design is not None and not (given.source is None or isinstance(given.source, LongSource)):
        raise InvalidArgumentError(
            f"{spelled('design', design)} was given, but it is for single values, and {given.name} is a matrix. Leave "
            "it out, or say --long."
        )


def observation_of(given: Given, rank: int | None, sampling: Sampling, design: str | None = None) -> Observation:
    """What is read of a file: as much as is asked for of a matrix, everything of a long table or an observation."""
    if given.source is None or isinstance(given.source, LongSource):
        asked = {name: value for name, value in vars(sampling).items() if name != "seed" and value is not None}
        if asked:
            listed = ", ".join(f"--{name}={value}" for name, value in asked.items())
            raise InvalidArgumentError(
                f"{listed} was given, but {given.name} holds single values, all of which are used. Leave it out."
            )
        return entries_of(given, design)
    check_design(given, design)
    with show.working(f"reading {given.name}") as progress:
        if hasattr(given.source, "limit"):
            given.source.limit(progress=progress)
        return _drawn(given.source, rank, sampling)


def _drawn(source: Source, rank: int | None, sampling: Sampling) -> Observation:
    """Rows, columns and entries drawn uniformly: as many as is said, or as a budget buys."""
    said = sampling.columns, sampling.rows, sampling.entries
    if sampling.budget is None:
        return observe(source, **counts(source.shape, rank, *said)._asdict(), rng=sampling.seed)
    if said != (None, None, None):
        raise InvalidArgumentError("give --budget, or --columns, --rows and --entries, and not both.")
    return observe(source, budget=sampling.budget, rng=sampling.seed)
