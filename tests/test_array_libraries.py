"""Tall stays, small comes home: what has a side n or m keeps its library, its type and its device, all the way.

Each library is tested on a device away from the host, where it has one: array-api-strict pretends to, and then refuses
both to mix arrays of two devices and to become a NumPy array by accident.
"""

import dataclasses
import itertools
import math
import sys

import array_api_strict
import numpy as np
import pytest

import curplus
from curplus import _arrays
from curplus.acquisition import ENTRY_STRATEGIES, RULES, STRATEGIES, ProductLeverage
from curplus.factorization import Provenance
from curplus.solvers import SOLVERS
from curplus.sources import FactoredSource
from tests.conftest import OTHER_LIBRARIES, USABLE_LIBRARIES, array_library, effort, why_unusable
from tests.test_gaps import Fixed

SHAPE = N, M = 107, 89  # sides that nothing else has
KINDS = ["float32", "float64"]
COUNTS = ("n_columns", "n_rows", "n_entries")


def in_types(name, *choices):
    """A test over each type and each choice of an argument; in short, the types take turns after the first choice."""
    turns = [("float64", choices[0]), *((kind, choice) for choice, kind in zip(choices, itertools.cycle(KINDS)))]
    pairs = effort(turns, list(itertools.product(KINDS, choices)))
    return pytest.mark.parametrize(("library", name), pairs, indirect=["library"])


@dataclasses.dataclass(frozen=True)
class Library:
    """An array library, with a device of it and a type."""

    xp: object
    device: object
    kind: str

    @property
    def dtype(self):
        return getattr(self.xp, self.kind)

    def put(self, x):
        return self.xp.asarray(np.array(x, dtype=self.kind), device=self.device)

    def holds(self, x):
        """Whether an array is one of this library, of this type and on this device."""
        example = self.put([0.0])
        return (type(x), x.dtype, x.device) == (type(example), example.dtype, example.device)

    @property
    def digits(self):
        """Relative differences between libraries that are rounding, in bases of moderate condition."""
        return 1e-9 if self.kind == "float64" else 1e-3


@pytest.mark.parametrize("name", OTHER_LIBRARIES)
def test_an_array_library_can_be_used(name):
    """The tests run over those that can; the reasons for the others stand here, once."""
    if (reason := why_unusable(name)) is not None:
        pytest.skip(reason)
    assert array_library(name).asarray([1.0]) is not None


@pytest.fixture(params=USABLE_LIBRARIES)
def xp(request):
    """Each array library but NumPy, with which they are compared."""
    return array_library(request.param)


@pytest.fixture(params=KINDS)
def library(request, xp, crossings):
    """Each array library, in both types."""
    return Library(xp, away(xp), request.param)


def away(xp):
    """A device that is not the host, where there is one."""
    if xp is array_api_strict:
        return xp.Device("device1")
    if xp.__name__.endswith("torch"):
        return xp.device("cuda" if xp.cuda.is_available() else "cpu")
    return None


@pytest.fixture
def crossings(monkeypatch):
    """Shapes of all arrays that go to the host from here on, in order."""
    shapes = []
    original = _arrays.to_numpy
    for name in ("acquire", "certify", "load"):
        getattr(curplus, name)  # its module is loaded, before names in it are replaced

    def to_numpy(x):
        if not isinstance(x, np.ndarray):
            shapes.append(tuple(x.shape))
        if isinstance(x, type(array_api_strict.asarray(0))):
            x = x.to_device(array_api_strict.Device("CPU_DEVICE"))
        return original(x)

    for name, module in list(sys.modules.items()):
        if name.startswith("curplus") and getattr(module, "to_numpy", None) is original:
            monkeypatch.setattr(module, "to_numpy", to_numpy)
    return shapes


@pytest.fixture
def few_listed(monkeypatch):
    """The baseline of a certificate, and the choice of a rank, list some cells on the host: fewer than a side has."""
    monkeypatch.setattr("curplus.evaluation.additive.MOST_OF_SAMPLES", 50)
    monkeypatch.setattr(sys.modules["curplus.methods.approximate.approximate"], "MOST_COMPARED", 50)


