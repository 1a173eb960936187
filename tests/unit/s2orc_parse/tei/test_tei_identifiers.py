"""Each identifier has one plain form, or is rejected."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2orc_parse.bibliography import identifiers

DOI, ARXIV, PMID, PMCID, ACL = (
    identifiers.normalise_doi,
    identifiers.normalise_arxiv,
    identifiers.normalise_pmid,
    identifiers.normalise_pmcid,
    identifiers.normalise_acl,
)


@pytest.mark.parametrize(
    ("normalize", "text", "expected"),
    [
        (DOI, "10.1145/3593013.3594036", "10.1145/3593013.3594036"),
        (DOI, "http://dx.doi.org/10.1007/S00414-016-1349-9", "10.1007/s00414-016-1349-9"),
        (DOI, "DOI: 10.1038/nature12373.", "10.1038/nature12373"),
        (DOI, "doi.org/10.1002%2Fadma.201", "10.1002/adma.201"),
        (DOI, "10.1016/S0022-0000(05)80002-1", "10.1016/s0022-0000(05)80002-1"),
        (DOI, "(10.1016/S0022-0000(05)80002-1)", "10.1016/s0022-0000(05)80002-1"),
        (DOI, "10.1002/(SICI)10-02(19)17:15<16::AID-SIM96>3.0.CO;2-2", "10.1002/(sici)10-02(19)17:15<16::aid-sim96>3.0.co;2-2"),
        (DOI, "10.1000.10/123", "10.1000.10/123"),
        # Templates and placeholders.
        (DOI, "10.1145/1122445.1122456", None),
        (DOI, "https://doi.org/10.1145/XXXXXX.XXXXXX", None),
        (DOI, "10.1109/ACCESS.2017.DOI", None),
        (DOI, "10.1007/s00000-000-0000-0", None),
        (DOI, "10.3389/fmicb.20xx.xxxxx", None),
        (DOI, "10.475/123_4", None),
        (DOI, "10.1000/0000", None),
        # Not identifiers.
        (DOI, "", None),
        (DOI, "10.1/2", None),
        (DOI, "10.1000/", None),
        (DOI, "see 110.1000/5", None),
        (ARXIV, "arXiv:1706.03762v5 [cs.CL]", "1706.03762"),
        (ARXIV, "https://arxiv.org/pdf/0704.0001v1.pdf", "0704.0001"),
        (ARXIV, "hep-th/9711200v2", "hep-th/9711200"),
        (ARXIV, "math.GT/0309136", "math/0309136"),
        (ARXIV, "1713.03762", None),  # Month 13 does not exist.
        (ARXIV, "9711200", None),
        (ARXIV, "12345.67890", None),
        (PMID, "26951243", "26951243"),
        (PMID, "PMID: 0123", "123"),
        (PMID, "https://pubmed.ncbi.nlm.nih.gov/26951243/", "26951243"),
        (PMID, "0", None),
        (PMCID, "PMC5055573", "PMC5055573"),
        (PMCID, "5055573", "PMC5055573"),
        (PMCID, "pmc5055573.1", "PMC5055573"),
        (PMCID, "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC5055573/", "PMC5055573"),
        (PMCID, "PMCx", None),
        (ACL, "N18-3011", "N18-3011"),
        (ACL, "https://aclanthology.org/2020.acl-main.207.pdf", "2020.acl-main.207"),
        (ACL, "n18-3011v2", "N18-3011"),
        (ACL, "N18", None),
        (identifiers.arxiv_of_doi, "10.48550/arxiv.1706.03762", "1706.03762"),
        (identifiers.arxiv_of_doi, "10.1145/1706.03762", None),
        (identifiers.arxiv_of_doi, None, None),
        (identifiers.doi_of_arxiv, "1706.03762", "10.48550/arxiv.1706.03762"),
    ],
)  # fmt: skip
def test_identifier_has_one_plain_form(
    normalize: Callable[[str | None], str | None], text: str | None, expected: str | None
) -> None:
    assert normalize(text) == expected


@given(st.text(max_size=60).map(lambda tail: f"10.1000/{tail}"))
def test_normalized_doi_is_a_fixed_point(text: str) -> None:
    if doi := identifiers.normalise_doi(text):
        assert identifiers.normalise_doi(doi) == doi == doi.lower()
