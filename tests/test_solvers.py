import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus.exceptions import InvalidArgumentError, TooFewEntriesError
from curplus.solvers.equations import entry_equations
from tests.strategies import FIELDS, adjoint, fields, gaussian

ALL = {name: solver for name, solver in curplus.solvers.SOLVERS.items() if name != "auto"}
every_solver = pytest.mark.parametrize("solver", ALL.values(), ids=ALL)


def with_ridge(solver, ridge):
    return type(solver)(ridge=ridge)


def orthonormal(rng, n, r, field="real"):
    return np.linalg.qr(gaussian(rng, (n, r), field)).Q


def single(x):
    return x.astype(np.complex64 if np.iscomplexobj(x) else np.float32)


def entries_only(shape, i, j, values):
    return curplus.Observation(shape=shape, i=i, j=j, values=values).entries


@pytest.fixture(params=FIELDS)
def problem(request, rng):
    """Factory: bases, entries whose values do not fit exactly, and the dense matrix of the equations."""
    field = request.param

    def make(n=40, m=30, r1=4, r2=3, size=200, repeat=False):
        left, right = orthonormal(rng, n, r1, field), orthonormal(rng, m, r2, field)
        i, j = rng.integers(n, size=size), rng.integers(m, size=size)
        if repeat:
            i[: size // 4], j[: size // 4] = i[0], j[0]
        seen = entries_only((n, m), i, j, gaussian(rng, size, field))
        design = np.einsum("tp,tq->tpq", left[i], right[j].conj()).reshape(size, -1)
        return left, right, seen, design

    return make


@every_solver
@pytest.mark.parametrize("sizes", [(40, 30, 4, 3), (30, 40, 3, 4), (25, 25, 1, 1), (12, 50, 2, 5)])
def test_agrees_with_dense_least_squares(problem, solver, sizes):
    left, right, seen, design = problem(*sizes)
    core = solver.solve(left, right, seen)
    expected = np.linalg.lstsq(design, seen.values)[0].reshape(core.Z.shape)
    assert core.converged
    assert np.linalg.norm(core.Z - expected) < 1e-8 * np.linalg.norm(expected)
    assert core.residual_norm == pytest.approx(np.linalg.norm(seen.values - design @ expected.ravel()), rel=1e-10)


@every_solver
@pytest.mark.parametrize("ridge", [1e-3, 0.1, 10.0])
def test_ridge_penalises_the_norm_in_units_of_the_average_entry(problem, solver, ridge):
    left, right, seen, design = problem()
    core = with_ridge(solver, ridge).solve(left, right, seen)
    weight = ridge * len(seen) / (seen.shape[0] * seen.shape[1])
    expected = np.linalg.solve(
        adjoint(design) @ design + weight * np.eye(design.shape[1]), adjoint(design) @ seen.values
    )
    assert core.converged
    assert np.linalg.norm(core.Z.ravel() - expected) < 1e-8 * np.linalg.norm(expected)


@every_solver
def test_a_repeated_position_counts_as_one_equation_each_time(problem, solver):
    left, right, seen, design = problem(repeat=True)
    expected = np.linalg.lstsq(design, seen.values)[0]
    assert np.linalg.norm(solver.solve(left, right, seen).Z.ravel() - expected) < 1e-8 * np.linalg.norm(expected)


@every_solver
def test_the_core_is_a_stationary_point(problem, solver):
    left, right, seen, _ = problem()
    Z = solver.solve(left, right, seen).Z
    residual = np.zeros(seen.shape, dtype=Z.dtype)
    np.add.at(residual, (seen.i, seen.j), (left @ Z @ adjoint(right))[seen.i, seen.j] - seen.values)
    gradient = adjoint(left) @ residual @ right
    assert np.linalg.norm(gradient) < 1e-10 * np.linalg.norm(seen.values)


@every_solver
def test_a_deficient_design_gives_the_solution_of_least_norm(rng, solver):
    left, right = np.eye(40, 4), orthonormal(rng, 30, 3)
    i, j = rng.integers(2, size=100), rng.integers(30, size=100)  # rows 2 and 3 are never hit
    seen = entries_only((40, 30), i, j, rng.standard_normal(100))
    core = solver.solve(left, right, seen)
    design = np.einsum("tp,tq->tpq", left[i], right[j]).reshape(100, -1)
    expected = (np.linalg.pinv(design) @ seen.values).reshape(4, 3)
    assert core.converged
    assert np.linalg.norm(core.Z - expected) < 1e-8 * np.linalg.norm(expected)
    assert np.linalg.norm(core.Z[2:]) < 1e-12
    if core.rank is not None:
        assert core.rank == 6


@every_solver
@pytest.mark.parametrize("exponent", [-250, -100, 100, 250])
def test_the_scale_of_the_values_passes_through(problem, solver, exponent):
    left, right, seen, _ = problem()
    scaled = entries_only(seen.shape, seen.i, seen.j, seen.values * 10.0**exponent)
    plain, core = solver.solve(left, right, seen), solver.solve(left, right, scaled)
    assert core.converged
    assert np.linalg.norm(core.Z / 10.0**exponent - plain.Z) < 1e-10 * np.linalg.norm(plain.Z)
    assert core.residual_norm == pytest.approx(plain.residual_norm * 10.0**exponent, rel=1e-10)


@every_solver
def test_values_of_zero_give_a_core_of_zero(problem, solver):
    left, right, seen, _ = problem()
    core = solver.solve(left, right, entries_only(seen.shape, seen.i, seen.j, 0 * seen.values))
    assert core.converged
    assert not core.Z.any()


@every_solver
def test_empty_bases_give_an_empty_core(problem, solver):
    left, right, seen, _ = problem()
    core = solver.solve(left[:, :0], right, seen)
    assert core.Z.shape == (0, 3)
    assert core.converged
    assert core.residual_norm == pytest.approx(np.linalg.norm(seen.values))


@every_solver
def test_another_array_library_gives_the_same_core(problem, solver):
    left, right, seen, _ = problem()
    strict = array_api_strict.asarray
    foreign = entries_only(seen.shape, seen.i, seen.j, strict(np.array(seen.values)))
    core = solver.solve(strict(left), strict(right), foreign)
    assert type(core.Z) is type(strict(left))
    assert np.allclose(np.asarray(core.Z), solver.solve(left, right, seen).Z, rtol=0, atol=1e-9)


@every_solver
def test_single_precision_data_are_solved_in_double_precision(problem, solver):
    left, right, seen, design = problem()
    core = solver.solve(single(left), single(right), entries_only(seen.shape, seen.i, seen.j, single(seen.values)))
    expected = np.linalg.lstsq(design, seen.values)[0].reshape(4, 3)
    assert core.Z.dtype == single(left).dtype
    assert np.linalg.norm(core.Z - expected) < 1e-5 * np.linalg.norm(expected)


@pytest.mark.parametrize("name", ["least_squares", "normal_equations", "conjugate_gradient"])
def test_reports_the_condition_of_the_equations(problem, name):
    left, right, seen, design = problem()
    condition = ALL[name].solve(left, right, seen).condition
    truth = np.linalg.cond(design)
    assert truth * 0.9 < condition < truth * 1.01


@pytest.mark.parametrize("condition", [1, 30, 1e3, 1e5])
@pytest.mark.parametrize("convert", [np.asarray, array_api_strict.asarray])
def test_conjugate_gradients_have_double_precision_at_any_condition(rng, condition, convert):
    left, right = orthonormal(rng, 80, 4) * np.geomspace(1, 1 / condition, 4), orthonormal(rng, 60, 3)
    i, j = rng.integers(80, size=400), rng.integers(60, size=400)
    seen = entries_only((80, 60), i, j, convert(rng.standard_normal(400)))
    core = curplus.solvers.ConjugateGradient().solve(convert(left), convert(right), seen)
    expected = curplus.solvers.LeastSquares().solve(convert(left), convert(right), seen)
    design = (left[i][:, :, None] * right[j][:, None, :]).reshape(400, -1)
    Z, best = (np.asarray(x.Z).reshape(-1) for x in (core, expected))
    assert core.converged
    assert np.linalg.norm(design @ (Z - best)) < 1e-9 * np.linalg.norm(design @ best)
    assert core.condition == pytest.approx(expected.condition, rel=0.1)


@pytest.mark.parametrize("solver", [curplus.solvers.ConjugateGradient(max_iter=2), curplus.solvers.LSMR(max_iter=2),
                                    curplus.solvers.AcceleratedGradient(max_iter=2)])  # fmt: skip
def test_says_when_it_was_stopped_too_early(problem, solver):
    left, right, seen, _ = problem()
    core = solver.solve(left, right, seen)
    assert core.iterations == 2
    assert not core.converged


def test_accelerated_gradient_with_zero_tolerance_makes_every_step(problem):
    left, right, seen, _ = problem()
    core = curplus.solvers.AcceleratedGradient(max_iter=37, tol=0).solve(left, right, seen)
    assert core.iterations == 37


def test_an_early_stop_holds_the_core_back(problem):
    left, right, seen, _ = problem(size=20)
    early = curplus.solvers.AcceleratedGradient(max_iter=3, tol=0).solve(left, right, seen)
    assert np.linalg.norm(early.Z) < np.linalg.norm(curplus.solvers.LeastSquares().solve(left, right, seen).Z)


@pytest.mark.parametrize("solver", [s for n, s in ALL.items() if n != "minimum_norm"],
                         ids=[n for n in ALL if n != "minimum_norm"])  # fmt: skip
def test_too_few_entries_are_refused_with_the_number_needed(problem, solver):
    left, right, seen, _ = problem(size=10)
    with pytest.raises(
        TooFewEntriesError, match=r"12 unknowns \(4 x 3\) but only 10 entries.*at least 12.*MinimumNorm"
    ):
        solver.solve(left, right, seen)


@every_solver
def test_a_ridge_makes_any_number_of_entries_enough(problem, solver):
    left, right, seen, design = problem(size=7)
    core = with_ridge(solver, 0.5).solve(left, right, seen)
    weight = 0.5 * 7 / (seen.shape[0] * seen.shape[1])
    expected = np.linalg.solve(adjoint(design) @ design + weight * np.eye(12), adjoint(design) @ seen.values)
    assert np.linalg.norm(core.Z.ravel() - expected) < 1e-8 * np.linalg.norm(expected)


def test_minimum_norm_interpolates_when_entries_are_few(problem):
    left, right, seen, design = problem(size=7)
    core = curplus.solvers.MinimumNorm().solve(left, right, seen)
    assert core.rank == 7
    assert core.residual_norm < 1e-12
    assert np.allclose(core.Z.ravel(), np.linalg.pinv(design) @ seen.values)


def test_first_converged_falls_back(problem):
    left, right, seen, _ = problem()
    both = curplus.solvers.FirstConverged(
        (curplus.solvers.ConjugateGradient(max_iter=2), curplus.solvers.LeastSquares())
    )
    assert both.solve(left, right, seen).solver == "LeastSquares"
    assert (
        curplus.solvers.FirstConverged((curplus.solvers.LSMR(), curplus.solvers.LeastSquares()))
        .solve(left, right, seen)
        .solver
        == "LSMR"
    )


@pytest.mark.parametrize(
    ("unknowns", "entries", "expected"),
    [
        (100, 200, "LeastSquares"),
        (100, 100_000, "LeastSquares"),
        (400, 6250, "LeastSquares"),
        (400, 6251, "FirstConverged"),
        (2500, 2600, "NormalEquations"),
        (2500, 20_000, "FirstConverged"),
        (4900, 39_200, "FirstConverged"),
        (4901, 1_000_000, "ConjugateGradient"),
    ],
)
def test_the_automatic_choice_follows_its_table(unknowns, entries, expected):
    assert type(curplus.solvers.Automatic().choose(unknowns, entries)).__name__ == expected


def test_equations_that_conjugate_gradients_cannot_solve_in_time_are_solved_directly(rng):
    """Bases that live on few rows make the equations ill-conditioned."""
    left, right = (
        np.linalg.qr(rng.standard_normal((400, 22)) * rng.pareto(0.7, (400, 1))).Q for _ in ("rows", "columns")
    )
    i, j = rng.integers(400, size=20_000), rng.integers(400, size=20_000)
    values = np.einsum("ta,ta->t", left[i], right[j]) + 0.01 * rng.standard_normal(20_000)
    entries = curplus.observation.Entries((400, 400), i, j, values)
    found = curplus.solvers.Automatic().solve(left, right, entries)
    assert found.solver == "NormalEquations"
    assert found.converged


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("newton", r"solver='newton' is unknown. Use one of auto, least_squares"),
        (3, r"solver=3 has no method solve"),
    ],
)
def test_an_unknown_solver_is_refused(bad, message):
    with pytest.raises(InvalidArgumentError, match=message):
        curplus.solvers.SOLVERS.resolve(bad)


