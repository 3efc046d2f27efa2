import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

import curplus
from curplus.acquisition import ProductLeverage
from curplus.evaluation.cross_fit import cross_fit
from curplus.evaluation.row_effects import Variances, row_effects
from curplus.evaluation.row_sums import _expected_square, known_part, sample_rows, with_steering
from curplus.exceptions import InvalidArgumentError
from curplus.factorization import Provenance
from curplus.observation import SamplingDesign
from tests.conftest import effort
from tests.strategies import drawn_by_value


def matrix(n=80, m=60, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 2)) @ rng.standard_normal((2, m)) + noise * rng.standard_normal((n, m))


def entries_of(M, n_entries, rng=0, **lines):
    return curplus.observe(M, **{"n_columns": 0, "n_rows": 0} | lines, n_entries=n_entries, rng=rng)


def means_of(seen, **options):
    return curplus.estimate_means(curplus.approximate(seen, 2), seen, **options)


def covered(means, truth):
    return (means.low <= truth + 1e-12) & (truth - 1e-12 <= means.high)


@pytest.fixture(scope="module")
def some():
    """A matrix, what was seen of it, and the means of its rows."""
    M = matrix()
    seen = entries_of(M, 1500)
    return M, seen, means_of(seen)


@pytest.mark.parametrize("with_those_that_chose", [False, True])
def test_the_estimate_of_a_row_is_what_a_dense_computation_says(with_those_that_chose):
    M = matrix(40, 30)
    seen = curplus.acquire(M, n_columns=3, n_rows=2, n_entries=500, rng=0)
    found = cross_fit(curplus.approximate(seen, 2), seen, with_steering=with_those_that_chose)
    assert (len(found.steering) > 0) == with_those_that_chose
    rest = 30 - known_part(seen).n_values
    rows = sample_rows(found, rest)
    free = np.ones(M.shape, dtype=bool)
    free[seen.row_index] = free[:, seen.column_index] = False
    outside = np.flatnonzero(free[seen.i, seen.j])
    for i in np.flatnonzero(rest):
        mine = outside[seen.i[outside] == i]
        sums = []
        for k, fit in enumerate(found.fits):
            is_held = (found.fold[mine] == k) & ~seen.steering[mine]  # what helped to choose is known, and no more
            held, fitted = mine[is_held], mine[~is_held]
            filled = np.where(np.isin(np.arange(30), seen.j[fitted]), M[i], fit.to_array()[i])
            error = np.mean(M[i, seen.j[held]] - fit.to_array()[i, seen.j[held]]) if len(held) else 0.0
            sums.append(len(held) * (filled[free[i]].sum() + (free[i].sum() - len(fitted)) * error))
        n_held = np.count_nonzero(~seen.steering[mine])
        assert rows.n_entries[i] == n_held
        if n_held:
            assert rows.mean[i] == pytest.approx(sum(sums) / n_held / free[i].sum())


@pytest.mark.parametrize("counts", [(0, 0, 400), (2, 2, 400), (4, 4, 700), (3, 0, 500)])
def test_no_entry_is_predicted_by_a_fit_that_had_it(counts):
    M = matrix(40, 30)
    seen = curplus.observe(M, **dict(zip(("n_columns", "n_rows", "n_entries"), counts, strict=True)), rng=0)
    approx = curplus.approximate(seen, 2)
    found = cross_fit(approx, seen)
    for place in (7, 70):
        t = int(found.counted[place])
        values = np.array(seen.values)
        values[t] += 100.0
        other = cross_fit(approx, replace(seen, values=values))  # the choices that were made are kept
        at, k = (seen.i[[t]], seen.j[[t]]), found.fold[t]
        assert other.fits[k].entries(*at) == pytest.approx(found.fits[k].entries(*at))
        assert other.residuals[place] == pytest.approx(found.residuals[place] + 100.0)


@pytest.fixture(scope="module")
def several():
    """Matrices, what was seen of each, and approximations."""
    samples = [(M := matrix(seed=seed), entries_of(M, 1200, rng=seed)) for seed in range(6)]
    return [(M, seen, curplus.approximate(seen, 2)) for M, seen in samples]


