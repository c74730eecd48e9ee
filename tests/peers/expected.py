"""The tests of scikit-learn that fail on Mercer, and why each does.

A pattern is the name of a test, in which ``*`` stands for anything. STAYS are failures that will not be mended: "deliberate", where Mercer answers
otherwise, or "private", where a test looks at scikit-learn's internals or at its very words. MISSING are features that Mercer does not have.
"""

from __future__ import annotations

VERSION = "1.9"  # of scikit-learn, whose tests these are

Reasons = dict[str, dict[str, list[str]]]

STAYS: Reasons = {
    "svm/tests/test_svm.py": {
        "deliberate: negative weights are refused": [
            "test_negative_sample_weights_mask_all_samples[weights-are-negative-*]",
            "test_negative_weights_svc_leave_just_one_label[*]",
            "test_negative_weights_svc_leave_two_labels[partial-mask-label-1-*]",
            "test_negative_weight_equal_coeffs[partial-mask-label-1-*]",
        ],
        "deliberate: ties are always broken by the decision function; there is no break_ties": [
            "test_svc_ovr_tie_breaking[*]",
            "test_svc_invalid_break_ties_param[*]",
        ],
        "deliberate: a machine trained on a dense table predicts sparse ones, and the other way round": ["test_bad_input[*]"],
        "deliberate: n_iter_ is the steps of all pairs of classes together, a number": ["test_n_iter_libsvm[*-ndarray]"],
        "deliberate: coefficients of the one-class machine sum to 1, as in its problem, and the threshold is offset_ alone": ["test_oneclass"],
        "deliberate: a kernel function that returns a matrix of the wrong shape is refused by fit already": ["test_svr_errors"],
        "deliberate: C is finite where there is no hard margin": ["test_svm_with_infinite_C[*-SVR-*]"],
        "private: a kernel function that is right for the whole training set alone, and Mercer asks for the support vectors": [
            "test_custom_kernel_not_array_input[SVC]",
        ],
        "private: refused in other words": [
            "test_negative_sample_weights_mask_all_samples[weights-are-zero-*]",
            "test_hasattr_predict_proba[*]",
            "test_svc_nonfinite_params[*]",
            "test_sparse_precomputed[*]",
        ],
        "private: warns in other words": ["test_libsvm_convergence_warnings[*]"],
        "private: attributes of scikit-learn's libsvm binding": [
            "test_tweak_params",
            "test_gamma_scale",
            "test_svc_raises_error_internal_representation",
        ],
        "private: scikit-learn's own deprecations": ["test_probability_raises_futurewarning[*]", "test_svc_nusvc_probA_probB_deprecated[*]"],
    },
    "svm/tests/test_sparse.py": {"private: warns in other words": ["test_timeout[*]"]},
    "decomposition/tests/test_kernel_pca.py": {
        "deliberate: inverse_transform needs no parameter": [
            "test_kernel_pca_raise_not_fitted_error",
            "test_kernel_pca_sparse[*]",
            "test_kernel_pca_invalid_parameters",
        ],
        "deliberate: of an indefinite matrix, components are of its positive eigenvalues, with a warning": ["test_precomputed_kernel_not_psd[*]"],
        "deliberate: a constant kernel, without any direction, is refused": ["test_remove_zero_eig"],
        "deliberate: γ that was found from data is kernel_.gamma": ["test_kernel_pca_inverse_correct_gamma[*]"],
        "private: a matrix that is not symmetric has the eigenvalues of its symmetric part, equal but for rounding": [
            "test_kernel_pca_precomputed_non_symmetric[*]"
        ],
    },
    "decomposition/tests/test_pca.py": {
        "deliberate: PCA(None) drops directions without variance": [
            "test_n_components_none[data1-full-4]",
            "test_n_components_none[data1-randomized-4]",
        ],
        "deliberate: there is no svd_solver, so no solver refuses what another can do": [
            "test_sparse_pca_solver_error[*]",
            "test_n_components_mle_error[*]",
            "test_pca_validation[arpack-*]",
            "test_n_components_none[data0-arpack-3]",
        ],
        "deliberate: at least one component": ["test_pca_score3"],
        "deliberate: a share of the variance is reached, not exceeded": ["test_pca_n_components_mostly_explained_variance_ratio"],
        "deliberate: the density of the model does not depend on whether scores are whitened": ["test_pca_score[*]"],
        "private: refused in other words": ["test_pca_validation[randomized-0-*]", "test_pca_validation[auto-3-*]"],
        "deliberate: a model without noise has no density of more columns than samples": ["test_pca_zero_noise_variance_edge_cases[*]"],
        "private: the name of the solver that was chosen": ["test_pca_svd_solver_auto[*]"],
    },
    "cluster/tests/test_k_means.py": {
        "deliberate: there is no algorithm to choose, so nothing to warn of": ["test_warning_elkan_1_cluster"],
        "deliberate: n_init is of starts that are drawn; for given centres it has no meaning, and no warning": [
            "test_warning_n_init_precomputed_centers[KMeans]"
        ],
        "private: how steps are counted where centres fall together": ["test_relocating_with_duplicates[*]"],
        "private: distances in float32, right to its last digits but one": ["test_kmeans_results[float32-*-dense]"],
        "private: prints other words": ["test_kmeans_verbose[*]"],
        "private: the method that draws starts": ["test_sample_weight_init[*]", "test_sample_weight_zero[*]"],
        "private: the number of starts that was chosen": ["test_n_init_auto[*]", "test_kmeans_init_auto_with_initial_centroids[*]"],
    },
    "cluster/tests/test_spectral.py": {
        "deliberate: eigenvectors become labels by pivoted QR and k-means, not by discretisation": [
            "test_spectral_clustering[*-discretize-*]",
            "test_spectral_clustering_sparse[*-discretize-*]",
        ],
        "deliberate: there is no eigen_solver to be missing": ["test_spectral_clustering_with_arpack_amg_solvers[*]"],
        "deliberate: as many eigenvectors as clusters": ["test_n_components[*]"],
        "deliberate: a graph of several parts is what is looked for, and no warning": ["test_affinities[*]"],
        "deliberate: prints nothing": ["test_verbose[*]"],
    },
    "mixture/tests/test_gaussian_mixture.py": {
        "private: methods of scikit-learn's mixture": [
            "test_gaussian_mixture_precisions_init[*]",
            "test_gaussian_mixture_all_init_does_not_estimate_gaussian_parameters[*]",
        ],
        "private: refused in other words": ["test_check_means", "test_check_precisions", "test_check_weights", "test_regularisation", "test_sample"],
        "private: warns in other words": ["test_gaussian_mixture_fit_convergence_warning"],
        "private: components numbered as scikit-learn's k-means numbers clusters": ["test_gaussian_mixture_precisions_init_diag[*]"],
    },
    "cross_decomposition/tests/test_pls.py": {
        "deliberate: views without enough rows to be told apart are refused": [
            "test_scale_and_stability[X2-y2-CCA]",
            "test_scale_and_stability[X3-y3-CCA]",
            "test_scale_and_stability[X4-y4-CCA]",
        ],
        "deliberate: tables are never overwritten": ["test_copy[CCA]"],
        "deliberate: fewer components than asked for come with a warning": ["test_n_components_upper_bounds[CCA]"],
    },
    "metrics/tests/test_pairwise.py": {
        "deliberate: AdditiveChiSquared is a kernel, scikit-learn's function of this name a negated distance": [
            "test_pairwise_kernels[*-additive_chi2]",
            "test_chi_square_kernel",
        ],
        "deliberate: the matrix of sparse tables is dense": ["test_pairwise_similarity_sparse_output[*]"],
    },
}

