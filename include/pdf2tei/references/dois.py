"""Find the DOI in a reference, even if it is broken across lines."""

from __future__ import annotations

import re

from pdf2tei.words import read_pattern

_SIGNS = str.maketrans({
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d", "-"), **dict.fromkeys("\u200b\u200c\u2060\ufeff"),
})  # fmt: skip
"""Translation that unifies hyphens and removes invisible signs."""
_SPACED_PAGE = re.compile(r"\s?<\s?(\d{1,6}:\s?[A-Z0-9-]{2,8})\s?>\s?(?=\d\.\d)")
"""The page and code in a SICI DOI, `<0163:ANT>2.3.CO;2`, with spaces."""
_PREFIX = re.compile(r"\b10\.\d{4,9}/\s?")
_BROKEN_PREFIX = read_pattern("dois", "broken_prefix")
"""A DOI prefix broken by spaces, after `doi` or the resolver's address."""
_PART = re.compile(r"(?:[^\s\"<>\[\]]|\[[^\s\]]{1,30}\](?=\S)|<[^\s<>\"]{1,30}>(?=\S))+")
"""A run without spaces; SICI DOIs contain brackets of all kinds."""
_NEXT = re.compile(r"\s([\w.()/:;-]+)")
_YEAR = re.compile(r"\W*(?:1[6-9]|20)\d\d\W*")
_JOINED = re.compile(r"\w[./-]\w|[./-]$")
_AFTER_DOI = read_pattern("dois", "after_doi", re.NOFLAG)  # text that may follow a complete DOI
_ELSEVIER_STEM = re.compile(r"\.(?:19|20)\d\d\.\d\d\.$")
"""End of an Elsevier DOI whose last number is missing (`…2019.04.`)."""
_NEXT_PIECE = re.compile(r"\s(?:-?[\w./-]*\d[\w./-]*)\s?\.?$")
"""A last part of a DOI with a digit, before the end of the reference."""
_ITEM_NUMBER = re.compile(r"\(\d\d\)\d")  # of Elsevier: (00)00169-9
_CLOSING = {")": "(", "]": "["}
_MAX_PARTS = 6


def find_doi(raw: str) -> str:
    """Return the DOI printed in a reference; an empty string if it has no DOI, or only the beginning of a DOI is readable."""
    raw = _SPACED_PAGE.sub(lambda match: f"<{match[1]}>".replace(" ", ""), raw.translate(_SIGNS))
    match = _PREFIX.search(raw) or _BROKEN_PREFIX.search(raw)
    if match is None:
        return ""
    prefix = "".join((match.groupdict().get("prefix") or match.group()).split())
    part = _PART.match(raw, match.end())
    if part is None:
        return ""
    suffix, end = part.group(), part.end()
    for _ in range(_MAX_PARTS):
        following = _NEXT.match(raw, end)
        if following is None or not _continues(suffix, following.group(1), raw[following.end() :]):
            break
        suffix += following.group(1)
        end = following.end()
    whole = _trim(suffix)
    is_cut = bool(raw[end:].strip(" .,;)]")) and not any(map(str.isdigit, whole)) and suffix[-1] in "./-"
    return "" if is_cut or not whole or whole[-1] in "/-" else prefix + whole


def _continues(suffix: str, part: str, following_text: str) -> bool:
    """Return whether the characters after a space still belong to a DOI."""
    has_digit = any(map(str.isdigit, part))
    if suffix[-1] in ",;" or (part[0] in "(:;" and not _ITEM_NUMBER.match(part)):
        return False
    if suffix[-1] in "/-_" or _ELSEVIER_STEM.search(suffix):
        return has_digit or bool(_AFTER_DOI.match(following_text))
    if suffix[-1] == ".":
        bare = not any(map(str.isdigit, suffix))
        return has_digit and (bare or (_JOINED.search(part.rstrip(".")) is not None and not part[0].isupper()))
    if _YEAR.fullmatch(part) or part[0].isupper():
        return False
    if _ITEM_NUMBER.match(part):
        return True
    is_piece = has_digit or (part.islower() and _JOINED.search(part) is not None)
    return is_piece and (_AFTER_DOI.match(following_text) is not None or _NEXT_PIECE.match(following_text) is not None)


def _trim(suffix: str) -> str:
    """Remove punctuation and unbalanced closing brackets from the end."""
    while suffix:
        last = suffix[-1]
        if last not in ".,;:" and not (last in _CLOSING and suffix.count(last) > suffix.count(_CLOSING[last])):
            break
        suffix = suffix[:-1]
    return suffix
