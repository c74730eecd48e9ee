"""The tests of scikit-learn that fail on Mercer, and why each does.

A pattern is the name of a test, in which ``*`` stands for anything. STAYS are failures that will not be mended:
"deliberate", where Mercer answers otherwise, or "private", where a test looks at scikit-learn's internals or at its
very words. MISSING are features that Mercer does not have yet.
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
        "deliberate: a machine trained on a dense table predicts sparse ones, and the other way round": [
            "test_bad_input[*]"
        ],
        "deliberate: n_iter_ is the steps of all pairs of classes together, a number": [
            "test_n_iter_libsvm[*-ndarray]"
        ],
        "deliberate: coefficients of the one-class machine sum to 1, as in its problem; the threshold is offset_": [
            "test_oneclass"
        ],
        "deliberate: a kernel function that returns a matrix of the wrong shape is refused by fit already": [
            "test_svr_errors"
        ],
        "deliberate: C is finite where there is no hard margin": ["test_svm_with_infinite_C[*-SVR-*]"],
        "private: a kernel function that is right for the training set alone; Mercer asks for support vectors": [
            "test_custom_kernel_not_array_input[SVC]"
        ],
        "private: refused in other words": [
            "test_negative_sample_weights_mask_all_samples[weights-are-zero-*]",
            "test_svc_nonfinite_params[*]",
            "test_sparse_precomputed[*]",
        ],
        "private: warns in other words": ["test_libsvm_convergence_warnings[*]"],
        "private: attributes of scikit-learn's libsvm binding": [
            "test_tweak_params",
            "test_gamma_scale",
            "test_svc_raises_error_internal_representation",
        ],
        "private: scikit-learn's own deprecations": [
            "test_probability_raises_futurewarning[*]",
            "test_svc_nusvc_probA_probB_deprecated[*]",
        ],
    },
    "svm/tests/test_sparse.py": {"private: warns in other words": ["test_timeout[*]"]},
    "decomposition/tests/test_kernel_pca.py": {
        "deliberate: inverse_transform needs no parameter": [
            "test_kernel_pca_raise_not_fitted_error",
            "test_kernel_pca_sparse[*]",
            "test_kernel_pca_invalid_parameters",
        ],
        "deliberate: of an indefinite matrix, components are of its positive eigenvalues, with a warning": [
            "test_precomputed_kernel_not_psd[*]"
        ],
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
        "deliberate: a share of the variance is reached, not exceeded": [
            "test_pca_n_components_mostly_explained_variance_ratio"
        ],
        "deliberate: the density of the model does not depend on whether scores are whitened": ["test_pca_score[*]"],
        "private: refused in other words": ["test_pca_validation[randomized-0-*]", "test_pca_validation[auto-3-*]"],
        "deliberate: a model without noise has no density of more columns than samples": [
            "test_pca_zero_noise_variance_edge_cases[*]"
        ],
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
        "private: the number of starts that was chosen": [
            "test_n_init_auto[*]",
            "test_kmeans_init_auto_with_initial_centroids[*]",
        ],
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
        "private: refused in other words": [
            "test_check_means",
            "test_check_precisions",
            "test_check_weights",
            "test_regularisation",
            "test_sample",
        ],
        "private: warns in other words": ["test_gaussian_mixture_fit_convergence_warning"],
        "private: components numbered as scikit-learn's k-means numbers clusters": [
            "test_gaussian_mixture_precisions_init_diag[*]"
        ],
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

MISSING: Reasons = {}
