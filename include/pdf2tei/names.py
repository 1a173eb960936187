"""The authors of a reference, as its style prints them, into forenames and surnames."""

from __future__ import annotations

import re

from s2orc_parse.bibliography.names import parse_authors

from .authors import Author

_EDITORS = re.compile(r"[(\[]?\b(?:eds?|editors?|hrsg)\b\.?[)\]]?", re.I)
_BRACKETS = re.compile(r"[()\[\]]")
MAX_SURNAME = 60  # characters; what is longer is not a name


def people(text: str) -> list[Author]:
    """Every author named in the author field of a reference string, without the words that call them editors."""
    found = parse_authors(_BRACKETS.sub(" ", _EDITORS.sub(" ", text)))
    return [
        Author(tuple(filter(None, (author.first, *author.middle))), author.last)
        for author in found
        if len(author.last.strip(".")) > 1 and len(author.last) < MAX_SURNAME
    ]
