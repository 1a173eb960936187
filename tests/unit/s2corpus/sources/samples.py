"""Read entries of sources and show names."""

import io
import json
from typing import Any

from s2corpus.sources import Author, Record, read


def entries(source: str, content: Any) -> list[Any]:
    """Return the entries of bytes, of a text, or of an object as JSON."""
    if not isinstance(content, bytes | str):
        content = json.dumps(content)
    return list(read(source, io.BytesIO(content.encode() if isinstance(content, str) else content)))


def one(source: str, content: Any) -> Record:
    """Return the only record of a source's file."""
    (found,) = entries(source, content)
    assert isinstance(found, Record), found
    return found


def shown(author: Author) -> str:
    """Return the name of an author as one text."""
    return " ".join(filter(None, (author.first, *author.middle, author.last, author.suffix)))


def names(record: Record) -> list[str]:
    """Return the authors of a record as texts."""
    return [shown(author) for author in record.authors]