MISSING: Reasons = {
    "svm/tests/test_svm.py": {
        "missing: coef_": [
            "test_libsvm_iris[*]",
            "test_linearsvr",
            "test_decision_function[*]",
            "test_svr_predict[*]",
            "test_negative_weights_svc_leave_two_labels[partial-mask-label-2-*]",
            "test_negative_weight_equal_coeffs[partial-mask-label-2-*]",
            "test_immutable_coef_property[*]",
            "test_svr_coef_sign[*]",
        ],
        "missing: callables as kernels": [
            "test_precomputed",
            "test_svc_clone_with_callable_kernel",
            "test_svc_bad_kernel",
            "test_custom_kernel_not_array_input[SVR]",
        ],
        "missing: predict_log_proba": ["test_probability[*]"],
        "missing: sparse dual_coef_": ["test_sparse_fit_support_vectors_empty[*]"],
        "missing: C=inf": ["test_svm_with_infinite_C[*-SVC-*]"],
    },
    "svm/tests/test_sparse.py": {
        "missing: sparse dual_coef_": ["test_svc[*]", "test_sparse_oneclasssvm[*]", "test_svc_iris[*]", "test_sparse_realdata[*]"],
        "missing: coef_": ["test_unsorted_indices[*]", "test_sparse_decision_function[*]"],
        "missing: callables as kernels": ["test_svc_with_custom_kernel[*]", "test_sparse_svc_clone_with_callable_kernel[*]"],
    },
    "decomposition/tests/test_kernel_pca.py": {
        "missing: callables as kernels": ["test_kernel_pca[*]"],
    },
    "decomposition/tests/test_pca.py": {
        "missing: n_samples_": ["test_pca_sparse[*]", "test_pca_sparse_fit_transform[*]"],
        "missing: get_covariance, get_precision": ["test_pca[*]"],
        "missing: score": ["test_pca_score_consistency_solvers[*]"],
        "missing: 'mle'": [
            "test_fit_mle_too_few_samples",
            "test_mle_redundant_data",
            "test_mle_simple_case",
            "test_n_components_mle[*]",
            "test_pca_dim",
        ],
    },
    "cluster/tests/test_k_means.py": {
        "missing: init": [
            "test_all_init[KMeans-random-*]",
            "test_all_init[KMeans-ndarray-*]",
            "test_all_init[KMeans-callable-*]",
            "test_centers_not_mutated[*]",
            "test_fortran_aligned_data[*]",
            "test_integer_input[*-ndarray-*]",
            "test_k_means_1_iteration[*]",
            "test_kmeans_empty_cluster_relocated[*]",
            "test_kmeans_predict[*]",
            "test_kmeans_relocated_clusters[*]",
            "test_kmeans_results[float64-*]",
            "test_kmeans_results[float32-*-sparse*]",
            "test_n_init[*]",
            "test_predict_dense_sparse[KMeans-random-*]",
            "test_predict_dense_sparse[KMeans-ndarray-*]",
            "test_weighted_vs_repeated[*]",
            "test_wrong_params[*The shape of the initial centers*-KMeans]",
        ],
        "missing: n_init='auto'": [
            "test_feature_names_out[*]",
            "test_k_means_function[*]",
            "test_kmeans_copyx",
            "test_kmeans_elkan_iter_attribute",
            "test_kmeans_init_fitted_centers[*]",
            "test_kmeans_warns_less_centers_than_unique_points[*]",
            "test_kmeans_with_array_like_or_np_scalar_init[*]",
            "test_predict_does_not_change_cluster_centers[*]",
            "test_result_equal_in_diff_n_threads[*]",
            "test_sample_weight_unchanged[*]",
            "test_transform[*]",
        ],
    },
    "cluster/tests/test_spectral.py": {
        "missing: affinities of nearest neighbours": ["test_precomputed_nearest_neighbors_filtering[*]"],
    },
    "mixture/tests/test_gaussian_mixture.py": {
        "missing: precisions_, precisions_cholesky_": [
            "test_fitted_precision_covariance_concistency[*]",
            "test_gaussian_mixture_fit[*]",
            "test_gaussian_mixture_fit_predict[*]",
            "test_gaussian_mixture_setting_best_params",
        ],
        "missing: max_iter=0": ["test_max_iter_zero"],
        "missing: warm_start": ["test_convergence_detected_with_warm_start", "test_monotonic_likelihood", "test_warm_start[*]"],
        "missing: init_params": [
            "test_gaussian_mixture_attributes",
            "test_init_means_not_duplicated[*]",
            "test_means_for_all_inits[*-random*]",
            "test_means_for_all_inits[*k-means++]",
        ],
    },
    "cross_decomposition/tests/test_pls.py": {
        "missing: coef_": ["test_univariate_equivalence[CCA]", "test_pls_coef_shape[CCA]"],
        "missing: x_loadings_, y_loadings_": ["test_loadings_converges[*]"],
        "missing: predict": ["test_pls_prediction[CCA-*]"],
    },
}
