import dataclasses
import math
from dataclasses import replace

import numpy as np
import pytest

import curplus
from curplus.exceptions import InvalidArgumentError
from curplus.factorization import Provenance
from tests.conftest import effort
from tests.strategies import gaussian, observed


def without_method(approx, held_out):
    """The same matrix, of which only the entries that were held out are known."""
    return curplus.Factorization(approx.left, approx.core, approx.right, provenance=Provenance(held_out=held_out))


@pytest.fixture
def noisy(low_rank, rng):
    """Factory: a low-rank matrix under noise, what was seen of it, and the approximation."""

    def make(n_entries=2000, noise=0.3, seed=0, shape=(300, 200), **lines):
        M = low_rank(shape, 4) + noise * rng.standard_normal(shape)
        seen = curplus.observe(M, **{"n_columns": 12, "n_rows": 12} | lines, n_entries=n_entries, rng=seed)
        return M, seen, curplus.approximate(seen, 4)

    return make


def outside_lines(seen):
    return ~(np.isin(seen.i, seen.row_index) | np.isin(seen.j, seen.column_index))


def test_the_estimate_is_the_known_part_plus_the_mean_of_the_rest(noisy):
    M, seen, _ = noisy()
    approx = curplus.cur_plus(seen, 4, holdout=0.2)
    E, held = M - approx.to_array(), approx.held_out
    known = np.zeros(M.shape, dtype=bool)
    known[seen.row_index] = known[:, seen.column_index] = True
    used = np.setdiff1d(np.flatnonzero(outside_lines(seen)), held)
    known[seen.i[used], seen.j[used]] = True
    expected = np.sum(E[known] ** 2) + np.sum(~known) * np.mean(E[seen.i[held], seen.j[held]] ** 2)
    certificate = curplus.certify(without_method(approx, held), seen)
    assert certificate.evidence == "held-out entries"
    assert certificate.error == pytest.approx(math.sqrt(expected))
    assert certificate.lower_bound == pytest.approx(
        math.sqrt(np.sum(E[known] ** 2) + np.sum(E[seen.i[held], seen.j[held]] ** 2))
    )
    lines = (E[seen.row_index], E[:, seen.column_index])
    assert certificate.spectral_lower_bound == pytest.approx(max(np.linalg.norm(x, 2) for x in lines))
    assert certificate.spectral_lower_bound <= np.linalg.norm(E, 2) * (1 + 1e-12)
    assert certificate.lower_bound <= np.linalg.norm(E)
    assert certificate.relative_error == pytest.approx(np.linalg.norm(E) / np.linalg.norm(M), rel=0.2)


def test_intervals_that_are_given_cover_the_truth(noisy):
    given, covered, draws = 0, 0, effort(8, 20)
    for seed in range(draws):
        M, seen, approx = noisy(n_entries=2500, seed=seed, shape=(120, 90))
        interval = curplus.certify(approx, seen).interval
        if interval is not None:
            given += 1
            covered += interval[0] <= np.linalg.norm(M - approx.to_array()) <= interval[1]
    assert given >= 0.8 * draws
    assert covered >= 0.8 * given


def test_intervals_of_zeros_and_ones_cover_the_truth():
    """Their squared errors are nearly equal, so that chance in the fits is most of the error of their mean."""
    rng = np.random.default_rng(0)
    M = (rng.standard_normal((80, 3)) @ rng.standard_normal((3, 60)) + rng.standard_normal((80, 60)) > 0).astype(float)
    covered, draws = 0, effort(16, 200)
    for seed in range(draws):
        seen = curplus.observe(M, n_columns=0, n_rows=0, n_entries=600, rng=seed)
        approx = curplus.approximate(seen)
        low, high = curplus.certify(approx, seen).interval
        covered += low <= np.linalg.norm(M - approx.to_array()) <= high
    assert covered >= effort(0.8, 0.9) * draws


