"""Bounds, such as ``>10000``: they are kept through every change, fitted as what they are, and are no evidence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import truncnorm

import curplus
from curplus.evaluation.cross_fit import cross_fit
from curplus.exceptions import InconsistentObservationError, InvalidArgumentError
from curplus.observation import Bounds, Cells, Observation, SamplingDesign
from curplus.observation.bounds import truncated_mean
from tests.conftest import effort

N, M, LIMIT = 50, 30, 1.0


def censored(seed=0, share=0.6, noise=0.2):
    """A matrix of rank 2 with noise: the whole, what was measured below the limit, and what was measured above it."""
    rng = np.random.default_rng(seed)
    whole = rng.standard_normal((N, 2)) @ rng.standard_normal((2, M)) + noise * rng.standard_normal((N, M))
    measured = rng.random((N, M)) < share
    return whole, measured & (whole <= LIMIT), measured & (whole > LIMIT)


def bounds_at(where, side=1):
    i, j = np.nonzero(where)
    return Bounds(i, j, np.full(len(i), LIMIT), np.full(len(i), side))


def observation(kind, whole, exact, above, **options):
    """The same as a table with gaps, as entries, or as entries with a few rows and columns."""
    if kind == "table":
        return Observation.from_table(np.where(exact, whole, np.nan), bounds=bounds_at(above), **options)
    i, j = np.nonzero(exact)
    options |= {"shape": whole.shape, "i": i, "j": j, "values": whole[exact]}
    if kind == "entries":
        return Observation(**options, bounds=bounds_at(above))
    known = np.where(exact, whole, np.nan)
    lines = {"row_index": np.arange(5), "rows": known[:5], "column_index": np.arange(3, 7), "columns": known[:, 3:7]}
    return Observation(**options, **lines, gaps=True, bounds=bounds_at(above))


KINDS = ("table", "entries", "cross")


def listed(bounds):
    return sorted(zip(*(x.tolist() for x in (bounds.i, bounds.j, bounds.value, bounds.side)), strict=True))


# The mean of a normal distribution that is cut off


@settings(deadline=None)
@given(
    mean=st.floats(-5, 5),
    deviation=st.floats(0.1, 4),
    low=st.floats(-8, 8),
    width=st.one_of(st.just(np.inf), st.floats(0.05, 20)),
    turned=st.booleans(),
)
def test_the_mean_between_bounds_is_that_of_a_truncated_normal(mean, deviation, low, width, turned):
    low, high = (-(low + width), -low) if turned else (low, low + width)
    expected = truncnorm.mean((low - mean) / deviation, (high - mean) / deviation, loc=mean, scale=deviation)
    found = truncated_mean(mean, deviation, low, high)
    assert low <= found <= high
    np.testing.assert_allclose(found, expected, atol=1e-8 * deviation, rtol=1e-8)


def test_far_from_the_mean_the_bound_itself_is_expected():
    found = truncated_mean(
        [0.0, 0.0, 5.0, 5.0], [1.0, 1.0, 0.0, 0.0], [1e6, -np.inf, 6.0, 2.0], [np.inf, -1e6] + [9.0] * 2
    )
    np.testing.assert_allclose(found, [1e6, -1e6, 6.0, 5.0], rtol=1e-9)


# They are kept


@settings(max_examples=effort(20, 200))
@given(seed=st.integers(0, 1000), kind=st.sampled_from(KINDS))
def test_bounds_survive_transposition_subsets_and_files(seed, kind, tmp_path_factory):
    seen = observation(kind, *censored(seed))
    path = tmp_path_factory.mktemp("saved") / "seen.npz"
    assert listed(seen.T.bounds) == sorted((j, i, value, side) for i, j, value, side in listed(seen.bounds))
    assert listed(seen.T.T.bounds) == listed(seen.bounds)
    assert seen.T.fingerprint == seen.fingerprint.T
    for one in (seen, seen.T):
        one.save(path)
        again = curplus.load(path)
        assert listed(again.bounds) == listed(one.bounds)
        assert again.fingerprint == one.fingerprint
    half = np.arange(seen.n_entries) % 2 == 0
    assert listed(seen.subset(entries=half).bounds) == listed(seen.bounds)
    assert listed(Cells.of(seen).T.bounds) == listed(seen.T.bounds)
    assert "bounds among them" in repr(seen)
    if kind == "cross":
        part = seen.subset(rows=[0, 1])
        on_dropped = np.isin(seen.bounds.i, [2, 3, 4]) & ~np.isin(seen.bounds.j, seen.column_index)
        assert listed(part.bounds) == listed(seen.bounds.take(~on_dropped))


def test_other_bounds_are_another_sample():
    whole, exact, above = censored()
    seen = observation("table", whole, exact, above)
    other = Observation.from_table(np.where(exact, whole, np.nan), bounds=seen.bounds.divide(2.0))
    assert other.fingerprint != seen.fingerprint
    with pytest.raises(InvalidArgumentError, match="another observation"):
        curplus.certify(curplus.approximate(seen), other)


def test_a_change_of_units_turns_bounds_if_it_is_negative():
    bounds = observation("table", *censored()).divide(-2.0).bounds
    assert set(bounds.value) == {-LIMIT / 2}
    assert set(bounds.side) == {-1}


def test_of_two_bounds_the_tighter_one_holds_and_a_value_replaces_both():
    def one(**what):
        return Observation(shape=(3, 3), **what)

    low = one(bounds=Bounds([1, 1, 1], [2, 2, 2], [3.0, 5.0, 9.0], [1, 1, -1]))
    assert listed(low.bounds) == [(1, 2, 5.0, 1), (1, 2, 9.0, -1)]
    both = low.extend(one(bounds=Bounds([1], [2], [7.0], [-1])))
    assert listed(both.bounds) == [(1, 2, 5.0, 1), (1, 2, 7.0, -1)]
    assert (both.n_entries, both.n_gaps, both.n_values_read) == (0, 1, 0)
    measured = both.extend(one(i=[1], j=[2], values=[6.0]))
    assert (len(measured.bounds), measured.n_gaps, measured.n_entries) == (0, 0, 1)
    row = both.extend(one(row_index=[1], rows=[[1.0, 2.0, 6.5]]))
    assert len(row.bounds) == 0
    gap = both.extend(one(row_index=[1], rows=[[1.0, 2.0, np.nan]], gaps=True))
    assert len(gap.bounds) == 2
    with pytest.raises(InconsistentObservationError, match="row 1, column 2 is at least 5 and at most 4"):
        low.extend(one(bounds=Bounds([1], [2], [4.0], [-1])))


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        (Bounds([0], [0], [np.nan], [1]), "finite values"),
        (Bounds([0], [0], [1.0], [2]), "sides of 1"),
        (Bounds([0, 1], [0], [1.0], [1]), "2, 1, 1 and 1 numbers"),
        (Bounds([9], [0], [1.0], [1]), "bounds i"),
        (3, "are no bounds"),
    ],
)
def test_what_is_no_bound_is_refused(bounds, words):
    with pytest.raises(InvalidArgumentError, match=words):
        Observation(shape=(2, 2), bounds=bounds)


def test_of_a_symmetric_matrix_a_bound_stands_in_both_places():
    seen = Observation(
        shape=(3, 3),
        i=[0, 1],
        j=[0, 2],
        values=[1.0, 2.0],
        symmetry="symmetric",
        bounds=Bounds([0, 2], [1, 1], [4.0] * 2, [1] * 2),
    )
    assert [(i, j) for i, j, *_ in listed(Cells.of(seen).bounds)] == [(0, 1), (1, 0)]


# They are fitted


@pytest.mark.parametrize("kind", KINDS)
def test_bounded_cells_are_predicted_better_than_as_gaps_and_beyond_their_bounds(kind):
    whole, exact, above = censored()
    seen = observation(kind, whole, exact, above)
    gaps = seen._replaced(bounds=Bounds())
    fit, without = curplus.approximate(seen), curplus.approximate(gaps)
    filled, plain = seen.fill(fit), gaps.fill(without)
    assert np.all(filled[above] >= LIMIT)
    np.testing.assert_array_equal(filled[exact], whole[exact])
    assert error(filled, whole, above) < 0.9 * error(plain, whole, above)
    unread = ~exact & ~above
    assert error(filled, whole, unread) < 1.02 * error(plain, whole, unread)
    assert fit.report.n_bounds == np.count_nonzero(above)
    np.testing.assert_allclose(curplus.approximate(seen).to_array(), fit.to_array())


def error(filled, whole, where):
    return np.sqrt(np.mean((filled - whole)[where] ** 2))


def test_limits_hold_beyond_bounds_and_a_bound_holds_beyond_limits():
    whole, exact, above = censored()
    seen = observation("table", whole, exact, above)
    fit = curplus.approximate(seen)
    assert np.all(seen.fill(fit, max_value=1.2)[above] <= 1.2)
    assert np.all(seen.fill(fit, max_value=0.5)[above] >= LIMIT)


def test_a_saved_fit_makes_itself_again(tmp_path):
    seen = observation("entries", *censored())
    fit = curplus.approximate(seen)
    fit.save(tmp_path / "fit.npz")
    again = curplus.load(tmp_path / "fit.npz").provenance.method.fit(seen)
    np.testing.assert_allclose(
        again.to_array(), fit.to_array(), atol=0.01 * np.linalg.norm(fit.to_array()) / np.sqrt(N * M)
    )


def test_methods_that_know_no_bounds_take_them_for_gaps():
    rng = np.random.default_rng(0)
    whole = rng.standard_normal((N, 2)) @ rng.standard_normal((2, M))
    bounds = Bounds([9], [9], [whole[9, 9] - 1], [1])
    lines = {"row_index": [0, 1, 2], "rows": whole[:3], "column_index": [0, 1, 2], "columns": whole[:, :3]}
    seen = Observation(shape=whole.shape, **lines, bounds=bounds)
    np.testing.assert_allclose(curplus.approximate(seen).to_array(), whole, atol=1e-8)


# They are no evidence


@pytest.mark.parametrize("kind", KINDS)
def test_no_error_rests_on_a_bounded_cell(kind):
    design = SamplingDesign("given", "given", "uniform")
    seen = observation(kind, *censored(), design=design)
    gaps = seen._replaced(bounds=Bounds())
    found, plain = (cross_fit(curplus.approximate(one), one) for one in (seen, gaps))
    assert len(found.counted) == len(plain.counted) > 100
    sample = found.sample
    at = set(zip(sample.i[found.counted].tolist(), sample.j[found.counted].tolist(), strict=True))
    assert not at & set(zip(seen.bounds.i.tolist(), seen.bounds.j.tolist(), strict=True))
    certificate = curplus.certify(curplus.approximate(seen), seen)
    assert f"({len(found.counted)} errors)" in str(certificate)
    assert certificate.interval is None
    assert "bounds only" in certificate.reason
    means = curplus.estimate_means(curplus.approximate(seen), seen)
    assert "bounds only" in means.reason
    assert means.total_interval is None


def test_the_bound_is_one_end_of_an_interval_and_nothing_gives_the_other():
    whole, exact, above = censored()
    seen = observation("entries", whole, exact, above, design=SamplingDesign("given", "given", "uniform"))
    i, j = np.divmod(np.arange(N * M), M)
    found = curplus.predict_interval(curplus.approximate(seen), seen, i, j, max_value=5.0)
    flat, unread = above.ravel(), ~(exact | above).ravel()
    assert np.all(found.low[flat] == LIMIT)
    assert np.all(np.isnan(found.high[flat]))
    assert np.all(found.value[flat] >= LIMIT)
    assert not found.is_measured[flat].any()
    assert np.isfinite(found.high[unread]).all()
    assert np.all(found.high[unread] <= 5.0)
