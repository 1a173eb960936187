"""Define the sample papers that the pipeline must drop, or include by title and abstract only; one rule each."""

from __future__ import annotations

from typing import Any

from devtools.sample import sources
from devtools.sample.cast import Case, Cast, delivered, published
from devtools.sample.words import WORDS


def dropped(cast: Cast) -> None:
    """Add papers that the filter or the cleaning rules must drop, each by one rule."""

    def case(key: str, why: str, date: str = "2016-05-20", **options: Any) -> Case:
        options.setdefault("split", "train" if options.get("s2ag") == "kept" else None)
        made = cast.add(key, why, date, **options)
        published(made)
        return made

    def with_record(made: Case, **changes: Any) -> None:
        delivered(made, sources.crossref(made.paper, **changes))

    out: dict[str, Any] = {"s2orc": None, "citable": False}
    german = case("german", "a German paper", filtered="not_english", body="german", **out)
    chinese = case("chinese", "a Chinese paper", filtered="not_english", body="chinese", columns=1, **out)
    for made in (german, chinese):
        made.paper.keywords = None
    no_abstract = case(
        "no-abstract", "no source and not the PDF has an abstract", s2orc="no_abstract", s2ag="no_abstract"
    )
    no_abstract.paper.abstract = None
    with_record(no_abstract)
    with_record(
        case(
            "abstract-in-pdf",
            "only the PDF has an abstract, but a source has a record: the PDF's abstract counts (SPEC §5.6)",
            s2orc="kept",
            split="train",
        ),
        abstract=None,
    )
    with_record(case("short", "a body of fewer than 500 words", s2orc="short", s2ag="kept", body="short"))
    editorial = case(
        "editorial", "a generic title, no abstract", title="Editorial", s2orc="no_abstract", s2ag="no_abstract",
        body="editorial", authors=1, columns=1, citable=False,
    )  # fmt: skip
    editorial.paper.abstract = None
    editorial.paper.journal, editorial.paper.venue = "Review of Regional Economics", None
    with_record(editorial)
    anonymous = case("no-authors", "nobody is named as its author", filtered="no_authors", authors=0, columns=1, **out)
    with_record(anonymous)
    closed = case("closed", "no evidence of open access: no text, but title and abstract", s2orc="closed", s2ag="kept")
    closed.open_access = False
    closed.pdfs[0].declared = None
    with_record(closed)
    with_record(case("suppressed-doi", "on the suppression list by DOI", filtered="suppressed", **out))
    with_record(case("suppressed-sha1", "on the suppression list by SHA-1", filtered="suppressed", **out))
    with_record(
        case("top-word-share", "`the` is more than 7.5 % of its words", s2orc="bad_top_word", s2ag="kept", body="the")
    )
    with_record(
        case("top-word-number", "its most frequent word is 0.05", s2orc="bad_top_word", s2ag="kept", body="0.05")
    )
    with_record(case("old", "published in 1968", "1968-04-01", s2orc="before_min_year", s2ag="before_min_year"))
    with_record(
        case(
            "few-paragraphs",
            "few paragraphs, though long ones",
            s2orc="few_paragraphs",
            s2ag="kept",
            body="few",
            columns=1,
        )
    )
    orphan = case(
        "no-records", "a PDF no source knows: no year", s2orc="no_year", s2ag="no_year", columns=1, citable=False
    )
    orphan.paper.journal = orphan.paper.venue = orphan.paper.doi = orphan.paper.date = None
    parsed = case(
        "scienceparse", "only ScienceParse read its PDF: its title outranks the extractor's", s2orc="no_year", s2ag="no_year",
        columns=1, citable=False,
    )  # fmt: skip
    parsed.paper.journal = parsed.paper.venue = parsed.paper.doi = parsed.paper.date = None
    parsed.title = f"{parsed.paper.title} (extended)"
    delivered(parsed, sources.scienceparse(parsed.paper, title=parsed.title, file_sha1="@scienceparse.pdf"))
    for made in (german, chinese):
        foreign_metadata(made)
        with_record(made)
    anonymous.paper.keywords = None


def foreign_metadata(case: Case) -> None:
    """Set title and abstract to texts in the case's language."""
    p = case.paper
    p.language = "de" if case.body == "german" else "zh"
    p.title, p.abstract = WORDS[case.body]["title"], WORDS[case.body]["abstract"]