def test_a_higher_level_makes_a_wider_interval(noisy):
    _, seen, approx = noisy(n_entries=8000)
    narrow, wide = (curplus.certify(approx, seen, level=level).interval for level in (0.5, 0.99))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_entries_used_in_the_fit_never_count_in_the_estimate(noisy):
    _, seen, approx = noisy()
    held = np.flatnonzero(outside_lines(seen))[::5]
    blind, used = without_method(approx, held), np.setdiff1d(np.arange(seen.n_entries), held)
    values = np.array(seen.values)
    values[used[outside_lines(seen)[used]]] += 100.0
    spoilt, plain = (curplus.certify(blind, x) for x in (replace(seen, values=values), seen))
    assert np.allclose(spoilt.errors, plain.errors, rtol=1e-9)
    outside = used[outside_lines(seen)[used]]
    guess = approx.entries(seen.i[outside], seen.j[outside])
    known = [np.sum((x[outside] - guess) ** 2) for x in (values, seen.values)]  # an error is known where it was fitted
    assert spoilt.error**2 - known[0] == pytest.approx(plain.error**2 - known[1], rel=1e-6)
    assert "judged by the fitted entries" in spoilt.reason
    plus = curplus.certify(without_method(curplus.cur_plus(seen, 4), np.empty(0, dtype=np.int64)), seen)
    assert math.isnan(plus.error)
    assert plus.interval is None
    assert "no entry was kept out of the fit; how the approximation was made is not known" in plus.reason


def test_cur_full_is_judged_by_all_entries(noisy):
    M, seen, _ = noisy()
    full = curplus.cur_full(M, seen, 4)
    low, high = curplus.certify(full, seen).interval
    assert low <= np.linalg.norm(M - full.to_array()) <= high


def test_left_out_rows_judge_where_there_are_no_entries(full_rank):
    M = full_rank((400, 100), rank=4, noise=0.5)
    seen = curplus.observe(M, n_columns=20, n_rows=120, n_entries=0, rng=0)
    approx = curplus.approximate(seen, 4)
    certificate = curplus.certify(approx, seen)
    assert certificate.evidence == "left-out rows"
    assert certificate.interval[0] <= np.linalg.norm(M - approx.to_array()) <= certificate.interval[1]
    assert certificate.spectral_estimate == pytest.approx(np.linalg.norm(M - approx.to_array(), 2), rel=0.5)
    chosen = replace(seen, design=("adaptive", "adaptive", "uniform"))
    assert "the rows were not drawn uniformly" in curplus.certify(approx, chosen).reason


def test_unequal_chances_are_accounted_for(low_rank, rng):
    M = low_rank((200, 150), 3)
    M[:20] *= 10
    wrong = 0.9
    chance = np.where(np.arange(200) < 20, 9.0, 1.0)[:, None] * np.ones((1, 150))
    chance /= chance.sum()
    flat = rng.choice(M.size, size=6000, p=chance.ravel())
    i, j = np.divmod(flat, 150)
    seen = curplus.Observation(shape=M.shape, i=i, j=j, values=M[i, j], probabilities=chance[i, j])
    exact = curplus.cur_plus(curplus.observe(M, n_columns=6, n_rows=6, n_entries=60, rng=0), 3)
    answer = curplus.Factorization(
        exact.left,
        exact.core._replace(Z=wrong * exact.core.Z),
        exact.right,
        provenance=Provenance(held_out=np.arange(6000)),
    )
    truth = (1 - wrong) * np.linalg.norm(M)
    certificate = curplus.certify(answer, seen)
    assert certificate.error == pytest.approx(truth, rel=0.05)
    assert curplus.certify(answer, replace(seen, probabilities=None)).error > 1.3 * truth


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("few", "effective sample size of the (held-out|cross-fitted) entries is"),
        ("spike", r"size of the held-out entries is 1\b[^;]*, and at least 100 is needed"),
        ("tail", r"too heavy a tail \(lightness 0.[123]\d, and at least 0.4 is needed\)"),
        ("given", "how the entries were chosen is not known"),
        ("zero", "all errors of the .* entries are zero"),
    ],
)
def test_an_interval_that_could_be_wrong_is_refused_with_the_reason(noisy, change, reason):
    M, seen, approx = noisy(n_entries=40 if change == "few" else 3000)
    if change == "spike":
        values, held_out = np.array(seen.values), np.flatnonzero(seen.outside)[::10]
        values[held_out[0]] += 1000.0
        seen, approx = replace(seen, values=values), without_method(approx, held_out)
    elif change == "tail":
        M = M + 0.5 * np.random.default_rng(0).standard_t(3, M.shape)
        seen = curplus.observe(M, n_columns=12, n_rows=12, n_entries=6000, rng=0)
        approx = curplus.cur_full(M, seen, 4)
    elif change == "given":
        seen = replace(seen, design=("given", "given", "given"))
    elif change == "zero":
        seen = curplus.observe(np.zeros((30, 20)), n_columns=3, n_rows=3, n_entries=200, rng=0)
        approx = curplus.approximate(seen, 2)
    certificate = curplus.certify(approx, seen)
    assert certificate.interval is None
    assert __import__("re").search(reason, certificate.reason)
    assert "no interval" in certificate.verdict or "no estimate" in certificate.verdict


