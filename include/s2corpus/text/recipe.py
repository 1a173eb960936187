"""Profile `recipe-2024`: the published recipe's behaviour, its oddities included (SEMANTICS: Annex)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import date

from s2corpus.spec import Clean
from s2corpus.text.documents import Document, Evaluation, Outcome
from s2corpus.text.language import UNKNOWN, language, majority
from s2corpus.text.layout import Unit
from s2corpus.text.unigrams import CARD_THRESHOLD, Unigrams, log_probability
from s2corpus.text.words import count_words

CUTOFF = date(2024, 8, 1)
"""First day that is not train, as last published."""
_MIN_WORDS, _MAX_WORDS = 500, 50_000
"""words of a full text, both exclusive"""
_TOP_WORD = re.compile(r"[A-Za-z][a-z]+")
_ABSTRACT_TOP_WORD = re.compile(r"[A-Za-z][A-Za-z]+")
_SPACED_LETTERS = re.compile(r"\b[A-Za-z]\s(?:[a-z]\s)*[A-Za-z]\b")
_MIN_TITLE_WORDS = 3
_MAX_SPACED = 4
"""characters of a run of spaced letters from which an abstract is dropped"""
_CRAWLED = re.compile("^unpaywall|mergedpdfextraction|scienceparse|anansi|adhoc|crawler|grobid|mag$", re.IGNORECASE)
"""sources that read PDFs: the recipe's, and ours of that kind"""
_BLANK = "unk"
"""what a blank text votes for"""


def merged_paragraphs(units: Iterable[Unit]) -> list[str]:
    """Paragraphs with their header glued before them, split ones joined.

    Of consecutive headers the last survives, as `⏎header⏎paragraph`. A paragraph without header continues the one before if it
    has no space in it, if that one does not end in `.?!`, or if it closes a parenthesis opened there.
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


def s2orc_checks(
    document: Document, evaluation: Evaluation, rules: Clean, unigrams: Unigrams
) -> Iterator[Outcome | None]:
    """The rules for full texts, in series: each yields its outcome or null."""
    decision = evaluation.decision
    yield Outcome.NO_PARSE if document.body is None else None
    yield Outcome.CLOSED if not document.open_access else None
    yield Outcome.NO_TITLE if document.title is None else None
    yield Outcome.NO_ABSTRACT if document.abstract is None else None

    paragraphs = merged_paragraphs(document.body or ())
    words = count_words("\n".join(paragraphs))
    decision.words = words.count
    yield Outcome.SHORT if decision.words <= _MIN_WORDS else None
    yield Outcome.LONG if decision.words >= _MAX_WORDS else None
    yield from _year_checks(document)

    vote = majority([p.strip() for p in paragraphs], rules.language_characters, every=rules.evaluate_all, blank=_BLANK)
    decision.language_votes = vote.votes
    decision.language = next(iter(vote.votes), None)  # of equally many the smallest code
    yield Outcome.NOT_ENGLISH if decision.language != "en" else None

    for word, count in words.top[:1]:
        decision.top_word, decision.top_share = word, count / decision.words
        yield None if _TOP_WORD.fullmatch(word) else Outcome.BAD_TOP_WORD

    means = [log_probability(paragraph, unigrams) for paragraph in paragraphs]
    kept = [p for p, mean in zip(paragraphs, means, strict=True) if mean >= CARD_THRESHOLD]
    decision.log_prob = min(means, default=None)
    decision.removed_sections = len(paragraphs) - len(kept)
    decision.paragraphs = len(kept)
    yield Outcome.FEW_PARAGRAPHS if len(kept) < rules.min_paragraphs else None
    evaluation.text = "\n\n".join([_nfc(document.title), _nfc(document.abstract), "\n".join(kept)])


def s2ag_checks(
    document: Document, evaluation: Evaluation, rules: Clean, unigrams: Unigrams
) -> Iterator[Outcome | None]:
    """The rules for titles and abstracts, in series: each yields its outcome or null."""
    decision = evaluation.decision
    title, abstract = _nfc(document.title), _nfc(document.abstract)
    yield Outcome.NO_TITLE if document.title is None else None
    yield Outcome.NO_ABSTRACT if document.abstract is None else None

    decision.language = _language(abstract, rules)
    improbable = log_probability(title, unigrams) <= CARD_THRESHOLD
    yield Outcome.TITLE_NOT_ENGLISH if improbable and _language(title, rules) != "en" else None
    yield Outcome.ABSTRACT_NOT_ENGLISH if decision.language != "en" else None
    decision.log_prob = log_probability(abstract, unigrams)
    yield Outcome.ABSTRACT_IMPROBABLE if decision.log_prob <= CARD_THRESHOLD else None
    yield Outcome.TITLE_SHORT if len(title.split()) < _MIN_TITLE_WORDS else None
    decision.words = len(abstract.split())
    yield Outcome.ABSTRACT_SHORT if decision.words < rules.min_abstract_words else None
    yield Outcome.ABSTRACT_LONG if decision.words > rules.max_abstract_words else None
    yield from _year_checks(document)

    words = count_words(f"{title}\n\n{abstract}")
    if top := words.top:
        decision.top_word, decision.top_share = top[0][0], top[0][1] / words.count
        good = [_ABSTRACT_TOP_WORD.fullmatch(word) is not None for word, _ in top]
        yield None if good[0] or (top[0][0] == "a" and good[1:] == [True]) else Outcome.BAD_TOP_WORD

    run = max((len(m.group()) for m in _SPACED_LETTERS.finditer(abstract)), default=0)
    published = any(not _CRAWLED.search(source) for source in document.sources)
    yield None if (run < _MAX_SPACED if published else run > 0) else Outcome.SPACED_LETTERS
    evaluation.text = f"{title}\n\n{abstract}"


def _year_checks(document: Document) -> Iterator[Outcome | None]:
    yield Outcome.NO_YEAR if document.year is None else None
    yield Outcome.BEFORE_1970 if document.year is not None and document.year < 1970 else None


def _language(text: str, rules: Clean) -> str:
    code = language(text.strip()[: rules.language_characters])[0]
    return _BLANK if code == UNKNOWN else code


def _nfc(text: str | None) -> str:
    return unicodedata.normalize("NFC", text or "")
