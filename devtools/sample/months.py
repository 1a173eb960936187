"""Define the changes to the sample after its first release."""

from __future__ import annotations

from typing import Any

from devtools.sample import sources
from devtools.sample.cast import Cast, delivered, preprint, published


def three_months(cast: Cast) -> None:
    """Add the changes of February and March: papers are added, merged, split and withdrawn, and get their PDF."""
    for key, drop, delivery in (
        ("added-february", "2023-02-a", "february"),
        ("added-march", "2023-03-a", "march"),
    ):
        case = cast.add(key, f"delivered in {delivery}", "2022-10-10", citable=False)
        published(case, drops=(drop,))
        delivered(case, sources.crossref(case.paper), delivery=delivery)

    record: dict[str, Any] = {"s2orc": "no_parse", "s2ag": "kept", "open_access": False, "citable": False}
    case = cast.add("pdf-follows", "its PDF comes a month after its record", "2020-02-02", **record)
    published(case, drops=("2023-02-a",))
    case.canonical = None
    case.later[2] = {"s2orc": "kept", "s2ag": None, "open_access": True, "canonical": "pdf-follows.pdf"}
    delivered(case, sources.crossref(case.paper))

    one = cast.add(
        "merging-preprint", "a preprint whose published version has another title: one paper from February", "2021-06-06", citable=False
    )  # fmt: skip
    pdf = preprint(cast, one)
    one.canonical = pdf.name
    two = cast.add(
        "merging-published", "the published version, a paper of its own until February", "2021-06-06", **record
    )
    two.paper.authors, two.paper.abstract, two.paper.field = one.paper.authors, one.paper.abstract, one.paper.field
    one.paper.doi, one.paper.journal, one.paper.venue = None, None, None
    delivered(one, sources.arxiv(one.paper))
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
    # Without pages: papers with one DOI, other titles and other first pages are kept apart at once (SPEC §4.6).
    wrong = sources.pubmed(rng, other.paper, title=other.paper.title, doi=whole.paper.doi, pages=None)
    delivered(whole, sources.crossref(whole.paper), wrong)
    delivered(other, wrong | {"doi": other.paper.doi}, delivery="february")
    cast.split_off[2] = (("split-off", "splitting"),)

    gone = cast.add("vanishing", "its only record is withdrawn in February", "2012-12-12", **record)
    delivered(gone, sources.crossref(gone.paper))
    delivered(gone, sources.tombstone(f"crossref:{gone.paper.doi}"), delivery="february")

    by_key = {c.key: c for c in cast.cases}
    typo = next(row for _, row in by_key["doi-typo-record"].records)
    delivered(by_key["doi-typo"], typo | {"doi": by_key["doi-typo"].paper.doi}, delivery="march")
    cast.merged[3] = (("doi-typo-record", "doi-typo"),)
