"""The story that ``curplus demo`` tells: a study of answers that are known in truth, so that every claim is checked."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import FloatArray, IndexVector, Shape
from ..evaluation import MeanEstimates, estimate_means
from ..methods.approximate import Offsets
from ..observation import Cells, Observation
from ..study import Status, Study

__all__ = ["Baselines", "Step", "Story", "tell_story"]

N_ROUNDS = 3
FAILED = 0.05  # of what is asked for: nobody answers
REPEATED = 0.01  # of a list: asked for a second time by mistake


class Step(NamedTuple):
    """One round: what it cost, and how far three ways are from answers that were not bought (root mean square)."""

    spent: float
    n_values: int
    n_failed: int
    n_repeated: int
    study: float
    mean: float  # the mean of each model, of the same answers
    additive: float  # offsets of models and questions, of the same answers


class Baselines(NamedTuple):
    """Two usual ways to use the answers that the study has."""

    known: NDArray[np.bool_]  # (n, m)
    own_mean: FloatArray  # (n,), the mean of what was bought of each row
    additive: FloatArray  # (n, m)


class Story(NamedTuple):
    """What happened, and what is true."""

    shape: Shape
    steps: tuple[Step, ...]
    status: Status
    relative_error: float  # of the study's approximation, in truth
    means: MeanEstimates
    best: IndexVector  # models that may be the best
    truth: FloatArray  # (n,), the true means
    score_errors: dict[str, float]  # of the means: root mean square


def tell_story(matrix: FloatArray, share: float, folder: Path, *, seed: int = 0) -> tuple[Story, Study]:
    """Buy a share of the answers in three rounds; the study is open, for its report."""
    n, m = matrix.shape
    models, questions = [f"model {k}" for k in range(n)], [f"question {k}" for k in range(m)]
    study = Study.create(folder / "answers.study", rows=models, columns=questions, budget=share)
    rng = np.random.default_rng(seed)
    steps, baselines = [], None
    for _ in range(N_ROUNDS):
        n_repeated = _buy(study, matrix, share / N_ROUNDS, rng)
        study.certify()
        baselines = _baselines(study.observation())
        steps.append(_step(study, matrix, baselines, n_repeated))
    approx, seen = study.fit(), study.observation()
    means, truth = estimate_means(approx, seen), matrix.mean(axis=1)
    assert baselines is not None
    additive = np.where(baselines.known, matrix, baselines.additive).mean(axis=1)
    estimates = {"study": means.estimate, "mean": baselines.own_mean, "additive": additive}
    error = float(np.linalg.norm(matrix - approx.to_array()) / np.linalg.norm(matrix))
    scores = {name: _root_mean_square(x - truth) for name, x in estimates.items()}
    story = Story((n, m), tuple(steps), study.status(), error, means, means.best(1), truth, scores)
    return story, study


def _buy(study: Study, matrix: FloatArray, share: float, rng: np.random.Generator) -> int:
    """One list, answered: some questions stay without an answer, and some are answered again; how many of these."""
    todo = study.ask(math.floor(share * matrix.size * (1 - REPEATED)), whole=False, rng=int(rng.integers(2**31)))
    i, j = (todo.cells[side].str.rpartition(" ")[2].astype(int) for side in ("row", "column"))
    answers = todo.cells.assign(value=matrix[i, j])
    failed = rng.random(len(answers)) < FAILED
    study.tell(answers.assign(value=answers["value"].mask(failed)))
    again = answers[~failed].sample(int(REPEATED * len(answers)), random_state=int(rng.integers(2**31)))
    study.tell(again)
    return len(again)


def _baselines(seen: Observation) -> Baselines:
    """What the mean of each row's own answers and an additive model make of them."""
    (n, m), i, values = seen.shape, seen.i, seen.values
    counts, sums = np.bincount(i, minlength=n), np.bincount(i, values, n)
    own_mean = np.where(counts > 0, sums / np.maximum(counts, 1), values.mean())
    known = np.zeros((n, m), dtype=bool)
    known[i, seen.j] = True
    return Baselines(known, own_mean, Offsets().fit(Cells.of(seen)).to_array())


def _step(study: Study, matrix: FloatArray, baselines: Baselines, n_repeated: int) -> Step:
    status, seen = study.status(), study.observation()
    others = ~baselines.known
    return Step(
        spent=status.spent,
        n_values=seen.n_values_read,
        n_failed=status.n_failed,
        n_repeated=n_repeated,
        study=_root_mean_square((matrix - study.fit().to_array())[others]),
        mean=_root_mean_square((matrix - baselines.own_mean[:, None])[others]),
        additive=_root_mean_square((matrix - baselines.additive)[others]),
    )


def _root_mean_square(errors: FloatArray) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))
