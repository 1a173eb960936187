"""The explanation of the openness of a full text contains the evidence found, its place and each failed check."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from s2corpus.papers.openness import (
    Declaration,
    Evidence,
    decide_article_openness,
    decide_openness,
    decide_source_openness,
)
from s2corpus.sources import Record, RecordKind
from s2corpus.sources.record import OpenVersion
from tests.unit.vote.test_openness import renewed

A, B = "a" * 40, "b" * 40
X, Y, PREPRINT = "10.1016/x", "10.1016/y", "10.1101/p"
HEADER = Record(f"grobid:{A}", "grobid", RecordKind.PDF, file_sha1=A)
ARXIVS = Record("arxiv:1", "arxiv", RecordKind.ARCHIVE, arxiv_id="1911.02782")
ACLS = Record("acl:1", "acl", RecordKind.PUBLISHER, acl_id="P19-1001")
OWN = Record("declared:d/a.pdf", "declared", RecordKind.ARCHIVE, file_sha1=A)


def is_preprint(doi: str) -> bool:
    return doi.startswith("10.1101/")


def said(
    *records: Record, places: tuple[Declaration, ...] = (Declaration("d", "a.pdf"),), all_open: bool = False
) -> dict[str, str]:
    """Return the detail of each check by kind of evidence. A detail begins with `! ` if the check found evidence."""
    found = decide_openness(A, list(map(renewed, records)), places, is_preprint=is_preprint, all_open=all_open)
    return {str(look.evidence): ("! " if look.found else "") + look.detail for look in found.looks}


def crossref(doi: str = X, **fields: Any) -> Record:
    return Record(f"crossref:{doi}", "crossref", RecordKind.PUBLISHER, doi=doi, **fields)


def unpaywall(doi: str = X, **fields: Any) -> Record:
    return Record(f"unpaywall:{doi}", "unpaywall", RecordKind.ARCHIVE, doi=doi, **({"open_access": True} | fields))


NOWHERE = {
    "arxiv": "no arXiv id in the PDF, none in the file name (a.pdf)",
    "acl": "no ACL Anthology id in the PDF, none in the file name (a.pdf)",
    "pmc": "no record of PMC's open access subset has the DOI of this full text (none is available)",
    "unpaywall": "no record has the DOI of this full text (none is available)",
    "publisher": "no publisher record with the DOI of this full text (none is available) states open access",
    "declared": "no drop declares open access",
}
OF_X = {
    "pmc": "no record of PMC's open access subset has an identifier of this full text (10.1016/x)",
    "unpaywall": "no record has an identifier of this full text (10.1016/x)",
    "publisher": "no publisher record with an identifier of this full text (10.1016/x) states open access",
}


@pytest.mark.parametrize(
    ("records", "name", "looks"),
    [
        ([HEADER], "a.pdf", {}),
        ([HEADER], "",
         {"arxiv": "no arXiv id in the PDF, none in the file name ()", "acl": "no ACL Anthology id in the PDF, none in the file name ()"}),
        ([replace(HEADER, arxiv_id="1911.02782")], "a.pdf", {"arxiv": "! the PDF contains the arXiv id 1911.02782"}),
        ([replace(HEADER, acl_id="P19-1001")], "a.pdf", {"acl": "! the PDF contains the ACL Anthology id P19-1001"}),
        ([HEADER, replace(ARXIVS, file_sha1=A), replace(ARXIVS, record_id="arxiv:0", file_sha1=A)], "a.pdf",
         {"arxiv": "! referenced by arxiv:0, arxiv:1"}),
        ([HEADER, replace(ARXIVS, file_sha1=B), crossref()], "a.pdf",
         {**OF_X, "arxiv": f"{NOWHERE['arxiv']}, the paper also has records from crossref"}),
        ([HEADER, ARXIVS, crossref(), unpaywall(open_access=False)], "a.pdf",
         {**OF_X, "arxiv": f"{NOWHERE['arxiv']}, the paper also has records from crossref, unpaywall", "unpaywall": "10.1016/x is closed"}),
        ([HEADER, ARXIVS, crossref()], "1911.02782v2.pdf",
         {**OF_X, "arxiv": "! the file name contains the paper's arXiv id 1911.02782",
          "acl": "no ACL Anthology id in the PDF, none in the file name (1911.02782v2.pdf)"}),
        ([HEADER, ARXIVS, crossref()], "1706.03762.pdf",
         {**OF_X, "arxiv": "no arXiv id in the PDF, none of the paper's ids in the file name (1706.03762.pdf), "
          "the paper also has records from crossref",
          "acl": "no ACL Anthology id in the PDF, none in the file name (1706.03762.pdf)"}),
        ([HEADER, replace(OWN, arxiv_id="1911.02782"), ARXIVS, crossref()], "a.pdf",
         {**OF_X, "arxiv": "! the drop declares the paper's arXiv id 1911.02782"}),
        ([HEADER, replace(OWN, arxiv_id="1706.03762"), ARXIVS, crossref()], "a.pdf",
         {**OF_X, "arxiv": f"{NOWHERE['arxiv']}, no other record of the paper has the declared 1706.03762, "
          "the paper also has records from crossref"}),
        ([HEADER, ARXIVS], "a.pdf", {"arxiv": "! the paper has records only from arXiv"}),
        ([HEADER, ACLS], "a.pdf", {"acl": "! the paper has records only from ACL Anthology"}),
        ([HEADER, ARXIVS, ACLS], "a.pdf",
         {"arxiv": f"{NOWHERE['arxiv']}, the paper also has records from acl",
          "acl": "! the paper has records only from ACL Anthology and arXiv"}),
        ([replace(HEADER, doi=X), ARXIVS], "a.pdf", {**OF_X, "arxiv": f"{NOWHERE['arxiv']}, the PDF has the DOI 10.1016/x"}),
        ([replace(HEADER, doi=PREPRINT), ARXIVS], "a.pdf",
         {"arxiv": "! the paper has records only from arXiv",
          **{key: text.replace(X, PREPRINT) for key, text in OF_X.items()}}),
        ([replace(HEADER, doi=X, pmc_id="PMC7")], "a.pdf",
         {"pmc": "no record of PMC's open access subset has an identifier of this full text (10.1016/x, PMC7)",
          "unpaywall": OF_X["unpaywall"],
          "publisher": "no publisher record with an identifier of this full text (10.1016/x, PMC7) states open access"}),
        ([replace(HEADER, doi=X), Record("pubmed:7", "pubmed", RecordKind.ARCHIVE, doi=X, pmc_id="PMC7", open_access=True)], "a.pdf",
         {**OF_X, "pmc": "! PMC7 is in PMC's open access subset (according to pubmed:7)"}),
        ([replace(HEADER, doi=X), unpaywall()], "a.pdf", {**OF_X, "unpaywall": "! 10.1016/x is open"}),
        ([replace(HEADER, doi=X), unpaywall(open_version=OpenVersion.COPY)], "a.pdf",
         {**OF_X, "unpaywall": "10.1016/x: only copies are open, not the published version"}),
        ([replace(HEADER, doi=X), unpaywall(open_version=OpenVersion.COPY, pmc_id="PMC7")], "a.pdf",
         {**OF_X, "unpaywall": "10.1016/x: only copies are open, not the published version"}),
        ([replace(HEADER, doi=X), crossref(open_access=True)], "a.pdf",
         {**OF_X, "publisher": "! open access according to crossref:10.1016/x"}),
        ([HEADER, crossref(), crossref(Y)], "a.pdf",
         {"pmc": "no record of PMC's open access subset has the DOI of this full text (ambiguous: 10.1016/x, 10.1016/y)",
          "unpaywall": "no record has the DOI of this full text (ambiguous: 10.1016/x, 10.1016/y)",
          "publisher": "no publisher record with the DOI of this full text (ambiguous: 10.1016/x, 10.1016/y) states open access"}),
        ([HEADER, Record("mylab:1", "mylab", RecordKind.ARCHIVE, file_sha1=A, open_access=True)], "a.pdf",
         {"declared": "! referenced as open access by mylab:1"}),
        ([HEADER, Record("mylab:1", "mylab", RecordKind.ARCHIVE, file_sha1=B, open_access=True)], "a.pdf", {}),
    ],
)  # fmt: skip
def test_explanation_lists_evidence_and_failed_checks(records: list[Record], name: str, looks: dict[str, str]) -> None:
    assert said(*records, places=(Declaration("d", name),)) == NOWHERE | looks


def test_explanation_without_file_name_mentions_no_name() -> None:
    found = said(HEADER, places=())
    assert found == NOWHERE | {"arxiv": "no arXiv id in the PDF", "acl": "no ACL Anthology id in the PDF"}


@pytest.mark.parametrize(
    ("names", "listed"), [(5, "0, 1, 2, 3, 4"), (6, "0, 1, 2, 3, 4 and 1 more"), (8, "0, 1, 2, 3, 4 and 3 more")]
)
def test_at_most_five_file_names_are_listed(names: int, listed: str) -> None:
    places = tuple(Declaration("d", str(n)) for n in reversed(range(names)))
    assert said(HEADER, places=places)["arxiv"] == f"no arXiv id in the PDF, none in the file name ({listed})"


@pytest.mark.parametrize(
    ("places", "all_open", "detail"),
    [
        ([("d", "a", True)], False, "! declared open by d/a"),
        ([("d", "a", None), ("e", "b", True), ("c", "x", True)], False, "! declared open by c/x, e/b"),
        ([("d", "a", None)], True, "! the release contains the user's own PDFs"),
        ([("d", "a", False)], True, "declared closed by d/a: closed has priority"),
        ([("d", "a", False), ("c", "b", False)], False, "declared closed by c/b, d/a: closed has priority"),
        ([("d", "a", False), ("c", "b", True), ("e", "f", None)], False,
         "declared closed by d/a and open by c/b: closed has priority"),
    ],
)  # fmt: skip
def test_declarations_of_drops_are_explained(
    places: list[tuple[str, str, bool | None]], all_open: bool, detail: str
) -> None:
    declared = tuple(Declaration(*place) for place in places)
    assert said(HEADER, places=declared, all_open=all_open)["declared"] == detail


@pytest.mark.parametrize(
    ("own", "records", "places", "looks", "licence"),
    [
        ({"open_access": True, "licence": "CC-BY-4.0"}, [], (),
         {"publisher": "! its own metadata states open access, CC-BY-4.0"}, "CC-BY-4.0"),
        ({"open_access": True}, [], (), {"publisher": "! its own metadata states open access"}, None),
        ({"licence": "CC-BY-4.0"}, [], (), {}, None),
        ({"doi": X}, [crossref(open_access=True, licence="CC0-1.0")], (),
         {**OF_X, "publisher": "! open access according to crossref:10.1016/x"},
         "CC0-1.0"),
        ({"doi": X}, [unpaywall(licence="CC0-1.0")], (), {**OF_X, "unpaywall": "! 10.1016/x is open"}, "CC0-1.0"),
        ({"doi": Y}, [unpaywall()], (), {key: text.replace(X, Y) for key, text in OF_X.items()}, None),
        ({}, [], (Declaration("d", "a.xml", True, "MIT"),), {"declared": "! declared open by d/a.xml"}, "MIT"),
        ({"open_access": True, "licence": "CC-BY-4.0"}, [], (Declaration("d", "a.xml", False, "CC-BY-NC-4.0"),),
         {"publisher": "! its own metadata states open access, CC-BY-4.0", "declared": "declared closed by d/a.xml: closed has priority"},
         "CC-BY-NC-4.0"),
    ],
)  # fmt: skip
def test_openness_of_publishers_full_text_is_explained(
    own: dict[str, Any],
    records: list[Record],
    places: tuple[Declaration, ...],
    looks: dict[str, str],
    licence: str | None,
) -> None:
    """No check searches a publisher's full text for arXiv and ACL ids."""
    text = Record(f"jats:{A}", "jats", RecordKind.ARCHIVE, **own)
    found = decide_article_openness(A, list(map(renewed, records)), places, own=text, is_preprint=is_preprint)
    expected = {key: text for key, text in NOWHERE.items() if key not in ("arxiv", "acl")} | looks
    assert {str(look.evidence): ("! " if look.found else "") + look.detail for look in found.looks} == expected
    assert found.licence == licence
    assert found.open is (
        any(text.startswith("!") for text in looks.values()) and not any(d.open_access is False for d in places)
    )
    assert (
        decide_article_openness(
            A, [], own=replace(text, open_access=None), is_preprint=is_preprint, all_open=True
        ).evidence
        is Evidence.DECLARED
    )


