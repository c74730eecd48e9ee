"""What comes in from outside, spoiled at random: every door either takes it or raises its one error.

    python tests/fuzz_doors.py --seconds 600 csv load      # the doors named, ten minutes each; all without names
    python tests/fuzz_doors.py --seed 3 --case 1234 csv    # one case again

Cases depend on the seed and their number alone. A case fails by any other error, a warning, more memory than the limit,
or more than its time; it is then written to a file beside the message. Doors: the formats of ``read_table``,
``read_tu``, ``read_graphs``, ``read_sdf``, ``parse``, ``load``, ``load_libsvm``.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import lzma
import random
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import mercer as mc
from mercer.files.readers import read_table

SECONDS_A_CASE = 20
MEMORY = 12 * 2**30  # of addresses, of which libraries reserve many
LIMIT = "32MB"  # on what is unpacked


class TooLong(BaseException):
    """A case took more than its time."""


@dataclass(frozen=True)
class Door:
    """Where something comes in: valid examples, how one is spoiled, what takes it, and the error it may raise."""

    examples: list[bytes]
    spoil: Callable[[random.Random, bytes, list[bytes]], bytes]
    enter: Callable[[bytes, Path], Any]
    error: type[Exception]


# ---------------------------------------------------------------------------------------------------------------------
# Spoiling
# ---------------------------------------------------------------------------------------------------------------------

PIECES = [
    b"", b"\0", b"\n", b"\r", b"\t", b" ", b",", b";", b"|", b'"', b"'", b"\\", b":", b"#", b">", b"<", b"(", b")",
    b"[", b"]", b"{", b"}", b"=", b"+", b"-", b"*", b"**", b".", b"..", b"1", b"0", b"-1", b"1e999", b"1e-400",
    b"0x10", b"nan", b"inf", b"Infinity", b"NA", b"true", b"null", b"\xff", b"\xfe", b"\x80", b"\xef\xbb\xbf",
    b"\xff\xfe", b"\xed\xa0\x80", "é·²ℓγ".encode(), "\U0001d538".encode(), b"2024-02-30", b"qid:1", b"$$$$", b"M  END",
    b"PK\x03\x04", b"\x1f\x8b", b"\x93NUMPY", b"9" * 19, b"9" * 400, b"1" * 5000, b"x" * 200_000, b"(" * 300,
    b'"' * 301, b"\n" * 1000, b"1:1 " * 300,
]  # fmt: skip


def in_bytes(rng: random.Random, content: bytes, examples: list[bytes]) -> bytes:
    """Some bytes changed, left out, doubled, put in from elsewhere, or cut."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8, 30])):
        at, length = rng.randrange(len(data) + 1), rng.choice([1, 1, 2, 4, 8, 64, 1000])
        match rng.randrange(9):
            case 0 | 1 if data and at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            case 2:
                del data[at : at + length]
            case 3:
                data[at:at] = data[at : at + length] * rng.choice([1, 2, 50])
            case 4 | 5:
                data[at : at + rng.choice([0, 0, 1, 4])] = rng.choice(PIECES)
            case 6:
                other = rng.choice(examples)
                start = rng.randrange(len(other) + 1)
                data[at : at + length] = other[start : start + length]
            case 7:
                del data[at:]
            case _:
                data[at : at + length] = rng.randbytes(min(length, 16))
    return bytes(data)


def in_lines(rng: random.Random, content: bytes, examples: list[bytes]) -> bytes:
    """Whole lines and fields moved about, or bytes as above."""
    if rng.random() < 0.5:
        return in_bytes(rng, content, examples)
    lines = content.split(b"\n")
    for _ in range(rng.choice([1, 2, 5])):
        i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        match rng.randrange(5):
            case 0:
                lines[i], lines[j] = lines[j], lines[i]
            case 1:
                lines.insert(i, rng.choice(examples).split(b"\n")[0])
            case 2:
                del lines[i]
                lines = lines or [b""]
            case 3:
                fields = lines[i].split(b",")
                fields[rng.randrange(len(fields))] = rng.choice(PIECES)
                lines[i] = b",".join(fields)
            case _:
                lines[i] = in_bytes(rng, lines[i], examples)
    return b"\n".join(lines)


