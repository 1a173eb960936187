"""Each full text is open only with evidence (SPEC §5.15–5.21).

Failed checks are listed, and closed texts remain closed.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace
from itertools import permutations
from typing import Any

import pytest

from s2corpus.papers.licences import select_strictest
from s2corpus.papers.openness import (
    Declaration,
    Evidence,
    Openness,
    decide_openness,
    decide_source_openness,
)
from s2corpus.sources import Record, RecordKind
from s2corpus.sources.record import OpenVersion
from s2orc_parse.bibliography.identifiers import acl_id_of_name, arxiv_id_of_name

A = "a" * 40
ARXIV_ID, ACL_ID, ACL_DOI = "1911.02782", "2020.acl-main.447", "10.18653/v1/2020.acl-main.447"
PUBLISHED, PREPRINT = "10.1016/j.artint.2020.1", "10.1101/2020.01.01.123456"


def record(source: str, native: str = "1", kind: RecordKind = RecordKind.ARCHIVE, **fields: Any) -> Record:
    return Record(f"{source}:{native}", source, kind, **fields)


def header(**fields: Any) -> Record:
    return record("grobid", A, RecordKind.PDF, file_sha1=A, **fields)


def declared(**fields: Any) -> Record:
    return record("declared", "d/a.pdf", file_sha1=A, **fields)


def publisher(doi: str = PUBLISHED, **fields: Any) -> Record:
    return record("crossref", doi, RecordKind.PUBLISHER, doi=doi, **fields)


def unpaywall(doi: str = PUBLISHED, **fields: Any) -> Record:
    return record("unpaywall", doi, doi=doi, **({"open_access": True} | fields))


ARXIVS = record("arxiv", ARXIV_ID, arxiv_id=ARXIV_ID, licence="CC-BY-4.0")
ACLS = record("acl", ACL_ID, RecordKind.PUBLISHER, acl_id=ACL_ID, doi=ACL_DOI, open_access=True, licence="CC-BY-4.0")
PMCS = record("pubmed", "7", doi=PUBLISHED, pmc_id="PMC7", open_access=True, licence="CC-BY-NC")


def renewed(record: Record) -> Record:
    """Return a copy of the record with new string objects of equal value, as after reading it from a file."""
    values = {f.name: getattr(record, f.name) for f in fields(record)}
    copies: dict[str, Any] = {name: "".join(list(value)) for name, value in values.items() if type(value) is str}
    return replace(record, **copies)


def judged(*records: Record, name: str = "a.pdf", places: tuple[Declaration, ...] = (), **options: Any) -> Openness:
    """Return the openness of the PDF A, delivered as `name`. The preprint prefixes are 10.1101 and 10.48550 (arXiv)."""
    is_preprint = lambda doi: doi.startswith(("10.1101/", "10.48550/"))  # noqa: E731
    return decide_openness(
        A, list(map(renewed, records)), places or (Declaration("d", name),), is_preprint=is_preprint, **options
    )


CASES: dict[str, tuple[list[Record], str, Evidence | None]] = {
    "it is stamped": ([header(arxiv_id=ARXIV_ID)], "a.pdf", Evidence.ARXIV),
    "it is stamped, and also published": ([header(arxiv_id=ARXIV_ID), publisher()], "a.pdf", Evidence.ARXIV),
    "it prints arXiv's DOI": ([header(doi=f"10.48550/arxiv.{ARXIV_ID}")], "a.pdf", Evidence.ARXIV),
    "arXiv's record names it": ([header(), replace(ARXIVS, file_sha1=A), publisher()], "a.pdf", Evidence.ARXIV),
    "it is called by its paper's arXiv id": ([header(), ARXIVS, publisher()], f"{ARXIV_ID}v2.pdf", Evidence.ARXIV),
    "it is called by another arXiv id": ([header(), ARXIVS, publisher()], "1706.03762.pdf", None),
    "it is called by an arXiv id, and its paper has none": ([header(), publisher()], f"{ARXIV_ID}.pdf", None),
    "its drop gives it its paper's arXiv id": ([header(), declared(arxiv_id=ARXIV_ID), ARXIVS, publisher()], "a.pdf", Evidence.ARXIV),
    "its drop alone gives it an arXiv id": ([header(), declared(arxiv_id=ARXIV_ID), publisher()], "a.pdf", None),
    "all records are arXiv's": ([header(), ARXIVS], "a.pdf", Evidence.ARXIV),
    "all records are arXiv's but it prints a publisher's DOI": ([header(doi=PUBLISHED), replace(ARXIVS, doi=PUBLISHED)], "a.pdf", None),
    "its paper is published too": ([header(), ARXIVS, publisher()], "a.pdf", None),
    "it prints an Anthology DOI": ([header(doi=ACL_DOI), publisher()], "a.pdf", Evidence.ACL),
    "it prints an old Anthology DOI": ([header(doi="10.3115/1073083.1073135")], "a.pdf", Evidence.ACL),
    "it carries an Anthology id": ([header(acl_id="P19-1001"), publisher()], "a.pdf", Evidence.ACL),
    "the Anthology's record names it": ([header(), replace(ACLS, file_sha1=A), record("dblp")], "a.pdf", Evidence.ACL),
    "it is called by its paper's Anthology id": ([header(), ACLS, record("dblp")], f"{ACL_ID}.pdf", Evidence.ACL),
    "it is called by the id in its paper's DOI": (
        [header(), publisher("10.18653/v1/p19-1001"), record("dblp")], "P19-1001.pdf", Evidence.ACL,
    ),
    "its drop gives it the Anthology's DOI": ([header(), declared(doi=ACL_DOI), ACLS, record("dblp")], "a.pdf", Evidence.ACL),
    "all records are the Anthology's": ([header(), ACLS, publisher(ACL_DOI)], "a.pdf", Evidence.ACL),
    "arXiv and the Anthology have it, and it is not stamped": ([header(), ACLS, ARXIVS], "a.pdf", Evidence.ACL),
    "arXiv and the Anthology have it, and it is stamped": ([header(arxiv_id=ARXIV_ID), ACLS, ARXIVS], "a.pdf", Evidence.ARXIV),
    "PMC has its DOI": ([header(doi=PUBLISHED), PMCS], "a.pdf", Evidence.PMC),
    "it prints a PMC id": ([header(pmc_id="PMC7"), PMCS], "a.pdf", Evidence.PMC),
    "PMC has the PMC id of its publisher record": (
        [header(doi=PUBLISHED), publisher(pmc_id="PMC7"), replace(PMCS, doi=None)], "a.pdf", Evidence.PMC,
    ),
    "PMC has it, but not in the open access subset": ([header(doi=PUBLISHED), replace(PMCS, open_access=None)], "a.pdf", None),
    "PMC has another paper": ([header(doi="10.1016/y"), PMCS], "a.pdf", None),
    "Unpaywall has its DOI": ([header(doi=PUBLISHED), unpaywall()], "a.pdf", Evidence.UNPAYWALL),
    "Unpaywall has its cluster's only DOI": ([header(), unpaywall()], "a.pdf", Evidence.UNPAYWALL),
    "Unpaywall has its cluster's DOI, besides a preprint's": (
        [header(), publisher(), unpaywall(), record("biorxiv", doi=PREPRINT)], "a.pdf", Evidence.UNPAYWALL,
    ),
    "Unpaywall has one of its cluster's two DOIs": ([header(), unpaywall(), publisher("10.1016/y")], "a.pdf", None),
    "Unpaywall has another DOI than it prints": ([header(doi="10.1016/y"), unpaywall()], "a.pdf", None),
    "Unpaywall has the DOI that its drop declares": (
        [header(), declared(doi=PUBLISHED), publisher("10.1016/y"), unpaywall()], "a.pdf", Evidence.UNPAYWALL,
    ),
    "Unpaywall says closed": ([header(doi=PUBLISHED), unpaywall(open_access=False)], "a.pdf", None),
    "the published version is open": ([header(doi=PUBLISHED), unpaywall(open_version=OpenVersion.PUBLISHED)], "a.pdf", Evidence.UNPAYWALL),
    "only copies of the paper are open": ([header(doi=PUBLISHED), unpaywall(open_version=OpenVersion.COPY)], "a.pdf", None),
    "it is a preprint, which is open": (
        [header(doi=PREPRINT), unpaywall(PREPRINT, open_version=OpenVersion.COPY)], "a.pdf", Evidence.UNPAYWALL,
    ),
    "its preprint is open, it is not": ([header(doi=PUBLISHED), unpaywall(PREPRINT), unpaywall(open_access=False)], "a.pdf", None),
    "it prints its own DOI, its drop gives it its preprint's": (
        [header(doi=PUBLISHED), declared(doi=PREPRINT), unpaywall(PREPRINT)], "a.pdf", None,
    ),
    "its publisher says so": (
        [header(doi=PUBLISHED), record("jats", kind=RecordKind.PUBLISHER, doi=PUBLISHED, open_access=True)], "a.pdf", Evidence.PUBLISHER,
    ),
    "a source names it and says so": ([header(), record("mylab", file_sha1=A, open_access=True)], "a.pdf", Evidence.DECLARED),
    "a source says so of the paper": ([header(doi=PUBLISHED), record("s2", doi=PUBLISHED, open_access=True)], "a.pdf", None),
    "its header says so": ([header(open_access=True)], "a.pdf", None),
    "nothing is known": ([header()], "a.pdf", None),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_pdf_is_open_with_this_evidence(case: str) -> None:
    records, name, evidence = CASES[case]
    for order in list(permutations(records))[:6]:
        found = judged(*order, name=name)
        assert (found.open, found.evidence) == (evidence is not None, evidence)
        assert [look.evidence for look in found.looks] == list(Evidence)
        assert [look.evidence for look in found.looks if look.found][:1] == ([evidence] if evidence else [])
        assert all(look.detail for look in found.looks)


@pytest.mark.parametrize("case", CASES)
def test_pdf_declared_closed_is_closed_despite_evidence(case: str) -> None:
    records, name, _ = CASES[case]
    found = judged(
        *records, places=(Declaration("a", name, True, "CC0-1.0"), Declaration("b", "x.pdf", False)), all_open=True
    )
    assert not found.open and found.evidence is None
    assert found.looks[-1].detail == f"declared closed by b/x.pdf and open by a/{name}: closed has priority"


@pytest.mark.parametrize("case", CASES)
def test_pdf_declared_open_is_open(case: str) -> None:
    records, name, evidence = CASES[case]
    assert judged(*records, places=(Declaration("d", name, True),)).evidence == (evidence or Evidence.DECLARED)


def test_own_pdfs_are_open() -> None:
    assert judged(header(), all_open=True).evidence is Evidence.DECLARED


def test_latex_source_is_open_with_license_of_arxiv_record() -> None:
    found = decide_source_openness(ARXIV_ID, [ARXIVS, publisher(licence="CC0-1.0")])
    assert (found.open, found.evidence, found.licence) == (True, Evidence.ARXIV, "CC-BY-4.0")
    assert decide_source_openness(ARXIV_ID, []).open
    assert not decide_source_openness(ARXIV_ID, [ARXIVS], (Declaration("d", f"{ARXIV_ID}.gz", False),)).open


@pytest.mark.parametrize(
    ("records", "declared_licences", "licence"),
    [
        # Only the evidence's license counts.
        ([header(arxiv_id=ARXIV_ID), ARXIVS, unpaywall(licence="CC0-1.0")], [], "CC-BY-4.0"),
        ([header(arxiv_id=ARXIV_ID), publisher(licence="CC0-1.0")], [], None),
        ([header(doi=PUBLISHED), unpaywall(licence="CC-BY")], [], "CC-BY"),
        ([header(doi=PUBLISHED), unpaywall(licence="CC-BY")], ["CC0-1.0"], "CC-BY"),
        ([header(doi=PUBLISHED), unpaywall(licence="CC-BY")], ["CC-BY-NC-4.0"], "CC-BY-NC-4.0"),
        ([header(doi=PUBLISHED), PMCS, replace(PMCS, record_id="jats:1", licence="CC-BY")], [], "CC-BY-NC"),
        ([header()], ["CC-BY-4.0", "CC-BY-SA-4.0"], "CC-BY-SA-4.0"),
    ],
)  # fmt: skip
def test_license_is_strictest_among_those_of_the_evidence(
    records: list[Record], declared_licences: list[str], licence: str | None
) -> None:
    places = tuple(Declaration(f"d{n}", "a.pdf", None, said) for n, said in enumerate(declared_licences))
    found = judged(*records, places=places, all_open=True)
    assert found.licence == licence


def test_conflicting_licenses_are_explained() -> None:
    places = (Declaration("one", "a.pdf", True, "CC-BY-4.0"), Declaration("two", "a.pdf", True, "CC-BY-NC-4.0"))
    assert judged(header(), places=places).licence_detail == "CC-BY-NC-4.0: the strictest of CC-BY-4.0, CC-BY-NC-4.0"
    assert judged(header(), places=places[:1]).licence_detail is None


def test_licenses_are_ordered_by_strictness() -> None:
    by_strictness = [
        "CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-ND-4.0", "CC-BY-NC", "CC-BY-NC-SA-3.0", "CC-BY-NC-ND-4.0", "arXiv-nonexclusive-1.0",
    ]  # fmt: skip
    for at, licence in enumerate(by_strictness):
        assert select_strictest([None, *by_strictness[: at + 1]]) == licence
    assert select_strictest([]) is None and select_strictest(["", None]) is None
    assert select_strictest(["publisher's own", "CC-BY-4.0"]) == "publisher's own"


@pytest.mark.parametrize(
    ("name", "arxiv_id", "acl_id"),
    [
        ("1911.02782.pdf", "1911.02782", None),
        ("1911.02782v3.PDF", "1911.02782", None),
        ("sub/arXiv-1911.02782v1.tar.gz", "1911.02782", None),
        ("0704.0001.pdf", "0704.0001", None),
        ("hep-th9711200.pdf", "hep-th/9711200", None),
        ("hep-th_9711200v2.pdf", "hep-th/9711200", None),
        ("math.GT0309136.pdf", "math/0309136", None),
        ("hep-th/9711200.pdf", "hep-th/9711200", None),
        ("1913.02782.pdf", None, None),  # Month 13 does not exist.
        ("my copy of 1911.02782.pdf", None, None),
        ("1911.02782 review.pdf", None, None),
        ("P19-1001.pdf", None, "P19-1001"),
        ("acl/2020.acl-main.207v2.pdf", None, "2020.acl-main.207"),
        ("report P19-1001.pdf", None, None),
        ("a.pdf", None, None),
        ("", None, None),
    ],
)
def test_file_name_is_an_id_only_if_complete(name: str, arxiv_id: str | None, acl_id: str | None) -> None:
    assert (arxiv_id_of_name(name), acl_id_of_name(name)) == (arxiv_id, acl_id)


def test_pdf_named_by_pmc_id_is_that_article() -> None:
    article = record("jats", kind=RecordKind.PUBLISHER, pmc_id="PMC4391421", open_access=True, licence="CC-BY-2.0")
    found = judged(header(), article, name="PMC4391421.pdf")
    assert (found.evidence, found.licence) == (Evidence.PMC, "CC-BY-2.0")
    for name in ("PMC1.pdf", "about PMC4391421.pdf", "4391421.pdf"):
        assert not judged(header(), article, name=name).open


def test_failed_checks_are_listed_with_their_place() -> None:
    said = {
        look.evidence: look.detail for look in judged(header(doi=PUBLISHED), ARXIVS, publisher(), name="x.pdf").looks
    }
    assert (
        said[Evidence.ARXIV]
        == "no arXiv id in the PDF, none in the file name (x.pdf), the paper also has records from crossref"
    )
    assert said[Evidence.UNPAYWALL] == f"no record has an identifier of this full text ({PUBLISHED})"
    assert re.search("no drop declares", said[Evidence.DECLARED])


class TestOpenAlex:
    """OpenAlex repeats Unpaywall's data (its documentation of `open_access`)."""

    def test_openalex_without_unpaywall_is_evidence(self) -> None:
        found = judged(
            header(doi=PUBLISHED),
            record("openalex", "W1", doi=PUBLISHED, open_access=True, open_version=OpenVersion.PUBLISHED),
        )
        assert found.evidence is Evidence.UNPAYWALL

    def test_openalex_copies_do_not_open_the_publishers_pdf(self) -> None:
        assert not judged(
            header(doi=PUBLISHED),
            record("openalex", "W1", doi=PUBLISHED, open_access=True, open_version=OpenVersion.COPY),
        ).open

    def test_unpaywall_decides_if_openalex_differs(self) -> None:
        openalex = record("openalex", "W1", doi=PUBLISHED, open_access=True)
        assert not judged(header(doi=PUBLISHED), openalex, record("unpaywall", doi=PUBLISHED, open_access=False)).open

    def test_openalex_does_not_prove_the_pmc_subset(self) -> None:
        found = judged(
            header(doi=PUBLISHED),
            record("openalex", "W1", doi=PUBLISHED, pmc_id="PMC1", open_access=True, open_version=OpenVersion.COPY),
        )
        assert not found.open
