"""Clean the authors of a record in the same way for every source: affiliations, ORCIDs, and texts that are no names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from s2orc_parse.bibliography import identifiers
from s2orc_parse.bibliography.author import Affiliation, Author
from s2orc_parse.bibliography.fields import clean_text
from s2orc_parse.words import read_table

MAX_AUTHORS = 10_000
MAX_AFFILIATIONS = 50  # per author
_ROLE = re.compile(rf"\W*(?:the )?(?:{'|'.join(read_table('bibliography/words')['roles'])})\W*", re.IGNORECASE)


def add_affiliations(author: Author | None, affiliations: Iterable[tuple[str, str]], orcid: str = "") -> Author | None:
    """Return an author with an ORCID and affiliations, each a name and a text that may contain its ROR id."""
    if author is None:
        return None
    found = dict.fromkeys(
        Affiliation(name, identifiers.normalize_ror(ror))
        for given, ror in islice(affiliations, MAX_AFFILIATIONS)
        if (name := (clean_text(given, 500) or "").strip(" ,;*"))
        if sum(map(str.isalpha, name)) > 2
    )
    return replace(author, affiliations=tuple(found), orcid=identifiers.normalize_orcid(orcid))


def select_authors(authors: Iterable[Author | None]) -> tuple[Author, ...]:
    """Return the authors that have a name, at most MAX_AUTHORS. A role ("GUEST EDITORS", "Anonymous") is no name."""
    named = (
        author for author in authors if author is not None and not _ROLE.fullmatch(f"{author.first} {author.last}")
    )
    return tuple(islice(named, MAX_AUTHORS))