def in_archive(rng: random.Random, content: bytes, examples: list[bytes]) -> bytes:
    """A part of a zip archive spoiled, and packed again with a right checksum; or the bytes of the archive."""
    if rng.random() < 0.3:
        return in_bytes(rng, content, examples)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {info.filename: archive.read(info) for info in archive.infolist()}
    for _ in range(rng.choice([1, 1, 2])):
        name = rng.choice(sorted(parts))
        match rng.randrange(10):
            case 0 if len(parts) > 1:
                del parts[name]
            case 1:
                parts[rng.choice(sorted(parts))] = parts[name]
            case 2:
                parts[
                    in_bytes(rng, name.encode(), [name.encode()]).decode("latin-1").replace("\0", "")[:100] or "x"
                ] = parts[name]
            case _ if name.endswith(".json"):
                parts[name] = in_tokens(rng, parts[name], [parts[name]])
            case _:
                parts[name] = in_bytes(
                    rng, parts[name][:200] if rng.random() < 0.2 else parts[name], list(parts.values())
                )
    out = io.BytesIO()
    with (
        warnings.catch_warnings(),
        zipfile.ZipFile(out, "w", rng.choice([zipfile.ZIP_STORED] * 5 + [zipfile.ZIP_DEFLATED])) as archive,
    ):
        warnings.simplefilter("ignore")  # of names that occur twice
        for name, part in parts.items():
            archive.writestr(name, part)
    return out.getvalue()


def in_tokens(rng: random.Random, content: bytes, examples: list[bytes]) -> bytes:
    """Words, numbers and signs of a text exchanged, doubled or left out; or bytes."""
    if rng.random() < 0.3:
        return in_bytes(rng, content, examples)
    tokens = _tokens(content)
    pool = _tokens(rng.choice(examples)) + [p.decode("latin-1") for p in PIECES]
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.randrange(len(tokens) + 1)
        match rng.randrange(5):
            case 0:
                del tokens[at : at + 1]
            case 1:
                tokens.insert(at, rng.choice(pool))
            case 2:
                tokens[at : at + 1] = [rng.choice(pool)]
            case 3:
                end = min(len(tokens), at + rng.randrange(1, 30))
                tokens[at:at] = tokens[at:end] * rng.choice([1, 1, 100])
            case _:
                other = rng.randrange(len(tokens) + 1)
                tokens[at:at], tokens[other:other] = tokens[other : other + 5], tokens[at : at + 5]
    return "".join(tokens).encode("utf-8", "surrogatepass")


def _tokens(content: bytes) -> list[str]:
    return re.findall(r"\w+|\s+|.", content.decode("utf-8", "surrogateescape"), re.DOTALL)


def in_packed(rng: random.Random, content: bytes, examples: list[bytes]) -> bytes:
    """A text spoiled and packed, or packed and spoiled."""
    pack = rng.choice([gzip.compress, bz2.compress, lzma.compress])
    if rng.random() < 0.3:
        return bytes(pack(in_lines(rng, content, examples) * rng.choice([1, 1, 1, 100, 20_000])))
    return in_bytes(rng, bytes(pack(content)), [bytes(pack(example)) for example in examples])


# ---------------------------------------------------------------------------------------------------------------------
# Doors
# ---------------------------------------------------------------------------------------------------------------------


def _file(name: str, read: Callable[[Path], Any]) -> Callable[[bytes, Path], Any]:
    def enter(content: bytes, folder: Path) -> Any:
        path = folder / name
        path.write_bytes(content)
        return read(path)

    return enter


def _table(name: str, **options: Any) -> Callable[[bytes, Path], Any]:
    return _file(name, lambda path: read_table(path, max_bytes=LIMIT, **options))


