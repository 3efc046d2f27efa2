import dataclasses

import numpy as np
import pytest

import curplus
from curplus import plotting
from curplus.exceptions import InvalidArgumentError, MissingExtraError

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_an_observation_is_drawn_in_its_place(rng):
    M = rng.standard_normal((30, 20))
    seen = curplus.observe(M, n_columns=2, n_rows=3, n_entries=10, rng=0)
    drawn = np.ma.filled(plotting.plot_observation(seen).get_images()[0].get_array(), np.nan)
    known = ~np.isnan(drawn)
    assert np.array_equal(drawn[known], M[known])
    expected = np.zeros((30, 20), dtype=bool)
    expected[:, seen.column_index] = expected[seen.row_index] = expected[seen.i, seen.j] = True
    assert np.array_equal(known, expected)


def test_a_huge_matrix_is_drawn_on_a_small_canvas():
    source = curplus.CallableSource(lambda i, j: 1.0 + i + j, (10**5, 10**4))
    seen = curplus.observe(source, n_columns=2, n_rows=3, n_entries=10, rng=0)
    ax = plt.figure().add_subplot()
    assert plotting.plot_observation(seen, ax=ax) is ax
    assert ax.get_images()[0].get_array().shape == (640, 640)


def test_the_order_of_merit_is_drawn_from_the_top(rng):
    M = rng.standard_normal((30, 4)) @ rng.standard_normal((4, 20))
    seen = curplus.observe(M, n_columns=8, n_rows=3, n_entries=0, rng=0)
    importance = curplus.approximate(seen, 3, form="cur").importance()
    figure = plotting.plot_importance(importance, most=5)
    columns, rows = figure.axes
    assert [label.get_text() for label in columns.get_yticklabels()] == [str(j) for j in importance.columns.names[:5]]
    assert columns.get_title() == "5 of 8 sampled columns"
    assert rows.get_title() == "3 of 3 sampled rows"
    assert np.array_equal(columns.get_lines()[0].get_xdata(), importance.columns.explained[:5])
    assert columns.get_ylim() == (4.5, -0.5)


