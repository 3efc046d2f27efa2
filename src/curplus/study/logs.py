"""From logs of evaluations to readings of a study, and from a work list to the lists that harnesses take."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from .._files import write_bytes
from .._typing import IndexVector
from ..exceptions import InvalidArgumentError
from ..sources.logs.open_logs import HARNESSES, ListWriter, LogBlock
from ..sources.logs.run import split_question
from .names import Axis
from .schema import WIDTH
from .storage import Records

__all__ = ["check_harness", "check_same_terms", "harness_lists", "log_records", "write_harness_lists"]

MOST_SHOWN = 5
TERMS = "metric", "filter", "version", "text with the digest"  # of a question, at the end of a note


def log_records(blocks: Iterable[LogBlock], rows: Axis, columns: Axis) -> Records:
    """The readings in logs; the note of each says which answer of which run it is."""
    blocks = list(blocks)
    models, questions, values, marks, terms = ([x for block in blocks for x in block[k]] for k in range(5))
    cells = _positions(models, rows, "model") * WIDTH + _positions(questions, columns, "question")
    notes = [f"{mark} {term}" for mark, term in zip(marks, terms, strict=True)]
    return Records.of(cells, np.asarray(values, dtype=np.float64), notes=notes)


def check_same_terms(records: Records, told: Iterable[tuple[int, str]], columns: Axis) -> None:
    """An error if a question has another score, version or text than what was ``told`` of its column, with notes."""
    known: dict[int, list[str]] = {}
    for column, terms in _terms(told):
        known[column] = [old or new for old, new in zip(known.get(column, terms), terms, strict=True)]
    new = zip((records.cells % WIDTH).tolist(), records.notes, strict=True)
    for column, terms in _terms(dict.fromkeys((column, str(note)) for column, note in new)):
        for term, before, now in zip(TERMS, known.get(column, terms), terms, strict=True):
            if before and now and before != now:
                raise InvalidArgumentError(
                    f"question {columns.labels([column])[0]} has the {term} {now} in these logs, and {before} in those "
                    "told before. Nothing was kept. Read the same score of the same questions, or make another study."
                )


def _terms(notes: Iterable[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    """What notes of logs say of the score and the question; other notes are left out."""
    for column, note in notes:
        with suppress(ValueError):
            terms = json.loads(note[note.rindex(' ["') :])
            if len(terms) == len(TERMS):
                yield column, list(map(str, terms))


def _positions(names: list[str], axis: Axis, what: str) -> IndexVector:
    positions = axis.find_all(names)
    unknown = list(dict.fromkeys(names[k] for k in np.flatnonzero(positions < 0)))
    if unknown:
        some = ", ".join(map(repr, unknown[:MOST_SHOWN]))
        more = f" and {len(unknown) - MOST_SHOWN:,} more" if len(unknown) > MOST_SHOWN else ""
        raise InvalidArgumentError(
            f"the logs have {len(unknown):,} {what}{'s' if len(unknown) > 1 else ''} that the study has no {axis.what} "
            f"for: {some}{more} ({axis.nearest(unknown[0])}). Nothing was kept. Add what is new with "
            f"Study.add_{axis.what}s, or 'curplus study add STUDY --{axis.what} {unknown[0]}'."
        )
    return positions


def harness_lists(cells: Any) -> dict[str, dict[str, list[str]]]:
    """The questions of each task that each model is to be asked; ``cells`` is a table with row and column."""
    lists: dict[str, dict[str, list[str]]] = {}
    for model, name in zip(cells["row"], cells["column"], strict=True):
        task, question = split_question(str(name))
        if not task:
            raise InvalidArgumentError(
                f"column {str(name)!r} is no question of a task. A harness takes columns that are called by task and "
                "number, such as 'gsm8k/17', as Study.from_logs calls them."
            )
        lists.setdefault(str(model), {}).setdefault(task, []).append(question)
    return lists


def check_harness(folder: Path, format: str) -> ListWriter:
    """How a harness takes lists, if it does, and if the folder is there to be filled."""
    write = HARNESSES.resolve(format).write
    if write is None:
        raise InvalidArgumentError(
            f"{format} takes no list of questions, only how many it draws itself, so that single cells cannot be "
            "asked for. Run its tasks whole, or in lm-eval or Inspect."
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InvalidArgumentError(f"{folder} is not empty, and older lists could be taken for new ones. Give another.")
    return write


def write_harness_lists(cells: Any, folder: Path, format: str) -> list[Path]:
    """Write what a harness takes, in files for each model; their paths."""
    write, files = check_harness(folder, format), dict[str, Any]()
    for model, questions in harness_lists(cells).items():
        for name, content in write(model, questions).items():
            plain = re.sub(r'["<>:/|\\?*\[\]]+', "__", name)  # as lm-evaluation-harness writes names of models
            if plain in files:
                raise InvalidArgumentError(f"two lists would be called {plain}. Rename one of the models or tasks.")
            files[plain] = content
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_bytes(folder / name, (json.dumps(content) + "\n").encode())
    return [folder / name for name in files]
