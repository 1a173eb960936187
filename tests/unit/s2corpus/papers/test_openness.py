"""Each full text is open only with evidence (SPEC §5.15–5.21).

The explanation lists the evidence found, its place, and each failed check. Closed texts remain closed.
"""

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from s2corpus.papers.evidence import Declaration, Evidence
from s2corpus.papers.licenses import select_strictest, to_spdx
from s2corpus.papers.openness import Openness, decide_article_openness, decide_openness, decide_source_openness
from s2corpus.sources import Record
from s2corpus.sources.record import OpenVersion
from s2orc_parse.bibliography.licenses import rank_strictness
from tests.unit.s2corpus.papers.samples import DOI, PREPRINT, A, B, declare, header, is_preprint, publisher, record

ARXIV_ID, ACL_ID, ACL_DOI, OTHER_DOI = "1911.02782", "2020.acl-main.447", "10.18653/v1/2020.acl-main.447", "10.1016/y"
COPY = OpenVersion.COPY
ARXIVS = record("arxiv", arxiv_id=ARXIV_ID, license="CC-BY-4.0")
ACLS = publisher("acl", acl_id=ACL_ID, doi=ACL_DOI, open_access=True, license="CC-BY-4.0")
PMCS = record("pubmed", "7", doi=DOI, pmc_id="PMC7", open_access=True, license="CC-BY-NC")
JATS = publisher("jats", pmc_id="PMC4391421", open_access=True, license="CC-BY-2.0")
CROSSREF, PRINTED = publisher(doi=DOI), header(doi=DOI)


def unpaywall(doi: str = DOI, **fields: Any) -> Record:
    return record("unpaywall", doi, doi=doi, **({"open_access": True} | fields))


def openalex(**fields: Any) -> Record:
    return record("openalex", "W1", doi=DOI, open_access=True, **fields)


def judge(*records: Record, places: tuple[Declaration, ...] = (Declaration("d", "a.pdf"),), **options: Any) -> Openness:
    return decide_openness(A, records, places, is_preprint=is_preprint, **options)


def list_looks(found: Openness) -> dict[str, str]:
    """Return the detail of each check by kind of evidence. A detail begins with `! ` if the check found evidence."""
    return {str(look.evidence): ("! " if look.found else "") + look.detail for look in found.searches}