def unselected(cast: Cast) -> None:
    """Add PDFs that must not reach the extractor; their papers remain with title and abstract only."""
    table: tuple[tuple[str, str, str, str | None], ...] = (
        ("slides", "landscape", "slides", None),
        ("rotated", "landscape", "published", "rotate"),
        ("thesis", "too_many_pages", "thesis", None),
        ("encrypted", "encrypted", "published", "encrypt"),
        ("truncated", "unreadable", "published", "truncate"),
        ("scan", "pdfalto_failed", "scan", None),
    )
    for key, selection, make, treat in table:
        case = cast.add(
            key, f"its PDF is {selection}", "2011-02-14", s2orc="no_parse", s2ag="kept", body="short" if make == "published" else make,
            columns=1, citable=False, open_access=False,
        )  # fmt: skip
        published(case, selection=selection, make=make, treat=treat)
        delivered(case, sources.crossref(case.paper))


def record_only(cast: Cast) -> None:
    """Add papers without a PDF: for s2ag, or dropped by one of its rules."""

    def case(key: str, why: str, date: str | None, **options: Any) -> Case:
        options = {"s2orc": "no_parse", "s2ag": "kept", "open_access": False, **options}
        options.setdefault("split", "train" if options["s2ag"] == "kept" else None)
        return cast.add(key, why, date, **options)

    for key, date, split in (
        ("record-train", "2006-09-09", "train"),
        ("record-valid", "2022-12-15", "valid"),
        ("record-late", "2023-01-15", "held_back:late"),
    ):
        made = case(key, f"no PDF: title and abstract, {split}", date, split=split)
        delivered(made, sources.crossref(made.paper), sources.dblp(cast.rng(key, "dblp"), made.paper))
    short = case("abstract-short", "an abstract of fewer than 50 words", "2008-01-01", s2ag="abstract_short")
    short.paper.abstract = short.writer.abstract(2)
    long = case("abstract-long", "an abstract of more than 1,000 words", "2008-01-02", s2ag="abstract_long")
    long.paper.abstract = " ".join(long.writer.abstract(8) for _ in range(12))
    undated = case("record-no-year", "no source knows its year", None, s2ag="no_year", citable=False)
    old = case("record-old", "a record of 1959", "1959", s2ag="before_min_year")
    bare = case(
        "record-bare",
        "a record without abstract",
        "2009-03-03",
        s2orc=None,
        s2ag=None,
        filtered="short_text",
        citable=False,
    )
    bare.paper.abstract = None
    for made in (short, long, undated, old, bare):
        delivered(made, sources.crossref(made.paper))

    untitled = case(
        "record-no-title",
        "a record without title",
        "2009-03-04",
        s2orc=None,
        s2ag=None,
        filtered="no_title",
        citable=False,
    )
    untitled.paper.pubmed_id = "99000001"
    untitled.paper.doi = None
    untitled.date = "2009-03"
    for made in (short, long):  # a server's "not found" page, mistaken for their PDF
        made.records[0][1]["file_sha1"] = "@not-found.pdf"
    delivered(untitled, sources.pubmed(cast.rng("record-no-title", "pubmed"), untitled.paper, title=None))
    editorial = case(
        "editorial-record", "another editorial: equal title, other authors and year", "2010-01-01", title="Editorial",
        s2orc=None, s2ag=None, filtered="short_text", authors=1, citable=False,
    )  # fmt: skip
    editorial.paper.abstract = None
    delivered(editorial, sources.crossref(editorial.paper))

    updated = case("record-updated", "a later delivery corrects its title and date", "2013-04-05")
    stale = sources.crossref(updated.paper, title="Untitled manuscript to be announced", date="2012")
    delivered(updated, stale)
    delivered(updated, sources.crossref(updated.paper), delivery="delta")
    gone = case(
        "record-withdrawn",
        "its only record is withdrawn by a later delivery",
        "2013-04-06",
        citable=False,
    )
    delivered(gone, sources.crossref(gone.paper))
    delivered(gone, sources.tombstone(f"crossref:{gone.paper.doi}"), delivery="delta")
