"""Logs of several runs as one long table: a row for each model, a column for each question, a value for each answer."""

from __future__ import annotations

import glob
import json
import math
from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..._support.registry import Registry
from ..._support.spelling import option
from ..._typing import FloatArray
from ...exceptions import InvalidArgumentError, SourceError
from ..content import damage_told
from ..long import LongSource, long_of_blocks
from ..notation import CellValues
from .helm import read_helm
from .inspect_ai import read_inspect, write_inspect
from .lm_eval import read_lm_eval, write_lm_eval
from .run import Measure, Run, question_name

__all__ = ["HARNESSES", "Format", "ListWriter", "LogBlock", "log_blocks", "open_logs"]

MOST_NAMED = 20  # of the choices in an error
DIGEST_LENGTH = 16  # of a digest: enough to tell questions apart


ListWriter: TypeAlias = Callable[[str, dict[str, list[str]]], dict[str, Any]]


class Format(NamedTuple):
    """How a harness writes its logs, and takes its lists."""

    patterns: tuple[str, ...]  # of names of files
    read: Callable[[Path, str | None], Run]
    write: ListWriter | None  # of a model and its questions by task: names of files, and what they hold as JSON


#: How to read the logs of a harness: a new one is one file, and one row.
HARNESSES = Registry(
    "format",
    "read",
    {
        "lm-eval": Format(("samples_*.jsonl", "samples_*.jsonl.gz"), read_lm_eval, write_lm_eval),
        "inspect": Format(("*.eval", "*_*.json", "*_*.json.gz"), read_inspect, write_inspect),
        "helm": Format(("per_instance_stats.json", "per_instance_stats.json.gz"), read_helm, None),
    },
)


class LogBlock(NamedTuple):
    """The answers of one run, in the order of the log."""

    models: list[str]  # (k,)
    questions: list[str]  # (k,)
    values: FloatArray  # (k,), NaN if the answer could not be had
    marks: list[str]  # (k,), one for each answer, the same whenever the log is read
    terms: list[str]  # (k,), metric, filter, version of the task and digest of the question, as a JSON list


def open_logs(
    paths: Any,
    *,
    format: str,
    metric: str | Iterable[str] = (),
    filter: str | Iterable[str] = (),
    model: str | None = None,
) -> LongSource:
    """Open the logs of an evaluation of language models: a row for each model, a column for each question.

    ==============  ===========================================================================================
    format          what it reads
    ==============  ===========================================================================================
    ``"lm-eval"``   lm-evaluation-harness with ``--log_samples``: ``samples_<task>_<date>.jsonl``; the model's
                    name is in ``results_<date>.json`` beside it, or else the name of the folder
    ``"inspect"``   Inspect: ``.eval`` archives and ``.json`` logs. Scores "C", "P", "I" and "N" count as 1,
                    .5, 0 and 0; a sample with an error is a failed measurement
    ``"helm"``      HELM: ``per_instance_stats.json`` beside ``run_spec.json`` and ``scenario_state.json``. A
                    perturbation of the questions is a filter
    ==============  ===========================================================================================

    A question is called by its task and its number there, ``gsm8k/17``. Repeats, such as epochs, are several values of
    one cell. Logs are read one after the other; texts packed by gzip are read too.

    Parameters
    ----------
    paths : str, path or list of these
        Files, folders that are searched with all below them, or patterns such as ``"results/*/samples_*.jsonl"``.
    format : {"lm-eval", "inspect", "helm"}
        Which harness wrote them.
    metric, filter : str or list of str, optional
        Which score counts, for tasks that have several. A task must have exactly one of those listed.
    model : str, optional
        The name of the model, if the logs do not have it.

    Returns
    -------
    LongSource
        ``Observation.from_table`` makes scattered entries of it, and :meth:`curplus.Study.from_logs` a study.

    Raises
    ------
    InvalidArgumentError
        If a task has several scores and none is named, or if a name is in none of the logs.
    SourceError
        If a log is damaged, or if two logs have different questions, scores or versions of one task.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from curplus.sources import open_logs
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "org__small"
    >>> folder.mkdir()
    >>> log = folder / "samples_sums_2026-01-01T00-00-00.jsonl"
    >>> lines = [{"doc_id": k, "filter": "none", "metrics": ["acc"], "acc": k % 2} for k in range(3)]
    >>> _ = log.write_text("".join(json.dumps(line) + chr(10) for line in lines))
    >>> source = open_logs(folder, format="lm-eval")
    >>> source.row_names.tolist(), source.column_names.tolist(), source.values.tolist()
    (['org__small'], ['sums/0', 'sums/1', 'sums/2'], [0.0, 1.0, 0.0])
    """
    blocks = log_blocks(paths, format=format, metric=metric, filter=filter, model=model)
    return long_of_blocks((block.models, block.questions, CellValues(block.values)) for block in blocks)


