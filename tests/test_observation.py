"""What was seen: built by hand or read from a source, checked against itself, kept safe."""

import dataclasses
import re

import array_api_strict
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import curplus
from curplus import Observation
from curplus._arrays import to_numpy
from curplus.exceptions import InconsistentObservationError, InvalidArgumentError
from curplus.observation import SamplingDesign
from tests.strategies import counts, float_dtypes, low_rank_matrices, observations, observed, plans, seeds

FIELDS = ("shape", "column_index", "columns", "row_index", "rows", "i", "j", "values")
NUMBERS = ("columns", "rows", "values")
NAMES = ("row_names", "column_names")

# A 4 x 3 matrix of which a column, two rows and three entries were measured. Column 2 crosses rows 0 and 3 at (0, 2)
# and (3, 2); the entry (0, 1) lies on a row, (1, 2) on a column, and (2, 0) on neither.
MATRIX = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [10.0, 11.0, 12.0]])


def measured(**changes):
    """An observation of MATRIX, with some arguments replaced."""
    arguments = {
        "shape": (4, 3),
        "column_index": [2],
        "columns": MATRIX[:, [2]].copy(),
        "row_index": [3, 0],
        "rows": MATRIX[[3, 0]].copy(),
        "i": [0, 1, 2],
        "j": [1, 2, 0],
        "values": [2.0, 6.0, 7.0],
    }
    return Observation(**arguments | changes)


def assert_same(first, second):
    """Every field equal, bit for bit, and of the same type."""
    assert first.shape == second.shape
    assert first.design == second.design
    for name in FIELDS[1:] + NAMES:
        a, b = getattr(first, name), getattr(second, name)
        assert (a is None) == (b is None)
        if a is not None:
            assert to_numpy(a).dtype == to_numpy(b).dtype
            np.testing.assert_array_equal(to_numpy(a), to_numpy(b), strict=True)


# Building one by hand


def test_what_was_measured_is_kept_under_the_same_names():
    seen = measured()
    assert seen.shape == (4, 3)
    np.testing.assert_array_equal(seen.column_index, [2])
    np.testing.assert_array_equal(seen.columns, MATRIX[:, [2]])
    np.testing.assert_array_equal(seen.row_index, [3, 0])
    np.testing.assert_array_equal(seen.rows, MATRIX[[3, 0]])
    np.testing.assert_array_equal(seen.i, [0, 1, 2])
    np.testing.assert_array_equal(seen.j, [1, 2, 0])
    np.testing.assert_array_equal(seen.values, [2.0, 6.0, 7.0])
    assert (seen.n_columns, seen.n_rows, seen.n_entries) == (1, 2, 3)
    assert seen.design == SamplingDesign("given", "given", "given")


def test_fields_follow_the_documented_order():
    names = tuple(field.name for field in dataclasses.fields(Observation))
    assert names[:8] == FIELDS


def test_arguments_are_keywords():
    with pytest.raises(TypeError, match="positional"):
        Observation((4, 3))


def test_what_was_not_measured_may_be_left_out():
    nothing = Observation(shape=(4, 3))
    assert (nothing.columns.shape, nothing.rows.shape, nothing.values.shape) == ((4, 0), (0, 3), (0,))
    assert (nothing.n_columns, nothing.n_rows, nothing.n_entries) == (0, 0, 0)
    assert nothing.dtype == np.float64
    only_columns = Observation(shape=(4, 3), column_index=[0, 1], columns=MATRIX[:, :2].astype(np.float32))
    assert {getattr(only_columns, name).dtype for name in NUMBERS} == {np.dtype(np.float32)}
    only_rows = Observation(shape=(4, 3), row_index=[1], rows=MATRIX[1:2])
    assert (only_rows.n_columns, only_rows.n_rows, only_rows.n_entries) == (0, 1, 0)
    only_entries = Observation(shape=(4, 3), i=[1], j=[1], values=[5.0])
    assert (only_entries.n_columns, only_entries.n_rows, only_entries.n_entries) == (0, 0, 1)


def test_left_out_parts_belong_to_the_library_of_the_others(xp):
    seen = Observation(shape=(4, 3), i=[1], j=[1], values=xp.asarray([5.0]))
    assert {type(getattr(seen, name)) for name in NUMBERS} == {type(xp.asarray(1.0))}


