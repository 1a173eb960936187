"""Move names out of titles: publishers' files and extractors leave the end of the list of authors in the title of a reference."""

from __future__ import annotations

import re

from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.names import parse_authors, surname_key

_PARTICLES = r"(?:(?:van|von|de|der|den|di|da|le|la)\s+)*"
_SURNAME = rf"{_PARTICLES}[^\W\d_][\w'’-]+"
_VANCOUVER = rf"{_SURNAME} [A-Z]{{1,3}}(?:, {_SURNAME} [A-Z]{{1,3}})*"
_NAMES = r"(?:[A-Z][\w'’.-]*|van|von|de|der|and|&)(?:,? (?:[A-Z][\w'’.-]*|van|von|de|der|and|&)){1,12}"
_LEADING = re.compile(
    rf"(?:&|and) (?P<last>{_SURNAME}, (?:[A-Z]\.[\s-]?){{1,4}})"  # & Bihari, V. Production of …
    rf"|(?P<first>{_VANCOUVER}),? et al\b[.:,]*\s+"  # Lee J, et al. On …
    rf"|(?P<dated>{_NAMES}),? et al\b\.?,? \(?(?:19|20)\d\d[a-z]?\)?\.\s+"  # Ann Lee, et al. 2021. On …
    rf"|(?P<last_dated>{_VANCOUVER}),? \((?:19|20)\d\d[a-z]?\)[.:,]?\s+"  # Spry N (2010) Meeting …
    rf"|(?P<natural>(?:[A-Z]\.[ -]?){{1,3}}{_PARTICLES}[^\W\d_a-z][\w'’-]+)\. (?=[^\W\d_a-z])"  # L. van Griensven. Chemical …
    rf"|{_VANCOUVER},? \((?:[Ee]ds?|[Ee]ditors?)\.?\)[.:,]*\s*"  # Chen BY (eds.): Curriculum …
)


def split_leading_names(title: str, authors: tuple[Author, ...]) -> tuple[str, tuple[Author, ...]]:
    """Return a title without names before it, and the authors with these names. Editors are only removed."""
    match = _LEADING.match(title)
    rest = title[match.end() :] if match else ""
    if match is None or len(rest.split()) < 3 or (match["natural"] and not authors):
        return title, authors
    known = {surname_key(author) for author in authors}
    names = parse_authors(next(filter(None, match.groups()), ""))
    new = tuple(author for author in names if surname_key(author) not in known)
    return rest, (*new, *authors) if match["first"] or match["dated"] else (*authors, *new)
