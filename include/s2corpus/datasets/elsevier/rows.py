"""Convert an article of the Elsevier form to a row. Objects with free keys become lists, so that tables can contain them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

_TEXT, _INT = pa.string(), pa.int64()
_PERSON = pa.struct([(name, _TEXT) for name in ("first", "initial", "last", "suffix", "email")])
_SENTENCE = [("sentence", _TEXT), ("startOffset", _INT), ("endOffset", _INT)]
_ENTRY = pa.struct([
    ("ref_id", _TEXT), ("title", _TEXT), ("authors", pa.list_(_PERSON)), ("issn", _TEXT), ("volume", _TEXT), ("firstpage", _TEXT),
    ("lastpage", _TEXT), ("pub_year", _INT), ("doi", _TEXT), ("pmid", _TEXT),
])  # fmt: skip
_METADATA = pa.struct([
    ("title", _TEXT), ("authors", pa.list_(_PERSON)), ("issn", _TEXT), ("journal", _TEXT), ("volume", _TEXT), ("firstpage", _TEXT),
    ("lastpage", _TEXT), ("pub_year", _INT), ("doi", _TEXT), ("pmid", _TEXT), ("openaccess", _TEXT),
    ("subjareas", pa.list_(_TEXT)), ("keywords", pa.list_(_TEXT)), ("asjc", pa.list_(_INT)),
])  # fmt: skip
ARTICLE = pa.schema([
    ("docId", _TEXT),
    ("metadata", _METADATA),
    ("abstract", pa.list_(pa.struct(_SENTENCE))),
    ("author_highlights", pa.list_(pa.struct(_SENTENCE))),
    ("bib_entries", pa.list_(_ENTRY)),
    ("body_text", pa.list_(pa.struct([
        *_SENTENCE, ("secId", _TEXT), ("title", _TEXT),
        ("refoffsets", pa.list_(pa.struct([("ref_id", _TEXT), ("startOffset", _INT), ("endOffset", _INT)]))),
        ("parents", pa.list_(pa.struct([("id", _TEXT), ("title", _TEXT)]))),
    ]))),
])  # fmt: skip
"""the schema of §3.2; `bib_entries` and `refoffsets` are lists of items with the key as `ref_id`"""


def build_row(article: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of an article; a value of a type other than the schema's is null."""
    row = {**article, "bib_entries": _as_list(article.get("bib_entries"))}
    body = article.get("body_text")
    row["body_text"] = [
        {**sentence, "refoffsets": _as_list(sentence.get("refoffsets"))}
        for sentence in (body if isinstance(body, list) else ())
        if isinstance(sentence, dict)
    ]
    return {field.name: _coerce(row.get(field.name), field.type) for field in ARTICLE}


def _as_list(values: object) -> list[dict[str, Any]]:
    if not isinstance(values, dict):
        return []
    return [{**value, "ref_id": key} for key, value in values.items() if isinstance(value, dict)]


def _coerce(value: Any, type_: pa.DataType) -> Any:
    """Return a value converted to its column's type: numbers to text, digits to numbers; other mismatches become null."""
    if pa.types.is_struct(type_):
        return (
            {field.name: _coerce(value.get(field.name), field.type) for field in type_}
            if isinstance(value, dict)
            else None
        )
    if pa.types.is_list(type_):
        items: Iterable[Any] = value if isinstance(value, list) else ()
        return [fitted for item in items if (fitted := _coerce(item, type_.value_type)) is not None]
    if isinstance(value, bool):
        return None
    if pa.types.is_integer(type_):
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 19:
            value = int(value)
        return value if isinstance(value, int) and abs(value) < 1 << 63 else None
    return value if isinstance(value, str) else str(value) if isinstance(value, int | float) else None