@given(observations())
def test_a_true_observation_is_always_accepted(seen):
    assert seen.columns.shape == (seen.shape[0], seen.n_columns)
    assert seen.rows.shape == (seen.n_rows, seen.shape[1])
    assert seen.values.shape == seen.i.shape == seen.j.shape == (seen.n_entries,)


@pytest.mark.parametrize(
    "index", [(2, 0), range(2), np.array([1, 0], dtype=np.uint8), np.array([1, 0], dtype=np.int32)], ids=repr
)
def test_positions_may_be_any_whole_numbers(index):
    seen = Observation(shape=(4, 3), column_index=index, columns=MATRIX[:, list(index)])
    assert seen.column_index.dtype == np.int64
    np.testing.assert_array_equal(seen.column_index, list(index))


def test_positions_live_on_the_host_whatever_holds_the_values(xp):
    seen = measured(
        column_index=xp.asarray([2]),
        columns=xp.asarray(MATRIX[:, [2]]),
        rows=xp.asarray(MATRIX[[3, 0]]),
        values=xp.asarray([2.0, 6.0, 7.0]),
    )
    for name in ("column_index", "row_index", "i", "j"):
        assert type(getattr(seen, name)) is np.ndarray
    for name in NUMBERS:
        assert type(getattr(seen, name)) is type(xp.asarray(1.0))


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        ((np.float32, np.float32, np.float32), np.float32),
        ((np.float32, np.float32, np.float64), np.float64),
        ((np.float16, np.float32, np.float16), np.float32),
        ((np.float16, np.float16, np.float16), np.float32),
        ((np.int64, np.int8, np.uint16), np.float64),
        ((np.float32, np.int8, np.float32), np.float64),
        ((np.longdouble, np.float64, np.float32), np.float64),
    ],
)
def test_columns_rows_and_values_share_one_type(dtypes, expected):
    seen = measured(
        columns=MATRIX[:, [2]].astype(dtypes[0]),
        rows=MATRIX[[3, 0]].astype(dtypes[1]),
        values=np.array([2, 6, 7], dtype=dtypes[2]),
    )
    assert {getattr(seen, name).dtype for name in NUMBERS} == {np.dtype(expected)}
    assert seen.dtype == expected


def test_truth_values_count_as_zero_and_one():
    seen = Observation(shape=(4, 3), i=[0, 1], j=[0, 1], values=[True, False])
    np.testing.assert_array_equal(seen.values, [1.0, 0.0], strict=True)


def test_how_it_was_drawn_may_be_said():
    assert measured(design=SamplingDesign(entries="uniform")).design == ("given", "given", "uniform")
    assert measured(design=("adaptive", "adaptive", "given")).design == SamplingDesign("adaptive", "adaptive", "given")


def test_names_are_kept():
    seen = measured(row_names=["a", "b", "c", "d"], column_names=[1, 2, 3])
    assert list(seen.row_names) == ["a", "b", "c", "d"]
    assert list(seen.column_names) == [1, 2, 3]


# Immutable, and nobody else's business


def test_fields_cannot_be_replaced():
    with pytest.raises(dataclasses.FrozenInstanceError):
        measured().values = np.zeros(3)


@pytest.mark.parametrize("name", FIELDS[1:])
def test_arrays_cannot_be_written_to(name):
    with pytest.raises(ValueError, match="read-only"):
        getattr(measured(), name)[0] = 0


def test_names_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        measured(row_names=list("abcd")).row_names[0] = "z"


@given(low_rank_matrices(), st.data())
def test_the_callers_arrays_are_neither_changed_nor_frozen(matrix, data):
    plan = data.draw(plans(matrix.shape))
    arguments = {
        "column_index": plan.column_index.copy(),
        "columns": matrix[:, plan.column_index],
        "row_index": plan.row_index.copy(),
        "rows": matrix[plan.row_index],
        "i": plan.i.copy(),
        "j": plan.j.copy(),
        "values": matrix[plan.i, plan.j],
        "row_names": np.arange(matrix.shape[0]),
    }
    before = {name: array.copy() for name, array in arguments.items()}
    Observation(shape=matrix.shape, **arguments)
    for name, array in arguments.items():
        assert array.flags.writeable
        np.testing.assert_array_equal(array, before[name], strict=True)


