"""SPEC §0.23, §0.24: every source's titles are cleaned at intake, and name the kind of document."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from s2corpus.commands.records import command
from s2corpus.sources import Record, RecordKind
from s2corpus.sources.arrow import read_records
from s2corpus.sources.build import RawRecord
from s2corpus.sources.record import Editorial, EditorialNotice
from s2orc_parse.bibliography.names import parse_authors

DOI = "10.1016/j.jaci.2010.01"


def make_record(title: str, authors: str = "", kind: RecordKind = RecordKind.ARCHIVE, **fields: Any) -> Record:
    raw = RawRecord("x:1", "x", kind, "1", title=title, authors=parse_authors(authors), doi=DOI, **fields)
    record = raw.normalize()
    assert isinstance(record, Record)
    return record


@pytest.mark.parametrize(
    ("given", "title"),
    [
        ("The Core of the IS Discipline1", "The Core of the IS Discipline"),
        ("THE CORE OF THE IS DISCIPLINE1", "THE CORE OF THE IS DISCIPLINE"), ("The core of the discipline¹", "The core of the discipline"),
        ("The core of the discipline<sup>1</sup>.", "The core of the discipline"),
        ("The core of the discipline &lt;sup&gt;*&lt;/sup&gt;", "The core of the discipline"),
        ("The core of the discipline {1}", "The core of the discipline"),
        ("The core of the discipline $^{1}$", "The core of the discipline"),
        ("Uremic syndrome (multiple letters) [1]", "Uremic syndrome (multiple letters)"),
        ("RESEARCH ARTICLE Mapping of rivers", "Mapping of rivers"), ("Original Paper: Mapping of rivers", "Mapping of rivers"),
        ("Data Descriptor: Mapping of rivers", "Mapping of rivers"), ("Chapter 11 - Mapping of rivers", "Mapping of rivers"),
        ("Mapping of rivers 06 Biological Sciences 0604 Genetics", "Mapping of rivers"),
        ("Mapping of rivers in ports; [Mapeamento de rios]; [Mapeo de [los] ríos].", "Mapping of rivers in ports"),
        ("Mapping of rivers**This research is supported by the Foundation", "Mapping of rivers"),
    ],
)  # fmt: skip
def test_marks_and_headings_leave_the_title(given: str, title: str) -> None:
    record = make_record(given)
    assert record.title == title
    assert record.original_title is not None


@pytest.mark.parametrize(
    "title",
    [
        "COVID-19", "A study of COVID-19", "Lemmas on walks, Part 2", "Web 2.0", "Exposure to PM2.5", "Role of CD4", "Influenza H1N1",
        "Psycholinguistics 101", "Diabetes mellitus type 1", "Signaling by Notch1", "Galectin1", "Role of BRCA1", "The Internet2",
        "Searching for MobileNetV3", "Area in km²", "Studies of WO₃", "Linear dose - response", "Catch-22", "Bakeoff3",
        "Research article abstracts in applied linguistics", "Position: A* and LPA*", "Chapter 11", "Genes of 10 species and 1000 genomes",
        "Speculative language in biomedical research articles: a perspective", "Endocarditis: a case report - and review of the literature",
        "Trends of open access: an analysis", "Reactions of A; [Ru(bpy)3]", "Ports; [a port of call] and rivers",
    ],
)  # fmt: skip
def test_words_and_numbers_of_the_title_remain(title: str) -> None:
    record = make_record(title)
    assert (record.title, record.original_title, record.document) == (title, None, None)


@pytest.mark.parametrize(
    ("given", "authors", "title"),
    [
        ("Notes on engines today Ada Lovelace and Charles Babbage", "Ada Lovelace; Charles Babbage", "Notes on engines today"),
        ("Notes on engines today, A. Lovelace, C. Babbage", "Ada Lovelace; Charles Babbage", "Notes on engines today"),
        ("Notes on engines today A Lovelace and C Babbage", "Ada Lovelace; Charles Babbage; Alan Turing", "Notes on engines today"),
        ("Notes on engines today Ada Lovelace*", "Ada Lovelace", "Notes on engines today"),
        ("An evening with Ada Lovelace", "Ada Lovelace", "An evening with Ada Lovelace"),
        ("Lives in science: Ada Lovelace", "Ada Lovelace", "Lives in science: Ada Lovelace"),
        ("The letters of Ada Lovelace and Charles Babbage", "Ada Lovelace; Charles Babbage",
         "The letters of Ada Lovelace and Charles Babbage"),
        ("Notes on engines today Ada Lovelace", "Ada Lovelace; Alan Turing", "Notes on engines today Ada Lovelace"),
    ],
)  # fmt: skip
def test_author_line_leaves_the_title(given: str, authors: str, title: str) -> None:
    assert make_record(given, authors).title == title


@pytest.mark.parametrize(
    "given",
    [
        "Journal of the Association for Information", "Limnology and", "RESEARCH ARTICLE", "Original Article",
        "Lovelace et al. / Limnology 12 (2010) 1-10", "Contents lists available at ScienceDirect", "ISSN 1234-5678",
    ],
)  # fmt: skip
def test_header_titled_by_its_journal_has_no_title(given: str) -> None:
    record = make_record(given, kind=RecordKind.PDF, journal="Limnology and Oceanography")
    assert (record.title, record.original_title) == (None, given)


@pytest.mark.parametrize("journal", ["Wood", "Limnology and Oceanography", "Ökologie"])
def test_name_of_the_own_journal_is_no_title(journal: str) -> None:
    for kind in (RecordKind.PUBLISHER, RecordKind.ARCHIVE, RecordKind.PDF):
        assert make_record(journal.upper(), kind=kind, journal=journal).title is None
    assert make_record(journal).document is None
    assert make_record(journal, journal=journal).document == "front matter"
    assert make_record(f"{journal} of a lake", journal=journal).title == f"{journal} of a lake"
    assert make_record(journal, venue=journal).title == journal, "a chapter may have the title of its book"


def test_prefix_of_a_retracted_work_becomes_its_status() -> None:
    for given, status in (("RETRACTED: Mapping rivers", "retracted"), ("WITHDRAWN: Mapping rivers", "withdrawn")):
        record = make_record(given)
        assert (record.title, record.original_title, record.editorial) == ("Mapping rivers", given, Editorial(status))
    notice = make_record("Retracted: Mapping rivers", notices=(EditorialNotice("doi:10.1016/a", Editorial.RETRACTED),))
    assert (notice.title, notice.document, notice.editorial) == ("Retracted: Mapping rivers", "erratum", None)


@pytest.mark.parametrize(
    ("title", "fields", "document"),
    [
        ("Correction to: Mapping rivers", {}, "erratum"), ("Mapping rivers (vol 360, pg 542, 2009)", {}, "erratum"),
        ("Mapping rivers (New England Journal of Medicine (2009) 360 (542-544))", {}, "erratum"),
        ("Reply to Mapping rivers", {}, "reply"), ("Mapping rivers - Reply", {}, "reply"), ("Mapping rivers: comment", {}, "comment"),
        ("Editorial: Mapping rivers", {}, "editorial"), ("Abstract P12: Mapping rivers", {}, "abstract"),
        ("Journal of Mapping", {}, "front matter"), ("Mapping rivers", {"type": "editorial"}, "editorial"),
        ("Mapping rivers", {"document": ["Journal Article", "Published Erratum"]}, "erratum"),
        ("Mapping rivers", {"document": ["is-comment-on"]}, "comment"), ("Mapping rivers", {"type": "review-article"}, None),
        ("Mapping rivers", {"notices": (EditorialNotice("pmid:1", Editorial.CORRECTED),)}, "erratum"),
    ],
)  # fmt: skip
def test_kind_of_document_is_known(title: str, fields: dict[str, Any], document: str | None) -> None:
    assert make_record(title, **fields).document == document


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_records_that_a_command_writes_have_the_delivered_title(suffix: str, tmp_path: Path) -> None:
    delivered, out = tmp_path / "works.jsonl", tmp_path / f"records{suffix}"
    title = "[Indications of living-donor kidney transplantation]. [Spanish]"
    delivered.write_bytes(orjson.dumps({"id": "1", "title": title, "year": 2010, "authors": ["Andres, A."]}))
    command.main(["jsonl", str(delivered), "--out", str(out)], standalone_mode=False)
    (record,) = read_records(out).select(["title", "original_title"]).to_pylist()
    assert record == {"title": "Indications of living-donor kidney transplantation", "original_title": title}
