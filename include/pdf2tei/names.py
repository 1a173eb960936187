"""The authors of a reference, as its style prints them, into forenames and surnames."""

from __future__ import annotations

import re

from s2orc_parse.bibliography.names import parse_authors

from .authors import FrontAuthor

_EDITORS = re.compile(r"[(\[]?\b(?:eds?|editors?|hrsg)\b\.?[)\]]?", re.I)
_BRACKETS = re.compile(r"[()\[\]]")
MAX_SURNAME = 60  # characters; longer texts are not names


def parse_reference_authors(text: str) -> list[FrontAuthor]:
    """Return every author in the author field of a reference string, without words like `editors`."""
    found = parse_authors(_BRACKETS.sub(" ", _EDITORS.sub(" ", text)))
    return [
        FrontAuthor(tuple(filter(None, (author.first, *author.middle))), author.last)
        for author in found
        if len(author.last.strip(".")) > 1 and len(author.last) < MAX_SURNAME
    ]
