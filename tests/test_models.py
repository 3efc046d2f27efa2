"""The models by their names, and one of the user's own beside them."""

import numpy as np
import pytest

import curplus
from curplus.exceptions import InvalidArgumentError
from curplus.methods.approximate.models import MODELS, Model, chosen_models
from curplus.observation import Cells
from tests.test_evidence import noisy
from tests.test_trials import Means

NAMES = ("skeleton", "interpolation", "offsets", "shrunken", "factors", "transposed factors")


def test_models_are_found_by_their_names():
    assert tuple(model.name for model in MODELS) == NAMES
    assert chosen_models(None) == MODELS
    assert chosen_models("factors") == (MODELS[4],)
    assert chosen_models(["offsets", MODELS[0]]) == (MODELS[2], MODELS[0])


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ("magic", "'magic' is no model"),
        (["offsets", 3], "3 is no model"),
        ([], "no model.*Give some of 'skeleton', 'interpolation'"),
        ([Means], "is no model"),
    ],
)
def test_what_is_no_model_is_refused(models, message):
    seen = curplus.observe(noisy(), n_columns=4, n_rows=4, n_entries=0, rng=0)
    with pytest.raises(InvalidArgumentError, match=message):
        curplus.approximate(seen, models=models)


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_every_model_is_a_model_that_can_be_had_alone(model):
    assert isinstance(model, Model)
    M = noisy((120, 100)) + 2
    if model.name == "interpolation":  # it would pass noise on
        M = np.log(2 + np.linspace(0, 1, 120)[:, None] - np.linspace(0, 1, 100))
        with pytest.raises(InvalidArgumentError, match="nothing of this applies to 3 columns, 3 rows and 0 entries"):
            curplus.approximate(curplus.observe(M, n_columns=3, n_rows=3, n_entries=0, rng=0), models="interpolation")
    n_lines = 3 if model.name == "interpolation" else 10
    seen = curplus.observe(M, n_columns=n_lines, n_rows=n_lines, n_entries=3000, rng=0)
    answer = curplus.approximate(seen, models=(model.name,))
    assert np.linalg.norm(answer.to_array() - M) < 0.7 * np.linalg.norm(M)
    cells = Cells.of(seen)
    assert model.applies(cells)
    fit = model.settled(cells).fit(cells).to_array()
    unread = np.isnan(cells.block(np.arange(120)))
    whole = curplus.approximate(seen, 100, models=(model.name,)).to_array()
    np.testing.assert_allclose(whole[unread], fit[unread], atol=1e-9)


def test_a_model_of_ones_own_is_blended_with_the_others():
    M = noisy() + 20 * np.arange(60)
    seen = curplus.observe(M, n_columns=0, n_rows=0, n_entries=900, rng=0)
    own = Means()
    answer = curplus.approximate(seen, models=(own, "skeleton"))
    assert len(own.fits) == 6
    assert "means" in answer.report.blend
    assert [model.name for model in answer.provenance.method.models] == ["means"]  # no skeleton without rows
    assert np.linalg.norm(answer.to_array() - M) < 0.1 * np.linalg.norm(M)
