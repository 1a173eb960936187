"""Implement profile `recipe-2024`: the behavior of the published recipe, including its oddities (SPEC Annex A)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cached_property

from pdf2tei.pages.language import UNKNOWN
from s2corpus.outcomes import CleanOutcome
from s2corpus.text.language import vote_language
from s2corpus.text.rules import (
    ABSTRACT_LENGTH,
    EDITORIAL,
    LANGUAGE_CHARACTERS,
    MIN_PARAGRAPHS,
    PUBLISHED_TEXT,
    AbstractFacts,
    DocumentFacts,
    DropRule,
    RuleSeries,
)
from s2corpus.text.unigrams import log_probability
from s2corpus_reader.layout import IMPROBABLE, RECIPE, Block, format_body, merge_paragraphs

_MIN_WORDS, _MAX_WORDS = 500, 50_000
"""bounds of a full text's word count, both exclusive"""
_TOP_WORD = re.compile(r"[A-Za-z][a-z]+")
_ABSTRACT_TOP_WORD = re.compile(r"[A-Za-z][A-Za-z]+")
_SPACED_LETTERS = re.compile(r"\b[A-Za-z]\s(?:[a-z]\s)*[A-Za-z]\b")
_MIN_YEAR = 1970
_MIN_TITLE_WORDS = 3
_MIN_DROPPED_RUN = 4
"""number of characters from which a run of spaced letters drops an abstract"""
_CRAWLED = re.compile("^unpaywall|mergedpdfextraction|scienceparse|anansi|adhoc|crawler|mag$", re.IGNORECASE)
"""the recipe's sources that read PDFs; our sources are recognized by their kind, see `CleanedDocument.sources`"""
_BLANK = "unk"
"""language code of a blank text"""


class RecipeFullText(DocumentFacts):
    """A full text as the recipe processes it."""

    set = "s2orc"

    @cached_property
    def paragraphs(self) -> list[Block]:
        """The merged paragraphs."""
        return merge_paragraphs(self.document.body or ())

    @cached_property
    def word_counts(self) -> Counter[str]:
        """The word counts of the merged paragraphs."""
        found = Counter(word for paragraph in self.paragraphs for word in paragraph.text.split())
        self.decision.words = found.total()
        return found

    @cached_property
    def language(self) -> str | None:
        """The language of most paragraphs; the smallest code on a tie."""
        texts = [paragraph.text.strip() for paragraph in self.paragraphs]
        vote = vote_language(texts, LANGUAGE_CHARACTERS, blank=_BLANK)
        self.decision.language_votes = vote.votes
        self.decision.language = next(iter(vote.votes), None)
        return self.decision.language

    def bad_top_word(self) -> bool:
        """Return whether the most frequent word is not a word. Its share is never tested (integer division, as published)."""
        top = self.find_top_words(self.word_counts)
        return bool(top) and _TOP_WORD.fullmatch(top[0]) is None

    @cached_property
    def kept_paragraphs(self) -> list[Block]:
        """The paragraphs that are not improbable."""
        means = [log_probability(paragraph.text, self.unigrams) for paragraph in self.paragraphs]
        kept = [p for p, mean in zip(self.paragraphs, means, strict=True) if mean >= IMPROBABLE[RECIPE]]
        self.decision.set_section_log_probs(means, len(kept))
        self.decision.paragraphs = len(kept)
        return kept

    def text(self) -> str:
        """Return title, abstract and the remaining paragraphs."""
        head = f"{_nfc(self.document.title)}\n\n{_nfc(self.document.abstract)}"
        return head + format_body(self.kept_paragraphs, self.rules.text_rules)


class RecipeAbstract(AbstractFacts):
    """A paper with title and abstract, as the recipe processes it."""

    @cached_property
    def title(self) -> str:
        """The title, NFC."""
        return _nfc(self.document.title)

    @cached_property
    def abstract(self) -> str:
        """The abstract, NFC."""
        return _nfc(self.document.abstract)

    def is_word(self, word: str) -> bool:
        """Return whether a word consists of two or more letters."""
        return _ABSTRACT_TOP_WORD.fullmatch(word) is not None

    def spaced_letters(self) -> bool:
        """Return whether runs of spaced letters drop the abstract: the longest run has 4 or more characters.

        A paper with crawled sources only is dropped if its abstract has *no* run (inverted, as published).
        """
        longest = max((len(m.group()) for m in _SPACED_LETTERS.finditer(self.abstract)), default=0)
        if any(not _CRAWLED.search(source) for source in self.document.sources):
            return longest >= _MIN_DROPPED_RUN
        return longest == 0

    def identify_language(self, text: str) -> str:
        """Return the language of a text without surrounding white space."""
        code = super().identify_language(text.strip())
        return _BLANK if code == UNKNOWN else code


def _too_old(facts: DocumentFacts) -> bool:
    return facts.document.year is not None and facts.document.year < _MIN_YEAR


S2ORC: RuleSeries[RecipeFullText] = RuleSeries(
    RecipeFullText,
    (
        *EDITORIAL,
        *PUBLISHED_TEXT,
        DropRule(CleanOutcome.NO_TITLE, lambda facts: facts.document.title is None),
        DropRule(CleanOutcome.NO_ABSTRACT, lambda facts: facts.document.abstract is None),
        DropRule(CleanOutcome.SHORT, lambda facts: facts.word_counts.total() <= _MIN_WORDS),
        DropRule(CleanOutcome.LONG, lambda facts: facts.word_counts.total() >= _MAX_WORDS),
        DropRule(CleanOutcome.NO_YEAR, lambda facts: facts.document.year is None),
        DropRule(CleanOutcome.BEFORE_MIN_YEAR, _too_old),
        DropRule(CleanOutcome.NOT_ENGLISH, lambda facts: facts.language != "en"),
        DropRule(CleanOutcome.BAD_TOP_WORD, RecipeFullText.bad_top_word),
        DropRule(CleanOutcome.FEW_PARAGRAPHS, lambda facts: len(facts.kept_paragraphs) < MIN_PARAGRAPHS),
    ),
)

S2AG: RuleSeries[RecipeAbstract] = RuleSeries(
    RecipeAbstract,
    (
        *EDITORIAL,
        DropRule(CleanOutcome.NO_TITLE, lambda facts: facts.document.title is None),
        DropRule(CleanOutcome.NO_ABSTRACT, lambda facts: facts.document.abstract is None),
        DropRule(CleanOutcome.TITLE_NOT_ENGLISH, RecipeAbstract.title_not_english),
        DropRule(CleanOutcome.ABSTRACT_NOT_ENGLISH, lambda facts: facts.language != "en"),
        DropRule(CleanOutcome.ABSTRACT_IMPROBABLE, lambda facts: facts.log_prob <= IMPROBABLE[RECIPE]),
        DropRule(CleanOutcome.TITLE_SHORT, lambda facts: len(facts.title.split()) < _MIN_TITLE_WORDS),
        *ABSTRACT_LENGTH,
        DropRule(CleanOutcome.NO_YEAR, lambda facts: facts.document.year is None),
        DropRule(CleanOutcome.BEFORE_MIN_YEAR, _too_old),
        DropRule(CleanOutcome.BAD_TOP_WORD, RecipeAbstract.bad_top_word),
        DropRule(CleanOutcome.SPACED_LETTERS, RecipeAbstract.spaced_letters),
    ),
)


def _nfc(text: str | None) -> str:
    return unicodedata.normalize("NFC", text or "")
