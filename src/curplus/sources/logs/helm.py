"""HELM: ``per_instance_stats.json`` beside ``run_spec.json``, and ``instances.json`` or ``scenario_state.json``."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...exceptions import SourceError
from .json_parts import json_parts
from .run import NO_FILTER, Answer, Run, number_of, open_text

__all__ = ["read_helm"]

INSTANCES, STATE = "instances.json", "scenario_state.json"  # of helm-summarize, and of helm-run
MODEL = re.compile(r"(?<=[:,])(model|model_deployment)=[^,]*,?")


def read_helm(path: Path, model: str | None) -> Run:
    """The answers of one run; each perturbation of the questions is a filter, and each trial a repeat."""
    beside = path.with_name("run_spec.json")
    if not beside.is_file():
        raise SourceError(f"there is no {beside.name} beside it, which names the model and the task")
    spec = json.loads(beside.read_text(encoding="utf-8"))
    contents = _contents(path.parent)
    answers: dict[tuple[str, str], Answer] = {}
    with open_text(path) as stream:
        for _, part in json_parts(stream):
            key = str(part["instance_id"]), str(part.get("train_trial_index", 0))
            answer = answers.setdefault(key, Answer(contents.get(key[0], ""), {}))
            rule = str((part.get("perturbation") or {}).get("name", NO_FILTER))
            for stat in part["stats"]:
                answer.scores[stat["name"]["name"], rule] = number_of(stat.get("mean", math.nan))
    task = MODEL.sub("", spec["name"]).rstrip(":,")
    return Run(model or spec["adapter_spec"]["model"], task, "", f"{path.parent.parent.name}/{spec['name']}", answers)


def _contents(folder: Path) -> dict[str, str]:
    """A digest of each question as it was before any perturbation."""
    return {str(x["id"]): _digest(x["input"]) for x in _instances(folder) if not x.get("perturbation")}


def _instances(folder: Path) -> Iterator[Any]:
    """The questions of a run, from its summary or from its state; none if there is neither."""
    if (folder / INSTANCES).is_file():
        with open_text(folder / INSTANCES) as stream:
            yield from (part for _, part in json_parts(stream))
    elif (folder / STATE).is_file():
        with open_text(folder / STATE) as stream:
            states = (part for name, part in json_parts(stream, ("request_states",)) if name == "request_states")
            yield from (state["instance"] for state in states)


def _digest(question: Any) -> str:
    return hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()
