"""One way on one problem, in a process of its own: python benchmarks/bench_ways.py WAY PROBLEM.npz RESULT.json SECONDS

A problem is a file: scattered entries with others to be predicted ("values"), rows, columns and entries that were read
of a matrix ("lines"), a whole matrix ("matrix"), or a kernel ("kernel"). A result is a list of runs, one for each
setting, with its processor seconds, error and values read. The list is written after every setting, so that what was
done before a time limit counts.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import importlib
import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse

SIZES = (10, 20, 40, 80)  # sampled columns of those that read a part; five times as many rows where they are fewer


# Scattered entries: each way yields a setting and what predicts at (i, j)


def approximate_values(p):
    import curplus

    seen = curplus.Observation(shape=tuple(p["shape"]), i=p["i"], j=p["j"], values=p["values"])
    yield "nothing is set", curplus.approximate(seen).entries


def cmfrec(p):
    for setting, model in cmfrec_models(p):
        yield setting, model.predict


def cmfrec_models(p):
    from cmfrec import CMF

    known = scipy.sparse.coo_matrix((p["values"], (p["i"], p["j"])), shape=tuple(p["shape"]))
    for k in (5, 10, 20, 40):
        for ridge in (0.01, 0.1, 1.0, 10.0):
            model = CMF(k=k, lambda_=ridge * np.var(p["values"]), verbose=False, nthreads=1).fit(known)
            yield f"k={k} lambda={ridge:g} var", model


def table_of(p):
    table = np.full(tuple(p["shape"]), np.nan)
    table[p["i"], p["j"]] = p["values"]
    table[:, np.isnan(table).all(axis=0)] = np.mean(p["values"])
    return table


def soft_impute(p):
    from imputation import soft_impute as path

    with np.errstate(all="ignore"):
        for number, filled in enumerate(path(table_of(p)), start=1):
            yield f"threshold {number} of 30", filled


def iterative_imputer(p):
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    for n, sweeps in ((10, 3), (10, 10), (30, 10), (None, 10)):
        few = IterativeImputer(random_state=0, n_nearest_features=n, max_iter=sweeps)
        yield f"nearest={n} sweeps={sweeps}", few.fit_transform(table_of(p))


def predicting(tables):
    """The same way, which fills a table, as one that predicts."""
    return lambda p: ((setting, lambda i, j, filled=filled: filled[i, j]) for setting, filled in tables(p))


# Rows, columns and entries that were read: each way yields a setting, two factors and how many values there were


def approximate_lines(p):
    import curplus

    plan = curplus.SamplePlan(tuple(p["shape"]), p["columns"], p["rows"], p["entries_i"], p["entries_j"])
    seen = curplus.read(p["matrix"], plan)
    yield "nothing is set", (*factors(curplus.approximate(seen)), seen.n_values_read)


def cmfrec_of_lines(p):
    for setting, model in cmfrec_models(p):
        left = np.column_stack([model.A_, model.user_bias_, np.ones(len(model.A_))])
        right = np.column_stack([model.B_, np.ones(len(model.B_)), model.item_bias_ + model.glob_mean_])
        yield setting, (left, right, len(p["values"]))


def in_factors(tables):
    """The same way, which fills a table, as one that gives two factors."""
    return lambda p: ((setting, (np.eye(len(x)), x.T, len(p["values"]))) for setting, x in tables(p))


# Whole matrices: each way yields a setting, two factors and how many values were read


def approximate_part(p, read="observe"):
    import curplus

    M, rank = p["matrix"], int(p["rank"])
    for d in SIZES:
        if d < rank:
            continue
        counts = {"n_columns": d, "n_rows": min(5 * d, M.shape[0] // 2), "n_entries": 1000}
        seen = getattr(curplus, read)(M, **counts, rng=0)
        approx = curplus.approximate(seen, rank)
        yield f"d={d}", (*factors(approx), seen.n_values_read)


def acquire_part(p):
    yield from approximate_part(p, "acquire")


def cur_plus_part(p):
    import curplus

    M, rank = p["matrix"], int(p["rank"])
    for d in SIZES:
        if d < rank:
            continue
        counts = {"n_columns": d, "n_rows": min(5 * d, M.shape[0] // 2), "n_entries": 20 * rank**2}
        seen = curplus.observe(M, **counts, rng=0)
        yield f"d={d}", (*factors(curplus.cur_plus(seen, rank)), seen.n_values_read)


def factors(approx):
    return approx.left.vectors @ approx.core.Z, approx.right.vectors


def randomized(p):
    from sklearn.utils.extmath import randomized_svd

    for n_iter in (0, 1, 2, 4):
        U, s, Vt = randomized_svd(p["matrix"], int(p["rank"]), n_iter=n_iter, random_state=0)
        yield f"n_iter={n_iter}", (U * s, Vt.T, p["matrix"].shape[0] * p["matrix"].shape[1])


def truncated(p):
    from sklearn.decomposition import TruncatedSVD

    for algorithm, n_iter in (("arpack", 5), ("randomized", 2), ("randomized", 5)):
        model = TruncatedSVD(int(p["rank"]), algorithm=algorithm, n_iter=n_iter, random_state=0)
        scores = model.fit_transform(p["matrix"])
        yield f"{algorithm} n_iter={n_iter}", (scores, model.components_.T, np.prod(p["matrix"].shape))


def aca(p):
    """Adaptive cross approximation with partial pivoting: one row and one column of the residual after the other."""
    M = p["matrix"]
    n, m = M.shape
    L, R, read = np.zeros((n, 0)), np.zeros((m, 0)), 0
    rng, used = np.random.default_rng(0), set()
    i = int(rng.integers(n))
    for step in range(1, max(SIZES) + 1):
        for _ in range(50):
            row = dense(M[[i]]) - L[i] @ R.T
            read += m
            used.add(i)
            j = int(np.argmax(np.abs(row)))
            if row[j]:
                break
            i = int(rng.choice(np.setdiff1d(np.arange(n), list(used))))
        if not row[j]:
            return
        column = dense(M[:, [j]]) - L @ R[j]
        read += n
        L, R = np.column_stack([L, column / row[j]]), np.column_stack([R, row])
        left = np.abs(column)
        left[list(used)] = -1
        i = int(np.argmax(left))
        if step in SIZES:
            yield f"{step} crosses", (L, R, read)


def dense(x):
    return np.asarray(x.todense() if scipy.sparse.issparse(x) else x, dtype=float).reshape(-1)


def rpcholesky(p):
    from kernels import rpcholesky as one

    for k in SIZES:
        F = one(p["matrix"], k, np.random.default_rng(0))
        yield f"{k} columns", (F, F, len(F) * (k + 1))


def approximate_psd(p):
    import curplus

    for k in SIZES:
        seen = curplus.acquire(p["matrix"], n_columns=k, psd=True, rng=0)
        yield f"{k} columns", (*factors(curplus.approximate(seen)), seen.n_values_read)


WAYS = {
    "values": {
        "curplus": approximate_values,
        "cmfrec": cmfrec,
        "SoftImpute": predicting(soft_impute),
        "IterativeImputer": predicting(iterative_imputer),
    },
    "lines": {
        "curplus": approximate_lines,
        "cmfrec": cmfrec_of_lines,
        "SoftImpute": in_factors(soft_impute),
        "IterativeImputer": in_factors(iterative_imputer),
    },
    "matrix": {
        "curplus, uniform": approximate_part,
        "curplus, acquire": acquire_part,
        "CUR+": cur_plus_part,
        "randomized_svd": randomized,
        "TruncatedSVD": truncated,
        "ACA": aca,
    },
    "kernel": {"curplus, psd": approximate_psd, "RPCholesky": rpcholesky, "ACA": aca, "randomized_svd": randomized},
}


OURS = ("curplus.methods.approximate.approximate", "curplus.methods.cur_plus", "curplus.acquisition.acquire")
IMPORTS = {  # before the clock starts
    "cmfrec": ("cmfrec",),
    "SoftImpute": ("imputation",),
    "IterativeImputer": ("sklearn.experimental.enable_iterative_imputer", "sklearn.impute"),
    "randomized_svd": ("sklearn.utils.extmath",),
    "TruncatedSVD": ("sklearn.decomposition",),
    "RPCholesky": ("kernels",),
}


def error_of_values(p, predict):
    guess = np.asarray(predict(p["test_i"], p["test_j"]))
    return float(np.linalg.norm(p["test"] - guess) / np.linalg.norm(p["test"]))


def error_of_factors(M, left, right):
    """Relative error of ``left @ right.T``, a few rows at a time."""
    total = size = 0.0
    for start in range(0, M.shape[0], 500):
        part = M[start : start + 500]
        part = np.asarray(part.todense() if scipy.sparse.issparse(part) else part)
        total += float(np.sum((part - left[start : start + 500] @ right.T) ** 2))
        size += float(np.sum(part**2))
    return (total / size) ** 0.5


def problem_in(path):
    p = dict(np.load(path, allow_pickle=False))
    if "matrix_data" in p:
        parts = (p["matrix_data"], p["matrix_indices"], p["matrix_indptr"])
        p["matrix"] = scipy.sparse.csr_array(parts, shape=tuple(p["shape"]))
    return p


def main(way, path, out, limit):
    p = problem_in(path)
    kind, runs = str(p["kind"]), []
    for module in IMPORTS.get(way, OURS if way.startswith(("curplus", "CUR+")) else ()):
        importlib.import_module(module)
    most = int(float(limit) + time.process_time()) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))
    before = forget_peak()
    start = time.process_time()
    for setting, found in WAYS[kind][way](p):
        seconds, peak = time.process_time() - start, memory("VmHWM") - before
        if kind == "values":
            error, read = error_of_values(p, found), len(p["values"])
        else:
            *pair, read = found
            error = error_of_factors(p["matrix"], *pair)
        runs.append({"setting": setting, "seconds": seconds, "error": error, "read": int(read), "megabytes": peak})
        Path(out).write_text(json.dumps(runs))
        before = forget_peak()
        start = time.process_time()


def memory(field):
    """Megabytes of this process by Linux; nan elsewhere."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 2**10 for line in lines if line.startswith(field)), float("nan"))


def forget_peak():
    """Megabytes in use now, from which the next peak is counted."""
    reset = Path("/proc/self/clear_refs")
    if reset.exists():
        reset.write_text("5")
    return memory("VmRSS")


if __name__ == "__main__":
    main(*sys.argv[1:])
