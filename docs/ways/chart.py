"""The chart "which kernel, which learner": ``python docs/ways/chart.py`` writes ``which.svg``, and the tables of
``which.md`` between their marks, from the one list below.

The picture is narrow and long, so that it can be read on a telephone; what is clicked leads to the pages and to the
reference. Its ink is that of the page it stands in, and follows the system where it is opened alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

import mercer

HERE = Path(__file__).resolve().parent
MARK = "<!-- {} of the tables written by chart.py -->"


@dataclass(frozen=True)
class Row:
    """What one has or asks, the page that says more, and the names that answer."""

    what: str
    page: str  # relative to this folder, with an anchor or without
    names: tuple[str, ...]


@dataclass(frozen=True)
class Part:
    """Rows under one heading."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Question:
    """One of the three questions, in the order in which they are asked."""

    title: str
    heads: tuple[str, str]  # of the columns of the table
    parts: tuple[Part, ...]


def row(what: str, page: str, names: str) -> Row:
    return Row(what, page, tuple(names.split()))


CHART = (
    Question(
        "What is a sample?",
        ("a sample is", "kernel"),
        (
            Part(
                "a row of numbers",
                (
                    row("numbers, a smooth answer", "../guide/03_kernels_on_vectors.md", "Gaussian RationalQuadratic"),
                    row(
                        "numbers, a jagged answer",
                        "../guide/03_kernels_on_vectors.md",
                        "Laplacian Matern PowerExponential",
                    ),
                    row("many columns, few of them filled", "../svm.md", "Linear"),
                    row(
                        "columns act together",
                        "../guide/03_kernels_on_vectors.md",
                        "Polynomial Anova AllSubsets ArcCosine",
                    ),
                    row("hours, seasons, angles", "../guide/03_kernels_on_vectors.md", "Periodic"),
                    row(
                        "counts, shares, histograms",
                        "../guide/03_kernels_on_vectors.md#histograms",
                        "ChiSquared HistogramIntersection Hellinger",
                    ),
                    row("0 and 1, sets of things", "../graphs.md", "Tanimoto MinMax Intersection"),
                    row("categories", "../columns.md", "Categorical Overlap"),
                ),
            ),
            Part(
                "a string",
                (
                    row("words anywhere: genes, proteins", "../strings.md", "Spectrum"),
                    row("words that mutate", "../strings.md", "Mismatch Gappy"),
                    row("binding sites, as gkm-SVM", "coming_from_fastsk_and_gkmsvm.md", "EstimatedGappy"),
                    row("words at their place: splice sites", "../strings.md", "WeightedDegree"),
                    row("parts with gaps, of any length", "../strings.md", "Subsequence Substring"),
                    row("what aligns", "../strings.md", "LocalAlignment"),
                    row("profiles of relatives", "../strings.md#profiles", "Profile"),
                    row("texts", "../strings.md", "BagOfWords"),
                    row("strings by a model of them", "../strings.md#models-of-strings", "Fisher HiddenMarkovModel"),
                ),
            ),
            Part(
                "a time series",
                (
                    row("sooner or later, faster or slower", "../series.md#alignments", "GlobalAlignment SoftDTW"),
                    row("channels that act on each other", "../series.md#signatures", "Signature TruncatedSignature"),
                    row("periodic, or cut out anywhere", "../series.md#shifts", "CrossCorrelation"),
                ),
            ),
            Part(
                "a graph",
                (
                    row("labels and neighbours", "../graphs.md", "WeisfeilerLehman WLOptimalAssignment"),
                    row("distances, paths", "../graphs.md", "ShortestPath PathBag"),
                    row("small parts", "../graphs.md", "Graphlet Subgraph"),
                    row("walks", "../graphs.md", "GeometricWalk Walk"),
                    row(
                        "vertices with numbers",
                        "../graphs.md#vertices-with-numbers",
                        "HashedAttributes GraphHopper Propagation",
                    ),
                    row("trees of a parser", "../graphs.md", "TreeKernel"),
                ),
            ),
            Part(
                "a molecule or reaction",
                (
                    row("groups of atoms", "../molecules.md", "Morgan Tanimoto MinMax"),
                    row("paths of atoms", "../molecules.md", "TopologicalPaths AtomPairs"),
                    row("properties of the whole", "../molecules.md", "Descriptors"),
                    row("atoms in space", "../molecules.md#atoms-in-space", "Coulomb"),
                    row("reactions", "../molecules.md#reactions", "Reaction Reactants Products"),
                ),
            ),
            Part(
                "a vertex of one graph",
                (
                    row("near by many short ways", "../graphs.md#vertices-of-one-graph", "Diffusion PStepWalk"),
                    row("links that may be long", "../graphs.md#vertices-of-one-graph", "RegularizedLaplacian"),
                    row("how long a walker needs", "../graphs.md#vertices-of-one-graph", "CommuteTime"),
                ),
            ),
            Part(
                "a set",
                (
                    row("points that overlap", "../sets.md#means-in-the-space-of-a-kernel", "MeanEmbedding"),
                    row("points that lie apart", "../sets.md#how-far-mass-must-be-moved", "SlicedWasserstein"),
                    row(
                        "persistence diagrams",
                        "../sets.md#persistence-diagrams",
                        "PersistenceScaleSpace PersistenceSlicedWasserstein",
                    ),
                    row("patches of images", "../sets.md#images", "VisualWords patches"),
                    row("parts of anything", "../graphs.md#models-and-parts", "Convolution"),
                ),
            ),
            Part(
                "several of these at once",
                (
                    row("a table, all by itself", "../tables.md", "learn"),
                    row("a sum of kernels, weights learnt", "../kernel_weights.md", "MKLClassifier MKLRidge"),
                    row("columns of many kinds: k.on()", "../columns.md", "Kernel Categorical"),
                    row("a matrix or a function of yours", "../add_a_kernel.md", "Precomputed Function"),
                ),
            ),
        ),
    ),
    Question(
        "What do you want to know?",
        ("you want", "learner"),
        (
            Part(
                "of samples with an answer",
                (
                    row("classes", "../svm.md", "SVC NuSVC"),
                    row("classes with probabilities", "../ridge.md", "KernelLogistic"),
                    row("numbers", "../ridge.md", "KernelRidge KernelRidgeCV"),
                    row("numbers, some far out", "../ridge.md", "KernelHuber SVR"),
                    row("counts", "../ridge.md", "KernelPoisson"),
                    row("quantiles", "../ridge.md#quantiles", "KernelQuantile KernelExpectile"),
                    row("an interval that holds 9 in 10", "../selection.md#intervals-and-bounds", "ConformalRegressor"),
                    row("which columns matter", "../metrics.md", "FeatureMachineRegressor FeatureMachineClassifier"),
                ),
            ),
            Part(
                "of samples without one",
                (
                    row("groups", "../unsupervised.md#clusters", "SpectralClustering KernelKMeans KMeans"),
                    row("groups as densities", "../unsupervised.md#mixtures", "GaussianMixture"),
                    row("components", "../unsupervised.md#principal-components", "KernelPCA PCA"),
                    row("rare cases", "../unsupervised.md#novelty", "OneClassSVM SVDD KernelPCANovelty"),
                    row("what two views share", "../unsupervised.md#two-views", "KernelCCA CCA TemporalKernelCCA"),
                ),
            ),
            Part(
                "a yes or no with a p-value",
                (
                    row("are two samples alike?", "../unsupervised.md#tests", "mmd_test"),
                    row("are two things independent?", "../unsupervised.md#tests", "hsic_test"),
                    row("… given a third?", "../unsupervised.md#tests", "kci_test"),
                ),
            ),
            Part(
                "of a model",
                (
                    row("which parameters", "../selection.md", "KernelSearchCV tune"),
                    row("how good it will be", "../selection.md", "nested_scores generalisation"),
                    row("why it answers so", "../explanations.md", "explain motif influence"),
                ),
            ),
        ),
    ),
    Question(
        "How many samples?",
        ("there are", "what to do"),
        (
            Part(
                "and how they come",
                (
                    row("up to 10⁴: all of them", "cost.md", "estimate_cost"),
                    row("10⁴ to 10⁷: centers=m", "../large_data.md#centers", "KernelRidge SVC KernelLogistic"),
                    row("… any learner: few features", "../large_data.md", "Nystrom RandomFeatures"),
                    row("more than the memory", "../large_data.md#blocks", "Blocks scan_parquet"),
                    row("more than a machine: Dask", "../cluster.md", "Compute"),
                    row("a stream", "../streams.md", "KernelSGDClassifier KernelSGDRegressor KernelRLS"),
                ),
            ),
        ),
    ),
)