@pytest.mark.parametrize("axis", [1, 0])
def test_intervals_cover_as_often_as_they_say(several, axis):
    inside = []
    for M, seen, approx in several:
        inside.append(covered(curplus.estimate_means(approx, seen, axis=axis), M.mean(axis=axis)).mean())
    assert 0.9 < np.mean(inside) < 0.985


def test_intervals_cover_where_rows_and_columns_were_chosen_adaptively():
    inside, joint = [], []
    for seed in range(6):
        M = matrix(seed=seed)
        means = means_of(curplus.acquire(M, n_columns=6, n_rows=6, n_entries=900, rng=seed))
        inside.append(covered(means, M.mean(axis=1))[~means.is_exact].mean())
        joint.append(np.all((means.joint_low <= M.mean(axis=1) + 1e-9) & (M.mean(axis=1) - 1e-9 <= means.joint_high)))
    assert 0.9 < np.mean(inside) < 0.99
    assert sum(joint) >= 5


def test_intervals_cover_where_entries_had_unequal_chances():
    inside = []
    for seed in range(6):
        M, how = matrix(seed=seed), ProductLeverage(uniform_share=0.5)
        seen = curplus.acquire(M, n_columns=6, n_rows=6, n_entries=1200, entry_strategy=how, rng=seed)
        means = means_of(seen)
        inside.append(covered(means, M.mean(axis=1))[~means.is_exact].mean())
    assert 0.9 < np.mean(inside) < 0.99


@pytest.mark.parametrize("per_row", [1, 2.5])
def test_rows_of_few_entries_or_none_get_intervals_that_cover(per_row):
    inside, none = [], 0
    for seed in range(effort(4, 6)):
        rng = np.random.default_rng(seed)
        M = rng.standard_normal((300, 50)) + 2 * rng.standard_normal((300, 1)) + rng.standard_normal((1, 50))
        means = means_of(entries_of(M, int(300 * per_row), rng=seed))
        inside.append(covered(means, M.mean(axis=1)).mean())
        none += np.count_nonzero(means.n_entries == 0)
        assert np.isfinite(means.low).all()
        assert np.isfinite(means.joint_low).all()
    assert none
    assert 0.92 < np.mean(inside) < 1


def test_intervals_are_narrower_than_those_of_the_sample_means(some):
    M, seen, means = some
    size = np.bincount(seen.i, minlength=80)
    error = M.std(axis=1, ddof=1) * np.sqrt((1 - size / 60) / size)
    assert np.mean(means.high - means.low) < 0.6 * np.mean(2 * error * scipy.stats.t.ppf(0.975, size - 1))


def test_a_bad_prediction_makes_intervals_wide_and_not_wrong(some):
    M, seen, means = some
    worse = curplus.estimate_means(curplus.approximate(seen, 1), seen)
    assert np.mean(worse.high - worse.low) > 1.3 * np.mean(means.high - means.low)
    assert covered(worse, M.mean(axis=1)).mean() > 0.88


def test_joint_intervals_contain_the_others(some):
    means = some[2]
    assert np.all(means.joint_low <= means.low)
    assert np.all(means.high <= means.joint_high)


def test_a_higher_level_makes_wider_intervals(some):
    _, seen, means = some
    wide = means_of(seen, level=0.99)
    assert np.all(wide.high - wide.low > means.high - means.low)


def test_rows_that_were_read_whole_are_exact():
    M = matrix(50, 40)
    means = means_of(entries_of(M, 400, n_rows=5, n_columns=4))
    assert means.is_exact.sum() == 5
    exact = means.is_exact
    for part in (means.low, means.high, means.joint_low, means.joint_high):
        assert part[exact] == pytest.approx(M.mean(axis=1)[exact])
    assert np.all(means.low[~exact] < means.high[~exact])


def test_a_matrix_that_was_read_whole_is_known():
    M = matrix(20, 15)
    seen = curplus.observe(M, n_columns=0, n_rows=20, n_entries=0, rng=0)
    means = means_of(seen)
    assert not means.reason
    assert means.low == pytest.approx(M.mean(axis=1))
    assert means.total_interval == pytest.approx((M.sum(), M.sum()))


