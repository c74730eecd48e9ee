"""Models of libsvm, read and written: the same decisions as libsvm's, and one error for whatever is wrong."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC as TheirSVC

import mercer as mc
from mercer.files.libsvm import read_libsvm, written
from tests.files.libsvm_samples import GOLDEN, GOLDEN_ROWS, GOLDEN_SAID, blobs, needs_tools, svmlight, tool

KERNELS = {
    "linear": (mc.Linear(), ["-t", 0]),
    "polynomial": (mc.Polynomial(2, offset=1.0, scale=0.5), ["-t", 1, "-d", 2, "-g", 0.5, "-r", 1]),
    "rbf": (mc.Gaussian(0.3), ["-t", 2, "-g", 0.3]),
    "sigmoid": (mc.Sigmoid(0.1, 0.01), ["-t", 3, "-g", 0.01, "-r", 0.1]),
}
MACHINES = {
    "c_svc": mc.SVC(2.0), "nu_svc": mc.NuSVC(0.3), "one_class": mc.OneClassSVM(0.3), "epsilon_svr": mc.SVR(2.0, 0.2),
    "nu_svr": mc.NuSVR(0.3, 2.0),
}  # fmt: skip


def values(machine: Any, X: Any) -> Any:
    return machine.decision_function(X) if hasattr(machine, "decision_function") else machine.predict(X)


def written_and_read(machine: Any, folder: Path, **options: Any) -> Any:
    mc.save_libsvm(machine, folder / "a.model", **options)
    return mc.load_libsvm(folder / "a.model", n_features=machine.n_features_in_)


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    (tmp_path / "golden.model").write_text(GOLDEN)
    return tmp_path / "golden.model"


def test_a_model_of_svm_train(golden: Path) -> None:
    """What svm-train wrote and svm-predict said of it; decision values by a double loop over the lines."""
    machine = mc.load_libsvm(golden)
    assert (type(machine), machine.kernel) == (mc.SVC, mc.Gaussian(0.40000000596046448))
    assert machine.classes_.tolist() == [-2, 4, 7]
    X = np.array(GOLDEN_ROWS)
    assert machine.predict(X).tolist() == [label for label, *_ in GOLDEN_SAID]
    # svm-predict -b 1 has the labels in the order of the file, and couples to 0.005/3
    found = machine.predict_proba(X)[:, [1, 2, 0]]
    assert np.abs(found - [p for _, *p in GOLDEN_SAID]).max() < 0.005
    lines = GOLDEN.split("SV\n")[1].splitlines()
    head = {name: rest.split() for name, _, rest in (line.partition(" ") for line in GOLDEN.splitlines()[:10])}
    rho = dict(zip([(0, 1), (0, 2), (1, 2)], map(float, head["rho"]), strict=True))
    counts = tuple(map(int, head["nr_sv"]))
    of = np.repeat(np.arange(3), counts)
    for x in X:
        f = {pair: -r for pair, r in rho.items()}
        for c, line in zip(of, lines, strict=True):
            parts = line.split()
            z = np.zeros(2)
            for part in parts[2:]:
                j, v = part.split(":")
                z[int(j) - 1] = float(v)
            k = np.exp(-0.40000000596046448 * np.sum((x - z) ** 2))
            for a, b in f:
                if c in (a, b):
                    f[a, b] += float(parts[b - 1] if c == a else parts[a]) * k
        # the labels of the file are 4, 7, -2, and sorted -2, 4, 7
        mine = machine._pair_values(x[None])[0]
        assert np.allclose(machine.function_(x[None])[0], mine, atol=1e-12)
        assert np.allclose(mine, [-f[0, 2], -f[1, 2], f[0, 1]], atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", MACHINES)
@pytest.mark.filterwarnings("ignore:The kernel matrix is indefinite", "ignore:NuSVC", "ignore:OneClassSVM")
def test_written_and_read_is_the_same_to_the_bit(kind: str, kernel: str, tmp_path: Path) -> None:
    X, y = blobs(3)
    machine = MACHINES[kind].set_params(kernel=KERNELS[kernel][0])
    machine = machine.fit(X) if kind == "one_class" else machine.fit(X, y)
    again = written_and_read(machine, tmp_path)
    assert type(again) is type(machine)
    assert again.kernel == machine.kernel
    assert np.array_equal(again.dual_coef_, machine.dual_coef_)
    assert np.array_equal(again.support_vectors_, machine.support_vectors_)
    if kind in ("c_svc", "nu_svc"):
        assert np.array_equal(again._pair_values(X), machine._pair_values(X))
        assert np.array_equal(again.n_support_, machine.n_support_)
    else:
        # samples on the edge of a region are made alike by the machine itself
        assert np.allclose(values(again, X), values(machine, X), rtol=0, atol=1e-8 if kind == "one_class" else 0)
    assert written(read_libsvm(tmp_path / "a.model")) == (tmp_path / "a.model").read_text()


def test_two_classes_centers_and_sparse_rows(tmp_path: Path) -> None:
    X, y = blobs(2)
    machine = mc.SVC(kernel=mc.Gaussian(0.3)).fit(sparse.csr_array(X), y)
    assert np.array_equal(written_and_read(machine, tmp_path).decision_function(X), machine.decision_function(X))
    for classes in (2, 4):
        X, y = blobs(classes)
        for some in (
            mc.SVC(kernel=mc.Gaussian(0.3), centers=15, random_state=0).fit(X, y),
            mc.SVC(kernel=mc.Gaussian(0.3), centers=X[:9]).fit(X, y),
            mc.SVC(kernel=mc.Gaussian(0.3)).fit(X, y).compress(12),
        ):
            again = written_and_read(some, tmp_path)
            assert np.allclose(again._pair_values(X), some._pair_values(X), atol=1e-12)


def test_precomputed(tmp_path: Path) -> None:
    X, y = blobs(3)
    K = mc.Gaussian(0.3)(X)
    machine = mc.SVC(kernel="precomputed").fit(K, y)
    again = written_and_read(machine, tmp_path)
    assert np.array_equal(again._pair_values(K), machine._pair_values(K))
    assert np.array_equal(again.support_, machine.support_)


def test_ties_are_decided_as_libsvm_does(tmp_path: Path) -> None:
    """scikit-learn is libsvm: of classes with as many votes the first. A cycle of three votes is such a tie."""
    X, y = blobs(4)
    theirs = TheirSVC(kernel="rbf", gamma=0.3, C=0.5, tol=1e-6).fit(X, y)
    grid = np.random.default_rng(1).uniform(-4, 4, (3000, 3))
    machine = mc.SVC(0.5, kernel=mc.Gaussian(0.3), tol=1e-6).fit(X, y)
    assert (machine.predict(grid) != theirs.predict(grid)).any()  # its own rule is another
    # the file says the same of the classes' order
    mc.save_libsvm(machine, tmp_path / "a.model")
    again = mc.load_libsvm(tmp_path / "a.model")
    assert np.array_equal(again.predict(grid), theirs.predict(grid))
    mc.save_libsvm(again, tmp_path / "b.model")
    assert (tmp_path / "b.model").read_text() == (tmp_path / "a.model").read_text()


def test_probabilities_are_converted_or_refused(golden: Path, tmp_path: Path) -> None:
    X, y = blobs(3)
    machine = mc.SVC(kernel=mc.Gaussian(0.3), probability=True).fit(X, y)
    with pytest.raises(mc.ModelFileError, match=r"slope on each side.*probability=False.*mercer train -b 1"):
        mc.save_libsvm(machine, tmp_path / "a.model")
    assert not (tmp_path / "a.model").exists()
    assert not hasattr(written_and_read(machine, tmp_path, probability=False), "predict_proba")
    platt = mc.load_libsvm(golden)
    again = written_and_read(platt, tmp_path)
    rows = np.array(GOLDEN_ROWS)
    assert np.array_equal(again.predict_proba(rows), platt.predict_proba(rows))
    mc.save(platt, tmp_path / "platt.mercer")
    assert np.array_equal(mc.load(tmp_path / "platt.mercer").predict_proba(rows), platt.predict_proba(rows))


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        (mc.SVC(kernel=mc.Laplacian(0.5)), "libsvm has no kernel Laplacian.*Polynomial.*Gaussian.*Sigmoid"),
        (mc.SVC(kernel=mc.Gaussian([1.0, 2.0, 3.0])), "libsvm has no kernel.*one gamma"),
        (mc.SVC(kernel=mc.Gaussian(1.0) + mc.Linear()), "libsvm has no kernel"),
        (mc.KernelRidge(), "KernelRidge has no place.*SVC, NuSVC, OneClassSVM, SVR, NuSVR"),
    ],
)
def test_what_libsvm_has_not(machine: Any, words: str, tmp_path: Path) -> None:
    X, y = blobs(2)
    with pytest.raises(mc.ModelFileError, match=words):
        mc.save_libsvm(machine.fit(X, y), tmp_path / "a.model")


def test_labels_outputs_and_folders(tmp_path: Path) -> None:
    X, y = blobs(2)
    with pytest.raises(mc.ModelFileError, match="labels are whole numbers"):
        mc.save_libsvm(mc.SVC().fit(X, np.where(y > 0, "a", "b")), tmp_path / "a")
    with pytest.raises(mc.ModelFileError, match="one output, this SVR has 2"):
        mc.save_libsvm(mc.SVR().fit(X, np.column_stack([y, y])), tmp_path / "a")
    with pytest.raises(mc.ModelFileError, match="there is no folder"):
        mc.save_libsvm(mc.SVC().fit(X, y), tmp_path / "none" / "a")
    with pytest.raises(mc.ModelFileError, match="There is no file"):
        mc.load_libsvm(tmp_path / "none")
    with pytest.raises(mc.ModelFileError, match="is a folder"):
        mc.load_libsvm(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("svm_type c_svc", "svm_type svm", "svm_type 'svm': known are c_svc"),
        ("kernel_type rbf", "kernel_type laplace", "known are linear, polynomial"),
        ("gamma 0.4", "gamma -0.4", "gamma"),
        ("gamma 0.4", "gamma nan", "not a finite number"),
        ("gamma 0.40000000596046448\n", "", "says nothing of gamma"),
        ("nr_class 3", "nr_class 2000000000", "rho has 3 values where"),
        ("nr_class 3", "nr_class 99999999999999999999", "not a whole number"),
        ("label 4 7 -2", "label 4 7 4", "the same label"),
        ("\nSV\n", "\n", "not a keyword|no line 'SV'"),
        ("nr_sv ", "nr_sv 1 ", "values where 3"),
        (" 2:", " 1:", "ascend"),
        (" 2:", " 0:", "ascend"),
        (" 2:", " 4294967296:", "ascend"),
        (" 2:", " 2:1_0", "finite number"),
    ],
)
def test_what_is_wrong_is_said(old: str, new: str, words: str, tmp_path: Path) -> None:
    assert old in GOLDEN
    (tmp_path / "a.model").write_text(GOLDEN.replace(old, new, 1))
    with pytest.raises(mc.ModelFileError, match=words):
        mc.load_libsvm(tmp_path / "a.model")


def test_cut_anywhere_is_the_one_error(tmp_path: Path) -> None:
    path = tmp_path / "a.model"
    whole = GOLDEN.rstrip("\n")
    last = whole.rindex("\n")  # from there on fewer entries are entries, too
    for end in range(0, last, 7):
        path.write_text(whole[:end])
        with pytest.raises(mc.ModelFileError):
            mc.load_libsvm(path)


@pytest.mark.thorough
def test_spoiled_at_random(tmp_path: Path) -> None:
    """Read, or the one error; ``tests/fuzz_doors.py libsvm`` does so for as long as one likes."""
    draw, path = random.Random(0), tmp_path / "a.model"
    content = GOLDEN.encode()
    read = 0
    for _ in range(400):
        raw = bytearray(content)
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(raw))
            raw[at : at + draw.randint(0, 3)] = bytes(draw.choices(b"0123456789.:-e \n\xffSVn", k=draw.randint(0, 3)))
        path.write_bytes(bytes(raw))
        try:
            mc.load_libsvm(path)
            read += 1
        except mc.ModelFileError:
            pass
    assert 0 < read < 400


def test_a_large_index_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.model").write_text(GOLDEN.replace(" 2:", " 2147483647:"))
    machine = mc.load_libsvm(tmp_path / "a.model")
    assert machine.n_features_in_ == 2**31 - 1
    assert sparse.issparse(machine.support_vectors_)
    assert machine.support_vectors_.nnz == GOLDEN.split("SV\n")[1].count(":")


@pytest.mark.thorough
def test_many_classes_take_time_in_proportion(tmp_path: Path) -> None:
    """A thousand classes of one support vector each are half a million pairs."""
    k = 1000
    head = f"svm_type c_svc\nkernel_type linear\nnr_class {k}\ntotal_sv {k}\nrho{' 0' * (k * (k - 1) // 2)}\n"
    labels = " ".join(str((7 * c) % k) for c in range(k))
    rows = "".join("1 " * (k - 1) + f"1:{c}\n" for c in range(k))
    (tmp_path / "a.model").write_text(f"{head}label {labels}\nnr_sv{' 1' * k}\nSV\n{rows}")
    start = time.process_time()
    machine = mc.load_libsvm(tmp_path / "a.model")
    assert time.process_time() - start < 20
    assert machine.support_vectors_[:, 0].tolist() == [float(pow(7, -1, k) * c % k) for c in range(k)]


def test_width_can_be_said(golden: Path) -> None:
    assert mc.load_libsvm(golden, n_features=5).predict(np.zeros((2, 5))).shape == (2,)
    with pytest.raises(mc.ModelFileError, match="n_features=1: the model has the index 2"):
        mc.load_libsvm(golden, n_features=1)
    with pytest.raises(mc.ModelFileError, match="more than the"):
        mc.load_libsvm(golden, max_bytes=100)


@needs_tools
@pytest.mark.thorough
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.filterwarnings("ignore:The kernel matrix is indefinite")
def test_as_svm_train_and_svm_predict(classes: int, tmp_path: Path) -> None:
    """Theirs read by Mercer, and read and written by Mercer read by them."""
    X, y = blobs(classes)
    data, model, out = svmlight(tmp_path / "data", X, y), tmp_path / "t.model", tmp_path / "out"
    for s in range(5):
        for _, flags in KERNELS.values():
            tool("train", "-q", "-s", s, "-n", 0.3, *flags, data, model)
            tool("predict", data, model, out)
            theirs = np.loadtxt(out)
            machine = mc.load_libsvm(model)
            assert np.allclose(machine.predict(X), theirs, rtol=1e-5, atol=1e-5)
            mc.save_libsvm(machine, tmp_path / "m.model")
            tool("predict", data, tmp_path / "m.model", out)
            assert np.array_equal(np.loadtxt(out), theirs)