@pytest.fixture
def matrix(full_rank, library):
    """A matrix of four directions and some noise, in the type of the library, on the host."""
    return full_rank(SHAPE, rank=4, noise=0.05, dtype=library.kind)


def check_sample(seen, expected, library):
    """The same observation as that of the host, in another library: same positions, same bits."""
    for name in ("column_index", "row_index", "i", "j"):
        np.testing.assert_array_equal(getattr(seen, name), getattr(expected, name))
    for name in ("columns", "rows", "values"):
        part = getattr(seen, name)
        assert library.holds(part)
        np.testing.assert_array_equal(_arrays.to_numpy(part), getattr(expected, name))
    if expected.probabilities is None:
        assert seen.probabilities is None
    else:
        np.testing.assert_allclose(seen.probabilities, expected.probabilities, rtol=library.digits)
    assert (seen.dtype, seen.design) == (library.dtype, expected.design)


def check_answer(answer, expected, library, tol=1.0):
    """The same approximation as that of the host, up to rounding, in another library."""
    parts = [answer.left.vectors, answer.core.Z, answer.right.vectors]
    parts += [x for side in (answer.left, answer.right) for x in (side.sample, side.coefficients) if x is not None]
    assert all(library.holds(part) for part in parts)
    assert (answer.rank, answer.shape, answer.dtype) == (expected.rank, expected.shape, library.dtype)
    np.testing.assert_array_equal(answer.held_out, expected.held_out)
    assert close(answer.to_array(), expected.to_array(), tol * library.digits)
    assert_allclose(answer.core.residual_norm, expected.core.residual_norm, max(tol * library.digits, 1e-6))
    assert set(answer.report.to_dict()) == set(expected.report.to_dict())


def close(x, expected, tol):
    x, expected = (_arrays.to_numpy(part).astype(np.float64) for part in (x, expected))
    return np.linalg.norm(x - expected) <= tol * np.linalg.norm(expected)


def assert_allclose(value, expected, tol):
    np.testing.assert_allclose(value, expected, rtol=tol, atol=1e-12, equal_nan=True)


def observed(x, n_columns=12, n_rows=15, n_entries=300):
    return curplus.observe(x, n_columns=n_columns, n_rows=n_rows, n_entries=n_entries, rng=3)


# Observing


def test_what_is_observed_is_the_same_in_every_library(matrix, library):
    check_sample(observed(library.put(matrix)), observed(matrix), library)
    check_sample(observed(curplus.as_source(library.put(matrix))), observed(matrix), library)


@pytest.mark.parametrize("counts", [(3, 0, 0), (0, 3, 0), (0, 0, 9), (3, 2, 0), (0, 2, 9)])
def test_parts_that_were_not_observed_are_empty_arrays_of_the_library(matrix, library, counts):
    check_sample(observed(library.put(matrix), *counts), observed(matrix, *counts), library)


def test_a_sample_can_be_cut_turned_scaled_and_joined(matrix, library):
    changes = {
        "T": lambda x: observed(x).T,
        "divide": lambda x: observed(x).divide(2.0),
        "subset": lambda x: observed(x).subset(columns=[3, 1], rows=np.arange(15) > 9, entries=[0, 5]),
        "columns joined to rows": lambda x: observed(x, 3, 0, 0).extend(observed(x, 0, 4, 0)),
        "overlapping parts": lambda x: observed(x).extend(overlapping(x)),
        "entries joined to nothing": lambda x: curplus.Observation(shape=SHAPE).extend(observed(x, 0, 0, 9)),
    }
    for change in changes.values():
        check_sample(change(library.put(matrix)), change(matrix), library)


def overlapping(x):
    """Another sample, which has some columns and rows in common with the first."""
    return curplus.observe(x, n_columns=30, n_rows=40, n_entries=9, rng=0)


