r"""
Text: what is read matters most
===============================

Text is hard for uniform sampling: almost every entry is zero, few words
have most of the sum of squares, and a random sample rarely contains them.
The paper's CUR+ is *worse than the zero matrix* here. With as many values
read, ``acquire`` does better, because it finds the large rows and
columns. This page compares both with simple answers.
"""

# %%
# The text comes with Python: the reference topics of ``help("assert")``
# and others, cut into paragraphs. Rows are paragraphs and columns are
# terms. A zero is a value here: the word occurs zero times. Names that
# are given to the source are kept.

import re
import textwrap
from pydoc_data.topics import topics

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

import curplus

paragraphs = {
    text: f"{topic} {k}"  # a text that occurs twice counts once
    for topic, page in topics.items()
    for k, text in enumerate(re.split(r"\n\s*\n", page))
    if len(text) > 200
}
vectorizer = CountVectorizer(
    stop_words="english", token_pattern="[a-z]{3,}"
)
counts = vectorizer.fit_transform(paragraphs).astype(float)
source = curplus.as_source(
    counts,
    row_names=list(paragraphs.values()),
    column_names=vectorizer.get_feature_names_out(),
)
M = counts.toarray()
print(f"{M.shape[0]} paragraphs, {M.shape[1]} terms")
print(f"{counts.nnz / M.size:.2%} of the entries are not zero")
squares = np.sort((M**2).sum(axis=0))[::-1]
share = squares[: M.shape[1] // 20].sum() / squares.sum()
print(f"a twentieth of the terms has {share:.0%} of the squares")

# %%
# As in the paper, CUR+ reads :math:`\Omega_0 = n m r^2 / \mathrm{nnz}`
# entries beside fifty columns and fifty rows, so that :math:`r^2` of the
# entries are expected not to be zero. ``acquire`` may read as many values
# in all, and chooses how.

rank = 10
n_entries = round(M.size * rank**2 / counts.nnz)
draws = [
    curplus.observe(
        source, n_columns=50, n_rows=50, n_entries=n_entries, rng=seed
    )
    for seed in range(10)
]
budget = draws[0].n_values_read
print(f"{budget} values, {budget / M.size:.1%} of the matrix")

# %%
# The recommended way. Few errors decide everything here, so ``certify``
# gives no interval, but an estimate that may be too small.

seen = curplus.acquire(source, budget=budget, rng=0)
approx = curplus.approximate(seen)
certificate = curplus.certify(approx, seen)
print(seen)
print(textwrap.fill(certificate.verdict, 74))

# %%
# What it read holds a larger part of the sum of squares than a uniform
# sample of the same size. Here are the largest terms of both.

norm = np.linalg.norm(M)


def error(answer, seen):
    """Of the table with measured values kept, relative to its norm."""
    misses = M - answer
    misses[:, seen.column_index] = 0
    misses[seen.row_index] = 0
    misses[seen.i, seen.j] = 0
    return np.linalg.norm(misses) / norm


for label, sample in (("chosen", seen), ("uniform", draws[0])):
    sizes = np.linalg.norm(sample.columns, axis=0)
    largest = sample.column_index[np.argsort(-sizes)[:6]]
    terms = [sample.column_names[j] for j in largest]
    print(f"{label}: {1 - error(0, sample) ** 2:.0%} of the squares")
    print("   ", ", ".join(terms))

# %%
# The true errors. What was read is kept as it is, and the answer is used
# for the rest: that is the table one would go on with. Zero and the
# additive model (a constant, and an offset for each row and column) are
# the simple answers; ``backtest`` has the latter. CUR-F, the paper's best
# case, uses the columns and rows of CUR+ and sees the whole matrix.

solvers = {
    "CUR+": curplus.solvers.LeastSquares(),
    "CUR+\nridge 1": curplus.solvers.LeastSquares(ridge=1.0),
    "CUR+\n10 steps": curplus.solvers.AcceleratedGradient(
        max_iter=10, tol=0
    ),
}
uniform = {"zero": [error(0, seen) for seen in draws]}
for name, solver in solvers.items():
    uniform[name] = [
        error(
            curplus.cur_plus(seen, rank, solver=solver).to_array(), seen
        )
        for seen in draws
    ]
uniform["CUR-E"] = [
    error(curplus.cur_unbiased(seen).to_array(), seen) for seen in draws
]
uniform["CUR-F\nsees all"] = [
    error(curplus.cur_full(M, seen).to_array(), seen) for seen in draws
]

# %%
# Two draws of ``acquire``, and the answers to what it read. ``error``
# of a trial is the root mean square at values that were not read.

result = curplus.backtest(
    M, budgets=[budget], strategies=["auto", "uniform"], seeds=2
)


def errors_of(strategy, method):
    return [
        trial.error * np.sqrt(1 - trial.n_values / M.size)
        for trial in result.trials
        if (trial.strategy, trial.method) == (strategy, method)
    ]


uniform["additive"] = errors_of("uniform", "additive")
uniform["approximate"] = errors_of("uniform", "approximate")
chosen = {
    "zero": [
        error(0, curplus.acquire(source, budget=budget, rng=seed))
        for seed in range(2)
    ],
    "additive": errors_of("auto", "additive"),
    "approximate": errors_of("auto", "approximate"),
}
s = np.linalg.svd(M, compute_uv=False)
best = {r: np.linalg.norm(s[r:]) / norm for r in (rank, approx.rank)}

print("                              least   median  largest")
for how, table in (("uniform", uniform), ("chosen", chosen)):
    for name, found in table.items():
        label = f"{how}, " + name.replace("\n", ", ")
        print(
            f"{label:26}{min(found):9.3f}{np.median(found):9.3f}"
            f"{max(found):9.3f}"
        )
for r, value in best.items():
    print(f"best matrix of rank {r:3}   {value:9.3f}")

# %%
# CUR+, solved to convergence, is worse than zero in most draws, and far
# worse in some. A ridge shrinks the core, and so does stopping
# the paper's accelerated gradient after ten steps. Then there are no very
# large errors, and the result is about as good as zero. Even CUR-F is
# only a little better: fifty random paragraphs and fifty random terms do
# not span what matters in this text.
#
# What ``acquire`` reads leaves far less, less even than the best matrix
# of rank 10, for which everything has to be seen. Look at the zero of the
# chosen values, however: it is nearly as good as the others. The gain is
# in what was read. Little of the rest can be predicted from a tenth of
# these counts, by any of the methods here. A matrix of the rank that
# ``approximate`` chose could be far better, for who sees everything.

figure, ax = plt.subplots(figsize=(9.5, 4.4), layout="constrained")
top = 1.6
bars = [("#D55E00", *item) for item in uniform.items()]
bars += [("#0072B2", *item) for item in chosen.items()]
for x, (colour, _, found) in enumerate(bars):
    at = x + np.linspace(-0.2, 0.2, len(found))
    ax.hlines(np.median(found), x - 0.3, x + 0.3, color="black")
    for where, marker in (
        (np.array(found) < top, "o"),
        (np.array(found) >= top, "^"),
    ):
        shown = np.minimum(found, top - 0.03)[where]
        ax.plot(at[where], shown, marker, c=colour, mec="black", ms=6)
label = f"best matrix of rank {rank}"
ax.axhline(best[rank], c="0.4", ls=":", label=label)
ax.axvline(len(uniform) - 0.5, c="0.7", lw=1)
ax.set_xticks(range(len(bars)), [name for _, name, _ in bars])
ax.tick_params(axis="x", labelsize=8)
ax.set(ylim=(0.7, top), ylabel="error, measured values kept")
ax.set_title(
    "read uniformly (left), chosen by acquire (right); "
    "triangles are larger than shown"
)
ax.grid(axis="y", alpha=0.3)
ax.legend(frameon=False, loc="upper right")
plt.show()

# %%
# The diagnostics warn of CUR+ here. The condition of the equations shows
# by how much noise in the entries is amplified at worst, and everything
# that the bases miss acts as noise. The incoherence of the bases is how
# unevenly they are spread: for a well-behaved matrix it is a small
# number, and Theorem 2 requires a number of entries that grows with its
# square. (This number depends on neither ``mu`` nor ``sigma_next``.)

paper = curplus.cur_plus(draws[0], rank)
mu_hat = curplus.theory.incoherence(
    paper.left.vectors, paper.right.vectors
)
promise = curplus.theory.theorem_2(
    shape=M.shape, rank=rank, mu=1.0, mu_hat=mu_hat, sigma_next=1.0, t=3.0
)
print(f"condition of the equations: {paper.core.condition:.0f}")
print(f"incoherence of the bases:   {mu_hat:.0f}")
print(textwrap.fill(f"Theorem 2: {promise.reason}", 74))
for note in paper.core.notes:
    print(textwrap.fill(f"note: {note}", 74))
