"""What a display shows is what was computed, on the axes given, and nothing is left open."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

import mercer as mc
from mercer.plots import (
    CalibrationDisplay,
    ClusterDisplay,
    ConfusionDisplay,
    ConvergenceDisplay,
    CorrelogramDisplay,
    EffectDisplay,
    EmbeddingDisplay,
    GramDisplay,
    MachineDisplay,
    MetricDisplay,
    MoleculeDisplay,
    MotifDisplay,
    NoveltyDisplay,
    RegressionDisplay,
    ResidualDisplay,
    SpectrumDisplay,
    ValidationDisplay,
    WeightsDisplay,
)
from tests.plots.drawn import drawn

rng = np.random.default_rng(0)
X4 = rng.standard_normal((40, 4)) * [3.0, 2.0, 1.0, 0.5]
X2 = rng.standard_normal((30, 2))


class Embedder:
    """The first columns, as they are."""

    def transform(self, X: Any) -> Any:
        return np.asarray(X)[:, :3]


class Ball:
    """Inside is ‖x‖ ≤ 1.5."""

    def decision_function(self, X: Any) -> Any:
        return 1.5 - np.linalg.norm(np.asarray(X), axis=1)

    def predict(self, X: Any) -> Any:
        return np.where(self.decision_function(X) >= 0, 1, -1)


def _temporal(components: int = 2) -> SimpleNamespace:
    lags = np.arange(-3, 4)
    values = np.stack([np.array([0.0, 0.1, 0.2, 0.3, 0.5, 0.9, 0.4]), np.array([0.1, -0.8, 0.2, 0.1, 0.0, 0.1, 0.2])])[
        :components
    ]
    return SimpleNamespace(lags_=lags, correlogram_=values, best_lag_=2, band_=np.stack([values - 0.1, values + 0.2]))


# -- the matrix ------------------------------------------------------------------------------------------------------


def test_gram_is_shown_in_the_order_of_its_labels() -> None:
    labels = np.array(list("bacb") * 10)
    kernel = mc.Gaussian(0.2)
    display = drawn(GramDisplay.from_kernel(kernel, X4, labels))
    order = np.argsort(labels, kind="stable")
    K = kernel(X4)
    np.testing.assert_array_equal(display.rows, order)
    np.testing.assert_allclose(display.image_.get_array(), K[np.ix_(order, order)], rtol=1e-14)
    np.testing.assert_array_equal(display.labels, labels[order])
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["a", "b", "c"]
    assert "40 rows" in display.ax_.get_xlabel()
    assert "Gaussian(γ=0.2)" in display.ax_.get_title()
    assert plt.get_fignums() == [display.figure_.number]


def test_gram_spectrum_is_that_of_the_matrix() -> None:
    K = mc.Gaussian(0.2)(X4)
    display = drawn(GramDisplay.from_matrix(mc.DenseGram(K)))
    values = np.linalg.eigvalsh(K)[::-1]
    line = display.axes_[1].lines[0]
    np.testing.assert_allclose(line.get_ydata(), values[values > display.floor], rtol=1e-9)
    assert display.axes_[1].get_yscale() == "log"
    assert display.effective_rank == pytest.approx(np.trace(K) ** 2 / np.linalg.norm(K) ** 2)
    assert display.smallest_eigenvalue == pytest.approx(values[-1])
    assert f"{display.effective_rank:.3g}" in display.ax_.get_title()
    assert f"{display.smallest_eigenvalue:.3g}" in display.ax_.get_title()


@pytest.mark.thorough
def test_gram_marks_negative_eigenvalues_but_not_rounding() -> None:
    display = drawn(GramDisplay.from_matrix(np.diag([4.0, 1.0, -0.5, 1e-18])))
    positive, negative, rounding = display.axes_[1].lines
    np.testing.assert_allclose(positive.get_ydata(), [4.0, 1.0])
    np.testing.assert_allclose(negative.get_ydata(), [0.5])
    np.testing.assert_allclose(negative.get_xdata(), [4])
    assert "rounding: 1" in rounding.get_label()
    assert display.image_.get_clim() == (-4.0, 4.0)
    assert display.effective_rank == pytest.approx(4.5**2 / 17.25)


def test_gram_without_labels_separates_groups() -> None:
    member = rng.permutation(np.repeat([0, 1], 15))
    points = X2 * 0.1 + 10.0 * member[:, None]
    display = drawn(GramDisplay.from_kernel(mc.Gaussian(0.1), points))
    assert np.count_nonzero(np.diff(member[display.rows])) == 1
    np.testing.assert_array_equal(np.sort(display.rows), np.arange(30))
    assert display.labels is None


@pytest.mark.parametrize("kernel", [mc.Gaussian(0.1), mc.Linear()], ids=str)
def test_gram_by_clusters(kernel: Any) -> None:
    member = rng.permutation(np.repeat([0, 1, 2], 10))
    points = X2 * 0.1 + np.array([[0.0, 9.0], [9.0, 0.0], [-9.0, -9.0]])[member]
    display = drawn(GramDisplay.from_kernel(kernel, points, n_clusters=3))
    np.testing.assert_array_equal(np.bincount(display.labels), [10, 10, 10])
    assert np.count_nonzero(np.diff(member[display.rows])) == 2  # clusters are the groups, side by side
    assert "cluster" in display.ax_.get_xlabel()


@pytest.mark.thorough
def test_gram_of_many_rows_shows_a_sample() -> None:
    X = rng.standard_normal((400, 3))
    first, second = (GramDisplay.from_kernel(mc.Gaussian(0.5), X, max_rows=100) for _ in range(2))
    np.testing.assert_array_equal(first.rows, second.rows)
    assert first.image_.get_array().shape == (100, 100)
    np.testing.assert_allclose(first.K, mc.Gaussian(0.5)(X[first.rows]), rtol=1e-10)
    assert len(np.unique(first.rows)) == 100
    assert "sample of 100 of 400" in first.ax_.get_xlabel()
    assert len(first.eigenvalues) == 400
    assert "sample" not in first.ax_.get_title()
    drawn(second)


def test_gram_of_very_many_rows_is_never_computed_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mercer.plots.matrix._SPECTRUM", 500)
    X = rng.standard_normal((2000, 3))
    display = drawn(GramDisplay.from_kernel(mc.Gaussian(0.5), X, max_rows=50, compute=mc.Compute(memory="1MB")))
    np.testing.assert_allclose(display.eigenvalues, np.linalg.eigvalsh(display.K)[::-1], atol=1e-12)
    assert "(of the sample)" in display.ax_.get_title()
    assert "50 sampled rows" in display.axes_[1].get_xlabel()


def test_gram_on_axes_given() -> None:
    figure, axes = plt.subplots(1, 2)
    display = GramDisplay.from_matrix(np.eye(4), ax=axes, cmap="cividis")
    assert display.figure_ is figure
    assert list(display.axes_) == list(axes)
    assert display.image_.get_cmap().name == "cividis"
    single, ax = plt.subplots()
    display.plot(ax)
    assert display.ax_ is ax
    assert len(ax.images) == 1
    assert set(plt.get_fignums()) == {figure.number, single.number}
    with pytest.raises(ValueError, match="two axes"):
        display.plot([ax, ax, ax])


def test_gram_of_zeros_and_of_one_row() -> None:
    assert drawn(GramDisplay.from_matrix(np.zeros((3, 3)))).effective_rank == 0
    assert drawn(GramDisplay.from_matrix([[2.0]])).effective_rank == pytest.approx(1)


@pytest.mark.parametrize(
    ("K", "options", "message"),
    [
        (np.ones((2, 3)), {}, "square"),
        (np.ones((0, 0)), {}, "square"),
        ([[1.0, 2.0], [0.0, 1.0]], {}, "not symmetric"),
        ([[1.0, np.nan], [np.nan, 1.0]], {}, r"K\[0, 1\]"),
        (np.eye(3), {"labels": [0, 1]}, "each of 3 rows"),
        (np.eye(3), {"labels": [0, 1, 1], "n_clusters": 2}, "not both"),
        (np.eye(3), {"n_clusters": 4}, "n_clusters=4"),
        (np.eye(3), {"max_rows": 0}, "max_rows=0"),
    ],
)
def test_gram_refuses(K: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GramDisplay.from_matrix(K, **options)
    assert not plt.get_fignums()


# -- embeddings ------------------------------------------------------------------------------------------------------


def test_embedding_of_chosen_components() -> None:
    estimator = Embedder()
    estimator.explained_variance_ratio_ = np.array([0.5, 0.25, 0.125])  # type: ignore[attr-defined]
    display = drawn(EmbeddingDisplay.from_estimator(estimator, X4, components=(2, 0)))
    np.testing.assert_array_equal(display.scatters_[0].get_offsets(), X4[:, [2, 0]])
    assert display.ax_.get_xlabel() == "component 3 (12.5 % of the variance)"
    assert display.ax_.get_ylabel() == "component 1 (50 % of the variance)"
    assert display.ax_.get_legend() is None


def test_embedding_with_classes_has_a_legend() -> None:
    y = pd.Series(np.array(list("uvw") * 13 + ["u"]), name="kind")
    display = drawn(EmbeddingDisplay.from_estimator(Embedder(), X4, y))
    assert len(display.scatters_) == 3
    np.testing.assert_array_equal(display.scatters_[1].get_offsets(), X4[y == "v", :2])
    legend = display.ax_.get_legend()
    assert [t.get_text() for t in legend.get_texts()] == ["u", "v", "w"]
    assert legend.get_title().get_text() == "kind"
    assert display.ax_.get_xlabel() == "component 1"


def test_embedding_with_numbers_has_a_colour_bar() -> None:
    y = np.linspace(0, 1, 40)
    display = drawn(EmbeddingDisplay.from_estimator(Embedder(), X4, y))
    np.testing.assert_array_equal(display.scatters_[0].get_array(), y)
    assert len(display.figure_.axes) == 2


@pytest.mark.parametrize(
    ("y", "scale"),
    [(np.arange(40), True), (np.arange(40) % 4, False), (np.arange(40) % 4 * 1.0, False), (X4[:, 0] > 0, False)],
)
def test_whole_numbers_are_classes_while_they_are_few(y: Any, scale: bool) -> None:
    display = EmbeddingDisplay(X4[:, :2], y).plot()
    assert (display.scatters_[0].get_array() is not None) == scale
    assert (display.ax_.get_legend() is None) == scale


@pytest.mark.thorough
def test_many_classes_differ_by_colour_or_marker() -> None:
    y = np.array([f"class {i % 20:02}" for i in range(40)])
    display = drawn(EmbeddingDisplay(X4[:, :2], y).plot())
    looks = {(tuple(s.get_facecolor()[0]), s.get_paths()[0].vertices.tobytes()) for s in display.scatters_}
    assert len(looks) == 20


def test_embedding_on_axes_given() -> None:
    figure, ax = plt.subplots()
    display = EmbeddingDisplay.from_estimator(Embedder(), X4, [0, 1] * 20, ax=ax, s=3)
    assert (display.ax_, display.figure_) == (ax, figure)
    assert display.scatters_[0].get_sizes()[0] == 3
    assert plt.get_fignums() == [figure.number]


def test_embedding_refuses() -> None:
    with pytest.raises(ValueError, match="no transform"):
        EmbeddingDisplay.from_estimator(Ball(), X4)
    for components in ((0, 3), (0,), (-1, 0)):
        with pytest.raises(ValueError, match="choose two of the 3 components"):
            EmbeddingDisplay.from_estimator(Embedder(), X4, components=components)
    with pytest.raises(ValueError, match="each of 40 rows"):
        EmbeddingDisplay.from_estimator(Embedder(), X4, [1, 2])
    with pytest.raises(ValueError, match=r"y\[1\] is not finite"):
        EmbeddingDisplay(X2[:3], [1.0, np.nan, 2.0]).plot()
    assert not plt.get_fignums()


# -- correlograms ----------------------------------------------------------------------------------------------------


def test_correlogram_shows_the_lags_and_the_band() -> None:
    estimator = _temporal()
    display = drawn(CorrelogramDisplay.from_estimator(estimator))
    np.testing.assert_array_equal(display.line_.get_xdata(), estimator.lags_)
    np.testing.assert_array_equal(display.line_.get_ydata(), estimator.correlogram_[0])
    corners = display.band_.get_paths()[0].vertices
    for end in estimator.band_[:, 0]:
        assert all(
            np.any(np.all(np.isclose(corners, point), axis=1)) for point in zip(estimator.lags_, end, strict=True)
        )
    texts = [t.get_text() for t in display.ax_.texts]
    assert texts == ["← y leads", "x leads →"]
    assert display.ax_.texts[0].get_position()[0] < display.ax_.texts[1].get_position()[0]
    assert "largest: y follows x by 2" in [t.get_text() for t in display.ax_.get_legend().get_texts()]
    assert ([2], [0.9]) in [(list(line.get_xdata()), list(line.get_ydata())) for line in display.ax_.lines]


def test_correlogram_of_another_component_finds_its_own_lag() -> None:
    display = drawn(CorrelogramDisplay.from_estimator(_temporal(), component=1))
    assert display.best_lag == -2
    assert any("x follows y by 2" in t.get_text() for t in display.ax_.get_legend().get_texts())


def test_correlogram_without_a_band_on_axes_given() -> None:
    estimator = _temporal()
    estimator.band_ = None
    figure, ax = plt.subplots()
    display = CorrelogramDisplay.from_estimator(estimator, ax=ax, color="black")
    assert display.ax_ is ax
    assert display.band_ is None
    assert display.line_.get_color() == "black"
    assert plt.get_fignums() == [figure.number]


def test_correlogram_refuses() -> None:
    with pytest.raises(ValueError, match="fit a TemporalKernelCCA"):
        CorrelogramDisplay.from_estimator(Embedder())
    with pytest.raises(ValueError, match="component=2: there are 2"):
        CorrelogramDisplay.from_estimator(_temporal(), component=2)
    with pytest.raises(ValueError, match="one value for each lag"):
        CorrelogramDisplay([0, 1], [0.5])
    with pytest.raises(ValueError, match="lower and an upper"):
        CorrelogramDisplay([0, 1], [0.5, 0.2], [0.1, 0.2])
    assert not plt.get_fignums()


# -- novelty ---------------------------------------------------------------------------------------------------------


def test_novelty_in_two_dimensions() -> None:
    display = drawn(NoveltyDisplay.from_estimator(Ball(), X2, resolution=40))
    gx, gy = np.meshgrid(display.x, display.y)
    np.testing.assert_allclose(display.values, 1.5 - np.hypot(gx, gy), atol=1e-12)
    inside = np.linalg.norm(X2, axis=1) <= 1.5
    np.testing.assert_array_equal(display.scatters_[0].get_offsets(), X2[inside])
    np.testing.assert_array_equal(display.scatters_[1].get_offsets(), X2[~inside])
    edge = np.concatenate([path.vertices for path in display.boundary_.get_paths()])
    np.testing.assert_allclose(np.linalg.norm(edge, axis=1), 1.5, atol=0.05)
    assert 0.0 in display.surface_.levels
    assert f"{np.sum(~inside)} of 30" in display.ax_.get_title()
    assert "principal" not in display.ax_.get_title()


def test_novelty_on_the_principal_plane() -> None:
    estimator = Ball()
    display = drawn(NoveltyDisplay.from_estimator(estimator, X4 + 1.0, resolution=15))
    mean = X4.mean(axis=0) + 1.0
    axes = np.linalg.svd(X4 - X4.mean(axis=0))[2][:2]
    cloud = np.abs((X4 + 1.0 - mean) @ axes.T)
    np.testing.assert_allclose(np.abs(display.points), cloud, atol=1e-10)
    assert "principal axes through the mean" in display.ax_.get_title()
    assert display.ax_.get_xlabel().startswith("principal axis 1")
    # the function was asked where the corner of the grid lies in space
    signs = np.sign(np.sum(display.points * ((X4 + 1.0 - mean) @ axes.T), axis=0))
    corner = mean + np.array([display.x[0], display.y[0]]) * signs @ axes
    assert display.values[0, 0] == pytest.approx(1.5 - np.linalg.norm(corner))
    np.testing.assert_array_equal(display.inliers, np.linalg.norm(X4 + 1.0, axis=1) <= 1.5)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_novelty_asks_with_the_columns_of_the_table(frame: Any) -> None:
    class Recorder(Ball):
        asked: Any = None

        def decision_function(self, X: Any) -> Any:
            self.asked = X
            return super().decision_function(X)

        def predict(self, X: Any) -> Any:
            return np.ones(len(X))

    estimator = Recorder()
    display = drawn(
        NoveltyDisplay.from_estimator(estimator, frame({"height": X2[:, 0], "a$b$": X2[:, 1]}), resolution=5)
    )
    assert isinstance(estimator.asked, frame)
    assert list(estimator.asked.columns) == ["height", "a$b$"]
    assert display.ax_.get_xlabel() == "height"


def test_novelty_of_a_real_machine() -> None:
    machine = mc.OneClassSVM(kernel=mc.Gaussian(0.5), nu=0.2).fit(X2)
    display = drawn(NoveltyDisplay.from_estimator(machine, X2, resolution=12))
    at = np.array([[display.x[3], display.y[7]]])
    assert display.values[7, 3] == pytest.approx(machine.decision_function(at)[0])
    np.testing.assert_array_equal(display.inliers, machine.predict(X2) > 0)


@pytest.mark.parametrize("value", [-2.0, 0.0, 3.0])
def test_novelty_without_a_boundary(value: float) -> None:
    estimator = SimpleNamespace(
        decision_function=lambda X: np.full(len(X), value), predict=lambda X: np.full(len(X), 1)
    )
    display = drawn(NoveltyDisplay.from_estimator(estimator, X2, resolution=5))
    assert display.boundary_ is None


def test_novelty_on_axes_given() -> None:
    figure, ax = plt.subplots()
    assert NoveltyDisplay.from_estimator(Ball(), X2, resolution=5, ax=ax).ax_ is ax
    assert plt.get_fignums() == [figure.number]


def test_novelty_refuses() -> None:
    with pytest.raises(ValueError, match="decision_function"):
        NoveltyDisplay.from_estimator(Embedder(), X2)
    with pytest.raises(ValueError, match="one column"):
        NoveltyDisplay.from_estimator(Ball(), X2[:, :1])
    with pytest.raises(ValueError, match="resolution=1"):
        NoveltyDisplay.from_estimator(Ball(), X2, resolution=1)
    with pytest.raises(ValueError, match="at least two"):
        NoveltyDisplay.from_estimator(Ball(), X4[:1])
    with pytest.raises(ValueError, match="precomputed"):
        NoveltyDisplay.from_estimator(mc.OneClassSVM(kernel="precomputed"), X2)
    with pytest.raises(ValueError, match="2-D"):
        NoveltyDisplay.from_estimator(Ball(), X2[0])
    assert not plt.get_fignums()


# -- clusters --------------------------------------------------------------------------------------------------------


def test_clusters_of_an_estimator() -> None:
    labels, centers = np.arange(30) % 3, X2[:3]
    estimator = SimpleNamespace(labels_=labels, cluster_centers_=centers)
    display = drawn(ClusterDisplay.from_estimator(estimator, X2))
    for k, points in enumerate(display.scatters_):
        np.testing.assert_array_equal(points.get_offsets(), X2[labels == k])
    np.testing.assert_array_equal(display.centers_.get_offsets(), centers)
    legend = display.ax_.get_legend()
    assert [t.get_text() for t in legend.get_texts()] == ["0", "1", "2", "centre"]
    assert display.ax_.get_xlabel() == "x₁"


def test_clusters_on_principal_axes_with_the_means_of_a_mixture() -> None:
    estimator = SimpleNamespace(predict=lambda X: (X[:, 0] > 0).astype(int), means_=X4[:2])
    display = drawn(ClusterDisplay.from_estimator(estimator, X4))
    np.testing.assert_array_equal(display.labels, X4[:, 0] > 0)
    np.testing.assert_allclose(display.centers_.get_offsets(), display.points[:2], atol=1e-12)
    assert display.ax_.get_xlabel().startswith("principal axis 1 (")


def test_clusters_of_labels_and_noise() -> None:
    display = drawn(ClusterDisplay.from_labels(sparse.csr_array(X2), [-1, 0, 1] * 10))
    assert display.centers_ is None
    assert [t.get_text() for t in display.ax_.get_legend().get_texts()] == ["noise", "0", "1"]
    np.testing.assert_array_equal(display.scatters_[0].get_offsets(), X2[::3])


def test_clusters_on_axes_given() -> None:
    figure, ax = plt.subplots()
    display = ClusterDisplay.from_labels(X2, ["a", "b"] * 15, ax=ax)
    assert (display.ax_, display.figure_) == (ax, figure)
    assert plt.get_fignums() == [figure.number]


def test_clusters_refuse() -> None:
    with pytest.raises(ValueError, match="fitted to"):
        ClusterDisplay.from_estimator(SimpleNamespace(labels_=[0, 1]), X2)
    with pytest.raises(ValueError, match="neither labels_ nor predict"):
        ClusterDisplay.from_estimator(Embedder(), X2)
    with pytest.raises(ValueError, match="each of 30 rows"):
        ClusterDisplay.from_labels(X2, [0, 1])
    with pytest.raises(ValueError, match="centres have 4 columns"):
        ClusterDisplay.from_labels(X2, [0] * 30, centers=X4)
    with pytest.raises(ValueError, match="no rows"):
        ClusterDisplay.from_labels(X2[:0], [])
    assert not plt.get_fignums()


# -- matplotlib ------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_matplotlib_is_imported_when_something_is_drawn() -> None:
    code = "import sys, mercer.plots; assert 'matplotlib' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0


def test_without_matplotlib_the_error_names_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for draw in (
        lambda: GramDisplay.from_matrix(np.eye(2)),
        lambda: EmbeddingDisplay.from_estimator(Embedder(), X4),
        lambda: CorrelogramDisplay.from_estimator(_temporal()),
        lambda: NoveltyDisplay.from_estimator(Ball(), X2),
        lambda: ClusterDisplay.from_labels(X2, [0] * 30),
        lambda: EmbeddingDisplay(X2).plot(),
        lambda: MachineDisplay.from_estimator(Ball(), X2),
        lambda: RegressionDisplay.from_predictions([1.0], [1.0]),
        lambda: ResidualDisplay.from_predictions([1.0], [1.0]),
        lambda: ConfusionDisplay.from_predictions([1], [1]),
        lambda: CalibrationDisplay.from_predictions([1], [1.0]),
        lambda: EffectDisplay.from_estimator(Ball(), X2, 0),
        lambda: ConvergenceDisplay.record(mc.SVC(), X2, X2[:, 0] > 0),
        lambda: ValidationDisplay.from_search(mc.SVC()),
        lambda: SpectrumDisplay.from_gram(np.eye(2)),
        lambda: WeightsDisplay.from_estimator(mc.SVC()),
    ):
        with pytest.raises(ImportError, match=r'pip install "mercer\[plots\]"'):
            draw()


@pytest.mark.thorough
def test_metric_of_directions_and_of_columns() -> None:
    frame = pd.DataFrame(X4, columns=["a$", "b", "c", "d"])
    y = np.sin(X4[:, 0])
    full = mc.FeatureMachineRegressor(0.1, mc.Gaussian("median"), random_state=0).fit(frame, y)
    display = drawn(MetricDisplay.from_estimator(full))
    np.testing.assert_array_equal(display.ax_.images[0].get_array(), full.metric_)
    assert [tick.get_text() for tick in display.axes_[0].get_xticklabels()] == [r"a\$", "b", "c", "d"]
    shares, directions = display.directions
    np.testing.assert_allclose(shares.sum(), 1.0)
    total = np.trace(full.metric_)
    np.testing.assert_allclose((directions.T * shares * total) @ directions, full.metric_, atol=1e-12)
    narrow = mc.FeatureMachineRegressor(0.1, mc.Gaussian("median"), metric="diagonal", random_state=0).fit(X4, y)
    one = drawn(MetricDisplay.from_estimator(narrow, names=list("wxyz")))
    assert len(one.axes_) == 1
    widths = [bar.get_width() for bar in one.ax_.patches]
    assert widths == sorted(narrow.metric_)
    given = plt.figure().subplots()
    assert MetricDisplay.from_estimator(full, ax=given).ax_ is given
    with pytest.raises(ValueError, match="3 names for 4 columns"):
        MetricDisplay.from_estimator(full, names=list("abc"))
    with pytest.raises(NotFittedError):
        MetricDisplay.from_estimator(mc.FeatureMachineRegressor())
    with pytest.raises(TypeError, match="KernelRidge has no metric"):
        MetricDisplay.from_estimator(mc.KernelRidge().fit(X4, y))


# -- motifs and molecules --------------------------------------------------------------------------------------------


def test_letters_of_a_logo_are_as_high_as_their_information() -> None:
    motif = mc.Motif(np.array([[1.0, 0.0], [0.75, 0.25], [0.5, 0.5]]), ["A", "$"], np.array([2, -1]), np.full(2, 0.5))
    display = drawn(MotifDisplay(motif).plot())
    np.testing.assert_allclose(display.heights.sum(axis=1), motif.information)
    boxes = [patch.get_path().get_extents() for patch in display.ax_.patches]
    assert [round(box.height, 6) for box in boxes] == [1.0, *np.sort(display.heights[1]).round(6)]
    assert boxes[2].y0 == pytest.approx(boxes[1].y1)  # the largest stands on the other
    assert display.ax_.get_title() == "motif of 1 of 2 sequences"


def test_a_logo_of_a_machine_on_given_axes() -> None:
    f = mc.RKHSFunction(mc.Spectrum(3), ["TTGATTACATT"], np.array([1.0]))
    _, ax = plt.subplots()
    display = MotifDisplay.from_estimator(f, ["CCGATTACACC", "GGGATTACAGG"], 7, ax=ax, pseudo_count=0.5)
    assert display.ax_ is ax
    assert display.motif.consensus == "GATTACA"


def test_atoms_have_the_colours_of_what_they_contribute(tmp_path: Any) -> None:
    pytest.importorskip("rdkit")
    up = MoleculeDisplay("CO", np.array([0.0, 2.0])).plot()
    down = MoleculeDisplay("CO", np.array([0.0, -2.0]), scale=4.0).plot((200, 100))
    assert "#D65E00" in up.svg_
    assert "#D65E00" not in down.svg_
    assert "width='200px'" in down.svg_
    assert up._repr_svg_() == up.svg_
    up.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == up.svg_
    f = mc.RKHSFunction(mc.Morgan(1), ["CCO", "CCN"], np.array([[1.0, 0.0], [-1.0, 2.0]]))
    shown = MoleculeDisplay.from_estimator(f, "CCO", output=0)
    np.testing.assert_allclose(shown.values.sum(), f(["CCO"])[0, 0])
    with pytest.raises(ValueError, match="2 functions; say which"):
        MoleculeDisplay.from_estimator(f, "CCO")
    with pytest.raises(ValueError, match='by="place"'):
        MoleculeDisplay.from_explanation(mc.explain(f, ["CCO"], "sample")[0], "CCO")