def test_the_total_lies_in_its_interval_even_where_large_rows_have_large_errors():
    inside = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        rates = np.exp(0.5 * rng.standard_normal((80, 1))) @ np.exp(0.5 * rng.standard_normal((1, 60)))
        M = rng.poisson(rates).astype(float)
        low, high = means_of(entries_of(M, 1200, rng=seed)).total_interval
        inside += low <= M.sum() <= high
    assert inside >= 7


def test_columns_are_the_rows_of_the_transposed_matrix(some):
    _, seen, _ = some
    approx = curplus.approximate(seen, 2)
    a, b = curplus.estimate_means(approx, seen, axis=0), curplus.estimate_means(approx.T, seen.T)
    assert a.low == pytest.approx(b.low)
    assert (a.what, b.what) == ("columns", "rows")


@pytest.mark.parametrize("unit", [1e-150, 7.0, 1e150])
def test_units_do_not_matter(unit):
    M = matrix(40, 30) + 3
    plain, scaled = means_of(entries_of(M, 500)), means_of(entries_of(M * unit, 500))
    assert scaled.low / unit == pytest.approx(plain.low, rel=1e-5, abs=1e-7)
    assert scaled.total / unit == pytest.approx(plain.total, rel=1e-5, abs=1e-4)


def test_the_best_rows_are_those_that_no_k_others_surely_beat(some):
    means = some[2]
    n = len(means)
    for k in (1, 3, 10):
        sure = replace(means, level=1 - 2 * (1 - means.level) / (k * (n - k)))
        own = replace(sure, compared=means.compared[1:])
        low = np.array([[min(x.difference(a, b).low for x in (sure, own)) for b in range(n)] for a in range(n)])
        assert sorted(means.best(k)) == np.flatnonzero((low > 0).sum(axis=0) < k).tolist()
        assert sorted(means.best(k, largest=False)) == np.flatnonzero((low > 0).sum(axis=1) < k).tolist()
    assert means.best(5)[0] == np.argmax(means.estimate)
    assert means.best(5, largest=False)[0] == np.argmin(means.estimate)


def test_fewer_rows_are_possible_than_by_joint_intervals(some):
    means = some[2]
    for k in (1, 3, 10):
        by_intervals = np.flatnonzero(means.joint_high >= np.sort(means.joint_low)[-k])
        assert set(means.best(k)) < set(by_intervals)


def test_a_difference_is_that_of_the_estimates_with_the_errors_of_both(some):
    means = some[2]
    found = means.difference(3, 8)
    assert found.estimate == pytest.approx(means.estimate[3] - means.estimate[8])
    widths = (means.high - means.low)[[3, 8]]
    assert max(widths) < found.high - found.low < widths.sum()
    assert means.difference(8, 3).high == pytest.approx(-found.low)


def test_ranks_hold_the_truth_and_leave_others_out(some):
    M, _, means = some
    best, worst = means.rank_intervals()
    rank = 1 + np.argsort(np.argsort(-M.mean(axis=1)))
    assert np.all((best <= rank) & (rank <= worst))
    assert best.max() > 10
    assert worst.min() < 70
    opposite = means.rank_intervals(largest=False)
    np.testing.assert_array_equal(opposite[0], len(means) + 1 - worst)
    np.testing.assert_array_equal(opposite[1], len(means) + 1 - best)


@pytest.mark.parametrize("draws", [effort(20, 200)])
def test_uniform_columns_give_paired_differences(draws):
    rng = np.random.default_rng(2)
    M = (rng.random((12, 300)) < rng.random(300) * np.linspace(0.5, 1, 12)[:, None]).astype(float)
    truth, inside, widths = M.mean(axis=1), [], []
    for seed in range(draws):
        seen = curplus.observe(M, n_columns=50, n_rows=2, n_entries=0, rng=seed)
        means = curplus.estimate_means(curplus.approximate(seen, models=["offsets"]), seen)
        assert not means.reason
        for a in range(12):
            for b in range(a if not means.is_exact[a] else 0):
                found = means.difference(a, b)
                inside.append(found.low - 1e-12 <= truth[a] - truth[b] <= found.high + 1e-12)
                widths.append((found.high - found.low) / np.hypot(*(means.high - means.low)[[a, b]]))
    assert 0.93 < np.mean(inside) < 0.98
    assert np.mean(widths) < 0.95


