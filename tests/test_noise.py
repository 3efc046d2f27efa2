"""Noise: readings of one place may differ, are averaged, and tell how large the noise is."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus import Observation
from curplus._arrays import to_numpy
from curplus.exceptions import InconsistentObservationError, InvalidArgumentError
from curplus.observation import Repeats
from tests.strategies import low_rank_matrices, plans, seeds
from tests.test_extend import disjoint
from tests.test_gaps import with_holes

NAN = math.nan
doubles = st.just(np.float64)


def noisy(M, plan, seed, share=0.0):
    """Columns, rows and values of a matrix, each with noise and gaps of its own."""
    rng = np.random.default_rng(seed)

    def read(x):
        return with_holes(x + 0.1 * rng.standard_normal(x.shape), share, rng)

    return {
        "shape": M.shape,
        "column_index": plan.column_index,
        "columns": read(M[:, plan.column_index]),
        "row_index": plan.row_index,
        "rows": read(M[plan.row_index]),
        "i": plan.i,
        "j": plan.j,
        "values": read(M[plan.i, plan.j]),
    }


def all_readings(parts, weights=None):
    """For each place, its readings and their weights, put together one by one."""
    found = {}
    for k, i in enumerate(parts["row_index"]):
        for j in range(parts["shape"][1]):
            found.setdefault((int(i), j), []).append((parts["rows"][k, j], 1.0))
    for k, j in enumerate(parts["column_index"]):
        for i in range(parts["shape"][0]):
            found.setdefault((i, int(j)), []).append((parts["columns"][i, k], 1.0))
    for t, place in enumerate(zip(parts["i"].tolist(), parts["j"].tolist(), strict=True)):
        found.setdefault(place, []).append((parts["values"][t], 1.0 if weights is None else weights[t]))
    return {place: [(x, w) for x, w in some if not math.isnan(x)] for place, some in found.items()}


def check_is_mean(seen, readings):
    """Sampled rows and columns hold the means of all readings, and so do entries on them."""
    mean = np.full(seen.shape, NAN)
    for place, some in readings.items():
        if some:
            mean[place] = np.average([x for x, _ in some], weights=[w for _, w in some])
    np.testing.assert_allclose(to_numpy(seen.rows), mean[seen.row_index], atol=1e-12)
    np.testing.assert_allclose(to_numpy(seen.columns), mean[:, seen.column_index], atol=1e-12)
    on_lines = ~seen.outside
    np.testing.assert_allclose(to_numpy(seen.values)[on_lines], mean[seen.i, seen.j][on_lines], atol=1e-12)
    crossing = to_numpy(seen.rows)[:, seen.column_index], to_numpy(seen.columns)[seen.row_index]
    np.testing.assert_array_equal(*crossing)  # exactly


def pooled(readings):
    """The pooled standard deviation of all readings."""
    squares = freedom = 0.0
    for some in readings.values():
        if len(some) > 1:
            x, w = np.transpose(some)
            squares += np.sum(w * (x - np.average(x, weights=w)) ** 2)
            freedom += len(some) - 1
    return math.sqrt(squares / freedom) if freedom else NAN


@given(st.data(), low_rank_matrices(dtypes=doubles), st.sampled_from([0.0, 0.3]), seeds)
def test_readings_of_one_place_are_averaged(data, M, share, seed):
    parts = noisy(M, data.draw(plans(M.shape)), seed, share)
    before = {name: np.array(part) for name, part in parts.items()}
    seen, readings = Observation(**parts, noise="unknown", gaps=True), all_readings(parts)
    check_is_mean(seen, readings)
    assert seen.noise_estimate == pytest.approx(pooled(readings), nan_ok=True, rel=1e-6, abs=1e-14 * np.abs(M).max())
    for name, part in before.items():
        np.testing.assert_array_equal(np.asarray(parts[name]), part)


@given(st.data(), low_rank_matrices(dtypes=doubles), seeds)
def test_two_noisy_samples_joined_have_the_means_of_both(data, M, seed):
    first = data.draw(plans(M.shape))
    second = disjoint(first, data.draw(plans(M.shape)))
    parts = [noisy(M, plan, seed + k) for k, plan in enumerate((first, second))]
    joint = Observation(**parts[0], noise="unknown").extend(Observation(**parts[1], noise="unknown"))
    both = {name: np.concatenate([p[name] for p in parts], axis=1 if name == "columns" else 0) for name in parts[0]}
    readings = all_readings(both | {"shape": M.shape})
    check_is_mean(joint, readings)
    assert joint.noise_estimate == pytest.approx(pooled(readings), nan_ok=True, rel=1e-6, abs=1e-14 * np.abs(M).max())


@given(st.data(), low_rank_matrices(dtypes=doubles), seeds)
def test_what_was_averaged_stays_as_it_is(tmp_path_factory, data, M, seed):
    seen = Observation(**noisy(M, data.draw(plans(M.shape)), seed), noise="unknown")
    path = tmp_path_factory.mktemp("noise") / "seen.npz"
    seen.save(path)
    turned = seen.T.T
    for again in (curplus.load(path), dataclasses.replace(seen), turned, seen.subset(rows=np.arange(seen.n_rows))):
        for name in ("rows", "columns", "values", "i"):
            np.testing.assert_array_equal(getattr(again, name), getattr(seen, name))
        assert again.noise == "unknown"
        assert again.noise_estimate == pytest.approx(seen.noise_estimate, nan_ok=True)
    assert seen.divide(4.0).noise_estimate == pytest.approx(seen.noise_estimate / 4, nan_ok=True)


def test_a_column_that_both_samples_have_is_averaged_everywhere(rng):
    M = rng.standard_normal((6, 5))
    first, second = (
        Observation(
            shape=M.shape,
            column_index=[1, 3],
            columns=M[:, [1, 3]] + shift,
            row_index=[row],
            rows=M[[row]] + shift,
            i=[5, row],
            j=[1, 3],
            values=[M[5, 1] + shift, M[row, 3] + shift],
            noise="unknown",
        )
        for row, shift in ((2, 0.0), (4, 1.0))
    )
    joint = first.extend(second)
    np.testing.assert_allclose(joint.columns, M[:, [1, 3]] + 0.5)
    np.testing.assert_allclose(joint.rows[:, [1, 3]], M[[2, 4]][:, [1, 3]] + 0.5)
    np.testing.assert_allclose(joint.values, M[joint.i, joint.j] + 0.5)
    assert joint.noise_estimate == pytest.approx(math.sqrt(0.5))


def test_entries_count_by_their_weights(rng):
    weights = [1.0, 3.0, 2.0]
    parts = {
        "shape": (2, 3), "row_index": np.array([0]), "rows": np.array([[1.0, 2.0, 3.0]]),
        "column_index": np.empty(0, dtype=int), "columns": np.empty((2, 0)),
        "i": np.array([0, 0, 1]), "j": np.array([1, 1, 0]), "values": np.array([2.5, 3.0, 9.0]),
    }  # fmt: skip
    seen = Observation(**parts, weights=weights, noise="unknown")
    check_is_mean(seen, all_readings(parts, np.array(weights) / 2))
    assert seen.rows[0, 1] == pytest.approx((2.0 + 0.5 * 2.5 + 1.5 * 3.0) / 3)


def test_noise_for_each_entry_gives_their_weights():
    seen = Observation(shape=(2, 2), row_index=[0], rows=[[1.0, 2.0]], i=[0, 1], j=[0, 1], values=[1.5, 3.0],
                       noise=[0.5, 0.25])  # fmt: skip
    np.testing.assert_allclose(seen.weights, [4.0, 16.0])
    np.testing.assert_allclose(seen.rows[0, 0], (1.0 + 0.4 * 1.5) / 1.4)
    part = seen.subset(entries=[1])
    np.testing.assert_array_equal(part.noise, [0.25])
    np.testing.assert_array_equal(seen.divide(2.0).noise, [0.25, 0.125])
    both = part.extend(seen)
    np.testing.assert_array_equal(both.noise, [0.25, 0.5, 0.25])
    explicit = dataclasses.replace(seen, weights=[1.0, 1.0])
    np.testing.assert_array_equal(explicit.weights, [1.0, 1.0])


@pytest.mark.parametrize(("difference", "accepted"), [(0.79, True), (0.81, False)])
@pytest.mark.parametrize("place", ["row", "column", "crossing", "entries"])
def test_readings_may_differ_by_eight_times_the_noise(xp, place, difference, accepted):
    column = np.array([[1.0], [4.0]])
    parts = {"shape": (2, 3), "column_index": [0], "columns": column, "row_index": [0], "rows": [[1.0, 2.0, 3.0]]}
    entries = {"i": [1, 1], "j": [1, 1], "values": [5.0, 5.0]}
    if place == "row":
        entries = {"i": [0], "j": [1], "values": [2.0 + difference]}
    elif place == "column":
        entries = {"i": [1], "j": [0], "values": [4.0 - difference]}
    elif place == "crossing":
        parts["columns"] = column + np.array([[difference], [0.0]])
        entries = {"i": [1], "j": [1], "values": [5.0]}
    else:
        entries["values"] = [5.0, 5.0 + difference]
    parts |= entries
    parts |= {name: xp.asarray(parts[name]) for name in ("columns", "rows", "values")}
    if accepted:
        assert Observation(**parts, noise=0.1).noise == 0.1
        return
    with pytest.raises(InconsistentObservationError, match=r"With this noise they may differ by 0\.8"):
        Observation(**parts, noise=0.1)
    with pytest.raises(InconsistentObservationError, match=r"may differ by 0\.8"):
        Observation(**parts, noise=[0.1] * len(parts["i"]))
    assert Observation(**parts, noise="unknown").noise_estimate == pytest.approx(difference / math.sqrt(2))


def test_exact_readings_that_disagree_are_told_of_noise():
    with pytest.raises(InconsistentObservationError, match=r"If readings are noisy, give noise= \(see Observation\)"):
        Observation(shape=(2, 2), row_index=[0], rows=[[1.0, 2.0]], i=[0], j=[0], values=[1.1])


def test_joining_takes_the_noise_of_both():
    def one(noise, value=1.0):
        return Observation(shape=(2, 2), i=[0], j=[0], values=[value], noise=noise)

    for first, second, joint in (
        (None, None, None), (None, 0.1, 0.1), (0.1, None, 0.1), (0.1, 0.3, 0.3), (0.1, "unknown", "unknown"),
    ):  # fmt: skip
        assert one(first).extend(one(second)).noise == joint
    with pytest.raises(InconsistentObservationError, match=r"among the entries and as 1\.0 among the entries before"):
        one(0.1).extend(one(0.1, 2.0))
    with pytest.raises(InvalidArgumentError, match="only one of the two observations has weights"):
        one(None).extend(one([0.1]))
    with pytest.raises(InvalidArgumentError, match="the other has noise=None"):
        dataclasses.replace(one(None), weights=[1.0]).extend(one([0.1]))
    assert Observation(shape=(2, 2), noise=0.5).extend(one(None)).noise == 0.5
    assert one(None).extend(Observation(shape=(2, 2), noise=0.5)).noise == 0.5


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        (0.0, "noise=0.0 is not a standard deviation"),
        (-1, "noise=-1 is not a standard deviation"),
        (True, "noise=True is not a standard deviation"),
        ("none", "noise='none' is not a standard deviation"),
        (math.inf, "noise=inf is not a standard deviation"),
        ([0.1, 0.2], r"noise has shape \(2,\) but there are 1 entries"),
        ([0.0], r"noise\[0\]=0.0 must be a positive finite number"),
    ],
)
def test_what_is_no_noise_is_refused(noise, message):
    with pytest.raises(InvalidArgumentError, match=message):
        Observation(shape=(2, 2), i=[0], j=[0], values=[1.0], noise=noise)


def test_the_noise_of_records_without_a_value_goes_with_them():
    seen = Observation(shape=(2, 2), i=[0, 1], j=[0, 0], values=[NAN, 1.0], noise=[0.1, 0.2], gaps=True)
    np.testing.assert_array_equal(seen.noise, [0.2])


def test_repeats_tell_how_large_the_noise_is(rng):
    M = rng.standard_normal((80, 60))

    def read(x):
        return x + 0.2 * rng.standard_normal(x.shape)

    i, j = (np.repeat(rng.integers(side, size=300), 3) for side in M.shape)
    entries = Observation(shape=M.shape, i=i, j=j, values=read(M[i, j]))
    assert entries.noise_estimate == pytest.approx(0.2, rel=0.1)
    assert math.isnan(Observation(shape=M.shape, i=[0], j=[0], values=[1.0]).noise_estimate)
    rows, columns = np.arange(20), np.arange(25)
    lines = Observation(shape=M.shape, row_index=rows, rows=read(M[rows]), column_index=columns,
                        columns=read(M[:, columns]), noise=0.2)  # fmt: skip
    assert lines.repeats.freedom == 500
    assert lines.noise_estimate == pytest.approx(0.2, rel=0.1)
    assert lines.extend(dataclasses.replace(entries, noise=0.2)).noise_estimate == pytest.approx(0.2, rel=0.1)


def test_repeats_are_pooled():
    assert Repeats(1.0, 2).join(Repeats(3.0, 2)).standard_deviation == 1.0
    assert math.isnan(Repeats().standard_deviation)


@pytest.mark.parametrize("noise", [0.2, "unknown"])
def test_a_noisy_source_of_ones_own_can_be_read(rng, noise):
    M = rng.standard_normal((40, 30))

    class Live:
        shape, dtype = M.shape, M.dtype

        def rows(self, index):
            return M[index] + 0.2 * rng.standard_normal((len(index), 30))

        def columns(self, index):
            return M[:, index] + 0.2 * rng.standard_normal((40, len(index)))

        def entries(self, i, j):
            return M[i, j] + 0.2 * rng.standard_normal(len(i))

    counts = {"n_columns": 10, "n_rows": 10, "n_entries": 50}
    with pytest.raises(InconsistentObservationError, match="noise="):
        curplus.observe(Live(), **counts, rng=0)
    for seen in (curplus.observe(Live(), **counts, noise=noise, rng=0), curplus.acquire(Live(), **counts, noise=noise)):
        assert seen.noise == noise
        assert seen.noise_estimate == pytest.approx(0.2, rel=0.35)
        np.testing.assert_array_equal(seen.rows[:, seen.column_index], seen.columns[seen.row_index])


def test_averages_are_the_same_in_every_library(xp, rng):
    M = rng.standard_normal((9, 7))
    plan = curplus.observation.uniform_plan(M.shape, n_columns=3, n_rows=4, n_entries=30, rng=0)
    parts = noisy(M, plan, 0, 0.1)
    more = noisy(M, curplus.observation.uniform_plan(M.shape, n_columns=3, n_rows=4, n_entries=30, rng=1), 1, 0.1)
    seen, expected = (
        Observation(**in_library(parts, put), noise=0.5, gaps=True).extend(
            Observation(**in_library(more, put), noise=0.5, gaps=True)
        )
        for put in (xp.asarray, np.asarray)
    )
    for name in ("rows", "columns", "values"):
        assert type(getattr(seen, name)) is type(xp.asarray(1.0))
        np.testing.assert_allclose(to_numpy(getattr(seen, name)), getattr(expected, name))
    assert seen.noise_estimate == pytest.approx(expected.noise_estimate)


def in_library(parts, put):
    return parts | {name: put(parts[name]) for name in ("rows", "columns", "values")}