def test_nothing_known_is_read_again(matrix, library):
    plan = curplus.observation.uniform_plan(SHAPE, n_columns=4, n_rows=3, n_entries=400, rng=5)
    known, expected = (observed(x) for x in (library.put(matrix), matrix))
    check_sample(curplus.read(library.put(matrix), plan), curplus.read(matrix, plan), library)
    more = curplus.read(library.put(matrix), plan, known=known)
    check_sample(more, curplus.read(matrix, plan, known=expected), library)
    assert library.holds(known.extend(more).values)


def test_a_saved_sample_comes_back_as_numpy_arrays(matrix, library, tmp_path):
    seen, expected = observed(library.put(matrix)), observed(matrix)
    seen.save(tmp_path / "seen.npz")
    back = curplus.load(tmp_path / "seen.npz")
    assert back.fingerprint == seen.fingerprint == expected.fingerprint
    check_sample(back, expected, Library(np, None, library.kind))


def test_a_wrong_value_is_named_with_its_place(matrix, library):
    matrix[7, :] = math.nan
    with pytest.raises(curplus.exceptions.InvalidArgumentError, match=r"row 7, column"):
        observed(library.put(matrix), n_rows=N)
    seen, other = (observed(library.put(x)) for x in (np.ones(SHAPE), np.eye(*SHAPE)))
    with pytest.raises(curplus.exceptions.InconsistentObservationError, match=r"row 0, column \d+ was read as 1.0"):
        seen.extend(other)


@pytest.mark.parametrize("counts", [(12, 15, 300), (0, 0, 9)])
def test_a_product_of_factors_is_read_where_its_factors_are(rng, library, counts):
    factors = rng.standard_normal((N, 6)).astype(library.kind), rng.standard_normal((6, M)).astype(library.kind)
    source, expected = (FactoredSource(*map(put, factors)) for put in (library.put, np.asarray))
    assert source.dtype == library.dtype
    seen = observed(source, *counts)
    assert all(library.holds(part) for part in (seen.columns, seen.rows, seen.values))
    assert close(seen.values, observed(expected, *counts).values, library.digits)
    np.testing.assert_allclose(source.singular_values(), expected.singular_values(), rtol=library.digits)
    if counts[0]:
        answer = curplus.cur_full(source, seen, 4)
        assert close(answer.to_array(), curplus.cur_full(expected, observed(expected), 4).to_array(), library.digits)


@pytest.mark.skipif("torch" not in USABLE_LIBRARIES, reason="torch cannot be used")
def test_tensors_that_record_gradients_are_read_without_them(full_rank):
    matrix = array_library("torch").asarray(full_rank(SHAPE)).requires_grad_()
    seen = observed(matrix)
    answer = curplus.cur_full(matrix, seen, 3)
    assert not any(x.requires_grad for x in (seen.columns, seen.rows, seen.values, answer.core.Z))


@pytest.mark.parametrize("kind", ["bool", "int32", "uint8"])
def test_whole_numbers_are_read_as_float64_in_every_library(rng, xp, crossings, kind):
    matrix = rng.integers(0, 2, size=SHAPE).astype(kind)
    tall, library = xp.asarray(matrix, device=away(xp)), Library(xp, away(xp), "float64")
    check_sample(observed(tall), observed(matrix), library)
    check_answer(curplus.cur_full(tall, observed(tall), 4), curplus.cur_full(matrix, observed(matrix), 4), library)


# Choosing what to observe


@pytest.mark.parametrize("entry_strategy", [*ENTRY_STRATEGIES, ProductLeverage(rank=3, uniform_share=0.5)], ids=repr)
@in_types("strategy", *STRATEGIES)
def test_the_same_is_acquired_in_every_library(matrix, library, strategy, entry_strategy):
    how = {"strategy": strategy, "entry_strategy": entry_strategy, "rng": 2}
    few, many = {"n_columns": 4, "n_rows": 6, "n_entries": 20}, {"n_columns": 14, "n_rows": 20, "n_entries": 300}
    seen, expected = (curplus.acquire(x, **many, **how) for x in (library.put(matrix), matrix))
    check_sample(seen, expected, library)
    start, start_expected = (curplus.acquire(x, **few, **how) for x in (library.put(matrix), matrix))
    assert_same_plan(curplus.propose(start, **many, **how), curplus.propose(start_expected, **many, **how))
    seen = curplus.acquire(library.put(matrix), **many, **how, start=start)
    check_sample(seen, curplus.acquire(matrix, **many, **how, start=start_expected), library)


