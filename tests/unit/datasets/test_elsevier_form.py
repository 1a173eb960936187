"""Offsets of articles in Elsevier's format agree with real papers: with sentences marked by a reader, and with
citations marked by publishers.
"""

from __future__ import annotations

from typing import Any

import pytest

from s2corpus.datasets.elsevier.article import build_article
from s2corpus.datasets.source import SnapshotPaper
from tests.gold_sentences import gold
from tests.snapshots import real_articles

pytestmark = pytest.mark.usefixtures("shared_data")
METADATA: dict[str, Any] = {"paper_id": "p", "doi": None, "title": "T", "authors": [], "abstract": None, "year": 2020}
PAPER = SnapshotPaper(
    {**METADATA, "journal": "J", "venue": None, "pubmed_id": None}, {"subjects": [], "pages": None, "volume": None}
)


def test_sentence_offsets_match_a_readers_marks() -> None:
    texts = gold()
    body = [{"section": "Results", "text": text.text, "cite_spans": []} for text in texts]
    article, number, removed = build_article(PAPER, {"body_text": body, "bib_entries": {}}, 0.2)
    marked, start = [], 0
    for text in texts:
        ends = [*text.starts[1:], len(text.text)]
        marked += [
            (start + first, start + first + len(text.text[first:end].rstrip()))
            for first, end in zip(text.starts, ends, strict=True)
        ]
        start += len(text.text) + 1
    assert number >= 300 and not removed
    assert [(s["startOffset"], s["endOffset"]) for s in article["body_text"]] == marked


def test_offsets_of_citations_match_their_text() -> None:
    """Check that the text at each citation's offsets is the text that the publisher marked as a citation of that entry."""
    seen = 0
    for row in real_articles()[::4]:
        parse = row["parses"]["jats"]
        article, _, _ = build_article(PAPER, parse, 1.0)
        whole = "\n".join(paragraph["text"] for paragraph in parse["body_text"])
        texts = {
            (span["ref_id"], span["text"]) for p in parse["body_text"] for span in p["cite_spans"] if span.get("ref_id")
        }
        for sentence in article["body_text"]:
            assert whole[sentence["startOffset"] : sentence["endOffset"]] == sentence["sentence"]
            for ref_id, place in sentence["refoffsets"].items():
                cited = sentence["sentence"][place["startOffset"] : place["endOffset"]]
                assert any(ref == ref_id and text in cited for ref, text in texts), (ref_id, cited)
                seen += 1
    assert seen > 1_000
