"""The pages of the codes: their snippets run and show their code, and ``mercer help`` prints from them."""

from __future__ import annotations

import doctest
import re
from importlib.resources import files
from pathlib import Path

import pytest

from mercer.app import cli, troubleshooting
from mercer.app.troubleshooting import Entry, entries, entry_of, in_words, listed, pages
from tests.app.command import run, runner

NOT_RUN = {  # whose message cannot be had in a snippet
    "M304": "what has no result yet when a callback is asked first depends on the time it takes",
    "M402": "packages are there", "M406": "a port that is taken", "M407": "a page in a browser",
}  # fmt: skip
NEEDS = {"M110": "rdkit", "M405": "dask"}
HUNDREDS = ["data", "kernels", "solving", "machine", "files", "tables"]


@pytest.mark.thorough
@pytest.mark.parametrize("entry", entries().values(), ids=list(entries()))
@pytest.mark.filterwarnings("error")
def test_snippets_of_an_entry_run_alone(entry: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they are printed: without what stands before them on the page. Long messages are in several lines there."""
    if entry.code in NEEDS:
        pytest.importorskip(NEEDS[entry.code])
    monkeypatch.chdir(tmp_path)
    snippets = "\n".join(re.findall(r"^```python\n(.*?)^```", entry.text, re.MULTILINE | re.DOTALL))
    test = doctest.DocTestParser().get_doctest(snippets, {"__name__": "__main__"}, entry.code, None, None)
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(test)
    assert not result.failed, "a snippet shows something else than it gives: the report stands above"
    shown = any(f"[{entry.code}]" in example.want for example in test.examples)
    assert shown != (entry.code in NOT_RUN), "the entry shows a message with its code, and it is checked"
    assert f"[{entry.code}]" in entry.text


@pytest.mark.parametrize("entry", entries().values(), ids=list(entries()))
def test_an_entry_has_a_cure(entry: Entry) -> None:
    assert "**Cure.**" in entry.text
    assert not entry.title.endswith(".")
    assert len(entry.title) <= 80


def test_pages_are_by_hundreds_and_codes_in_order() -> None:
    assert [page.name for page in pages()] == HUNDREDS
    for hundred, page in enumerate(pages(), start=1):
        codes = [entry.code for entry in page.entries]
        assert codes == sorted(codes)
        assert {code[1] for code in codes} == {str(hundred)}
        text = files(troubleshooting).joinpath(f"{page.name}.md").read_text(encoding="utf-8")
        assert text.startswith(f"# {page.title}: {codes[0]} to {codes[-1]}\n")
        # an anchor that stays when the title changes, above each heading
        assert re.findall(r'<a id="(.+?)"></a>\n\n## (M\d+)', text) == [(code.lower(), code) for code in codes]
        assert len(re.findall(r"^## ", text, re.MULTILINE)) == len(codes)


def test_links_lead_somewhere() -> None:
    folder = Path(str(files(troubleshooting)))
    links = {
        (page.name, link)
        for page in pages()
        for entry in page.entries
        for link in re.findall(r"\]\((.+?)\)", entry.text)
    }
    assert len(links) > 5
    assert not [(page, link) for page, link in links if not (folder / link).resolve().is_file()]


def test_help_prints_an_entry() -> None:
    for asked in ("M101", "m101", "101", "[M101]."):
        result = runner.invoke(cli.app, ["help", asked])
        assert result.exit_code == 0
        printed = result.stdout
        assert printed.startswith("M101: A value is missing or infinite\n\n")
    assert "\n    >>> import mercer as mc\n" in printed
    assert "\nCure. Drop the row" in printed
    assert "```" not in printed
    assert "](" not in in_words(entry_of("M401"))  # links are for pages


def test_help_lists_all_codes() -> None:
    printed = run("help").stdout
    assert printed == listed() + "\n"
    for entry in entries().values():
        assert f"\n  {entry.code}  {entry.title}\n" in printed
    assert printed.index("Data\n") < printed.index("M101") < printed.index("Kernels and matrices\n")


def test_an_unknown_code_is_answered_with_those_near_it() -> None:
    said = run("help", "M102x", code=2).stderr
    assert said.startswith("mercer: There is no code 'M102x'; near are ")
    assert "M102" in said
    assert said.endswith("`mercer help` lists all. [M205]\n")
    with pytest.raises(ValueError, match=r"no code 'sunshine'\. `mercer help`"):
        entry_of("sunshine")


def test_lines_fit_the_terminal() -> None:
    for entry in entries().values():
        for line in in_words(entry, 72).splitlines():
            assert len(line) <= 72 or line.startswith(("    ", "|", entry.code)), line


def test_a_person_at_a_terminal_is_told_where_more_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cli._refuse(ValueError("It is not so. [M205]"))
    assert capsys.readouterr().err == "mercer: It is not so. [M205]\n"
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    cli._refuse(ValueError("It is not so. [M205]"))
    assert capsys.readouterr().err == "mercer: It is not so. [M205]\n(mercer help M205 says more)\n"
    cli._refuse(ValueError("It is not so."))
    assert capsys.readouterr().err == "mercer: It is not so.\n"