def test_arxiv_source_has_license_of_its_own_record() -> None:
    records = [
        replace(ARXIVS, licence="CC-BY-4.0"), replace(ARXIVS, record_id="arxiv:2", arxiv_id="1706.03762", licence="CC-BY-NC-4.0"),
        replace(ARXIVS, record_id="s2:1", source="s2", licence="CC-BY-NC-ND-4.0"),
    ]  # fmt: skip
    found = decide_source_openness("1911.02782", list(map(renewed, records)), (Declaration("d", "a.gz", True),))
    assert [(look.evidence, look.found, look.detail) for look in found.looks] == [
        (Evidence.ARXIV, True, "this is the source archive of arXiv 1911.02782"), (Evidence.DECLARED, True, "declared open by d/a.gz"),
    ]  # fmt: skip
    assert (found.open, found.evidence, found.licence, found.licence_detail) == (
        True,
        Evidence.ARXIV,
        "CC-BY-4.0",
        None,
    )
    quiet = decide_source_openness("1911.02782", [])
    assert [look.detail for look in quiet.looks] == [
        "this is the source archive of arXiv 1911.02782",
        "no drop declares open access",
    ]


def test_several_licenses_are_listed_with_the_strictest() -> None:
    places = [
        Declaration(drop, "a.pdf", True, licence)
        for drop, licence in (("a", "CC-BY-4.0"), ("b", None), ("c", "CC-BY-NC-4.0"), ("d", "MIT"))
    ]
    found = decide_openness(A, [HEADER], places, is_preprint=is_preprint)
    assert found.licence_detail == "CC-BY-NC-4.0: the strictest of CC-BY-4.0, CC-BY-NC-4.0, MIT"
    assert (
        decide_openness(A, [HEADER], [places[0], places[0], places[1]], is_preprint=is_preprint).licence_detail is None
    )