def rows() -> list[Row]:
    return [row for question in CHART for part in question.parts for row in part.rows]


def names_of() -> list[str]:
    return [name for entry in rows() for name in entry.names]


# ---- the picture: units are pixels at a width of 360 ---------------------------------------------------------------

WIDTH, LEFT, RIGHT = 360, 14, 162  # of the picture; where what one has begins, and where the names begin
LINE = 17
LETTER, CODE = 6.7, 6.75  # widths of letters of 12 and 11 pixels, generous

STYLE = """
.which { color: var(--pst-color-text-base, #6b7480); --go: var(--pst-color-link, #3579b5); }
.which:root { color: #24292f; --go: #0a5c99; }
@media (prefers-color-scheme: dark) { .which:root { color: #d5dbe1; --go: #79b8ee; background: #14181e; } }
.which text { font: 12px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: currentColor; }
.which .question { font-size: 17px; font-weight: 600; }
.which .part { font-size: 13px; font-weight: 600; }
.which .name { font: 11px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.which a { text-decoration: none; }
.which a text { fill: var(--go); }
.which a:hover text, .which a:focus text { text-decoration: underline; }
.which rect { fill: currentColor; fill-opacity: 0.05; stroke: currentColor; stroke-opacity: 0.25; }
.which path { fill: none; stroke: currentColor; stroke-opacity: 0.45; stroke-width: 1.2; }
""".strip()


