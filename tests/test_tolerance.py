"""Reading to a tolerance: judged by fresh entries, and never stopped by a part of the matrix that was not met."""

import re

import numpy as np
import pytest

import curplus
from curplus import CallableSource, acquire, approximate
from curplus.methods.approximate.approximate import StackedApproximation
from curplus.methods.approximate.interpolation import Interpolation
from curplus.observation import Cells
from tests.conftest import effort


def kernel(function, n=3000, separated=False):
    x, y = np.linspace(0, 1, n), np.linspace(0, 1, n) + 2 * separated
    return CallableSource(lambda i, j: function(np.abs(x[i] - y[j])), (n, n)), lambda i, j: function(
        np.abs(x[i] - y[j])
    )


KERNELS = {
    "cauchy": (lambda d: 1 / (1 + d**2), False),
    "gaussian": (lambda d: np.exp(-((d / 0.1) ** 2)), False),
    "logarithm": (np.log, True),
    "inverse": (lambda d: 1 / d, True),
}


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize("name", KERNELS)
def test_smooth_functions_are_met_to_the_tolerance_on_entries_nobody_read(name, tol):
    function, separated = KERNELS[name]
    source, value = kernel(function, separated=separated)
    seen = acquire(source, tol=tol, rng=0)
    rng = np.random.default_rng(1)
    i, j = rng.integers(3000, size=(2, 20_000))
    truth = value(i, j)
    error = np.linalg.norm(truth - approximate(seen).entries(i, j)) / np.linalg.norm(truth)
    assert error < tol
    assert seen.n_rows < 60
    assert seen.history[-1].startswith("stopped at the tolerance")


def test_complex_functions_are_met_as_their_phases_change():
    n, k = 1000, 20
    x = np.linspace(0, 1, n)
    value = lambda i, j: np.exp(1j * k * (x[i] + 1.5 - x[j])) / (x[i] + 1.5 - x[j])  # noqa: E731
    of_magnitudes = CallableSource(lambda i, j: np.abs(value(i, j)), (n, n))
    real, turned = (acquire(f, tol=1e-6, rng=0) for f in (of_magnitudes, CallableSource(value, (n, n), dtype=complex)))
    np.testing.assert_array_equal(turned.row_index, real.row_index)
    np.testing.assert_array_equal(turned.column_index, real.column_index)
    assert turned.history[-1].startswith("stopped at the tolerance")


@pytest.mark.parametrize("seed", range(4))
def test_two_separated_peaks_are_both_found(seed):
    x = np.linspace(0, 1, 2000)
    peak = lambda x, y, a: np.exp(-((x - a) ** 2 + (y - a) ** 2) / 0.003)  # noqa: E731
    value = lambda i, j: peak(x[i], x[j], 0.2) + peak(x[i], x[j], 0.8)  # noqa: E731
    seen = acquire(CallableSource(value, (2000, 2000)), tol=1e-2, rng=seed)
    i, j = np.meshgrid(np.arange(0, 2000, 10), np.arange(0, 2000, 10), indexing="ij")
    truth = value(i.ravel(), j.ravel())
    error = np.linalg.norm(truth - approximate(seen).entries(i.ravel(), j.ravel())) / np.linalg.norm(truth)
    assert error < 1e-2


@pytest.mark.parametrize("seed", range(effort(1, 20)))
def test_errors_along_a_diagonal_do_not_keep_it_reading(seed):
    """A kernel with a cusp: its errors are where the rows and columns of a few entries are, and many must be met."""
    x = np.linspace(0, 1, 1500)
    value = lambda i, j: np.exp(-5 * np.abs(x[i] - x[j]))  # noqa: E731
    seen = acquire(CallableSource(value, (1500, 1500)), tol=1e-2, rng=seed)
    i, j = np.random.default_rng(1).integers(1500, size=(2, 100_000))
    truth = value(i, j)
    error = np.linalg.norm(truth - approximate(seen).entries(i, j)) / np.linalg.norm(truth)
    assert error < 1e-2
    assert seen.n_rows < 120  # 28 directions have that error
    assert seen.history[-1].startswith("stopped at the tolerance")


def test_a_budget_ends_what_the_tolerance_would_not():
    rng = np.random.default_rng(0)
    M = rng.standard_normal((200, 150))
    seen = acquire(M, tol=1e-3, budget=0.3, rng=0)
    assert seen.n_values_read <= 0.3 * M.size
    assert "as the budget is spent" in seen.history[-1]


def test_everything_is_read_where_nothing_less_will_do():
    M = np.random.default_rng(0).standard_normal((25, 20))
    seen = acquire(M, tol=1e-3, rng=0)
    assert "everything is read" in seen.history[-1]


def test_a_symmetric_matrix_is_read_by_columns():
    x = np.linspace(0, 1, 400)
    M = 1 / (1 + 30 * np.abs(x[:, None] - x) ** 2)
    seen = acquire(M, tol=1e-4, symmetric=True, rng=0)
    np.testing.assert_array_equal(np.sort(seen.row_index), np.sort(seen.column_index))
    assert np.linalg.norm(M - approximate(seen).to_array()) < 1e-4 * np.linalg.norm(M)


def test_a_zero_matrix_is_left_after_a_quarter_of_its_entries():
    seen = acquire(np.zeros((50, 40)), tol=1e-6, rng=0)
    assert seen.n_rows == 0
    assert 500 <= seen.n_entries <= 600
    assert "stopped at the tolerance" in seen.history[-1]