# It checks itself: shapes and positions


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"columns": MATRIX[:, [1, 2]]},
            "columns has shape (4, 2) but column_index has 1 positions of a 4 x 3 matrix, so it must have shape (4, 1)",
        ),
        ({"columns": MATRIX[:3, [2]]}, "columns has shape (3, 1) but column_index has 1 positions"),
        ({"columns": MATRIX[:, 2]}, "columns has shape (4,) but"),
        ({"columns": MATRIX[:, [2]].T}, "columns has shape (1, 4) but"),
        ({"columns": None}, "columns has shape (4, 0) but column_index has 1 positions"),
        ({"column_index": []}, "columns has shape (4, 1) but column_index has 0 positions"),
        (
            {"rows": MATRIX[[3, 0]].T},
            "rows has shape (3, 2) but row_index has 2 positions of a 4 x 3 matrix, so it must have shape (2, 3).",
        ),
        ({"rows": MATRIX[[3]]}, "rows has shape (1, 3) but row_index has 2 positions"),
        (
            {"values": [2.0, 6.0]},
            "values has shape (2,) but i has 3 positions of a 4 x 3 matrix, so it must have shape (3,).",
        ),
        ({"values": [[2.0, 6.0, 7.0]]}, "values has shape (1, 3) but i has 3 positions"),
        ({"values": 2.0}, "values has shape () but i has 3 positions"),
        ({"j": [1, 2]}, "j has shape (2,) but i has 3 positions of a 4 x 3 matrix, so it must have shape (3,)."),
        (
            {"column_index": [3]},
            "column_index[0]=3 is out of range. Positions count from 0, so give values from 0 to 2.",
        ),
        ({"row_index": [3, 4]}, "row_index[1]=4 is out of range. Positions count from 0, so give values from 0 to 3."),
        ({"row_index": [-1, 0]}, "row_index[0]=-1 is out of range."),
        ({"i": [0, 1, 4]}, "i[2]=4 is out of range. Positions count from 0, so give values from 0 to 3."),
        ({"j": [1, -2, 0]}, "j[1]=-2 is out of range. Positions count from 0, so give values from 0 to 2."),
        ({"j": np.array([1, 2**63, 0], dtype=np.uint64)}, "j[1]=9223372036854775808 is out of range."),
        ({"column_index": [2.0]}, "column_index has dtype float64. Give positions as whole numbers, counted from 0."),
        ({"row_index": [True, False]}, "row_index has dtype bool. Give positions as whole numbers"),
        ({"i": ["0", "1", "2"]}, "i has dtype <U1. Give positions as whole numbers"),
        ({"i": [[0, 1, 2]]}, "i has shape (1, 3). Give a one-dimensional array of positions."),
        ({"column_index": 2}, "column_index has shape (). Give a one-dimensional array of positions."),
        ({"row_index": [3, 3]}, "row_index contains 3 more than once. Keep each only once"),
        (
            {"column_index": [1, 2, 1], "columns": MATRIX[:, [1, 2, 1]]},
            "column_index contains 1 more than once. Keep each only once: a repeated reading adds no direction.",
        ),
        ({"shape": (4,)}, "shape=(4,) is not a pair (number of rows, number of columns)."),
        ({"shape": 12}, "shape=12 is not a pair"),
        ({"shape": (4, 0)}, "shape[1]=0 is too small. Give at least 1."),
        ({"shape": (4, 3.0)}, "shape[1]=3.0 is not a whole number. Give an int."),
        ({"row_names": ["a"]}, "row_names has shape (1,) but the matrix needs 4 names. Give one each."),
        ({"column_names": list("abcd")}, "column_names has shape (4,) but the matrix needs 3 names. Give one each."),
    ],
)
def test_shapes_and_positions_are_checked(changes, message):
    with pytest.raises(InvalidArgumentError, match=re.escape(message)):
        measured(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"columns": MATRIX[:, [2]] * 1j, "gaps": True}, "complex values cannot have gaps yet."),
        ({"columns": MATRIX[:, [2]] * 1j, "noise": 0.1}, "complex values cannot have noise yet."),
        ({"values": ["2", "6", "7"]}, "values has dtype <U1, which is not numeric."),
        ({"values": [2.0, None, 7.0]}, "values has dtype object, which is not numeric."),
        ({"rows": np.ma.masked_equal(MATRIX[[3, 0]], 1.0)}, "rows is a masked array, and a masked value is a gap"),
        ({"rows": scipy.sparse.csr_array(MATRIX[[3, 0]])}, "rows is a sparse matrix, and must be a dense array here."),
    ],
)
def test_what_is_no_real_number_is_refused(changes, message):
    with pytest.raises(InvalidArgumentError, match=re.escape(message)):
        measured(**changes)


