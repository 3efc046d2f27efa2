"""One run of a harness: the scores of one model in one task, question by question, whatever wrote them."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any, NamedTuple, TextIO, TypeAlias
from urllib.parse import unquote

__all__ = ["NO_FILTER", "Answer", "Measure", "Run", "number_of", "open_text", "question_name", "split_question"]

Measure: TypeAlias = tuple[str, str]  # metric and filter
NO_FILTER = "none"  # what lm-evaluation-harness calls answers that nothing was filtered from


class Answer(NamedTuple):
    """What is known of one answer to a question."""

    content: str  # a digest of the question; empty if the log has none
    scores: dict[Measure, float | None]  # None: it is no number; without any, the measurement failed


class Run(NamedTuple):
    """The answers of one model in one task."""

    model: str
    task: str
    version: str  # of the task; empty if the log has none
    mark: str  # of this run, so that it is known when it is read again
    answers: dict[tuple[str, str], Answer]  # by question and repeat


def number_of(value: Any) -> float | None:
    """A score as a number, None if it is none; a truth value counts as 1 or 0."""
    return float(value) if isinstance(value, (bool, int, float)) else None


def question_name(task: str, question: str) -> str:
    """The name of a question among those of all tasks."""
    return f"{task}/{question.replace('%', '%25').replace('/', '%2F')}"


def split_question(name: str) -> tuple[str, str]:
    """Task and question of a name; the task is empty if it is no such name."""
    task, _, question = name.rpartition("/")
    return task, unquote(question)


def open_text(path: Path) -> TextIO:
    """A file of text, packed by gzip or not."""
    return gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")
