"""scikit-learn's own tests hold for Mercer, but for those that the list explains."""

from __future__ import annotations

import pytest
import sklearn

from tests.peers import harness
from tests.peers.expected import VERSION
from tests.peers.harness import Result
from tests.peers.report import HEADER, compare, patterns


@pytest.mark.slow
@pytest.mark.skipif(not harness.available(), reason="scikit-learn is installed without its tests")
@pytest.mark.parametrize("module", harness.MODULES)
def test_fails_only_what_the_list_explains(module: str) -> None:
    if not sklearn.__version__.startswith(f"{VERSION}."):
        pytest.skip(f"the list is of the tests of scikit-learn {VERSION}, this is {sklearn.__version__}")
    report = compare(module, harness.run(module))
    print(HEADER, report.row(), sep="\n")
    assert report.passed, "nothing ran"
    wrong = [f"{name}: {reason}" for name, reason in report.unexplained.items()] + report.stale
    assert not wrong, "\n".join(["", *wrong])


def test_reports_what_the_list_does_not_explain() -> None:
    listed = "test_pca_score[*]"
    assert listed in patterns("decomposition/tests/test_pca.py")
    results = {
        "test_pca_score[a]": Result("failed"),
        "test_pca_score[b]": Result("passed"),
        "test_new": Result("failed", "line 1"),
    }
    report = compare("decomposition/tests/test_pca.py", results)
    assert (report.passed, report.failed, report.unexplained) == (1, 2, {"test_new": "line 1"})
    assert any(said.startswith(listed) and said.endswith("1 fail, 1 pass") for said in report.stale)
    assert any(said.startswith("test_pca_score3 ") and said.endswith("0 fail, 0 pass") for said in report.stale)


@pytest.mark.skipif(not harness.available(), reason="scikit-learn is installed without its tests")
def test_adapters_stand_in_the_test_module_alone() -> None:
    from sklearn import svm

    from tests.peers import adapters

    given: dict[str, object] = {"__builtins__": {"__import__": harness.Importer("sklearn.svm", ("SVC",))}}
    exec("from sklearn import svm; from sklearn.svm import SVC; from sklearn.svm import SVR; import sklearn", given)
    assert given["SVC"] is given["svm"].SVC is given["sklearn"].svm.SVC is adapters.SVC
    assert given["SVR"] is svm.SVR
    assert svm.SVC is not adapters.SVC