ARXIV, ACL, PMC, UNPAYWALL, PUBLISHER, DECLARED, *_ = Evidence
CASES: dict[str, tuple[list[Record], str, Evidence | None]] = {
    "no evidence": ([header()], "a.pdf", None),
    "it is stamped": ([header(arxiv_id=ARXIV_ID), CROSSREF], "a.pdf", ARXIV),
    "it prints arXiv's DOI": ([header(doi=f"10.48550/arxiv.{ARXIV_ID}")], "a.pdf", ARXIV),
    "arXiv's record has its SHA-1": ([header(), replace(ARXIVS, file_sha1=A), CROSSREF], "a.pdf", ARXIV),
    "arXiv's record has another SHA-1": ([header(), replace(ARXIVS, file_sha1=B), CROSSREF], "a.pdf", None),
    "file name is the paper's arXiv id": ([header(), ARXIVS, CROSSREF], f"{ARXIV_ID}v2.pdf", ARXIV),
    "file name is another arXiv id": ([header(), ARXIVS, CROSSREF], "1706.03762.pdf", None),
    "drop declares the paper's arXiv id": ([header(), declare(arxiv_id=ARXIV_ID), ARXIVS, CROSSREF], "a.pdf", ARXIV),
    "only the drop declares an arXiv id": ([header(), declare(arxiv_id=ARXIV_ID), CROSSREF], "a.pdf", None),
    "all records are arXiv's": ([header(), ARXIVS], "a.pdf", ARXIV),
    "PDF of arXiv's paper prints a DOI": ([PRINTED, replace(ARXIVS, doi=DOI)], "a.pdf", None),
    "PDF of arXiv's paper prints another preprint server's DOI": ([header(doi=PREPRINT), ARXIVS], "a.pdf", ARXIV),
    "its paper is published too": ([header(), ARXIVS, CROSSREF, unpaywall(open_access=False)], "a.pdf", None),
    "it prints an Anthology DOI": ([header(doi=ACL_DOI), CROSSREF], "a.pdf", ACL),
    "it prints an old Anthology DOI": ([header(doi="10.3115/1073083.1073135"), CROSSREF], "a.pdf", ACL),
    "file name is the id in the paper's DOI": (
        [header(), publisher(doi="10.18653/v1/p19-1001"), record("dblp")], "P19-1001.pdf", ACL,
    ),
    "arXiv and the Anthology have it": ([header(), ACLS, ARXIVS], "a.pdf", ACL),
    "PMC has its DOI": ([PRINTED, PMCS], "a.pdf", PMC),
    "it prints a PMC id": ([header(pmc_id="PMC7"), PMCS], "a.pdf", PMC),
    "it prints a PMC id that no record has": ([header(doi=DOI, pmc_id="PMC7")], "a.pdf", None),
    "file name is the article's PMC id": ([header(), JATS], "PMC4391421.pdf", PMC),
    "PMC has the PMC id of its publisher record": (
        [PRINTED, publisher(doi=DOI, pmc_id="PMC7"), replace(PMCS, doi=None)], "a.pdf", PMC,
    ),
    "PMC has it, but not in the open access subset": ([PRINTED, replace(PMCS, open_access=None)], "a.pdf", None),
    "Unpaywall has its DOI": ([PRINTED, unpaywall()], "a.pdf", UNPAYWALL),
    "Unpaywall has its cluster's only DOI": ([header(), unpaywall()], "a.pdf", UNPAYWALL),
    "Unpaywall has the cluster's DOI, and a preprint has another": (
        [header(), CROSSREF, unpaywall(), record("biorxiv", doi=PREPRINT)], "a.pdf", UNPAYWALL,
    ),
    "Unpaywall has one of two DOIs": ([header(), unpaywall(), publisher(doi=OTHER_DOI)], "a.pdf", None),
    "Unpaywall has the DOI that its drop declares": (
        [header(), declare(doi=DOI), publisher(doi=OTHER_DOI), unpaywall()], "a.pdf", UNPAYWALL,
    ),
    "only copies of the paper are open": ([PRINTED, unpaywall(open_version=COPY, pmc_id="PMC7")], "a.pdf", None),
    "it is a preprint, which is open": ([header(doi=PREPRINT), unpaywall(PREPRINT, open_version=COPY)], "a.pdf", UNPAYWALL),
    "its preprint is open, it is not": ([PRINTED, unpaywall(PREPRINT), unpaywall(open_access=False)], "a.pdf", None),
    "PDF prints its DOI, drop declares the preprint's": ([PRINTED, declare(doi=PREPRINT), unpaywall(PREPRINT)], "a.pdf", None),
    "OpenAlex has only copies, one of them in PMC": ([PRINTED, openalex(open_version=COPY, pmc_id="PMC1")], "a.pdf", None),
    "Unpaywall contradicts OpenAlex": ([PRINTED, openalex(), unpaywall(open_access=False)], "a.pdf", None),
    "publisher record states open access": ([PRINTED, publisher("jats", doi=DOI, open_access=True)], "a.pdf", PUBLISHER),
    "record of the PDF states open access": ([header(), record("mylab", file_sha1=A, open_access=True)], "a.pdf", DECLARED),
    "archive record of the paper states open access": ([PRINTED, record("s2", doi=DOI, open_access=True)], "a.pdf", None),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_pdf_is_open_with_this_evidence(case: str) -> None:
    records, name, evidence = CASES[case]
    for order in list(permutations(records))[:6]:
        found = judge(*order, places=(Declaration("d", name),))
        assert (found.open, found.evidence) == (evidence is not None, evidence)
        assert list(list_looks(found)) == [one for one in Evidence if one is not Evidence.CORRECTION]
        assert [look.evidence for look in found.searches if look.found][:1] == ([evidence] if evidence else [])


@pytest.mark.parametrize("case", CASES)
def test_declaration_of_a_drop_closes_or_opens_a_pdf(case: str) -> None:
    """Closed has priority over all evidence, and over the declaration of another drop."""
    records, name, evidence = CASES[case]
    closed = judge(
        *records, places=(Declaration("a", name, True, "CC0-1.0"), Declaration("b", "x.pdf", False)), all_open=True
    )
    assert (closed.open, closed.evidence) == (False, None)
    assert closed.searches[-1].detail == f"declared closed by b/x.pdf and open by a/{name}: closed has priority"
    assert judge(*records, places=(Declaration("d", name, True),)).evidence == (evidence or DECLARED)
    assert judge(*records, places=(Declaration("d", name),), all_open=True).evidence == (evidence or DECLARED)


BY = publisher(doi=DOI, open_access=True, license="CC-BY-4.0")  # as of a version of record in Crossref
NOT_SHARED = "not applied: it does not have an identifier of this full text"
RIGHTS: list[tuple[list[Record], dict[str, Any], Evidence | None, str | None, str | None, dict[str, str]]] = [
    # records, options, evidence, license, its detail, start of each record's effect
    ([PRINTED, BY], {}, PUBLISHER, "CC-BY-4.0", None, {"crossref:1": "opens this text and states its license"}),
    ([header(), BY], {"all_open": True}, PUBLISHER, "CC-BY-4.0", None, {"crossref:1": "opens this text and states its license"}),
    (
        [PRINTED, unpaywall(), BY], {}, UNPAYWALL, "CC-BY-4.0", "CC-BY-4.0, by publisher: unpaywall states no license",
        {"crossref:1": "states the license of this text", f"unpaywall:{DOI}": "opens this text"},
    ),
    (
        [PRINTED, unpaywall(license="CC-BY-NC"), BY], {}, UNPAYWALL, "CC-BY-NC", None,
        {"crossref:1": "not needed: unpaywall decides", f"unpaywall:{DOI}": "opens this text and states its license"},
    ),
    ([header(doi=OTHER_DOI), BY], {}, None, None, None, {"crossref:1": NOT_SHARED}),
    ([header(doi=OTHER_DOI), BY], {"all_open": True}, DECLARED, None, None, {"crossref:1": NOT_SHARED}),
    ([header(arxiv_id=ARXIV_ID, doi=DOI), BY], {}, ARXIV, None, None, {"crossref:1": "not needed: arxiv decides"}),
    ([PRINTED, publisher(doi=DOI, license="tdm")], {}, None, None, None, {"crossref:1": "not applied: the publisher states a license"}),
    ([PRINTED, record("s2", doi=DOI, license="CC-BY")], {}, None, None, None, {"s2:1": "not applied: only publishers"}),
]  # fmt: skip


@pytest.mark.parametrize(("records", "options", "evidence", "license", "detail", "effects"), RIGHTS)
def test_rights_that_records_state_have_this_effect(
    records: list[Record],
    options: dict[str, Any],
    evidence: Evidence | None,
    license: str | None,
    detail: str | None,
    effects: dict[str, str],
) -> None:
    found = judge(*records, **options)
    assert (found.evidence, found.license, found.license_detail) == (evidence, license, detail)
    assert [one.record_id for one in found.stated] == [*effects]
    assert all(one.effect.startswith(effects[one.record_id]) for one in found.stated)


@pytest.mark.parametrize(
    ("own", "records", "places", "evidence", "license"),
    [
        ({"open_access": True, "license": "MIT"}, [], [], PUBLISHER, "MIT"), ({"license": "MIT"}, [], [], None, None),
        ({"doi": DOI}, [publisher(doi=DOI, open_access=True, license="MIT")], [], PUBLISHER, "MIT"),
        ({"doi": DOI}, [unpaywall(license="MIT")], [], UNPAYWALL, "MIT"), ({"doi": DOI}, [PMCS], [], PMC, "CC-BY-NC"),
        ({}, [], [Declaration("d", "a.xml", True, "MIT")], DECLARED, "MIT"),
        ({"open_access": True}, [], [Declaration("d", "a.xml", False, "CC-BY-NC-4.0")], None, "CC-BY-NC-4.0"),
    ],
)  # fmt: skip
def test_publishers_full_text_is_open_by_its_metadata(
    own: dict[str, Any],
    records: list[Record],
    places: list[Declaration],
    evidence: Evidence | None,
    license: str | None,
) -> None:
    """No check searches a publisher's full text for arXiv and ACL ids."""
    text = record("jats", A, **own)
    found = decide_article_openness(A, records, places, own=text, is_preprint=is_preprint)
    assert (found.open, found.evidence, found.license) == (evidence is not None, evidence, license)
    assert [look.evidence for look in found.searches] == [PMC, UNPAYWALL, PUBLISHER, DECLARED]
    quiet = replace(text, open_access=None)
    own_release = decide_article_openness(A, [], own=quiet, is_preprint=is_preprint, all_open=True)
    assert own_release.evidence is DECLARED


def test_latex_source_is_open_with_license_of_arxiv_record() -> None:
    others = [
        replace(ARXIVS, record_id="arxiv:2", arxiv_id="1706.03762", license="CC-BY-NC-4.0"),
        replace(ARXIVS, record_id="s2:1", source="s2", license="CC-BY-NC-ND-4.0"),
        publisher(license="CC0-1.0"),
    ]
    found = decide_source_openness(ARXIV_ID, [ARXIVS, *others], (Declaration("d", "a.gz", True),))
    source = f"! this is the source archive of arXiv {ARXIV_ID}"
    assert list_looks(found) == {"arxiv": source, "declared": "! declared open by d/a.gz"}
    assert (found.evidence, found.license, found.license_detail) == (ARXIV, "CC-BY-4.0", None)
    quiet = decide_source_openness(ARXIV_ID, [])
    assert quiet.open and list_looks(quiet) == {"arxiv": source, "declared": "no drop declares open access"}
    assert not decide_source_openness(ARXIV_ID, [ARXIVS], (Declaration("d", f"{ARXIV_ID}.gz", False),)).open


@pytest.mark.parametrize(
    ("records", "licenses", "expected", "detail"),
    [
        # Only the licenses of the evidence and of the deliverers count.
        ([header(arxiv_id=ARXIV_ID), ARXIVS, unpaywall(license="CC0-1.0")], [], "CC-BY-4.0", None),
        ([header(arxiv_id=ARXIV_ID), publisher(license="CC0-1.0")], [], None, None),
        ([PRINTED, unpaywall(license="CC-BY")], ["CC-BY-NC-4.0"], "CC-BY-NC-4.0", "CC-BY, CC-BY-NC-4.0"),
        ([PRINTED, PMCS, replace(PMCS, record_id="jats:1", license="CC-BY")], [], "CC-BY-NC", "CC-BY, CC-BY-NC"),
        ([header()], ["CC-BY-4.0", None, "CC-BY-NC-4.0", "MIT"], "CC-BY-NC-4.0", "CC-BY-4.0, CC-BY-NC-4.0, MIT"),
    ],
)
def test_license_is_strictest_among_those_of_the_evidence(
    records: list[Record], licenses: list[str | None], expected: str | None, detail: str | None
) -> None:
    places = tuple(Declaration(f"d{n}", "a.pdf", None, license) for n, license in enumerate(licenses))
    found = judge(*records, places=places, all_open=True)
    listed = detail and f"{expected}: the strictest of {', '.join(sorted(detail.split(', ')))}"
    assert (found.license, found.license_detail) == (expected, listed)


@pytest.mark.parametrize(
    ("strictness", "licenses"),
    [
        (0, ["CC0-1.0", "PDM-1.0", "CC-PDM-1.0", "public domain"]), (1, ["CC-BY-4.0", "cc by", "CC-BY-3.0-IGO", "MIT", "Apache-2.0"]),
        (2, ["CC-BY-SA-4.0"]), (3, ["CC-BY-ND"]), (4, ["CC-BY-NC-2.0"]), (5, ["CC-BY-NC-SA-4.0"]), (6, ["CC-BY-NC-ND-4.0"]),
        (7, ["CC-BY-SA-NC", "arXiv-nonexclusive-1.0", "publisher's own"]),
    ],
)  # fmt: skip
def test_license_has_its_strictness(strictness: int, licenses: list[str]) -> None:
    assert {rank_strictness(license) for license in licenses} == {strictness}
    assert select_strictest([None, "CC0-1.0", "", *licenses]) == min(licenses)
    assert select_strictest(["", None]) is None


@pytest.mark.parametrize(
    ("license", "written"),
    [
        (None, "NOASSERTION"), ("—", "NOASSERTION"), ("cc-by-4.0", "CC-BY-4.0"), ("pdm-1.0", "CC-PDM-1.0"), (" MIT ", "MIT"),
        ("publisher's own", "LicenseRef-publisher-s-own"), ("LicenseRef-.x-", "LicenseRef-x"),
    ],
)  # fmt: skip
def test_license_is_converted_to_spdx(license: str | None, written: str) -> None:
    assert to_spdx(license) == written