def assert_same_plan(plan, expected):
    for name in ("column_index", "row_index", "i", "j"):
        np.testing.assert_array_equal(getattr(plan, name), getattr(expected, name))


@in_types("strategy", *STRATEGIES)
def test_a_symmetric_matrix_is_read_by_columns_in_every_library(rng, library, strategy):
    factor = rng.standard_normal((N, 6))
    matrix = (factor @ factor.T).astype(library.kind)
    matrix = np.maximum(matrix, matrix.T)
    how = {"n_columns": 14, "n_rows": 14, "n_entries": 60, "strategy": strategy, "symmetric": True, "rng": 0}
    seen, expected = (curplus.acquire(x, **how) for x in (library.put(matrix), matrix))
    check_sample(seen, expected, library)


@pytest.fixture
def kernel(rng, library):
    """A kernel matrix, in the type of the library, on the host."""
    points = rng.standard_normal((N, 3))
    K = np.exp(-np.sum((points[:, None] - points) ** 2, axis=2) / 8).astype(library.kind)
    return np.maximum(K, K.T)


@pytest.mark.parametrize("strategy", ["auto", "uniform"])
def test_the_columns_of_a_psd_matrix_are_the_same_in_every_library(kernel, library, strategy):
    how = {"n_columns": 14, "psd": True, "strategy": strategy, "rng": 0}
    seen, expected = (curplus.acquire(x, **how) for x in (library.put(kernel), kernel))
    check_sample(seen, expected, library)
    assert seen.symmetry == "psd"
    seen, expected = (
        curplus.acquire(x, **how, start=curplus.acquire(x, **how | {"n_columns": 5}))
        for x in (library.put(kernel), kernel)
    )
    check_sample(seen, expected, library)


@pytest.mark.parametrize("method", RULES)
def test_the_same_columns_are_selected_in_every_library(matrix, library, method):
    chosen, expected = (
        curplus.select_columns(x, 9, method=method, rank=6, rng=0) for x in (library.put(matrix), matrix)
    )
    np.testing.assert_array_equal(chosen, expected)


def with_gaps(matrix):
    """The same matrix, of which a tenth could not be measured."""
    return np.where(np.random.default_rng(4).random(matrix.shape) < 0.1, matrix.dtype.type(math.nan), matrix)


@pytest.mark.parametrize("entry_strategy", ENTRY_STRATEGIES)
@in_types("strategy", *STRATEGIES)
def test_the_same_is_acquired_with_gaps_in_every_library(matrix, library, strategy, entry_strategy):
    matrix = with_gaps(matrix)
    how = {"strategy": strategy, "entry_strategy": entry_strategy, "rng": 2, "gaps": True}
    few, many = {"n_columns": 4, "n_rows": 6, "n_entries": 20}, {"n_columns": 14, "n_rows": 20, "n_entries": 300}
    start, start_expected = (curplus.acquire(x, **few, **how) for x in (library.put(matrix), matrix))
    check_sample(start, start_expected, library)
    seen = curplus.acquire(library.put(matrix), **many, **how, start=start)
    expected = curplus.acquire(matrix, **many, **how, start=start_expected)
    check_sample(seen, expected, library)
    for name in ("n_gaps", "n_values_read", "magnitude"):
        assert getattr(seen, name) == getattr(expected, name)
    np.testing.assert_array_equal(seen.gap_index(), expected.gap_index())
    np.testing.assert_array_equal(_arrays.to_numpy(seen.T.known_rows[:3, :4]), expected.T.known_rows[:3, :4])


