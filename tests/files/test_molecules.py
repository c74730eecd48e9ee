"""Files of molecules and sequences as tables: what is read, typed and refused."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import mercer as mc
from mercer.data import DataError
from mercer.files.readers import read_table
from tests.files.written import file_of
from tests.fuzz_doors import Door, _sdf, _table, attempt, in_lines, spoiled

UNIPROT = (
    ">sp|P99999|CYC_HUMAN Cytochrome c OS=Homo sapiens OX=9606 GN=CYCS PE=1 SV=2\nMGDVEK\nGKKIF\n"
    ">sp|P62897|CYC_RAT Cytochrome c, somatic OS=Rattus norvegicus OX=10116 PE=1 SV=2\nMGDVEK\n"
)


def _packed(folder: Path, text: str, name: str) -> list[Path]:
    """A file as it is, and by gzip."""
    return [file_of(folder, text, name), file_of(folder, gzip.compress(text.encode()), f"{name}.gz")]


# -- sequences --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["fa", "fasta", "fna", "faa", "ffn"])
def test_fields_that_every_header_has_are_columns(tmp_path: Path, suffix: str) -> None:
    for path in _packed(tmp_path, UNIPROT, f"p.{suffix}"):
        assert_frame_equal(
            read_table(path, sparse=False),
            pl.DataFrame(
                {
                    "id": ["sp|P99999|CYC_HUMAN", "sp|P62897|CYC_RAT"],
                    "description": ["Cytochrome c GN=CYCS", "Cytochrome c, somatic"],  # the second has no GN
                    "sequence": ["MGDVEKGKKIF", "MGDVEK"],
                    "OS": ["Homo sapiens", "Rattus norvegicus"],
                    "OX": [9606, 10116],
                    "PE": [1, 1],
                    "SV": [2, 2],
                }
            ),
        )


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (["a label=1", "b label=0"], {"id": ["a", "b"], "label": [1, 0]}),
        (["a|label=yes|x=1.5", "b|x=2|label=no"], {"id": ["a", "b"], "label": ["yes", "no"], "x": [1.5, 2.0]}),
        (["a;x=1;y=NA", "b y=2 x="], {"id": ["a", "b"], "x": [1, None], "y": [None, 2]}),
        (["a 1", "b 0"], {"id": ["a", "b"], "description": [1, 0]}),
        (["a enzyme", "b"], {"id": ["a", "b"], "description": ["enzyme", None]}),
        (["7", "8"], {"id": ["7", "8"]}),
        (["x=1", "x=2"], {"id": ["x=1", "x=2"]}),
        (["a x=1", "b y=1"], {"id": ["a", "b"], "description": ["x=1", "y=1"]}),
        (["a|u=3 x=1", "b x=2"], {"id": ["a|u=3", "b"], "x": [1, 2]}),
        (["a x=1 x=2", "b x=2"], {"id": ["a", "b"], "description": ["x=1 x=2", "x=2"]}),
        (["a id=5 k=2", "b id=6 k=1"], {"id": ["a", "b"], "description": ["id=5", "id=6"], "k": [2, 1]}),
        (["a k=true | rest", "b k=false"], {"id": ["a", "b"], "description": ["| rest", None], "k": [True, False]}),
    ],
)
def test_headers(tmp_path: Path, headers: list[str], expected: dict[str, Any]) -> None:
    found = read_table(file_of(tmp_path, "".join(f">{h}\nACGT\n" for h in headers), "s.fa"), sparse=False)
    assert found["sequence"].to_list() == ["ACGT", "ACGT"]
    assert found.drop("sequence").to_dict(as_series=False) == expected
    assert set(found.columns[:3]) >= {"id", "sequence"}


def test_headers_take_time_as_they_are_long(tmp_path: Path) -> None:
    """Hours, if it were the square of their length."""
    for header in (" " * 300_000, " x=" * 100_000, " x" + "=" * 300_000, "|a." * 100_000, " x=1" + " " * 300_000 + "b"):
        assert read_table(file_of(tmp_path, f">a{header}\nACGT\n", "s.fa"), sparse=False).height == 1


# -- SMILES -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["smi", "smiles"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CCO\nCC\n", {"smiles": ["CCO", "CC"]}),
        ("CCO ethanol\n\nCC  ethane\n", {"smiles": ["CCO", "CC"], "name": ["ethanol", "ethane"]}),
        ("CCO ethyl alcohol\nCC\n", {"smiles": ["CCO", "CC"], "name": ["ethyl alcohol", None]}),
        ("CCO\ta b\t1\nCC\t\t2\n", {"smiles": ["CCO", "CC"], "name": ["a b", None], "column_3": [1, 2]}),
        ("CCO a 1 x\nCC b 2.5 y\n", {"smiles": ["CCO", "CC"], "name": ["a", "b"], "column_3": [1.0, 2.5],
                                     "column_4": ["x", "y"]}),
        ("SMILES ID logP\nCCO a -0.1\nCC b 1.8\n", {"smiles": ["CCO", "CC"], "ID": ["a", "b"], "logP": [-0.1, 1.8]}),
        ("canonical_smiles\tthe name\nCCO\ta b\nCC\tc\n", {"smiles": ["CCO", "CC"], "the name": ["a b", "c"]}),
        ("smiles name\nCCO ethyl alcohol\nCC ethane\n", {"smiles": ["CCO", "CC"], "name": ["ethyl alcohol", "ethane"]}),
        ("smiles name\nCCO\ta b\nCC\tethane\n", {"smiles": ["CCO", "CC"], "name": ["a b", "ethane"]}),
        ("smiles\nCCO\n", {"smiles": ["CCO"]}),
        ("CCO\ta\n\tb\n", {"smiles": ["CCO", None], "name": ["a", "b"]}),
        ("CCO 7\nCC 8\n", {"smiles": ["CCO", "CC"], "name": [7, 8]}),
    ],
)  # fmt: skip
def test_smiles(tmp_path: Path, suffix: str, text: str, expected: dict[str, Any]) -> None:
    for path in _packed(tmp_path, text, f"m.{suffix}"):
        assert read_table(path, sparse=False).to_dict(as_series=False) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CCO a\nCC(( b c\n", r"m\.smi, line 2 \(record 2, 'b c'\): 'CC\(\(' is not a SMILES.*mend the line"),
        ("\nsmiles\n\nCCO\nCl(C)(C)C\n", r"m\.smi, line 5 \(record 2\): 'Cl\(C\)\(C\)C' is not a SMILES"),
        ("CCO,1\nCC,2\n", r"'CCO,1' is not a SMILES.*with commas, name the file \.csv"),
        ("smiles\n", "a header but no rows"),
        ("smiles y y\nC 1 2\n", "columns 2 and 3 are both named 'y'"),
        ("smiles name y\nC a 1\nCC ethyl alcohol 1\n", r"line 3 \(record 2, 'ethyl'\): it has 4 fields.*tabs"),
        ("smiles name y\nC a 1\nCC 1\n", r"line 3 \(record 2, '1'\): it has 2 fields, the first line has 3"),
        ("smiles\nCCO ethanol\n", r"line 2 \(record 1, 'ethanol'\): it has 2 fields, the first line has 1"),
    ],
)
def test_smiles_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    pytest.importorskip("rdkit")
    with pytest.raises(DataError, match=message):
        read_table(file_of(tmp_path, text, "m.smi"))


def test_smiles_without_rdkit_are_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "rdkit", None)
    found = read_table(file_of(tmp_path, "CCO a\nCC(( b\n", "m.smi"), sparse=False)
    assert found["smiles"].to_list() == ["CCO", "CC(("]


# -- SDF --------------------------------------------------------------------------------------------------------------


def _sdf_of(smiles: list[str], titles: list[str], fields: list[dict[str, str]]) -> str:
    chem = pytest.importorskip("rdkit.Chem")
    out = ""
    for text, title, data in zip(smiles, titles, fields, strict=True):
        block = chem.MolToMolBlock(chem.MolFromSmiles(text))
        out += title + block[block.index("\n") :]
        out += "".join(f">  <{name}>  (1)\n{value}\n\n" for name, value in data.items()) + "$$$$\n"
    return out


def test_sdf(tmp_path: Path) -> None:
    smiles = ["CCO", "Nc1ccccc1", "C/C=C/C", "C[C@H](N)C(=O)O", "C[N+](C)(C)C"]
    fields = [
        {"LogP": "-0.3", "rings": "0", "IC50": ">100"},
        {"LogP": "0.9", "rings": "1", "active": "true"},
        {"LogP": "NA", "rings": "0", "note": "two\n lines"},
        {"LogP": "-3", "rings": "0", "active": "False", "IC50": "> 5 < 7"},
        {"LogP": "", "rings": "0", "seen": "2024-02-29", "*": "x"},
    ]
    for path in _packed(tmp_path, _sdf_of(smiles, ["ethanol", "", "b", "7", "> <x>"], fields), "m.sdf"):
        found = read_table(path, sparse=False)
        assert found.columns == ["smiles", "name", "LogP", "rings", "IC50", "active", "note", "seen", "*"]
        assert found["smiles"].to_list() == smiles
        assert found["name"].to_list() == ["ethanol", None, "b", "7", "> <x>"]
        assert found["LogP"].to_list() == [-0.3, 0.9, None, -3.0, None]
        assert found["rings"].to_list() == [0, 1, 0, 0, 0]
        assert found["IC50"].to_list() == [">100", None, None, "> 5 < 7", None]
        assert found["active"].to_list() == [None, True, None, False, None]
        assert found["note"].to_list() == [None, None, "two\n lines", None, None]
        assert found["seen"].dtype == pl.Date
        assert read_table(path, columns=["LogP", "smiles"], sparse=False).columns == ["LogP", "smiles"]


def test_the_smiles_are_those_that_rdkit_gives_for_the_file(tmp_path: Path) -> None:
    chem = pytest.importorskip("rdkit.Chem")
    smiles = ["CC(=O)Oc1ccccc1C(=O)O", "F/C=C\\F", "[O-][N+](=O)c1ccccc1", "C[C@@H](O)CC", "[2H]C([2H])O"]
    text = _sdf_of(smiles, [""] * 5, [{}] * 5).removesuffix("$$$$\n")  # which the last record may lack
    path = file_of(tmp_path, text.replace("\n", "\r\n"), "m.sdf")
    assert read_table(path, sparse=False).columns == ["smiles"]
    assert read_table(path, sparse=False)["smiles"].to_list() == [chem.MolToSmiles(m) for m in mc.read_sdf(path)]


def test_fields_that_are_named_as_a_column(tmp_path: Path) -> None:
    fields = [{"smiles": "OCC", "name": "x", "name_field": "1"}]
    for title, columns in (
        ("ethanol", ["smiles", "name", "smiles_field", "name_field_field", "name_field"]),
        ("", ["smiles", "smiles_field", "name", "name_field"]),
    ):
        found = read_table(file_of(tmp_path, _sdf_of(["CCO"], [title], fields), "m.sdf"), sparse=False)
        assert found.columns == columns
        assert found.row(0)[0] == "CCO"
        assert found["name_field"].to_list() == [1]


def test_sdf_that_is_refused(tmp_path: Path) -> None:
    good = _sdf_of(["CC", "CCO"], ["ethane", "ethanol"], [{"y": "1"}, {"y": "2"}])
    for text, message in (
        (good.replace(" O ", " Qx", 1), r"m\.sdf, record 2 \('ethanol'\): RDKit cannot read its structure; mend it"),
        (good[: good.index("M  END")], r"record 1 \('ethane'\): RDKit cannot read"),
        ("nothing\n", r"record 1 \('nothing'\)"),
        (good.replace("<y>", "<>", 1), r"record 1 \('ethane'\): the line '>  <>  \(1\)' is of no field"),
        (good.replace("2\n\n", "2\n\nmore\n", 1), r"record 2 \('ethanol'\): the line 'more' is of no field"),
        (good.replace("2\n\n", "2\n\n> <y>\n3\n\n", 1), r"record 2 \('ethanol'\): the field 'y' is there twice; leave"),
        ("$$$$\n" + good, r"record 1 \(no title\): RDKit cannot read"),
    ):  # fmt: skip
        with pytest.raises(DataError, match=message):
            read_table(file_of(tmp_path, text, "m.sdf"))


# -- limits, and what is spoiled --------------------------------------------------------------------------------------


def test_sizes_are_limited(tmp_path: Path) -> None:
    sdf = _sdf_of(["C"] * 300, [""] * 300, [{f"field_{i}": "1"} for i in range(300)])
    smi = "C\t" + "1\t" * 4000 + "\n" + "C\ta\n" * 4000
    for text, name in ((sdf, "m.sdf"), (smi, "m.smi")):
        for path in _packed(tmp_path, text, name):
            with pytest.raises(DataError, match=r"fields of 16 bytes at least.*more than the 1 MB"):
                read_table(path, max_bytes="1MB")
    for text, name in ((sdf, "m.sdf"), ("C a\n" * 10_000, "m.smi"), (">a b=1\nAC\n" * 10_000, "s.fa")):
        for path in _packed(tmp_path, text, name):
            with pytest.raises(DataError, match=r"more than the 0\.03 MB that may be read of one file.*max_bytes"):
                read_table(path, max_bytes=30_000)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["t.smi", "t.sdf", "t.fa"])
def test_whatever_comes_in_is_taken_or_refused_in_words(name: str, tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    examples = {
        "t.smi": [b"CCO ethanol\nCC ethane\n", b"smiles\tname\ty\nCCO\tethyl alcohol\t1\nc1ccccc1\t\t2\n"],
        "t.sdf": _sdf(),
        "t.fa": [UNIPROT.encode(), b">a|x=1\nAC\n>b|x=2\nGT\n"],
    }[name]
    door = Door(examples, in_lines, _table(name), DataError)
    for case in range(150):
        assert attempt(door, spoiled(door, name, 0, case), tmp_path) is None
