import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from curplus.estimators import CURImputer


@parametrize_with_checks([CURImputer(), CURImputer(missing_values="unstored"), CURImputer(missing_values=-1, add_indicator=True, keep_empty_features=True)])
def test_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)
