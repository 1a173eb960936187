"""Read printed references without tagged fields: a caller provides the reader of strings."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from s2orc_parse.bibliography.names import parse_authors, surname_key

Fields = dict[str, Any]
"""Fields of an entry: `authors` a tuple of Author, everything else text."""
ReferenceParser = Callable[[str], Fields] | None
"""returns the fields of a printed reference"""
MAX_REFERENCE = 2_000  # characters; a longer text is a note
_YEAR_AT_END = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d[a-z]?\)?[.,:;]?\s*$")
_SENTENCE_END = re.compile(r"\s*[.?!;](?!\w)|$")


def read_certain_fields(raw: str, parse_reference: ReferenceParser) -> Fields:
    """Return title and authors of a printed reference, and its place if it has volume and pages; nothing if the title is uncertain.

    A certain title has at least three words, follows the year or the authors, and ends as a sentence, which is its only one.
    """
    found = parse_reference(raw) if parse_reference and len(raw) <= MAX_REFERENCE else {}
    words, at = found.get("title", "").split(), raw.find(found.get("title", ""))
    if len(words) < 3 or at < 1 or not words[0][0].isalnum() or len(words[-1]) < 2 or ". " in found["title"]:
        return {}
    before, after = raw[:at], raw[at + len(found["title"]) :]
    if not _SENTENCE_END.match(after) and words[-1][-1] not in "?!":
        return {}
    if not _YEAR_AT_END.search(before):
        surnames = set(map(surname_key, found["authors"]))
        if before.rstrip()[-1:] not in (".", ":") or surnames != set(map(surname_key, parse_authors(before))):
            return {}
    names = (
        ("title", "authors", "venue", "volume", "issue") if found["volume"] and found["pages"] else ("title", "authors")
    )
    pages = re.sub(r"\s*[–-]+\s*", "--", found["pages"]) if "venue" in names else ""
    return {**{name: found[name] for name in names}, "pages": pages}
