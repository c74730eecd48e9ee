from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer.kernels.notation import kernel_classes, names_of
from mercer.testing import assert_kernel_contract, assert_reads_back
from tests.cases import EVERY, Case, doubled


@pytest.mark.parametrize(
    ("kernel", "mathematics", "python"),
    [
        (2 * mc.Gaussian(0.5) + mc.Linear(), "2·Gaussian(γ=0.5) + Linear()", "2 * Gaussian(gamma=0.5) + Linear()"),
        (
            (mc.Gaussian(0.5) + mc.Linear()) * mc.Min(),
            "(Gaussian(γ=0.5) + Linear())·Min()",
            "(Gaussian(gamma=0.5) + Linear()) * Min()",
        ),
        ((mc.Linear() + 1) ** 3, "(Linear() + Constant(c=1))³", "(Linear() + Constant(c=1)) ** 3"),
        ((mc.Linear() ** 12) ** 2, "(Linear()¹²)²", "(Linear() ** 12) ** 2"),
        (mc.exp(mc.Linear()).normalized(), "exp(Linear()).normalized()", "exp(Linear()).normalized()"),
        ((2 * mc.Linear()).normalized(), "(2·Linear()).normalized()", "(2 * Linear()).normalized()"),
        (mc.Matern([1.0, 2.0], 2.5), "Matern(ℓ=[1.0, 2.0], ν=2.5)", "Matern(length_scale=[1.0, 2.0], nu=2.5)"),
        (mc.Gaussian(), "Gaussian()", "Gaussian()"),
        (
            mc.Gaussian("median").on(["age", "dose"]),
            "Gaussian(γ='median').on(['age', 'dose'])",
            "Gaussian(gamma='median').on(['age', 'dose'])",
        ),
        (mc.polynomial(mc.Linear(), [1, 2.5]), "polynomial(Linear(), [1, 2.5])", "polynomial(Linear(), [1, 2.5])"),
    ],
)
def test_as_written(kernel: Any, mathematics: str, python: str) -> None:
    assert str(kernel) == mathematics
    assert repr(kernel) == python
    assert mc.parse(mathematics) == kernel
    assert mc.parse(python) == kernel


@pytest.mark.parametrize("case", EVERY, ids=str)
def test_both_forms_parse_back(case: Case) -> None:
    assert_reads_back(case.kernel)
    for form in (str, repr):
        assert mc.parse(form(case.kernel), names_of(case.kernel)) == case.kernel


ALGEBRA = [
    ("rooted", lambda k: k.rooted()), ("normalized", lambda k: k.normalized()), ("centered", lambda k: k.centered()),
    ("repaired", lambda k: k.repaired("flip")), ("map", lambda k: k.map(doubled)),
    ("both_strands", lambda k: k.both_strands()), ("expanded", lambda k: k.expanded(16)), 
    ("over", lambda k: k.over("ACGT", "letter")),
    ("on", lambda k: k.on(["a", "b's"])), ("imputed", lambda k: k.imputed("median", True)),
    ("metric", lambda k: k.metric([[2.0, 1.0], [1.0, 2.0]])),
    ("standardized", lambda k: k.standardized()), ("power", lambda k: k**12), ("sum", lambda k: k + 2 * k + 1.5),
    ("product", lambda k: k * k * 3 / 7), ("exp", mc.exp), ("geometric", mc.geometric),
    ("polynomial", lambda k: mc.polynomial(k, [1, 0.5])),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), [(f, s) for _, f in ALGEBRA for _, s in ALGEBRA])
def test_whatever_the_algebra_makes_parses_back(first: Any, second: Any) -> None:
    if second is dict(ALGEBRA)["rooted"] and not first(mc.Spectrum(3)).explicit:
        return  # there are no features to take roots of
    if second is dict(ALGEBRA)["expanded"]:
        return  # it stands directly behind a kernel of words
    k = second(first(mc.Spectrum(3)))
    assert_reads_back(k)


def test_every_method_that_makes_a_kernel_is_in_the_algebra() -> None:
    """A method without a line above would go untested, as ``rooted`` did."""
    returning = {
        name
        for name, f in vars(mc.Kernel).items()
        if not name.startswith("_") and getattr(f, "__annotations__", {}).get("return") == "Kernel"
    }
    assert returning - {"bind"} == ({name for name, _ in ALGEBRA} & returning) | {"atoms"}  # this of graphs alone


@pytest.mark.parametrize(("charge", "chirality"), [(True, False), (False, True), (True, True)])
def test_labels_of_atoms_parse_back(charge: bool, chirality: bool) -> None:
    assert_reads_back(mc.WeisfeilerLehman(2).atoms(charge, chirality).normalized() + mc.PathBag(3))


