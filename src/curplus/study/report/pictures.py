"""The pictures of a report, drawn by Matplotlib: SVG in which words stay words and colours are those of the page."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._support.extras import import_extra
from ..._typing import FloatArray, IndexVector, Shape
from ...exceptions import MissingExtraError
from ...plotting import plot_means, plot_merits, plot_predictions, plot_spectrum
from ...plotting.style import BLUE, GREY, ORANGE, PALE, PALETTE, RULE, finished
from ..storage import Round

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["COLOUR_OF_KIND", "pictures_of"]

WIDTH, LETTERS = 350, 11.5  # points; on a phone of 390 pixels a point is just under one of them
MOST_NAMES, MOST_MEANS = 12, 25
MOST_POINTS = 480  # of the map, along each side
SHADES = 16  # of a point that stands for many cells: more cannot be told apart, and make a large file
COLOUR_OF_KIND = (*(PALETTE[k] for k in (0, 2, 1, 4, 3)),)  # of cells: whole, single, failed, pending, bounds
UNSAID = ("Date", "Creator", "Format", "Type")  # what Matplotlib would say of each picture

INK, SOFT = "#22303c", "#eaf0f6"
#: What the page calls the colours of pictures: others in the dark than in the light.
THEME = {
    INK: "currentColor",
    RULE: "var(--rule)",
    SOFT: "var(--soft)",
    BLUE: "var(--blue)",
    ORANGE: "var(--orange)",
    PALE: "var(--pale)",
    GREY: "var(--grey)",
}
STYLE = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.sans-serif": ["DejaVu Sans"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "none"),
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK),
}


def pictures_of(facts: dict[str, Any]) -> dict[str, str]:
    """All pictures that the facts allow, by name; none without Matplotlib."""
    try:
        import_extra("matplotlib.figure", extra="plot", purpose="pictures need Matplotlib")
    except MissingExtraError:
        return {}
    return {name: _svg(draw, height, label) for name, height, label, draw in _drawings(facts)}


def _drawings(facts: dict[str, Any]) -> Iterator[tuple[str, float, str, Callable[..., Any]]]:
    """Name, height in points, what it shows in words, and what draws it."""
    shape, rounds, answer, means = facts["status"].shape, facts["money"]["rounds"], facts["answer"], facts["means"]
    n, m = shape
    places = list(facts["measured"]["places"].values())
    height = WIDTH * min(max(n / m, 0.25), 1.15)
    yield "map", height, f"Map of the {n} x {m} matrix: what was measured", partial(_draw_map, shape, places)
    if any(math.isfinite(r.relative) for r in rounds):
        of_rounds = partial(_draw_rounds, rounds, facts["status"].budget, facts["unit"])
        yield "rounds", 230, "Relative error by round, against what was spent", of_rounds
    if not answer["why_not"] and answer["spectrum"].lines:
        label = f"The {len(answer['spectrum'].lines)} singular values of the answer"
        yield "spectrum", 220, label, partial(plot_spectrum, answer["approximation"])
    for side in facts["picks"].get("sides", ()):
        height = 18 * min(MOST_NAMES, len(side["merits"].index)) + 110
        draw = partial(plot_merits, side["merits"], most=MOST_NAMES)
        yield side["what"], height, f"How much each {side['what']} explains", draw
    if not means["why_not"]:
        height = 17 * min(MOST_MEANS, len(means["means"])) + 100
        label = f"Means of {means['means'].what} with intervals, the best first"
        k, largest = means["n_best"], means["largest"]
        yield "means", height, label, partial(plot_means, means["means"], k=k, largest=largest, most=MOST_MEANS)
    if not facts["held_out"]["why_not"]:
        cells = facts["held_out"]["predicted"], facts["held_out"]["measured"]
        label = "Measured against predicted, at cells that the fit did not use"
        yield "held_out", 300, label, partial(plot_predictions, *cells)


def _draw_map(shape: Shape, places: Sequence[IndexVector], *, ax: Axes) -> None:
    """Where cells of each kind are; if a point stands for many, its colours are stronger than in proportion."""
    n, m = shape
    strength = np.rint(np.sqrt(shares_of(shape, places)) * SHADES) / SHADES
    total = strength.sum(axis=-1, keepdims=True)
    palette = np.array([[int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)] for colour in COLOUR_OF_KIND])
    palette = palette[: len(places)]
    pixels = np.concatenate([strength @ palette / np.maximum(total, 1 / SHADES), np.minimum(total, 1)], axis=-1)
    ax.imshow(pixels, interpolation="none", aspect="auto")
    ax.spines[:].set_visible(False)
    ax.set_facecolor(SOFT)
    ax.set(xlabel=f"{m:,} columns", ylabel=f"{n:,} rows", xticks=[], yticks=[])


def shares_of(shape: Shape, places: Sequence[IndexVector]) -> FloatArray:
    """Which share of the cells of each point of the map is of each kind, shape (height, width, kinds)."""
    n, m = shape
    height, width = min(n, MOST_POINTS), min(m, MOST_POINTS)
    sizes = np.outer(_sizes(n, height), _sizes(m, width))
    counts = [
        np.bincount((cells // m) * height // n * width + (cells % m) * width // m, minlength=height * width)
        for cells in places
    ]
    shares: FloatArray = np.stack([count.reshape(height, width) / sizes for count in counts], axis=-1)
    return shares


def _sizes(side: int, points: int) -> IndexVector:
    """How many rows, or columns, each point stands for: k belongs to the point ``k * points // side``."""
    return np.diff(-(-np.arange(points + 1) * side // points))


def _draw_rounds(rounds: Sequence[Round], budget: float | None, unit: str, *, ax: Axes) -> None:
    """Error against what was spent, with its intervals."""
    numbers = np.array([(r.spent, r.relative, r.low, r.high) for r in rounds if math.isfinite(r.relative)])
    spent, error, low, high = numbers.T
    given = np.isfinite(low)
    ax.plot(spent, error, color=PALE, lw=2, zorder=1)
    reach = np.abs(np.array([low, high]) - error)[:, given]
    ax.errorbar(spent[given], error[given], reach, fmt="o", color=BLUE, ms=5, capsize=4, label="95% interval")
    ax.plot(spent[~given], error[~given], "o", color=GREY, ms=5, label="no interval")
    if budget is not None:
        ax.axvline(budget, color=GREY, ls="--", lw=1, label="budget")
    ax.set(xlabel=f"spent ({unit})" if unit else "spent", ylabel="relative error", xlim=(0, None), ylim=(0, None))
    ax.locator_params(axis="x", nbins=5)
    ax.xaxis.set_major_formatter(lambda x, _: f"{x:,.10g}")
    ax.yaxis.set_major_formatter(lambda y, _: f"{100 * y:.4g} %")
    finished(ax)


def _svg(draw: Callable[..., Any], height: float, label: str) -> str:
    """A picture that stands in a page: nothing in it has a size of letters, a colour or a font of its own."""
    import matplotlib.style
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    written = io.StringIO()
    with matplotlib.style.context(["default", STYLE | {"svg.hashsalt": label}]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # browsers have letters that Matplotlib has not
        figure = Figure(figsize=(WIDTH / 72, height / 72), layout="constrained")
        ax = figure.add_subplot()
        draw(ax=ax)
        ax.set_title("")  # the caption says it
        if legend := ax.get_legend():
            legend.remove()
            figure.legend(*ax.get_legend_handles_labels(), loc="outside upper left", ncols=2, frameon=False)
        for words in figure.findobj(Text):
            words.set_fontsize(LETTERS)
        figure.savefig(written, format="svg", metadata=dict.fromkeys(UNSAID))
    svg = re.sub(r'(?<=<g) id="[^"]*"|<style.*?</style>', "", written.getvalue(), flags=re.DOTALL)
    for colour, name in THEME.items():
        svg = svg.replace(colour, name)
    return f'<svg role="img" aria-label="{escape(label)}" {svg[svg.index("<svg") + 5 :]}'
