"""Do intervals of nominal 95 % cover the truth where they are given, and is the rest refused?

Run: python benchmarks/certificate.py [--draws 200] [--data DIR] [--evidence entries full half rows cut]
         [--only NAME ...] [--csv docs/_static/certificates.csv]

Four benign matrices, one of them also with half of it read, four whose errors have long tails, and six whose errors
sit in few places, which some hundred entries often miss; four matrices of counts, two of them also without rows and
columns, a genetic-interaction map of which a tenth is acquired, and errors of models on data sets (OBOE) of which a
tenth is read, as entries alone and by acquire (where the data sets are at hand). Each is observed anew in every draw,
and five kinds of evidence judge the answer:

entries   those that approximate sets aside, or all of them by cross-fitting
full      all entries, of an answer of cur_full, which uses none
half      one half of the entries, of an answer of cur_plus fitted to the other half
rows      at least 60 rows, left out from an answer of approximate without any entries
cut       the same of that answer with one direction less

A line passes if the intervals given cover the truth in at least 90 % of cases or, where fewer than 20 of 200 are given,
if no more than one of 200 is wrong; and in at most 98 % where at least 100 are given. MNIST test digits are used
where the data sets are at hand (DIR, or CURPLUS_DATA), scikit-learn's digits otherwise. All of it takes two hours;
``--csv`` puts what was measured into a table that stays, so that it can be done in parts.

Some lines do not pass, and no guard could make them. Of the block of large errors, judged by rows, two draws of 200
meet nothing in any sampled row or column; and one giant error in 5000 is rarer than what a certificate says it can see.
"""

import argparse
import collections
import csv
import os
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from common import versions  # isort: skip

import numpy as np
from sklearn.datasets import load_digits

import curplus


class Case(NamedTuple):
    """A matrix, and how it is observed and approximated."""

    name: str
    M: np.ndarray
    rank: int | None
    n_columns: int
    n_rows: int
    n_entries: int
    acquired: bool = False
    only_entries: bool = False
    budget: float | None = None  # of acquire, which then chooses how many rows, columns and entries it reads


def cases(folder: str | None) -> Iterator[Case]:
    rng = np.random.default_rng(0)
    shape = (400, 300)
    signal = rng.standard_normal((400, 5)) @ rng.standard_normal((5, 300))
    noise = 0.3 * rng.standard_normal(shape)
    size = (5, 15, 15, 6000)
    yield Case("low rank + noise", signal + noise, *size)
    yield Case("low rank + noise, half of it read", signal + noise, 5, 15, 200, 60_000)
    U, V = (np.linalg.qr(rng.standard_normal((k, 300))).Q for k in shape)
    yield Case("power law", (U / np.arange(1, 301)) @ V.T, 10, 20, 60, 1500)
    digits = load_digits().data
    if folder:
        digits = curplus.datasets.load("mnist_test", data_home=folder).matrix[:2000].toarray()
    yield Case("digits", digits, 10, 20, 100, 3000)
    yield Case("Laplace noise", signal + rng.laplace(scale=0.3, size=shape), *size)
    yield Case("Student noise, t(5)", signal + 0.5 * rng.standard_t(5, shape), *size)
    yield Case("Student noise, t(3)", signal + 0.5 * rng.standard_t(3, shape), *size)
    sign = rng.choice([-1, 1], shape)
    yield Case("lognormal noise, sigma 2", signal + 0.1 * sign * rng.lognormal(0, 2, shape), *size)
    yield Case("1 in 1000 is 100 times larger", signal + noise * np.where(rng.random(shape) < 1e-3, 100, 1), *size)
    giant, block = signal + noise, signal + noise
    giant[7] = rng.normal(scale=30, size=300)
    yield Case("one giant row", giant, *size)
    block[:20, :20] += rng.normal(scale=10, size=(20, 20))
    yield Case("a block of large errors", block, *size)
    spikes = np.zeros((600, 500))
    spikes.ravel()[rng.choice(spikes.size, 3000, replace=False)] = 1 + rng.pareto(1.5, 3000)
    yield Case("sparse spikes", spikes, 5, 25, 60, 8000)
    words, topics = rng.pareto(1.2, (2000, 1)), rng.gamma(0.3, size=(2000, 5)) @ rng.gamma(0.3, size=(5, 600))
    yield Case("word counts", rng.poisson(0.05 * words * topics).astype(float), 5, 30, 100, 10_000)

    yield Case("Student noise, t(3.5)", signal + 0.5 * rng.standard_t(3.5, shape), *size)
    yield Case("1 in 5000 is 100 times larger", signal + noise * np.where(rng.random(shape) < 2e-4, 100, 1), *size)
    yield from counts_and_screens(folder)


