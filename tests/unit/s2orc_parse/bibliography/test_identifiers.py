"""Identifiers are read from addresses of resolvers and publishers' pages, and from file names."""

from __future__ import annotations

import pytest

from s2orc_parse.bibliography.identifiers import (
    MAX_CHARACTERS,
    acl_id_of_name,
    arxiv_id_of_name,
    doi_of_url,
    normalise_orcid,
    normalise_ror,
)

ORCID = "0000-0002-1825-0097"


@pytest.mark.parametrize(
    ("url", "doi"),
    [
        ("https://doi.org/10.1016/S0022-0000(05)80002-1", "10.1016/s0022-0000(05)80002-1"),
        ("http://dx.doi.org/10.1038%2Fs41586", "10.1038/s41586"),
        ("www.doi.org/doi:10.1038/s41586", "10.1038/s41586"),
        ("https://doi.acm.org/10.1145/123456.789", "10.1145/123456.789"),
        ("http://doi.ieeecomputersociety.org/10.1109/ICSE.2007.1", "10.1109/icse.2007.1"),
        ("https://doi.pangaea.de/10.1594/PANGAEA.1", "10.1594/pangaea.1"),
        ("http://doi.wiley.com/10.1002/x1", "10.1002/x1"),
        ("https://doi.apa.org/getdoi.cfm?doi=10.1037/0003-066X.59.1.29", "10.1037/0003-066x.59.1.29"),
        ("https://doi-org.proxy.example.edu/10.1037/x1", "10.1037/x1"),
        ("https://hdl.handle.net/10.1184/R1/123", "10.1184/r1/123"),
        ("https://dl.acm.org/doi/abs/10.1145/3.4", "10.1145/3.4"),
        ("https://dl.acm.org/doi/10.1145/3.4", "10.1145/3.4"),
        ("https://onlinelibrary.wiley.com/doi/10.1002/abc.12/abstract", "10.1002/abc.12"),
        ("https://www.tandfonline.com/doi/full/10.1080/1234?needAccess=true", "10.1080/1234"),
        ("https://link.springer.com/content/pdf/10.1007/s00453-1.pdf", "10.1007/s00453-1"),
        ("https://link.springer.com/chapter/10.1007/978-3-540-1_2#page", "10.1007/978-3-540-1_2"),
        ("https://journals.aps.org/prl/abstract/10.1103/PhysRevLett.1.2", "10.1103/physrevlett.1.2"),
        ("https://journals.plos.org/plosone/article?id=10.1371/journal.pone.1", "10.1371/journal.pone.1"),
        ("https://www.biorxiv.org/content/10.1101/2020.01.02.123456v2.full.pdf", "10.1101/2020.01.02.123456"),
        ("10.1038/s41586", "10.1038/s41586"),
        ("doi:10.1038/s41586", "10.1038/s41586"),
        ("https://hdl.handle.net/2142/123", None),
        ("https://arxiv.org/abs/1911.02782", None),
        ("https://example.org/10.1038/s41586", None),
        ("https://example.org/see?doi=10.1038/s41586", None),
        ("https://doi.org/", None),
        ("not an address", None),
        ("", None),
        ("doi/" * MAX_CHARACTERS, None),
    ],
)
def test_doi_is_read_from_known_addresses(url: str, doi: str | None) -> None:
    assert doi_of_url(url) == doi


@pytest.mark.parametrize(
    ("text", "orcid"),
    [
        (f"http://orcid.org/{ORCID}", ORCID), ("0000-0002-1694-233x", "0000-0002-1694-233X"), ("0000000218250097", ORCID),
        ("0000-0002-1825-0098", None), ("1825-0097", None), ("", None),
    ],
)  # fmt: skip
def test_orcid_check_digit_is_verified(text: str, orcid: str | None) -> None:
    assert normalise_orcid(text) == orcid


@pytest.mark.parametrize(
    ("text", "ror"), [("https://ror.org/05w520734", "05w520734"), ("05w520734", None), ("grid.5", None)]
)
def test_ror_id_is_read_from_its_address(text: str, ror: str | None) -> None:
    assert normalise_ror(text) == ror


@pytest.mark.parametrize(
    ("name", "arxiv_id", "acl_id"),
    [
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
        ("", None, None),
    ],
)
def test_file_name_is_an_id_only_if_complete(name: str, arxiv_id: str | None, acl_id: str | None) -> None:
    assert (arxiv_id_of_name(name), acl_id_of_name(name)) == (arxiv_id, acl_id)