def test_differences_are_refused_with_the_intervals():
    M = matrix()
    refused = means_of(
        curplus.Observation.from_table(np.where(np.random.default_rng(1).random(M.shape) < 0.7, np.nan, M))
    )
    assert math.isnan(refused.difference(0, 1).low)
    assert not refused.difference(0, 1).is_clear
    assert refused.rank_intervals()[0].tolist() == [1] * len(M)


def test_a_row_that_stands_out_is_found():
    M = matrix()
    M[7] += 5
    assert means_of(entries_of(M, 1500)).best(1).tolist() == [7]


def test_a_table_with_gaps_must_say_that_values_are_missing_at_random():
    M = matrix()
    table = np.where(np.random.default_rng(1).random(M.shape) < 0.7, np.nan, M)
    refused = means_of(curplus.Observation.from_table(table))
    assert "how the entries were chosen is not known" in refused.reason
    assert np.isnan(refused.low).all()
    assert refused.total_interval is None
    assert len(refused.best(3)) == 80
    means = means_of(curplus.Observation.from_table(table, design=SamplingDesign(entries="uniform")))
    assert covered(means, M.mean(axis=1)).mean() > 0.88
    assert means.n_entries.sum() == np.count_nonzero(~np.isnan(table))


def test_gaps_of_sampled_rows_are_predicted():
    M = matrix()
    table = np.where(np.random.default_rng(1).random(M.shape) < 0.1, np.nan, M)
    seen = curplus.acquire(table, n_columns=6, n_rows=6, n_entries=1000, gaps=True, rng=0)
    means = means_of(seen)
    assert covered(means, M.mean(axis=1)).mean() > 0.9
    assert covered(means, M.mean(axis=1))[seen.row_index].all()
    assert np.all((means.high - means.low)[seen.row_index] > 0)


def test_with_noise_whole_rows_are_uncertain_too():
    M = matrix(50, 40)
    noisy = M + 0.2 * np.random.default_rng(1).standard_normal(M.shape)
    seen = curplus.observe(noisy, n_columns=3, n_rows=5, n_entries=800, noise=0.2, rng=0)
    means = means_of(seen)
    width = 2 * 0.2 / math.sqrt(40) * scipy.stats.norm.ppf(0.975)
    assert (means.high - means.low)[means.is_exact] == pytest.approx(np.full(5, width))
    assert covered(means, M.mean(axis=1)).mean() > 0.85
    unknown = means_of(replace(seen, noise="unknown"))
    assert "as they were measured" in str(unknown)


def test_entries_that_took_part_in_choosing_are_no_evidence():
    M = matrix(40, 30)
    seen = entries_of(M, 400, n_columns=2, n_rows=2)
    steering = np.zeros(400, dtype=bool)
    steering[:100] = True
    object.__setattr__(seen, "evidence", ~steering)
    assert not np.isin(cross_fit(curplus.approximate(seen, 2), seen).counted, np.flatnonzero(steering)).any()


def mean_width(means):
    return np.mean((means.high - means.low)[~means.is_exact])


def test_entries_that_took_part_in_choosing_count_as_far_as_the_others_are_like_them():
    """Those of acquire are, and make intervals as narrow as if all of them were evidence; large ones are not."""
    M = matrix(80, 60)
    seen = curplus.acquire(M, n_columns=4, n_rows=4, n_entries=1600, rng=0)
    approx = curplus.approximate(seen, 2)
    alone = seen.subset(entries=seen.evidence, design=seen.design)
    usual = mean_width(curplus.estimate_means(approx, seen))
    assert usual < 0.85 * mean_width(curplus.estimate_means(approx.provenance.method.fit(alone), alone))
    wrong = np.array(seen.values)
    wrong[~seen.evidence] += 3.0
    biased = replace(seen, values=wrong, noise="unknown", gaps=False)
    found = cross_fit(curplus.approximate(biased, 2), biased, with_steering=True)
    rest = 60 - known_part(biased).n_values
    rows = sample_rows(found, rest)
    both = with_steering(rows, found, rest)
    some = (rest > 0) & np.isfinite(rows.factor)
    assert np.mean(both.factor[some] / rows.factor[some]) > 0.8
    assert np.sqrt(np.mean((both.mean - rows.mean)[some] ** 2)) < 0.3  # of 3


