"""What must hold of every line of a snapshot (SEMANTICS: Export; Postprocess: Laws). Each check yields what is wrong."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

METADATA_KEYS = frozenset(
    (
        "paper_id",
        "title",
        "authors",
        "abstract",
        "year",
        "arxiv_id",
        "acl_id",
        "pmc_id",
        "pubmed_id",
        "doi",
        "venue",
        "journal",
        "mag_id",
        "mag_field_of_study",
        "outbound_citations",
        "inbound_citations",
        "has_outbound_citations",
        "has_inbound_citations",
        "has_pdf_parse",
        "s2_url",
    )
)
PARSED_KEYS = METADATA_KEYS | {
    "has_pdf_body_text",
    "has_pdf_parsed_abstract",
    "has_pdf_parsed_body_text",
    "has_pdf_parsed_bib_entries",
    "has_pdf_parsed_ref_entries",
}
"""The keys of a paper that has a parse."""
_SPANS = {
    "cite_spans": "bib_entries", "unlinked_spans": "bib_entries", "ref_spans": "ref_entries", "eq_spans": "ref_entries",
}  # fmt: skip
_PARSE_KEYS = {"paper_id", "_pdf_hash", "abstract", "body_text", "bib_entries", "ref_entries"}


def document(line: bytes, set_: str, *, recipe: bool) -> tuple[str | None, list[str]]:
    """The id of a document's line, and what is wrong with the line; texts of `recipe-2024` have no blocks to check."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return None, [f"no JSON: {error}"]
    if not isinstance(value, dict) or not isinstance(value.get("id"), str):
        return None, ["no JSON object with a string `id`"]
    keys = ["id", "sha1", "text"] if set_ == "s2orc" else ["id", "text"]
    faults = []
    if list(value) != keys or not all(isinstance(value[key], str) for key in keys):
        faults.append(f"keys are {list(value)}; expected of {set_}: {', '.join(keys)}, all strings, in this order")
    elif line != orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE):
        faults.append("no canonical JSON: UTF-8 without spaces, ended by a newline")
    else:
        faults += _text(value["text"], set_, recipe=recipe)
    return value["id"], faults


def _text(text: str, set_: str, *, recipe: bool) -> Iterator[str]:
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


def metadata(value: Mapping[str, Any]) -> Iterator[str]:
    """A paper's metadata: exactly the keys of S2ORC 20200705, and flags that say what is there."""
    expected = PARSED_KEYS if value.get("has_pdf_parse") else METADATA_KEYS
    if set(value) != expected:
        yield f"keys differ from S2ORC 20200705's: {sorted(set(value) ^ expected)}"
        return
    for direction in ("outbound", "inbound"):
        cited = value[f"{direction}_citations"]
        if value[f"has_{direction}_citations"] != bool(cited):
            yield f"has_{direction}_citations is not what {direction}_citations has"
        if cited != sorted(set(cited)):
            yield f"{direction}_citations are not sorted and unique"


def parse(value: Mapping[str, Any]) -> Iterator[str]:
    """A parse: every span is the text it points at, and every reference names an entry."""
    if missing := _PARSE_KEYS - set(value):
        yield f"keys are missing: {sorted(missing)}"
        return
    paragraphs = [*value["abstract"], *value["body_text"], *value.get("back_matter", ())]
    for number, paragraph in enumerate(paragraphs):
        for kind, entries in _SPANS.items():
            for span in paragraph.get(kind, ()):
                if paragraph["text"][span["start"] : span["end"]] != span["text"]:
                    yield f"paragraph {number}: a span of {kind} is not the text at its place"
                named = span.get("ref_id")
                if named not in value[entries] and (named is not None or kind == "cite_spans"):
                    yield f"paragraph {number}: {kind} refers to {named}, which {entries} has not"
