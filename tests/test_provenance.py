"""An approximation remembers how it was made, whatever is done to it, and can be certified afterwards."""

import dataclasses
import json

import numpy as np
import pytest

import curplus
from curplus.exceptions import InvalidArgumentError
from curplus.factorization import Fact, FitReport
from curplus.methods import METHODS, CURFull, CURPlus, CURUnbiased, Method, StackedApproximation
from curplus.solvers import LSMR
from tests.conftest import effort

MAKE = {
    "approximate": lambda M, seen: curplus.approximate(seen, 4),
    "cur_plus": lambda M, seen: curplus.cur_plus(seen, 4),
    "cur_plus, holdout": lambda M, seen: curplus.cur_plus(seen, 4, holdout=0.3),
    "cur_full": lambda M, seen: curplus.cur_full(M, seen, 4),
    "cur_unbiased": lambda M, seen: curplus.cur_unbiased(seen, 4),
}
every_method = pytest.mark.parametrize("make", MAKE.values(), ids=MAKE)


@pytest.fixture
def noisy(full_rank):
    M = full_rank((200, 150), rank=4, noise=0.3)
    return M, curplus.observe(M, n_columns=20, n_rows=70, n_entries=4000, rng=0)


MADE = {}


@pytest.fixture
def approximated(noisy):
    """The answer of `approximate` for this matrix, made once for all tests."""
    if not MADE:
        MADE["noisy"] = curplus.approximate(noisy[1], 4)
    return MADE["noisy"]


def changed(tmp_path):
    """What may be done to an approximation, and to its observation with it."""

    def saved(approx):
        approx.save(tmp_path / "approx.npz")
        return curplus.load(tmp_path / "approx.npz")

    return {
        "as it is": (lambda a: a, lambda s: s),
        "transposed": (lambda a: a.T, lambda s: s.T),
        "transposed twice": (lambda a: a.T.T, lambda s: s),
        "truncated": (lambda a: a.truncate(3), lambda s: s),
        "saved": (saved, lambda s: s),
        "truncated, transposed, saved": (lambda a: saved(a.truncate(3).T), lambda s: s.T),
    }


@every_method
def test_can_be_certified_whatever_is_done_to_it(noisy, make, tmp_path):
    M, seen = noisy
    made = make(M, seen)
    for name, (change, turn) in changed(tmp_path).items():
        approx, observation = change(made), turn(seen)
        truth = np.linalg.norm((M if approx.shape == M.shape else M.T) - approx.to_array())
        certificate = curplus.certify(approx, observation)
        assert certificate.lower_bound <= truth * (1 + 1e-9), name
        assert certificate.error == pytest.approx(truth, rel=0.2), name


@every_method
def test_making_it_again_gives_the_same(noisy, make, tmp_path):
    M, seen = noisy
    made = make(M, seen)
    for name, (change, turn) in changed(tmp_path).items():
        approx = change(made)
        method = approx.provenance.method
        if method.sees_whole_matrix and "saved" in name:
            with pytest.raises(InvalidArgumentError, match="CUR-F needs the whole matrix"):
                method.fit(turn(seen))
            continue
        again = method.fit(turn(seen))
        np.testing.assert_array_equal(again.to_array(), approx.to_array(), err_msg=name)
        np.testing.assert_array_equal(again.held_out, approx.held_out)


def test_the_example_of_a_cut_approximation_is_covered():
    """Rank 6 cut to 5, rows alone: intervals once were for the approximation before the cut, and none covered."""
    given, covered, draws = 0, 0, effort(8, 200)
    for seed in range(draws):
        r = np.random.default_rng(seed)
        signal = r.standard_normal((400, 6)) * [1, 1, 1, 1, 1, 0.04] @ r.standard_normal((6, 300))
        M = signal + 0.1 * r.standard_normal((400, 300))
        seen = curplus.observe(M, n_columns=80, n_rows=120, n_entries=0, rng=seed)
        cut = curplus.approximate(seen, 6).truncate(5)
        interval = curplus.certify(cut, seen).interval
        given += interval is not None
        covered += interval is not None and interval[0] <= np.linalg.norm(M - cut.to_array()) <= interval[1]
    assert given >= 0.9 * draws
    assert covered >= (0.9 if draws > 50 else 0.75) * given


def test_cur_plus_can_be_certified_by_entries_it_held_out(noisy):
    M, seen = noisy
    approx = curplus.cur_plus(seen, 4, holdout=0.25)
    outside = np.flatnonzero(seen.outside)
    assert len(approx.held_out) == len(outside) // 4
    assert set(approx.held_out) <= set(outside)
    kept = np.setdiff1d(np.arange(seen.n_entries), approx.held_out)
    expected = curplus.cur_plus(seen.subset(entries=kept), 4)
    np.testing.assert_array_equal(approx.core.Z, expected.core.Z)
    certificate = curplus.certify(approx, seen)
    assert certificate.evidence == "cross-fitted entries"
    low, high = certificate.interval
    assert low < np.linalg.norm(M - approx.to_array()) < high


