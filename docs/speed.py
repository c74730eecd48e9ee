"""What the benchmarks promise, what their last runs said, and what the files of results hold: ``python docs/speed.py``
writes them into ``speed.md``, from the docstrings of ``benchmarks/bench_*.py`` and from ``benchmarks/results``; some of
it into the README.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
BENCHMARKS = DOCS.parent / "benchmarks"
MARK = "<!-- {} of what docs/speed.py writes: {} -->"

SUBJECTS = {
    "Vectors and matrices": "gram product formula columns sparse",
    "Support vector machines": "svm svm_data svm_growth svm_limits svm_predict svm_small",
    "Ridge and other losses": "ridge losses uci metrics centers large_data",
    "Strings and series": "strings string_data string_growth gkm centers_strings series hmm",
    "Graphs, molecules, sets": "graphs graph_data attributes molecules nodes clouds",
    "Without labels": "kpca kmeans mixture cca novelty tests",
    "Several kernels": "mkl mkl_sets mkl_views",
    "From a table to a model": "fit fit_large fit_molecules",
    "Streams, clusters, cards": "streams cluster cluster_peers gpu gpu_centers gpu_ridge",
    "Waiting, memory, what is foreseen": "checks first_fit interrupts memory cost play",
}

# of the README: what is done, the benchmark, and how the verdicts begin that say how many times as fast it is
CHOSEN = [
    ("Gaussian matrix, 10 000 × 10 000, float32", "gram", "Gaussian Gram 10000², d = 64, float32"),
    ("K v, 50 000 samples, K never stored", "product", "K v, n = 50000, d = 20, float32"),
    ("support vector machine, 30 000 samples, C = 1", "svm", "n = 30000, d = 20, C = 1, median"),
    ("its values on 100 000 samples", "svm_predict", "6902 support vectors, d = 64"),
    ("ridge, 20 λ and their errors, 3000 samples", "ridge", "20 λ, n = 3000, d = 20"),
    ("kernel k-means, 5000 samples", "kmeans", "Kernel k-means, n = 5000, k = 10, 10 starts"),
    ("Gaussian mixture, 100 000 samples", "mixture", "full, n = 100000, d = 20, k = 20, 20 steps of EM"),
    ("test of two samples, 2000 permutations", "tests", "MMD, 2 × 2000 points, 2000 permutations"),
    ("strings by words of 8 letters, 2000", "strings", "Spectrum(8), 2000 DNA strings of 300–1000 letters"),
    ("time series by alignment, 200", "strings", "GlobalAlignment(3), 200 walks of length 100 (200, 100)"),
    ("graphs by Weisfeiler–Lehman, 4110", "graphs", "WeisfeilerLehman(5), NCI1, 4110 graphs"),
    ("graphs by shortest paths, 4110", "graphs", "ShortestPath(), NCI1, 4110 graphs"),
]
NOT_PEERS = ("recipe", "peak memory", "NumPy", "the time of")  # what one would write oneself is in speed.md


def benchmarks() -> dict[str, str]:
    """The docstring of each benchmark, by its name."""
    found = {}
    for path in sorted(BENCHMARKS.glob("bench_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found[path.stem.removeprefix("bench_")] = ast.get_docstring(tree) or ""
    return found


def promised(docstring: str) -> str:
    """The promise as a paragraph of Markdown: the first of the docstring, and the next where the bounds stand there."""
    first, *rest = docstring.split("\n\n")
    if rest and (first.rstrip().endswith(":") or (not re.search("[≥≤<]", first) and re.search("[≥≤<]", rest[0]))):
        first = f"{first} {rest[0]}"
    text = re.sub(r"^Promises?[:,]? *", "", " ".join(first.replace("``", "`").split()))
    text = re.sub(r" Arguments:? .*$", "", text)
    text = re.sub(r"(?<=[:;]) - ", " ", text)  # a list is told as a sentence
    return (text[0].upper() + text[1:]).replace("<", "&lt;").replace("*", "\\*").replace("|", "\\|")


def promises() -> str:
    """All promises, by subject; what no subject names comes last."""
    told = benchmarks()
    named = [name for names in SUBJECTS.values() for name in names.split()]
    subjects = {title: names.split() for title, names in SUBJECTS.items()}
    if others := [name for name in told if name not in named]:
        subjects["Others"] = others
    lines = []
    for title, names in subjects.items():
        lines.append(f"### {title}\n")
        lines += [f"- `{name}`: {promised(told[name])}" for name in names if name in told]
        lines.append("")
    return "\n".join(lines).rstrip()


def runs() -> str:
    """What the last run of each benchmark said, by subject: its verdicts, where and when."""
    kept = _kept()
    said = []
    for title, names in SUBJECTS.items():
        here = [kept[name] for name in names.split() if name in kept]
        if here:
            said.append(f"### {title}: last runs\n")
            said += [f"{_where(run)}\n\n```text\n" + "\n".join(run["verdicts"]) + "\n```\n" for run in here]
    waiting = [f"`{name}`" for names in SUBJECTS.values() for name in names.split() if name not in kept]
    if waiting:
        said.append(f"No run is kept of {', '.join(waiting)}.")
    return "\n".join(said).rstrip()


def chosen() -> str:
    """The table of the README: how many times as fast as which other library."""
    rows = ["| | times as fast as | measured by |", "|---|---|---|"]
    for what, name, begin in CHOSEN:
        said = [line.partition(f" {begin}, ")[2] for line in _kept().get(name, {"verdicts": []})["verdicts"]]
        found = [re.fullmatch(r"(.+?): ([\d.]+)× .*", line) for line in said if not line.startswith(NOT_PEERS)]
        peers = [f"{_plain(match[1])} **{float(f'{float(match[2]):.2g}'):g}×**" for match in found if match]
        if peers:
            rows.append(f"| {what} | {', '.join(peers)} | `python -m benchmarks {name}` |")
    runs = [_kept()[name] for _, name, _ in CHOSEN if name in _kept()]
    dates = sorted({run["date"] for run in runs})
    machines = sorted({run["machine"] for run in runs})
    return "\n".join(rows) + f"\n\n{'; '.join(machines)}, {' to '.join(dict.fromkeys([dates[0], dates[-1]]))}."


def _plain(peer: str) -> str:
    """The name of a library without what is said of it."""
    return re.sub(r" (rbf_kernel|in chunks|arpack|cdist_gak|\+).*|\(.*\)", "", peer).replace(
        "GridSearch", "scikit-learn's GridSearch"
    )


def _kept() -> dict[str, dict[str, Any]]:
    lines = (BENCHMARKS / "results" / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    return {run["benchmark"]: run for run in map(json.loads, lines)}


def _where(run: dict[str, Any]) -> str:
    short = sum(line.startswith("FELL SHORT") for line in run["verdicts"])
    kept = sum(line.startswith("kept") for line in run["verdicts"])
    busy = f", with a load of {run['load']:g}" if run["load"] > 2.5 else ""
    stopped = "" if run["ended"] else "; stopped before its end"
    return f"`{run['benchmark']}`: {kept} kept, {short} short. {run['machine']}{busy}, {run['date']}{stopped}."


def results() -> str:
    """The table of the files, and the verdicts of ``bench_fit`` on what ``fit.jsonl`` holds."""
    readme = (BENCHMARKS / "results" / "README.md").read_text(encoding="utf-8")
    table = "\n".join(line for line in readme.splitlines() if line.startswith("|"))
    lines = [line.strip() for line in verdicts().splitlines() if line.strip()]
    return f"{table}\n\n```text\n" + "\n".join(lines) + "\n```"


def verdicts() -> str:
    """What ``bench_fit`` says of its kept rows."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import bench_fit
    finally:
        sys.path.remove(str(BENCHMARKS))
    rows: dict[str, Any] = bench_fit.kept(BENCHMARKS / "results" / "fit.jsonl", 60.0)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        bench_fit.judge(list(rows.values()))
    return said.getvalue()


def page() -> str:
    """``speed.md`` with all of it written anew."""
    return _written(DOCS / "speed.md", {"promises": promises(), "runs": runs(), "results": results()})


def readme() -> str:
    """The README with its table written anew."""
    return _written(DOCS.parent / "README.md", {"speed": chosen()})


def _written(path: Path, parts: dict[str, str]) -> str:
    text = path.read_text(encoding="utf-8")
    for what, content in parts.items():
        start, end = MARK.format("start", what), MARK.format("end", what)
        before, _, rest = text.partition(start)
        text = f"{before}{start}\n\n{content}\n\n{end}{rest.partition(end)[2]}"
    return text


def is_current() -> bool:
    """Whether the pages say what the files say now."""
    pages = {DOCS / "speed.md": page(), DOCS.parent / "README.md": readme()}
    return all(text == path.read_text(encoding="utf-8") for path, text in pages.items())


if __name__ == "__main__":
    for path, text in ((DOCS / "speed.md", page()), (DOCS.parent / "README.md", readme())):
        path.write_text(text, encoding="utf-8")
