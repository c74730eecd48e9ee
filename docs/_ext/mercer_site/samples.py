"""What each kernel is shown on: a kernel of the class, and samples that have something to compare.

Samples stand in an order that a matrix shows: along a line, or group by group. All are made here, the same in every
build. A class that is not in ``SHOWN`` is shown with its defaults on the samples of its domain, where there are some.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import mercer as mc

Samples = Any


class Shown(NamedTuple):
    """A kernel as one would write it, the name of its samples, and its cost where the docstring does not say it."""

    kernel: str
    samples: str
    cost: str = ""


def _rng() -> Any:
    return np.random.default_rng(0)


def line() -> Samples:
    """60 numbers from −3 to 3."""
    return np.linspace(-3.0, 3.0, 60)[:, None]


def shares() -> Samples:
    """60 numbers from 0 to 0.95."""
    return np.linspace(0.0, 0.95, 60)[:, None]


def histograms() -> Samples:
    """48 histograms of ten bins whose peak moves from the first bin to the last."""
    peaks = np.linspace(0.0, 9.0, 48)[:, None]
    H = np.exp(-0.5 * ((np.arange(10) - peaks) / 1.2) ** 2)
    return H / H.sum(1, keepdims=True)


def categories() -> Samples:
    """48 rows of one category, of four."""
    return np.repeat(np.arange(4.0), 12)[:, None]


def codes() -> Samples:
    """48 rows of eight categories: four groups, each row with a quarter of its entries drawn anew."""
    rng = _rng()
    groups = rng.integers(0, 4, (4, 8))
    drawn = rng.integers(0, 4, (48, 8))
    return np.where(rng.random((48, 8)) < 0.25, drawn, np.repeat(groups, 12, axis=0)).astype(float)


def _families(letters: str, length: int, changed: float) -> list[str]:
    rng = _rng()
    found = []
    for _ in range(4):
        parent = rng.choice(list(letters), length)
        for _ in range(10):
            child = np.where(rng.random(length) < changed, rng.choice(list(letters), length), parent)
            found.append("".join(child))
    return found


def dna() -> Samples:
    """40 strings of DNA, 40 letters each: four families, each string with a fifth of its letters drawn anew."""
    return _families("ACGT", 40, 0.2)


def protein_profiles() -> Samples:
    """24 profiles of DNA, 20 places each: four families."""
    rng = _rng()
    found = []
    for s in _families("ACGT", 20, 0.2)[::10]:
        for _ in range(6):
            P = 0.1 * rng.dirichlet([0.5] * 4, 20)
            P[np.arange(20), ["ACGT".index(c) for c in s]] += 0.9
            found.append(P)
    return found


def texts() -> Samples:
    """32 texts of twelve words, four subjects with words of their own and words in common."""
    rng = _rng()
    common = ["the", "a", "of", "and", "is", "in", "it", "to"]
    subjects = ["sea ship wave sail", "oven bread flour bake", "chord song voice drum", "star orbit planet moon"]
    return [" ".join(rng.choice(common + 2 * s.split(), 12)) for s in subjects for _ in range(8)]


def series() -> Samples:
    """32 series of 24 to 40 values: sines, saws, steps and noise that wanders."""
    rng = _rng()
    shapes: list[Callable[[Any], Any]] = [
        lambda t: np.sin(4 * np.pi * t),
        lambda t: 2 * ((3 * t) % 1.0) - 1,
        lambda t: np.sign(t - 0.5),
        lambda t: np.cumsum(rng.standard_normal(len(t))) / np.sqrt(len(t)),
    ]
    lengths = rng.integers(24, 41, 32)
    found = []
    for i, n in enumerate(lengths):
        t = np.linspace(0, 1, n)
        found.append((shapes[i // 8](t) + 0.15 * rng.standard_normal(n))[:, None])
    return found


def _shapes() -> list[Any]:
    """Paths, rings, stars and grids of six to twelve vertices, as (edges, positions in the plane)."""
    found = []
    for n in range(6, 13):
        found.append(([(i, i + 1) for i in range(n - 1)], np.c_[np.linspace(-1, 1, n), np.zeros(n)]))
    angle = {n: 2 * np.pi * np.arange(n) / n for n in range(6, 13)}
    for n in range(6, 13):
        found.append(([(i, (i + 1) % n) for i in range(n)], np.c_[np.cos(angle[n]), np.sin(angle[n])]))
    for n in range(6, 13):
        around = angle[n][: n - 1]
        found.append(([(0, i) for i in range(1, n)], np.r_[np.zeros((1, 2)), np.c_[np.cos(around), np.sin(around)]]))
    for rows, columns in ((2, 3), (2, 4), (3, 3), (2, 5), (2, 6), (3, 4), (4, 3)):
        at = [(i, j) for i in range(rows) for j in range(columns)]
        steps = [(u, v) for u, a in enumerate(at) for v, b in enumerate(at) if v > u]
        edges = [(u, v) for u, v in steps if abs(at[u][0] - at[v][0]) + abs(at[u][1] - at[v][1]) == 1]
        found.append((edges, np.array(at, dtype=float) / 2 - 1))
    return found


def graphs() -> Samples:
    """28 graphs: paths, rings, stars and grids of six to twelve vertices, labelled by the parity of their degree."""
    found = []
    for edges, places in _shapes():
        degrees = np.bincount(np.ravel(edges), minlength=len(places))
        found.append(mc.Graph(edges, ["odd" if d % 2 else "even" for d in degrees]))
    return found


def marked_graphs() -> Samples:
    """28 graphs: paths, rings, stars and grids whose edges are labelled by the degrees of their ends."""
    found = []
    for edges, places in _shapes():
        d = np.bincount(np.ravel(edges), minlength=len(places))
        found.append(mc.Graph(edges, ["v"] * len(places), [f"{min(d[u], d[v])} {max(d[u], d[v])}" for u, v in edges]))
    return found


def graphs_with_numbers() -> Samples:
    """28 graphs: paths, rings, stars and grids whose vertices have their places in the plane."""
    return [mc.Graph(edges, ["v"] * len(places), attributes=places) for edges, places in _shapes()]


def trees() -> Samples:
    """24 trees: sentences of three forms with different words."""
    names, verbs = ["John", "Mary", "Ann", "Bob"], ["saw", "met"]
    found: list[Any] = []
    for verb in verbs:
        found += [("S", ("NP", n), ("VP", ("V", verb))) for n in names]
    for verb in verbs:
        found += [("S", ("NP", n), ("VP", ("V", verb), ("NP", "Mary"))) for n in names]
    for verb in verbs:
        found += [("S", ("NP", n), ("VP", ("V", verb), ("PP", ("P", "near"), ("NP", "Mary")))) for n in names]
    return found


_SCAFFOLDS = ("{}C", "{}C(=O)O", "{}c1ccccc1", "{}c1ccncc1", "{}N1CCOCC1")


def molecules() -> Samples:
    """35 molecules: alkanes, acids, and chains on benzene, pyridine and morpholine, one to seven carbons long."""
    return [form.format("C" * n) for form in _SCAFFOLDS for n in range(1, 8)]


def reactions() -> Samples:
    """21 reactions: acids to esters, alcohols to aldehydes, chlorides to amines."""
    acids = [f"{'C' * n}C(=O)O.OC>{'O' * (n % 2)}>{'C' * n}C(=O)OC" for n in range(1, 8)]
    alcohols = [f"{'C' * n}CO>CC(C)=O>{'C' * n}C=O" for n in range(1, 8)]
    return acids + alcohols + [f"{'C' * n}Cl.N>ClCCl>{'C' * n}N" for n in range(1, 8)]


def structures() -> Samples:
    """24 clusters of atoms in space: three of five to seven atoms, each moved a little eight times."""
    rng = _rng()
    found = []
    for n in (5, 6, 7):
        kinds, places = rng.choice([1, 6, 7, 8], n), 1.5 * rng.standard_normal((n, 3))
        found += [(kinds, places + 0.1 * rng.standard_normal((n, 3))) for _ in range(8)]
    return found


def sets() -> Samples:
    """36 sets of about ten of 40 things: four groups, each with favourites."""
    rng = _rng()
    chance = np.full((4, 40), 0.12)
    for group in range(4):
        chance[group, 10 * group : 10 * group + 10] = 0.6
    return (rng.random((36, 40)) < np.repeat(chance, 9, axis=0)).astype(float)


def bags() -> Samples:
    """36 bags of counts of 40 things: four groups, each with favourites."""
    return sets() * _rng().integers(1, 5, (36, 40))


def clouds() -> Samples:
    """32 sets of 25 points of the plane: blobs, rings, lines and pairs of blobs."""
    rng = _rng()
    found = []
    for kind in range(4):
        for _ in range(8):
            noise, angle = 0.15 * rng.standard_normal((25, 2)), 2 * np.pi * rng.random(25)
            side = np.where(np.arange(25) % 2, 1.0, -1.0)
            centre = [
                2 * noise,
                np.c_[np.cos(angle), np.sin(angle)],
                np.c_[2 * rng.random(25) - 1, np.zeros(25)],
                np.c_[side, np.zeros(25)],
            ][kind]
            found.append(centre + noise)
    return found


def diagrams() -> Samples:
    """24 persistence diagrams: of one long-lived pair, of two, and of short-lived ones alone."""
    rng = _rng()
    found = []
    for kind in range(3):
        for _ in range(8):
            born = rng.random(6)
            short = np.c_[born, born + 0.1 * rng.random(6)]
            long = np.array([[0.1, 0.9], [0.3, 0.8]])[:kind] + 0.03 * rng.standard_normal((kind, 2))
            found.append(np.r_[short, long])
    return found


def vertices() -> Samples:
    """All 45 vertices of the network, group by group."""
    return np.arange(45)


def network() -> Any:
    """45 vertices in three groups of 15: many edges within a group, few between."""
    rng = _rng()
    group = np.repeat([0, 1, 2], 15)
    W = np.triu(rng.random((45, 45)) < np.where(group[:, None] == group, 0.4, 0.02), 1).astype(float)
    W[np.arange(44), np.arange(1, 45)] = 1.0  # connected
    return np.maximum(W, W.T)


def letters() -> Samples:
    """40 strings: runs and changes, in four mixtures."""
    rng = _rng()
    found = []
    for stay in (0.95, 0.75, 0.5, 0.2):
        for _ in range(10):
            moves = rng.random(40) > stay
            found.append("".join("AB"[i] for i in np.cumsum(moves) % 2))
    return found


def rows() -> Samples:
    """The numbers of the 60 rows of a matrix."""
    return np.arange(60)


PRODUCT = "One product of matrices for a block of values, and the formula on each."
COLUMNS = "d steps a value, in vector instructions."
COMPARED = "d comparisons a value."
FEATURES = "Features once for each sample; then one product of them."
SPECTRAL = "Vertices³ once for a graph of up to 3000 vertices; of larger ones, products with its sparse matrix."
FINGERPRINT = "RDKit's for the features of each molecule; then a product of sparse rows."

SHOWN = {
    "Gaussian": Shown("mc.Gaussian(0.5)", "line", PRODUCT),
    "Laplacian": Shown("mc.Laplacian(0.5)", "line", COLUMNS),
    "Matern": Shown("mc.Matern(1.0, nu=1.5)", "line", PRODUCT),
    "RationalQuadratic": Shown("mc.RationalQuadratic(1.0, alpha=0.5)", "line", PRODUCT),
    "PowerExponential": Shown("mc.PowerExponential(1.0, power=1.5)", "line", PRODUCT),
    "PowerLaplacian": Shown("mc.PowerLaplacian(0.5, power=1.5)", "line", COLUMNS),
    "Periodic": Shown("mc.Periodic(period=2.0, length_scale=1.0)", "line", PRODUCT),
    "Linear": Shown("mc.Linear()", "line", PRODUCT),
    "Polynomial": Shown("mc.Polynomial(3, offset=1.0, scale=0.5)", "line", PRODUCT),
    "Bilinear": Shown("mc.Bilinear([[2.0]])", "line", PRODUCT),
    "ArcCosine": Shown("mc.ArcCosine(1)", "line", PRODUCT),
    "Sigmoid": Shown("mc.Sigmoid(offset=-0.5, scale=0.5)", "line", PRODUCT),
    "TaylorGaussian": Shown("mc.TaylorGaussian(0.5, degree=4)", "line", FEATURES),
    "Min": Shown("mc.Min()", "shares", COLUMNS),
    "GeometricMin": Shown("mc.GeometricMin()", "shares", COLUMNS),
    "AllSubsets": Shown("mc.AllSubsets()", "line", COLUMNS),
    "Anova": Shown("mc.Anova(1)", "line", "d · degree steps a value, in vector instructions."),
    "Overlap": Shown("mc.Overlap()", "codes", COMPARED),
    "HistogramIntersection": Shown("mc.HistogramIntersection()", "histograms", COLUMNS),
    "Hellinger": Shown("mc.Hellinger()", "histograms", FEATURES),
    "ChiSquared": Shown("mc.ChiSquared(1.0)", "histograms", COLUMNS),
    "AdditiveChiSquared": Shown("mc.AdditiveChiSquared()", "histograms", COLUMNS),
    "Spectrum": Shown("mc.Spectrum(3).normalized()", "dna"),
    "Mismatch": Shown(
        'mc.Mismatch(4, 1, "ACGT").normalized()',
        "dna",
        "Features, or a comparison of the words of two strings, whichever the size of the alphabet allows.",
    ),
    "Gappy": Shown("mc.Gappy(6, 4).normalized()", "dna"),
    "EstimatedGappy": Shown(
        "mc.EstimatedGappy(8, 5, 2).normalized()", "dna", "About 0.1 ns a pair of windows, 64 sequences at a time."
    ),
    "WeightedDegree": Shown(
        "mc.WeightedDegree(5).normalized()",
        "dna",
        "O(L) a pair and shift, about 0.03 ns a place, 64 sequences at a time.",
    ),
    "Subsequence": Shown("mc.Subsequence(4, 0.5).normalized()", "dna"),
    "Substring": Shown("mc.Substring(0.5).normalized()", "dna"),
    "LocalAlignment": Shown("mc.LocalAlignment(2.0, -1.0, 3.0, 1.0, 0.2)", "dna"),
    "BagOfWords": Shown("mc.BagOfWords().normalized()", "texts", FEATURES),
    "Profile": Shown(
        'mc.Profile(4, 4.0, "ACGT").normalized()',
        "protein_profiles",
        "The number of words that are found in each profile; then a product of sparse rows.",
    ),
    "GlobalAlignment": Shown("mc.GlobalAlignment()", "series"),
    "SoftDTW": Shown("mc.SoftDTW(1.0, 0.1)", "series"),
    "Signature": Shown("mc.Signature().normalized()", "series"),
    "TruncatedSignature": Shown("mc.TruncatedSignature(4).normalized()", "series"),
    "CrossCorrelation": Shown("mc.CrossCorrelation(10.0).normalized()", "series"),
    "WeisfeilerLehman": Shown("mc.WeisfeilerLehman(2).normalized()", "graphs"),
    "WLOptimalAssignment": Shown("mc.WLOptimalAssignment(2).normalized()", "graphs"),
    "ShortestPath": Shown("mc.ShortestPath().normalized()", "graphs"),
    "PathBag": Shown("mc.PathBag(4).normalized()", "graphs"),
    "Walk": Shown("mc.Walk(4).normalized()", "graphs"),
    "GeometricWalk": Shown("mc.GeometricWalk(0.01).normalized()", "graphs"),
    "Graphlet": Shown("mc.Graphlet(4).normalized()", "graphs"),
    "Subgraph": Shown("mc.Subgraph(4).normalized()", "graphs", "Grows exponentially in ``max_size``."),
    "VertexHistogram": Shown("mc.VertexHistogram().normalized()", "graphs"),
    "EdgeHistogram": Shown("mc.EdgeHistogram().normalized()", "marked_graphs", "O(edges)."),
    "PyramidMatch": Shown("mc.PyramidMatch().normalized()", "graphs"),
    "WassersteinWL": Shown("mc.WassersteinWL(2)", "graphs"),
    "TreeKernel": Shown("mc.TreeKernel(0.4).normalized()", "trees"),
    "GraphHopper": Shown("mc.GraphHopper(mc.Gaussian(2.0)).normalized()", "graphs_with_numbers"),
    "KernelWalk": Shown("mc.KernelWalk(3, mc.Gaussian(2.0)).normalized()", "graphs_with_numbers"),
    "HashedAttributes": Shown("mc.HashedAttributes(width=1.0).normalized()", "graphs_with_numbers"),
    "PathLength": Shown("mc.PathLength(0.5).normalized()", "graphs_with_numbers"),
    "Propagation": Shown("mc.Propagation(2, width=0.5).normalized()", "graphs_with_numbers"),
    "WassersteinAttributes": Shown("mc.WassersteinAttributes(1, 2.0)", "graphs_with_numbers"),
    "Morgan": Shown("mc.Tanimoto(mc.Morgan(2))", "molecules", FINGERPRINT),
    "TopologicalPaths": Shown("mc.Tanimoto(mc.TopologicalPaths(5))", "molecules", FINGERPRINT),
    "AtomPairs": Shown("mc.Tanimoto(mc.AtomPairs())", "molecules", FINGERPRINT),
    "Descriptors": Shown('mc.Descriptors(mc.Gaussian(0.2), ["MolWt", "TPSA", "MolLogP"])', "molecules"),
    "Coulomb": Shown("mc.Coulomb(mc.Laplacian(0.01))", "structures"),
    "Reaction": Shown("mc.Reaction().normalized()", "reactions"),
    "Reactants": Shown("mc.Reactants().normalized()", "reactions", "That of the base, on the molecules of one side."),
    "Products": Shown("mc.Products().normalized()", "reactions", "That of the base, on the molecules of one side."),
    "Agents": Shown("mc.Agents()", "reactions", "That of the base, on the agents alone."),
    "Intersection": Shown("mc.Intersection()", "sets"),
    "Tanimoto": Shown("mc.Tanimoto()", "sets", "That of the base."),
    "MinMax": Shown("mc.MinMax(mc.Linear())", "bags", "The features of the base; then Σ min of two rows of them."),
    "MeanEmbedding": Shown(
        "mc.MeanEmbedding(mc.Gaussian(2.0)).normalized()",
        "clouds",
        "|x|·|z| values of the kernel between points for a value, summed up in registers.",
    ),
    "SlicedWasserstein": Shown("mc.SlicedWasserstein(4.0)", "clouds"),
    "VisualWords": Shown(
        "mc.VisualWords(mc.KMeans(12, random_state=0), mc.ChiSquared(2.0))",
        "clouds",
        "The nearest word of each point, once; then that of the kernel of histograms.",
    ),
    "PersistenceScaleSpace": Shown("mc.PersistenceScaleSpace(0.05).normalized()", "diagrams"),
    "PersistenceWeightedGaussian": Shown(
        "mc.PersistenceWeightedGaussian(20.0, 5.0, 2.0).normalized()", "diagrams", "As for ``PersistenceScaleSpace``."
    ),
    "PersistenceSlicedWasserstein": Shown("mc.PersistenceSlicedWasserstein(2.0)", "diagrams"),
    "Diffusion": Shown("mc.Diffusion(network, 0.5)", "vertices", SPECTRAL),
    "RegularizedLaplacian": Shown("mc.RegularizedLaplacian(network, 2.0)", "vertices", SPECTRAL),
    "PStepWalk": Shown("mc.PStepWalk(network, 2.0, 4)", "vertices", SPECTRAL),
    "CommuteTime": Shown("mc.CommuteTime(network)", "vertices", SPECTRAL),
    "ExponentialDiffusion": Shown("mc.ExponentialDiffusion(network, 0.3)", "vertices", SPECTRAL),
    "MatrixPower": Shown("mc.MatrixPower(network, 4)", "vertices", SPECTRAL),
    "Fisher": Shown(
        "mc.Fisher(mc.MarkovChain().fit(letters())).normalized()",
        "letters",
        "One score for each sample; then a product of rows as long as the model has parameters.",
    ),
    "Convolution": Shown("mc.Convolution(halves, (mc.Spectrum(1), mc.Spectrum(1))).normalized()", "letters"),
    "Categorical": Shown("mc.Categorical()", "categories", COMPARED),
    "Constant": Shown("mc.Constant(2.0)", "line", "None."),
    "Function": Shown("mc.Function(nearness)", "line", "That of the function."),
    "Precomputed": Shown("mc.Precomputed(mc.Gaussian(0.5)(line()))", "rows", "A copy of entries."),
    "Outer": Shown("mc.Outer(bump)", "line", "One value of g for each sample."),
    "Nystrom": Shown(
        "mc.Nystrom(mc.Gaussian(0.5), 6, random_state=0)",
        "line",
        "n·m values of the kernel and n·m numbers of memory, in place of n².",
    ),
    "RandomFeatures": Shown("mc.RandomFeatures(mc.Gaussian(0.5), 40, random_state=0)", "line", FEATURES),
    "TensorSketch": Shown("mc.TensorSketch(mc.Polynomial(3, 1.0, 0.5), 64, 0)", "line", FEATURES),
    "HomogeneousMap": Shown("mc.HomogeneousMap(mc.HistogramIntersection(), 2)", "histograms", FEATURES),
}


def halves(x: str) -> list[tuple[str, str]]:
    """The ways to cut a string into two."""
    return [(x[:i], x[i:]) for i in range(len(x) + 1)]


def nearness(X: Any, Z: Any) -> Any:
    """1/(1 + (x − z)²), as a function of two tables."""
    return 1.0 / (1.0 + (X[:, :1] - Z[:, 0]) ** 2)


def bump(X: Any) -> Any:
    """exp(−x²), of each row."""
    return np.exp(-(X[:, 0] ** 2))


# samples of a domain, by its name
USUAL = {
    "Vectors": "line", "Sequences": "dna", "Series": "series", "Graphs": "graphs", "Molecules": "molecules",
    "Trees": "trees", "Sets": "sets", "PointSets": "clouds", "Diagrams": "diagrams", "Profiles": "protein_profiles",
}  # fmt: skip
_COSTS = {"Radial": PRODUCT, "Inner": PRODUCT, "Additive": COLUMNS, "Columnwise": COLUMNS, "Explicit": FEATURES}


def shown(name: str) -> Shown | None:
    """How the page of a kernel shows it; None where nobody has said, and its defaults or samples do not say it."""
    if name in SHOWN:
        return SHOWN[name]
    cls = getattr(mc, name, None)
    if not (isinstance(cls, type) and issubclass(cls, mc.Kernel)):
        return None
    try:
        domain = type(cls().domain).__name__
    except TypeError:  # it has no defaults
        return None
    cost = next((_COSTS[base.__name__] for base in cls.__mro__ if base.__name__ in _COSTS), "")
    return Shown(f"mc.{name}()", USUAL[domain], cost) if domain in USUAL else None


def names() -> list[str]:
    """The public kernels that are shown."""
    return [name for name in mc.__all__ if shown(name) is not None]


def kernel_of(name: str) -> mc.Kernel:
    """The kernel that the page of a class shows."""
    place: dict[str, Any] = {"mc": mc, "network": network(), "line": line, "letters": letters}
    place |= {"halves": halves, "nearness": nearness, "bump": bump}
    made: mc.Kernel = eval(how(name).kernel, place)
    return made


def samples_of(name: str) -> Samples:
    return globals()[how(name).samples]()


def said_of(name: str) -> str:
    """What the samples are, as a caption says it."""
    return str(globals()[how(name).samples].__doc__)


def how(name: str) -> Shown:
    """The same, of a kernel that is shown."""
    found = shown(name)
    assert found is not None, f"{name} is shown on nothing"
    return found
