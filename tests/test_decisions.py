"""Decisions that look at the values: each is in the report, with its evidence, and in a table of the documentation."""

import re
from pathlib import Path

import numpy as np
import pytest

import curplus
from tests.test_evidence import noisy

PAGE = Path(__file__).parent.parent / "docs" / "guide" / "how-it-works.rst"
MOST_DECISIONS = 12
DESIGNS = [(1, 1, 0), (3, 3, 40), (8, 8, 0), (8, 8, 1500), (0, 0, 900), (0, 8, 100), (50, 0, 0)]


def matrices():
    """Noise around a low rank, exactly low rank, a smooth function, counts, heavy tails, nothing at all."""
    rng, (n, m) = np.random.default_rng(0), (60, 50)
    low = rng.standard_normal((n, 3)) @ rng.standard_normal((3, m))
    smooth = 1 / (1.5 + np.linspace(0, 1, n)[:, None] - np.linspace(0, 1, m))
    return {
        "noise": 2 + low + 0.3 * rng.standard_normal((n, m)),
        "low rank": low,
        "smooth": smooth,
        "smooth, read to three digits": smooth + 1e-3 * rng.standard_normal((n, m)),
        "counts": rng.poisson(np.exp(0.5 * low)).astype(float),
        "heavy": np.exp(2 * low),
        "zero": np.zeros((n, m)),
    }


def documented():
    table = PAGE.read_text(encoding="utf-8").split("``approx.report.decisions``")[1].split("Variances")[0]
    return re.findall(r"^``(\w+)``", table, flags=re.MULTILINE)


def test_every_decision_is_in_the_table_and_every_row_of_the_table_is_met():
    met = set()
    for M in matrices().values():
        for n_columns, n_rows, n_entries in DESIGNS:
            seen = curplus.observe(M, n_columns=n_columns, n_rows=n_rows, n_entries=n_entries, rng=0)
            decisions = curplus.approximate(seen).report.decisions
            names = [fact.name for fact in decisions]
            assert len(names) == len(set(names))
            assert all(fact.reason and fact.is_known for fact in decisions)
            met |= set(names)
    assert sorted(met) == sorted(documented())
    assert len(met) <= MOST_DECISIONS


def test_a_decision_is_a_name_an_evidence_and_an_outcome():
    seen = curplus.observe(noisy(), n_columns=6, n_rows=6, n_entries=900, rng=0)
    report = curplus.approximate(seen).report
    found = {fact.name: (fact.reason, fact.value) for fact in report.decisions}
    assert found["rank"] == ("left-out values are predicted as well as with more", report.rank)
    assert "left-out values" in found["blend"][0]
    assert found["exact"][1] is False
    assert re.fullmatch(r"left-out ones are predicted to [\d.]+%", found["ridge"][0])
    assert "rank" not in [fact.name for fact in curplus.approximate(seen, 3).report.decisions]


@pytest.mark.parametrize("power", [1, 0.5])
def test_what_is_decided_is_kept_in_a_file(tmp_path, power):
    seen = curplus.observe(np.abs(noisy()) ** power, n_columns=6, n_rows=6, n_entries=900, rng=0)
    approx = curplus.approximate(seen)
    approx.save(tmp_path / "answer.npz")
    assert curplus.load(tmp_path / "answer.npz").report.decisions == approx.report.decisions