@pytest.mark.parametrize(
    "options", [{"ridge": -1}, {"ridge": float("nan")}, {"tol": float("inf")}, {"ridge": "a"}, {"rcond": -1}]
)
def test_options_that_make_no_sense_cannot_be_written_down(options):
    with pytest.raises(InvalidArgumentError, match="finite number, 0 or more"):
        curplus.solvers.LeastSquares(**options)


@given(fields, st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 5), st.integers(1, 60), st.booleans())
def test_adjoint_passes_the_dot_test(field, seed, r1, r2, size, foreign):
    rng = np.random.default_rng(seed)
    left, right = orthonormal(rng, 12, r1, field), orthonormal(rng, 9, r2, field)
    values = gaussian(rng, size, field)
    convert = array_api_strict.asarray if foreign else np.asarray
    seen = entries_only((12, 9), rng.integers(12, size=size), rng.integers(9, size=size), convert(values))
    equations = entry_equations(convert(left), convert(right), seen)
    Z, e = gaussian(rng, (r1, r2), field), gaussian(rng, size, field)
    forward = np.vdot(e, np.asarray(equations.apply(convert(Z))))
    backward = np.vdot(np.asarray(equations.adjoint(convert(e))), Z)
    assert forward == pytest.approx(backward, rel=1e-10, abs=1e-10)