def log_blocks(
    paths: Any,
    *,
    format: str,
    metric: str | Iterable[str] = (),
    filter: str | Iterable[str] = (),
    model: str | None = None,
) -> Iterator[LogBlock]:
    """The answers in some logs, run by run; see :func:`open_logs`."""
    known = HARNESSES.resolve(format)
    joined = _Joined(_listed(metric), _listed(filter))
    for path in _files(paths, known.patterns):
        with damage_told(path, path.suffix):
            run = known.read(path, model)
        yield joined.block(run, path)
    joined.check_all_used()


def _listed(names: str | Iterable[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _files(paths: Any, patterns: tuple[str, ...]) -> list[Path]:
    """Logs in files, folders and patterns, each once."""
    given = [paths] if isinstance(paths, (str, PathLike)) else list(paths)
    found: dict[Path, Path] = {}
    for each in map(str, given):
        path = Path(each)
        if path.is_dir():
            some = [x for pattern in patterns for x in path.rglob(pattern)]
        else:
            some = [path] if path.is_file() else [Path(x) for x in glob.glob(each, recursive=True)]  # noqa: PTH207
        if not some:
            raise SourceError(
                f"there is no log in {each} (looked for from {Path.cwd()}). Give files, folders or patterns; names of "
                f"logs look like {', '.join(patterns)}."
            )
        found.update((x.resolve(), x) for x in sorted(some))
    return list(found.values())


class _Joined:
    """What runs must agree on: the version of a task, the text of a question, and the score that counts."""

    def __init__(self, metrics: tuple[str, ...], filters: tuple[str, ...]) -> None:
        self.wanted = metrics, filters
        self.offered: set[Measure] = set()
        self.known: dict[tuple[str, str], tuple[Any, Path]] = {}

    def block(self, run: Run, path: Path) -> LogBlock:
        """The answers of a run, by the score that counts."""
        questions = [question_name(run.task, question) for question, _ in run.answers]
        if run.version:
            self._agree("task", run.task, "version", run.version, path)
        for name, answer in zip(questions, run.answers.values(), strict=True):
            if answer.content:
                self._agree("question", name, "text with the digest", answer.content, path)
        measure = self._measure(run, path)
        scores = [answer.scores.get(measure, math.nan) for answer in run.answers.values()]
        if None in scores:
            raise SourceError(
                f"{path}: {_spelled(measure)} of {questions[scores.index(None)]} is no number. Take another metric."
            )
        marks = [f"{run.mark}#{repeat}" for _, repeat in run.answers]
        terms = [json.dumps([*measure, run.version, answer.content[:DIGEST_LENGTH]]) for answer in run.answers.values()]
        return LogBlock([run.model] * len(scores), questions, np.asarray(scores, dtype=np.float64), marks, terms)

    def _agree(self, what: str, name: str, of: str, value: Any, path: Path) -> None:
        before, where = self.known.setdefault((of, name), (value, path))
        if before != value:
            raise SourceError(
                f"{what} {name} has the {of} {value} in {path}, and {before} in {where}: these are not the same "
                "questions. Read them apart, or give a model the questions again."
            )

    def _measure(self, run: Run, path: Path) -> Measure:
        """The score that counts: the only one, or the only one of those that are named."""
        numbers = {key for answer in run.answers.values() for key, x in answer.scores.items() if x is not None}
        self.offered |= numbers
        left = numbers
        for part, names in enumerate(self.wanted):
            left = {key for key in left if key[part] in names} or left
        if not numbers and any(answer.scores for answer in run.answers.values()):
            raise SourceError(f"{path}: no score of task {run.task} is a number.")
        if len(left) > 1:
            raise InvalidArgumentError(
                f"task {run.task} in {path} has {len(left)} scores: {_choices(left)}. Say which counts: "
                f"{' '.join(option(*x) for x in _distinct(left))}."
            )
        if left:
            self._agree("task", run.task, "score", _spelled(next(iter(left))), path)
        return next(iter(left), ("", ""))

    def check_all_used(self) -> None:
        """An error if a metric or filter that was named is in none of the logs."""
        for part, (name, names) in enumerate(zip(("metric", "filter"), self.wanted, strict=True)):
            offered = {key[part] for key in self.offered}
            for wrong in [x for x in names if x not in offered]:
                listed = ", ".join(sorted(offered)[:MOST_NAMED])
                raise InvalidArgumentError(f"{option(name, wrong)} is in none of the logs. They have {listed}.")


def _spelled(measure: Measure) -> str:
    return f"metric {measure[0]} with filter {measure[1]}"


def _choices(measures: set[Measure]) -> str:
    listed = "; ".join(map(_spelled, sorted(measures)[:MOST_NAMED]))
    return listed if len(measures) <= MOST_NAMED else f"{listed}; and {len(measures) - MOST_NAMED} more"


def _distinct(measures: set[Measure]) -> list[tuple[str, str]]:
    """One choice, as options: metric and filter, as far as they differ."""
    first = min(measures)
    differ = [len({key[part] for key in measures}) > 1 for part in (0, 1)]
    return [(name, first[part]) for part, name in enumerate(("metric", "filter")) if differ[part]]