def test_a_table_with_holes_stays_in_its_library(matrix, library):
    matrix = with_gaps(matrix)
    seen, expected = (curplus.Observation.from_table(x) for x in (library.put(matrix), matrix))
    check_sample(seen, expected, library)
    assert seen.n_gaps == expected.n_gaps


# Approximating


@pytest.mark.parametrize("holdout", [0.0, 0.2])
@in_types("solver", *SOLVERS)
def test_cur_plus_is_the_same_in_every_library(matrix, library, solver, holdout):
    answer, expected = (
        curplus.cur_plus(observed(x), 4, solver=solver, holdout=holdout) for x in (library.put(matrix), matrix)
    )
    check_answer(answer, expected, library)
    assert (answer.core.rank, answer.core.converged) == (expected.core.rank, expected.core.converged)
    form, expected_form = answer.cur(), expected.cur()
    assert all(library.holds(part) for part in form[:3])
    assert close(form.C @ form.U @ form.R, expected_form.C @ expected_form.U @ expected_form.R, library.digits)


@pytest.mark.parametrize("rank", [4, None])
def test_cur_full_and_cur_unbiased_are_the_same_in_every_library(matrix, library, rank):
    for method in (lambda x: curplus.cur_full(x, observed(x), rank), lambda x: curplus.cur_unbiased(observed(x), rank)):
        check_answer(method(library.put(matrix)), method(matrix), library)


@pytest.mark.parametrize("form", ["free", "cur"])
@in_types("rank", 5, None)
def test_a_psd_answer_and_its_trace_are_the_same_in_every_library(kernel, library, crossings, rank, form):
    samples = [curplus.acquire(x, n_columns=14, psd=True, rng=0) for x in (library.put(kernel), kernel)]
    crossings.clear()
    answer, expected = (curplus.approximate(seen, rank, form=form) for seen in samples)
    assert not any(set(shape) & {N} and len(shape) > 1 for shape in crossings)
    check_answer(answer, expected, library, tol=10)
    traces = [curplus.certify(x, seen).trace for x, seen in zip((answer, expected), samples, strict=True)]
    assert abs(traces[0] - traces[1]) <= library.digits * N
    assert answer.is_symmetric
    i, j = np.random.default_rng(0).integers(N, size=(2, 30))
    np.testing.assert_array_equal(*(_arrays.to_numpy(answer.entries(a, b)) for a, b in ((i, j), (j, i))))
    whole = _arrays.to_numpy(answer.truncate(3).to_array())
    np.testing.assert_array_equal(whole, whole.T)


@in_types("word", "symmetric", "psd")
def test_a_symmetric_answer_is_the_same_in_every_library(kernel, library, word):
    samples = [observed(x, 9, 0, 300).extend(curplus.Observation(shape=(N, N), symmetry=word))
               for x in (library.put(kernel), kernel)]  # fmt: skip
    answer, expected = (curplus.approximate(seen, 4) for seen in samples)
    check_answer(answer, expected, library, tol=10)
    assert answer.is_symmetric


def test_the_whole_matrix_may_be_of_another_type_than_the_sample(matrix, library):
    other = dataclasses.replace(library, kind="float32" if library.kind == "float64" else "float64")
    answer = curplus.cur_full(other.put(matrix), observed(library.put(matrix)), 4)
    assert all(library.holds(part) for part in (answer.left.vectors, answer.core.Z, answer.right.vectors))
    assert close(answer.to_array(), curplus.cur_full(matrix, observed(matrix), 4).to_array(), 1e-5)


SAMPLES = {
    "rows, columns and entries": (12, 15, 300),
    "rows and columns": (12, 15, 0),
    "no more rows and columns than directions": (4, 4, 300),
    "rows": (0, 15, 0),
    "all rows": (0, N, 0),
    "all columns": (M, 0, 0),
    "columns": (12, 0, 0),
    "rows and entries": (0, 15, 400),
    "columns and entries": (12, 0, 400),
    "entries": (0, 0, 1600),
    "many entries": (12, 15, 1600),
}


