"""Implement profile `recipe-2024`: the behavior of the published recipe, including its oddities (SPEC Annex A)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import date
from functools import cached_property

from pdf2tei.language import UNKNOWN, language
from s2corpus.text.documents import CleanOutcome
from s2corpus.text.language import majority
from s2corpus.text.layout import Unit
from s2corpus.text.rules import EDITORIAL, DocumentFacts, DropRule, RuleSeries
from s2corpus.text.unigrams import CARD_THRESHOLD, log_probabilities, log_probability
from s2corpus.text.words import Words, count_words

CUTOFF = date(2024, 8, 1)
"""first day after train, as last published"""
_MIN_WORDS, _MAX_WORDS = 500, 50_000
"""bounds of a full text's word count, both exclusive"""
_TOP_WORD = re.compile(r"[A-Za-z][a-z]+")
_ABSTRACT_TOP_WORD = re.compile(r"[A-Za-z][A-Za-z]+")
_SPACED_LETTERS = re.compile(r"\b[A-Za-z]\s(?:[a-z]\s)*[A-Za-z]\b")
_MIN_YEAR = 1970
_MIN_TITLE_WORDS = 3
_MAX_SPACED = 4
"""length in characters from which a run of spaced letters drops an abstract"""
_CRAWLED = re.compile("^unpaywall|mergedpdfextraction|scienceparse|anansi|adhoc|crawler|mag$", re.IGNORECASE)
"""the recipe's sources that read PDFs; our sources are recognized by their kind, see `Document.sources`"""
_BLANK = "unk"
"""the vote of a blank text"""


def merged_paragraphs(units: Iterable[Unit]) -> list[str]:
    """Return paragraphs with their header prepended; join split paragraphs.

    The last of consecutive headers is used, as `⏎header⏎paragraph`. A paragraph without header continues the previous one in three
    cases: it contains no space, the previous one does not end in `.?!`, or it closes a parenthesis opened there.
    """
    merged: list[str] = []
    header: str | None = None
    section: str | None = None
    for unit in units:
        if unit.section is not None and (unit.section != section or unit.text is None):
            header = _clean(unit.section.rsplit("::", 1)[-1])
        section = unit.section
        if unit.text is None:
            continue
        text = _clean(unit.text)
        if header is not None:
            text, header = f"\n{header}\n{text}", None
        elif merged and _continues(previous := merged[-1].rstrip(), text):
            merged[-1] = f"{previous} {text}"
            continue
        merged.append(text)
    return merged


def _clean(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip())


def _continues(previous: str, text: str) -> bool:
    if " " not in text or not previous.endswith((".", "?", "!")):
        return True
    opened, closes = previous.rfind("("), text.rfind(")")
    return opened > previous.rfind(")") and closes > text.rfind("(")


class RecipeFullText(DocumentFacts):
    """A full text as the recipe processes it."""

    set = "s2orc"

    @cached_property
    def paragraphs(self) -> list[str]:
        """The merged paragraphs."""
        return merged_paragraphs(self.document.body or ())

    @cached_property
    def counted(self) -> Words:
        """The word counts of the merged paragraphs."""
        found = count_words("\n".join(self.paragraphs))
        self.decision.words = found.count
        return found

    @cached_property
    def language(self) -> str | None:
        """The language of most paragraphs; the smallest code on a tie."""
        rules, texts = self.rules, [paragraph.strip() for paragraph in self.paragraphs]
        vote = majority(texts, rules.language_characters, every=rules.evaluate_all, blank=_BLANK)
        self.decision.language_votes = vote.votes
        self.decision.language = next(iter(vote.votes), None)
        return self.decision.language

    def bad_top_word(self) -> bool:
        """Return whether the most frequent word is not a word. Its share is never tested (integer division, as published)."""
        if not self.counted.top:
            return False
        word, count = self.counted.top[0]
        self.decision.top_word, self.decision.top_share = word, count / self.counted.count
        return _TOP_WORD.fullmatch(word) is None

    @cached_property
    def kept(self) -> list[str]:
        """The paragraphs that are not improbable."""
        means = log_probabilities(self.paragraphs, self.unigrams)
        kept = [p for p, mean in zip(self.paragraphs, means, strict=True) if mean >= CARD_THRESHOLD]
        self.decision.log_prob = min(means, default=None)
        self.decision.removed_sections = len(means) - len(kept)
        self.decision.paragraphs = len(kept)
        return kept

    def text(self) -> str:
        """Return title, abstract and the remaining paragraphs."""
        return "\n\n".join([_nfc(self.document.title), _nfc(self.document.abstract), "\n".join(self.kept)])