def counts_and_screens(folder: str | None) -> Iterator[Case]:
    """Four matrices of counts, a screen of pairs of genes, and errors of models on data sets: a tenth of both is read.

    The rules were tuned on counts 7 and 8; 9 and 10 took no part.
    """
    for seed in (7, 8, 9, 10):
        rng = np.random.default_rng(seed)
        rates = np.exp(0.4 * rng.standard_normal((300, 2)) @ rng.standard_normal((2, 240)))
        M = rng.poisson(rates).astype(float)
        yield Case(f"counts {seed}", M, 4, 14, 14, 12_000, only_entries=seed > 8)
        if seed < 9:
            yield Case(f"counts {seed}, entries alone", M, 4, 0, 0, 12_000, only_entries=True)
    screen = pathlib.Path(folder or "", "norman_gi.npz")
    if screen.is_file():
        yield Case("genetic interactions", np.load(screen)["replicate1"].astype(float), None, 6, 6, 2880, True, True)
    models = pathlib.Path(folder or "", "oboe.npz")
    if models.is_file():
        M = np.load(models)["error"].astype(float)
        yield Case("OBOE, entries alone", M, None, 0, 0, M.size // 10, only_entries=True)
        yield Case("OBOE, acquired", M, None, 0, 0, 0, only_entries=True, budget=0.1)


Answer = tuple[curplus.Factorization, curplus.Observation]


def by_entries(case: Case, seed: int) -> Answer:
    seen = observe(case, case.n_entries, seed)
    return curplus.approximate(seen, case.rank), seen


def by_all_entries(case: Case, seed: int) -> Answer:
    seen = observe(case, case.n_entries, seed)
    return curplus.cur_full(case.M, seen, case.rank), seen


def by_half_the_entries(case: Case, seed: int) -> Answer:
    seen = observe(case, case.n_entries, seed)
    return curplus.cur_plus(seen, case.rank, holdout=0.5), seen


def by_rows(case: Case, seed: int) -> Answer:
    seen = observe(case._replace(n_rows=max(case.n_rows, 60)), 0, seed)
    return curplus.approximate(seen, case.rank), seen


def by_rows_after_a_cut(case: Case, seed: int) -> Answer:
    seen = observe(case._replace(n_rows=max(case.n_rows, 60)), 0, seed)
    return curplus.approximate(seen, case.rank).truncate(case.rank - 1), seen


def observe(case: Case, n_entries: int, seed: int) -> curplus.Observation:
    if case.budget:
        return curplus.acquire(case.M, budget=case.budget, rng=seed)
    read = curplus.acquire if case.acquired else curplus.observe
    return read(case.M, n_columns=case.n_columns, n_rows=case.n_rows, n_entries=n_entries, rng=seed)


EVIDENCE = {
    "entries": by_entries,
    "full": by_all_entries,
    "half": by_half_the_entries,
    "rows": by_rows,
    "cut": by_rows_after_a_cut,
}


class Line(NamedTuple):
    """How many intervals were given, how many of them contain the truth, and the rest of a line of the table."""

    given: int
    covered: int
    draws: int
    width: str
    why: str

    @property
    def share(self) -> str:
        return f"{self.covered / self.given:.1%}" if self.given else ""

    @property
    def passed(self) -> bool:
        if self.given < self.draws / 10:
            return self.given - self.covered <= max(1, self.draws / 200)
        return 0.9 * self.given <= self.covered and (self.given < 100 or self.covered <= 0.98 * self.given)

    def __str__(self) -> str:
        passed = "yes" if self.passed else "NO"
        return f"{self.given} of {self.draws} | {self.covered} | {self.share} | {self.width} | {self.why} | {passed}"


def measure(case: Case, make: Callable[[Case, int], Answer], draws: int) -> Line:
    """One line of the table."""
    given = covered = 0
    widths = []
    reasons: collections.Counter[str] = collections.Counter()
    for seed in range(draws):
        answer, seen = make(case, seed)
        certificate = curplus.certify(answer, seen)
        if certificate.interval is None:
            reasons[re.sub(r"\d+(\.\d+)?", "N", certificate.reason.split(";")[0])] += 1
            continue
        low, high = certificate.interval
        truth = float(np.linalg.norm(case.M - answer.to_array()))
        given += 1
        covered += low <= truth <= high
        widths.append((high - low) / truth)
    width = f"{np.mean(widths):.1%}" if widths else ""
    why = "; ".join(f"{count} x {reason}" for reason, count in reasons.most_common(1))
    return Line(given, covered, draws, width, why)


def put_into(path: pathlib.Path, name: str, evidence: str, line: Line) -> None:
    """One cell of a table of matrices and kinds of evidence; the others stay."""
    rows = list(csv.DictReader(path.open())) if path.is_file() else []
    found = next((row for row in rows if row["matrix"] == name), None)
    if found is None:
        rows.append(found := dict.fromkeys(["matrix", *EVIDENCE], "") | {"matrix": name})
    found[evidence] = f"{line.given}, {line.share}" if line.given else "0"
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, ["matrix", *EVIDENCE], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--data", default=os.environ.get("CURPLUS_DATA"))
    parser.add_argument("--evidence", nargs="+", default=list(EVIDENCE), choices=list(EVIDENCE))
    parser.add_argument("--only", nargs="+", default=[""], help="names of matrices, or the beginnings of them")
    parser.add_argument("--csv", type=pathlib.Path, help="a table to put the results into")
    options = parser.parse_args()
    print(versions())
    print("| matrix | evidence | given | covered | coverage | mean width / truth | most frequent refusal | passed |")
    print("|---|---|---|---|---|---|---|---|")
    failures = 0
    for case in cases(options.data):
        if case.name.startswith(tuple(options.only)):
            for evidence in options.evidence if not case.only_entries else ["entries"]:
                line = measure(case, EVIDENCE[evidence], options.draws)
                failures += not line.passed
                print(f"| {case.name} | {evidence} | {line} |", flush=True)
                if options.csv:
                    put_into(options.csv, case.name, evidence, line)
    print(f"{failures} lines fail")
    raise SystemExit(failures > 0)
