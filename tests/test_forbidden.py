"""Places that must not be read are kept, and every statement is one about the others."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus import Observation
from curplus.evaluation.cross_fit import cross_fit
from curplus.evaluation.row_sums import known_part, predicted_sums
from curplus.exceptions import InvalidArgumentError
from curplus.observation.forbidden import Region
from tests.strategies import shapes

UNIFORM = curplus.observation.SamplingDesign("uniform", "uniform", "uniform")


def dense(region, shape):
    """The places as a mask, one after the other."""
    mask = np.zeros(shape, dtype=bool)
    mask[region.rows], mask[:, region.columns] = True, True
    mask[region.cells] = True
    return mask


def some_region(shape, seed):
    rng, (n, m) = np.random.default_rng(seed), shape
    i, j = rng.integers(n, size=5), rng.integers(m, size=5)
    return Region(rng.permutation(n)[: n // 3], rng.permutation(m)[: m // 4], (i, j))


def forbidding(seen, region):
    return Observation(
        **{name: getattr(seen, name) for name in ("shape", "i", "j", "values", "rows", "columns")},
        row_index=seen.row_index,
        column_index=seen.column_index,
        design=UNIFORM,
        forbidden=region,
    )


def noisy(seed=0, shape=(50, 40)):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((shape[0], 2)) @ rng.standard_normal((2, shape[1])) + 0.3 * rng.standard_normal(shape)


@given(shapes(), st.integers(0, 1000))
def test_places_are_counted_joined_and_turned_as_dense_masks_are(shape, seed):
    first, second = some_region(shape, seed), some_region(shape, seed + 1)
    both = Region().union(first, shape).union(second, shape)
    expected = dense(first, shape) | dense(second, shape)
    np.testing.assert_array_equal(both.cover(*np.indices(shape), shape), expected)
    np.testing.assert_array_equal(both.T.cover(*np.indices(shape[::-1]), shape[::-1]), expected.T)
    assert both.size(shape) == expected.sum()
    np.testing.assert_array_equal(both.others(shape), (~expected).sum(axis=1))


def test_forbidden_places_survive_everything(tmp_path):
    M, region = noisy(), some_region((50, 40), 3)
    seen = forbidding(curplus.observe(M, n_columns=3, n_rows=4, n_entries=300, rng=0), region)
    mask = dense(region, M.shape)
    seen.save(tmp_path / "seen.npz")
    others = (
        seen.divide(4.0),
        seen.subset(entries=np.arange(10), rows=[0]),
        seen.extend(curplus.observe(M, n_columns=0, n_rows=0, n_entries=9, rng=1)),
        Observation(shape=M.shape).extend(seen),
        seen.extend(Observation(shape=M.shape)),
        seen.T.T,
        curplus.load(tmp_path / "seen.npz"),
    )
    for other in others:
        np.testing.assert_array_equal(dense(other.forbidden, M.shape), mask)
    np.testing.assert_array_equal(dense(seen.T.forbidden, M.T.shape), mask.T)


def test_of_two_samples_what_either_could_not_read_is_forbidden():
    M = noisy()
    first, second = (forbidding(curplus.observe(M, budget=0.1, rng=k), some_region(M.shape, k)) for k in range(2))
    expected = dense(first.forbidden, M.shape) | dense(second.forbidden, M.shape)
    np.testing.assert_array_equal(dense(first.extend(second).forbidden, M.shape), expected)


def test_forbidden_places_must_be_of_the_matrix():
    with pytest.raises(InvalidArgumentError, match="forbidden rows"):
        Observation(shape=(3, 3), forbidden={"rows": [3]})
    with pytest.raises(InvalidArgumentError, match="is no dict of places"):
        Observation(shape=(3, 3), forbidden={"row": [2]})


def test_the_error_is_that_of_the_other_places():
    """A dense computation: what is known there, and the mean of the entries there for each place that is left."""
    M, region = noisy(), some_region((50, 40), 5)
    seen = forbidding(curplus.observe(M, n_columns=3, n_rows=4, n_entries=700, rng=0), region)
    approx = curplus.cur_full(M, seen, 2)
    E, counts = M - approx.to_array(), ~dense(region, M.shape)
    on_lines = np.zeros(M.shape, dtype=bool)
    on_lines[seen.row_index], on_lines[:, seen.column_index] = True, True
    held = (counts & ~on_lines)[seen.i, seen.j]
    mean = np.mean(E[seen.i[held], seen.j[held]] ** 2)
    expected = math.sqrt(np.sum(E[counts & on_lines] ** 2) + np.sum(counts & ~on_lines) * mean)
    certificate = curplus.certify(approx, seen)
    assert certificate.error == pytest.approx(expected)
    assert certificate.mean_cell_error == pytest.approx(expected / math.sqrt(counts.sum()))
    assert certificate.n_forbidden == np.sum(~counts)
    assert len(certificate.errors) == np.sum(held)
    assert "places where no entry could be drawn" in str(certificate)


def test_means_and_their_total_are_those_of_the_other_places():
    M, region = noisy(), some_region((50, 40), 5)
    seen = forbidding(curplus.observe(M, n_columns=3, n_rows=4, n_entries=900, rng=0), region)
    approx, counts = curplus.approximate(seen, 2), ~dense(region, M.shape)
    found = cross_fit(approx, seen)
    known = known_part(found.sample)
    on_lines = np.zeros(M.shape, dtype=bool)
    on_lines[seen.row_index], on_lines[:, seen.column_index] = True, True
    np.testing.assert_allclose(known.total, np.sum(np.where(counts & on_lines, M, 0.0), axis=1))
    left = np.where(counts & ~on_lines, approx.to_array(), 0.0)
    np.testing.assert_allclose(predicted_sums(approx, found.sample), left.sum(axis=1), atol=1e-9)
    means, some = curplus.estimate_means(approx, seen), counts.any(axis=1)
    truth = np.sum(np.where(counts, M, 0.0), axis=1)[some] / counts.sum(axis=1)[some]
    assert np.isnan(means.low[~some]).all()
    assert np.isfinite(means.estimate).all()
    assert np.mean((means.low[some] <= truth) & (truth <= means.high[some])) > 0.85
    assert means.total_interval[0] <= M[counts].sum() <= means.total_interval[1]
    assert set(np.flatnonzero(~some)) <= set(means.best(1))  # nothing is said of them


def test_forbidden_places_have_no_interval():
    M, region = noisy(), Region(rows=np.array([3, 7]))
    seen = forbidding(curplus.observe(M, n_columns=0, n_rows=0, n_entries=900, rng=0), region)
    approx = curplus.approximate(seen, 2)
    found = curplus.predict_interval(approx, seen, [3, 4, 4, 4], [0, 0, 1, 2])
    assert np.isnan(found.low[~found.is_measured & (found.i == 3)]).all()
    assert np.isfinite(found.low[found.i == 4]).all()
    unread = np.setdiff1d(np.arange(40), seen.j[seen.i == 3])
    assert "forbidden" in curplus.predict_interval(approx, seen, np.full(len(unread), 3), unread).reason


def test_where_everything_is_forbidden_nothing_is_said():
    seen = forbidding(curplus.observe(noisy(), n_columns=0, n_rows=0, n_entries=500, rng=0), Region(rows=np.arange(50)))
    approx = curplus.approximate(seen, 2)
    assert curplus.certify(approx, seen).interval is None
    assert curplus.estimate_means(approx, seen).total_interval is None


def test_acquire_keeps_what_it_must_not_read_and_its_statements_hold_for_the_rest():
    """The last rows, which are five times as large, were never drawn: of 20 intervals for all rows, none was right."""
    covered = []
    for seed in range(12):
        M = noisy(seed, (100, 60))
        M[:70] *= 0.2
        i, j = np.divmod(np.arange(4200, 6000), 60)
        counts = {"n_columns": 0, "n_rows": 0, "n_entries": 1500}
        seen = curplus.acquire(M, **counts, forbidden={"cells": (i, j)}, rng=1000 + seed)
        approx = curplus.approximate(seen, 2)
        low, high = curplus.certify(approx, seen).interval
        covered.append(low <= np.linalg.norm((M - approx.to_array())[:70]) <= high)
    assert sum(covered) >= 10


def test_rows_of_which_some_were_forbidden_are_no_uniform_sample_of_all():
    seen = curplus.acquire(
        noisy(), n_columns=5, n_rows=10, n_entries=0, strategy="uniform", forbidden={"rows": [1, 2]}, rng=0
    )
    assert seen.design.rows == "given"
    assert seen.design.columns == "uniform"


def test_whole_rows_are_never_listed_cell_by_cell():
    """Half of ten thousand million places."""
    seen = Observation(shape=(10**6, 10**4), i=[3], j=[4], values=[1.0], forbidden={"rows": np.arange(500_000)})
    assert seen.forbidden.size(seen.shape) == 5 * 10**9
    assert not len(seen.extend(seen).forbidden.cells[0])


def test_every_sentence_says_of_which_places_it_is():
    M, shape, where = noisy(), (50, 40), "the places that may be read"
    seen = forbidding(curplus.observe(M, n_columns=0, n_rows=0, n_entries=900, rng=0), Region(rows=np.arange(35, 50)))
    approx = curplus.approximate(seen, 2)
    certificate = curplus.certify(approx, seen)
    assert f"% of {where}, with" in certificate.verdict
    assert f"spread of {where}" in str(certificate)
    assert "the matrix" not in str(certificate)
    means = curplus.estimate_means(approx, seen)
    assert means.verdict.startswith(f"the means of 35 rows over {where}, in the median known to ")
    assert means.n_possible(1) == np.count_nonzero(means.best(1) < 35) < 35
    assert f"may be the largest: {means.n_possible(1)} rows, of those with places that may be read" in str(means)
    assert f"total of {where}" in str(means)
    assert "without places that may be read: 15 rows, only predicted" in str(means)
    columns = curplus.estimate_means(approx, seen, axis=0)
    assert columns.verdict.startswith(f"the means of 40 columns over {where}")
    few = forbidding(curplus.observe(M, n_columns=0, n_rows=0, n_entries=9, rng=0), some_region(shape, 1))
    assert "the matrix" not in curplus.certify(curplus.approximate(few), few).verdict


def test_the_largest_estimate_is_of_a_place_that_may_be_read():
    """The last column, of which nothing may be read, has the largest prediction."""
    M = np.add.outer(np.arange(50.0), np.arange(40.0)) + noisy()
    seen = curplus.observe(M, n_columns=0, n_rows=2, n_entries=900, rng=0)
    closed = forbidding(seen, Region(columns=np.array([39])))
    means = curplus.estimate_means(curplus.approximate(closed, 2), closed, axis=0)
    assert np.argmax(means.estimate) == 39
    assert "largest estimate: 38" in str(means)