def test_the_total_is_that_of_the_evidence_alone():
    """A common bias of all rows, too small to be seen in them, would spoil it."""
    M = matrix(60, 50)
    seen = curplus.acquire(M, n_columns=4, n_rows=4, n_entries=1200, rng=0)
    approx = curplus.approximate(seen, 2)
    found = cross_fit(approx, seen, with_steering=True)
    known = known_part(seen)
    rest = 50 - known.n_values
    rows = sample_rows(found, rest)
    assert np.isfinite(rows.mean[rest > 0]).all()
    total = np.sum(known.total) + np.nansum(rest * rows.mean)
    assert curplus.estimate_means(approx, seen).total == pytest.approx(total)


@pytest.mark.parametrize("estimate", [-3.0, -0.1, 0.0, 0.2, 5.0])
@pytest.mark.parametrize("likely", [1e-3, 0.1, 10.0])
def test_what_is_expected_of_a_square_is_what_integrals_say(estimate, likely):
    x = (np.arange(2_000_000) + 0.5) * 1e-5
    density = np.exp(-x / likely - (x - estimate) ** 2 / (2 * 0.4**2) + estimate * (estimate < 0))
    assert _expected_square(estimate, 0.4, likely) == pytest.approx(np.sum(x * density) / np.sum(density), rel=1e-3)
    assert _expected_square(1e-9 * estimate, 4e-10, 1e-20) == pytest.approx(1e-20, rel=1e-3)
    assert _expected_square(estimate, 0.0, likely) == max(estimate, 0.0)


def test_without_a_method_the_entries_that_the_fit_did_not_use_are_the_evidence(some):
    M, _, _ = some
    seen = entries_of(M, 2600, n_columns=3, n_rows=3)
    approx = curplus.cur_plus(seen, 2, holdout=0.3)
    assert len(approx.held_out) > 100
    bare = replace(approx, provenance=Provenance(held_out=approx.held_out))
    means = curplus.estimate_means(bare, seen)
    assert means.n_entries.sum() == len(approx.held_out)
    assert covered(means, M.mean(axis=1)).mean() > 0.88
    nothing = curplus.estimate_means(replace(approx, provenance=Provenance()), seen)
    assert "cannot be made again" in nothing.reason


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda rng: np.exp(2 * rng.standard_normal((80, 60))), "too heavy a tail|effective sample size of the"),
        (
            lambda rng: rng.standard_normal((80, 60)) + 1e4 * (rng.random((80, 60)) < 5e-3),
            "effective sample size of the",
        ),
    ],
)
def test_long_tails_are_refused(make, reason):
    means = means_of(entries_of(make(np.random.default_rng(0)), 1500))
    assert np.isnan(means.low).all()
    assert np.isfinite(means.estimate).all()
    assert any(word in means.reason for word in reason.split("|"))


def test_few_entries_are_refused():
    means = means_of(entries_of(matrix(20, 15), 20, n_columns=3, n_rows=3))
    assert "entries can be held out" in means.reason
    assert np.isfinite(means.low).sum() == 3


def test_the_spread_of_rows_is_found_and_means_are_pulled_by_it():
    rng = np.random.default_rng(0)
    truth, variance = rng.normal(3.0, 0.5, 4000), rng.uniform(0.1, 2.0, 4000)
    seen = truth + np.sqrt(variance) * rng.standard_normal(4000)
    variance[:100] = np.inf
    found = row_effects(seen, Variances(variance, variance, np.full(4000, 50.0), 1.0), np.ones((4000, 1)), 1e6)
    assert found.spread == pytest.approx(0.5, rel=0.1)
    assert found.mean[:100] == pytest.approx(np.full(100, 3.0), abs=0.1)
    z = (found.mean - truth) / np.sqrt(found.variance)
    assert np.std(z) == pytest.approx(1.0, abs=0.06)
    assert np.std(z[:100]) == pytest.approx(1.0, abs=0.25)