@in_types("rank", 4, None)
@pytest.mark.parametrize("sample", SAMPLES)
def test_approximate_is_the_same_in_every_library(matrix, library, sample, rank):
    if sample == "entries" and rank is None:
        rank = 3
    answer, expected = (curplus.approximate(observed(x, *SAMPLES[sample]), rank) for x in (library.put(matrix), matrix))
    check_answer(answer, expected, library)
    for name, value in expected.report.to_dict().items():
        if isinstance(value, float):
            assert_allclose(getattr(answer.report, name), value, max(library.digits, 1e-6))
        else:
            assert getattr(answer.report, name) == value


@in_types("rank", 4, None)
def test_new_rows_and_columns_are_completed_in_every_library(matrix, library, crossings, rng, rank):
    answer, expected = (curplus.approximate(observed(x, 0, N, 0), rank) for x in (library.put(matrix), matrix))
    check_answer(answer, expected, library)
    rows = np.where(rng.random((9, M)) < 0.2, matrix[:9] + 0.1, np.nan)
    columns = np.where(rng.random((N, 9)) < 0.2, matrix[:, :9] + 0.1, np.nan)
    del crossings[:]
    filled, across = answer.complete_rows(library.put(rows)), answer.complete_columns(library.put(columns))
    assert rank is None or not tall(crossings)  # with all directions, the core itself is that large
    assert all(library.holds(x) for x in (filled, across))
    assert close(filled, expected.complete_rows(rows.astype(library.kind)), library.digits)
    assert close(across, expected.complete_columns(columns.astype(library.kind)), library.digits)
    on_the_host = answer.complete_rows(rows)
    assert isinstance(on_the_host, np.ndarray)
    assert close(on_the_host, filled, library.digits)


def test_the_cur_form_of_the_recommended_answer_is_the_same_in_every_library(matrix, library):
    answer, expected = (
        curplus.approximate(observed(x, 12, 15, 400), 4, form="cur") for x in (library.put(matrix), matrix)
    )
    check_answer(answer, expected, library)
    C, U, R, *_ = answer.cur()
    assert all(library.holds(x) for x in (C, U, R))
    assert close(C @ U @ R, expected.to_array(), library.digits)


@in_types("rank", None, 3)
@pytest.mark.parametrize("sample", SAMPLES)
def test_a_matrix_of_lower_rank_than_asked_for_is_approximated_in_every_library(low_rank, library, sample, rank):
    for matrix in (low_rank(SHAPE, rank=2, dtype=library.kind), np.zeros(SHAPE, dtype=library.kind)):
        samples = [observed(x, *SAMPLES[sample]) for x in (library.put(matrix), matrix)]
        methods = [lambda x: curplus.approximate(x, rank or 2 * (sample == "entries") or None)]
        if min(SAMPLES[sample]):
            methods += [lambda x: curplus.cur_plus(x, rank or 4), lambda x: curplus.cur_unbiased(x, rank)]
        for method in methods:
            answer, expected = (method(x) for x in samples)
            assert library.holds(answer.to_array())
            assert answer.rank == expected.rank
            assert close(answer.to_array(), expected.to_array(), 1e-3)  # where few entries decide, rounding does too
            curplus.certify(answer, samples[0])


def test_measurements_of_unequal_noise_are_weighted_in_every_library(matrix, library, rng):
    weights = rng.uniform(0.5, 2.0, size=1600)
    seen, expected = (
        dataclasses.replace(observed(x, 12, 15, 1600), weights=put(weights), probabilities=put(weights / (2 * N * M)))
        for x, put in ((library.put(matrix), library.put), (matrix, np.asarray))
    )
    np.testing.assert_allclose(seen.weights, expected.weights, rtol=1e-6)
    for method in (lambda x: curplus.approximate(x, 4), lambda x: curplus.cur_plus(x, 4), curplus.cur_unbiased):
        check_answer(method(seen), method(expected), library, tol=10)


