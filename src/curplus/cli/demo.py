"""``curplus demo``: a study that buys a tenth of some answers, all of which are known here."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from .. import datasets
from .._extras import pyplot
from ..exceptions import InvalidArgumentError
from ..factorization import Fact
from . import show
from .options import Json, Seed, check_ending, check_writable
from .story import Story, tell_story
from .study_options import status_facts

__all__ = ["demo"]

DATA = "llm_answers"
PICTURES = (".png", ".pdf", ".svg", ".jpg")
MOST_SHOWN = 10  # models
WAYS = {"study": "study", "mean": "mean of model", "additive": "additive"}
COLOURS = {"study": "#d55e00", "mean": "0.5", "additive": "#0072b2"}


def _check_share(share: float) -> float:
    if not 0.01 <= share <= 0.9:
        raise InvalidArgumentError(f"--share={share:g} is not between 0.01 and 0.9. Give for example 0.1, a tenth.")
    return share


def _check_picture(path: Path) -> Path:
    check_ending(path, PICTURES)
    return path


def _check_page(path: Path) -> Path:
    check_writable(path)
    return path


def demo(
    share: Annotated[float, typer.Option(callback=_check_share, help="Which share of the answers is bought.")] = 0.1,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(callback=_check_picture, help="Where to put the picture.")] = Path(
        "curplus-demo.png"
    ),
    report: Annotated[Path, typer.Option(callback=_check_page, help="Where to put the report.")] = Path(
        "curplus-report.html"
    ),
    json: Json = False,
) -> None:
    """Buy a tenth of the answers of 448 language models in three rounds, and compare with the truth."""
    data: Any = datasets.load(DATA)
    with tempfile.TemporaryDirectory() as folder:
        with show.working("buying answers in three rounds"):
            story, study = tell_story(data.matrix, share, Path(folder), seed=seed)
        with study, show.working("writing the report"):
            study.report(report)
    _draw(story).savefig(out, dpi=120)
    made = [Fact("report", str(report), "report in"), Fact("out", str(out), "picture in")]
    if json:
        show.result([*_facts(story), *made], as_json=True)
        return
    _print(story, data.card)
    for fact in made:
        show.line(f"{fact.title} {fact.value}")


def _facts(story: Story) -> list[Fact]:
    best = [{**line, "model": int(k)} for k, line in zip(story.best, _lines(story, story.best), strict=True)]
    return [
        *status_facts(story.status),
        Fact("true_relative_error", story.relative_error),
        Fact("rounds", [step._asdict() for step in story.steps]),
        Fact("score_errors", story.score_errors),
        Fact("coverage", _coverage(story)),
        Fact("may_be_best", best),
        Fact("true_best", int(np.argmax(story.truth))),
    ]


def _lines(story: Story, which: Any) -> list[dict[str, float]]:
    means = story.means
    return [
        {"estimate": means.estimate[k], "low": means.low[k], "high": means.high[k], "truth": story.truth[k]}
        for k in which
    ]


def _coverage(story: Story) -> float:
    """Share of the intervals that hold the true score."""
    return float(np.mean((story.means.low <= story.truth) & (story.truth <= story.means.high)))


def _print(story: Story, card: Any) -> None:
    n, m = story.shape
    bought = story.steps[-1].spent / (n * m)
    show.words(f"{card.title}: {n} {card.rows}, {m} {card.columns}, {n * m:,} answers, right or wrong.")
    show.words(f"What if you could afford {bought:.0%} of them? A study asks for them in {len(story.steps)} rounds.")
    rows = [
        [str(k), f"{s.spent:,.0f}", f"{s.spent / (n * m):.1%}", f"{s.n_failed:,}", f"{s.n_repeated:,}"]
        + [f"{getattr(s, way):.4f}" for way in WAYS]
        for k, s in enumerate(story.steps, start=1)
    ]
    headings = ["round", "spent", "share", "failed", "twice", *WAYS.values()]
    show.table(headings, rows, title="error at answers that were not bought (root mean square)")
    show.words(
        "Failed so far: paid for without an answer. Twice: bought again by mistake. The other two ways have the same "
        "answers: the mean of each model, and an additive model of models and questions."
    )
    show.words(f"The study says: {story.status.sentence}. The true error is {story.relative_error:.1%}.")
    scores = ", ".join(f"{WAYS[way]} {error:.4f}" for way, error in story.score_errors.items())
    show.words(f"Error of a model's score (root mean square): {scores}.")
    _print_best(story)


def _print_best(story: Story) -> None:
    shown, true_best = story.best[:MOST_SHOWN], int(np.argmax(story.truth))
    ranks = 1 + np.argsort(np.argsort(-story.truth, kind="stable"))
    rows = [
        [f"model {k}", f"{x['estimate']:.3f}", f"{x['low']:.3f} to {x['high']:.3f}", f"{x['truth']:.3f}", str(ranks[k])]
        for k, x in zip(shown, _lines(story, shown), strict=True)
    ]
    title = f"the first {len(shown)} of {len(story.best)} models that may be the best"
    show.table(["model", "score", "95% interval", "true score", "true rank"], rows, title=title)
    word = "is" if true_best in story.best else "is not"
    show.words(
        f"The truly best, model {true_best}, {word} among the {len(story.best)} that may be the best, of "
        f"{len(story.truth)}. {_coverage(story):.1%} of the intervals hold the true score."
    )


def _draw(story: Story) -> Any:
    """Errors by round, and scores with their intervals beside the truth."""
    from ..plotting import plot_means

    figure, (left, right) = pyplot().subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
    shares = [step.spent / (story.shape[0] * story.shape[1]) for step in story.steps]
    for way, label in WAYS.items():
        left.plot(shares, [getattr(s, way) for s in story.steps], "o-", color=COLOURS[way], label=label)
    left.set_xticks(shares, [f"{share:.1%}" for share in shares])
    left.set(
        xlabel="share of the answers that was bought",
        ylabel="root mean square",
        title="error at answers that were not bought",
    )
    left.legend(fontsize=8, frameon=False)
    left.grid(alpha=0.3)
    plot_means(story.means, most=20, ax=right)
    shown = np.argsort(-story.means.estimate, kind="stable")[:20]
    right.plot(story.truth[shown], np.arange(len(shown)), "kx", ms=5, label="truth")
    right.legend(fontsize=8, framealpha=1, loc="lower right")
    right.set_xlabel("share of right answers of each model")
    return figure
