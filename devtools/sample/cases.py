"""Define the sample papers that a release includes, each with its reason, and the complete casts.

Every case states its outcomes by hand from the specification; no code here computes a rule of the pipeline.
"""

from __future__ import annotations

from typing import Any

from devtools.sample import sources
from devtools.sample.cast import Case, Cast, delivered, preprint, published
from devtools.sample.dropped import dropped, record_only, unselected
from devtools.sample.model import InlineStyle
from devtools.sample.months import three_months
from devtools.sample.real_papers import real_papers


def sample_cast(seed: int, papers: int) -> Cast:
    """Return the complete cast: every special case, and ordinary papers (at least eight) up to `papers` papers with PDF."""
    cast = Cast(seed)
    cast.extras = ("empty.pdf", "blank.pdf", "not-found.pdf")
    dates(cast)
    pairs(cast)
    dropped(cast)
    identities(cast)
    open_by(cast)
    unselected(cast)
    record_only(cast)
    real_papers(cast)
    three_months(cast)
    specials = sum(any(p.belongs for p in c.pdfs) for c in cast.cases)
    for i in range(max(8, papers - specials)):
        regular(cast, i)
    return cast


def tiny_cast(seed: int) -> Cast:
    """Return eight papers that cover all splits.

    They include both main citation styles, two papers that cite each other, a pair of versions and a closed paper.
    """
    cast = Cast(seed)

    def case(key: str, why: str, date: str, **options: Any) -> Case:
        made = cast.add(key, why, date, **options)
        published(made)
        delivered(made, sources.crossref(made.paper))
        return made

    bracket = case("bracket", "citations in brackets", "2015-05-04", style=InlineStyle.BRACKET, columns=1)
    case("name-year", "citations by name and year", "2015-09-21", style=InlineStyle.NAME_YEAR, columns=1)
    bracket.cites, cast.cases[1].cites = ["name-year"], ["bracket"]
    delivered(bracket, sources.dblp(cast.rng("bracket", "dblp"), bracket.paper))
    same = cast.add("pair", "preprint and published version with one title, joined by DOI", "2018-06-11", columns=2)
    preprint(cast, same)
    published(same)
    same.evidence = "declared"
    delivered(
        same,
        sources.crossref(same.paper),
        sources.arxiv(same.paper, date="2017-11-02", doi=same.paper.doi),
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
    delivered(bad, sources.crossref(bad.paper))
    return cast


def regular(cast: Cast, i: int) -> Case:
    """Return an ordinary paper before the split dates, with two to three sources that disagree a little."""
    key = f"regular-{i:02d}"
    rng = cast.rng(key, "records")
    year = 2003 + (i * 7) % 19
    date = f"{year}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"
    case = cast.add(key, "an ordinary paper", date, authors=1 + i % 5)
    p = case.paper
    pdf = published(case, drops=(("2023-01-a", "2023-01-b")[i % 2],))
    named: dict[str, Any] = {"file_sha1": f"@{pdf.name}"} if i % 3 else {}
    if p.field in ("Medicine", "Biology"):
        p.pubmed_id = f"9{cast.number(case):07d}"
        p.journal, p.venue = p.journal or cast.rng(key, "journal").choice(case.writer.field.journals), None
        delivered(case, sources.crossref(p, abstract=False, **named), sources.pubmed(rng, p))
    else:
        delivered(case, sources.crossref(p, **named))
        if i % 2:
            delivered(case, sources.dblp(rng, p))
    if i % 3 == 0:
        pdf.declared, case.evidence, case.license = None, "unpaywall", "CC-BY"
        delivered(case, sources.unpaywall(p))
    return case


def dates(cast: Cast) -> None:
    """Add papers dated on both sides of 2022-12-01 and 2023-01-03, and papers with too coarse dates (SPEC §9)."""
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
        published(case)
        delivered(case, sources.crossref(case.paper))


def pairs(cast: Cast) -> None:
    """Add papers with a preprint and a published version."""
    same = cast.add("pair-same-title", "preprint and published version with one title, joined by DOI", "2018-06-11")
    preprint(cast, same)
    published(same)
    same.evidence = "declared"
    delivered(
        same,
        sources.crossref(same.paper),
        sources.arxiv(same.paper, date="2017-11-02", doi=same.paper.doi),
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
        sources.crossref(other.paper),
        sources.arxiv(other.paper, title=earlier, date="2019-03-05"),
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
        sources.crossref(closed.paper),
        sources.arxiv(closed.paper, doi=closed.paper.doi),
    )

    only = cast.add("preprint-only", "known to a preprint server alone", "2021-03-15")
    only.paper.journal = only.paper.venue = only.paper.doi = None
    only.filed_under = "Biology"  # arXiv has no medical papers
    pdf = preprint(cast, only)
    only.canonical = pdf.name
    delivered(only, sources.arxiv(only.paper))


def identities(cast: Cast) -> None:
    """Add papers that are easily mistaken for each other."""
    for part, date in (("I", "2012-03-09"), ("II", "2013-08-21")):
        case = cast.add(
            f"part-{part.lower()}",
            "differs from its sister only in a numeral: two papers",
            date,
            title=f"Grain boundaries and porosity of recycled pellets under load: Part {part}",
            citable=False,
        )
        published(case)
        delivered(case, sources.crossref(case.paper))

    first = cast.add("twin-first", "printed again later under another DOI", "2019-05-01", citable=False)
    again = cast.add(
        "twin-again", "the later twin of a train text", "2022-12-20", title=first.paper.title, split="held_back:duplicate",
        citable=False,
    )  # fmt: skip
    again.paper.authors, again.paper.abstract = first.paper.authors, first.paper.abstract
    for case in (first, again):
        published(case)
        delivered(case, sources.crossref(case.paper))

    case = cast.add("doi-typo", "a source gives it a DOI with a slip: that record stays alone", "2014-10-10")
    published(case)
    assert case.paper.doi is not None
    typo = cast.add(
        "doi-typo-record", "the record with the mistyped DOI", "2014-10-10", title=case.paper.title, filtered="short_text",
        s2orc=None, split=None, citable=False, canonical=None, open_access=False,
    )  # fmt: skip
    typo.paper.authors, typo.paper.doi, typo.paper.abstract = case.paper.authors, case.paper.doi + "7", None
    typo.paper.journal, typo.paper.venue = case.paper.journal, case.paper.venue
    case.paper.arxiv_id = f"1409.9{cast.number(case):04d}"  # matches both by title: the edge to the second paper is cut
    delivered(case, sources.crossref(case.paper), sources.arxiv(case.paper))
    delivered(typo, sources.dblp(cast.rng("doi-typo", "no-slip-0"), typo.paper, year=2014, title=typo.paper.title))
    typo.date = "2014"
    cast.conflicts = ("doi-typo-record",)

    gibberish = cast.add("improbable-section", "one section of invented words is removed, the rest stays", "2010-07-07")
    gibberish.body = "gibberish"
    published(gibberish)
    delivered(gibberish, sources.crossref(gibberish.paper))

    twice = cast.add("two-drops", "the same bytes in two drops", "2017-01-19")
    published(twice, drops=("2023-01-a", "2023-01-b"))
    delivered(twice, sources.crossref(twice.paper))

    owner = cast.add("owner-password", "protected against printing, needs no password to read", "2015-12-03", columns=1)
    published(owner, treat="owner_password")
    delivered(owner, sources.crossref(owner.paper))


def open_by(cast: Cast) -> None:
    """Add PDFs with other evidence of open access: the ACL Anthology, PMC's open access subset."""
    acl = cast.add("open-acl", "open because the ACL Anthology has it", "2016-08-07", evidence="acl")
    published(acl, name="2016.sample-main.7.pdf", declared=None)
    acl.date = "2016-08"  # its name is an id of the Anthology, so that record is its publisher's
    delivered(acl, sources.crossref(acl.paper), sources.acl(acl.paper, "2016.sample-main.7"))
    pmc = cast.add("open-pmc", "open because it is in PMC's open access subset", "2019-02-21", evidence="pmc")
    pmc.paper.pubmed_id, pmc.paper.journal, pmc.paper.venue = "99000003", "Freshwater Letters", None
    published(pmc, declared=None, prints_pmc="PMC99000003")
    rng = cast.rng("open-pmc", "pubmed")
    delivered(
        pmc,
        sources.crossref(pmc.paper),
        sources.pubmed(rng, pmc.paper, pmc_id="PMC99000003"),
        sources.jats(pmc.paper, pmc_id="PMC99000003"),
    )