@pytest.mark.parametrize("read", [{"budget": 0.1}, {"n_columns": 0, "n_rows": 0, "n_entries": 9154}])
def test_heavy_errors_of_bounded_values_get_an_interval(read):
    M = curplus.datasets.load("oboe_errors").matrix
    given, covered = 0, 0
    for seed in range(draws := effort(3, 40)):
        seen = (curplus.acquire if "budget" in read else curplus.observe)(M, **read, rng=seed)
        approx = curplus.approximate(seen)
        if interval := curplus.certify(approx, seen).interval:
            given, covered = given + 1, covered + (interval[0] <= np.linalg.norm(M - approx.to_array()) <= interval[1])
    assert given >= 0.5 * draws
    assert covered >= 0.9 * given - 1


def large_errors(where):
    """A low-rank matrix under noise with errors 100 times as large in a few places."""
    rng = np.random.default_rng(1)
    scale = np.ones((300, 200))
    if where == "scattered":
        scale[rng.random(scale.shape) < 1e-3] = 100
    elif where == "a row":
        scale[7] = 100
    else:
        scale[:15, :15] = 100
    noise = 0.3 * scale * rng.standard_normal(scale.shape)
    return rng.standard_normal((300, 4)) @ rng.standard_normal((4, 200)) + noise


@pytest.mark.parametrize("where", ["scattered", "a row", "a block"])
def test_large_errors_that_the_held_out_entries_miss_are_seen_elsewhere(where):
    M = large_errors(where)
    missed = 0
    for seed in range(30):
        seen = curplus.observe(M, n_columns=15, n_rows=15, n_entries=4000, rng=seed)
        answer = curplus.cur_full(M, seen, 4)
        aside = np.random.default_rng(seed).permutation(4000)[:400]
        few = curplus.Factorization(
            answer.left, answer.core, answer.right, provenance=Provenance(held_out=np.sort(aside))
        )
        certificate = curplus.certify(few, seen)
        low, high = certificate.interval or (0.0, math.inf)
        assert low <= np.linalg.norm(M - answer.to_array()) <= high
        missed += "judged by the" in certificate.reason
    assert missed >= 5


def test_a_giant_row_that_was_not_sampled_is_seen_on_the_columns():
    M = large_errors("a row")
    for seed in range(3):
        seen = curplus.observe(M, n_columns=20, n_rows=90, n_entries=0, rng=seed)
        if 7 not in seen.row_index:
            certificate = curplus.certify(curplus.approximate(seen, 4), seen)
            assert "left-out rows is" in certificate.reason
            assert "(judged by the sampled columns)" in certificate.reason


class CountedFits(curplus.methods.CURPlus):
    """The paper's method, which counts how often it is fitted without all the rows."""

    without_rows = 0

    def fit(self, observation):
        type(self).without_rows += observation.n_rows < 40
        return super().fit(observation)


def test_fewer_rows_than_an_interval_takes_are_not_left_out_where_entries_tell_the_error():
    M = large_errors("a row")
    method = CountedFits(rank=4)
    entries = curplus.observe(M, n_columns=20, n_rows=40, n_entries=600, rng=0)
    certificate = curplus.certify(method.fit(entries), entries)
    assert "left-out rows need at least 50 sampled rows, and there are 40" in certificate.reason
    assert method.without_rows == 0
    given = replace(entries, i=[], j=[], values=[])
    estimate = curplus.certify(curplus.approximate(given, 4), given)
    assert estimate.evidence == "left-out rows"
    assert estimate.interval is None
    assert estimate.error > 0


