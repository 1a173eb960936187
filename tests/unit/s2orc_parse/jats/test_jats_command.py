"""`corpus parse` converts publishers' full texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from s2corpus.commands.parses import parse_command as command
from s2orc_parse import jats
from tests.unit.s2orc_parse.jats import articles

ELSEVIER = {
    "docId": "S1",
    "metadata": {"title": "On tests"},
    "body_text": [{"sentence": "Text.", "startOffset": 0, "secId": "s1", "title": "Introduction"}],
}


def test_file_is_read_by_its_detected_form(tmp_path: Path) -> None:
    (tmp_path / "a.nxml").write_bytes(articles.article("<p>Text.</p>"))
    (tmp_path / "b.json").write_text(json.dumps(ELSEVIER))
    (tmp_path / "c.xml").write_text("<TEI><text><body><div><p>Text.</p></div></body></text></TEI>")
    (tmp_path / "d.xml").write_bytes(articles.article(""))
    out, rejects = tmp_path / "out.jsonl", tmp_path / "rejects.jsonl"
    found = CliRunner().invoke(command, [str(tmp_path), "--out", str(out), "--rejects", str(rejects)])
    assert found.exit_code == 0, found.output
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(line["paper_id"], line["provenance"]["extractor"]) for line in lines] == [
        ("a", "jats"),
        ("b", "elsevier-json"),
        ("c", "unknown"),
    ]
    assert all(line["body_text"][0]["text"] == "Text." for line in lines)
    assert json.loads(rejects.read_text()) == {"name": "d", "outcome": "bad_jats:no_body"}


@pytest.mark.parametrize(
    ("head", "form"),
    [
        (articles.article("<p/>"), "jats"),
        (articles.article("<p/>").decode().encode("utf-16"), "jats"),
        (b'<?xml version="1.0"?><!-- x --><article dtd-version="1.1">', "jats"),
        (b'<j:article xmlns:j="x">', "jats"),
        (b"", None),
        (b"%PDF-1.4", None),
        (b"<TEI><note>the article <article></note></TEI>", None),
        (b' {"docId": "S1"', "elsevier"),
        (b'{"paper_id": "1", "title": "x"}', None),
    ],
)
def test_form_is_detected_from_the_first_bytes(head: bytes, form: str | None) -> None:
    assert jats.detect_kind(head) == form
