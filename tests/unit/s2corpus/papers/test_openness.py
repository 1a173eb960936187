"""Each full text is open only with evidence (SPEC §5.15–5.21).

The explanation lists the evidence found, its place, and each failed check. Closed texts remain closed.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from s2corpus.papers.openness import (
    Declaration,
    Evidence,
    Openness,
    decide_article_openness,
    decide_openness,
    decide_source_openness,
)
from s2corpus.sources import Record
from s2corpus.sources.record import OpenVersion
from tests.unit.s2corpus.papers.samples import DOI, PREPRINT, A, B, declare, header, is_preprint, publisher, record

ARXIV_ID, ACL_ID, ACL_DOI, OTHER_DOI = "1911.02782", "2020.acl-main.447", "10.18653/v1/2020.acl-main.447", "10.1016/y"
COPY = OpenVersion.COPY
ARXIVS = record("arxiv", arxiv_id=ARXIV_ID, licence="CC-BY-4.0")
ACLS = publisher("acl", acl_id=ACL_ID, doi=ACL_DOI, open_access=True, licence="CC-BY-4.0")
PMCS = record("pubmed", "7", doi=DOI, pmc_id="PMC7", open_access=True, licence="CC-BY-NC")
JATS = publisher("jats", pmc_id="PMC4391421", open_access=True, licence="CC-BY-2.0")
CROSSREF, PRINTED = publisher(doi=DOI), header(doi=DOI)


def unpaywall(doi: str = DOI, **fields: Any) -> Record:
    return record("unpaywall", doi, doi=doi, **({"open_access": True} | fields))


def openalex(**fields: Any) -> Record:
    return record("openalex", "W1", doi=DOI, open_access=True, **fields)


def judge(*records: Record, places: tuple[Declaration, ...] = (Declaration("d", "a.pdf"),), **options: Any) -> Openness:
    return decide_openness(A, records, places, is_preprint=is_preprint, **options)


def list_looks(found: Openness) -> dict[str, str]:
    """Return the detail of each check by kind of evidence. A detail begins with `! ` if the check found evidence."""
    return {str(look.evidence): ("! " if look.found else "") + look.detail for look in found.looks}


def explain_missing(ids: str, pmc_ids: str = "") -> dict[str, str]:
    """Return the details of the failed checks that search for the identifiers of a full text."""
    return {
        "pmc": f"no record of PMC's open access subset has {ids.replace(')', f'{pmc_ids})')}",
        "unpaywall": f"no record has {ids}",
        "publisher": f"no publisher record with {ids.replace(')', f'{pmc_ids})')} states open access",
    }


NO_ARXIV = "no arXiv id in the PDF, none in the file name (a.pdf)"
NOTHING = {
    "arxiv": NO_ARXIV,
    "acl": "no ACL Anthology id in the PDF, none in the file name (a.pdf)",
    **explain_missing("the DOI of this full text (none is available)"),
    "declared": "no drop declares open access",
}
OF_DOI = explain_missing(f"an identifier of this full text ({DOI})")
CROSSREF_TOO = "the paper also has records from crossref"

CASES: dict[str, tuple[list[Record], str, Evidence | None, dict[str, str]]] = {
    "no evidence": ([header()], "a.pdf", None, NOTHING),
    "it is stamped": (
        [header(arxiv_id=ARXIV_ID), CROSSREF], "a.pdf", Evidence.ARXIV, {"arxiv": f"! the PDF contains the arXiv id {ARXIV_ID}"},
    ),
    "it prints arXiv's DOI": ([header(doi=f"10.48550/arxiv.{ARXIV_ID}")], "a.pdf", Evidence.ARXIV, {}),
    "arXiv's record has its SHA-1": (
        [header(), replace(ARXIVS, file_sha1=A), CROSSREF], "a.pdf", Evidence.ARXIV, {"arxiv": "! referenced by arxiv:1"},
    ),
    "arXiv's record has another SHA-1": (
        [header(), replace(ARXIVS, file_sha1=B), CROSSREF], "a.pdf", None, {**OF_DOI, "arxiv": f"{NO_ARXIV}, {CROSSREF_TOO}"},
    ),
    "file name is the paper's arXiv id": (
        [header(), ARXIVS, CROSSREF], f"{ARXIV_ID}v2.pdf", Evidence.ARXIV,
        {"arxiv": f"! the file name contains the paper's arXiv id {ARXIV_ID}"},
    ),
    "file name is another arXiv id": (
        [header(), ARXIVS, CROSSREF], "1706.03762.pdf", None,
        {"arxiv": f"no arXiv id in the PDF, none of the paper's ids in the file name (1706.03762.pdf), {CROSSREF_TOO}"},
    ),
    "file name is an arXiv id that the paper lacks": ([header(), CROSSREF], f"{ARXIV_ID}.pdf", None, {}),
    "drop declares the paper's arXiv id": (
        [header(), declare(arxiv_id=ARXIV_ID), ARXIVS, CROSSREF], "a.pdf", Evidence.ARXIV,
        {"arxiv": f"! the drop declares the paper's arXiv id {ARXIV_ID}"},
    ),
    "only the drop declares an arXiv id": (
        [header(), declare(arxiv_id=ARXIV_ID), CROSSREF], "a.pdf", None,
        {"arxiv": f"{NO_ARXIV}, no other record of the paper has the declared {ARXIV_ID}"},
    ),
    "all records are arXiv's": ([header(), ARXIVS], "a.pdf", Evidence.ARXIV, {"arxiv": "! the paper has records only from arXiv"}),
    "all records are arXiv's, and it prints a preprint's DOI": ([header(doi=PREPRINT), ARXIVS], "a.pdf", Evidence.ARXIV, {}),
    "all records are arXiv's, but it prints a publisher's DOI": (
        [PRINTED, replace(ARXIVS, doi=DOI)], "a.pdf", None, {**OF_DOI, "arxiv": f"{NO_ARXIV}, the PDF has the DOI {DOI}"},
    ),
    "its paper is published too": (
        [header(), ARXIVS, CROSSREF, unpaywall(open_access=False)], "a.pdf", None,
        {**OF_DOI, "arxiv": f"{NO_ARXIV}, {CROSSREF_TOO}, unpaywall", "unpaywall": f"{DOI} is closed"},
    ),
    "it prints an Anthology DOI": ([header(doi=ACL_DOI), CROSSREF], "a.pdf", Evidence.ACL, {}),
    "it prints an old Anthology DOI": ([header(doi="10.3115/1073083.1073135")], "a.pdf", Evidence.ACL, {}),
    "it carries an Anthology id": (
        [header(acl_id="P19-1001"), CROSSREF], "a.pdf", Evidence.ACL, {"acl": "! the PDF contains the ACL Anthology id P19-1001"},
    ),
    "the Anthology's record has its SHA-1": ([header(), replace(ACLS, file_sha1=A), record("dblp")], "a.pdf", Evidence.ACL, {}),
    "file name is the paper's Anthology id": ([header(), ACLS, record("dblp")], f"{ACL_ID}.pdf", Evidence.ACL, {}),
    "file name is the id in the paper's DOI": (
        [header(), publisher(doi="10.18653/v1/p19-1001"), record("dblp")], "P19-1001.pdf", Evidence.ACL, {},
    ),
    "drop declares the Anthology's DOI": ([header(), declare(doi=ACL_DOI), ACLS, record("dblp")], "a.pdf", Evidence.ACL, {}),
    "all records are the Anthology's": (
        [header(), ACLS, publisher(doi=ACL_DOI)], "a.pdf", Evidence.ACL, {"acl": "! the paper has records only from ACL Anthology"},
    ),
    "arXiv and the Anthology have it, and it is not stamped": (
        [header(), ACLS, ARXIVS], "a.pdf", Evidence.ACL,
        {"arxiv": f"{NO_ARXIV}, the paper also has records from acl", "acl": "! the paper has records only from ACL Anthology and arXiv"},
    ),
    "arXiv and the Anthology have it, and it is stamped": ([header(arxiv_id=ARXIV_ID), ACLS, ARXIVS], "a.pdf", Evidence.ARXIV, {}),
    "PMC has its DOI": ([PRINTED, PMCS], "a.pdf", Evidence.PMC, {"pmc": "! PMC7 is in PMC's open access subset (according to pubmed:7)"}),
    "it prints a PMC id": ([header(pmc_id="PMC7"), PMCS], "a.pdf", Evidence.PMC, {}),
    "it prints a PMC id that no record has": (
        [header(doi=DOI, pmc_id="PMC7")], "a.pdf", None, explain_missing(f"an identifier of this full text ({DOI})", ", PMC7"),
    ),
    "file name is the article's PMC id": ([header(), JATS], "PMC4391421.pdf", Evidence.PMC, {}),
    "file name is another PMC id": ([header(), JATS], "PMC1.pdf", None, {}),
    "file name contains more than the PMC id": ([header(), JATS], "about PMC4391421.pdf", None, {}),
    "file name is the number of the PMC id": ([header(), JATS], "4391421.pdf", None, {}),
    "PMC has the PMC id of its publisher record": (
        [PRINTED, publisher(doi=DOI, pmc_id="PMC7"), replace(PMCS, doi=None)], "a.pdf", Evidence.PMC, {},
    ),
    "PMC has it, but not in the open access subset": ([PRINTED, replace(PMCS, open_access=None)], "a.pdf", None, {}),
    "PMC has another paper": ([header(doi=OTHER_DOI), PMCS], "a.pdf", None, {}),
    "Unpaywall has its DOI": ([PRINTED, unpaywall()], "a.pdf", Evidence.UNPAYWALL, {**OF_DOI, "unpaywall": f"! {DOI} is open"}),
    "Unpaywall has its cluster's only DOI": ([header(), unpaywall()], "a.pdf", Evidence.UNPAYWALL, {}),
    "Unpaywall has the cluster's DOI, and a preprint has another": (
        [header(), CROSSREF, unpaywall(), record("biorxiv", doi=PREPRINT)], "a.pdf", Evidence.UNPAYWALL, {},
    ),
    "Unpaywall has one of its cluster's two DOIs": (
        [header(), unpaywall(), publisher(doi=OTHER_DOI)], "a.pdf", None,
        explain_missing(f"the DOI of this full text (ambiguous: {DOI}, {OTHER_DOI})"),
    ),
    "Unpaywall has another DOI than it prints": ([header(doi=OTHER_DOI), unpaywall()], "a.pdf", None, {}),
    "Unpaywall has the DOI that its drop declares": (
        [header(), declare(doi=DOI), publisher(doi=OTHER_DOI), unpaywall()], "a.pdf", Evidence.UNPAYWALL, {},
    ),
    "the published version is open": ([PRINTED, unpaywall(open_version=OpenVersion.PUBLISHED)], "a.pdf", Evidence.UNPAYWALL, {}),
    "only copies of the paper are open": (
        [PRINTED, unpaywall(open_version=COPY, pmc_id="PMC7")], "a.pdf", None,
        {"unpaywall": f"{DOI}: only copies are open, not the published version", "pmc": OF_DOI["pmc"]},
    ),
    "it is a preprint, which is open": ([header(doi=PREPRINT), unpaywall(PREPRINT, open_version=COPY)], "a.pdf", Evidence.UNPAYWALL, {}),
    "its preprint is open, it is not": ([PRINTED, unpaywall(PREPRINT), unpaywall(open_access=False)], "a.pdf", None, {}),
    "PDF prints its DOI, drop declares the preprint's": ([PRINTED, declare(doi=PREPRINT), unpaywall(PREPRINT)], "a.pdf", None, {}),
    "OpenAlex repeats that the published version is open": (
        [PRINTED, openalex(open_version=OpenVersion.PUBLISHED)], "a.pdf", Evidence.UNPAYWALL, {},
    ),
    "OpenAlex has only copies, one of them in PMC": ([PRINTED, openalex(open_version=COPY, pmc_id="PMC1")], "a.pdf", None, {}),
    "Unpaywall contradicts OpenAlex": ([PRINTED, openalex(), unpaywall(open_access=False)], "a.pdf", None, {}),
    "publisher record states open access": (
        [PRINTED, publisher("jats", doi=DOI, open_access=True)], "a.pdf", Evidence.PUBLISHER,
        {**OF_DOI, "publisher": "! open access according to jats:1"},
    ),
    "record of the PDF states open access": (
        [header(), record("mylab", file_sha1=A, open_access=True)], "a.pdf", Evidence.DECLARED,
        {"declared": "! referenced as open access by mylab:1"},
    ),
    "record of another PDF states open access": ([header(), record("mylab", file_sha1=B, open_access=True)], "a.pdf", None, NOTHING),
    "archive record of the paper states open access": ([PRINTED, record("s2", doi=DOI, open_access=True)], "a.pdf", None, {}),
    "header states open access": ([header(open_access=True)], "a.pdf", None, {}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_pdf_is_open_with_this_evidence(case: str) -> None:
    records, name, evidence, details = CASES[case]
    for order in list(permutations(records))[:6]:
        found = judge(*order, places=(Declaration("d", name),))
        assert (found.open, found.evidence) == (evidence is not None, evidence)
        assert list(list_looks(found)) == list(Evidence) and all(look.detail for look in found.looks)
        assert [look.evidence for look in found.looks if look.found][:1] == ([evidence] if evidence else [])
        assert list_looks(found) | details == list_looks(found)


@pytest.mark.parametrize("case", CASES)
def test_declaration_of_a_drop_closes_or_opens_a_pdf(case: str) -> None:
    """Closed has priority over all evidence, and over the declaration of another drop."""
    records, name, evidence, _ = CASES[case]
    closed = judge(
        *records, places=(Declaration("a", name, True, "CC0-1.0"), Declaration("b", "x.pdf", False)), all_open=True
    )
    assert (closed.open, closed.evidence) == (False, None)
    assert closed.looks[-1].detail == f"declared closed by b/x.pdf and open by a/{name}: closed has priority"
    assert judge(*records, places=(Declaration("d", name, True),)).evidence == (evidence or Evidence.DECLARED)


@pytest.mark.parametrize(
    ("places", "all_open", "detail"),
    [
        ([("d", "a", True)], False, "! declared open by d/a"),
        ([("d", "a", None), ("e", "b", True), ("c", "x", True)], False, "! declared open by c/x, e/b"),
        ([("d", "a", None)], True, "! the release contains the user's own PDFs"),
        ([("d", "a", False)], True, "declared closed by d/a: closed has priority"),
        ([("d", "a", False), ("c", "b", False)], False, "declared closed by c/b, d/a: closed has priority"),
    ],
)
def test_declarations_of_drops_are_explained(
    places: list[tuple[str, str, bool | None]], all_open: bool, detail: str
) -> None:
    found = judge(header(), places=tuple(Declaration(*place) for place in places), all_open=all_open)
    assert list_looks(found)["declared"] == detail


@pytest.mark.parametrize(
    ("names", "listed"),
    [
        (0, ""),
        (5, ", none in the file name (0, 1, 2, 3, 4)"),
        (6, ", none in the file name (0, 1, 2, 3, 4 and 1 more)"),
    ],
)
def test_at_most_five_file_names_are_listed(names: int, listed: str) -> None:
    places = tuple(Declaration("d", str(n)) for n in reversed(range(names)))
    assert list_looks(judge(header(), places=places))["arxiv"] == f"no arXiv id in the PDF{listed}"


@pytest.mark.parametrize(
    ("own", "records", "places", "looks", "licence"),
    [
        ({"open_access": True, "licence": "MIT"}, [], [], {"publisher": "! its own metadata states open access, MIT"}, "MIT"),
        ({"open_access": True}, [], [], {"publisher": "! its own metadata states open access"}, None),
        ({"licence": "MIT"}, [], [], {}, None),
        ({"doi": DOI}, [publisher(doi=DOI, open_access=True, licence="MIT")], [],
         {**OF_DOI, "publisher": "! open access according to crossref:1"}, "MIT"),
        ({"doi": DOI}, [unpaywall(licence="MIT")], [], {**OF_DOI, "unpaywall": f"! {DOI} is open"}, "MIT"),
        ({"doi": DOI}, [PMCS], [], {**OF_DOI, "pmc": "! PMC7 is in PMC's open access subset (according to pubmed:7)"}, "CC-BY-NC"),
        ({"doi": OTHER_DOI}, [unpaywall()], [], explain_missing(f"an identifier of this full text ({OTHER_DOI})"), None),
        ({}, [], [Declaration("d", "a.xml", True, "MIT")], {"declared": "! declared open by d/a.xml"}, "MIT"),
        ({"open_access": True, "licence": "MIT"}, [], [Declaration("d", "a.xml", False, "CC-BY-NC-4.0")],
         {"publisher": "! its own metadata states open access, MIT", "declared": "declared closed by d/a.xml: closed has priority"},
         "CC-BY-NC-4.0"),
    ],
)  # fmt: skip
def test_publishers_full_text_is_open_by_its_metadata(
    own: dict[str, Any], records: list[Record], places: list[Declaration], looks: dict[str, str], licence: str | None
) -> None:
    """No check searches a publisher's full text for arXiv and ACL ids."""
    text = record("jats", A, **own)
    found = decide_article_openness(A, records, places, own=text, is_preprint=is_preprint)
    assert list_looks(found) == {key: text for key, text in NOTHING.items() if key not in ("arxiv", "acl")} | looks
    is_closed = any(place.open_access is False for place in places)
    assert (found.open, found.licence) == (not is_closed and "! " in str(looks), licence)
    quiet = replace(text, open_access=None)
    own_release = decide_article_openness(A, [], own=quiet, is_preprint=is_preprint, all_open=True)
    assert own_release.evidence is Evidence.DECLARED