def test_unequal_errors_on_sampled_rows_widen_the_interval(noisy):
    M, seen, _ = noisy(n_entries=6000)
    full = without_method(curplus.cur_full(M, seen, 4), np.arange(seen.n_entries))
    read_twice = np.union1d(seen.column_index, seen.j[np.isin(seen.i, seen.row_index)])
    rows = np.array(seen.rows)
    rows[:, np.setdiff1d(np.arange(200), read_twice)] += 1.0
    plain, wider = (curplus.certify(full, x) for x in (seen, replace(seen, rows=rows)))
    assert np.diff(np.log(wider.interval)) > 1.1 * np.diff(np.log(plain.interval))


def test_witnesses_that_were_fitted_exactly_do_not_stand_in_the_way(rng):
    M = np.sqrt(rng.uniform(size=(800, 1))) * rng.standard_normal((800, 100))
    seen = curplus.observe(M, n_columns=20, n_rows=120, n_entries=0, rng=0)
    approx = curplus.approximate(seen, 100)
    certificate = curplus.certify(approx, seen)
    assert certificate.lower_bound < 1e-10 * certificate.error
    assert certificate.interval[0] <= np.linalg.norm(M - approx.to_array()) <= certificate.interval[1]


def test_repeated_places_count_once(noisy):
    M, seen, _ = noisy()
    full = curplus.cur_full(M, seen, 4)
    twice = observed(
        M, curplus.SamplePlan(M.shape, seen.column_index, seen.row_index, np.tile(seen.i, 2), np.tile(seen.j, 2))
    )
    doubled = curplus.cur_full(M, twice, 4)
    assert curplus.certify(doubled, replace(twice, design=seen.design)).error == pytest.approx(
        curplus.certify(full, seen).error
    )


@pytest.mark.parametrize("scale", effort([1e-100], [1e-100, 1e100]))
def test_scale_passes_through(noisy, scale):
    M, seen, approx = noisy(n_entries=3500)
    counts = {"n_columns": 12, "n_rows": 12, "n_entries": 3500, "rng": 0}
    scaled_seen = curplus.observe(M * scale, **counts)
    scaled = curplus.certify(curplus.approximate(scaled_seen, 4), scaled_seen)
    plain = curplus.certify(approx, seen)
    assert scaled.error / scale == pytest.approx(plain.error, rel=1e-6)
    assert scaled.relative_error == pytest.approx(plain.relative_error, rel=1e-6)


def test_prints_and_draws_itself(noisy):
    plt = pytest.importorskip("matplotlib.pyplot")
    _, seen, approx = noisy(n_entries=8000)
    certificate = curplus.certify(approx, seen)
    assert "confidence between" in str(certificate)
    assert certificate.detection_limit == 5 / seen.n_values_read
    assert f"cannot see: large errors at fewer than 1 in {seen.n_values_read / 5:,.0f} places" in str(certificate)
    assert f"{3 * len(certificate.errors)} more entries" in str(certificate)
    assert "interval" in curplus.plotting.plot_certificate(certificate).get_title()
    plt.close("all")


def test_what_cannot_be_judged_is_refused(noisy, full_rank):
    _, seen, approx = noisy()
    with pytest.raises(InvalidArgumentError, match="level=95 is not a confidence"):
        curplus.certify(approx, seen, level=95)
    other = curplus.observe(full_rank((20, 10)), n_columns=2, n_rows=2, n_entries=0, rng=0)
    with pytest.raises(InvalidArgumentError, match=r"shape \(300, 200\) and the observation \(20, 10\)"):
        curplus.certify(approx, other)


