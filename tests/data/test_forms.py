"""What the case table says of kinds of data: other forms of the same samples, and collections that are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.data import DataError, take
from tests.cases import EVERY, Case

FORMS = [(case, form) for case in EVERY for form in case.forms]
REFUSED = [(case, samples, words) for case in EVERY for samples, words in case.refused]


@pytest.mark.parametrize(("case", "form"), FORMS, ids=[str(case) for case, _ in FORMS])
def test_forms_of_the_same_samples_have_the_same_values(case: Case, form: Callable[[Any], Any]) -> None:
    X = case.data()
    np.testing.assert_array_equal(case.kernel(form(X)), case.kernel(X))


@pytest.mark.parametrize(("case", "form"), FORMS, ids=[str(case) for case, _ in FORMS])
def test_a_model_keeps_samples_in_every_form(case: Case, form: Callable[[Any], Any], tmp_path: Path) -> None:
    X = case.data()
    y = np.arange(float(len(X)))
    model = mc.KernelRidge(0.1, case.kernel).fit(form(X), y)
    expected = mc.KernelRidge(0.1, case.kernel).fit(X, y).predict(X)
    np.testing.assert_array_equal(model.predict(form(X)), expected)
    mc.save(model, tmp_path / "model.mercer")
    np.testing.assert_array_equal(mc.load(tmp_path / "model.mercer").predict(X), expected)


@pytest.mark.parametrize("case", [case for case in EVERY if case.forms], ids=str)
def test_the_internal_form_is_its_own_and_can_be_taken_from(case: Case) -> None:
    domain = case.kernel.domain
    packed = domain.check(case.data())
    assert domain.check(packed) is packed
    rows = np.array([2, 0])
    np.testing.assert_array_equal(case.kernel(take(packed, rows)), case.kernel(case.data())[np.ix_(rows, rows)])


@pytest.mark.parametrize(("case", "samples", "words"), REFUSED, ids=[str(case) for case, _, _ in REFUSED])
def test_a_refusal_names_the_item(case: Case, samples: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        case.kernel(samples)


def test_there_are_such_cases() -> None:
    assert len(FORMS) > 5
    assert len(REFUSED) > 3
