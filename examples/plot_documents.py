r"""
A document-term matrix, where CUR+ fails
========================================

Text is hard for uniform sampling: almost every entry is zero, a few words and documents have most of the sum of
squares, and a random sample rarely contains them. Here CUR+ is *worse than the zero matrix*. This page shows the
errors, how the diagnostics warn of them, and what a ridge can and cannot do.
"""

# %%
# The text comes with Python: the reference topics of ``help("assert")`` and others, cut into paragraphs. Rows are
# paragraphs and columns are terms. A zero is a value here: the word occurs zero times.

import re
from pydoc_data.topics import topics

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

import curplus
from curplus import metrics, theory

paragraphs = {
    f"{topic} {k}": text
    for topic, page in topics.items()
    for k, text in enumerate(re.split(r"\n\s*\n", page))
    if len(text) > 200
}
vectorizer = CountVectorizer(stop_words="english", token_pattern="[a-z]{3,}")
counts = vectorizer.fit_transform(paragraphs.values()).astype(float)
n, m = counts.shape
print(f"{n} paragraphs, {m} terms, {counts.nnz / (n * m):.2%} of the entries are not zero")

# %%
# Names that are given to the source are kept, so the approximation can name the sampled rows and columns. As in the
# paper, :math:`\Omega_0 = n m r^2 / \mathrm{nnz}` entries are read, so that :math:`r^2` of them are expected not to be
# zero.

rank = 10
n_entries = round(n * m * rank**2 / counts.nnz)
source = curplus.as_source(counts, row_names=list(paragraphs), column_names=vectorizer.get_feature_names_out())
seen = curplus.observe(source, n_columns=50, n_rows=50, n_entries=n_entries, rng=0)
approx = curplus.cur_plus(seen, rank)
print(f"{n_entries} entries, {np.count_nonzero(seen.values)} of them not zero")
print("terms:     ", ", ".join(approx.sampled_column_names[::7]), "...")
print("paragraphs:", ", ".join(approx.sampled_row_names[::7]), "...")

# %%
# Ten draws, and seven ways to find the core for the same columns and rows. CUR-F sees the whole matrix; the others see
# the observation. Errors are divided by that of the best matrix of rank 10 (the paper's :math:`\ell_F`), so 1 is the
# best possible value at that rank. The last line is the zero matrix.

ten_steps = curplus.solvers.AcceleratedGradient(max_iter=10, tol=0)
methods = {
    "CUR+": lambda seen: curplus.cur_plus(seen, rank),
    "CUR+\nridge 0.1": lambda seen: curplus.cur_plus(seen, rank, solver=curplus.solvers.LeastSquares(ridge=0.1)),
    "CUR+\nridge 1": lambda seen: curplus.cur_plus(seen, rank, solver=curplus.solvers.LeastSquares(ridge=1.0)),
    "CUR+\n10 steps": lambda seen: curplus.cur_plus(seen, rank, solver=ten_steps),
    "CUR-E": curplus.cur_unbiased,
    "CUR-F\nrank 10": lambda seen: curplus.cur_full(counts, seen, rank),
    "CUR-F": lambda seen: curplus.cur_full(counts, seen),
}
target = metrics.ReferenceMatrix(counts)
draws = [curplus.observe(source, n_columns=50, n_rows=50, n_entries=n_entries, rng=seed) for seed in range(10)]
losses = {
    name: [metrics.relative_frobenius_error(target, method(seen), rank) for seen in draws]
    for name, method in methods.items()
}
zero = target.frobenius_norm / target.best_frobenius_error(rank)
print("                       best   median    worst   draws worse than zero")
for name, values in losses.items():
    label = name.replace("\n", ", ")
    worse = sum(value > zero for value in values)
    print(f"{label:18}{min(values):9.3f}{np.median(values):9.3f}{max(values):9.3f}{worse:9d} of 10")
print(f"{'the zero matrix':18}{zero:9.3f}{zero:9.3f}{zero:9.3f}")

# %%
# CUR+, solved to convergence, is worse than zero in most draws, and far worse in some. A ridge shrinks the core, and
# so does stopping the paper's accelerated gradient after ten steps. Then there are no very large errors, and the
# result is about as good as zero. Even CUR-F, which sees everything, is only a little better than zero: fifty random
# paragraphs and fifty random terms do not span what matters in this text. Better rows and columns would help more than
# any solver.

labels = list(losses)
figure, ax = plt.subplots(figsize=(9, 4.2), layout="constrained")
colours = ["#D55E00", "#E69F00", "#F0E442", "#009E73", "#CC79A7", "#0072B2", "#56B4E9"]
for x, (name, colour) in enumerate(zip(labels, colours, strict=True)):
    spread = x + np.linspace(-0.18, 0.18, len(losses[name]))
    ax.scatter(spread, losses[name], s=38, color=colour, edgecolor="black", linewidth=0.5, zorder=3)
    ax.hlines(np.median(losses[name]), x - 0.3, x + 0.3, color="black", linewidth=1.5, zorder=2)
ax.axhline(zero, color="black", linestyle="--", linewidth=1, label="the zero matrix")
ax.axhline(1, color="0.5", linestyle=":", linewidth=1.5, label="the best matrix of rank 10")
ax.set_yscale("log")
ax.set_yticks([1, 1.2, 1.5, 2, 3, 5, 10, 20], ["1", "1.2", "1.5", "2", "3", "5", "10", "20"])
ax.minorticks_off()
ax.set_xticks(range(len(labels)), labels)
ax.set(ylabel=r"relative error $\ell_F$", title="Ten draws from a document-term matrix (bars: medians)")
ax.grid(axis="y", alpha=0.3)
ax.legend(frameon=False)
plt.show()

# %%
# The diagnostics warn of this. The condition of the equations says by how much noise in the entries is amplified at
# worst, and everything that the bases miss acts as noise. The incoherence of the bases says how unevenly they are
# spread: for a well-behaved matrix it is a small number, and Theorem 2 asks for a number of entries that grows with
# its square. Here that is more than the matrix has. (This number of entries depends on neither ``mu`` nor
# ``sigma_next``.)

mu_hat = theory.incoherence(approx.left.vectors, approx.right.vectors)
promise = theory.theorem_2(shape=(n, m), rank=rank, mu=1.0, mu_hat=mu_hat, sigma_next=1.0, t=3.0)
print(f"condition of the equations: {approx.core.condition:.0f}")
print(f"incoherence of the bases:   {mu_hat:.0f}")
print("Theorem 2 promises nothing:", promise.reason)
for note in approx.core.notes:
    print("note:", note)

# %%
# Fewer entries make it far worse. Twenty for each unknown are enough on a dense matrix, and the default of the command
# line and the estimators. Here nearly all of them are zero, and the directions that they do not determine are filled
# with noise. A condition in the thousands is always a bad sign.

for seed in range(5):
    seen = curplus.observe(source, n_columns=50, n_rows=50, n_entries=20 * rank**2, rng=seed)
    approx = curplus.cur_plus(seen, rank)
    loss = metrics.relative_frobenius_error(target, approx, rank)
    print(f"{np.count_nonzero(seen.values):3d} entries not zero: condition {approx.core.condition:.0e}, l_F {loss:.3g}")