@pytest.mark.parametrize("share", [0.5, 0.8, 1.0])
def test_intervals_cover_where_much_of_the_matrix_was_read(low_rank, rng, share):
    """Fitted places have smaller errors than the others, and must not be taken for them."""
    truth = low_rank((90, 60), 3)
    given, covered, draws = 0, 0, effort(6, 12)
    for seed in range(draws):
        M = truth + 0.2 * rng.standard_normal((90, 60))
        seen = curplus.observe(M, n_columns=8, n_rows=8, n_entries=round(share * M.size), rng=seed)
        approx = curplus.approximate(seen, 3)
        interval = curplus.certify(approx, seen).interval
        if interval is not None:
            given += 1
            covered += interval[0] * (1 - 1e-9) <= np.linalg.norm(M - approx.to_array()) <= interval[1] * (1 + 1e-9)
    assert given >= 0.75 * draws
    assert covered >= 0.75 * given


def test_left_out_rows_cover_where_most_rows_were_read(low_rank, rng):
    given, covered, draws = 0, 0, effort(6, 12)
    truth = low_rank((150, 100), 3)
    for seed in range(draws):
        M = truth + 0.2 * rng.standard_normal((150, 100))
        seen = curplus.observe(M, n_columns=8, n_rows=130, n_entries=0, rng=seed)
        approx = curplus.approximate(seen, 3)
        interval = curplus.certify(approx, seen).interval
        if interval is not None:
            given += 1
            covered += interval[0] <= np.linalg.norm(M - approx.to_array()) <= interval[1]
    assert given >= 0.58 * draws
    assert covered >= 0.75 * given


@pytest.mark.parametrize("counts", [(20, 5, 0), (20, 5, 300), (3, 60, 0), (20, 60, 10)])
def test_where_all_rows_or_columns_were_read_the_error_is_exact(rng, counts):
    M = rng.standard_normal((60, 20))
    seen = curplus.observe(M, **dict(zip(("n_columns", "n_rows", "n_entries"), counts, strict=True)), rng=0)
    approx = curplus.approximate(seen, 3)
    certificate = curplus.certify(approx, seen)
    assert certificate.evidence == "everything was read"
    assert certificate.error == pytest.approx(np.linalg.norm(M - approx.to_array()))
    assert certificate.interval == (certificate.error, certificate.error)


def test_errors_of_very_different_size_are_no_trouble(rng):
    M = rng.standard_normal((300, 200)) * np.where(np.arange(200) < 10, 1.0, 1e-80)
    seen = curplus.Observation(
        shape=M.shape,
        column_index=np.arange(10),
        columns=M[:, :10],
        i=np.arange(300),
        j=10 + np.arange(300) % 190,
        values=M[np.arange(300), 10 + np.arange(300) % 190],
        design=curplus.observation.SamplingDesign("given", "given", "uniform"),
    )
    zero = curplus.approximate(seen, 2)
    blind = without_method(zero, np.arange(300))
    assert curplus.certify(blind, seen).interval is None


@pytest.mark.parametrize(
    ("counts", "is_given"), [((12, 12, 6000), True), ((0, 60, 0), True), ((60, 0, 0), True), ((12, 12, 0), False)]
)
def test_the_certificate_of_a_complex_matrix_is_that_of_its_conjugate(counts, is_given):
    """Errors count by their magnitudes, so that turning their phases changes nothing."""
    rng = np.random.default_rng(0)
    M = gaussian(rng, (300, 5), "complex") @ gaussian(rng, (5, 200), "complex") + gaussian(rng, (300, 200), "complex")
    seen = curplus.observe(M, n_columns=counts[0], n_rows=counts[1], n_entries=counts[2], rng=0)
    approx = curplus.approximate(seen, 5, models=("skeleton",) if counts[0] and counts[1] else ("offsets",))
    found = curplus.certify(approx, seen)
    truth = np.linalg.norm(M - approx.to_array())
    assert found.error == pytest.approx(truth, rel=0.1)
    assert (found.interval is not None) == is_given
    turned = dataclasses.replace(seen, **{x: getattr(seen, x).conj() for x in ("columns", "rows", "values")})
    other = curplus.certify(approx.conj(), turned)
    assert other.error == pytest.approx(found.error)
    if is_given:
        assert found.interval[0] < truth < found.interval[1]
        assert other.interval == pytest.approx(found.interval)
