"""What a stranger types first: it works, or the message names what does."""

import time
import types

import numpy as np
import pytest
import scipy.sparse

import curplus
from curplus.estimators import CUR, CURPlus
from curplus.exceptions import InvalidArgumentError
from curplus.sources import ArraySource

pd = pytest.importorskip("pandas")


@pytest.fixture
def table(low_rank, rng):
    """A DataFrame of rank 2 with gaps."""
    values = low_rank((30, 12), 2)
    values[rng.random(values.shape) < 0.2] = np.nan
    return pd.DataFrame(values, index=[f"g{k}" for k in range(30)], columns=[f"t{k}" for k in range(12)])


@pytest.mark.parametrize(
    "call",
    [
        curplus.approximate,
        lambda table: curplus.certify(table, table),
        curplus.observe,
        lambda table: curplus.observe(table, n_columns=12, n_rows=0, n_entries=0),
    ],
    ids=["approximate", "certify", "observe", "observe with counts"],
)
def test_a_table_with_gaps_is_shown_the_way(table, call):
    with pytest.raises(InvalidArgumentError, match=r"Observation\.from_table.*CURImputer"):
        call(table)


def test_a_filled_observation_keeps_its_names(table):
    seen = curplus.Observation.from_table(table)
    filled = seen.fill(curplus.approximate(seen))
    assert filled.index.tolist() == table.index.tolist()
    assert filled.columns.tolist() == table.columns.tolist()
    known = table.notna().to_numpy()
    np.testing.assert_array_equal(filled.to_numpy()[known], table.to_numpy()[known])
    nameless = curplus.Observation.from_table(table.to_numpy())
    assert isinstance(nameless.fill(curplus.approximate(nameless)), np.ndarray)


def annotated(kind, low_rank):
    anndata = pytest.importorskip("anndata")
    matrix = np.abs(low_rank((300, 80), 3))
    names = {"obs": pd.DataFrame(index=[f"o{k}" for k in range(300)])}
    return anndata.AnnData(kind(matrix), **names, var=pd.DataFrame(index=[f"v{k}" for k in range(80)])), matrix


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("make", [lambda: CUR(3, random_state=0), lambda: CURPlus(3, random_state=0)])
def test_estimators_take_annotated_data_as_its_matrix_with_names(kind, make, low_rank):
    data, matrix = annotated(kind, low_rank)
    start = time.process_time()
    model = make().fit(data)
    assert time.process_time() - start < 5  # cell by cell, it took minutes
    plain = make().fit(kind(matrix))
    np.testing.assert_array_equal(model.components_, plain.components_)
    assert model.feature_names_in_.tolist() == data.var_names.tolist()
    np.testing.assert_allclose(model.transform(data), plain.transform(kind(matrix)))
    assert set(model.column_names_) <= set(data.var_names)


def test_annotated_data_with_other_variables_is_refused(low_rank):
    data, _ = annotated(np.asarray, low_rank)
    model = CUR(3, random_state=0).fit(data)
    with pytest.raises(InvalidArgumentError, match="other variables than the one of the fit"):
        model.transform(data[:, ::-1])


def test_the_rule_by_default_is_the_one_that_explains_most(full_rank):
    M = full_rank((60, 50), rank=5, noise=0.3)
    np.testing.assert_array_equal(curplus.select_columns(M, 6), curplus.select_columns(M, 6, method="qdeim"))


def test_a_sparse_tensor_is_refused_in_words(monkeypatch):
    """Without PyTorch, what it says of the layout of a tensor is imitated."""
    tensor = types.SimpleNamespace(shape=(2, 2), layout="torch.sparse_coo")
    for name in ("is_torch_array", "is_array_api_obj"):
        monkeypatch.setattr(f"curplus.sources.array.{name}", lambda x: x is tensor)
    with pytest.raises(InvalidArgumentError, match=r"a sparse tensor \(torch.sparse_coo\).*\.to_dense\(\)"):
        ArraySource(tensor)


def test_what_a_console_shows_is_one_line(table):
    seen = curplus.Observation.from_table(table)
    approx = curplus.approximate(seen)
    for shown in (repr(seen), repr(approx), repr(approx.report), repr(curplus.certify(approx, seen))):
        assert "\n" not in shown
        assert len(shown) < 160


def test_what_a_notebook_shows_is_a_table_without_markup_of_names(tmp_path):
    names = ["<b>x</b>", "y"]
    seen = curplus.Observation.from_table(pd.DataFrame(np.eye(2), index=names, columns=["a", "b"]))
    with curplus.Study.create(tmp_path / "s.study", rows=names, columns=["a", "b", "c"]) as study:
        todo = study.ask(3)
        for shown in (seen._repr_html_(), study._repr_html_(), todo._repr_html_()):
            assert "<table" in shown
            assert "<b>x" not in shown
        assert "pending" in study._repr_html_()
