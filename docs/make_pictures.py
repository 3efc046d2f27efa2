"""Draw the pictures of the index, the guide and the README: ``python docs/make_pictures.py``.

Every number in them is computed here. The pictures are committed, so that the README shows them without a build.
"""

import csv
import sys
from math import ceil, log10
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics.pairwise import rbf_kernel

import curplus
from curplus.plotting import plot_importance, plot_means, plot_observation

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
from kernels import FAR, clusters

FOLDER = Path(__file__).parent / "_static"
RANK, N_COLUMNS, N_ROWS, N_ENTRIES, SEED = 6, 8, 8, 150, 9
COLOURS = "viridis"
UNSEEN = "#f2f2f2"
WAYS = {
    "additive": ("0.5", "uniform entries, additive model"),
    "uniform": ("#0072b2", "uniform entries, approximate"),
    "acquire": ("#d55e00", "acquire, approximate"),
}


def three_waves(n, m):
    """Three plane waves in different directions: each is a matrix of rank 2, so their sum has rank 6."""
    y, x = np.mgrid[0 : 1 : n * 1j, 0 : 1 : m * 1j]
    waves = ((1.0, 2.1, 3.3, 0.0), (0.8, -4.2, 1.6, 1.0), (0.7, 1.2, -5.7, 2.2))
    return sum(height * np.cos(2 * np.pi * (a * y + b * x) + phase) for height, a, b, phase in waves)


def share_read(seen):
    """The part of the matrix that was read, each position counted once."""
    return seen.n_values_read / (seen.shape[0] * seen.shape[1])


def power_above(x):
    """The power of ten just above ``x``, as text."""
    return f"$10^{{{ceil(log10(x))}}}$"


def frame(ax):
    ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
    for spine in ax.spines.values():
        spine.set(color="0.6", linewidth=0.8)


def draw_seen(ax, seen, options):
    """What was read, with the single entries large enough to be noticed."""
    ax.set_facecolor(UNSEEN)
    plot_observation(seen, ax=ax, **options)
    ax.scatter(seen.j + 0.5, seen.i + 0.5, s=7, c=seen.values, linewidths=0, **options)
    ax.set(xlim=(0, seen.shape[1]), ylim=(seen.shape[0], 0))


def draw_idea(M, seen, approx, options):
    """The matrix, what was read of it, and the approximation."""
    n, m = M.shape
    error = np.linalg.norm(M - approx.to_array()) / np.linalg.norm(M)
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.35), layout="constrained")
    axes[0].imshow(M, aspect="auto", **options)
    draw_seen(axes[1], seen, options)
    axes[2].imshow(approx.to_array(), aspect="auto", **options)
    captions = (
        ("The matrix", f"{n} × {m}, rank {RANK}"),
        ("What was read", f"{N_COLUMNS} columns, {N_ROWS} rows, {N_ENTRIES} entries: {share_read(seen):.1%}"),
        ("The approximation", f"relative error below {power_above(error)}"),
    )
    for ax, (title, caption) in zip(axes, captions, strict=True):
        frame(ax)
        ax.set_title(title, fontsize=13, fontweight="bold")
        ax.set_xlabel(caption, fontsize=11, labelpad=7)
    return figure