def test_latex_source_is_open_with_license_of_arxiv_record() -> None:
    others = [
        replace(ARXIVS, record_id="arxiv:2", arxiv_id="1706.03762", licence="CC-BY-NC-4.0"),
        replace(ARXIVS, record_id="s2:1", source="s2", licence="CC-BY-NC-ND-4.0"),
        publisher(licence="CC0-1.0"),
    ]
    found = decide_source_openness(ARXIV_ID, [ARXIVS, *others], (Declaration("d", "a.gz", True),))
    source = f"! this is the source archive of arXiv {ARXIV_ID}"
    assert list_looks(found) == {"arxiv": source, "declared": "! declared open by d/a.gz"}
    assert (found.open, found.evidence, found.licence, found.licence_detail) == (
        True,
        Evidence.ARXIV,
        "CC-BY-4.0",
        None,
    )
    quiet = decide_source_openness(ARXIV_ID, [])
    assert quiet.open and list_looks(quiet) == {"arxiv": source, "declared": "no drop declares open access"}
    assert not decide_source_openness(ARXIV_ID, [ARXIVS], (Declaration("d", f"{ARXIV_ID}.gz", False),)).open


@pytest.mark.parametrize(
    ("records", "licences", "expected", "detail"),
    [
        # Only the licenses of the evidence and of the deliverers count.
        ([header(arxiv_id=ARXIV_ID), ARXIVS, unpaywall(licence="CC0-1.0")], [], "CC-BY-4.0", None),
        ([header(arxiv_id=ARXIV_ID), publisher(licence="CC0-1.0")], [], None, None),
        ([PRINTED, unpaywall(licence="CC-BY")], ["CC0-1.0"], "CC-BY", "CC0-1.0, CC-BY"),
        ([PRINTED, unpaywall(licence="CC-BY")], ["CC-BY-NC-4.0"], "CC-BY-NC-4.0", "CC-BY, CC-BY-NC-4.0"),
        ([PRINTED, PMCS, replace(PMCS, record_id="jats:1", licence="CC-BY")], [], "CC-BY-NC", "CC-BY, CC-BY-NC"),
        ([header()], ["CC-BY-4.0", None, "CC-BY-NC-4.0", "MIT"], "CC-BY-NC-4.0", "CC-BY-4.0, CC-BY-NC-4.0, MIT"),
        ([header()], ["MIT", "MIT", None], "MIT", None),
    ],
)
def test_license_is_strictest_among_those_of_the_evidence(
    records: list[Record], licences: list[str | None], expected: str | None, detail: str | None
) -> None:
    places = tuple(Declaration(f"d{n}", "a.pdf", None, licence) for n, licence in enumerate(licences))
    found = judge(*records, places=places, all_open=True)
    listed = detail and f"{expected}: the strictest of {', '.join(sorted(detail.split(', ')))}"
    assert (found.licence, found.licence_detail) == (expected, listed)
