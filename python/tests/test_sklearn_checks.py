"""scikit-learn's own checks. One that is expected to fail is named, with its reason."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from ubauc import (
    OAMClassifier,
    OPAUCClassifier,
    RankSVMClassifier,
    SOLAMClassifier,
    UBAUCClassifier,
)

ORDER = "one step an example: an example of weight 2 is one larger step, a repeated one two steps"
ONLINE = {
    "check_sample_weight_equivalence_on_dense_data": ORDER,
    "check_sample_weight_equivalence_on_sparse_data": ORDER,
}
FOLDS = "beta and gamma are chosen on folds, into which repeated examples fall as they may"
CHOSEN = {
    "check_sample_weight_equivalence_on_dense_data": FOLDS,
    "check_sample_weight_equivalence_on_sparse_data": FOLDS,
}
THRESHOLD = (
    "predict decides at the threshold, where as many are called positive as there are; the check "
    "wants the larger probability, and those of a rare class may never be above 1/2"
)
HELD_OUT = "probabilities are learned on folds, into which repeated examples fall as they may"
CALIBRATED = {
    "check_classifiers_train": THRESHOLD,
    "check_sample_weight_equivalence_on_dense_data": HELD_OUT,
    "check_sample_weight_equivalence_on_sparse_data": HELD_OUT,
}
BINS = {
    "check_sample_weight_equivalence_on_dense_data": "bins are of rows, whatever their weights, "
    "and repeated examples are more rows"
}
COLLAPSE = {
    "check_class_weight_classifiers": "class weights of 1e7 to 1 on noise: the intercept fits all "
    "that plain least squares ask for, the minimum is next to w = 0, and the order of scores that "
    "are tied means nothing"
}


def expected_failures(estimator):
    if not isinstance(estimator, UBAUCClassifier):
        # They take no sample weights, and scikit-learn asks them nothing about these.
        return {}
    if estimator.features != "linear":
        return BINS
    if estimator.calibrate is not None:
        return CALIBRATED | COLLAPSE | (ONLINE if estimator.solver == "online" else {})
    if estimator.solver == "online":
        return ONLINE | COLLAPSE
    if estimator.beta == "auto":
        return CHOSEN
    if estimator.softness != "auto":
        # A soft bound never collapses.
        return {}
    return COLLAPSE if estimator.least_squares != "balanced" else {}


@pytest.mark.filterwarnings("ignore::ubauc.CollapseWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        UBAUCClassifier(),
        # Two ways to the same minimum agree to its tolerance, and the check asks for seven digits.
        UBAUCClassifier(beta=0.5, gamma=1e-2, tol=1e-13),
        UBAUCClassifier(
            beta=2.0, gamma=1e-3, least_squares="balanced", fit_intercept=True, tol=1e-13
        ),
        UBAUCClassifier(beta=0, softness=1, gamma=1e-2, tol=1e-15),
        UBAUCClassifier(beta=0.1, softness=0.3, gamma=1e-2, tol=1e-15, class_weight="balanced"),
        UBAUCClassifier(multi_class="hand-till", beta=0.1, softness=0.3, gamma=1e-2, tol=1e-15),
        UBAUCClassifier(features="additive", beta=0, softness=1, gamma=1e-2, tol=1e-15),
        UBAUCClassifier(features="pairs", beta=0, softness=1, gamma=1e-2, tol=1e-15),
        UBAUCClassifier(beta=0.5, gamma=1e-2, tol=1e-13, calibrate="sigmoid"),
        UBAUCClassifier(beta=0.5, gamma=1e-2, tol=1e-13, calibrate="isotonic"),
        UBAUCClassifier(solver="online"),
        UBAUCClassifier(solver="online", class_weight="balanced"),
        UBAUCClassifier(solver="online", calibrate="sigmoid"),
        SOLAMClassifier(),
        OPAUCClassifier(),
        OPAUCClassifier(tau=2),
        OAMClassifier(),
        OAMClassifier(update="gradient"),
        RankSVMClassifier(),
    ],
    expected_failed_checks=expected_failures,
)
def test_estimator(estimator, check):
    check(estimator)
