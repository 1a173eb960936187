"""The S2 V2 card's rules: which papers become documents, and what is removed from them (SEMANTICS: Clean)."""

from __future__ import annotations

from collections.abc import Iterator

from s2corpus.spec import Clean
from s2corpus.text import recipe
from s2corpus.text.documents import Decision, Document, Evaluation, Outcome
from s2corpus.text.language import language, majority
from s2corpus.text.layout import blocks, document_text, line, lines
from s2corpus.text.unigrams import Unigrams, log_probability
from s2corpus.text.words import count_words


def clean_s2orc(document: Document, rules: Clean, unigrams: Unigrams) -> Decision:
    """The decision for a full-text paper, its text if kept. Thresholds and profile are those of `rules`; the mean log
    probability below which a section goes is the list's own unless the rules set one.
    """
    evaluation = Evaluation(Decision("s2orc", document.paper_id))
    checks = recipe.s2orc_checks if rules.profile == "recipe-2024" else _s2orc_checks
    return evaluation.decide(checks(document, evaluation, rules, unigrams), evaluate_all=rules.evaluate_all)


def clean_s2ag(document: Document, rules: Clean, unigrams: Unigrams) -> Decision:
    """The decision for a paper as title and abstract, its text if kept."""
    evaluation = Evaluation(Decision("s2ag", document.paper_id))
    checks = recipe.s2ag_checks if rules.profile == "recipe-2024" else _s2ag_checks
    return evaluation.decide(checks(document, evaluation, rules, unigrams), evaluate_all=rules.evaluate_all)


def _s2orc_checks(
    document: Document, evaluation: Evaluation, rules: Clean, unigrams: Unigrams
) -> Iterator[Outcome | None]:
    decision = evaluation.decision
    yield Outcome.NO_PARSE if document.body is None else None
    yield Outcome.CLOSED if not document.open_access else None
    yield Outcome.NO_TITLE if _blank(document.title) else None
    yield Outcome.NO_ABSTRACT if _blank(document.abstract) else None

    sections, decision.words = blocks(document.body or ())
    units = [paragraph for section in sections for paragraph in section.paragraphs]
    vote = majority(units, rules.language_characters, min_letters=rules.language_letters, every=rules.evaluate_all)
    decision.language, decision.language_votes = vote.language, vote.votes
    yield Outcome.NOT_ENGLISH if vote.language != "en" else None
    yield Outcome.SHORT if decision.words < rules.min_words else None
    yield from _year_checks(document, rules)

    least = unigrams.threshold if rules.min_log_prob is None else rules.min_log_prob
    means = [log_probability(section.text, unigrams) if section.paragraphs else 0.0 for section in sections]
    kept = [section for section, mean in zip(sections, means, strict=True) if mean >= least]
    decision.log_prob = min(means, default=None)
    decision.removed_sections = len(sections) - len(kept)
    decision.paragraphs = sum(len(section.paragraphs) for section in kept)
    yield Outcome.FEW_PARAGRAPHS if decision.paragraphs < rules.min_paragraphs else None

    body = [section.text for section in kept]
    evaluation.text = document_text(document.title or "", document.abstract or "", body)
    words = count_words("\n".join(body))
    for word, count in words.top[:1]:
        decision.top_word, decision.top_share = word, count / words.count
        yield Outcome.BAD_TOP_WORD if not word.isalpha() or decision.top_share >= rules.max_top_share else None


def _s2ag_checks(
    document: Document, evaluation: Evaluation, rules: Clean, unigrams: Unigrams
) -> Iterator[Outcome | None]:
    decision = evaluation.decision
    title, abstract = line(document.title or ""), lines(document.abstract or "")
    least = unigrams.threshold if rules.min_log_prob is None else rules.min_log_prob
    yield Outcome.NO_ABSTRACT if not abstract else None

    decision.language = language(abstract[: rules.language_characters])[0]
    yield Outcome.ABSTRACT_NOT_ENGLISH if decision.language != "en" else None
    improbable_title = not title or log_probability(title, unigrams) <= least
    yield (
        Outcome.TITLE_NOT_ENGLISH
        if improbable_title and language(title[: rules.language_characters])[0] != "en"
        else None
    )
    decision.log_prob = log_probability(abstract, unigrams)
    yield Outcome.ABSTRACT_IMPROBABLE if decision.log_prob <= least else None
    decision.words = len(abstract.split())
    yield Outcome.ABSTRACT_SHORT if decision.words < rules.min_abstract_words else None
    yield Outcome.ABSTRACT_LONG if decision.words > rules.max_abstract_words else None

    words = count_words(f"{title} {abstract}")
    if top := words.top:
        decision.top_word, decision.top_share = top[0][0], top[0][1] / words.count
        long_enough = [len(word) > 1 and word.isalpha() for word, _ in top]
        yield (
            None if long_enough[0] or (top[0][0] == "a" and len(top) > 1 and long_enough[1]) else Outcome.BAD_TOP_WORD
        )
    yield from _year_checks(document, rules)
    evaluation.text = document_text(title, abstract)


def _year_checks(document: Document, rules: Clean) -> Iterator[Outcome | None]:
    year = document.year
    if year is None:
        yield Outcome.NO_YEAR if rules.unknown_year == "drop" else None
    else:
        yield Outcome.BEFORE_1970 if year < rules.min_year else None


def _blank(text: str | None) -> bool:
    return text is None or not text.strip()