def test_a_missing_extra_names_itself(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'curplus\[plot\]'"):
        plotting.plot_predictions([1.0], [2.0])


@pytest.fixture
def judged(low_rank):
    """A matrix, what was seen of it, and its approximation."""
    M = low_rank((60, 50), 2)
    M[3] += 3 * M.std()
    seen = curplus.observe(M, n_columns=2, n_rows=2, n_entries=900, rng=0)
    return M, seen, curplus.approximate(seen)


def test_means_are_drawn_in_descending_order_with_the_best_marked(judged):
    _, seen, approx = judged
    means = curplus.estimate_means(approx, seen)
    ax = plotting.plot_means(means, k=2)
    dots = np.concatenate([np.column_stack(line.get_data()) for line in ax.get_lines() if line.get_marker() == "o"])
    assert np.array_equal(dots[np.argsort(dots[:, 1]), 0], np.sort(means.estimate)[::-1])
    assert f"may be among the 2 best ({len(means.best(2))})" in [t.get_text() for t in ax.get_legend().get_texts()]
    few = plotting.plot_means(means, most=10, ax=plt.figure().add_subplot())
    assert len(few.get_yticklabels()) == 10


def test_small_means_come_first_where_they_are_good(judged):
    _, seen, approx = judged
    means = curplus.estimate_means(approx, seen)
    ax = plotting.plot_means(means, k=2, largest=False, most=5)
    best = f"may be among the 2 best ({len(means.best(2, largest=False))})"
    assert best in [text.get_text() for text in ax.get_legend().get_texts()]
    assert [label.get_text() for label in ax.get_yticklabels()] == [str(k) for k in np.argsort(means.estimate)[:5]]


def test_ranks_are_drawn_between_their_limits(judged):
    _, seen, approx = judged
    means = curplus.estimate_means(approx, seen)
    ax = plotting.plot_ranks(means, most=10)
    ends = np.array([segment[:, 0] for segment in ax.collections[0].get_segments()])
    first = np.argsort(-means.estimate)[:10]
    np.testing.assert_array_equal(ends.T, [limit[first] for limit in means.rank_intervals()])
    assert [label.get_text() for label in ax.get_yticklabels()] == [str(k) for k in first]


def test_means_without_intervals_are_drawn_too(judged):
    _, seen, approx = judged
    means = curplus.estimate_means(approx, seen)
    nothing = np.full(len(means), np.nan)
    refused = dataclasses.replace(
        means, low=nothing, high=nothing, joint_low=nothing, joint_high=nothing, reason="no evidence"
    )
    assert plotting.plot_means(refused).get_title() == "no intervals"


def test_intervals_are_drawn_beside_the_truth(judged):
    M, seen, approx = judged
    i, j = np.divmod(np.arange(0, 3000, 17), 50)
    found = curplus.predict_interval(approx, seen, i, j)
    ax = plotting.plot_intervals(found, truth=M[i, j])
    assert np.array_equal(ax.get_lines()[0].get_ydata(), np.sort(found.value[~found.is_measured]))
    assert "inside" in ax.get_title()
    with pytest.raises(InvalidArgumentError, match="truth has shape"):
        plotting.plot_intervals(found, truth=[1.0])


def test_singular_values_are_drawn_without_those_that_are_rounding(low_rank):
    M = low_rank((40, 30), 3)
    seen = curplus.observe(M, n_columns=8, n_rows=8, n_entries=300, rng=0)
    approx = curplus.approximate(seen)
    ax = plotting.plot_spectrum(approx)
    assert ax.get_yscale() == "log"
    (dots,) = ax.get_lines()
    np.testing.assert_allclose(dots.get_ydata(), np.linalg.svd(approx.to_array(), compute_uv=False)[:3])
    zero = curplus.approximate(curplus.observe(0 * M, n_columns=3, n_rows=3, n_entries=50, rng=0))
    assert len(plotting.plot_spectrum(zero).get_lines()[0].get_ydata()) == 0
    ax.figure.canvas.draw()
    assert not any("$" in label.get_text() for label in ax.get_yticklabels(which="both"))


def test_predictions_are_drawn_beside_what_was_measured(rng):
    predicted = rng.standard_normal(200)
    measured = predicted + 0.1 * rng.standard_normal(200)
    values, both, groups = plotting.plot_predictions(predicted, measured).get_lines()
    assert set(zip(*values.get_data(), strict=True)) == set(zip(predicted, measured, strict=True))
    assert np.array_equal(*both.get_data())
    by_prediction = np.argsort(predicted).reshape(10, 20)
    np.testing.assert_allclose(groups.get_xdata(), predicted[by_prediction].mean(axis=1))
    np.testing.assert_allclose(groups.get_ydata(), measured[by_prediction].mean(axis=1))


def test_predictions_of_few_different_values_are_moved_apart_and_few_have_no_groups(rng):
    predicted, measured = rng.random(40), rng.integers(0, 2, 40)
    values, _ = plotting.plot_predictions(predicted, measured, ax=plt.figure().add_subplot()).get_lines()
    assert len(np.unique(values.get_ydata())) == 40
    assert np.abs(values.get_ydata() - np.rint(values.get_ydata())).max() <= 0.03
    with pytest.raises(InvalidArgumentError, match=r"predicted has shape \(3,\) and measured \(2,\)"):
        plotting.plot_predictions([1, 2, 3], [1, 2])


def test_names_are_drawn_as_they_are_and_long_ones_are_shortened(low_rank):
    names = ["$\\frac{1$", "x" * 100, "two\nlines"]
    seen = curplus.observe(low_rank((30, 20), 2), n_columns=3, n_rows=4, n_entries=0, rng=0)
    picks = dataclasses.replace(curplus.approximate(seen, form="cur").importance().columns, names=np.array(names))
    ax = plotting.plot_merits(picks)
    ax.figure.canvas.draw()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["$\\frac{1$", "x" * 17 + "…", "two lines"]
    assert len(ax.get_legend().get_texts()) == 3