def wrapped(words: list[str], width: float, letter: float, gap: float) -> list[list[str]]:
    """Words in lines that are no wider than that."""
    lines: list[list[str]] = [[]]
    used = 0.0
    for word in words:
        wide = len(word) * letter
        if lines[-1] and used + gap + wide > width:
            lines.append([])
            used = 0.0
        used += wide + (gap if lines[-1] else 0.0)
        lines[-1].append(word)
    return lines


def page_of(address: str) -> str:
    return address.replace(".md", ".html")


def reference_of(name: str) -> str:
    return f"../reference/api/mercer.{name}.html"


def text(x: float, y: float, words: str, kind: str = "") -> str:
    marked = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}"{marked}>{escape(words)}</text>'


def drawn_row(entry: Row, y: float) -> tuple[list[str], float]:
    """A row whose first line stands at y, and the place below it."""
    said = wrapped(entry.what.split(" "), RIGHT - LEFT - 24, LETTER, LETTER)
    listed = wrapped(list(entry.names), WIDTH - RIGHT - 8, CODE, 10)
    drawn = [f'<a href="{page_of(entry.page)}">']
    drawn += [text(LEFT, y + i * LINE, " ".join(words)) for i, words in enumerate(said)]
    drawn.append("</a>")
    drawn.append(f'<path d="M{RIGHT - 20} {y - 4}h10m-4 -3l4 3l-4 3"/>')
    for i, names in enumerate(listed):
        x = float(RIGHT)
        for name in names:
            drawn += [f'<a href="{reference_of(name)}">', text(x, y + i * LINE, name, "name"), "</a>"]
            x += len(name) * CODE + 10
    return drawn, y + max(len(said), len(listed)) * LINE + 6


def picture() -> str:
    """The whole chart, as SVG."""
    drawn: list[str] = []
    y = 26.0
    for number, question in enumerate(CHART, 1):
        drawn.append(text(8, y, f"{number}  {question.title}", "question"))
        y += 14
        for part in question.parts:
            top = y
            inside, y = [text(LEFT, y + 20, part.title, "part")], y + 42
            for entry in part.rows:
                more, y = drawn_row(entry, y)
                inside += more
            y -= 6
            drawn.append(f'<rect x="4" y="{top:g}" width="{WIDTH - 8}" height="{y - top:g}" rx="7"/>')
            drawn += inside
            y += 8
        if number < len(CHART):
            drawn.append(f'<path d="M{WIDTH / 2:g} {y:g}v22m-5 -7l5 7l5 -7"/>')
            y += 52
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="which" viewBox="0 0 {WIDTH} {y:g}" width="100%"'
        ' style="max-width: 520px; height: auto" role="group" aria-labelledby="which-title">'
    )
    title = '<title id="which-title">Which kernel and which learner: the tables below say the same</title>'
    return "\n".join([head, title, f"<style>{STYLE}</style>", *drawn, "</svg>\n"])


# ---- the same in words -----------------------------------------------------------------------------------------------


def tables() -> str:
    """The content of the chart as tables in Markdown."""
    lines = []
    for number, question in enumerate(CHART, 1):
        lines.append(f"## {number}. {question.title}\n")
        for part in question.parts:
            lines += [
                f"### {part.title[0].upper()}{part.title[1:]}\n",
                f"| {question.heads[0]} | {question.heads[1]} |",
            ]
            lines.append("|---|---|")
            for entry in part.rows:
                names = ", ".join(f"`{name}`" for name in entry.names)
                lines.append(f"| [{entry.what}]({entry.page}) | {names} |")
            lines.append("")
    return "\n".join(lines)


def page() -> str:
    """``which.md`` with its tables written anew."""
    old = (HERE / "which.md").read_text(encoding="utf-8")
    start, end = MARK.format("start"), MARK.format("end")
    before, _, rest = old.partition(start)
    return f"{before}{start}\n\n{tables()}\n{end}{rest.partition(end)[2]}"


# ---- whether it is true ----------------------------------------------------------------------------------------------


def headings(path: Path) -> set[str]:
    """The anchors of a page."""
    found = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in found}


def problems() -> list[str]:
    """Names that Mercer does not have, pages and headings that are not there, and files that were not written anew."""
    found = [f"no {name}" for name in names_of() if name not in mercer.__all__]
    found += [f"{name} is wider than its column" for name in names_of() if len(name) * CODE > WIDTH - RIGHT - 8]
    for entry in rows():
        address, _, anchor = entry.page.partition("#")
        path = (HERE / address).resolve()
        if not path.is_file() or (anchor and anchor not in headings(path)):
            found.append(f"no {entry.page}")
    if (HERE / "which.svg").read_text(encoding="utf-8") != picture() or page() != (HERE / "which.md").read_text(
        "utf-8"
    ):
        found.append("python docs/ways/chart.py was not run")
    return found


def main() -> None:
    (HERE / "which.svg").write_text(picture(), encoding="utf-8")
    (HERE / "which.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