TABLES = [
    b"age,town,smoker\n31,Aachen,true\n,Kln,False\n7,?,TRUE\n",
    b'name;price\n"Smith; J.";1.5\n"said ""no""";2\n"two\nlines";3\n',
    b"a\tb\tday\n1\t2.5\t2024-02-29\n3\tx\t2023-01-01\n", b"1|2|3\n4|5|6\n", "größe,n\nklein,1\ngroß,2\n".encode(),
    "a,b\n1,2\n".encode("utf-16"), b"text\nGood, really\nso, so\n\nbad\n", b",a,b\n0,1,2\n1,3,4\n", b"x\r\n1\r\n2\r\n",
    b"moment,v\n2024-02-29 12:30:00,1\n2024-02-29T12:30:00.5,2\n",
]  # fmt: skip
PAIRS = [b"# note\n+1 1:0.5 3:-2e1 # x\n-1 qid:7 2:1\n\n+1\n", b"1 1000000:1\n2 5:3\n", b"0.5 0:1 1:2\n1.5 3:4\n"]
READS = [b"@r1 label=1 lane\nACGT\n+r1\nII@I\n@r2 label=0\nAC\nGT\n+\n!!\n~~\n\n", b"@a\n\n+\n\n@b\nN\n+\n+\n"]
RECORDS = [b">seq1 a gene\nACGT\nac gt\n\n; a remark\n>0\n\n>last  of all\nTTT\n", b">a\nMKV*\n>b desc\n"]


def _parquet() -> list[bytes]:
    frame = pl.DataFrame(
        {
            "a": [1, None, 3] * 40,
            "b": ["x", "NA", "y" * 30] * 40,
            "c": [0.1, float("nan"), 2.0] * 40,
            "d": [True, False, None] * 40,
        }
    )
    found = []
    for options in ({}, {"compression": "uncompressed"}, {"compression": "snappy", "row_group_size": 16}):
        out = io.BytesIO()
        frame.write_parquet(out, **options)
        found.append(out.getvalue())
    return found


def _npz() -> list[bytes]:
    contents: list[dict[str, Any]] = [
        {"X": np.arange(6.0).reshape(3, 2), "y": np.array([0, 1, 0])},
        {
            "age": np.array([1, 2]),
            "name": np.array(["p", "q"]),
            "pixel": np.zeros((2, 3), np.float16),
            "day": np.array(["2024-02-29", "NaT"], "M8[D]"),
        },
        {
            "X": np.ones((3, 2), ">i4", order="F"),
            "columns": np.array(["a", "b"]),
            "flag": np.array([True, False, True]),
        },
    ]
    found = []
    for arrays in contents:
        for write in (np.savez, np.savez_compressed):
            out = io.BytesIO()
            write(out, **arrays)
            found.append(out.getvalue())
    return found


def _tu() -> list[bytes]:
    files = {
        "A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n", "graph_indicator": "1\n1\n1\n2\n2\n", "graph_labels": "1\n-1\n",
        "node_labels": "0\n1\n0\n2\n1\n",
        "edge_labels": "0\n0\n1\n1\n0\n0\n", "node_attributes": "0.5, 1\n1, 2\n3, 4\n5, 6\n7, 8\n",
    }  # fmt: skip
    found = []
    for left_out in ("", "graph_labels", "node_attributes"):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for what, text in files.items():
                if what != left_out:
                    archive.writestr(f"SET/SET_{what}.txt", text)
        found.append(out.getvalue())
    return found


def _drawn(extension: str) -> list[bytes]:
    """Graphs as networkx writes them."""
    import networkx as nx

    found = []
    for g in (nx.path_graph(3), nx.DiGraph([("a", "b"), ("b", "a")])):
        nx.set_node_attributes(g, 1.5, "q")
        nx.set_node_attributes(g, "C", "label")
        nx.set_edge_attributes(g, "single", "label")
        out = io.BytesIO()
        {"graphml": nx.write_graphml_xml, "gexf": nx.write_gexf, "edges": nx.write_edgelist}[extension](g, out)
        found.append(out.getvalue())
    return found


def _graphs_of(extension: str) -> Door:
    def read(path: Path) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mc.IgnoredWarning)
            return mc.read_graphs(path, max_bytes=LIMIT)

    return Door(_drawn(extension), in_lines, _file(f"t.{extension}", read), mc.DataError)


