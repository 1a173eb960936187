"""Implement the rules of CiteWorth (§3, Appendices A and B).

The rules select papers, paragraphs and sentences, and remove citation marks.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal, Self

from pydantic import NonNegativeInt, PositiveInt, model_validator

from s2corpus_datasets.citations import Sentence, cited_sentences
from s2corpus_datasets.protocol import Params, Share
from s2corpus_datasets.sentences import has_formula, heading_end
from s2corpus_datasets.source import SnapshotPaper
from s2orc_parse.parse_model import ParseKind

SECTIONS = (
    "introduction", "abstract", "method", "methods", "results", "discussion", "discussions", "conclusion", "conclusions",
    "results and discussion", "related work", "experimental results", "literature review", "experiments", "background",
    "methodology", "conclusions and future work", "related works", "limitations", "procedure", "material and methods",
    "discussion and conclusion", "implementation", "evaluation", "performance evaluation", "experiments and results", "overview",
    "experimental design", "discussion and conclusions", "results and discussions", "motivation", "proposed method", "analysis",
    "future work", "results and analysis", "implementation details",
)  # fmt: skip
"""permitted section titles (App. A)"""
FIELDS = (
    "Biology", "Medicine", "Engineering", "Chemistry", "Psychology", "Computer Science", "Materials Science", "Economics",
    "Mathematics", "Physics",
)  # fmt: skip
"""MAG categories from which equal numbers of paragraphs are sampled (§3.2)"""
VENUES = ("venue", "journal", "arxiv_id", "acl_id", "pubmed_id", "pmc_id")
"""fields that prove that a paper has a venue: its name, or an id of an archive (the authors' published script)"""
NUMBERED = re.compile(r"\[[0-9]+(?:[\s,;–-]+[0-9]+)*\s*\]")
"""App. B's first expression. Its class `[,-;]` is a range from `,` to `;`, which includes digits and `/`.

Comma, hyphen and semicolon are meant. This version avoids nested repetition, which takes exponential time on long lists.
"""
YEAR = re.compile(r"[12][0-9]{3}[a-z]?\s*\)")
"""App. B's second expression; corrected: the PDF prints `{3}` as `3`. The optional `(` before it changes nothing and is omitted."""
ET_AL = re.compile(r"\bet ?al\b")
"""authors named in the sentence: a citation that was not extracted (§3.1, check 3)"""
HANGING = re.compile(
    r"\s\(?(?:\(\s*\)|like|reference|including|include|with|for instance|for example|see also|at|following|of|from|to|in|by|see|as"
    r"|e\.?g\.?,?|viz\.?,?)\s*,*-*[\])]?\s*[.?!]\s*$"
)
"""App. B's last expression; corrected: the PDF of the paper lacks the full stop of `[.?!]` and some backslashes"""
_TRAILING = " @&:;/-,\n\t"

Need = Literal[
    "abstract", "body_text", "bibliography", "tables_and_figures", "venue", "inbound_citations", "fields_of_study"
]


class CiteworthPaperOutcome(StrEnum):
    """The outcome of a paper: the first check that it fails (§3.1)."""

    CONSIDERED = "considered"
    NO_ABSTRACT = "no_abstract"
    NO_BODY_TEXT = "no_body_text"
    NO_BIBLIOGRAPHY = "no_bibliography"
    NO_TABLES_AND_FIGURES = "no_tables_and_figures"
    NO_VENUE = "no_venue"
    NO_INBOUND_CITATIONS = "no_inbound_citations"
    NO_FIELDS_OF_STUDY = "no_fields_of_study"
    OTHER_FIELD = "other_field"
    NO_PERMITTED_SECTION = "no_permitted_section"
    CITATION_FORMAT = "citation_format"
    FEW_CITATIONS = "few_citations"


class CiteworthParagraphOutcome(StrEnum):
    """The outcome of a paragraph: the first check that the paragraph or one of its sentences fails (§3.2)."""

    KEPT = "kept"
    SECTION = "section_not_permitted"
    NO_CITATION = "no_citation"
    FEW_SENTENCES = "few_sentences"
    FORMULA = "display_formula"
    ACROSS_SENTENCES = "citation_across_sentences"
    MISSED = "citation_missed"
    FORMAT = "citation_format"
    NOT_AT_END = "citation_not_at_end"
    HANGING = "citation_marker_left"
    NO_CAPITAL = "no_capital_letter"
    NO_END = "no_end_mark"
    SHORT = "short_sentence"


class CiteWorthParams(Params):
    """Parameters of CiteWorth."""

    kinds: tuple[ParseKind, ...] = (ParseKind.PDF, ParseKind.LATEX, ParseKind.JATS, ParseKind.ELSEVIER)
    """kinds of full text in order of preference; the first available kind is used (S2ORC's are from PDFs)"""
    require: tuple[Need, ...] = (
        "abstract", "body_text", "bibliography", "tables_and_figures", "venue", "inbound_citations", "fields_of_study",
    )  # fmt: skip
    """properties that a paper must have (§3.1)"""
    sections: tuple[str, ...] = SECTIONS
    """section titles, in lower case (App. A)"""
    fields: tuple[str, ...] = FIELDS
    """fields of study; a paper belongs to exactly one (§3.2), its primary field"""
    min_citations: NonNegativeInt = 6
    """minimum number of citation marks in a paper's permitted sections (the authors' published script)"""
    min_sentences: NonNegativeInt = 3
    """minimum number of sentences in a paragraph (the authors' published script)"""
    min_chars: NonNegativeInt = 21
    """minimum number of characters in a sentence (§3.1 states 20; Table 2's shortest sentence has 21)"""
    paragraphs_per_field: PositiveInt | None = None
    """number of paragraphs sampled from each field; null: the number in the smallest field (§3.2: evenly)"""
    dev_share: Share = 0.1
    """share of the sentences in the development set; papers are not divided (Table 2)"""
    test_share: Share = 0.1
    """share of the sentences in the test set; papers are not divided (Table 2)"""
    naive: bool = False
    """whether to build the baseline of §3.3 instead: sentences without their citation spans and without any other check"""
    sheet_sentences: NonNegativeInt = 500
    """number of citing and of other sentences in the sheet of the manual evaluation (§3.3: 500); 0: no sheet"""
    seed: int = 2021
    """seed of sampling and splitting"""

    @model_validator(mode="after")
    def _something_to_train(self) -> Self:
        if self.dev_share + self.test_share >= 1:
            raise ValueError("dev_share and test_share leave nothing to train on")
        return self


def classify_paper(params: CiteWorthParams, paper: SnapshotPaper) -> CiteworthPaperOutcome:
    """Return the first check that a paper fails: those of §3.1, then field, sections and citation format."""
    metadata, text = paper.metadata, paper.full_text(params.kinds)
    parse = text[1] if text else None
    has = {
        "abstract": metadata["abstract"],
        "body_text": parse,
        "bibliography": parse and parse["bib_entries"],
        "tables_and_figures": parse and parse["ref_entries"],
        "venue": any(metadata.get(name) for name in VENUES),
        "inbound_citations": metadata["inbound_citations"],
        "fields_of_study": paper.fields,
    }
    for need in params.require:
        if not has[need]:
            return CiteworthPaperOutcome(f"no_{need}")
    if parse is None:
        return CiteworthPaperOutcome.NO_BODY_TEXT
    if not paper.fields:
        return CiteworthPaperOutcome.NO_FIELDS_OF_STUDY
    if paper.fields[0] not in params.fields:
        return CiteworthPaperOutcome.OTHER_FIELD
    permitted = [p for p in parse["body_text"] if p["section"].casefold() in params.sections]
    if not permitted:
        return CiteworthPaperOutcome.NO_PERMITTED_SECTION
    if params.naive:
        return CiteworthPaperOutcome.CONSIDERED
    marks = (p["text"][m.start : m.end] for p in permitted for s in cited_sentences(p) for m in s.marks)
    first = next(marks, None)
    if first is None:
        return CiteworthPaperOutcome.FEW_CITATIONS
    if not has_accepted_format(first):
        return CiteworthPaperOutcome.CITATION_FORMAT
    if sum(len(p["cite_spans"]) for p in permitted) < params.min_citations:
        return CiteworthPaperOutcome.FEW_CITATIONS
    return CiteworthPaperOutcome.CONSIDERED


def classify_paragraph(
    params: CiteWorthParams, paragraph: Mapping[str, Any]
) -> tuple[CiteworthParagraphOutcome, list[dict[str, Any]]]:
    """Return the outcome of a paragraph, and its labeled sentences if it is kept.

    If one sentence fails a check, the complete paragraph is dropped (§3.2). A run-in heading is not a sentence.
    """
    if paragraph["section"].casefold() not in params.sections:
        return CiteworthParagraphOutcome.SECTION, []
    if params.naive:
        return CiteworthParagraphOutcome.KEPT, [
            _sample(paragraph, s, _remove_spans(paragraph, s)) for s in cited_sentences(paragraph)
        ]
    heading = heading_end(paragraph["text"])
    found = [sentence for sentence in cited_sentences(paragraph) if sentence.start >= heading]
    if not any(sentence.marks for sentence in found):
        return CiteworthParagraphOutcome.NO_CITATION, []
    if len(found) < params.min_sentences:
        return CiteworthParagraphOutcome.FEW_SENTENCES, []
    samples = []
    for sentence in found:
        outcome, text = classify_sentence(paragraph["text"], sentence, params.min_chars)
        if outcome is not CiteworthParagraphOutcome.KEPT:
            return outcome, []
        samples.append(_sample(paragraph, sentence, text))
    return CiteworthParagraphOutcome.KEPT, samples


def _sample(paragraph: Mapping[str, Any], sentence: Sentence, text: str) -> dict[str, Any]:
    """Return a labeled sentence in the form of the authors' data."""
    sample: dict[str, Any] = {
        "text": text,
        "label": "check-worthy" if sentence.marks else "non-check-worthy",
        "original_text": paragraph["text"][sentence.start : sentence.end],
        "ref_ids": [list(mark.ref_ids) for mark in sentence.marks] or None,
    }
    if sentence.marks:
        sample["citation_text"] = [paragraph["text"][mark.start : mark.end] for mark in sentence.marks]
    return sample


def _remove_spans(paragraph: Mapping[str, Any], sentence: Sentence) -> str:
    """Return a sentence without the spans of its citations; keep brackets and punctuation (the baseline of §3.3)."""
    spans = sorted((span["start"], span["end"]) for span in paragraph["cite_spans"])
    pieces, at = [], sentence.start
    for start, end in spans:
        if at <= start < sentence.end:
            pieces.append(paragraph["text"][at:start])
            at = min(end, sentence.end)
    return "".join([*pieces, paragraph["text"][at : sentence.end]])


def classify_sentence(text: str, sentence: Sentence, min_chars: int) -> tuple[CiteworthParagraphOutcome, str]:
    """Return the first check of §3.2 that a sentence fails, and the sentence without its citation marks."""
    if has_formula(text[sentence.start : sentence.end]):
        return CiteworthParagraphOutcome.FORMULA, ""
    if any(mark.end > sentence.end for mark in sentence.marks):
        return CiteworthParagraphOutcome.ACROSS_SENTENCES, ""
    cleaned = remove_marks(text, sentence)
    if NUMBERED.search(cleaned) or YEAR.search(cleaned) or ET_AL.search(cleaned):
        return CiteworthParagraphOutcome.MISSED, cleaned
    for mark in sentence.marks:
        if not has_accepted_format(text[mark.start : mark.end]):
            return CiteworthParagraphOutcome.FORMAT, cleaned
    for mark in sentence.marks:
        if any(c.isalnum() for c in text[mark.end : sentence.end]):
            return CiteworthParagraphOutcome.NOT_AT_END, cleaned
    if HANGING.search(cleaned.casefold()):
        return CiteworthParagraphOutcome.HANGING, cleaned
    if not cleaned[:1].isupper():
        return CiteworthParagraphOutcome.NO_CAPITAL, cleaned
    if cleaned[-1] not in ".?!":
        return CiteworthParagraphOutcome.NO_END, cleaned
    if len(cleaned) < min_chars:
        return CiteworthParagraphOutcome.SHORT, cleaned
    return CiteworthParagraphOutcome.KEPT, cleaned


def has_accepted_format(mark: str) -> bool:
    """Return whether a citation mark is bracketed numbers, or author and year in parentheses (§3.1)."""
    if not NUMBERED.sub("", mark).strip(" ,;–-"):  # one or several adjacent brackets
        return True
    inner = mark[1:-1]
    return mark[:1] == "(" and mark[-1:] == ")" and bool(YEAR.search(mark)) and any(c.isupper() for c in inner)


def remove_marks(text: str, sentence: Sentence) -> str:
    """Return the sentence without its citation marks and without punctuation that they leave before its end (§3.2)."""
    pieces, at = "", sentence.start
    for mark in sentence.marks:
        pieces += text[at : mark.start]
        at = max(at, mark.end)
        after = text[at : sentence.end].lstrip()
        if not after or after[0] in string.punctuation:
            pieces = pieces.rstrip()
            at = sentence.end - len(after)
        elif pieces.endswith((" ", "(")) or not pieces:
            at = sentence.end - len(after)
    pieces = (pieces + text[at : sentence.end]).strip()
    if sentence.marks:
        while len(pieces) > 1 and pieces[-2] in _TRAILING:
            pieces = pieces[:-2] + pieces[-1]
    return pieces