@pytest.mark.parametrize("ragged", [{"values": [[2.0], [6.0, 7.0]]}, {"i": [[0], [1, 2]]}])
def test_lists_of_different_lengths_are_refused_by_name(ragged):
    with pytest.raises(InvalidArgumentError, match=rf"^{next(iter(ragged))} "):
        measured(**ragged)


def test_arrays_of_different_libraries_are_not_mixed():
    message = r"arrays of different libraries were mixed: columns is a array_api_strict\S* array, rows is a numpy array"
    with pytest.raises(InvalidArgumentError, match=message):
        measured(columns=array_api_strict.asarray(MATRIX[:, [2]]))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    ("name", "where", "place"),
    [
        ("columns", (1, 0), r"columns\[1, 0\]={} \(row 1, column 2\)"),
        ("rows", (0, 1), r"rows\[0, 1\]={} \(row 3, column 1\)"),
        ("values", (2,), r"values\[2\]={} \(row 2, column 0\)"),
    ],
)
def test_a_value_that_is_not_finite_is_named_with_its_place(xp, name, where, place, bad):
    parts = {"columns": MATRIX[:, [2]].copy(), "rows": MATRIX[[3, 0]].copy(), "values": np.array([2.0, 6.0, 7.0])}
    parts[name][where] = bad
    with pytest.raises(InvalidArgumentError, match=place.format(bad) + r"\. Every value .* must be finite"):
        measured(**{part: xp.asarray(array) for part, array in parts.items()})


# It checks itself: one place has one value

CROSSING = {"columns": np.array([[3.0], [6.0], [9.0], [12.5]])}
ON_A_ROW = {"values": [2.5, 6.0, 7.0]}
ON_A_COLUMN = {"values": [2.0, 6.5, 7.0]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (CROSSING, "row 3, column 2 was read as 12.0 among the rows and as 12.5 among the columns."),
        (ON_A_ROW, "row 0, column 1 was read as 2.5 among the entries and as 2.0 among the rows."),
        (ON_A_COLUMN, "row 1, column 2 was read as 6.5 among the entries and as 6.0 among the columns."),
    ],
    ids=["crossing", "entry on a row", "entry on a column"],
)
def test_two_readings_that_disagree_are_named_with_their_place(xp, changes, message):
    parts = {"columns": MATRIX[:, [2]], "rows": MATRIX[[3, 0]], "values": [2.0, 6.0, 7.0]} | changes
    with pytest.raises(InconsistentObservationError, match=re.escape(message)) as caught:
        measured(**{name: xp.asarray(part) for name, part in parts.items()})
    assert "One place has one value (to 1e-06 relative): check which reading is right" in str(caught.value)
    assert isinstance(caught.value, InvalidArgumentError)


def test_an_entry_where_nothing_else_was_read_may_have_any_value():
    assert measured(values=[2.0, 6.0, -1e6]).values[2] == -1e6


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("place", ["crossing", "row", "column"])
@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
@pytest.mark.parametrize(("difference", "accepted"), [(5e-7, True), (2e-6, False)])
def test_readings_may_differ_by_a_millionth(sign, place, scale, difference, accepted):
    columns, rows, values = MATRIX[:, [2]] * scale, MATRIX[[3, 0]] * scale, np.array([2.0, 6.0, 7.0]) * scale
    factor = 1 + sign * difference
    if place == "crossing":
        columns[3] *= factor
    else:
        values[0 if place == "row" else 1] *= factor
    if accepted:
        measured(columns=columns, rows=rows, values=values)
    else:
        with pytest.raises(InconsistentObservationError, match="was read as"):
            measured(columns=columns, rows=rows, values=values)