def with_rare_large_values(share, seed):
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((240, 2)) @ rng.standard_normal((2, 150))
    few = rng.choice(M.size, round(share * M.size), replace=False)
    M.ravel()[few] += 30 * rng.standard_normal(len(few))
    return M


@pytest.mark.parametrize(("share", "tol"), [(0.0005, 0.3), (0.0025, 0.5)])
@pytest.mark.parametrize("seed", range(effort(2, 20)))
def test_rare_large_values_do_not_pass_for_none(share, tol, seed):
    M = with_rare_large_values(share, seed)
    seen = acquire(M, tol=tol, budget=0.6, rng=seed)
    assert "as the budget is spent" in seen.history[-1]
    assert "confidence" not in seen.history[-1]


def heavy(kind, rng, shape=(600, 500)):
    smooth = rng.standard_normal((shape[0], 3)) @ rng.standard_normal((3, shape[1]))
    return {"pareto": rng.pareto(1.2, shape), "student": smooth + 0.3 * rng.standard_t(1.5, shape)}[kind]


@pytest.mark.parametrize("kind", ["pareto", "student"])
def test_heavy_tails_are_read_to_the_end_of_the_budget(kind, rng):
    M = heavy(kind, rng)
    seen = acquire(M, tol=0.2, budget=0.3, rng=0)
    assert "as the budget is spent" in seen.history[-1]


def test_noise_above_the_tolerance_is_not_met_and_noise_below_it_is(rng):
    M = rng.standard_normal((600, 3)) @ rng.standard_normal((3, 500))
    M = M / M.std() + 0.1 * rng.standard_normal(M.shape)
    assert "as the budget is spent" in acquire(M, tol=0.08, budget=0.3, rng=0).history[-1]
    seen = acquire(M, tol=0.2, rng=0)
    assert "stopped at the tolerance" in seen.history[-1]
    assert np.linalg.norm(M - approximate(seen).to_array()) < 0.2 * np.linalg.norm(M)
    assert seen.n_values_read < 0.3 * M.size


def test_a_bound_is_never_zero_and_names_what_it_cannot_see(rng):
    M = rng.standard_normal((400, 2)) @ rng.standard_normal((2, 300))
    said = acquire(M, tol=1e-3, rng=0).history[-1]
    assert float(re.search(r"below (\S+) with 95% confidence", said)[1]) >= 1e-6
    size, place = (
        int(re.search(x, said)[1].replace(",", "")) for x in (r"on (\S+) fresh entries", r"1 of (\S+) places")
    )
    assert size == 12_000
    assert place == round(size / np.log(1 / 0.0125))  # half of half of 5 %


def test_a_look_fits_nothing_but_the_cross(monkeypatch):
    def refuse(*args, **options):
        raise AssertionError("a look made an approximation")

    monkeypatch.setattr(StackedApproximation, "fit", refuse)
    source, _ = kernel(KERNELS["gaussian"][0])
    assert "stopped at the tolerance" in acquire(source, tol=1e-3, rng=0).history[-1]


def test_looks_double():
    source, _ = kernel(KERNELS["gaussian"][0])
    history = acquire(source, tol=1e-3, rng=0).history
    sizes = [int(line.split()[0]) for line in history if line.endswith("to judge")]
    assert sizes[:6] == [100, 200, 400, 800, 1600, 3200]


def test_given_entries_are_no_evidence():
    """Entries of a part that is zero would say that nothing is left to explain."""
    x = np.linspace(0, 1, 400)
    M = np.where((x[:, None] > 0.9) & (x > 0.9), 1 + np.abs(x[:, None] - x), 1.0)
    i, j = np.divmod(np.arange(40_000), 200)
    start = curplus.Observation(shape=M.shape, i=i, j=j, values=M[i, j])
    seen = acquire(M, tol=1e-3, start=start, rng=0)
    assert not seen.evidence[:40_000].any()
    assert np.linalg.norm(M - approximate(seen).to_array()) < 1e-3 * np.linalg.norm(M)


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (4, 2)])
def test_the_smallest_matrices_are_read(shape, rng):
    M = rng.standard_normal(shape)
    seen = acquire(M, tol=1e-3, rng=0)
    np.testing.assert_allclose(approximate(seen).to_array(), M, atol=1e-12)


def test_a_stated_bound_holds():
    for seed in range(effort(3, 40)):
        source, value = kernel(lambda d: np.exp(-5 * d), n=1000)
        seen = acquire(source, tol=3e-2, rng=seed)
        cells = Cells.of(seen.subset(entries=~seen.evidence, design=seen.design))
        cross = Interpolation().settled(cells).fit(cells).to_array()
        i, j = np.indices((1000, 1000))
        error = np.linalg.norm(cross - value(i, j)) / np.linalg.norm(value(i, j))
        assert error < float(re.search(r"below (\S+) with", seen.history[-1])[1])


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_units_do_not_matter(scale):
    x = np.linspace(0, 1, 300)
    M = 1 / (1 + np.abs(x[:, None] - x) ** 2)
    small, large = (acquire(M * s, tol=1e-5, rng=0) for s in (1.0, scale))
    np.testing.assert_array_equal(small.row_index, large.row_index)


def test_entries_of_earlier_looks_are_no_evidence():
    source, _ = kernel(KERNELS["gaussian"][0])
    seen = acquire(source, tol=1e-3, rng=0)
    assert seen.evidence.any()
    assert not seen.evidence.all()
    certificate = curplus.certify(approximate(seen), seen)
    assert certificate.relative_error < 1e-3