@in_types("scale", 1e18, 1e-18)
def test_numbers_whose_squares_leave_the_range_are_approximated_in_every_library(matrix, library, scale):
    matrix = (matrix * scale).astype(library.kind)
    answer, expected = (curplus.approximate(observed(x, 12, 15, 1600), 4) for x in (library.put(matrix), matrix))
    check_answer(answer, expected, library)


@in_types("method", lambda x: curplus.cur_plus(x, 4), lambda x: curplus.approximate(x, 4))
def test_an_answer_keeps_its_library_in_every_form(matrix, library, method):
    answer, expected = (method(observed(x)) for x in (library.put(matrix), matrix))
    check_answer(answer.T, expected.T, library)
    check_answer(answer.truncate(2), expected.truncate(2), library)
    check_answer(answer.truncate(2).T, expected.truncate(2).T, library)
    i, j = np.array([0, N - 1, 7]), np.array([M - 1, 0, 7])
    parts = {
        "entries": lambda x: x.entries(i, j),
        "rows": lambda x: x.rows(i),
        "columns": lambda x: x.columns(j),
        "singular values": lambda x: x.svd().s,
        "svd": lambda x: (x.svd().U * x.svd().s) @ x.svd().Vh,
        "array": lambda x: x.to_array(),
    }
    for part in parts.values():
        assert library.holds(part(answer))
        assert close(part(answer), part(expected), library.digits)
    assert library.holds(answer.svd().U)
    assert library.holds(answer.svd().Vh)


def test_an_answer_multiplies_arrays_and_lists(matrix, library, rng):
    answer, expected = (curplus.approximate(observed(x), 4) for x in (library.put(matrix), matrix))
    x, y = rng.standard_normal((M, 3)), rng.standard_normal(N)
    for other, product in (
        (library.put(x), lambda a, b: a @ b),
        (x.tolist(), lambda a, b: a @ b),
        (x, lambda a, b: a @ b),
        (library.put(y), lambda a, b: a.T @ b),
        (y.tolist(), lambda a, b: b @ a),
    ):
        host = x if np.shape(other) == (M, 3) else y
        assert library.holds(product(answer, other))
        assert close(product(answer, other), product(expected, host), library.digits)


def test_a_saved_answer_comes_back_as_numpy_arrays(matrix, library, tmp_path):
    for method in (lambda x: curplus.cur_plus(x, 4), lambda x: curplus.approximate(x, 4)):
        answer, expected = (method(observed(x)) for x in (library.put(matrix), matrix))
        answer.save(tmp_path / "answer.npz")
        check_answer(curplus.load(tmp_path / "answer.npz"), expected, Library(np, None, library.kind))


# Judging


CERTIFIED = {
    "by entries": lambda x: (observed(x, 12, 15, 1600), lambda seen: curplus.approximate(seen, 4)),
    "by rows": lambda x: (observed(x, 12, 60, 0), lambda seen: curplus.approximate(seen, 4)),
    "CUR+, by entries": lambda x: (observed(x, 12, 15, 1600), lambda seen: curplus.cur_plus(seen, 4, holdout=0.2)),
    "CUR+, by rows": lambda x: (observed(x, 12, 60, 400), lambda seen: curplus.cur_plus(seen, 4)),
    "CUR-E, by rows": lambda x: (observed(x, 12, 60, 400), lambda seen: curplus.cur_unbiased(seen, 4)),
    "CUR-F, by entries": lambda x: (observed(x, 12, 15, 400), lambda seen: curplus.cur_full(x, seen, 4)),
    "without columns": lambda x: (observed(x, 0, 15, 800), lambda seen: curplus.approximate(seen, 4)),
    "without rows": lambda x: (observed(x, 12, 0, 800), lambda seen: curplus.approximate(seen, 4)),
    "everything": lambda x: (observed(x, M, 0, 0), lambda seen: curplus.approximate(seen, 4)),
}