@pytest.mark.parametrize("share", [-0.1, 1.0, "a", True, None])
def test_a_share_that_makes_no_sense_is_refused(noisy, share):
    with pytest.raises(InvalidArgumentError, match=r"holdout=.* is not a share"):
        curplus.cur_plus(noisy[1], 4, holdout=share)


def test_cur_full_is_judged_by_entries_only(noisy):
    M, seen = noisy
    nothing = curplus.certify(curplus.cur_full(M, seen.subset(entries=[])), seen.subset(entries=[]))
    assert np.isnan(nothing.error)
    assert "made from the whole matrix" in nothing.reason


def test_options_that_are_numbers_of_numpy_are_saved_too(noisy, tmp_path):
    approx = curplus.cur_plus(noisy[1], np.int64(4), holdout=np.float32(0.25))
    approx.save(tmp_path / "approx.npz")
    assert curplus.load(tmp_path / "approx.npz").provenance.method == CURPlus(4, "auto", 0.25)


# Another observation


def spoilt(seen):
    """Values of which one, outside the rows and columns, is another."""
    values = np.array(seen.values)
    values[np.flatnonzero(seen.outside)[7]] += 1
    return values


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (lambda M, seen: seen.subset(entries=np.arange(seen.n_entries)[::-1]), "positions of entries"),
        (lambda M, seen: seen.subset(entries=np.arange(2000), design=seen.design), "positions of entries"),
        (lambda M, seen: curplus.observe(M, n_columns=20, n_rows=70, n_entries=4000, rng=1), "columns, rows"),
        (lambda M, seen: dataclasses.replace(seen, weights=np.linspace(1, 2, seen.n_entries)), "values of entries"),
        (lambda M, seen: dataclasses.replace(seen, values=spoilt(seen)), "values of entries"),
        (lambda M, seen: curplus.observe(M + 1, n_columns=20, n_rows=70, n_entries=4000, rng=0), "values of entries"),
    ],
)
def test_another_observation_is_refused(noisy, approximated, other, what):
    M, seen = noisy
    with pytest.raises(InvalidArgumentError, match=f"computed from another observation: its .*{what}.* differ"):
        curplus.certify(approximated, other(M, seen))


def test_a_fingerprint_does_not_depend_on_library_or_order_of_axes(noisy, xp):
    M, seen = noisy
    foreign = curplus.observe(xp.asarray(M), n_columns=20, n_rows=70, n_entries=4000, rng=0)
    assert foreign.fingerprint == seen.fingerprint
    assert seen.T.fingerprint == seen.fingerprint.T
    assert seen.T.T.fingerprint == seen.fingerprint


# Methods are values


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_methods_are_values(method):
    assert isinstance(method, Method)
    assert method == dataclasses.replace(method)
    with pytest.raises(dataclasses.FrozenInstanceError):
        method.rank = 3


@pytest.mark.parametrize(
    "method", [CURPlus(4), CURPlus(4, LSMR(ridge=0.1), 0.2), CURUnbiased(3), CURFull(), StackedApproximation(4)]
)
def test_a_saved_approximation_knows_its_method_again(noisy, tmp_path, method):
    M, seen = noisy
    approx = (dataclasses.replace(method, source=M) if isinstance(method, CURFull) else method).fit(seen)
    approx.save(tmp_path / "approx.npz")
    back = curplus.load(tmp_path / "approx.npz").provenance.method
    assert back == approx.provenance.method
    assert back == method or isinstance(method, StackedApproximation)  # which remembers what it has chosen


@pytest.mark.parametrize("counts", [(6, 20, 800), (5, 5, 200), (0, 0, 800), (8, 8, 0)])
def test_a_saved_approximation_knows_what_was_chosen(full_rank, tmp_path, counts):
    """So that its certificate is that of the one that was not saved, and takes no longer."""
    columns, rows, entries = counts
    M = full_rank((60, 50), rank=4, noise=0.3)
    seen = curplus.observe(M, n_columns=columns, n_rows=rows, n_entries=entries, rng=0)
    approx = curplus.approximate(seen)
    approx.save(tmp_path / "approx.npz")
    approx.to_zarr(tmp_path / "approx.zarr")
    for name in ("approx.npz", "approx.zarr"):
        back = curplus.load(tmp_path / name)
        kept, expected = back.provenance.method, approx.provenance.method
        assert kept == expected
        assert (kept.models, kept.weights, kept.rank) == (expected.models, expected.weights, approx.rank)
    assert repr(curplus.certify(back, seen)) == repr(curplus.certify(approx, seen))


def test_an_unknown_method_loads_without_the_power_to_fit_again(noisy, tmp_path):
    @dataclasses.dataclass(frozen=True)
    class Mine:
        rank: int
        sees_whole_matrix: bool = False

        def fit(self, observation, *, rng=0):
            made = curplus.cur_plus(observation, self.rank)
            return dataclasses.replace(made, provenance=dataclasses.replace(made.provenance, method=self))

    _, seen = noisy
    approx = Mine(4).fit(seen)
    assert curplus.certify(approx, seen).evidence == "cross-fitted entries"
    approx.save(tmp_path / "approx.npz")
    back = curplus.load(tmp_path / "approx.npz")
    np.testing.assert_array_equal(back.to_array(), approx.to_array())
    assert back.provenance.method is None
    assert "how the approximation was made is not known" in curplus.certify(back, seen).reason


