"""The one parser of author names: strings of every usual form → {first, middle[], last, suffix}."""

from __future__ import annotations

import html
import re
import unicodedata

from s2corpus.sources.record import Author

MAX_CHARACTERS = 100_000  # of one author string; the rest of a longer one is not read
_SUFFIX = re.compile(r"^(jr|sr|ii|iii|iv|v|ph\.?d|m\.?d|esq)\.?$", re.IGNORECASE)
_PARTICLES = frozenset(
    (
        "af", "al", "am", "auf", "aus", "av", "da", "das", "de", "dei", "del", "della", "den", "der", "des", "di", "do", "dos",
        "du", "el", "ibn", "la", "las", "le", "los", "te", "ten", "ter", "van", "vande", "vander", "vom", "von", "y", "zu", "zum",
        "zur", "'t",
    )
)  # fmt: skip
_INITIALS = re.compile(r"^(?:[^\W\d_]\.?[-‐\s]\s?){0,4}[^\W\d_]\.?$|^(?:[^\W\d_]\.[-‐\s]?){1,5}$")
_GLUED_INITIALS = re.compile(r"^[^\W\d_](?:\.[-‐]?[^\W\d_])+\.?$")
_AND = re.compile(r"\s*(?:,\s*|\s)(?:and|&|und|et)\s+(?!al\b)", re.IGNORECASE)
_ET_AL = re.compile(r"[,;]?\s*\b(?:et\.?\s+al\.?|and\s+others)\s*$", re.IGNORECASE)
_EDGES = " ,;:&*"
_SPACE = re.compile(r"\s+")


def parse_authors(text: str) -> tuple[Author, ...]:
    """Authors of one string.

    Understands "Last, First; Last, First", "First Last, First Last", "A and B", "A, B, and C",
    "Last, F., Last, F., and Last, F.", BibTeX's "Last, First and Last, First", and a trailing "et al.".
    Character entities are resolved. An empty string gives no authors; nothing raises.
    """
    text = _SPACE.sub(" ", _unescape(text[:MAX_CHARACTERS])).strip(_EDGES)
    text = _ET_AL.sub("", text)
    if not text:
        return ()
    if ";" in text:
        pieces = [piece.strip(" ,") for piece in text.split(";")]
        pieces = [re.sub(r"^(?:and|&)(?:\s+|$)", "", piece) for piece in pieces]
        return tuple(author for piece in pieces if (author := parse_name(piece)))
    conjuncts = [piece.strip(" ,") for piece in _AND.split(text)]
    if len(conjuncts) > 1 and all(_is_inverted(piece) for piece in conjuncts):
        return tuple(author for piece in conjuncts if (author := parse_name(piece)))
    return tuple(_parse_comma_list([part.strip() for piece in conjuncts for part in piece.split(",")]))


def parse_name(text: str) -> Author | None:
    """One author's name, "Last, First Middle, Suffix" or "First Middle Last Suffix"; None if it has no letter."""
    text = _SPACE.sub(" ", _unescape(text)).strip(_EDGES)
    if not any(character.isalpha() for character in text):
        return None
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) >= 2:
        suffix = ""
        rest = parts[1:]
        for part in list(rest):
            if _SUFFIX.match(part):
                suffix, rest = part, [other for other in rest if other is not part]
        if rest:
            return _author(" ".join(rest).split(), parts[0], suffix)
        text, given_suffix = parts[0], suffix
    else:
        given_suffix = ""
    return _natural(text.split(), given_suffix)


def make_author(given: str | None, family: str | None, suffix: str | None = None) -> Author | None:
    """An author whose given and family names the source keeps apart; None if both are empty.

    A source that puts the whole name in one of the two (Crossref does) is read as one string.
    """
    given, family = (_SPACE.sub(" ", _unescape(part or "")).strip(" ,;") for part in (given, family))
    if not family:
        return parse_name(given)
    if not given and not suffix:
        return parse_name(family) if "," in family else _author([], family, "")
    return _author(given.split(), family, _SPACE.sub(" ", suffix or "").strip())