@in_types("case", *CERTIFIED)
def test_a_certificate_is_the_same_in_every_library(matrix, library, case):
    (seen, method), (expected_seen, expected_method) = (CERTIFIED[case](x) for x in (library.put(matrix), matrix))
    answer, expected = method(seen), expected_method(expected_seen)
    for ours, theirs in (
        (curplus.certify(answer, seen), curplus.certify(expected, expected_seen)),
        (curplus.certify(answer.truncate(2), seen), curplus.certify(expected.truncate(2), expected_seen)),
        (curplus.certify(answer.T, seen.T), curplus.certify(expected.T, expected_seen.T)),
    ):
        assert_same_certificate(ours, theirs, max(library.digits, 1e-6))


@pytest.mark.parametrize("counts", [(12, 15, 800), (12, 60, 0)])
@pytest.mark.usefixtures("few_listed")
def test_a_certificate_with_gaps_is_the_same_in_every_library(matrix, library, counts, crossings):
    certificates = []
    for put in (library.put, np.asarray):
        seen = curplus.observe(put(with_gaps(matrix)), **dict(zip(COUNTS, counts, strict=True)), gaps=True, rng=0)
        answer = curplus.cur_full(put(matrix), observed(put(matrix)), 4)
        held_out, method = np.arange(0, seen.n_entries, 2), Fixed(answer)
        provenance = Provenance(method=method, held_out=held_out, fingerprint=seen.fingerprint)
        certificates.append(curplus.certify(dataclasses.replace(answer, provenance=provenance), seen))
    assert_same_certificate(*certificates, max(library.digits, 1e-6))
    assert not tall(crossings)


def assert_same_certificate(ours, theirs, tol):
    assert (ours.evidence, ours.interval is None) == (theirs.evidence, theirs.interval is None)
    assert isinstance(ours.errors, np.ndarray)
    for name in ("error", "relative_error", "lower_bound", "spectral_lower_bound", "spectral_estimate", "spread"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), tol)
    if theirs.interval is not None:
        assert_allclose(ours.interval, theirs.interval, tol)
    assert_allclose(ours.means_error, theirs.means_error, max(tol, 1e-4))  # variances are found to a thousandth


# What goes to the host


def tall(shapes):
    """Those of some shapes that are matrices with a side n or m, or such matrices made one vector."""
    return [shape for shape in shapes if math.prod(shape) > max(SHAPE) and any(k % N == 0 or k % M == 0 for k in shape)]


@pytest.mark.usefixtures("few_listed")
def test_no_matrix_with_a_long_side_goes_to_the_host(matrix, library, crossings):
    x = curplus.as_source(library.put(matrix))
    seen, few = observed(x, 12, 15, 1600), observed(x, 4, 4, 300)
    for sample in (seen, few, observed(x, 12, 60, 0)):
        for rank in (4, None):
            answer = curplus.approximate(sample, rank, models="skeleton")  # the others list all cells, on the host
            curplus.certify(answer, sample)
            curplus.certify(answer.truncate(2).T, sample.T)
    for strategy in STRATEGIES:
        for entry_strategy in ENTRY_STRATEGIES:
            how = {"strategy": strategy, "entry_strategy": entry_strategy, "rng": 2}
            curplus.acquire(x, n_columns=14, n_rows=20, n_entries=300, **how, start=few)
    for solver in SOLVERS:
        curplus.certify(curplus.cur_plus(seen, 4, solver=solver, holdout=0.1), seen)
    for answer in (curplus.cur_plus(few, 4), curplus.cur_unbiased(few), curplus.cur_full(x, few)):
        curplus.certify(answer, few)
    seen.extend(overlapping(x))
    holes = library.put(with_gaps(matrix))
    gappy = curplus.acquire(holes, n_columns=14, n_rows=20, n_entries=300, gaps=True, rng=2)
    curplus.observe(holes, n_columns=14, n_rows=20, n_entries=300, gaps=True, rng=3).extend(gappy)
    assert not tall(crossings)
