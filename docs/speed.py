"""What the benchmarks promise, what their last runs said, and what the files of results hold: ``python docs/speed.py``
writes them into ``speed.md``, from the docstrings of ``benchmarks/bench_*.py`` and from ``benchmarks/results``.
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
    lines = (BENCHMARKS / "results" / "verdicts.jsonl").read_text(encoding="utf-8").splitlines()
    kept = {run["benchmark"]: run for run in map(json.loads, lines)}
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
    text = (DOCS / "speed.md").read_text(encoding="utf-8")
    for what, content in (("promises", promises()), ("runs", runs()), ("results", results())):
        start, end = MARK.format("start", what), MARK.format("end", what)
        before, _, rest = text.partition(start)
        text = f"{before}{start}\n\n{content}\n\n{end}{rest.partition(end)[2]}"
    return text


def is_current() -> bool:
    """Whether the page says what the files say now."""
    return page() == (DOCS / "speed.md").read_text(encoding="utf-8")


if __name__ == "__main__":
    (DOCS / "speed.md").write_text(page(), encoding="utf-8")
