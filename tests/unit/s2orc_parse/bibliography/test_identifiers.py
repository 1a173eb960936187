"""Each identifier has one plain form, or is rejected (SPEC §3.19). Addresses and file names contain identifiers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2orc_parse.bibliography import identifiers

DOI, ARXIV, PMID, PMCID, ACL, ORCID, ISSN, ROR = (
    identifiers.normalise_doi,
    identifiers.normalise_arxiv,
    identifiers.normalise_pmid,
    identifiers.normalise_pmcid,
    identifiers.normalise_acl,
    identifiers.normalise_orcid,
    identifiers.normalise_issn,
    identifiers.normalise_ror,
)


@pytest.mark.parametrize(
    ("normalize", "text", "expected"),
    [
        (DOI, "http://dx.doi.org/10.1007/S00414-016-1349-9", "10.1007/s00414-016-1349-9"),
        (DOI, "DOI: 10.1038/nature12373.", "10.1038/nature12373"),
        (DOI, "10.1016/S0022-0000(05)80002-1", "10.1016/s0022-0000(05)80002-1"),
        (DOI, "(10.1016/S0022-0000(05)80002-1)", "10.1016/s0022-0000(05)80002-1"),
        (DOI, "10.1002/(SICI)10-02(19)17:15<16::AID-SIM96>3.0.CO;2-2", "10.1002/(sici)10-02(19)17:15<16::aid-sim96>3.0.co;2-2"),
        # Templates and placeholders.
        (DOI, "10.1145/1122445.1122456", None),
        (DOI, "https://doi.org/10.1145/XXXXXX.XXXXXX", None),
        (DOI, "10.3389/fmicb.20xx.xxxxx", None),
        (DOI, "10.1000/0000", None),
        # Not identifiers.
        (DOI, "10.1000/", None),
        (DOI, "see 110.1000/5", None),
        (ARXIV, "arXiv:1706.03762v5 [cs.CL]", "1706.03762"),
        (ARXIV, "hep-th/9711200v2", "hep-th/9711200"),
        (ARXIV, "math.GT/0309136", "math/0309136"),
        (ARXIV, "1713.03762", None),  # Month 13 does not exist.
        (ARXIV, "9711200", None),
        (PMID, "PMID: 0123", "123"),
        (PMID, "https://pubmed.ncbi.nlm.nih.gov/26951243/", "26951243"),
        (PMCID, "PMC5055573", "PMC5055573"),
        (PMCID, "pmc5055573.1", "PMC5055573"),
        (PMCID, "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC5055573/", "PMC5055573"),
        (ACL, "https://aclanthology.org/2020.acl-main.207.pdf", "2020.acl-main.207"),
        (ACL, "n18-3011v2", "N18-3011"),
        # ISO 3297 and ORCID: the check digit is verified.
        (ISSN, "03178471", "0317-8471"),
        (ISSN, "1050-124x", "1050-124X"),
        (ISSN, "0317-8472", None),
        (ORCID, "http://orcid.org/0000-0002-1825-0097", "0000-0002-1825-0097"),
        (ORCID, "0000-0002-1694-233x", "0000-0002-1694-233X"),
        (ORCID, "0000-0002-1825-0098", None),
        (ROR, "https://ror.org/05w520734", "05w520734"),
        (ROR, "05w520734", None),
        (identifiers.arxiv_of_doi, "10.48550/arxiv.1706.03762", "1706.03762"),
        (identifiers.arxiv_of_doi, "10.1145/1706.03762", None),
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


@pytest.mark.parametrize(
    ("url", "doi"),
    [
        ("https://doi.org/10.1016/S0022-0000(05)80002-1", "10.1016/s0022-0000(05)80002-1"),
        ("http://dx.doi.org/10.1038%2Fs41586", "10.1038/s41586"),
        ("https://doi.apa.org/getdoi.cfm?doi=10.1037/0003-066X.59.1.29", "10.1037/0003-066x.59.1.29"),
        ("https://doi-org.proxy.example.edu/10.1037/x1", "10.1037/x1"),
        ("https://hdl.handle.net/10.1184/R1/123", "10.1184/r1/123"),
        ("https://dl.acm.org/doi/abs/10.1145/3.4", "10.1145/3.4"),
        ("https://onlinelibrary.wiley.com/doi/10.1002/abc.12/abstract", "10.1002/abc.12"),
        ("https://link.springer.com/content/pdf/10.1007/s00453-1.pdf", "10.1007/s00453-1"),
        ("https://journals.plos.org/plosone/article?id=10.1371/journal.pone.1", "10.1371/journal.pone.1"),
        ("https://www.biorxiv.org/content/10.1101/2020.01.02.123456v2.full.pdf", "10.1101/2020.01.02.123456"),
        ("10.1038/s41586", "10.1038/s41586"),
        ("https://example.org/10.1038/s41586", None),
        ("https://example.org/see?doi=10.1038/s41586", None),
        ("", None),
        ("doi/" * identifiers.MAX_CHARACTERS, None),
    ],
)
def test_doi_is_read_from_known_addresses(url: str, doi: str | None) -> None:
    assert identifiers.doi_of_url(url) == doi


@pytest.mark.parametrize(
    ("name", "arxiv_id", "acl_id"),
    [
        ("1911.02782v3.PDF", "1911.02782", None),
        ("sub/arXiv-1911.02782v1.tar.gz", "1911.02782", None),
        ("hep-th_9711200v2.pdf", "hep-th/9711200", None),
        ("math.GT0309136.pdf", "math/0309136", None),
        ("1913.02782.pdf", None, None),  # Month 13 does not exist.
        ("my copy of 1911.02782.pdf", None, None),
        ("P19-1001.pdf", None, "P19-1001"),
        ("acl/2020.acl-main.207v2.pdf", None, "2020.acl-main.207"),
    ],
)
def test_file_name_is_an_id_only_if_complete(name: str, arxiv_id: str | None, acl_id: str | None) -> None:
    assert (identifiers.arxiv_id_of_name(name), identifiers.acl_id_of_name(name)) == (arxiv_id, acl_id)
