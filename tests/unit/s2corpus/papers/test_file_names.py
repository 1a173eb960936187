"""A file name is an identifier only as a whole."""

import pytest

from s2corpus.papers.file_names import acl_id_of_name, arxiv_id_of_name


@pytest.mark.parametrize(
    ("name", "arxiv_id", "acl_id"),
    [
        ("1911.02782v3.PDF", "1911.02782", None),
        ("sub/arXiv-1911.02782v1.tar.gz", "1911.02782", None),
        ("hep-th_9711200v2.pdf", "hep-th/9711200", None),
        ("1913.02782.pdf", None, None),  # Month 13 does not exist.
        ("my copy of 1911.02782.pdf", None, None),
        ("acl/2020.acl-main.207v2.pdf", None, "2020.acl-main.207"),
    ],
)
def test_file_name_is_an_id_only_if_complete(name: str, arxiv_id: str | None, acl_id: str | None) -> None:
    assert (arxiv_id_of_name(name), acl_id_of_name(name)) == (arxiv_id, acl_id)
