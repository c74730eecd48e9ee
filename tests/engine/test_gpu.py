"""The Triton template as text: what CI, without a GPU, can see of it. ``python -m tests.check_gpu`` runs it."""

from __future__ import annotations

import ast
import math
from typing import Any

import numpy as np
import pytest

import mercer as mc
from mercer import formula
from mercer.engine import gpu
from mercer.engine.cpu import specify
from mercer.engine.reductions import FoldBlock
from mercer.kernels.base import kernel
from mercer.kernels.families import Radial
from mercer.kernels.parameters import positive
from tests.cases import one_of_each


@kernel
class Elementary(Radial):
    """Every elementary function of formulas, of arguments within all their domains."""

    gamma: float = positive(0.1)

    def _profile(self, d2: Any) -> Any:
        f = formula
        t = f.exp(-self.gamma * d2)  # in (0, 1]
        angles = f.sin(3.0 * t) + f.cos(2.0 * t) + f.tan(t) + f.arcsin(0.9 * t) + f.arccos(0.8 * t) + f.arctan(5.0 * t)
        return (
            angles
            + f.sinh(t) / f.cosh(2.0 * t)
            + f.tanh(t)
            + f.expm1(t) * f.log1p(t)
            + f.square(t)
            + f.power(t + 0.5, 1.3)
        )


OF_DISTANCES = [
    Elementary(),
    mc.Periodic(1.7, 0.8),
    mc.Matern(2.0, 2.5),
    *one_of_each(Radial),
    mc.Gaussian(0.1) * mc.Matern(2.0, 1.5) * mc.RationalQuadratic(4.0, 1.5),
]
KERNELS = [
    *OF_DISTANCES,
    mc.Polynomial(3, -0.5, 0.1),
    mc.Laplacian(0.2),
    mc.Anova(2),
    (mc.Gaussian(0.1) + mc.Linear()).normalized(),
]


def template(k: mc.Kernel) -> tuple[Any, Any, int, int]:
    tiles: Any = k.gram(np.random.default_rng(0).standard_normal((5, 7)))._tiles  # type: ignore[attr-defined]
    spec, inputs = specify(tiles._operands, tiles._steps, tiles.formula)
    block = next(iter(tiles._operands.values()))
    return spec, block.fold if isinstance(block, FoldBlock) else None, len(inputs["row"]), len(inputs["col"])


def lowered(kernel: mc.Kernel, dtype: str) -> list[str]:
    spec = template(kernel)[0]
    return gpu._formula(spec[1], spec[2], dtype)


@pytest.mark.thorough
@pytest.mark.parametrize("W", [0, 1, 8])
@pytest.mark.parametrize(("dtype", "fast"), [("float64", False), ("float32", False), ("float32", True)])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_source_is_python(kernel: mc.Kernel, dtype: str, fast: bool, W: int) -> None:
    spec, fold, rows, cols = template(kernel)
    for D in (16, 64, 256):
        text = gpu.source(spec, fold, dtype, rows, cols, fast, D, W)
        ast.parse(text)
        assert ("tl.dot(low_a" in text) == (fold is None)  # written for every product, chosen by ``if True``
        assert ("RAW_A +" in text) == (fold is not None or "sqdist" in spec[0])


def test_a_distance_looks_for_close_pairs_and_other_reductions_do_not() -> None:
    for k, guarded in ((mc.Gaussian(0.1), True), (mc.Polynomial(2), False), (mc.Laplacian(0.1), False)):
        spec, fold, rows, cols = template(k)
        assert ("smallest" in gpu.source(spec, fold, "float32", rows, cols, False, 16, 1)) == guarded
    spec = template(mc.Gaussian(0.1))[0]
    narrow = gpu.source(spec, gpu._SQUARES, "float32", 0, 0, False, 16, 1)
    assert "smallest" not in narrow
    assert "sqdist = state0" in narrow


def test_a_product_of_kernels_takes_one_exponential() -> None:
    product = mc.Gaussian(0.01) * mc.Matern(4.0, 1.5) * mc.RationalQuadratic(4.0, 1.5)
    assert lowered(product, "float32")[-1].count("ex2") == 1
    assert sum("tl.exp" in line for line in lowered(product, "float64")) == 3


@pytest.mark.parametrize("kernel", OF_DISTANCES, ids=str)
def test_float32_formulas_mean_the_same(kernel: mc.Kernel) -> None:
    """Their lines, run with Python's numbers, against the kernel."""
    x = np.random.default_rng(0).standard_normal((2, 7))
    tiles: Any = kernel.gram(x)._tiles  # type: ignore[attr-defined]
    spec, inputs = specify(tiles._operands, tiles._steps, tiles.formula)

    class tl:
        maximum, minimum, abs = max, min, abs

        @staticmethod
        def where(condition: bool, a: float, b: float) -> float:
            return a if condition else b

    names: dict[str, Any] = {
        "tl": tl,
        "libdevice": math,
        "ex2": lambda e: 2.0**e,
        "lg2": math.log2,
        "root": math.sqrt,
        "ratio": lambda a, b: a / b,
    }
    names |= {f"s{k}": float(tiles._values[n]) for k, n in enumerate(inputs["scalar"])}
    items = tiles.left[0]
    names["sqdist"] = float(((items[0] - items[1]) ** 2).sum())
    for line in gpu._formula(spec[1], spec[2], "float32"):
        exec(line, names)
    assert names[gpu._operand(spec[2])] == pytest.approx(kernel(x)[0, 1], rel=1e-12)


def test_tile_shapes_fit_their_blocks() -> None:
    for dtype in ("float32", "float64"):
        for D in (16, 32, 64, 128, 256):
            for fold in (False, True):
                for bm, bn, warps, _ in gpu._configs(dtype, False, fold, D):
                    assert gpu._BLOCK % bm == gpu._BLOCK % bn == gpu._CHUNK % bn == 0
                    assert bm >= 32
                    assert bn >= 16
                    assert warps in (4, 8)
