"""``curplus demo``: a study that buys a tenth of some answers, all of which are known here: every claim is checked."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from .. import datasets
from .._typing import FloatArray
from ..acquisition import acquire
from ..evaluation import Best, MeanEstimates, decide
from ..exceptions import InvalidArgumentError
from ..factorization import Fact
from ..methods.approximate import Offsets
from ..observation import Cells, Observation
from ..study import Study
from . import show
from .options import Json, Seed, out_option, verb

__all__ = ["demo"]

N_ROUNDS = 3
FAILED = 0.05  # of what is asked for: nobody answers
REPEATED = 0.01  # of a list: asked for a second time by mistake
EXPLAINED = (
    "After each round: what was spent, failed (paid for without an answer), repeated in the round (bought again by "
    "mistake), and the error at answers that were not bought (root mean square) of three ways to use the same answers: "
    "the study, the mean of each model, and an additive model of models and questions."
)


def _check_share(share: float) -> float:
    if not 0.01 <= share <= 0.9:
        raise InvalidArgumentError(f"--share={share:g} is not between 0.01 and 0.9. Give for example 0.1, a tenth.")
    return share


Share = Annotated[float, typer.Option(callback=_check_share, help="Which share of the answers is bought.")]


@verb
def demo(
    share: Share = 0.1,
    seed: Seed = 0,
    out: Annotated[Path, out_option("the report", (".html",))] = Path("curplus-report.html"),
    json: Json = False,
) -> list[Fact]:
    """Buy a tenth of the answers of 448 language models in three rounds, and compare with the truth."""
    data: Any = datasets.load("llm_answers")
    (n, m), truth = data.matrix.shape, data.matrix.mean(axis=1)
    models, questions = [f"model {k}" for k in range(n)], [f"question {k}" for k in range(m)]
    if not json:
        show.words(f"{data.card.title}: {n} {data.card.rows}, {m} {data.card.columns}, right or wrong.")
        show.words(f"What if you could afford {share:.0%} of them? A study asks for them in {N_ROUNDS} rounds.")
    with (
        tempfile.TemporaryDirectory() as folder,
        Study.create(f"{folder}/answers.study", rows=models, columns=questions, budget=share) as study,
    ):
        with show.working("buying answers in three rounds"):
            rng = np.random.default_rng(seed)
            rounds = [_round(study, data.matrix, share / N_ROUNDS, rng) for _ in range(N_ROUNDS)]
            means = study.means(min_value=0.0, max_value=1.0)
        with show.working("writing the report"):
            study.report(out)
        facts = [*study.status().facts, *_checked(study, data.matrix, means)]
    with show.working("looking for the best model"):
        facts.append(_best_alone(data.matrix, share, seed))
    best = means.to_frame().assign(model=range(n), truth=truth).iloc[means.best(1)]
    listed = best[["model", "estimate", "low", "high", "truth"]].to_dict("records")
    about = [] if json else [Fact("explained", EXPLAINED, "rounds")]
    return [*facts, *about, Fact("out", str(out), "report in"), Fact("rounds", rounds), Fact("may_be_best", listed)]


def _round(study: Study, matrix: FloatArray, share: float, rng: np.random.Generator) -> dict[str, float]:
    """Buy one list; what that cost, and how far three ways are from answers that were not bought."""
    todo = study.ask(math.floor(share * matrix.size * (1 - REPEATED)), whole=False, rng=int(rng.integers(2**31)))
    i, j = (todo.cells[side].str.rpartition(" ")[2].astype(int) for side in ("row", "column"))
    answers, failed = todo.cells.assign(value=matrix[i, j]), rng.random(len(todo)) < FAILED
    study.tell(answers.assign(value=answers["value"].mask(failed)))
    some = answers[~failed].sample(int(REPEATED * len(answers)), random_state=int(rng.integers(2**31)))
    again = study.tell(some.drop(columns="list"))
    study.certify()
    status, seen = study.status(), study.observation()
    others = np.ones(matrix.shape, dtype=bool)
    others[seen.i, seen.j] = False
    errors = {way: _root_mean_square((matrix - found)[others]) for way, found in _predictions(study, seen).items()}
    return {"spent": status.spent, "n_failed": status.n_failed, "n_repeated": again.n_values, **errors}


def _predictions(study: Study, seen: Observation) -> dict[str, FloatArray]:
    """All answers, as three ways predict them."""
    counts, sums = (np.bincount(seen.i, x, seen.shape[0]) for x in (None, seen.values))
    own_mean = np.where(counts > 0, sums / np.maximum(counts, 1), seen.values.mean())
    ways = study.fit().to_array(), own_mean[:, None], Offsets().fit(Cells.of(seen)).to_array()
    return dict(zip(("study", "mean", "additive"), ways, strict=True))


def _checked(study: Study, matrix: FloatArray, means: MeanEstimates) -> list[Fact]:
    """What is true of the answer."""
    truth = matrix.mean(axis=1)
    scores = {way: found.mean(axis=1) for way, found in _predictions(study, study.observation()).items()}
    scores["study"] = means.estimate
    error = float(np.linalg.norm(matrix - study.fit().to_array()) / np.linalg.norm(matrix))
    best = int(np.argmax(truth))
    place = "among" if best in means.best(1) else "not among"
    return [
        Fact("true_relative_error", error, unit="of the matrix"),
        Fact("score_errors", {way: _root_mean_square(x - truth) for way, x in scores.items()}, "error of a score"),
        Fact("coverage", float(np.mean((means.low <= truth) & (truth <= means.high))), "intervals that hold the truth"),
        Fact("true_best", best, "truly best model", reason=f"{place} the {len(means.best(1))} that may be the best"),
    ]


def _best_alone(matrix: FloatArray, share: float, seed: int) -> Fact:
    """What the same money decides if all that matters is which model is best."""
    seen = acquire(matrix, goal=Best(1), budget=share, rng=seed)
    decision = decide(seen, Best(1))
    names = ", ".join(f"model {k}" for k in decision.possible) if decision.is_decided else "not decided"
    return Fact(
        "best_alone", names, "if only the best is wanted", reason=f"{seen.n_values_read / matrix.size:.0%} bought"
    )


def _root_mean_square(errors: FloatArray) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))
