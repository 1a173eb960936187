"""Fixtures that build documents with an exact number of words, paragraphs and repetitions."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import pytest
import wordfreq

from s2corpus.spec import CleanRules
from s2corpus.text.documents import CleanedDocument
from s2corpus.text.layout import Unit
from s2corpus.text.unigrams import Unigrams

GERMAN = "Die Ergebnisse zeigen, dass die Konzentration der Proteine in allen untersuchten Proben deutlich über dem Wert lag."


@cache
def vocabulary() -> tuple[str, ...]:
    return tuple(
        word for word in wordfreq.top_n_list("en", 4000) if word.isalpha() and word.isascii() and len(word) > 3
    )


def english(words: int, seed: int = 0) -> str:
    """Return a text with this number of different English words."""
    return " ".join(random.Random(seed).sample(vocabulary(), words))


@pytest.fixture(scope="session")
def unigrams() -> Unigrams:
    """Return a list of common words: other words are as improbable as in the card's list."""
    return Unigrams.from_counts("common words", dict.fromkeys(vocabulary(), 100000000))


@pytest.fixture
def paper() -> Callable[..., CleanedDocument]:
    """Return a function that makes a document; every rule keeps it, unless the arguments change that."""

    def made(
        body: Sequence[tuple[str | None, str | None]] | None = None,
        *,
        words: int = 500,
        paragraphs: int = 5,
        **fields: object,
    ) -> CleanedDocument:
        if body is None:
            each, more = divmod(words, paragraphs)
            body = [(None, english(each + (i < more), i)) for i in range(paragraphs)]
        values: dict[str, Any] = {
            "title": "A title of words",
            "abstract": english(60, 99),
            "date": "2011-05-06",
            "open_access": True,
        }
        return CleanedDocument(paper_id="p", body=tuple(Unit(*unit) for unit in body), **(values | fields))

    return made


@pytest.fixture
def card() -> CleanRules:
    """Return the card's rules."""
    return CleanRules()


@pytest.fixture
def recipe() -> CleanRules:
    """Return the published recipe's rules."""
    return CleanRules.model_validate({"profile": "recipe-2024", "unigrams": {"uri": "x", "sha256": "0" * 64}})
