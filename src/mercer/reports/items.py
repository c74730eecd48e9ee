"""One sample as a person sees it: letters coloured, molecules and graphs drawn, numbers and texts written."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from xml.sax.saxutils import escape

import numpy as np

from mercer.arrays import Array
from mercer.data import Graph
from mercer.data.molecules import molecule_svg
from mercer.plots.molecule import coloured
from mercer.reports.blocks import Cell, Drawn, Letter

_LONGEST = 240  # letters of a text or a sequence
_LARGEST = 60  # vertices of a graph that is drawn
_DRAWN = 180, 120  # a molecule or a graph, in pixels
_NUMBERS = 6  # of a row that is written


def written(value: object) -> str:
    """A value of a table."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, float | np.floating):
        return f"{value:.5g}"
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def letters(text: str, values: Array | None = None) -> Sequence[Letter]:
    """A sequence, each letter on a colour as strong as its contribution."""
    largest = 0.0 if values is None else float(np.abs(values).max(initial=0.0))
    shades = np.zeros(len(text)) if values is None or not largest else values[: len(text)] / largest
    out = [Letter(c, round(float(s), 1)) for c, s in zip(text[:_LONGEST], shades, strict=False)]
    return [*out, Letter("…")] if len(text) > _LONGEST else out


def drawn_molecule(smiles: str, values: Array | None = None) -> Cell:
    """A molecule, its atoms coloured by their contributions; its SMILES where it cannot be drawn."""
    try:
        svg = molecule_svg(smiles, [] if values is None else coloured(values), _DRAWN)
    except (ImportError, ValueError):
        return written(smiles)
    svg = re.sub(r"<\?xml.*?\?>|<!--.*?-->", "", svg, flags=re.DOTALL)
    return Drawn(svg.strip(), f"The molecule {smiles}")


def drawn_graph(graph: Graph, values: Array | None = None) -> Cell:
    """A graph by the eigenvectors of its Laplacian, vertices with their labels; in words where it is large."""
    n, edges = int(graph.n_vertices or 0), np.asarray(graph.edges).reshape(-1, 2)
    if not 1 <= n <= _LARGEST:
        return f"{n} vertices, {len(edges)} edges"
    wide, high = _DRAWN
    places = _layout(n, edges) * [wide - 24, high - 24] + 12
    lines = "".join(
        f'<line x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}" stroke="#888"/>'
        for a, b in zip(places[edges[:, 0]], places[edges[:, 1]], strict=True)
    )
    colours = ["#e8e8e8"] * n if values is None else [_hex(c) for c in coloured(values)]
    labels = [""] * n if graph.labels is None else [escape(str(label)[:8]) for label in graph.labels]
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" fill="{c}" stroke="#666"/>'
        f'<text x="{x:.1f}" y="{y + 3:.1f}" font-size="8" text-anchor="middle" fill="#111">{label}</text>'
        for (x, y), c, label in zip(places, colours, labels, strict=True)
    )
    size = f'width="{wide}" height="{high}" viewBox="0 0 {wide} {high}"'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{lines}{dots}</svg>'
    return Drawn(svg, f"A graph of {n} vertices and {len(edges)} edges")


def _layout(n: int, edges: Array) -> Array:
    """Places in the unit square: the second and third eigenvector of the Laplacian, then some steps of springs."""
    A = np.zeros((n, n))
    A[edges[:, 0], edges[:, 1]] = A[edges[:, 1], edges[:, 0]] = 1.0
    np.fill_diagonal(A, 0.0)
    _, vectors = np.linalg.eigh(np.diag(A.sum(axis=1)) - A)
    # places that are equal would never part
    P = vectors[:, 1:3] if n > 2 else np.zeros((n, 2))
    P = np.column_stack([P, np.zeros((n, 2 - P.shape[1]))]) + 0.05 * np.random.default_rng(0).standard_normal((n, 2))
    ideal = 1.0 / math.sqrt(n)
    for step in range(150):
        D = P[:, None] - P
        distance = np.maximum(np.sqrt((D**2).sum(axis=2)), 1e-6)
        force = (D * (ideal**2 / distance**2 - A * distance / ideal)[:, :, None]).sum(axis=1)
        size = np.maximum(np.sqrt((force**2).sum(axis=1, keepdims=True)), 1e-9)
        P = P + force / size * np.minimum(size, 0.1 * (1 - step / 150))
    low, high = P.min(axis=0), P.max(axis=0)
    return np.where(high > low, (P - low) / np.maximum(high - low, 1e-9), 0.5)


def _hex(colour: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(255 * c):02x}" for c in colour)


def shown(item: object, values: Array | None = None, names: Sequence[str] | None = None) -> Cell:
    """Any sample: a string, a graph, a row of numbers, or what it says of itself."""
    if isinstance(item, str):
        return letters(item, values)
    if isinstance(item, Graph):
        return drawn_graph(item, values)
    row = np.asarray(item)
    if row.ndim == 1 and row.dtype.kind in "fiu":
        order = np.arange(len(row)) if values is None else np.argsort(-np.abs(values), kind="stable")
        called = names if names is not None else [f"x{j}" for j in range(len(row))]
        said = ", ".join(f"{called[j]} = {row[j]:.4g}" for j in order[:_NUMBERS])
        return said + (", …" if len(row) > _NUMBERS else "")
    return written(item)