@given(fields, st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 5), st.integers(1, 60), st.booleans())
def test_gram_matrix_and_norm_are_those_of_the_explicit_equations(field, seed, r1, r2, size, foreign):
    rng = np.random.default_rng(seed)
    convert = array_api_strict.asarray if foreign else np.asarray
    left, right = orthonormal(rng, 12, r1, field), orthonormal(rng, 9, r2, field)
    values = np.ones(size, dtype=left.dtype)
    seen = entries_only((12, 9), rng.integers(12, size=size), rng.integers(9, size=size), convert(values))
    equations = entry_equations(convert(left), convert(right), seen)
    design = np.concatenate([np.asarray(rows) for rows, _ in equations.blocks()])
    assert np.allclose(np.asarray(equations.gram()), adjoint(design) @ design, rtol=0, atol=1e-9)
    assert equations.norm() == pytest.approx(np.linalg.norm(design))


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("sizes", [(240, 1), (1, 240)])
def test_a_gram_matrix_too_large_for_one_piece_is_that_of_the_explicit_equations(rng, sizes, field):
    shape = (300, 400)
    i, j = rng.integers(0, 300, 3000), rng.integers(0, 400, 3000)
    left, right = gaussian(rng, (300, sizes[0]), field), gaussian(rng, (400, sizes[1]), field)
    seen = curplus.Observation(shape=shape, i=i, j=j, values=np.ones(3000), weights=rng.uniform(0.5, 2, 3000)).entries
    equations = entry_equations(left, right, seen)
    design = np.concatenate([rows for rows, _ in equations.blocks()])
    assert np.allclose(equations.gram(), adjoint(design) @ design, rtol=0, atol=1e-9 * np.linalg.norm(design) ** 2)
