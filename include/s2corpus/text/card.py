"""Implement profiles `card` and `card-wordfreq`: the S2 V2 card's rules (SPEC §8).

The two profiles differ only in their word list.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property

from s2corpus.outcomes import CleanOutcome
from s2corpus.text.language import vote_language
from s2corpus.text.rules import (
    ABSTRACT_LENGTH,
    EDITORIAL,
    LANGUAGE_CHARACTERS,
    MAX_TOP_SHARE,
    MIN_PARAGRAPHS,
    PUBLISHED_TEXT,
    AbstractFacts,
    DocumentFacts,
    DropRule,
    RuleSeries,
)
from s2corpus.text.unigrams import log_probability
from s2corpus_reader.layout import (
    Block,
    build_blocks,
    document_text,
    format_abstract,
    format_body,
    list_sections,
    to_one_line,
)


class _CardFacts(DocumentFacts):
    def undated(self) -> bool:
        """Return whether the document has no year and the rules drop such documents."""
        return self.document.year is None and self.rules.unknown_year == "drop"


class CardFullText(_CardFacts):
    """A full text as the card's rules process it."""

    set = "s2orc"

    @cached_property
    def body(self) -> tuple[list[Block], int]:
        """The blocks without formulas, and the number of words before formulas are removed."""
        found = build_blocks(self.document.body or ())
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
        vote = vote_language(units, LANGUAGE_CHARACTERS, min_letters=rules.language_letters)
        self.decision.language, self.decision.language_votes = vote.language, vote.votes
        return vote.language

    @cached_property
    def log_probs(self) -> list[float]:
        """The log probability of each section. A section without paragraphs has the highest."""
        return [log_probability(s.text if s.paragraphs else "", self.unigrams) for s in self.sections]

    def select_probable(self, sections: list[Block]) -> list[Block]:
        """Return the sections that are not improbable."""
        threshold = self.rules.text_rules.threshold
        return [section for section, mean in zip(sections, self.log_probs, strict=True) if mean >= threshold]

    @cached_property
    def kept(self) -> list[Block]:
        """The sections that are not improbable, without formulas."""
        kept = self.select_probable(self.sections)
        self.decision.set_section_log_probs(self.log_probs, len(kept))
        self.decision.paragraphs = sum(len(section.paragraphs) for section in kept)
        return kept

    def few_paragraphs(self) -> bool:
        """Return whether too few paragraphs remain."""
        return sum(len(section.paragraphs) for section in self.kept) < MIN_PARAGRAPHS

    def bad_top_word(self) -> bool:
        """Return whether the most frequent remaining word is not a word or is too frequent."""
        top = self.find_top_words(Counter(word for section in self.kept for word in section.text.split()))
        return bool(top) and (not top[0].isalpha() or (self.decision.top_share or 0) >= MAX_TOP_SHARE)

    def text(self) -> str:
        """Return title, abstract and the remaining sections, with the formulas that the rules keep."""
        head, rules = document_text(self.document.title or "", self.document.abstract or ""), self.rules.text_rules
        kept = (
            self.kept
            if rules.formulas == "remove"
            else self.select_probable(list_sections(self.document.body or (), rules))
        )
        return head + format_body(kept, rules)


class CardAbstract(_CardFacts, AbstractFacts):
    """A paper with title and abstract as the card's rules process it."""

    @cached_property
    def title(self) -> str:
        """The title as one line."""
        return to_one_line(self.document.title or "")

    @cached_property
    def abstract(self) -> str:
        """The abstract's lines."""
        return format_abstract(self.document.abstract or "")

    def title_not_english(self) -> bool:
        """Return whether the title is empty, or improbable and not English."""
        return not self.title or super().title_not_english()

    def is_word(self, word: str) -> bool:
        """Return whether a word consists of two or more letters."""
        return len(word) > 1 and word.isalpha()


def _blank(text: str | None) -> bool:
    return text is None or not text.strip()


S2ORC: RuleSeries[CardFullText] = RuleSeries(
    CardFullText,
    (
        *EDITORIAL,
        *PUBLISHED_TEXT,
        DropRule(CleanOutcome.NO_TITLE, lambda facts: _blank(facts.document.title)),
        DropRule(CleanOutcome.NO_ABSTRACT, lambda facts: _blank(facts.document.abstract)),
        DropRule(CleanOutcome.NOT_ENGLISH, lambda facts: facts.language != "en"),
        DropRule(CleanOutcome.SHORT, lambda facts: facts.words < facts.rules.min_words),
        DropRule(CleanOutcome.NO_YEAR, CardFullText.undated),
        DropRule(CleanOutcome.BEFORE_MIN_YEAR, CardFullText.too_old),
        DropRule(CleanOutcome.FEW_PARAGRAPHS, CardFullText.few_paragraphs),
        DropRule(CleanOutcome.BAD_TOP_WORD, CardFullText.bad_top_word),
    ),
)

S2AG: RuleSeries[CardAbstract] = RuleSeries(
    CardAbstract,
    (
        *EDITORIAL,
        DropRule(CleanOutcome.NO_ABSTRACT, lambda facts: not facts.abstract),
        DropRule(CleanOutcome.ABSTRACT_NOT_ENGLISH, lambda facts: facts.language != "en"),
        DropRule(CleanOutcome.TITLE_NOT_ENGLISH, CardAbstract.title_not_english),
        DropRule(CleanOutcome.ABSTRACT_IMPROBABLE, lambda facts: facts.log_prob <= facts.rules.text_rules.threshold),
        *ABSTRACT_LENGTH,
        DropRule(CleanOutcome.BAD_TOP_WORD, CardAbstract.bad_top_word),
        DropRule(CleanOutcome.NO_YEAR, CardAbstract.undated),
        DropRule(CleanOutcome.BEFORE_MIN_YEAR, CardAbstract.too_old),
    ),
)
