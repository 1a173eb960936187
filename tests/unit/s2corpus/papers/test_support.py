"""Support between votes, the sources that break ties, and license restrictions agree with their definitions (SPEC §5.8, §5.10, §0.14)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.commands.papers import format_access
from s2corpus.papers import support
from s2corpus.papers.licences import rank_strictness, select_strictest, to_spdx
from s2corpus.papers.support import compute_similarity
from s2corpus.titles import score

TEXT = st.text("abc", min_size=1, max_size=12)
SURNAMES = st.lists(st.sampled_from("abc"), min_size=1, max_size=4)


@given(st.sampled_from(["title", "abstract", "venue", "journal"]), TEXT, TEXT)
def test_similarity_of_texts_is_s(name: str, a: str, b: str) -> None:
    assert compute_similarity(name, a, b) == pytest.approx(score(a, b))


@given(SURNAMES, SURNAMES)
def test_similarity_of_authors_is_share_of_surnames(a: list[str], b: list[str]) -> None:
    common = sum(min(a.count(name), b.count(name)) for name in set(a))
    assert compute_similarity("authors", tuple(a), tuple(b)) == (1.0 if a == b else 2 * common / (len(a) + len(b)))


def test_similarity_of_other_fields_is_equality() -> None:
    assert (compute_similarity("date", "2020", "2020"), compute_similarity("date", "2020", "2021")) == (1.0, 0.0)


@pytest.mark.parametrize(("exact", "found"), [(4, {"a", "b", "c"}), (3, {"a", "b", "c", "z"})])
def test_many_sources_are_chosen_greedily(exact: int, found: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The greedy choice may use one source more than the minimum."""
    assert support.MAX_EXHAUSTIVE == 16
    monkeypatch.setattr(support, "MAX_EXHAUSTIVE", exact)
    needs = [{"a", "z"}, {"b", "z"}, {"c", "z"}, {"a"}, {"b"}, {"c"}]
    assert support.select_fewest_sources(needs, set(), lambda source: (0, source)) == found


@pytest.mark.parametrize(
    ("strictness", "licences"),
    [
        (0, ["CC0-1.0", "PDM-1.0", "CC-PDM-1.0", "public domain"]),
        (1, ["CC-BY-4.0", "cc by", "CC-BY-3.0-IGO", "MIT", "Apache-2.0"]),
        (2, ["CC-BY-SA-4.0"]),
        (3, ["CC-BY-ND"]),
        (4, ["CC-BY-NC-2.0"]),
        (5, ["CC-BY-NC-SA-4.0"]),
        (6, ["CC-BY-NC-ND-4.0"]),
        (7, ["CC-BY-SA-NC", "arXiv-nonexclusive-1.0", "publisher's own"]),
    ],
)
def test_license_has_its_strictness(strictness: int, licences: list[str]) -> None:
    assert {rank_strictness(licence) for licence in licences} == {strictness}
    assert select_strictest([None, "CC0-1.0", "", *licences]) == min(licences)


def test_strictest_of_no_licenses_is_none() -> None:
    assert select_strictest([]) is None and select_strictest(["", None]) is None


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
    closed: dict[str, Any] = dict.fromkeys(("oa_evidence", "licence", "licence_detail"))
    texts = [
        {**closed, "kind": "pdf", "sha1": "a", "open_access": True, "oa_evidence": "arxiv", "licence": "MIT", "looks": looks},
        {**closed, "kind": "latex", "sha1": "b", "open_access": False, "licence_detail": "MIT: the strictest", "looks": []},
        {**closed, "kind": "other", "sha1": "c", "open_access": False, "looks": []},
    ]  # fmt: skip
    assert format_access(texts) == [
        "  PDF a: open by arxiv; MIT", "    arxiv      found: stamped", "    pmc        not found: no id",
        "  LaTeX source b: closed; MIT: the strictest", "  other c: closed; no license stated",
    ]  # fmt: skip
