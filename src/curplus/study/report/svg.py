"""Pictures as SVG text: marks, scales and axes. A picture is 360 units wide, as wide as a phone; text stays text."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape
from typing import Any, NamedTuple

import numpy as np

from ..._typing import FloatArray

__all__ = [
    "BLUE",
    "GREY",
    "INK",
    "LIGHT",
    "PALE",
    "RED",
    "WIDTH",
    "Frame",
    "Scale",
    "circle",
    "line",
    "linear",
    "logarithmic",
    "picture",
    "rectangle",
    "shortened",
    "text",
    "tick_text",
]

WIDTH = 360
BLUE, LIGHT, PALE = "#1f5a96", "#9cc3e6", "#dfe9f3"
INK, GREY, RED = "#22303c", "#66737f", "#c0392b"
RULE = "#d5dbe1"


def text(x: float, y: float, words: Any, *, anchor: str = "start", size: int = 11, fill: str = INK) -> str:
    """Words; ``y`` is their base line."""
    where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{fill}"'
    return f"<text {where}>{escape(str(words))}</text>"


def line(x1: float, y1: float, x2: float, y2: float, *, stroke: str = RULE, width: float = 1, dash: str = "") -> str:
    """A straight line."""
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    where = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {where} stroke="{stroke}" stroke-width="{width:g}"{dashed}/>'


def rectangle(x: float, y: float, width: float, height: float, *, fill: str) -> str:
    """A filled rectangle."""
    where = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}"'
    return f'<rect {where} fill="{fill}"/>'


def circle(x: float, y: float, radius: float, *, fill: str, opacity: float = 1) -> str:
    """A filled circle."""
    faint = f' fill-opacity="{opacity:g}"' if opacity < 1 else ""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{fill}"{faint}/>'


def picture(height: float, parts: Iterable[str], *, label: str) -> str:
    """A whole picture; ``label`` says what it shows, for those who cannot see it."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" role="img"'
    return f'{head} aria-label="{escape(label)}" font-family="system-ui, sans-serif">{"".join(parts)}</svg>'


def shortened(words: Any, most: int) -> str:
    """A name that fits beside a mark."""
    whole = str(words)
    return whole if len(whole) <= most else whole[: most - 1].rstrip() + "…"


def tick_text(x: float) -> str:
    """A number beside an axis."""
    if x and not 1e-4 <= abs(x) < 1e7:
        return f"{x:.0e}".replace("e+0", "e").replace("e-0", "e-")
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.6g}"


class Scale(NamedTuple):
    """From numbers to places in a picture."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def __call__(self, x: Any) -> Any:
        low, high, at = (np.log10(v) if self.is_log else v for v in (self.low, self.high, np.asarray(x, dtype=float)))
        return self.start + (at - low) / (high - low) * (self.end - self.start)

    @property
    def ticks(self) -> FloatArray:
        """Round numbers on the scale."""
        if self.is_log and self.high / self.low >= 10:
            powers = np.arange(math.ceil(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
            return 10.0 ** powers[:: 1 + len(powers) // 6]
        step = _round_step((self.high - self.low) / 5)
        count = np.arange(math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) + 1)
        found: FloatArray = count * step
        return found[found > 0] if self.is_log else found


def linear(values: Any, start: float, end: float, *, from_zero: bool = False) -> Scale:
    """A scale on which all of some finite values fit, with a little room."""
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    low = min(low, 0.0) if from_zero else low
    room = 0.05 * (high - low) or 0.5 * abs(high) or 0.5
    return Scale(low if from_zero and low == 0 else low - room, high + room, start, end)


def logarithmic(values: Any, start: float, end: float) -> Scale:
    """The same for positive values that differ by powers of ten."""
    known = np.asarray(values, dtype=float)
    return Scale(float(known.min()) / 1.3, float(known.max()) * 1.3, start, end, is_log=True)


def _round_step(about: float) -> float:
    power = 10.0 ** math.floor(math.log10(about))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= about * (1 - 1e-9)))


class Frame(NamedTuple):
    """Two scales with their axes: ``x`` at the bottom, ``y`` at the left."""

    x: Scale
    y: Scale

    def axes(self, x_label: str, y_label: str, *, percent: bool = False, whole: bool = False) -> list[str]:
        """Rules, numbers and what they are; numbers at the left may be shares, those at the bottom whole ones only."""
        left, right, bottom, top = self.x.start, self.x.end, self.y.start, self.y.end
        parts = [text(2, top - 10, y_label, fill=GREY), text(right, bottom + 32, x_label, anchor="end", fill=GREY)]
        for value in self.y.ticks:
            at = float(self.y(value))
            shown = f"{100 * value:.4g} %" if percent else tick_text(float(value))
            parts += [line(left, at, right, at), text(left - 6, at + 4, shown, anchor="end", fill=GREY)]
        for value in self.x.ticks[self.x.ticks == np.rint(self.x.ticks)] if whole else self.x.ticks:
            at = float(self.x(value))
            parts += [
                line(at, bottom, at, bottom + 4),
                text(at, bottom + 16, tick_text(float(value)), anchor="middle", fill=GREY),
            ]
        return [*parts, line(left, bottom, right, bottom, stroke=GREY)]
