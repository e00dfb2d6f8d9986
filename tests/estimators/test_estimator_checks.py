"""scikit-learn's own battery, one test a check; what is expected to fail must fail."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from gsp_fb.estimators import FilterBankClassifier, FilterBankTransformer, GraphSpectralEmbedding

EXPECTED_FAILURES = {
    FilterBankClassifier: {
        "check_classifiers_classes": "It ends with classes -1 and 1. Here -1 marks an unlabelled row, as in "
        "sklearn.semi_supervised, whose estimators the check excepts by name.",
    },
}
ESTIMATORS = [
    FilterBankTransformer(),
    FilterBankTransformer(family="renorm_sym", gamma=0.5, channels="high", levels=2),
    GraphSpectralEmbedding(),
    FilterBankClassifier(epochs=20),
]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda one: EXPECTED_FAILURES.get(type(one), {}))
def test_scikit_learns_check(estimator, check):
    check(estimator)
