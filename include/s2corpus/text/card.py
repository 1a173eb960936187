"""Implement profiles `card` and `card-wordfreq`: the S2 V2 card's rules (SPEC §8).

The two profiles differ only in their word list.
"""

from __future__ import annotations

from functools import cached_property

from pdf2tei.language import language
from s2corpus.text.documents import CleanOutcome
from s2corpus.text.language import majority
from s2corpus.text.layout import Block, blocks, document_text, line, lines
from s2corpus.text.rules import EDITORIAL, DocumentFacts, DropRule, RuleSeries
from s2corpus.text.unigrams import log_probabilities, log_probability
from s2corpus.text.words import count_words


class _CardFacts(DocumentFacts):
    @property
    def least(self) -> float:
        """The mean log probability below which text is improbable: the word list's threshold unless the spec sets one."""
        own = self.rules.min_log_prob
        return self.unigrams.threshold if own is None else own

    def undated(self) -> bool:
        """Return whether the document has no year and the rules drop such documents."""
        return self.document.year is None and self.rules.unknown_year == "drop"


class CardFullText(_CardFacts):
    """A full text as the card's rules process it."""

    set = "s2orc"

    @cached_property
    def body(self) -> tuple[list[Block], int]:
        """The blocks without formulas, and the number of words before formulas are removed."""
        found = blocks(self.document.body or ())
        self.decision.words = found[1]
        return found

    @property
    def sections(self) -> list[Block]:
        """The blocks without formulas."""
        return self.body[0]

    @property
    def words(self) -> int:
        """The number of words in the body and its headers, before any removal."""
        return self.body[1]

    @cached_property
    def language(self) -> str | None:
        """The language of most paragraphs."""
        rules = self.rules
        units = [paragraph for section in self.sections for paragraph in section.paragraphs]
        vote = majority(units, rules.language_characters, min_letters=rules.language_letters, every=rules.evaluate_all)
        self.decision.language, self.decision.language_votes = vote.language, vote.votes
        return vote.language

    @cached_property
    def kept(self) -> list[Block]:
        """The sections that are not improbable. A section without paragraphs remains."""
        means = log_probabilities([s.text if s.paragraphs else "" for s in self.sections], self.unigrams)
        kept = [section for section, mean in zip(self.sections, means, strict=True) if mean >= self.least]
        self.decision.log_prob = min(means, default=None)
        self.decision.removed_sections = len(means) - len(kept)
        self.decision.paragraphs = sum(len(section.paragraphs) for section in kept)
        return kept

    def few_paragraphs(self) -> bool:
        """Return whether too few paragraphs remain."""
        return sum(len(section.paragraphs) for section in self.kept) < self.rules.min_paragraphs

    def bad_top_word(self) -> bool:
        """Return whether the most frequent remaining word is not a word or is too frequent."""
        words = count_words("\n".join(section.text for section in self.kept))
        if not words.top:
            return False
        word, count = words.top[0]
        self.decision.top_word, self.decision.top_share = word, count / words.count
        return not word.isalpha() or self.decision.top_share >= self.rules.max_top_share

    def text(self) -> str:
        """Return title, abstract and the remaining sections."""
        form = self.rules.layout
        return document_text(
            self.document.title or "",
            self.document.abstract or "",
            [section.text if form == "sections" else section.spaced(form == "template_blank") for section in self.kept],
        )


class CardAbstract(_CardFacts):
    """A paper with title and abstract."""

    set = "s2ag"

    @cached_property
    def title(self) -> str:
        """The title as one line."""
        return line(self.document.title or "")

    @cached_property
    def abstract(self) -> str:
        """The abstract's lines."""
        return lines(self.document.abstract or "")

    @cached_property
    def language(self) -> str:
        """The abstract's language."""
        self.decision.language = self._language(self.abstract)
        return self.decision.language

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

    def title_not_english(self) -> bool:
        """Return whether the title is both improbable and in another language."""
        improbable = not self.title or log_probability(self.title, self.unigrams) <= self.least
        return improbable and self._language(self.title) != "en"

    def bad_top_word(self) -> bool:
        """Return whether the most frequent word has fewer than two letters. `a` passes if the second word has two."""
        words = count_words(f"{self.title} {self.abstract}")
        if not (top := words.top):
            return False
        self.decision.top_word, self.decision.top_share = top[0][0], top[0][1] / words.count
        good = [len(word) > 1 and word.isalpha() for word, _ in top]
        return not (good[0] or (top[0][0] == "a" and len(top) > 1 and good[1]))

    def _language(self, text: str) -> str:
        return language(text[: self.rules.language_characters])[0]

    def text(self) -> str:
        """Return title and abstract."""
        return document_text(self.title, self.abstract)


def _blank(text: str | None) -> bool:
    return text is None or not text.strip()


S2ORC: RuleSeries[CardFullText] = RuleSeries(
    CardFullText,
    (
        *EDITORIAL,
        DropRule(CleanOutcome.NO_PARSE, lambda it: it.document.body is None),
        DropRule(CleanOutcome.CLOSED, lambda it: not it.document.open_access),
        DropRule(CleanOutcome.NO_TITLE, lambda it: _blank(it.document.title)),
        DropRule(CleanOutcome.NO_ABSTRACT, lambda it: _blank(it.document.abstract)),
        DropRule(CleanOutcome.NOT_ENGLISH, lambda it: it.language != "en", ("language_characters", "language_letters")),
        DropRule(CleanOutcome.SHORT, lambda it: it.words < it.rules.min_words, ("min_words",)),
        DropRule(CleanOutcome.NO_YEAR, CardFullText.undated, ("unknown_year",)),
        DropRule(CleanOutcome.BEFORE_MIN_YEAR, CardFullText.too_old, ("min_year",)),
        DropRule(CleanOutcome.FEW_PARAGRAPHS, CardFullText.few_paragraphs, ("min_log_prob", "min_paragraphs")),
        DropRule(CleanOutcome.BAD_TOP_WORD, CardFullText.bad_top_word, ("max_top_share",)),
    ),
    CardFullText.text,
)

S2AG: RuleSeries[CardAbstract] = RuleSeries(
    CardAbstract,
    (
        *EDITORIAL,
        DropRule(CleanOutcome.NO_ABSTRACT, lambda it: not it.abstract),
        DropRule(CleanOutcome.ABSTRACT_NOT_ENGLISH, lambda it: it.language != "en", ("language_characters",)),
        DropRule(
            CleanOutcome.TITLE_NOT_ENGLISH, CardAbstract.title_not_english, ("min_log_prob", "language_characters")
        ),
        DropRule(CleanOutcome.ABSTRACT_IMPROBABLE, lambda it: it.log_prob <= it.least, ("min_log_prob",)),
        DropRule(
            CleanOutcome.ABSTRACT_SHORT, lambda it: it.words < it.rules.min_abstract_words, ("min_abstract_words",)
        ),
        DropRule(
            CleanOutcome.ABSTRACT_LONG, lambda it: it.words > it.rules.max_abstract_words, ("max_abstract_words",)
        ),
        DropRule(CleanOutcome.BAD_TOP_WORD, CardAbstract.bad_top_word),
        DropRule(CleanOutcome.NO_YEAR, CardAbstract.undated, ("unknown_year",)),
        DropRule(CleanOutcome.BEFORE_MIN_YEAR, CardAbstract.too_old, ("min_year",)),
    ),
    CardAbstract.text,
)