def test_names_go_into_the_table_and_the_report():
    pytest.importorskip("pandas")
    M = matrix(40, 30)
    names = [f"model {k}" for k in range(40)]
    i, j = np.divmod(np.sort(np.random.default_rng(0).permutation(1200)[:500]), 30)
    design = SamplingDesign(entries="uniform")
    seen = curplus.Observation(shape=(40, 30), i=i, j=j, values=M[i, j], row_names=names, design=design)
    means = means_of(seen)
    frame = means.to_frame()
    assert frame.index.tolist() == names
    assert frame["estimate"].tolist() == means.estimate.tolist()
    assert names[int(np.argmax(means.estimate))] in str(means)
    assert "<table>" in means._repr_html_()
    assert "40 rows" in repr(means)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"level": 95}, "level=95 is not a confidence"),
        ({"axis": 2}, "axis=2 is neither 1"),
        ({"observation": None}, "was given a Factorization and a NoneType"),
        (
            {"observation": curplus.observe(np.eye(40), n_columns=1, n_rows=1, n_entries=9, rng=0)},
            "another observation",
        ),
    ],
)
def test_what_cannot_be_estimated_is_refused(change, message):
    seen = entries_of(matrix(40, 30), 500)
    arguments = {"observation": seen} | change
    with pytest.raises(InvalidArgumentError, match=message):
        curplus.estimate_means(curplus.approximate(seen, 2), **arguments)


def test_chances_that_depend_on_the_values_leave_the_total_without_bias():
    """Row by row, each divided by its own sum of weights, the totals were off by 1.2 standard errors on average."""
    off, inside, draws = [], [], effort(10, 20)
    for seed in range(draws):
        M, seen = drawn_by_value(seed)
        means = curplus.estimate_means(curplus.approximate(seen, 2), seen)
        if means.reason:
            continue
        low, high = means.total_interval
        off.append((means.total - M.sum()) / ((high - low) / 4))
        truth = M.mean(axis=1)
        inside.append(np.all((means.joint_low <= truth) & (truth <= means.joint_high)))
    assert len(off) >= draws / 2
    assert abs(np.mean(off)) < 0.6
    assert np.mean(inside) > 0.8


def test_the_mean_of_a_row_drawn_by_chances_is_what_a_dense_computation_says():
    M, seen = drawn_by_value(0)
    found = cross_fit(curplus.approximate(seen, 2), seen, with_steering=True)
    rows = sample_rows(found, np.full(60, 40.0))
    k = seen.n_entries
    expected = np.zeros(60)
    for fold, fit in enumerate(found.fits):
        here = np.flatnonzero(found.fold == fold)
        dense = fit.to_array()
        expected += len(here) / k * dense.mean(axis=1)
        errors = (M - dense)[seen.i[here], seen.j[here]] / (k * seen.probabilities[here])
        expected += np.bincount(seen.i[here], errors, 60) / 40
    np.testing.assert_allclose(rows.mean, expected)


@pytest.mark.parametrize("counts", [(0, 0, 400), (5, 5, 200), (0, 5, 200), (5, 0, 200), (5, 5, 0)])
def test_the_means_of_a_matrix_of_zeros_are_zero(counts):
    n_columns, n_rows, n_entries = counts
    seen = curplus.observe(np.zeros((100, 60)), n_columns=n_columns, n_rows=n_rows, n_entries=n_entries, rng=0)
    means = means_of(seen)
    assert not means.estimate.any()
    assert means.total == 0
    assert means.reason
    assert np.isnan(means.low).sum() == 100 - n_rows