@given(low_rank_matrices(), st.data(), st.sampled_from([-1, 1]))
def test_any_wrong_reading_of_a_place_seen_twice_is_found(matrix, data, sign):
    plan = data.draw(plans(matrix.shape).filter(lambda plan: len(plan.row_index) and len(plan.column_index)))
    k, c = (data.draw(st.integers(0, len(index) - 1)) for index in (plan.row_index, plan.column_index))
    i, j = plan.row_index[k], plan.column_index[c]
    columns = matrix[:, plan.column_index]
    columns[i, c] += sign * np.abs(matrix).max()
    with pytest.raises(InconsistentObservationError, match=rf"^row {i}, column {j} was read as "):
        dataclasses.replace(observed(matrix, plan), columns=columns)


@given(low_rank_matrices(), st.data(), st.sampled_from(["row", "column"]))
def test_any_wrong_entry_on_a_row_or_column_is_found(matrix, data, side):
    plan = data.draw(plans(matrix.shape).filter(lambda plan: len(plan.row_index) and len(plan.column_index)))
    n, m = matrix.shape
    if side == "row":
        i, j = data.draw(st.sampled_from(plan.row_index.tolist())), data.draw(st.integers(0, m - 1))
        parts = {"row_index": plan.row_index, "rows": matrix[plan.row_index]}
    else:
        i, j = data.draw(st.integers(0, n - 1)), data.draw(st.sampled_from(plan.column_index.tolist()))
        parts = {"column_index": plan.column_index, "columns": matrix[:, plan.column_index]}
    wrong = matrix[[i], [j]] + np.abs(matrix).max()
    with pytest.raises(InconsistentObservationError, match=rf"^row {i}, column {j} was read as .* among the {side}s\."):
        Observation(shape=matrix.shape, **parts, i=[i], j=[j], values=wrong)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("units", "accepted"), [(7, True), (9, False)])
def test_a_small_value_beside_a_large_one_may_be_off_by_the_rounding_of_the_large_one(dtype, units, accepted):
    large = 1000.0
    rows = np.array([[large, 0.0]], dtype=dtype)
    values = np.array([units * np.finfo(dtype).eps * large], dtype=dtype)
    arguments = {"shape": (2, 2), "row_index": [0], "rows": rows, "i": [0], "j": [1], "values": values}
    if accepted:
        Observation(**arguments)
    else:
        with pytest.raises(InconsistentObservationError, match="row 0, column 1 was read as"):
            Observation(**arguments)


@given(seeds)
def test_rounding_in_single_precision_is_not_disagreement(seed):
    """One place, rounded once up and once down, as when rows come from one file and entries from another."""
    rng = np.random.default_rng(seed)
    matrix = np.exp(rng.standard_normal((6, 5))).astype(np.float32)
    up_or_down = rng.choice(np.array([-np.inf, np.inf], dtype=np.float32), size=matrix.shape)
    i, j = np.divmod(np.arange(30), 5)
    values = np.nextafter(matrix, up_or_down)[i, j]
    seen = Observation(shape=(6, 5), row_index=np.arange(6), rows=matrix, i=i, j=j, values=values)
    assert seen.dtype == np.float32


def test_values_measured_in_double_agree_with_columns_kept_in_single_precision(full_rank):
    matrix = full_rank((20, 10))
    i, j = np.divmod(np.arange(200), 10)
    index = np.arange(10)
    seen = Observation(
        shape=(20, 10), column_index=index, columns=matrix.astype(np.float32), i=i, j=j, values=matrix[i, j]
    )
    assert seen.dtype == np.float64


@pytest.mark.parametrize("sign", [-1, 1])
def test_readings_that_overflow_when_subtracted_are_compared_as_well(sign):
    huge = np.finfo(np.float64).max
    arguments = {"shape": (1, 1), "row_index": [0], "rows": [[huge]], "i": [0], "j": [0], "values": [sign * huge]}
    if sign > 0:
        Observation(**arguments)
    else:
        with pytest.raises(InconsistentObservationError, match=r"row 0, column 0 was read as -1\.79"):
            Observation(**arguments)


def test_a_position_may_repeat_with_different_values():
    """Each record is one equation: repeated measurements of one place need not agree."""
    seen = measured(i=[2, 2, 2], j=[0, 0, 0], values=[7.0, 7.5, 6.5])
    assert seen.n_entries == 3
    np.testing.assert_array_equal(seen.values, [7.0, 7.5, 6.5])


