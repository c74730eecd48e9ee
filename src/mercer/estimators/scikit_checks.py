"""The checks of scikit-learn that stand at the door of estimators: as they are, but that what they say ends with its
code.
"""

from sklearn.utils import multiclass, validation

from mercer.troubles import coding_scikit_learn

assert_all_finite = coding_scikit_learn()(validation.assert_all_finite)
check_classification_targets = coding_scikit_learn()(multiclass.check_classification_targets)
check_consistent_length = coding_scikit_learn()(validation.check_consistent_length)
check_feature_names = coding_scikit_learn()(validation._check_feature_names)
check_is_fitted = coding_scikit_learn()(validation.check_is_fitted)
check_n_features = coding_scikit_learn()(validation._check_n_features)
check_sample_weight = coding_scikit_learn()(validation._check_sample_weight)
column_or_1d = coding_scikit_learn()(validation.column_or_1d)
validate_data = coding_scikit_learn()(validation.validate_data)
