r"""Figure 1: the smallest d and :math:`|\Omega|` that recover a matrix, against r ln r and r² ln r."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._support.extras import pyplot
from .experiment import Experiment
from .tables import Rows, unique, where

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["AXES", "EXPERIMENT", "Curve", "fit"]

AXES: dict[str, Callable[[int], float]] = {
    r"$r \ln r$": lambda r: r * math.log(r),
    r"$r^2 \ln r$": lambda r: r * r * math.log(r),
}
SAMPLES = {"d": "smallest d", "entries": r"smallest $|\Omega|$"}
SOLVER_STYLES = {"exact": ("exact solver", "#0072b2", "-"), "gradient": ("gradient, stopped", "#e69f00", "--")}


class Curve(NamedTuple):
    """A straight line through points, and the share of their variance that it explains."""

    slope: float
    intercept: float
    r_squared: float


def table(results: dict[str, Rows]) -> Rows:
    """The smallest numbers for each solver, size and rank."""
    return where(results["recovery"], sample=tuple(SAMPLES))


def fit(x: list[float], y: list[float]) -> Curve:
    """The least-squares line."""
    slope, intercept = np.polyfit(x, y, 1)
    rest = np.asarray(y) - (slope * np.asarray(x) + intercept)
    spread = float(np.sum((np.asarray(y) - np.mean(y)) ** 2))
    return Curve(float(slope), float(intercept), 1 - float(np.sum(rest**2)) / spread if spread else 1.0)


def plot(table: Rows) -> Figure:
    """Four panels, as in the paper: d and the number of entries, each against r ln r and r² ln r."""
    figure: Figure
    figure, axes = pyplot().subplots(2, 2, figsize=(9.5, 7.2), layout="constrained")
    for row, (sample, name) in zip(axes, SAMPLES.items(), strict=True):
        for ax, (label, scale) in zip(row, AXES.items(), strict=True):
            for solver in SOLVER_STYLES:
                _points(ax, where(table, sample=sample, solver=solver), scale, solver)
            ax.set(xlabel=label, ylabel=name)
            ax.legend(fontsize=8)
            ax.grid(alpha=0.3)
    for ax, letter in zip(axes.flat, "abcd", strict=True):
        ax.set_title(f"({letter})", loc="left", fontsize=10)
    return figure


def _points(ax: Any, rows: Rows, scale: Callable[[int], float], solver: str) -> None:
    name, colour, style = SOLVER_STYLES[solver]
    sizes = sorted(unique(rows, "n"))
    found = [row for row in rows if row["smallest"] > 0]
    if not found:
        return
    x, y = [scale(row["rank"]) for row in found], [float(row["smallest"]) for row in found]
    areas = [12 + 40 * sizes.index(row["n"]) / max(len(sizes) - 1, 1) for row in found]
    ax.scatter(x, y, s=areas, facecolors="none", edgecolors=colour, lw=1)
    line = fit(x, y)
    ends = np.array([min(x), max(x)])
    label = f"{name}: slope {line.slope:.3g}, R² = {line.r_squared:.4f}"
    if len(found) < len(rows):
        label += f" ({len(rows) - len(found)} never recovered)"
    ax.plot(ends, line.slope * ends + line.intercept, style, color=colour, lw=1.3, label=label)


EXPERIMENT = Experiment("figure1", "smallest samples that recover a matrix of exact rank", ("recovery",), table, plot)
