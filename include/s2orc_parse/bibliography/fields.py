"""Clean titles, abstracts, venues and licenses in the same way for every source."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from s2orc_parse.bibliography import identifiers
from s2orc_parse.bibliography.author import Affiliation, Author
from s2orc_parse.bibliography.markup import ATTRIBUTE, resolve_formulas, space_formulas

MAX_TITLE = 3_000  # characters; a longer title belongs to a broken entry
MAX_ABSTRACT = 100_000  # characters
MAX_AUTHORS = 10_000
MAX_AFFILIATIONS = 50  # per author
MAX_LOCATOR = 60  # maximum length of a volume, issue or pages
_LOCATOR_WORD = re.compile(r"^(?:vol(?:ume)?|no|nr|number|issue|pp?|pages?|s)\b\.?\s*(?=\w)", re.IGNORECASE)
_NOTE = re.compile(
    r"\.?\s*\[(?:erratum|corrigendum|correction|comment|retraction|republished|summary for|original|reprint|see comment)s?\b.*$|"
    r"\.?\s*(?:\[(?:\d+ refs?|(?:systematic )?review|letter|abstract|editorial|commentary|news|case reports?|article in [a-z, ]+|"
    r"(?:english|spanish|french|german|italian|portuguese|russian|ukrainian|chinese|japanese|korean|polish|dutch|turkish|hungarian|czech|"
    r"slovak|danish|swedish|norwegian|finnish|greek|hebrew|arabic|persian|romanian|bulgarian|serbian|croatian)(?:, [a-z]+)*)\]\.?)+\s*$",
    re.IGNORECASE,
)
"""notes that MEDLINE and EMBASE append to a title: [Review] [33 refs], [Erratum appears in …], [Spanish]"""
_COMMENTED_ARTICLE = re.compile(
    r"\s*[^\W\d_][^;]*\b(?:19|20)\d\d\b[^;]{0,20};\s*\d+\s*(?:\([^()]*\))?\s*:\s*[A-Za-z]?\d+(?:-[A-Za-z]?\d+)?\W*"
)
"""the article that a comment refers to; CINAHL appends it to the title: N Engl J Med. 2009 Jan 29;360(5):544-6"""
_TAG = re.compile(rf"</?[a-zA-Z][\w:.-]*(?:{ATTRIBUTE})*\s*/?>|<!--[^<>]*-->|<!\[CDATA\[|\]\]>|<\?[^<>]*\?>")
_BLOCK = re.compile(rf"</?(?:\w+:)?(?:p|title|sec|br|list-item|div|li)(?:{ATTRIBUTE})*\s*/?>", re.IGNORECASE)
# The header of a part stays on the line of its text.
_TITLE_END = re.compile(r"\s*:?\s*</(?:\w+:)?title\s*>(?:\s|</?(?:\w+:)?(?:p|sec)\s*>)*", re.IGNORECASE)
_ABBREVIATED = re.compile(r"\b[^\W\d_]\.[^\W\d_]\.?$")
"""abbreviations at the end of a title, where the last full stop does not end the sentence: U.S., U.S.A."""
_AMPERSANDS = re.compile(r"&(?:amp;)+")
_MAX_ROUNDS = 10  # of removing tags and unescaping; real texts need fewer
_PART_MARK = "\x1e"
PARTS = " ::: "
"""The separator between the parts of an abstract, as in S2ORC. Adapters join parts with it; it becomes a line break."""
_PART_BREAK = re.compile(r"\x1e|(?<!\S):::(?!\S)")
_ABSTRACT_HEAD = re.compile(r"^\s*(?:abstract|summary)\s*[:.—–-]?\s+(?=\S)", re.IGNORECASE)
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")

_LICENCES = (
    (re.compile(r"creativecommons\.org/licen[sc]es/(by(?:-nc)?(?:-nd|-sa)?)/(\d\.\d)", re.IGNORECASE), "CC-{0}-{1}"),
    (re.compile(r"creativecommons\.org/publicdomain/zero/(\d\.\d)", re.IGNORECASE), "CC0-{0}"),
    (re.compile(r"creativecommons\.org/publicdomain/mark", re.IGNORECASE), "PDM-1.0"),
    (re.compile(r"arxiv\.org/licenses/nonexclusive-distrib/(\d\.\d)", re.IGNORECASE), "arXiv-nonexclusive-{0}"),
    (re.compile(r"^\s*cc[ -](by(?:-nc)?(?:-nd|-sa)?)[ -](\d\.\d)\s*$", re.IGNORECASE), "CC-{0}-{1}"),
    (re.compile(r"^\s*cc[ -]?(by(?:-nc)?(?:-nd|-sa)?)\s*$", re.IGNORECASE), "CC-{0}"),
    (re.compile(r"^\s*cc[ -]?0(?:-(\d\.\d))?\s*$", re.IGNORECASE), "CC0-1.0"),
)  # fmt: skip


def clean_text(value: object, limit: int = MAX_TITLE) -> str | None:
    """Return the plain text of a title or venue, or None if it is empty.

    Markup and entities are resolved and white space is normalized.
    """
    text = " ".join(_clean_parts(value, limit))[:limit]
    return text or None


def clean_abstract(value: object) -> str | None:
    """Return the plain text of an abstract with one line per part, without a leading "Abstract"; None if it is empty.

    Parts are separated by `:::` (S2ORC, PubMed's structured abstracts) or by markup, not by line breaks of the source.
    """
    text = "\n".join(_clean_parts(value, MAX_ABSTRACT))[:MAX_ABSTRACT].rstrip()
    return _ABSTRACT_HEAD.sub("", text) or None if text else None


def _clean_parts(value: object, limit: int) -> list[str]:
    """Return the parts of a text with normalized white space.

    Entities are resolved and markup is removed until nothing changes, because some sources escape repeatedly
    (`&amp;lt;i&amp;gt;`).
    """
    if not isinstance(value, str):
        return []
    text = CONTROL.sub(" ", value[: 4 * limit])
    for _ in range(_MAX_ROUNDS):
        before = text
        if "<" in text:
            text = resolve_formulas(text)
            text = _TAG.sub("", _BLOCK.sub(_PART_MARK, _TITLE_END.sub(": ", text)))
        if "&" in text:
            text = html.unescape(_AMPERSANDS.sub("&", text))
        if text == before:
            break
    text = space_formulas(text)
    parts = (" ".join(CONTROL.sub(" ", part).split()) for part in _PART_BREAK.split(text))
    return [part for part in parts if part]


def clean_title(value: object) -> str | None:
    """Return a title without a final full stop (PubMed, DBLP) and without PubMed's brackets around translated titles."""
    text = clean_text(value)
    if text is None:
        return None
    head, _, cited = text.rpartition("...")
    if head and _COMMENTED_ARTICLE.fullmatch(cited):
        text = head.rstrip(". ")
    text = _NOTE.sub("", text) or text
    if text.startswith("[") and text.rstrip(".").endswith("]"):
        text = text.rstrip(".")[1:-1]
    if text.endswith(".") and not text.endswith("..") and not _ABBREVIATED.search(text):
        text = text[:-1]
    return text.strip() or None


def clean_locator(value: object) -> str | None:
    """Return a volume, an issue or pages without words before the number and with plain hyphens; None if it is empty."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    text = clean_text(value, MAX_LOCATOR)
    if text is None or not any(character.isalnum() for character in text):
        return None
    return re.sub(r"\s*[-‐‑–—−]+\s*", "-", _LOCATOR_WORD.sub("", text)).strip(" ,.;:-") or None


def parse_licence(value: object) -> str | None:
    """Return the SPDX id of a license given as URL or short name; return other text unchanged, and None if it is empty."""
    if not isinstance(value, str) or not value.strip():
        return None
    for pattern, form in _LICENCES:
        if match := pattern.search(value):
            parts = [part.upper() for part in match.groups() if part]
            return form.format(*parts) if form.count("{") == len(parts) else form
    return " ".join(value.split())[:200]


def add_affiliations(author: Author | None, affiliations: Iterable[tuple[str, str]], orcid: str = "") -> Author | None:
    """Return an author with affiliations and an ORCID.

    An affiliation is a name and a text that may contain its ROR id.
    """
    if author is None:
        return None
    found = dict.fromkeys(
        Affiliation(name, identifiers.normalise_ror(ror))
        for given, ror in islice(affiliations, MAX_AFFILIATIONS)
        if (name := (clean_text(given, 500) or "").strip(" ,;*"))
        if sum(map(str.isalpha, name)) > 2
    )
    return replace(author, affiliations=tuple(found), orcid=identifiers.normalise_orcid(orcid))


def select_authors(authors: Iterable[Author | None]) -> tuple[Author, ...]:
    """Return the authors that have a name, at most MAX_AUTHORS."""
    return tuple(islice(filter(None, authors), MAX_AUTHORS))


def clean_words(values: object) -> tuple[str, ...]:
    """Return the distinct non-empty strings of a list, or of one string, in order."""
    if isinstance(values, str):
        values = [values]
    if not isinstance(values, list | tuple):
        return ()
    return tuple(dict.fromkeys(text for value in values if (text := clean_text(value, 200))))
