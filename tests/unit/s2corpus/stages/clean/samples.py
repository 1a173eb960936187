"""Documents with an exact number of words, paragraphs and repetitions, for the tests of cleaning."""

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import wordfreq

from s2corpus.spec import CleanRules
from s2corpus.text.clean import clean
from s2corpus.text.documents import CleanedDocument, DocumentDecision, Set
from s2corpus.text.unigrams import Unigrams
from s2corpus_reader.layout import Unit

GERMAN = "Die Ergebnisse zeigen, dass die Konzentration der Proteine in allen untersuchten Proben deutlich über dem Wert lag."
NOISE = "xqz vvkt wqx zzjh pqk"
"""words that no list contains"""
TITLE = "Significant results about something"
Body = Sequence[tuple[str | None, str | None]]


@cache
def vocabulary() -> tuple[str, ...]:
    """Return frequent English words."""
    return tuple(
        word for word in wordfreq.top_n_list("en", 4000) if word.isalpha() and word.isascii() and len(word) > 3
    )


def english(words: int, seed: int = 0) -> str:
    """Return a text with this number of different English words."""
    return " ".join(random.Random(seed).sample(vocabulary(), words))


@cache
def unigrams() -> Unigrams:
    """Return a list of common words: other words are as improbable as in the card's list."""
    return Unigrams.from_counts("common words", dict.fromkeys(vocabulary(), 100000000))


def make_rules(profile: str = "card", **fields: Any) -> CleanRules:
    """Return the rules of a profile."""
    return CleanRules.model_validate({"profile": profile, "unigrams": {"uri": "x", "sha256": "0" * 64}, **fields})


CARD, RECIPE = make_rules(), make_rules("recipe-2024")


def split_evenly(words: int, paragraphs: int, end: str = "") -> list[tuple[None, str]]:
    """Return paragraphs with this number of words in all."""
    each, more = divmod(words, paragraphs)
    return [(None, english(each + (i < more), i) + end) for i in range(paragraphs)]


def paper(body: Body | None = (), *, words: int = 500, paragraphs: int = 5, **fields: Any) -> CleanedDocument:
    """Return a document that no rule of the card drops, unless the arguments change that."""
    given: dict[str, Any] = {"title": TITLE, "abstract": english(60, 99), "date": "2011-05-06", "sources": ("Medline",)}
    body = split_evenly(words, paragraphs) if body == () else body
    units = None if body is None else tuple(Unit(*unit) for unit in body)
    return CleanedDocument(**{"paper_id": "p", "body": units, **given, **fields})


def decide(
    document: CleanedDocument, set_: Set = "s2orc", rules: CleanRules = CARD, words: Unigrams | None = None
) -> DocumentDecision:
    """Return the decision on a document."""
    return clean(set_, document, rules, words or unigrams())