def test_bound_kernels_parse_back() -> None:
    X = np.where(
        np.random.default_rng(0).random((30, 2)) < 0.2, np.nan, np.random.default_rng(1).standard_normal((30, 2))
    )
    for k in (
        mc.Gaussian(0.5).standardized().imputed("mean", True),
        mc.Sigmoid().repaired().imputed(),
        mc.Linear().centered().imputed(),
    ):
        assert_reads_back(k.bind(X))
    bound = mc.Gaussian(0.5).centered().bind(np.eye(40))
    assert str(bound).startswith(
        "CenteredAt(kernel=Gaussian(γ=0.5), reference=<array 40 × 40>, weights=<array 40>, mean="
    )
    with pytest.raises(mc.NotationError, match="Two parts of the kernel"):
        names_of(bound + mc.Gaussian(0.5).centered().bind(2 * np.eye(40)))
    assert_reads_back(bound + bound)


def test_the_contract_finds_a_kernel_that_does_not_read_back() -> None:
    from mercer.kernels.base import kernel
    from mercer.kernels.compose.feature_space import Wrapper

    @kernel
    class Whispered(Wrapper):
        """A kernel of this test: its text leaves its parameter out."""

        method_name = "whispered"
        kernel: mc.Kernel
        loudness: float = 1.0

    assert_reads_back(Whispered(mc.Linear()))
    with pytest.raises(AssertionError, match="parses to another kernel"):
        assert_reads_back(Whispered(mc.Linear(), 2.0))
    with pytest.raises(AssertionError, match="parses to another kernel"):
        assert_kernel_contract(Whispered(mc.Linear(), 2.0), np.eye(3))


def test_numbers_are_exact() -> None:
    k = mc.Gaussian(0.1 + 0.2)
    assert mc.parse(str(k)).get_params() == k.get_params()


@pytest.mark.parametrize("text", ["Gaussian(γ=0.5) ** 2", "Gaussian(gamma=0.5)^2", "Gaussian(0.5)²"])
def test_powers_in_three_ways(text: str) -> None:
    assert mc.parse(text) == mc.Gaussian(0.5) ** 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Gaussian(", "not a kernel expression"),
        ("Gausian()", "'Gausian' is not the name of a kernel"),
        ("__import__('os').system('true')", "'__import__' is not the name of a kernel"),
        ("Linear().system('true')", "has no place in a kernel expression"),
        ("Linear().__class__", "has no place"),
        ("Linear().gram([[1]])", "has no place"),
        ("[k for k in ()]", "not the name"),
        ("[Linear() for k in ()]", "'for' has no place"),
        ("9**9**9", "between kernels"),
        ("3", "not a kernel"),
        ("Linear() - Linear()", r"\+, ·, / and powers"),
        ("lambda: 0", "not the name"),
        ("Linear(): 0", "':' has no place"),
        ("Linear().map(f)", "'f' is not the name"),
    ],
)
def test_nothing_is_evaluated(text: str, message: str) -> None:
    with pytest.raises(mc.NotationError, match=message):
        mc.parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Gaussian(sigma=1)", "At character 1.*unexpected keyword argument 'sigma'"),
        ("Linear() + Gaussian(-1)", "At character 12.*gamma must be a positive number"),
        ("Gaussian(γ=1, gamma=2)", "'gamma' twice"),
        ("Gaussian(γ=1, 2)", "argument without a name"),
        ("Gaussian(1 2)", r"'2' has no place in a kernel expression, where '\)' was expected"),
        ("Gaussian('scale)", "does not end on its line"),
        ("Linear() * -2 * -3", "at least 0"),
        ("2 + 3 + Linear()", "between kernels"),
        ("2 * 3 * Linear()", "between kernels"),
        ("Linear() / 0", "divided by a positive number"),
        ("[Linear()]", "describes a list"),
        ("2(Linear())", r"'\(' has no place"),
        ("inf()", "cannot be called"),
        ("'a'.normalized()", "made of kernels"),
        ("1e999 * Linear()", "scale must be"),
        (f"{'9' * 299} * Linear() * {'9' * 299}", "too large"),
        ("9" * 5000 + " * Linear()", "a number of 5000 digits"),
        ("\ud800", "has no place"),
        ("Linear()\0", "has no place"),
        ("Gaussian('\\U00110000')", "has no character"),
        ("", "ends too early"),
        (b"Linear()", "a text, not a bytes"),
    ],
)
def test_whatever_is_wrong_is_one_kind_of_error(text: Any, message: str) -> None:
    with pytest.raises(mc.NotationError, match=message):
        mc.parse(text)
    assert issubclass(mc.NotationError, ValueError)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "text",
    [
        "'\\" * 500_000,
        "'" * 999_999,
        '"' * 999_999,
        "(" * 999_999,
        "[" * 999_999,
        "-" * 999_999,
        "<" * 999_999,
        "²" * 999_999,
        "9" * 999_999,
        "Linear(" * 140_000,
        "exp(" * 400 + "Linear()" + ")" * 400,
        "Linear()" + ".normalized()" * 400,
        "Linear()" + "**2" * 400,
        " " * 999_999,
        "Linear().on([" + "[" * 400 + "]" * 401 + ")",
        "a" * 999_999,
        "_" * 999_999 + "(",
        "a" * 10_000_000,
        "Linear()" + "+1" * 100_000 + "-",
    ],
    ids=lambda text: f"{text[:12]!r}",
)
def test_no_text_takes_long_or_is_repeated(text: str) -> None:
    """Work that grows with the square of the length would be hours here."""
    with pytest.raises(mc.NotationError) as caught:
        mc.parse(text)
    assert len(str(caught.value)) < 600
    str(caught.value).encode()


