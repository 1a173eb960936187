"""Define cases found in real papers; the sample's ordinary papers lack their features."""

from __future__ import annotations

from devtools.sample import sources
from devtools.sample.cast import Case, Cast, delivered, preprint, published
from devtools.sample.formats import PARTS

LABELS = ("BACKGROUND", "METHODS", "RESULTS")


def real_papers(cast: Cast) -> None:
    """Add the cases of real papers.

    They have structured abstracts, stamps, only LaTeX or a publisher's file, two DOIs, declared values, or paragraphs of
    figures."""
    abstracts(cast)
    archives(cast)
    publishers(cast)
    two = cast.add(
        "two-dois", "open by Unpaywall, though it prints no DOI and its preprint has one too", "2017-05-17", evidence="unpaywall",
        license="CC-BY",
    )  # fmt: skip
    two.paper.arxiv_id = f"1701.9{cast.number(two):04d}"
    published(two, declared=None, prints_doi=False)
    posted = f"10.48550/arxiv.{two.paper.arxiv_id}"
    delivered(
        two,
        sources.crossref(two.paper),
        sources.crossref(
            two.paper, record_id=f"crossref:{posted}", doi=posted, type="posted-content", date="2017-01-09", journal=None, venue=None
        ),
        sources.arxiv(two.paper, doi=two.paper.doi, date="2017-01-09"),
        sources.unpaywall(two.paper),
    )  # fmt: skip

    declared = cast.add(
        "retitled",
        "declared by its deliverer under another title than it prints: one paper",
        "2019-04-04",
        citable=False,
    )
    declared.paper.journal = declared.paper.venue = declared.paper.doi = None
    declared.title, declared.license = f"{declared.paper.title} (final draft)", "CC-BY-SA-4.0"
    pdf = published(declared)
    pdf.declared = {
        "open_access": True, "license": declared.license, "published": declared.paper.date, "title": declared.title,
        "authors": [author.full for author in declared.paper.authors], "abstract": declared.paper.abstract,
        "subjects": [declared.paper.field],
    }  # fmt: skip
    declared.declares = True

    figures = cast.add(
        "figures-alone", "more paragraphs of figures than of words, which are in no language", "2014-09-19", columns=1
    )
    figures.body = "figures"
    published(figures)
    delivered(figures, sources.crossref(figures.paper))


def abstracts(cast: Cast) -> None:
    """Add abstracts in parts: with labels (PubMed, Crossref), with S2ORC's separator, escaped twice."""
    labelled = cast.add("structured-abstract", "an abstract in labelled parts", "2016-09-09")
    p, w = labelled.paper, labelled.writer
    p.abstract = PARTS.join(f"{label}: {w.abstract(2)}" for label in LABELS)
    p.pubmed_id, p.journal, p.venue = "99000011", p.journal or labelled.writer.field.journals[0], None
    published(labelled)
    delivered(labelled, sources.crossref(p, abstract=False), sources.pubmed(cast.rng(labelled.key, "pubmed"), p))

    separated = cast.add("s2orc-abstract", "known to S2ORC's metadata alone, whose abstracts have separators", "2013")
    separated.paper.abstract = PARTS.join(separated.writer.abstract(3) for _ in range(2))
    pdf = published(separated)
    delivered(separated, sources.s2orc(separated.paper, 90000001, file_sha1=f"@{pdf.name}"))

    escaped = cast.add("escaped-abstract", "an abstract whose markup is escaped twice", "2015-10-02")
    published(escaped)
    words = (escaped.paper.abstract or "").split()
    marked = f"&lt;p&gt;&lt;i&gt;{words[0]}&lt;/i&gt; {' '.join(words[1:])}&lt;/p&gt;"
    delivered(escaped, sources.crossref(escaped.paper) | {"abstract": marked})


def archives(cast: Cast) -> None:
    """Add papers that are open by their content: a stamped PDF with any name, and a LaTeX source without a PDF."""
    stamped = cast.add(
        "stamped", "a stamped arXiv PDF under a name that says nothing, with a publisher's record", "2018-03-30"
    )
    preprint(cast, stamped, name="stamped.pdf")
    stamped.canonical = "stamped.pdf"
    delivered(stamped, sources.crossref(stamped.paper), sources.arxiv(stamped.paper, doi=stamped.paper.doi))

    source: Case = cast.add(
        "latex-only", "an arXiv LaTeX source without a PDF: open by itself", "2020-03-20", evidence="arxiv"
    )
    source.paper.journal = source.paper.venue = source.paper.doi = None
    source.paper.arxiv_id = f"2003.9{cast.number(source):04d}"
    source.full_text = f"{source.paper.arxiv_id}.gz"
    delivered(source, sources.arxiv(source.paper))


def publishers(cast: Cast) -> None:
    """Add papers with a publisher's file as the only full text: JATS, or Elsevier's JSON.

    The file itself states that it is open, and its license.
    """
    for key, suffix, license in (("jats-only", "nxml", "CC-BY-NC-4.0"), ("elsevier-only", "json", "CC-BY-4.0")):
        case = cast.add(
            key, f"its publisher's .{suffix} without a PDF, joined by its DOI", "2018-10-12", evidence="publisher",
            license=license, columns=1,
        )  # fmt: skip
        case.full_text = f"{key}.{suffix}"
        delivered(case, sources.crossref(case.paper))
