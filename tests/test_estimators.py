from sklearn.utils.estimator_checks import parametrize_with_checks

from curplus.estimators import CURPlus


@parametrize_with_checks([CURPlus()])
def test_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)