def test_each_repeated_record_counts_in_the_answer():
    weights = {"i": [1, 1, 2], "j": [0, 0, 1], "values": [1.0, 1.0, 4.0]}
    base = {"shape": (4, 3), "column_index": [2], "columns": np.ones((4, 1)), "row_index": [0], "rows": np.ones((1, 3))}
    seen = Observation(**base, **weights)
    np.testing.assert_allclose(curplus.cur_plus(seen, rank=1).to_array(), np.full((4, 3), 2.0))
    np.testing.assert_allclose(curplus.cur_unbiased(seen).to_array(), np.full((4, 3), 2.0))


# Turned, shown, saved


@given(observations(row_names=None))
def test_the_transpose_is_an_observation_of_the_transpose(seen):
    turned = seen.T
    assert turned.shape == seen.shape[::-1]
    np.testing.assert_array_equal(turned.columns, seen.rows.T)
    np.testing.assert_array_equal(turned.rows, seen.columns.T)
    np.testing.assert_array_equal([turned.i, turned.j], [seen.j, seen.i])
    assert_same(turned.T, seen)


def test_the_transpose_swaps_names_and_how_they_were_drawn(xp):
    seen = measured(
        columns=xp.asarray(MATRIX[:, [2]]),
        rows=xp.asarray(MATRIX[[3, 0]]),
        values=xp.asarray([2.0, 6.0, 7.0]),
        row_names=list("abcd"),
        column_names=list("xyz"),
        design=SamplingDesign("uniform", "adaptive", "given"),
    ).T
    assert list(seen.row_names) == list("xyz")
    assert list(seen.column_names) == list("abcd")
    assert seen.design == SamplingDesign("adaptive", "uniform", "given")
    assert type(seen.columns) is type(xp.asarray(1.0))


def test_it_introduces_itself(xp):
    part = xp.asarray(MATRIX[:, [2]], dtype=xp.float32)
    one = Observation(shape=(4, 3), column_index=[2], columns=part)
    assert repr(one) == "<Observation of a 4 x 3 matrix: 1 column, 0 rows, 0 entries, float32>"
    assert repr(measured()) == "<Observation of a 4 x 3 matrix: 1 column, 2 rows, 3 entries, float64>"
    single = Observation(shape=(4, 3), i=[0], j=[0], values=[1.0])
    assert repr(single) == "<Observation of a 4 x 3 matrix: 0 columns, 0 rows, 1 entry, float64>"


@given(observations(design=SamplingDesign("uniform", "adaptive", "given")))
def test_what_was_saved_comes_back_bit_for_bit(tmp_path_factory, seen):
    path = tmp_path_factory.getbasetemp() / "seen.npz"
    seen.save(path)
    assert_same(curplus.load(path), seen)
    assert_same(curplus.load(path), seen)


@pytest.mark.parametrize(
    "names",
    [{}, {"row_names": list("abcd")}, {"row_names": ["ä", "", "日本", "d" * 300], "column_names": [2.5, 1.5, 0.5]}],
    ids=["none", "rows", "both"],
)
def test_names_are_saved_as_well(tmp_path, names):
    seen = measured(**names)
    seen.save(str(tmp_path / "seen.npz"))
    assert_same(curplus.load(str(tmp_path / "seen.npz")), seen)


def test_arrays_of_any_library_are_saved(tmp_path, xp):
    dtype = xp.float32
    seen = measured(
        columns=xp.asarray(MATRIX[:, [2]], dtype=dtype),
        rows=xp.asarray(MATRIX[[3, 0]], dtype=dtype),
        values=xp.asarray([2.0, 6.0, 7.0], dtype=dtype),
    )
    seen.save(tmp_path / "seen.npz")
    back = curplus.load(tmp_path / "seen.npz")
    assert type(back.columns) is np.ndarray
    assert back.dtype == np.float32
    assert_same(back, seen)


# Nothing else is read