def draw_steps(M, seen, approx, options):
    """Columns give the left basis, rows the right one, entries the core; their product is the approximation."""
    n, m = M.shape
    figure = plt.figure(figsize=(10.5, 6.2))
    nothing = {"columns": None, "column_index": [], "rows": None, "row_index": [], "i": [], "j": [], "values": None}
    samples = (
        ("1  Whole columns", f"{N_COLUMNS} of {m}", ("columns", "column_index")),
        ("2  Whole rows", f"{N_ROWS} of {n}", ("rows", "row_index")),
        ("3  Single entries", f"{N_ENTRIES} of {n * m:,}", ("i", "j", "values")),
    )
    for k, (title, caption, names) in enumerate(samples):
        ax = figure.add_axes((0.02 + 0.33 * k, 0.595, 0.30, 0.355))
        fields = nothing | {name: getattr(seen, name) for name in names}
        draw_seen(ax, curplus.Observation(shape=seen.shape, **fields), options)
        frame(ax)
        ax.set_title(title, fontsize=13, fontweight="bold")
        ax.set_xlabel(caption, fontsize=11)
    height, width, thin = 0.355, 0.30, 0.055
    bottom, middle = 0.08, 0.08 + height / 2
    thick = thin * figure.get_figwidth() / figure.get_figheight()
    left, right = approx.left.vectors, approx.right.vectors
    factors = (
        (left, (0.06, bottom, thin, height), "$\\hat U$", f"{n} × {RANK}\nfrom the columns"),
        (approx.core.Z, (0.185, middle - thick / 2, thin, thick), "$Z$", f"{RANK} × {RANK}\nfitted to the\nentries"),
        (right.T, (0.305, middle - thick / 2, width, thick), "$\\hat V^\\top$", f"{RANK} × {m}\nfrom the rows"),
        (approx.to_array(), (0.68, bottom, width, height), "$\\hat M$", f"{n} × {m}"),
    )
    for factor, place, letter, caption in factors:
        ax = figure.add_axes(place)
        scale = np.abs(factor).max()
        ax.imshow(factor, aspect="auto", interpolation="none", cmap=COLOURS, vmin=-scale, vmax=scale)
        frame(ax)
        ax.set_title(letter, fontsize=15)
        ax.set_xlabel(caption, fontsize=11)
    for x, sign in ((0.150, "·"), (0.272, "·"), (0.642, "=")):
        figure.text(x, middle, sign, fontsize=24, ha="center", va="center")
    return figure


def draw_importance():
    """The order of merit of the guide's page on the C U R form."""
    cells = load_breast_cancer(as_frame=True).data
    cells = (cells - cells.mean()) / cells.std()
    seen = curplus.acquire(cells, n_columns=10, n_rows=100, n_entries=0, rng=0)
    return plot_importance(curplus.approximate(seen, rank=5, form="cur").importance())


def draw_means():
    """Which of forty made-up models may be among the three best: the example of the guide."""
    rng = np.random.default_rng(0)
    skill, hardness = 3 * rng.standard_normal((40, 1)), 4 * rng.standard_normal((1, 1000))
    style = 0.5 * rng.standard_normal((40, 2)) @ rng.standard_normal((2, 1000))
    answers = (rng.random((40, 1000)) < 1 / (1 + np.exp(hardness - skill - style))).astype(float)
    seen = curplus.observe(answers, n_columns=0, n_rows=0, n_entries=4000, rng=0)
    return plot_means(curplus.estimate_means(curplus.approximate(seen), seen), k=3).figure


def draw_missing():
    """Filled against true values, for gaps at random and for gaps where values are large."""
    rng = np.random.default_rng(0)
    truth = rng.standard_normal((300, 2)) @ rng.standard_normal((2, 40)) + rng.standard_normal((300, 40))
    at_random = rng.random(truth.shape) < 0.25
    large = rng.random(truth.shape) < np.where(truth > 1, 0.9, 0.02)
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), sharex=True, sharey=True, layout="constrained")
    for ax, gaps, title in zip(axes, (at_random, large), ("gaps at random", "large values missing"), strict=True):
        seen = curplus.Observation.from_table(np.where(gaps, np.nan, truth))
        approx = curplus.approximate(seen)
        filled = approx.to_array()
        error = np.sqrt(np.mean((filled - truth)[gaps] ** 2))
        ax.plot(truth[gaps], filled[gaps], ".", markersize=2, alpha=0.5)
        ax.axline((0, 0), slope=1, color="0.4", linewidth=1)
        ax.set_title(f"{title}\nexpected error {approx.provenance.model.noise:.2f}, error at the gaps {error:.2f}")
        ax.set_xlabel("true value at a gap")
    axes[0].set_ylabel("filled value")
    return figure


def kernel_errors(K, strategy, n_columns, seeds=5):
    """Relative errors, geometric means over some seeds."""
    errors = []
    for k in n_columns:
        seen = [curplus.acquire(K, n_columns=k, psd=True, strategy=strategy, rng=seed) for seed in range(seeds)]
        errors.append(np.mean([np.log(np.linalg.norm(K - curplus.approximate(x).to_array())) for x in seen]))
    return np.exp(errors) / np.linalg.norm(K)


