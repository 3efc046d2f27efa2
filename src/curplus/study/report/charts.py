"""The pictures of a report: each a function from facts to SVG text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..._typing import FloatArray
from ...factorization.importance import Merits
from ..storage import Round
from .answer import HeldOut, Means
from .measured import KINDS, Map
from .png import png_address
from .svg import (
    BLUE,
    GREY,
    LIGHT,
    PALE,
    RED,
    WIDTH,
    Frame,
    Scale,
    circle,
    line,
    linear,
    logarithmic,
    picture,
    rectangle,
    shortened,
    text,
)
from .tables import amount

__all__ = [
    "budget_bar",
    "error_by_round",
    "held_out_cells",
    "matrix_map",
    "means_in_order",
    "order_of_merit",
    "spectrum",
]

NOTHING = (238, 241, 244)
COLOURS = ((31, 90, 150), (42, 157, 143), (192, 57, 43), (242, 177, 52))  # for each of KINDS
MOST_NAMES = 12
MOST_MEANS = 25
MOST_POINTS = 1200


def matrix_map(found: Map, shape: tuple[int, int]) -> str:
    """What was measured, and where. Where a point stands for many cells, colours are stronger than in proportion."""
    n, m = shape
    strength = np.sqrt(found.shares)
    rest = np.clip(1 - strength.sum(axis=-1, keepdims=True), 0, 1)
    weights = np.concatenate([strength, rest], axis=-1)
    pixels = weights @ np.asarray([*COLOURS, NOTHING], dtype=float) / weights.sum(axis=-1, keepdims=True)
    left, top, width = 18.0, 20.0, WIDTH - 20.0
    height = min(max(width * n / m, 90.0), 1.15 * width)
    address = png_address(np.rint(pixels).astype(np.uint8))
    image = (
        f'<image x="{left}" y="{top}" width="{width}" height="{height:.1f}" preserveAspectRatio="none" '
        f'style="image-rendering: pixelated" href="{address}"/>'
    )
    middle = f"{top + height / 2:.1f}"
    words = [
        text(left, top - 7, f"{m:,} columns →", fill=GREY),
        f'<text transform="rotate(-90 11 {middle})" x="11" y="{middle}" text-anchor="middle" font-size="11" '
        f'fill="{GREY}">← {n:,} rows</text>',
    ]
    return picture(top + height + 4, [image, *words], label=f"Map of the {n} x {m} matrix: what was measured")


def budget_bar(spent: float, out: float, budget: float) -> str:
    """How much of the budget is spent, out, and left."""
    whole = max(budget, spent + out) or 1.0
    parts, x = [rectangle(0, 4, WIDTH, 16, fill=PALE)], 0.0
    for value, fill in ((spent, BLUE), (out, "#f2b134")):
        parts.append(rectangle(x, 4, WIDTH * value / whole, 16, fill=fill))
        x += WIDTH * value / whole
    label = f"{amount(spent)} spent, {amount(out)} out, of {amount(budget)}"
    return picture(24, parts, label=label)


def error_by_round(rounds: Sequence[Round], budget: float | None, unit: str) -> str:
    """Error against what was spent, with its intervals."""
    known = [r for r in rounds if math.isfinite(r.relative)]
    ends = [x for r in known for x in (r.relative, r.low, r.high)]
    most = [*(r.spent for r in known), *([] if budget is None else [budget])]
    frame = Frame(linear(most, 52, WIDTH - 24, from_zero=True), linear(ends, 180, 28, from_zero=True))
    parts = frame.axes(f"spent ({unit})" if unit else "spent", "relative error", percent=True)
    if budget is not None:
        at = float(frame.x(budget))
        parts += [line(at, 180, at, 28, stroke=GREY, dash="3 3"), text(at - 4, 172, "budget", anchor="end", fill=GREY)]
    places = [(float(frame.x(r.spent)), float(frame.y(r.relative))) for r in known]
    for (x1, y1), (x2, y2) in pairwise(places):
        parts.append(line(x1, y1, x2, y2, stroke=LIGHT, width=2))
    for r, (x, y) in zip(known, places, strict=True):
        if math.isfinite(r.low):
            low, high = float(frame.y(r.low)), float(frame.y(r.high))
            parts += [line(x, low, x, high, stroke=BLUE, width=2)]
            parts += [line(x - 4, end, x + 4, end, stroke=BLUE, width=2) for end in (low, high)]
        parts.append(circle(x, y, 4, fill=BLUE if math.isfinite(r.low) else GREY))
    return picture(218, parts, label="Relative error by round, against what was spent")


def spectrum(values: FloatArray) -> str:
    """Singular values, on a logarithmic scale."""
    places = np.arange(1, len(values) + 1)
    frame = Frame(Scale(0.4, len(values) + 0.6, 52, WIDTH - 24), logarithmic(values, 180, 28))
    parts = frame.axes("number of the direction", "singular value", whole=True)
    for k, s in zip(places, values, strict=True):
        x, y = float(frame.x(k)), float(frame.y(s))
        parts += [line(x, 180, x, y, stroke=LIGHT, width=min(14, 200 / len(values))), circle(x, y, 3, fill=BLUE)]
    return picture(218, parts, label=f"The {len(values)} singular values of the answer")


def order_of_merit(picks: Merits, what: str) -> str:
    """The first of the order of merit: what each adds, on top of what those before it explain."""
    left, right, step = 122.0, WIDTH - 54.0, 20.0
    parts = []
    shown = list(zip(picks.names, picks.gain, picks.explained, strict=True))[:MOST_NAMES]
    for k, (name, gain, explained) in enumerate(shown):
        y, before = 24 + k * step, explained - gain
        parts += [
            text(left - 6, y + 11, shortened(name, 18), anchor="end"),
            rectangle(left, y, right - left, 14, fill="#f1f4f7"),
            rectangle(left, y, (right - left) * min(before, 1), 14, fill=LIGHT),
            rectangle(left + (right - left) * before, y, max((right - left) * gain, 1), 14, fill=BLUE),
            text(right + 5, y + 11, f"{100 * explained:.1f} %", fill=GREY),
        ]
    head = text(left, 14, f"explained by these {what}s so far", fill=GREY)
    return picture(28 + len(shown) * step, [head, *parts], label=f"How much each {what} explains")


def means_in_order(means: Means) -> str:
    """The best means with their intervals; those that may be best are dark."""
    left, right, step = 122.0, WIDTH - 12.0, 17.0
    count = min(MOST_MEANS, len(means.names))
    ends = np.concatenate([means.mean[:count], means.low[:count], means.high[:count]])
    bottom = 26 + count * step
    frame = Frame(linear(ends, left, right), linear([0, 1], bottom, 22))
    parts = []
    for value in frame.x.ticks:
        x = float(frame.x(value))
        parts += [line(x, 22, x, bottom), text(x, 14, f"{value:.4g}", anchor="middle", fill=GREY)]
    for k in range(count):
        y, x = 26 + (k + 0.5) * step, float(frame.x(means.mean[k]))
        colour = BLUE if means.may_be_best[k] and not means.reason else GREY
        parts.append(text(left - 8, y + 4, shortened(means.names[k], 18), anchor="end"))
        if math.isfinite(means.low[k]):
            low, high = float(frame.x(means.low[k])), float(frame.x(means.high[k]))
            parts.append(line(low, y, high, y, stroke=colour, width=2))
        parts.append(circle(x, y, 3.5, fill=colour))
    return picture(bottom + 6, parts, label=f"Means of {means.what}s with intervals, the best first")


def held_out_cells(cells: HeldOut) -> str:
    """What was measured against what was predicted, and means of ten groups."""
    predicted, measured = cells
    both = np.concatenate(cells)
    few = cells.is_coarse
    frame = Frame(linear(predicted if few else both, 52, WIDTH - 24), linear(both, 250, 28))
    parts = frame.axes("predicted", "measured")
    ends = max(frame.x.low, frame.y.low), min(frame.x.high, frame.y.high)
    if ends[0] < ends[1]:
        (x1, x2), (y1, y2) = frame.x(ends), frame.y(ends)
        parts.append(line(x1, y1, x2, y2, stroke=GREY, dash="4 3"))
    rng = np.random.default_rng(0)
    some = rng.permutation(len(measured))[:MOST_POINTS]
    moved = rng.uniform(-7, 7, len(some)) if few else np.zeros(len(some))
    at = zip(frame.x(predicted[some]), frame.y(measured[some]) + moved, strict=True)
    parts += [circle(x, y, 2.2, fill=BLUE, opacity=0.3) for x, y in at]
    if cells.has_groups:
        order = np.argsort(predicted, kind="stable")
        groups = [(float(predicted[g].mean()), float(measured[g].mean())) for g in np.array_split(order, 10)]
        parts += [circle(float(frame.x(x)), float(frame.y(y)), 4.5, fill=RED) for x, y in groups]
    return picture(288, parts, label="Measured against predicted, at cells that the fit did not use")


def legend() -> list[tuple[str, str]]:
    """Each kind of cell with its colour on the map."""
    return [(kind, "#{:02x}{:02x}{:02x}".format(*colour)) for kind, colour in zip(KINDS, COLOURS, strict=True)]


def charts_of(facts: dict[str, Any]) -> dict[str, Any]:
    """All pictures that the facts allow."""
    status = facts["status"]
    made: dict[str, Any] = {}
    made["map"] = matrix_map(facts["measured"]["map"], status.shape)
    if status.budget is not None:
        made["budget"] = budget_bar(status.spent, facts["money"]["out"], status.budget)
    if any(math.isfinite(r.relative) for r in facts["money"]["rounds"]):
        made["rounds"] = error_by_round(facts["money"]["rounds"], status.budget, facts["unit"])
    if not facts["answer"]["why_not"] and len(facts["answer"]["spectrum"]):
        made["spectrum"] = spectrum(facts["answer"]["spectrum"])
    if not facts["picks"]["why_not"]:
        made["picks"] = [order_of_merit(side["merits"], side["what"]) for side in facts["picks"]["sides"]]
    if not facts["means"]["why_not"]:
        made["means"] = means_in_order(facts["means"]["means"])
    if not facts["held_out"]["why_not"]:
        made["held_out"] = held_out_cells(facts["held_out"]["cells"])
    return made
