import numpy as np
import pytest

import curplus
from curplus import plotting
from curplus.estimators import ErrorPath
from curplus.exceptions import MissingExtraError

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


def test_images_share_one_scale_and_carry_their_titles(rng):
    M = rng.standard_normal((30, 20))
    seen = curplus.observe(M, n_columns=2, n_rows=3, n_entries=10, rng=0)
    figure = plotting.plot_images({"one": M, "two": 2 * M, "seen": seen})
    shown = [ax for ax in figure.axes if ax.get_images()]
    assert [ax.get_title() for ax in shown] == ["one", "two", "seen"]
    assert {ax.get_images()[0].get_clim() for ax in shown} == {(M.min(), M.max())}


def test_the_error_of_an_imputer_is_drawn_against_the_rank():
    path = ErrorPath(np.array([1, 2, 3]), np.array([0.9, 0.4, 0.5]), 1.0, 120)
    ax = plotting.plot_error_path(path)
    drawn, means = ax.get_lines()
    assert drawn.get_xydata().tolist() == [[1, 0.9], [2, 0.4], [3, 0.5]]
    assert set(means.get_ydata()) == {1.0}
    assert ax.get_title() == "120 hidden values"
    assert plotting.plot_error_path(path, ax=ax) is ax


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


def test_a_missing_extra_names_itself(monkeypatch, rng):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'curplus\[plot\]'"):
        plotting.plot_images({"one": rng.standard_normal((3, 3))})
