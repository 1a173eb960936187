"""Each identifier has one plain form, or is rejected."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2orc_parse.bibliography import identifiers


@pytest.mark.parametrize(
    ("given_", "doi"),
    [
        ("10.1145/3593013.3594036", "10.1145/3593013.3594036"),
        ("http://dx.doi.org/10.1007/S00414-016-1349-9", "10.1007/s00414-016-1349-9"),
        ("DOI: 10.1038/nature12373.", "10.1038/nature12373"),
        ("doi.org/10.1002%2Fadma.201", "10.1002/adma.201"),
        ("10.1016/S0022-0000(05)80002-1", "10.1016/s0022-0000(05)80002-1"),
        ("(10.1016/S0022-0000(05)80002-1)", "10.1016/s0022-0000(05)80002-1"),
        ("10.1002/(SICI)1097-0258(1998)17:15<1661::AID-SIM96>3.0.CO;2-2", "10.1002/(sici)1097-0258(1998)17:15<1661::aid-sim96>3.0.co;2-2"),
        ("10.1000.10/123", "10.1000.10/123"),
        # Templates and placeholders.
        ("10.1145/1122445.1122456", None),
        ("https://doi.org/10.1145/XXXXXX.XXXXXX", None),
        ("10.1109/ACCESS.2017.DOI", None),
        ("10.1007/s00000-000-0000-0", None),
        ("10.3389/fmicb.20xx.xxxxx", None),
        ("10.475/123_4", None),
        ("10.1000/0000", None),
        # Not identifiers.
        ("", None),
        ("10.1/2", None),
        ("10.1000/", None),
        ("see 110.1000/5", None),
    ],
)  # fmt: skip
def test_doi_is_normalized(given_: str, doi: str | None) -> None:
    assert identifiers.normalise_doi(given_) == doi


@pytest.mark.parametrize(
    ("given_", "arxiv_id"),
    [
        ("arXiv:1706.03762v5 [cs.CL]", "1706.03762"),
        ("https://arxiv.org/pdf/0704.0001v1.pdf", "0704.0001"),
        ("hep-th/9711200v2", "hep-th/9711200"),
        ("math.GT/0309136", "math/0309136"),
        ("1713.03762", None),  # Month 13 does not exist.
        ("9711200", None),
        ("12345.67890", None),
    ],
)
def test_arxiv_id_is_normalized(given_: str, arxiv_id: str | None) -> None:
    assert identifiers.normalise_arxiv(given_) == arxiv_id


def test_arxiv_id_and_arxiv_doi_are_converted() -> None:
    assert identifiers.arxiv_of_doi("10.48550/arxiv.1706.03762") == "1706.03762"
    assert identifiers.doi_of_arxiv("1706.03762") == "10.48550/arxiv.1706.03762"
    assert identifiers.arxiv_of_doi("10.1145/1706.03762") is None
    assert identifiers.arxiv_of_doi(None) is None


@pytest.mark.parametrize(
    ("given_", "pmid"),
    [
        ("26951243", "26951243"),
        ("PMID: 0123", "123"),
        ("https://pubmed.ncbi.nlm.nih.gov/26951243/", "26951243"),
        ("0", None),
    ],
)
def test_pubmed_id_is_normalized(given_: str, pmid: str | None) -> None:
    assert identifiers.normalise_pmid(given_) == pmid


@pytest.mark.parametrize(
    ("given_", "pmcid"),
    [
        ("PMC5055573", "PMC5055573"),
        ("5055573", "PMC5055573"),
        ("pmc5055573.1", "PMC5055573"),
        ("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC5055573/", "PMC5055573"),
        ("PMCx", None),
    ],
)
def test_pmc_id_is_normalized(given_: str, pmcid: str | None) -> None:
    assert identifiers.normalise_pmcid(given_) == pmcid


@pytest.mark.parametrize(
    ("given_", "acl_id"),
    [
        ("N18-3011", "N18-3011"),
        ("https://aclanthology.org/2020.acl-main.207.pdf", "2020.acl-main.207"),
        ("n18-3011v2", "N18-3011"),
        ("N18", None),
    ],
)
def test_acl_id_is_normalized(given_: str, acl_id: str | None) -> None:
    assert identifiers.normalise_acl(given_) == acl_id


@given(st.text(max_size=60).map(lambda tail: f"10.1000/{tail}"))
def test_normalized_doi_is_a_fixed_point(text: str) -> None:
    if doi := identifiers.normalise_doi(text):
        assert identifiers.normalise_doi(doi) == doi == doi.lower()