class RecipeAbstract(DocumentFacts):
    """A paper with title and abstract, as the recipe processes it."""

    set = "s2ag"

    @cached_property
    def title(self) -> str:
        """The title, NFC."""
        return _nfc(self.document.title)

    @cached_property
    def abstract(self) -> str:
        """The abstract, NFC."""
        return _nfc(self.document.abstract)

    @cached_property
    def language(self) -> str:
        """The abstract's language."""
        self.decision.language = self._language(self.abstract)
        return self.decision.language

    def title_not_english(self) -> bool:
        """Return whether the title is improbable and in another language."""
        improbable = log_probability(self.title, self.unigrams) <= CARD_THRESHOLD
        return improbable and self._language(self.title) != "en"

    @cached_property
    def log_prob(self) -> float:
        """The abstract's mean log probability."""
        self.decision.log_prob = log_probability(self.abstract, self.unigrams)
        return self.decision.log_prob

    @cached_property
    def words(self) -> int:
        """The number of words in the abstract."""
        self.decision.words = len(self.abstract.split())
        return self.decision.words

    def bad_top_word(self) -> bool:
        """Return whether the most frequent word is not a word. `a` passes if the second most frequent one is a word."""
        words = count_words(f"{self.title}\n\n{self.abstract}")
        if not (top := words.top):
            return False
        self.decision.top_word, self.decision.top_share = top[0][0], top[0][1] / words.count
        good = [_ABSTRACT_TOP_WORD.fullmatch(word) is not None for word, _ in top]
        return not (good[0] or (top[0][0] == "a" and good[1:] == [True]))

    def spaced_letters(self) -> bool:
        """Return whether the abstract's longest run of spaced single letters is too long.

        For crawled papers, return whether there is any run (as published).
        """
        run = max((len(m.group()) for m in _SPACED_LETTERS.finditer(self.abstract)), default=0)
        published = any(not _CRAWLED.search(source) for source in self.document.sources)
        return not (run < _MAX_SPACED if published else run > 0)

    def _language(self, text: str) -> str:
        code = language(text.strip()[: self.rules.language_characters])[0]
        return _BLANK if code == UNKNOWN else code

    def text(self) -> str:
        """Return title and abstract."""
        return f"{self.title}\n\n{self.abstract}"


def _too_old(facts: DocumentFacts) -> bool:
    return facts.document.year is not None and facts.document.year < _MIN_YEAR


S2ORC: RuleSeries[RecipeFullText] = RuleSeries(
    RecipeFullText,
    (
        *EDITORIAL,
        DropRule(CleanOutcome.NO_PARSE, lambda it: it.document.body is None),
        DropRule(CleanOutcome.CLOSED, lambda it: not it.document.open_access),
        DropRule(CleanOutcome.NO_TITLE, lambda it: it.document.title is None),
        DropRule(CleanOutcome.NO_ABSTRACT, lambda it: it.document.abstract is None),
        DropRule(CleanOutcome.SHORT, lambda it: it.counted.count <= _MIN_WORDS),
        DropRule(CleanOutcome.LONG, lambda it: it.counted.count >= _MAX_WORDS),
        DropRule(CleanOutcome.NO_YEAR, lambda it: it.document.year is None),
        DropRule(CleanOutcome.BEFORE_MIN_YEAR, _too_old),
        DropRule(CleanOutcome.NOT_ENGLISH, lambda it: it.language != "en", ("language_characters",)),
        DropRule(CleanOutcome.BAD_TOP_WORD, RecipeFullText.bad_top_word),
        DropRule(CleanOutcome.FEW_PARAGRAPHS, lambda it: len(it.kept) < it.rules.min_paragraphs, ("min_paragraphs",)),
    ),
    RecipeFullText.text,
)

S2AG: RuleSeries[RecipeAbstract] = RuleSeries(
    RecipeAbstract,
    (
        *EDITORIAL,
        DropRule(CleanOutcome.NO_TITLE, lambda it: it.document.title is None),
        DropRule(CleanOutcome.NO_ABSTRACT, lambda it: it.document.abstract is None),
        DropRule(CleanOutcome.TITLE_NOT_ENGLISH, RecipeAbstract.title_not_english, ("language_characters",)),
        DropRule(CleanOutcome.ABSTRACT_NOT_ENGLISH, lambda it: it.language != "en", ("language_characters",)),
        DropRule(CleanOutcome.ABSTRACT_IMPROBABLE, lambda it: it.log_prob <= CARD_THRESHOLD),
        DropRule(CleanOutcome.TITLE_SHORT, lambda it: len(it.title.split()) < _MIN_TITLE_WORDS),
        DropRule(
            CleanOutcome.ABSTRACT_SHORT, lambda it: it.words < it.rules.min_abstract_words, ("min_abstract_words",)
        ),
        DropRule(
            CleanOutcome.ABSTRACT_LONG, lambda it: it.words > it.rules.max_abstract_words, ("max_abstract_words",)
        ),
        DropRule(CleanOutcome.NO_YEAR, lambda it: it.document.year is None),
        DropRule(CleanOutcome.BEFORE_MIN_YEAR, _too_old),
        DropRule(CleanOutcome.BAD_TOP_WORD, RecipeAbstract.bad_top_word),
        DropRule(CleanOutcome.SPACED_LETTERS, RecipeAbstract.spaced_letters),
    ),
    RecipeAbstract.text,
)


def _nfc(text: str | None) -> str:
    return unicodedata.normalize("NFC", text or "")