def _sdf() -> list[bytes]:
    from rdkit import Chem

    blocks = []
    for smiles in ("CCO", "c1ccccc1N", "C[N+](C)(C)C", "C/C=C/C"):
        molecule = Chem.MolFromSmiles(smiles)
        blocks.append(Chem.MolToMolBlock(molecule) + "> <name>\n" + smiles + "\n\n$$$$\n")
    return ["".join(blocks).encode(), blocks[0].encode()]


def _expressions() -> list[bytes]:
    X = np.random.default_rng(0).standard_normal((5, 2))
    kernels = [
        2 * mc.Gaussian(0.5) + mc.Linear(), (mc.Linear() + 1) ** 3, mc.exp(mc.Linear()).normalized(),
        mc.Matern([1.0, 2.0], 2.5), mc.Gaussian("median").on(["age", "do'se"]), mc.polynomial(mc.Linear(), [1, 2.5]),
        mc.Spectrum(3, 1, [0.5, 1.0, 2.0]).rooted(), mc.Mismatch(3, 1, "ACGT").both_strands().over("ACGT", "letter"),
        mc.Sigmoid(-0.1, 0.3).repaired("flip"), mc.Tanimoto(mc.PathBag(2)),
        mc.Gaussian(0.3).imputed("median", True).standardized(),
        mc.WeisfeilerLehman(2, mc.ShortestPath()) * mc.Walk(2), mc.Precomputed(np.eye(2)),
        mc.Gaussian(0.3).centered().bind(X), mc.Convolution(None, mc.Spectrum(1)), mc.Diffusion(np.ones((2, 2)), 0.7),
        mc.LocalAlignment(1.0, -0.5, 2.0),
    ]  # fmt: skip
    return [form(k).encode() for k in kernels for form in (str, repr)]


def _parse(content: bytes, _: Path) -> Any:
    text = content.decode("utf-8", "surrogateescape")
    k = mc.parse(text, {"<network of 2 vertices and 3 edges>": np.ones((2, 2))})
    str(k), repr(k), hash(k)
    return k


def _models() -> list[bytes]:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, 2)), np.tile([0, 1], 6)
    frame = pl.DataFrame({"a": X[:, 0], "b": ["u", "v", None] * 4})
    graph = mc.Graph([(0, 1), (1, 2)], labels=["A", "B", "A"])
    things = [
        mc.SVC(probability=True).fit(X, y), mc.KernelRidge(kernel=mc.Gaussian(0.5).imputed()).fit(X, y.astype(float)),
        mc.Gaussian(0.5) + 2 * mc.Linear(),
        {"frame": frame, "set": {1, 2}, "objects": np.array([1, "a", None], object), 3: mc.Diffusion(np.ones((2, 2)))},
        mc.SVC(kernel=mc.WeisfeilerLehman(1)).fit([graph, mc.Graph([(0, 1)], labels=["A", "A"])] * 6, y),
        mc.GaussianMixture(2).fit(X), mc.SVC(kernel=mc.Spectrum(2)).fit(["ACGT", "TTGA"] * 6, y),
    ]  # fmt: skip
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for thing in things:
            mc.save(thing, Path(folder) / "m")
            found.append((Path(folder) / "m").read_bytes())
    return found


def _libsvm() -> list[bytes]:
    """A model of each kind of machine and kernel, as libsvm writes them."""
    rng, found = np.random.default_rng(0), []
    X = rng.standard_normal((30, 3)).round(3)
    y = rng.integers(0, 3, 30)
    kernels: list[Any] = [mc.Linear(), mc.Polynomial(2), mc.Gaussian(0.5), "precomputed"]
    machines = [mc.SVC(), mc.SVR(), mc.OneClassSVM(), mc.NuSVR()]
    with tempfile.TemporaryDirectory() as folder:
        for machine, kernel in zip(machines * 2, kernels + kernels[::-1], strict=True):
            machine.set_params(kernel=kernel).fit(X @ X.T if kernel == "precomputed" else X, y)
            mc.save_libsvm(machine, Path(folder, "m"))
            found.append(Path(folder, "m").read_bytes())
    return found


def _load_libsvm(path: Path) -> Any:
    return mc.load_libsvm(path, max_bytes=LIMIT)