@given(low_rank_matrices(dtypes=float_dtypes), st.data(), seeds)
def test_never_reads_an_unsampled_entry(recording_source, matrix, data, seed):
    source = recording_source(matrix)
    how_many = data.draw(counts(matrix.shape))
    seen = curplus.observe(source, **how_many, rng=seed)
    planned = np.zeros(matrix.shape, dtype=bool)
    planned[:, seen.column_index] = planned[seen.row_index] = planned[seen.i, seen.j] = True
    np.testing.assert_array_equal(source.seen, planned)
    assert source.n_calls <= 3


def test_decompositions_of_an_observation_read_nothing_more(low_rank, recording_source):
    source = recording_source(low_rank((30, 20), rank=2))
    seen = curplus.observe(source, n_columns=4, n_rows=5, n_entries=20, rng=0)
    before, n_calls = source.seen.copy(), source.n_calls
    for solver in ("auto", *curplus.solvers.SOLVERS):
        curplus.cur_plus(seen, rank=2, solver=solver).to_array()
    curplus.cur_unbiased(seen, rank=2).cur()
    curplus.cur_unbiased(seen).svd()
    assert source.n_calls == n_calls
    np.testing.assert_array_equal(source.seen, before)


def test_only_the_full_decomposition_reads_everything(low_rank, recording_source):
    source = recording_source(low_rank((30, 20), rank=2))
    seen = curplus.observe(source, n_columns=4, n_rows=5, n_entries=0, rng=0)
    assert not source.seen.all()
    curplus.cur_full(source, seen)
    assert source.seen.all()


# Chances, weights, and what was read in all


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"probabilities": [0.1]}, r"probabilities has shape \(1,\) but there are 2 entries"),
        ({"probabilities": [0.1, 0.0]}, r"probabilities\[1\]=0.0 must be a positive finite number and at most 1"),
        ({"probabilities": [0.1, 1.5]}, r"probabilities\[1\]=1.5 must be a positive finite number and at most 1"),
        ({"weights": [1.0, -2.0]}, r"weights\[1\]=-2.0 must be a positive finite number\."),
        ({"weights": [np.nan, 2.0]}, r"weights\[0\]=nan must be a positive finite number"),
    ],
)
def test_chances_and_weights_are_checked(given, message):
    with pytest.raises(InvalidArgumentError, match=message):
        curplus.Observation(shape=(3, 4), i=[0, 1], j=[2, 3], values=[1.0, 2.0], **given)


def test_weights_are_one_for_uniform_entries_and_inverse_to_their_chances_otherwise():
    entries = {"shape": (2, 5), "i": [0, 1], "j": [2, 3], "values": [1.0, 2.0]}
    assert curplus.Observation(**entries).entries.fit_weights.tolist() == [1, 1]
    seen = curplus.Observation(**entries, probabilities=[0.1, 0.2], weights=[1.0, 3.0])
    assert seen.entries.importance_weights.tolist() == [1, 0.5]
    assert seen.entries.fit_weights.tolist() == [0.5, 0.75]


def test_chances_and_weights_are_saved_and_transposed(tmp_path):
    seen = curplus.Observation(
        shape=(2, 5), i=[0, 1], j=[2, 3], values=[1.0, 2.0], probabilities=[0.1, 0.2], weights=[1, 3]
    )
    seen.save(tmp_path / "seen.npz")
    for other in (curplus.load(tmp_path / "seen.npz"), seen.T):
        assert np.array_equal(other.probabilities, seen.probabilities)
        assert np.array_equal(other.weights, seen.weights)


@given(observations())
def test_every_place_that_was_read_counts_once(seen):
    mask = np.zeros(seen.shape, dtype=bool)
    mask[:, seen.column_index] = mask[seen.row_index] = mask[seen.i, seen.j] = True
    assert seen.n_values_read == mask.sum()


def test_positions_may_be_arrays_of_any_library():
    strict = array_api_strict.asarray
    seen = curplus.Observation(shape=(6, 5), i=strict([3]), j=strict([2]), values=strict([1.0]))
    assert seen.i.tolist() == [3]


@pytest.mark.parametrize("drawn", ["uniform", None, ("unifrom", "given", "given"), ("given", "given")])
def test_how_it_was_drawn_must_be_said_in_known_words(drawn):
    with pytest.raises(InvalidArgumentError, match="must have 'uniform', 'given' or 'adaptive'"):
        curplus.Observation(shape=(6, 5), design=drawn)
