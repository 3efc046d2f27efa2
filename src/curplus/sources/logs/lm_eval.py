"""lm-evaluation-harness: ``samples_<task>_<date>.jsonl`` of ``--log_samples``, beside ``results_<date>.json``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from ...exceptions import InvalidArgumentError, SourceError
from .run import NO_FILTER, Answer, Measure, Run, number_of, open_text

__all__ = ["read_lm_eval", "write_lm_eval"]

NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(\.\d+)?)\.jsonl(\.gz)?")
#: Fields of a sample that are no scores, for older versions, which do not list the metrics.
FIELDS = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
HASHES = {"doc_hash", "prompt_hash", "target_hash"}


def read_lm_eval(path: Path, model: str | None) -> Run:
    """The answers in one file of samples."""
    named = NAME.fullmatch(path.name)
    if named is None:
        raise SourceError(
            f"{path} is no log of samples: its name is not samples_<task>_<date>.jsonl. Run lm_eval with "
            "--log_samples and --output_path, and keep the names of its files."
        )
    results = _results_beside(path, named["date"])
    versions = results.get("versions") or {}
    task = next((name for name in versions if re.sub(r"\W", "_", name) == named["task"]), named["task"])
    who = model or results.get("model_name") or path.parent.resolve().name
    answers: dict[tuple[str, str], Answer] = {}
    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                _add(answers, _sample(line, number))
    return Run(str(who), task, str(versions.get(task, "")), path.name.removesuffix(".gz"), answers)


def _results_beside(path: Path, date: str) -> dict[str, Any]:
    """What the same run wrote of itself; nothing if it is not there."""
    for beside in sorted(path.parent.glob(f"*_{date}.json*")):
        if beside.name.removesuffix(".gz").endswith(".json"):
            with open_text(beside) as stream:
                return dict(json.load(stream))
    return {}


def _sample(line: str, number: int) -> dict[str, Any]:
    try:
        sample = json.loads(line)
        sample["doc_id"]
    except (ValueError, KeyError, TypeError):
        raise SourceError(f"line {number} is no sample with a doc_id. Is the file complete?") from None
    return dict(sample)


def _add(answers: dict[tuple[str, str], Answer], sample: dict[str, Any]) -> None:
    """Add the scores of a sample; there is one sample for each filter."""
    metrics = sample.get("metrics") or [name for name in sample if name not in FIELDS | HASHES]
    rule = str(sample.get("filter", NO_FILTER))
    scores: dict[Measure, float | None] = {(name, rule): number_of(sample.get(name)) for name in metrics}
    question, repeat = str(sample["doc_id"]), 0
    while (known := answers.get((question, str(repeat)))) is not None and known.scores.keys() & scores.keys():
        repeat += 1
    if known is None:
        answers[question, str(repeat)] = Answer(str(sample.get("doc_hash", "")), scores)
    else:
        known.scores.update(scores)


def write_lm_eval(model: str, questions: dict[str, list[str]]) -> dict[str, Any]:
    """A file for ``--samples``: document numbers by task, ascending, since the harness labels them in that order."""
    wrong = [f"{task}/{x}" for task, some in questions.items() for x in some if not (x.isascii() and x.isdigit())]
    if wrong:
        raise InvalidArgumentError(
            f"{wrong[0]!r} does not end in the number of a document, which lm-eval asks for. Take format='inspect', or "
            "read the names of questions from logs of lm-eval."
        )
    return {f"{model}.json": {task: sorted(map(int, some)) for task, some in questions.items()}}
