"""The papers of the sample, each there for a reason, with what a release must make of it.

Every case states its outcomes by hand from SEMANTICS; nothing here computes a rule of the pipeline.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from s2corpus.sample import sources
from s2corpus.sample.compose import Titles, outline
from s2corpus.sample.model import Paper, Style
from s2corpus.sample.prose import Writer
from s2corpus.sample.sources import Row
from s2corpus.sample.vocabulary import FIELDS

STYLES = (Style.BRACKET, Style.NAME_YEAR, Style.BRACKET, Style.SUPERSCRIPT)
OPEN = {"open_access": True, "licence": "CC-BY-4.0"}


@dataclass(slots=True)
class PdfCase:
    """A PDF of the sample before it is made: template data (or what to make instead), its drops, its truth."""

    name: str
    make: str  # published, preprint, or the name of a special in `broken`
    drops: tuple[str, ...] = ("2023-01-a",)
    selection: str = "selected"
    declared: dict[str, Any] | None = None
    belongs: bool = True  # whether it is a PDF of its case's paper
    title: str | None = None  # where the PDF's title is not the paper's
    treat: str | None = None  # encrypt, owner_password, truncate, rotate


@dataclass(slots=True)
class Case:
    """One paper: how it is written, its records and PDFs, and the outcomes expected of it."""

    key: str
    why: str
    paper: Paper
    writer: Writer
    body: str = "usual"  # how its text is written, see `texts`
    records: list[tuple[str, Row]] = field(default_factory=list)  # (delivery, row); pdf_sha1 may be "@<name of PDF>"
    pdfs: list[PdfCase] = field(default_factory=list)
    canonical: str | None = None  # name of its canonical PDF
    open_access: bool = True
    evidence: str | None = "declared"  # what says that its canonical PDF is open
    filtered: str = "kept"
    s2orc: str | None = "kept"
    s2ag: str | None = None
    split: str | None = "train"
    title: str | None = None  # canonical title where it is not the paper's own
    date: str | None = None  # canonical date where it is not the paper's own
    cites: list[str] = field(default_factory=list)  # papers it must cite, besides what chance brings
    citable: bool = True  # whether ordinary papers may cite it
    later: dict[int, dict[str, Any]] = field(default_factory=dict)  # release → what it changes from then on

    def at(self, release: int) -> Case:
        """The case as the given release (1, 2 or 3) must see it."""
        changes = [change for since, change in sorted(self.later.items()) if since <= release]
        return dataclasses.replace(self, **{k: v for change in changes for k, v in change.items()})


class Cast:
    """Collects the cases; numbers and random states come from the order and the key, so cases do not disturb each other."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.titles = Titles()
        self.cases: list[Case] = []
        self.conflicts: tuple[str, ...] = ()  # papers that an edge to another is cut from
        self.merged: dict[int, tuple[tuple[str, str], ...]] = {}  # release → (paper that went, paper it became)
        self.split_off: dict[int, tuple[tuple[str, str], ...]] = {}  # release → (new paper, paper it was)
        self.extras: tuple[str, ...] = ()  # PDFs that are nobody's, see `generate.EXTRAS`

    def rng(self, key: str, purpose: str) -> random.Random:
        """The random state for one purpose of one case."""
        return random.Random(f"{self.seed}:{key}:{purpose}")

    def add(self, key: str, why: str, date: str | None, **options: Any) -> Case:
        """A case with an open published PDF and a Crossref record that names it; change what differs."""
        number = len(self.cases) + 1
        outline_options = {k: options.pop(k) for k in ("title", "authors", "style", "columns") if k in options}
        outline_options.setdefault("style", STYLES[number % 4])
        outline_options.setdefault("columns", 2 if number % 3 == 0 else 1)
        paper, w = outline(
            self.rng(key, "outline"),
            key,
            number,
            FIELDS[number % len(FIELDS)],
            self.titles,
            date=date,
            **outline_options,
        )
        case = Case(key, why, paper, w, **options)
        self.cases.append(case)
        return case

    def number(self, case: Case) -> int:
        """The case's number, from 1."""
        return self.cases.index(case) + 1


def published(case: Case, **changes: Any) -> PdfCase:
    """Give the case its published PDF, open by declaration."""
    pdf = PdfCase(f"{case.key}.pdf", "published", declared=OPEN)
    for name, value in changes.items():
        setattr(pdf, name, value)
    case.pdfs.append(pdf)
    if case.canonical is None and pdf.selection == "selected":
        case.canonical = pdf.name
    return pdf