@pytest.mark.parametrize("usual", [0.0, 1.0, 1 / 7])
@pytest.mark.parametrize("counts", [(0, 0, 100), (0, 0, 400), (12, 0, 0)])
def test_values_that_are_all_the_same_do_not_show_how_far_rare_ones_are_from_them(usual, counts):
    n_columns, n_rows, n_entries = counts
    M = np.full((100, 60), usual)
    seen = curplus.observe(M, n_columns=n_columns, n_rows=n_rows, n_entries=n_entries, rng=0)
    approx = curplus.approximate(seen)
    means = curplus.estimate_means(approx, seen)
    assert means.total_interval is None
    assert np.isnan(means.joint_low).all()
    assert "so they do not show how" in means.reason
    if n_entries:
        certificate = curplus.certify(approx, seen)
        assert certificate.interval is None
        assert "so they do not show how" in certificate.reason


def test_the_total_of_rare_values_is_covered_or_refused():
    for seed in range(effort(10, 40)):
        M = (np.random.default_rng(seed).random((100, 60)) < 0.002).astype(float)
        interval = means_of(entries_of(M, 100, rng=seed)).total_interval
        assert interval is None or interval[0] <= M.sum() <= interval[1]


def test_what_certify_refuses_gives_no_intervals_of_means_or_values(rng):
    """The chances leave half of the rows no chance."""
    M = rng.standard_normal((80, 60))
    M[40:] += 5
    i, j = rng.integers(0, 40, 1500), rng.integers(0, 60, 1500)
    seen = curplus.Observation(shape=M.shape, i=i, j=j, values=M[i, j], probabilities=np.full(1500, 1 / 2400))
    approx = curplus.approximate(seen)
    reasons = [curplus.estimate_means(approx, seen).reason, curplus.predict_interval(approx, seen, [50], [3]).reason]
    assert all("only about 50% of the positions could be drawn" in reason for reason in reasons)


def test_limits_that_measured_values_contradict_are_refused(rng):
    M = 100 * rng.random((60, 40))
    seen = curplus.observe(M, n_columns=3, n_rows=3, n_entries=500, rng=0)
    approx = curplus.approximate(seen)
    with pytest.raises(InvalidArgumentError, match="max_value=1 is said to hold"):
        curplus.estimate_means(approx, seen, max_value=1)
    with pytest.raises(InvalidArgumentError, match="max_value=1 is said to hold"):
        curplus.predict_interval(approx, seen, [0], [0], max_value=1)


@pytest.mark.parametrize("count", [24, 1200])
def test_rows_that_are_known_entry_by_entry_are_exact(rng, count):
    """Also if there are too few entries for intervals."""
    M = 4 + rng.standard_normal((6, 4) if count == 24 else (40, 30))
    seen = curplus.observe(M, n_columns=0, n_rows=0, n_entries=count, rng=0)
    means = curplus.estimate_means(curplus.approximate(seen), seen)
    np.testing.assert_allclose(means.estimate, M.mean(axis=1), rtol=1e-12)
    assert means.is_exact.all()
    assert means.total == pytest.approx(M.sum())


@pytest.mark.parametrize("missing", [0, 15])
def test_rows_that_are_known_and_no_evidence_keep_their_values(rng, missing):
    """Values of before: their rows are not shrunk towards those of which a few entries are known."""
    M = (rng.random((48, 150)) < rng.permutation(np.linspace(0.1, 0.9, 48))[:, None]).astype(float)
    asked = rng.permutation(8 * 150)[:800]
    known = np.array([rng.permutation(150)[: 150 - missing] for _ in range(40)])
    i = np.concatenate([np.repeat(np.arange(40), 150 - missing), 40 + asked // 150])
    j = np.concatenate([known.ravel(), asked % 150])
    evidence = np.arange(len(i)) >= known.size
    design = SamplingDesign(entries="uniform")
    seen = curplus.Observation(shape=M.shape, i=i, j=j, values=M[i, j], evidence=evidence, design=design)
    means, truth = curplus.estimate_means(curplus.approximate(seen), seen), M.mean(axis=1)
    assert means.is_exact[:40].all() == (missing == 0)
    assert np.abs(means.estimate - truth)[:40].max() <= missing / 150
    assert np.mean((means.low <= truth + 1e-12) & (truth <= means.high + 1e-12)) > 0.9
