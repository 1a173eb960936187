"""A conversion gives the counts that a reader finds in two real arXiv sources."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import orjson
import pytest

from pdf2tei.latex_references import parse_reference
from s2orc_parse.latex import convert
from s2orc_parse.parse_model import CitationStyle, Parse, RefType
from tests.unit.parse_laws import check_laws

S2ORC, SCIFACT = "1911.02782.gz", "2004.14974.gz"


@cache
def parsed(path: Path) -> Parse:
    return convert(path.read_bytes(), sha1="0" * 40, parse_reference=parse_reference)


def count(parse: Parse, kind: RefType) -> int:
    return sum(entry.type is kind for entry in parse.ref_entries)


def linked(parse: Parse) -> int:
    """Return the number of linked citation keys in texts, captions, footnotes and cells."""
    paragraphs = (*parse.abstract, *parse.body_text, *parse.back_matter)
    spans = [span for paragraph in paragraphs for span in paragraph.cite_spans]
    spans += [span for entry in parse.ref_entries for span in entry.cite_spans]
    spans += [cell.span for entry in parse.ref_entries for cell in entry.cell_cites]
    return sum(span.ref_id is not None for span in spans)


@pytest.mark.parametrize(
    ("name", "expected", "words"),
    [
        (S2ORC, {"sections": 27, "entries": 55, "citations": 88, "tables": 10, "formulas": 3, "captions": 13}, 4929),
        (SCIFACT, {"sections": 34, "entries": 36, "citations": 49, "tables": 14, "formulas": 0, "captions": 21}, 5130),
    ],
)
def test_real_source_has_the_counts_of_a_reader(
    shared_data: Path, name: str, expected: dict[str, int], words: int
) -> None:
    parse = parsed(shared_data / "latex" / name)
    check_laws(parse)
    assert parse.citation_style is CitationStyle.NAME_YEAR
    floats = [entry for entry in parse.ref_entries if entry.type in (RefType.FIGURE, RefType.TABLE)]
    assert expected == {
        "sections": count(parse, RefType.SECTION),
        "entries": len(parse.bib_entries),
        "citations": linked(parse),
        "tables": sum(bool(entry.cells) for entry in parse.ref_entries),
        "formulas": count(parse, RefType.FORMULA),
        "captions": sum(bool(entry.text) for entry in floats),
    }
    assert [e.ref_id for e in parse.bib_entries if not (e.title and e.authors and e.year)] == []
    assert {span.ref_id for p in parse.body_text for span in p.cite_spans} <= {e.key for e in parse.bib_entries}
    assert sum(len(p.text.split()) for p in parse.body_text) == pytest.approx(words, rel=0.05)


def test_table_with_subtables_has_all_their_rows(shared_data: Path) -> None:
    tables = {
        entry.num: entry for entry in parsed(shared_data / "latex" / SCIFACT).ref_entries if entry.key.startswith("TAB")
    }
    whole, first, second = tables["2"], tables["2a"], tables["2b"]
    assert first.cells and second.cells
    assert whole.cells == first.cells + second.cells
    assert first.cells[0] == ("Fold", "Supports", "NoInfo", "Refutes", "All")


def test_command_converts_archives_and_lists_rejects(shared_data: Path, tmp_path: Path) -> None:
    from click.testing import CliRunner

    from s2corpus.commands.parses import latex_command as command

    broken = [tmp_path / f"{name}.gz" for name in ("broken", "another", "third")]
    for file in broken:
        file.write_bytes(b"\x1f\x8b nothing")
    out, rejects = tmp_path / "parses.jsonl", tmp_path / "rejects.jsonl"
    inputs = [broken[0], shared_data / "latex" / SCIFACT, *broken[1:]]
    result = CliRunner().invoke(
        command,
        [*map(str, inputs), "--workers", "2", "--out", str(out), "--rejects", str(rejects)],
    )
    assert result.exit_code == 0, result.output
    (line,) = [orjson.loads(line) for line in out.read_bytes().splitlines()]
    assert line["paper_id"] == "2004.14974" and len(line["bib_entries"]) == 36
    assert line["provenance"]["extractor"] == "pandoc"
    rejected = [orjson.loads(line) for line in rejects.read_bytes().splitlines()]
    assert [(row["name"], row["outcome"]) for row in rejected] == [(file.name, "damaged") for file in broken]