def surname_key(author: Author) -> str:
    """What two surnames must share to be one: letters only, no case, no accents ("Garcia-Molina" → garciamolina)."""
    decomposed = unicodedata.normalize("NFKD", author.last or author.first).casefold()
    return "".join(character for character in decomposed if character.isalnum())


def _unescape(text: str) -> str:
    return html.unescape(text) if "&" in text else text


def _natural(tokens: list[str], suffix: str) -> Author | None:
    """First Middle Last order."""
    while len(tokens) > 1 and _SUFFIX.match(tokens[-1]) and (len(tokens) > 2 or len(tokens[-1]) > 1):
        suffix = suffix or tokens[-1]
        tokens = tokens[:-1]
    if len(tokens) == 1:
        return _author([], tokens[0], suffix)
    if _is_bare_initials(tokens[-1]) and not _is_bare_initials(tokens[0]) and len(tokens[0]) > 1:
        return _author(list(tokens[-1]), " ".join(tokens[:-1]), suffix)  # PubMed: Smith JA
    if "." in tokens[-1] and _INITIALS.match(tokens[-1]) and not _starts_with_initial(tokens):
        return _author(tokens[1:], tokens[0], suffix)  # Smith J. A.
    start = len(tokens) - 1
    while start > 1 and tokens[start - 1].casefold() in _PARTICLES:
        start -= 1
    return _author(tokens[:start], " ".join(tokens[start:]), suffix)


def _author(given: list[str], last: str, suffix: str) -> Author | None:
    names: list[str] = []
    for token in given:
        if _GLUED_INITIALS.match(token) and "-" not in token and "‐" not in token:
            names.extend(part for part in token.split(".") if part)
        elif re.fullmatch(r"[^\W\d_]\.", token):
            names.append(token[0])
        elif token.strip(".,"):
            names.append(token)
    last = last.strip(" .,")
    if not last and not names:
        return None
    return Author(names[0] if names else "", tuple(names[1:]), last, suffix.strip(" ."))


def _is_bare_initials(token: str) -> bool:
    return 1 <= len(token) <= 3 and token.isalpha() and token.isupper()


def _starts_with_initial(tokens: list[str]) -> bool:
    return len(tokens[0]) == 1 or bool("." in tokens[0] and _INITIALS.match(tokens[0]))


def _is_initials(text: str) -> bool:
    return bool(_INITIALS.match(text)) or _is_bare_initials(text)


def _is_inverted(piece: str) -> bool:
    """ "Last, First": one comma, and what stands before it is not itself a full name unlike its neighbour."""
    parts = [part.strip() for part in piece.split(",")]
    parts = [part for part in parts if part and not _SUFFIX.match(part)]
    if len(parts) != 2:
        return False
    before, after = parts
    if _is_initials(after):
        return True
    plain = [token for token in before.split() if token.casefold() not in _PARTICLES]
    return len(plain) <= 1 and len(after.split()) <= 3


def _parse_comma_list(parts: list[str]) -> list[Author]:
    """Names between commas: each is a whole name, or a surname whose initials (or given names) follow it."""
    parts = [part for part in parts if part]
    authors: list[Author] = []
    at = 0
    named = [part for part in parts if not _SUFFIX.match(part)]
    inverted_pair = len(named) == 2 and len(named[0].split()) == 1 and not _is_initials(named[0])
    while at < len(parts):
        part, follower = parts[at], parts[at + 1] if at + 1 < len(parts) else None
        taken = 1
        whole = _is_initials(part) or (" " in part and _starts_with_initial(part.split()))
        if follower is not None and not whole and (_is_initials(follower) or inverted_pair):
            author, taken = parse_name(f"{part}, {follower}"), 2
        else:
            author = parse_name(part)
        at += taken
        if at < len(parts) and _SUFFIX.match(parts[at]) and author is not None:
            author = Author(author.first, author.middle, author.last, parts[at].strip(" ."))
            at += 1
        if author is not None:
            authors.append(author)
    return authors
