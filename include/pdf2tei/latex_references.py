"""Parse references in bibliographies of LaTeX sources."""

from __future__ import annotations

from typing import Any

from s2orc_parse.bibliography.names import make_author

from . import fields


def parse_reference(raw: str) -> dict[str, Any]:
    """Return the fields of a printed entry of a bibliography without markup of the fields."""
    found = fields.parse_reference(raw)
    people = (make_author(" ".join(author.forenames), author.surname) for author in found.authors)
    return {
        "title": found.title, "authors": tuple(author for author in people if author), "year": found.year,
        "venue": found.journal or found.booktitle or found.series, "volume": found.volume, "issue": found.issue, "pages": found.pages,
        "publisher": found.publisher, "doi": found.doi, "eprint": found.arxiv,
    }  # fmt: skip