def doors() -> dict[str, Callable[[], Door]]:
    """Every door, made when it is tried."""
    return {
        "csv": lambda: Door(TABLES, in_lines, _table("t.csv"), mc.DataError),
        "text": lambda: Door([*TABLES, *PAIRS], in_lines, _table("t.txt"), mc.DataError),
        "lines": lambda: Door(TABLES, in_lines, _table("t.txt", lines="text"), mc.DataError),
        "packed": lambda: Door(TABLES, in_packed, _table("t.csv.gz"), mc.DataError),
        "svmlight": lambda: Door(PAIRS, in_lines, _table("t.svm"), mc.DataError),
        "fasta": lambda: Door(RECORDS, in_lines, _table("t.fasta"), mc.DataError),
        "fastq": lambda: Door(READS, in_lines, _table("t.fastq"), mc.DataError),
        "parquet": lambda: Door(_parquet(), in_bytes, _table("t.parquet"), mc.DataError),
        "npz": lambda: Door(_npz(), in_archive, _table("t.npz"), mc.DataError),
        "tu": lambda: Door(
            _tu(), in_archive, _file("t.zip", lambda path: mc.read_tu(path, max_bytes=LIMIT)), mc.DataError
        ),
        "graphml": lambda: _graphs_of("graphml"),
        "gexf": lambda: _graphs_of("gexf"),
        "edges": lambda: _graphs_of("edges"),
        "sdf": lambda: Door(_sdf(), in_lines, _file("t.sdf", mc.read_sdf), mc.DataError),
        "parse": lambda: Door(_expressions(), in_tokens, _parse, mc.NotationError),
        "load": lambda: Door(_models(), in_archive, _file("t.mercer", mc.load), mc.ModelFileError),
        "libsvm": lambda: Door(_libsvm(), in_lines, _file("t.model", _load_libsvm), mc.ModelFileError),
    }


# ---------------------------------------------------------------------------------------------------------------------
# Trying
# ---------------------------------------------------------------------------------------------------------------------


def spoiled(door: Door, name: str, seed: int, case: int) -> bytes:
    rng = random.Random(f"{seed} {name} {case}")
    return door.spoil(rng, rng.choice(door.examples), door.examples)


def attempt(door: Door, content: bytes, folder: Path) -> str | None:
    """What is wrong with how a door took some content; None if nothing is."""

    def too_long(*_: object) -> None:
        raise TooLong

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS_A_CASE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            door.enter(content, folder)
    except door.error as error:
        long = len(str(error)) > 2000
        str(error).encode()
        return f"a message of {len(str(error))} characters" if long else None
    except KeyboardInterrupt:
        raise
    except BaseException:
        return traceback.format_exc()
    finally:
        signal.alarm(0)
    return None


def try_door(name: str, door: Door, seed: int, cases: range, seconds: float) -> tuple[int, int]:
    """How many cases were tried, and how many failed, which are told."""
    start, tried, failed, seen = time.monotonic(), 0, 0, set()
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            if time.monotonic() - start > seconds:
                break
            content = spoiled(door, name, seed, case)
            (Path(folder) / "case").write_text(str(case))
            found, tried = attempt(door, content, Path(folder)), tried + 1
            if found is None:
                continue
            failed += 1
            kind = found.splitlines()[-1][:60]
            if kind not in seen:  # one of a kind is enough
                seen.add(kind)
                kept = Path(tempfile.gettempdir()) / f"fuzz_{name}_{seed}_{case}"
                kept.write_bytes(content)
                sys.stdout.write(f"{name}: case {case} of seed {seed}, kept as {kept}:\n{found[-3000:]}\n")
    return tried, failed


def main() -> int:
    known = doors()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="door", help=f"of {', '.join(known)}; all without names")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each door")
    parser.add_argument("--cases", type=int, default=10**9, help="at most, for each door")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="try this one alone")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    cases = range(options.cases) if options.case is None else range(options.case, options.case + 1)
    bad = 0
    for name in options.names or known:
        tried, failed = try_door(name, known[name](), options.seed, cases, options.seconds)
        sys.stdout.write(f"{name}: {tried} cases, {failed} failed\n")
        sys.stdout.flush()
        bad += failed
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
