"""Support between votes, the sources that break ties, and license restrictions agree with their definitions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.papers import explain, fewest
from s2corpus.papers.comparison import count_common_names
from s2corpus.papers.licences import rank_strictness, to_spdx
from s2corpus.papers.openness import Declaration, decide_openness
from s2corpus.papers.support import compute_similarity
from s2corpus.sources import Record, RecordKind
from s2corpus.titles import score
from s2orc_parse.bibliography.names import parse_authors

TEXT = st.text("abc", min_size=1, max_size=12)


@pytest.mark.parametrize("name", ["title", "abstract", "venue", "journal"])
@given(TEXT, TEXT)
def test_similarity_of_texts_is_s(name: str, a: str, b: str) -> None:
    assert compute_similarity(name, a, b) == pytest.approx(score(a, b))


@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=4), st.lists(st.sampled_from("abc"), min_size=1, max_size=4)
)
def test_similarity_of_authors_is_share_of_surnames(a: list[str], b: list[str]) -> None:
    common = sum(min(a.count(name), b.count(name)) for name in set(a))
    assert compute_similarity("authors", tuple(a), tuple(b)) == (1.0 if a == b else 2 * common / (len(a) + len(b)))


def test_similarity_of_other_fields_is_equality() -> None:
    assert (compute_similarity("date", "2020", "2020"), compute_similarity("date", "2020", "2021")) == (1.0, 0.0)


@pytest.mark.parametrize(("exact", "found"), [(4, {"a", "b", "c"}), (3, {"a", "b", "c", "z"})])
def test_many_sources_are_chosen_greedily(exact: int, found: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The greedy choice may use one source more than the minimum."""
    monkeypatch.setattr(fewest, "MAX_EXHAUSTIVE", exact)
    needs = [{"a", "z"}, {"b", "z"}, {"c", "z"}, {"a"}, {"b"}, {"c"}]
    assert fewest.select_fewest_sources(needs, set(), lambda source: (0, source)) == found


@pytest.mark.parametrize(
    ("licence", "forbids"),
    [
        ("CC0-1.0", 0), ("PDM-1.0", 0), ("CC-PDM-1.0", 0), ("public domain", 0), ("CC-BY-4.0", 1),
        ("cc by", 1), ("CC-BY-3.0-IGO", 1), ("MIT", 1),
        ("Apache-2.0", 1), ("CC-BY-SA-4.0", 2), ("CC-BY-ND", 3), ("CC-BY-NC-2.0", 4),
        ("CC-BY-NC-SA-4.0", 5), ("CC-BY-NC-ND-4.0", 6), ("CC-BY-SA-NC", 7),
        ("publisher's own", 7), ("arXiv-nonexclusive-1.0", 7),
    ],
)  # fmt: skip
def test_license_has_its_strictness(licence: str, forbids: int) -> None:
    assert rank_strictness(licence) == forbids


@pytest.mark.parametrize(
    ("licence", "written"),
    [
        (None, "NOASSERTION"), ("", "NOASSERTION"), ("—", "NOASSERTION"), ("NOASSERTION", "NOASSERTION"), ("cc-by-4.0", "CC-BY-4.0"),
        ("pdm-1.0", "CC-PDM-1.0"), ("publisher's own", "LicenseRef-publisher-s-own"),
        ("All rights reserved.", "LicenseRef-All-rights-reserved"),
        ("LicenseRef-.x-", "LicenseRef-x"), ("apache-2.0", "Apache-2.0"), ("LicenseRef-x", "LicenseRef-x"), (" MIT ", "MIT"),
    ],
)  # fmt: skip
def test_license_is_converted_to_spdx(licence: str | None, written: str) -> None:
    assert to_spdx(licence) == written


def test_full_texts_of_a_paper_are_explained() -> None:
    looks = [
        {"evidence": "arxiv", "found": True, "detail": "stamped"},
        {"evidence": "pmc", "found": False, "detail": "no id"},
    ]
    texts = [
        {
            "kind": "pdf",
            "sha1": "a",
            "open_access": True,
            "oa_evidence": "arxiv",
            "licence": "MIT",
            "licence_detail": None,
            "looks": looks,
        },
        {
            "kind": "other",
            "sha1": "b",
            "open_access": False,
            "oa_evidence": None,
            "licence": None,
            "licence_detail": None,
            "looks": [],
        },
    ]
    assert explain.format_access(texts) == [
        "  PDF a: open by arxiv; MIT", "    arxiv      found: stamped", "    pmc        not found: no id",
        "  other b: closed; no license stated",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("Ada Lovelace, Alan Turing", "A. Turing, Kurt Gödel, Ada Lovelace", (2, 2, 3)),
        ("Ada Lovelace, Ada Lovelace", "A. Lovelace", (1, 2, 1)),
        ("Ada Lovelace", "Kurt Gödel", (0, 1, 1)),
        ("", "Kurt Gödel", (0, 0, 1)),
    ],
)
def test_common_people_of_two_lists_are_counted(one: str, other: str, found: tuple[int, int, int]) -> None:
    lists = [[author.as_dict() for author in parse_authors(names)] for names in (one, other)]
    assert count_common_names(lists[0], lists[1]) == found


@pytest.mark.parametrize(
    ("dois", "said"),
    [
        (["10.1016/x"], "an identifier of this full text (10.1016/x)"),
        (["10.1016/x", "10.1016/y"], "the DOI of this full text (ambiguous: 10.1016/x, 10.1016/y)"),
        ([], "the DOI of this full text (none is available)"),
    ],
)
def test_explanation_names_the_searched_doi(dois: list[str], said: str) -> None:
    sha1 = "a" * 40
    records = [Record(f"grobid:{sha1}", "grobid", RecordKind.PDF, file_sha1=sha1)]
    records += [Record(f"crossref:{doi}", "crossref", RecordKind.PUBLISHER, doi=doi) for doi in dois]
    found = decide_openness(sha1, records, (Declaration("d", "a.pdf"),), is_preprint=lambda doi: False)
    assert any(said in look.detail for look in found.looks), [look.detail for look in found.looks]
