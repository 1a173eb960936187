"""Check single lines of a snapshot (SPEC §3.3, §10). Each check yields a message per fault."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from s2corpus_reader.schemas import METADATA

PARSED_KEYS = frozenset(METADATA.names)
"""Metadata keys of a paper with a parse."""
METADATA_KEYS = frozenset(name for name in PARSED_KEYS if not name.startswith(("has_pdf_body", "has_pdf_parsed")))
_SPANS = {
    "cite_spans": "bib_entries", "unlinked_spans": "bib_entries", "ref_spans": "ref_entries", "eq_spans": "ref_entries",
}  # fmt: skip
_PARSE_KEYS = {"paper_id", "_pdf_hash", "abstract", "body_text", "bib_entries", "ref_entries"}


def check_document(line: bytes, set_: str, *, recipe: bool) -> tuple[str | None, list[str]]:
    """Return the id of a document and the faults of its line. Texts of `recipe-2024` (`recipe`) have no blocks to check."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return None, [f"invalid JSON: {error}"]
    if not isinstance(value, dict) or not isinstance(value.get("id"), str):
        return None, ["expected a JSON object with a string `id`"]
    keys = ["id", "sha1", "text"] if set_ == "s2orc" else ["id", "text"]
    faults = []
    if list(value) != keys or not all(isinstance(value[key], str) for key in keys):
        faults.append(f"keys are {list(value)}; expected for {set_}: {', '.join(keys)}, all strings, in this order")
    elif line != orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE):
        faults.append("not canonical JSON: expected UTF-8 without spaces and a final newline")
    else:
        faults += _check_text(value["text"], set_, recipe=recipe)
    return value["id"], faults


def _check_text(text: str, set_: str, *, recipe: bool) -> Iterator[str]:
    """Yield the faults of the text of a document."""
    if not unicodedata.is_normalized("NFC", text):
        yield "text is not in NFC"
    if recipe:
        return
    blocks = text.split("\n\n")
    if set_ == "s2ag" and len(blocks) != 2:
        yield f"text has {len(blocks)} blocks; expected title and abstract"
    if set_ == "s2orc" and len(blocks) < 3:
        yield f"text has {len(blocks)} blocks; expected title, abstract and a body"
    if "\n" in blocks[0]:
        yield "title has more than one line"
    if any(line != " ".join(line.split()) or not line for block in blocks for line in block.split("\n")):
        yield "a line is empty, or has white space other than single spaces between words"


def check_metadata(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the faults of the metadata of a paper: keys other than those of S2ORC 20200705, and wrong flags."""
    expected = PARSED_KEYS if value.get("has_pdf_parse") else METADATA_KEYS
    if set(value) != expected:
        yield f"keys differ from S2ORC 20200705: {sorted(set(value) ^ expected)}"
        return
    for direction in ("outbound", "inbound"):
        cited = value[f"{direction}_citations"]
        if value[f"has_{direction}_citations"] != bool(cited):
            yield f"has_{direction}_citations contradicts {direction}_citations"
        if cited != sorted(set(cited)):
            yield f"{direction}_citations are not sorted and unique"


def check_parse(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the faults of a parse: spans with other text than their offsets, and references without an entry."""
    if missing := _PARSE_KEYS - set(value):
        yield f"keys are missing: {sorted(missing)}"
        return
    paragraphs = [*value["abstract"], *value["body_text"], *value.get("back_matter", ())]
    for number, paragraph in enumerate(paragraphs):
        for kind, entries in _SPANS.items():
            for span in paragraph.get(kind, ()):
                if paragraph["text"][span["start"] : span["end"]] != span["text"]:
                    yield f"paragraph {number}: the text of a span in {kind} differs from the text at its offsets"
                ref_id = span.get("ref_id")
                if ref_id not in value[entries] and (ref_id is not None or kind == "cite_spans"):
                    yield f"paragraph {number}: {kind} refers to {ref_id}, which is not in {entries}"