def test_a_method_that_needs_more_rows_than_are_left_says_so(full_rank):
    seen = curplus.observe(full_rank((90, 80)), n_columns=50, n_rows=50, n_entries=3000, rng=0)
    seen = seen.with_design(entries="given")
    assert "cannot be made again: rank=50 but only 45 rows" in curplus.certify(curplus.cur_plus(seen, 50), seen).reason


def test_an_approximation_cannot_be_changed(approximated):
    for name in ("core", "provenance", "rank"):
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
            setattr(approximated, name, None)
    with pytest.raises(ValueError, match="read-only"):
        approximated.core.Z[0, 0] = 5


# The report


def test_a_transposed_report_speaks_of_the_other_axis():
    report = FitReport((Fact("row_noise", 0.5, "noise of the {axis}", axis="rows"), Fact("rank", 3)))
    assert str(report.T) == "noise of the columns: 0.5\nrank: 3"
    assert report.T.column_noise == 0.5
    assert report == report.T.T


def test_a_cut_changes_the_rank_in_the_report(approximated):
    report = approximated.truncate(2).report
    assert report["rank"].text == "2, cut from 4"
    assert "verdict" not in report.to_dict()  # it was about the approximation before the cut


def test_what_a_fact_says_never_hides_it():
    """Words that contain "nan", and values that are not known."""
    report = FitReport((Fact("direction", "dominant"), Fact("noise", float("nan")), Fact("tried", None, reason="no")))
    assert str(report) == "direction: dominant\ntried: no"
    assert report.to_dict() == {"direction": "dominant"}
    assert "dominant" in report._repr_html_()


def test_a_report_is_data(approximated):
    report = approximated.report
    assert json.loads(json.dumps(report.to_dict()))["rank"] == 4
    assert report.rank == report["rank"].value == 4
    with pytest.raises(AttributeError, match="the report has no 'rnak'; it has rank"):
        _ = report.rnak


# Arrays and arguments that are something else


def test_an_approximation_is_not_silently_an_array(approximated):
    for call in (lambda: np.asarray(approximated), lambda: np.linalg.norm(approximated)):
        with pytest.raises(InvalidArgumentError, match=r"a factorization is not an array.* Use \.to_array\(\)"):
            call()


def test_a_table_can_multiply_an_approximation_only_in_words(approximated):
    pd = pytest.importorskip("pandas")
    with pytest.raises(InvalidArgumentError, match=r"\.to_array\(\)"):
        _ = pd.DataFrame(np.ones((3, 200))) @ approximated
    product = approximated @ pd.DataFrame(np.eye(150)[:, :2])
    np.testing.assert_allclose(product, approximated.columns([0, 1]))


def test_swapped_arguments_are_named(noisy, approximated):
    M, seen = noisy
    with pytest.raises(InvalidArgumentError, match=r"Give certify\(approximation, observation\)"):
        curplus.certify(seen, approximated)
    with pytest.raises(InvalidArgumentError, match=r"Give cur_full\(source, observation\)"):
        curplus.cur_full(seen, M)
    counts = {"n_columns": 2, "n_rows": 2, "n_entries": 2}
    for call in (
        lambda: curplus.observe(seen, **counts),
        lambda: curplus.acquire(seen, **counts),
        lambda: curplus.select_columns(seen, 2),
        lambda: curplus.open_source(seen),
    ):
        with pytest.raises(InvalidArgumentError, match=r"holds what was read of a matrix\. Give the matrix itself"):
            call()
    with pytest.raises(InvalidArgumentError, match=r"start is a ndarray\. Give an Observation"):
        curplus.acquire(M, **counts, start=M)
    with pytest.raises(InvalidArgumentError, match=r"plan is a NoneType\. Give a SamplePlan"):
        curplus.read(M, None)
    for call in (curplus.approximate, lambda x: curplus.cur_plus(x, 3), lambda x: curplus.propose(x, **counts)):
        with pytest.raises(InvalidArgumentError, match=r"observation is a ndarray\. Give an Observation"):
            call(M)


@pytest.mark.parametrize("level", ["a", None, 0, 1, 2, float("nan")])
def test_a_level_that_is_no_confidence_is_refused(noisy, approximated, level):
    with pytest.raises(InvalidArgumentError, match="is not a confidence"):
        curplus.certify(approximated, noisy[1], level=level)


def test_very_large_and_small_numbers_are_certified_without_overflow(noisy):
    M, _ = noisy
    for unit in (1e200, 1e-200):
        seen = curplus.observe(M * unit, n_columns=20, n_rows=70, n_entries=4000, rng=0)
        answer = curplus.approximate(seen, 4)
        certificate = curplus.certify(answer, seen)
        assert np.isfinite(certificate.errors).all()
        assert certificate.error / unit == pytest.approx(np.linalg.norm(M - answer.to_array() / unit), rel=0.1)