def preprint(cast: Cast, case: Case, **changes: Any) -> PdfCase:
    """Give the case a preprint's PDF, open because it is arXiv's, and the arXiv record that names it."""
    year = case.paper.year or 2020
    case.paper.arxiv_id = f"{year % 100:02d}03.9{cast.number(case):04d}"
    pdf = PdfCase(f"{case.paper.arxiv_id}v1.pdf", "preprint")
    case.evidence = "arxiv"
    for name, value in changes.items():
        setattr(pdf, name, value)
    case.pdfs.append(pdf)
    return pdf


def delivered(case: Case, *rows: Row, delivery: str = "full") -> None:
    """Give the case records."""
    case.records += [(delivery, row) for row in rows]


def regular(cast: Cast, i: int) -> Case:
    """An ordinary paper before the split dates, with two to three sources that disagree a little."""
    key = f"regular-{i:02d}"
    rng = cast.rng(key, "records")
    year = 2003 + (i * 7) % 19
    date = f"{year}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"
    case = cast.add(key, "an ordinary paper", date, authors=1 + i % 5)
    p = case.paper
    pdf = published(case, drops=(("2023-01-a", "2023-01-b")[i % 2],))
    named: dict[str, Any] = {"pdf_sha1": f"@{pdf.name}"} if i % 3 else {}
    if p.field in ("Medicine", "Biology"):
        p.pubmed_id = f"9{cast.number(case):07d}"
        p.journal, p.venue = p.journal or cast.rng(key, "journal").choice(case.writer.field.journals), None
        delivered(case, sources.crossref(p, abstract=False, **named), sources.pubmed(rng, p))
    else:
        delivered(case, sources.crossref(p, **named))
        if i % 2:
            delivered(case, sources.dblp(rng, p))
    if i % 3 == 0:
        pdf.declared, case.evidence = None, "unpaywall"
        delivered(case, sources.unpaywall(p))
    return case


def dates(cast: Cast) -> None:
    """Dates on both sides of 2022-12-01 and 2023-01-03, and dates too coarse to decide (SEMANTICS §9)."""
    table: tuple[tuple[str, str], ...] = (
        ("2022-11-30", "train"),
        ("2022-12-01", "valid"),
        ("2023-01-03", "valid"),
        ("2023-01-04", "held_back:late"),
        ("2023-01-20", "held_back:late"),
        ("2021", "train"),
        ("2022", "held_back:undated"),
        ("2022-11", "train"),
        ("2022-12", "valid"),
        ("2023-01", "held_back:undated"),
    )
    for date, split in table:
        case = cast.add(f"dated-{date}", f"published {date}: {split}", date, split=split, citable=False)
        pdf = published(case)
        delivered(case, sources.crossref(case.paper, pdf_sha1=f"@{pdf.name}"))


def pairs(cast: Cast) -> None:
    """Preprint and published version of one paper."""
    same = cast.add("pair-same-title", "preprint and published version with one title, joined by DOI", "2018-06-11")
    preprint(cast, same)
    published(same)
    same.evidence = "declared"
    delivered(
        same,
        sources.crossref(same.paper, pdf_sha1=f"@{same.key}.pdf"),
        sources.arxiv(same.paper, date="2017-11-02", doi=same.paper.doi, pdf_sha1=f"@{same.pdfs[0].name}"),
    )

    other = cast.add(
        "pair-other-title",
        "preprint and published version with slightly different titles, joined by title",
        "2020-02-18",
        title="Seasonal drift of pulsar timings in long archival series from two observatories",
    )
    earlier = "Seasonal drift in pulsar timings in long archival series of two observatories"
    preprint(cast, other, title=earlier)
    published(other)
    other.evidence = "declared"
    delivered(
        other,
        sources.crossref(other.paper, pdf_sha1=f"@{other.key}.pdf"),
        sources.arxiv(other.paper, title=earlier, date="2019-03-05", pdf_sha1=f"@{other.pdfs[0].name}"),
        sources.dblp(cast.rng(other.key, "dblp"), other.paper),
    )

    closed = cast.add(
        "pair-closed", "the published version is closed, the preprint open: the preprint is canonical", "2019-09-30"
    )
    pdf = preprint(cast, closed)
    closed.canonical = pdf.name
    published(closed, declared={"open_access": False})
    delivered(
        closed,
        sources.crossref(closed.paper, pdf_sha1=f"@{closed.key}.pdf"),
        sources.arxiv(closed.paper, doi=closed.paper.doi, pdf_sha1=f"@{pdf.name}"),
    )

    only = cast.add("preprint-only", "known to a preprint server alone", "2021-03-15")
    only.paper.journal = only.paper.venue = only.paper.doi = None
    pdf = preprint(cast, only)
    only.canonical = pdf.name
    delivered(only, sources.arxiv(only.paper, pdf_sha1=f"@{pdf.name}"))


