"""The values of JATS attributes that decide, with a defined meaning for all others: `words.toml` lists them with their sources."""

from __future__ import annotations

from s2orc_parse.words import read_table

_VALUES = read_table("jats/words")["values"]
_DATE_RANKS = {kind: rank for rank, kinds in enumerate(_VALUES["dates"]) for kind in kinds.split()}
_UNKNOWN_DATE = 5
_ELECTRONIC, _OTHER_DATES, _MAIN_ABSTRACTS, _AUTHOR_WORDS, _GROUP_WORDS, _NO_AUTHOR_WORDS = (
    frozenset(_VALUES[name].split())
    for name in (
        "electronic_formats", "other_dates", "main_abstracts", "author_words", "group_words", "no_author_words",
    )
)  # fmt: skip
_NO_ABSTRACTS = tuple(_VALUES["no_abstracts"].split())


def rank_date(kind: str | None, format_: str | None) -> int | None:
    """Return the preference of a `pub-date` (0 is best), from its type and its publication format; None if it is none."""
    name = _normalize(kind or "pub")
    rank = None if name in _OTHER_DATES else _DATE_RANKS.get(name, _UNKNOWN_DATE)
    if rank != 2 or not format_:
        return rank
    return 0 if format_.strip().casefold() in _ELECTRONIC else 3


def rank_abstract(kind: str | None) -> int | None:
    """Return the preference of an abstract by its type: 0 for the main one, 1 for unknown types and summaries, None for others."""
    name = _normalize(kind or "")
    if not name or name in _MAIN_ABSTRACTS:
        return 0
    return None if any(word.startswith(_NO_ABSTRACTS) for word in name.split("-")) else 1


def is_author_type(kind: str | None, group_kind: str | None, *, is_group: bool) -> bool:
    """Return whether a contributor is an author, from its type, or else from the type of its `contrib-group`.

    A contributor without any type is an author. Types that name an author or, for a collaboration, a group are
    authors, unless they exclude the byline; all other types are not.
    """
    words = frozenset(_normalize(kind or group_kind or "author").split("-"))
    return not words & _NO_AUTHOR_WORDS and bool(words & _AUTHOR_WORDS or (is_group and words & _GROUP_WORDS))


def _normalize(value: str) -> str:
    return "-".join(value.replace("-", " ").replace("_", " ").casefold().split())