def draw_kernels():
    """Landmarks among three clusters, and errors against the number of columns."""
    X, width = clusters()
    K = rbf_kernel(X, gamma=1 / (2 * width**2))
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.6), layout="constrained")
    for ax, strategy in zip(axes, ("uniform", "auto"), strict=False):
        index = curplus.acquire(K, n_columns=20, psd=True, strategy=strategy, rng=0).column_index
        ax.plot(*X.T, ".", color="0.75", markersize=3)
        ax.plot(*X[index].T, "o", color="#d55e00", markersize=5)
        far = np.count_nonzero(index >= len(X) - FAR)
        ax.set_title(f'20 columns, "{strategy}": {far} of the far cluster', fontsize=11)
    axes[2].set_title("relative error, 5 draws", fontsize=11)
    n_columns = [5, 10, 20, 30, 40, 50, 60]
    for strategy, colour in (("uniform", "0.5"), ("rpcholesky", "#0072b2"), ("auto", "#d55e00")):
        errors = kernel_errors(K, strategy, n_columns)
        axes[2].semilogy(n_columns, errors, "o-", color=colour, label=strategy, markersize=4)
    squares = np.cumsum(np.linalg.eigvalsh(K) ** 2)
    best = [np.sqrt(squares[-k - 1] / squares[-1]) for k in n_columns]
    axes[2].semilogy(n_columns, best, "k--", label="best of that rank", linewidth=1)
    axes[2].set_xlabel("columns")
    axes[2].legend(fontsize=9, frameon=False)
    return figure


def draw_less_read():
    """Error against the share that was read, from the table that benchmarks/less_read.py writes."""
    with (FOLDER / "less_read.csv").open(newline="") as stream:
        lines = list(csv.DictReader(stream))
    titles = {
        "llm_answers": "answers of 448 language models to 541 questions",
        "oboe_errors": "errors of 219 models on 418 data sets",
    }
    figure, axes = plt.subplots(1, 2, figsize=(10.5, 3.8), layout="constrained")
    for ax, (name, title) in zip(axes, titles.items(), strict=True):
        curves = {way: curve_of(lines, name, way) for way in WAYS}
        for way, (colour, label) in WAYS.items():
            x, y = curves[way]
            ax.semilogx(x, y, "o-", color=colour, label=label, markersize=4)
        mark_same_error(ax, curves)
        ax.set_xticks(x, [f"{share:.0%}" for share in x])
        ax.minorticks_off()
        ax.set_title(title, fontsize=11)
        ax.set_xlabel("share of the matrix that was read")
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("error at values not read")
    axes[0].legend(fontsize=9, frameon=False)
    return figure


def curve_of(lines, matrix, way):
    """Shares and errors of one way to read one matrix."""
    points = [(float(x["budget"]), float(x["error"])) for x in lines if (x["matrix"], x["way"]) == (matrix, way)]
    return np.array(sorted(points)).T


def share_for(curve, error):
    """The share at which a curve reaches an error, between its points on the logarithmic scale."""
    x, y = curve
    return float(np.exp(np.interp(-error, -y, np.log(x))))


def mark_same_error(ax, curves):
    """An arrow from the last error of the additive model to the share at which a better way has the same."""
    x, y = curves["additive"]
    share = min(share_for(curves[way], y[-1]) for way in ("uniform", "acquire"))
    arrow = {"arrowstyle": "->", "linestyle": "--", "color": "0.3"}
    ax.annotate("", (share, y[-1]), (x[-1], y[-1]), arrowprops=arrow)
    words = f"same error: {share:.0%} instead of {x[-1]:.0%}"
    ax.annotate(words, (x[-1], y[-1]), (-8, -5), textcoords="offset points", va="top", ha="right")


def save(figure, name):
    figure.savefig(FOLDER / f"{name}.png", metadata={"Software": None})
    plt.close(figure)


def main():
    mpl.rcParams.update({"font.family": "DejaVu Sans", "savefig.dpi": 130})
    M = three_waves(240, 320)
    seen = curplus.observe(M, n_columns=N_COLUMNS, n_rows=N_ROWS, n_entries=N_ENTRIES, rng=SEED)
    approx = curplus.cur_plus(seen, RANK)
    limit = np.abs(M).max()
    options = {"cmap": COLOURS, "vmin": -limit, "vmax": limit}
    for name, draw in (("idea", draw_idea), ("steps", draw_steps)):
        save(draw(M, seen, approx, options), name)
    save(draw_less_read(), "less_read")
    save(draw_importance(), "importance")
    save(draw_missing(), "missing")
    save(draw_kernels(), "kernels")
    save(draw_means(), "means")


if __name__ == "__main__":
    main()