@pytest.mark.thorough
def test_limits_are_stated_and_wide() -> None:
    with pytest.raises(mc.NotationError, match="nested more than 64 deep"):
        mc.parse("exp(" * 65 + "Linear()" + ")" * 65)
    with pytest.raises(mc.NotationError, match="at most 1000000"):
        mc.parse(" " * 1_000_001)
    assert mc.parse("exp(" * 63 + "Linear()" + ")" * 63).kernel.kernel == mc.parse("exp(" * 61 + "Linear()" + ")" * 61)
    assert mc.parse.__doc__ is not None
    assert "million characters" in mc.parse.__doc__
    assert "64 deep" in " ".join(mc.parse.__doc__.split())
    many = mc.parse(" + ".join(f"{i + 1}·Gaussian({i + 1})" for i in range(5000)))
    assert len(many.terms) == 5000
    assert many.terms[4999] == 5000 * mc.Gaussian(5000)
    assert mc.parse(str(many)) == many
    product = mc.parse("·".join(["2", *["Linear()"] * 5000, "3"]))
    assert (product.scale, len(product.kernel.terms)) == (6.0, 5000)


@pytest.mark.parametrize(
    "text",
    ["a'b", 'a"b', "a'b\"c", "\\", "tab\tnewline\n", "ℓ·²", "\x00\x7f", "𝔸", "\ud800", "<x>", "\\x41", "\u00b2", "´`"],
)
def test_strings_are_exact(text: str) -> None:
    k = mc.Categorical().on(text)
    assert mc.parse(repr(k)) == k
    assert mc.parse(str(k)) == k


def test_sums_and_products_are_those_of_python() -> None:
    a, b, c = mc.Linear(), mc.Gaussian(0.5), mc.Min()
    for text, k in {
        "a + b + c": a + b + c, "a + (b + c)": a + b + c, "2 + a": 2 + a, "a*b*c": a * b * c, "a*(b*c)": a * b * c,
        "2*a*b": 2 * a * b, "a*2*b*3": a * 2 * b * 3, "2*a*0.5": 2 * a * 0.5, "(2*a)*(0.5*b)": (2 * a) * (0.5 * b),
        "a*b*2/5": a * b * 2 / 5, "a*b**2 + c": a * b**2 + c, "a/2/3*b": a / 2 / 3 * b, "(a + b)*c": (a + b) * c,
        "a·b²·c": a * b**2 * c, "1.5*a*b + 2*c + 3": 1.5 * a * b + 2 * c + 3,
    }.items():  # fmt: skip
        assert mc.parse(text, {"a": a, "b": b, "c": c}) == k, text


def test_long_arrays_are_shown_by_shape() -> None:
    assert repr(mc.Precomputed(np.eye(50))) == "Precomputed(K=<array 50 × 50>)"
    with pytest.raises(
        mc.NotationError, match="not a kernel expression by itself: say what '<array 50 × 50>' stands for"
    ):
        mc.parse(repr(mc.Precomputed(np.eye(50))))
    assert mc.parse("Precomputed(K=<array 50 × 50>)", {"<array 50 × 50>": np.eye(50)}) == mc.Precomputed(np.eye(50))
    assert_reads_back(mc.Linear().map(lambda X: X))


def test_users_kernels_parse_too() -> None:
    from mercer.kernels.base import kernel
    from mercer.kernels.families import Radial

    @kernel
    class Tent(Radial):
        """A kernel of this test."""

        width: float = 1.0

    assert mc.parse("2·Tent(width=3.0)") == 2 * Tent(3.0)
    assert "Tent" in kernel_classes()