def dropped(cast: Cast) -> None:
    """Papers that the filter or the cleaning rules must drop, each by one rule."""

    def case(key: str, why: str, date: str = "2016-05-20", **options: Any) -> Case:
        options.setdefault("split", "train" if options.get("s2ag") == "kept" else None)
        made = cast.add(key, why, date, **options)
        published(made)
        return made

    def with_record(made: Case, **changes: Any) -> None:
        delivered(made, sources.crossref(made.paper, pdf_sha1=f"@{made.key}.pdf", **changes))

    out: dict[str, Any] = {"s2orc": None, "citable": False}
    german = case("german", "a German paper", filtered="not_english", body="german", **out)
    chinese = case("chinese", "a Chinese paper", filtered="not_english", body="chinese", columns=1, **out)
    case_of: Callable[..., Case] = case
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
            "only the PDF has an abstract, but a source has a record",
            s2orc="no_abstract",
            s2ag="no_abstract",
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
    with_record(case("old", "published in 1968", "1968-04-01", s2orc="before_1970", s2ag="before_1970"))
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
    orphan = case_of(
        "no-records", "a PDF no source knows: no year", s2orc="no_year", s2ag="no_year", columns=1, citable=False
    )
    orphan.paper.journal = orphan.paper.venue = orphan.paper.doi = orphan.paper.date = None
    parsed = case_of(
        "scienceparse", "only ScienceParse read its PDF: its title outranks the extractor's", s2orc="no_year", s2ag="no_year",
        columns=1, citable=False,
    )  # fmt: skip
    parsed.paper.journal = parsed.paper.venue = parsed.paper.doi = parsed.paper.date = None
    parsed.title = f"{parsed.paper.title} (extended)"
    delivered(parsed, sources.scienceparse(parsed.paper, title=parsed.title, pdf_sha1="@scienceparse.pdf"))
    for made in (german, chinese):
        foreign_metadata(made)
        with_record(made)
    anonymous.paper.keywords = None


def foreign_metadata(case: Case) -> None:
    """Title and abstract in the case's language."""
    from s2corpus.sample import foreign

    p = case.paper
    p.language = "de" if case.body == "german" else "zh"
    p.title = foreign.GERMAN_TITLE if p.language == "de" else foreign.CHINESE_TITLE
    p.abstract = foreign.GERMAN_ABSTRACT if p.language == "de" else foreign.CHINESE_ABSTRACT


def identities(cast: Cast) -> None:
    """Papers that are easily taken for each other."""
    for part, date in (("I", "2012-03-09"), ("II", "2013-08-21")):
        case = cast.add(
            f"part-{part.lower()}",
            "differs from its sister only in a numeral: two papers",
            date,
            title=f"Grain boundaries and porosity of recycled pellets under load: Part {part}",
            citable=False,
        )
        published(case)
        delivered(case, sources.crossref(case.paper, pdf_sha1=f"@{case.key}.pdf"))

    first = cast.add("twin-first", "printed again later under another DOI", "2019-05-01", citable=False)
    again = cast.add(
        "twin-again", "the later twin of a train text", "2022-12-20", title=first.paper.title, split="held_back:near_duplicate",
        citable=False,
    )  # fmt: skip
    again.paper.authors, again.paper.abstract = first.paper.authors, first.paper.abstract
    for case in (first, again):
        published(case)
        delivered(case, sources.crossref(case.paper, pdf_sha1=f"@{case.key}.pdf"))

    case = cast.add("doi-typo", "a source gives it a DOI with a slip: that record stays alone", "2014-10-10")
    published(case)
    assert case.paper.doi is not None
    typo = cast.add(
        "doi-typo-record", "the record with the mistyped DOI", "2014-10-10", title=case.paper.title, filtered="short_text",
        s2orc=None, split=None, citable=False, canonical=None, open_access=False,
    )  # fmt: skip
    typo.paper.authors, typo.paper.doi, typo.paper.abstract = case.paper.authors, case.paper.doi + "7", None
    typo.paper.journal, typo.paper.venue = case.paper.journal, case.paper.venue
    case.paper.arxiv_id = f"1409.9{cast.number(case):04d}"  # fits both by title: an edge to the second is cut
    delivered(case, sources.crossref(case.paper, pdf_sha1=f"@{case.key}.pdf"), sources.arxiv(case.paper))
    delivered(typo, sources.dblp(cast.rng("doi-typo", "no-slip-0"), typo.paper, year=2014, title=typo.paper.title))
    typo.date = "2014"
    cast.conflicts = ("doi-typo-record",)

    gibberish = cast.add("improbable-section", "one section of invented words is removed, the rest stays", "2010-07-07")
    gibberish.body = "gibberish"
    published(gibberish)
    delivered(gibberish, sources.crossref(gibberish.paper, pdf_sha1=f"@{gibberish.key}.pdf"))

    twice = cast.add("two-drops", "the same bytes in two drops", "2017-01-19")
    published(twice, drops=("2023-01-a", "2023-01-b"))
    delivered(twice, sources.crossref(twice.paper, pdf_sha1=f"@{twice.key}.pdf"))

    owner = cast.add("owner-password", "protected against printing, needs no password to read", "2015-12-03", columns=1)
    published(owner, treat="owner_password")
    delivered(owner, sources.crossref(owner.paper, pdf_sha1=f"@{owner.key}.pdf"))


