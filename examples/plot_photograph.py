r"""
A photograph from a few of its pixels
=====================================

A photograph is a matrix of grey values, of full rank but with quickly falling singular values, so it cannot be
recovered exactly. How good is the approximation by CUR+ from 5 % of the pixels, and from 25 %? How much of its error
is due to the fit of the core, how much to the choice of rows and columns, and how much to the rank itself?
"""

# %%
# The photograph comes with scikit-learn.

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
# For each share of the pixels: numbers of columns, rows and single pixels, and a rank for which there are dozens of
# entries for each unknown of the core.

plans = {
    6: {"n_columns": 10, "n_rows": 10, "n_entries": 3200},
    20: {"n_columns": 55, "n_rows": 55, "n_entries": 15900},
}
for rank, plan in plans.items():
    print(f"rank {rank}: {plan} are {distinct_entries(M.shape, **plan) / M.size:.1%} of the photograph")

# %%
# Three approximations for each. CUR+ sees what was read. CUR-F uses the same rows and columns, but finds the best core
# for them from the whole photograph. The truncated SVD is the best matrix of that rank.

U, s, Vt = np.linalg.svd(M, full_matrices=False)
approximations = {}
for rank, plan in plans.items():
    seen = curplus.observe(M, **plan, rng=0)
    approximations[rank] = {
        "what was read": seen,
        "CUR+": curplus.cur_plus(seen, rank).to_array(),
        "CUR-F, sees all": curplus.cur_full(M, seen, rank).to_array(),
        "best of this rank": (U[:, :rank] * s[:rank]) @ Vt[:rank],
    }

# %%
# Errors are relative to the norm of the photograph; the first value is that of a constant grey. CUR+ is nearly as good
# as the best core, so more single pixels would help very little. The difference between CUR+ and the best matrix of
# the same rank is due to the choice of rows and columns. That matrix itself is blurred because the rank is low.

norm = np.linalg.norm(M)
print(f"a constant grey: relative error {np.linalg.norm(M - M.mean()) / norm:.3f}")
errors = {
    rank: {name: np.linalg.norm(M - image) / norm for name, image in images.items() if name != "what was read"}
    for rank, images in approximations.items()
}
for rank, row in errors.items():
    print(f"rank {rank:2}: " + ", ".join(f"{name} {error:.3f}" for name, error in row.items()))

# %%

figure, axes = plt.subplots(2, 4, figsize=(12, 4.7), layout="constrained")
for row, (rank, images) in zip(axes, approximations.items(), strict=True):
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
# The stripes come from the method: each row of the approximation is a combination of the rows that were read, and each
# column of the columns that were read.
