"""Inspect: logs as ``.eval`` archives, of which only the header and the summaries are read, and as ``.json``."""

from __future__ import annotations

import copy
import io
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from ..._support.extras import import_extra
from ...exceptions import SourceError
from .json_parts import json_parts
from .run import NO_FILTER, Answer, Measure, Run, number_of, open_text

__all__ = ["read_inspect", "write_inspect"]

ZSTANDARD = 93  # a way of packing that zipfile knows from Python 3.14 on
#: Scores in words, as Inspect counts them: correct, incorrect, partly correct, no answer.
WORDS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
TRUTH = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def read_inspect(path: Path, model: str | None) -> Run:
    """The answers in one log."""
    about: dict[str, Any] = {}
    answers: dict[tuple[str, str], Answer] = {}
    for name, part in _archived(path) if path.suffix == ".eval" else _written(path):
        if name == "eval":
            about = part
        elif name == "samples":
            answers[str(part["id"]), str(part.get("epoch", 1))] = Answer("", _scores(part))
    if not about:
        raise SourceError("it has no part called eval, and is no log of Inspect")
    mark = about.get("eval_id") or path.stem
    return Run(model or about["model"], about["task"], str(about.get("task_version", "")), str(mark), answers)


def _written(path: Path) -> Iterator[tuple[str, Any]]:
    with open_text(path) as stream:
        yield from json_parts(stream, ("samples",))


def _archived(path: Path) -> Iterator[tuple[str, Any]]:
    """The header and the summaries; of a run that is not complete, those in its journal."""
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        header = "header.json" if "header.json" in names else "_journal/start.json"
        with _opened(archive, header) as stream:
            yield "eval", json.load(stream)["eval"]
        journal = sorted(name for name in names if name.startswith("_journal/summaries/"))
        for name in ["summaries.json"] if "summaries.json" in names else journal:
            with _opened(archive, name) as stream:
                yield from (("samples", summary) for _, summary in json_parts(stream))


def _opened(archive: zipfile.ZipFile, name: str) -> TextIO:
    info = archive.getinfo(name)
    if info.compress_type != ZSTANDARD or sys.version_info >= (3, 14):
        return io.TextIOWrapper(archive.open(info), encoding="utf-8")
    purpose = f"the log is packed by Zstandard, and Python {sys.version_info[0]}.{sys.version_info[1]} needs pyarrow"
    arrow = import_extra("pyarrow", extra="arrow", purpose=purpose)
    as_stored: Any = copy.copy(info)
    as_stored.compress_type, as_stored.file_size, as_stored.CRC = zipfile.ZIP_STORED, info.compress_size, None
    unpacked = arrow.CompressedInputStream(archive.open(as_stored), "zstd")
    return io.TextIOWrapper(io.BufferedReader(unpacked), encoding="utf-8")


def _scores(sample: dict[str, Any]) -> dict[Measure, float | None]:
    """The scores of a sample, none if it ended with an error; of a score with several values, each of them."""
    if sample.get("error"):
        return {}
    found: dict[Measure, float | None] = {}
    for scorer, score in (sample.get("scores") or {}).items():
        value = score.get("value")
        several = {f"{scorer}/{key}": x for key, x in value.items()} if isinstance(value, dict) else {scorer: value}
        found |= {(name, NO_FILTER): _number(x) for name, x in several.items()}
    return found


def _number(value: Any) -> float | None:
    """A score as a number: words count as they do in Inspect."""
    if not isinstance(value, str):
        return number_of(value)
    known = WORDS.get(value, TRUTH.get(value.lower()))
    try:
        return float(value) if known is None else known
    except ValueError:
        return None


def write_inspect(model: str, questions: dict[str, list[str]]) -> dict[str, Any]:
    """A file for ``--run-config`` for each task, which holds what ``--sample-id`` says; [, * and ? are no patterns."""
    escape = str.maketrans({letter: f"[{letter}]" for letter in "[*?"})
    return {
        f"{model}.{task}.json": {"eval_config": {"sample_id": [question.translate(escape) for question in some]}}
        for task, some in questions.items()
    }