def open_by(cast: Cast) -> None:
    """What else says that a PDF is open: the ACL Anthology, PMC's open access subset."""
    acl = cast.add("open-acl", "open because the ACL Anthology has it", "2016-08-07", evidence="acl")
    published(acl, declared=None)
    delivered(
        acl, sources.crossref(acl.paper), sources.acl(acl.paper, "2016.sample-main.7", pdf_sha1=f"@{acl.key}.pdf")
    )
    pmc = cast.add("open-pmc", "open because it is in PMC's open access subset", "2019-02-21", evidence="pmc")
    pmc.paper.pubmed_id, pmc.paper.journal, pmc.paper.venue = "99000003", "Freshwater Letters", None
    published(pmc, declared=None)
    rng = cast.rng("open-pmc", "pubmed")
    delivered(
        pmc,
        sources.crossref(pmc.paper, pdf_sha1=f"@{pmc.key}.pdf"),
        sources.pubmed(rng, pmc.paper, pmc_id="PMC99000003", open_access=True, licence="CC-BY-4.0"),
    )


def unselected(cast: Cast) -> None:
    """PDFs that must not reach the extractor; their papers live on by title and abstract."""
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
        delivered(case, sources.crossref(case.paper, pdf_sha1=f"@{case.key}.pdf"))


def record_only(cast: Cast) -> None:
    """Papers without a PDF: for s2ag, or dropped by one of its rules."""

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
    old = case("record-old", "a record of 1959", "1959", s2ag="before_1970")
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
    for made in (short, long):  # a server's "not found" page, taken for their PDF
        made.records[0][1]["pdf_sha1"] = "@not-found.pdf"
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


