r"""
A photograph from a few of its pixels
=====================================

A photograph is a matrix of grey values, of full rank but with quickly falling singular values. Nothing promises an
exact answer here. How good is the one that CUR+ finds from 5 % of the pixels, and from 25 %? And how much of its error
is due to the fit of the core, how much to the choice of rows and columns, and how much to the rank itself?
"""

# %%
# The photograph ships with scikit-learn.

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

import curplus
from curplus.plotting import plot_observation
from curplus.theory import distinct_entries

M = load_sample_image("china.jpg").mean(axis=2)
grey = {"cmap": "gray", "vmin": 0, "vmax": 255}
figure, ax = plt.subplots(figsize=(4.6, 3.1), layout="constrained")
ax.imshow(M, **grey)
ax.set_axis_off()
plt.show()

# %%
# A plan for each share: columns, rows and single pixels that add up to it, and a rank that leaves dozens of entries for
# each unknown of the core.

plans = {
    6: {"n_columns": 10, "n_rows": 10, "n_entries": 3200},
    20: {"n_columns": 55, "n_rows": 55, "n_entries": 15900},
}
for rank, plan in plans.items():
    print(f"rank {rank}: {plan} are {distinct_entries(M.shape, **plan) / M.size:.1%} of the photograph")

# %%
# Three answers for each plan. CUR+ sees what was read. CUR-F uses the same rows and columns but finds the best core
# that they allow, from the whole photograph. The truncated SVD is the best matrix of that rank, whatever it is made of.

U, s, Vt = np.linalg.svd(M, full_matrices=False)
answers = {}
for rank, plan in plans.items():
    seen = curplus.observe(M, **plan, rng=0)
    answers[rank] = {
        "what was read": seen,
        "CUR+": curplus.cur_plus(seen, rank).to_array(),
        "CUR-F, sees all": curplus.cur_full(M, seen, rank).to_array(),
        "best of this rank": (U[:, :rank] * s[:rank]) @ Vt[:rank],
    }

# %%
# Errors are relative to the norm of the photograph; a constant grey would have the first value. CUR+ is nearly as
# good as the best core, so reading more single pixels would gain next to nothing. What separates it from the best
# matrix of the same rank is the choice of rows and columns, and that matrix in turn is blurred because the rank is low.

norm = np.linalg.norm(M)
print(f"a constant grey: relative error {np.linalg.norm(M - M.mean()) / norm:.3f}")
errors = {
    rank: {name: np.linalg.norm(M - image) / norm for name, image in images.items() if name != "what was read"}
    for rank, images in answers.items()
}
for rank, row in errors.items():
    print(f"rank {rank:2}: " + ", ".join(f"{name} {error:.3f}" for name, error in row.items()))

# %%

figure, axes = plt.subplots(2, 4, figsize=(12, 4.7), layout="constrained")
for row, (rank, images) in zip(axes, answers.items(), strict=True):
    for ax, (name, image) in zip(row, images.items(), strict=True):
        if name == "what was read":
            ax.set_facecolor("#fff3d6")
            plot_observation(image, ax=ax, **grey)
            share = distinct_entries(M.shape, **plans[rank]) / M.size
            ax.set_title(f"read: {share:.0%} of the pixels", fontsize=10)
        else:
            ax.imshow(image, aspect="auto", **grey)
            ax.set_title(f"{name}: error {errors[rank][name]:.3f}", fontsize=10)
        ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
    row[0].set_ylabel(f"rank {rank}", fontsize=11)
plt.show()

# %%
# The stripes are honest. They are what a combination of a few real rows and columns looks like: each row of the answer
# is a mixture of the rows that were read.