def three_months(cast: Cast) -> None:
    """What happens in February and March: papers are added, merged, split, get their PDF, and vanish."""
    for key, drop, delivery in (
        ("added-february", "2023-02-a", "february"),
        ("added-march", "2023-03-a", "march"),
    ):
        case = cast.add(key, f"delivered in {delivery}", "2022-10-10", citable=False)
        published(case, drops=(drop,))
        delivered(case, sources.crossref(case.paper, pdf_sha1=f"@{case.key}.pdf"), delivery=delivery)

    record = {"s2orc": "no_parse", "s2ag": "kept", "open_access": False, "citable": False}
    case = cast.add("pdf-follows", "its PDF comes a month after its record", "2020-02-02", **record)
    published(case, drops=("2023-02-a",))
    case.canonical = None
    case.later[2] = {"s2orc": "kept", "s2ag": None, "open_access": True, "canonical": "pdf-follows.pdf"}
    delivered(case, sources.crossref(case.paper, pdf_sha1="@pdf-follows.pdf"))

    one = cast.add(
        "merging-preprint", "a preprint whose published version has another title: one paper from February", "2021-06-06", citable=False
    )  # fmt: skip
    pdf = preprint(cast, one)
    one.canonical = pdf.name
    two = cast.add(
        "merging-published", "the published version, a paper of its own until February", "2021-06-06", **record
    )
    two.paper.authors, two.paper.abstract = one.paper.authors, one.paper.abstract
    one.paper.doi, one.paper.journal, one.paper.venue = None, None, None
    delivered(one, sources.arxiv(one.paper, pdf_sha1=f"@{pdf.name}"))
    delivered(two, sources.crossref(two.paper))
    delivered(one, sources.crossref(two.paper, arxiv_id=one.paper.arxiv_id), delivery="february")
    one.later[2] = {"title": two.paper.title}
    cast.merged[2] = (("merging-published", "merging-preprint"),)

    whole = cast.add(
        "splitting", "another paper's record names its DOI by mistake until February", "2018-08-08", citable=False
    )
    published(whole)
    other = cast.add("split-off", "the paper of that record", "2018-03-03", **record)
    other.paper.pubmed_id, other.paper.journal, other.paper.venue = "99000002", "Annals of Field Ecology", None
    other.date = "2018-03"
    rng = cast.rng("split-off", "pubmed")
    wrong = sources.pubmed(rng, other.paper, title=other.paper.title, doi=whole.paper.doi)
    delivered(whole, sources.crossref(whole.paper, pdf_sha1="@splitting.pdf"), wrong)
    delivered(other, wrong | {"doi": other.paper.doi}, delivery="february")
    cast.split_off[2] = (("split-off", "splitting"),)

    gone = cast.add("vanishing", "its only record is withdrawn in February", "2012-12-12", **record)
    delivered(gone, sources.crossref(gone.paper))
    delivered(gone, sources.tombstone(f"crossref:{gone.paper.doi}"), delivery="february")

    by_key = {c.key: c for c in cast.cases}
    typo = next(row for _, row in by_key["doi-typo-record"].records)
    delivered(by_key["doi-typo"], typo | {"doi": by_key["doi-typo"].paper.doi}, delivery="march")
    cast.merged[3] = (("doi-typo-record", "doi-typo"),)


def sample_cast(seed: int, papers: int) -> Cast:
    """The whole cast: every special case, and ordinary papers to make `papers` PDFs with a paper of their own."""
    cast = Cast(seed)
    cast.extras = ("empty.pdf", "blank.pdf", "not-found.pdf")
    dates(cast)
    pairs(cast)
    dropped(cast)
    identities(cast)
    open_by(cast)
    unselected(cast)
    record_only(cast)
    three_months(cast)
    specials = sum(any(p.belongs for p in c.pdfs) for c in cast.cases)
    for i in range(max(8, papers - specials)):
        regular(cast, i)
    return cast


def tiny_cast(seed: int) -> Cast:
    """Eight papers: both main citation styles, two that cite each other, a pair of versions, a closed one, all splits."""
    cast = Cast(seed)

    def case(key: str, why: str, date: str, **options: Any) -> Case:
        made = cast.add(key, why, date, **options)
        pdf = published(made)
        delivered(made, sources.crossref(made.paper, pdf_sha1=f"@{pdf.name}"))
        return made

    bracket = case("bracket", "citations in brackets", "2015-05-04", style=Style.BRACKET, columns=1)
    case("name-year", "citations by name and year", "2015-09-21", style=Style.NAME_YEAR, columns=1)
    bracket.cites, cast.cases[1].cites = ["name-year"], ["bracket"]
    delivered(bracket, sources.dblp(cast.rng("bracket", "dblp"), bracket.paper))
    same = cast.add("pair", "preprint and published version with one title, joined by DOI", "2018-06-11", columns=2)
    pdf = preprint(cast, same)
    published(same)
    same.evidence = "declared"
    delivered(
        same,
        sources.crossref(same.paper, pdf_sha1="@pair.pdf"),
        sources.arxiv(same.paper, date="2017-11-02", doi=same.paper.doi, pdf_sha1=f"@{pdf.name}"),
    )
    case("valid", "published in the validation period", "2022-12-15", split="valid", columns=1)
    case("late", "published after it", "2023-01-20", split="held_back:late", columns=1)
    closed = case("closed", "no evidence of open access", "2016-02-03", s2orc="closed", s2ag="kept", columns=1)
    closed.open_access = False
    closed.pdfs[0].declared = None
    case("no-authors", "nobody is named as its author", "2016-02-04", filtered="no_authors", authors=0, s2orc=None, split=None,
         columns=1, citable=False)  # fmt: skip
    bad = cast.add("truncated", "its PDF is cut in the middle", "2011-02-14", s2orc="no_parse", s2ag="kept", body="short", columns=1,
                   open_access=False)  # fmt: skip
    published(bad, selection="unreadable", treat="truncate")
    delivered(bad, sources.crossref(bad.paper, pdf_sha1="@truncated.pdf"))
    return cast
