"""Read the editorial status of papers (retracted, withdrawn, concern, corrected) from Crossref, PubMed, JATS and arXiv."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from s2corpus.sources.record import Editorial, EditorialNotice
from s2orc_parse.bibliography.identifiers import normalise_doi, normalise_pmid
from s2orc_parse.xml import extract_text

GRAVITY = tuple(Editorial)
_UPDATES = {
    "retraction": Editorial.RETRACTED,
    "withdrawal": Editorial.WITHDRAWN,
    "removal": Editorial.WITHDRAWN,
    "expression_of_concern": Editorial.CONCERN,
    "partial_retraction": Editorial.CONCERN,
    "correction": Editorial.CORRECTED,
    "corrigendum": Editorial.CORRECTED,
    "erratum": Editorial.CORRECTED,
}
"""Crossref's types of updates (Crossref documentation: Crossmark, version control, corrections, and retractions). Addendum,
clarification, new_edition and new_version do not change the status."""
_REFERENCES = {
    "Retraction": Editorial.RETRACTED,
    "RetractedandRepublished": Editorial.RETRACTED,
    "PartialRetraction": Editorial.CONCERN,
    "ExpressionOfConcern": Editorial.CONCERN,
    "Erratum": Editorial.CORRECTED,
    "CorrectedandRepublished": Editorial.CORRECTED,
}
_REF_TYPE = re.compile(rf"({'|'.join(_REFERENCES)})(In|Of|For|From)")
"""RefType of PubMed's CommentsCorrections: the work itself has `…In`, the notice has `…Of`, `…For` or `…From`."""
_RELATED = {
    "retracted-article": Editorial.RETRACTED,
    "partial-retraction": Editorial.CONCERN,
    "object-of-concern": Editorial.CONCERN,
    "corrected-article": Editorial.CORRECTED,
}
"""`related-article-type` of a notice in JATS → status of the related article (JATS 1.3 Tag Library; PMC's guidelines)."""
_FORWARD = {
    "retraction-forward": Editorial.RETRACTED,
    "concern-forward": Editorial.CONCERN,
    "correction-forward": Editorial.CORRECTED,
}
"""`related-article-type` of an article that links to its own notice → status of the article."""
_TITLE = re.compile(
    r"\W*(?:(RETRACTED|Retracted)|(?:WITHDRAWN|Withdrawn|REMOVED|TEMPORARY REMOVAL))"
    r"(?: (?:ARTICLE|Article|CHAPTER|Chapter|PAPER|Paper))?\s*(?:[]):.]|[-–—] )"
)
"""Prefixes that publishers add to the title of a work: `RETRACTED ARTICLE: …`, `WITHDRAWN: …`, `[Retracted] …`."""
_WORK = r"(?:e-?print|paper|article|manuscript|submission|preprint|work|version|note|letter|draft|report|thesis)"
_WITHDRAWN = re.compile(
    rf"\W*(?:(?:(?:this|the|our|present|current|arxiv|whole|entire) )*{_WORK} )?"
    r"(?:(?:has|have|had|is|was|been|being|now|temporarily|hereby|to be) )*withdrawn\b(?! (?:paper|version|article))"
    rf"|\W*(?:the )?(?:authors?|we|i) (?:(?:have|has|hereby|now|wish to|decided to) )*"
    rf"(?:withdrew|withdrawn?|withdraws) (?:this|the|our) {_WORK}",
    re.IGNORECASE,
)
"""A sentence of arXiv's comments or abstract that reports a withdrawal, from its start."""
_SENTENCES = re.compile(r"[.;,(]\s+|\(")


def worst(found: Iterable[Editorial | None]) -> Editorial | None:
    """Return the gravest status, or None."""
    return min((status for status in found if status), key=GRAVITY.index, default=None)


def of_title(title: object) -> Editorial | None:
    """Return the status given by a title's prefix, or None."""
    match = _TITLE.match(title) if isinstance(title, str) else None
    return None if match is None else Editorial.RETRACTED if match.group(1) else Editorial.WITHDRAWN


def of_crossref(work: dict[str, Any]) -> tuple[Editorial | None, tuple[EditorialNotice, ...]]:
    """Return the status from a Crossref work's `updated-by`, and notices about other works from its `update-to`.

    The title prefix of a notice is ignored, because some notices are titled `Retracted: …`.
    """
    notices = tuple(
        dict.fromkeys(
            EditorialNotice(f"doi:{doi}", status)
            for status, given in _updates(work.get("update-to"))
            if (doi := normalise_doi(str(given.get("DOI") or "")))
        )
    )
    own = [status for status, _ in _updates(work.get("updated-by"))]
    title = work.get("title")
    if not notices:
        own += filter(None, map(of_title, title if isinstance(title, list) else [title]))
    itself = f"doi:{normalise_doi(str(work.get('DOI') or ''))}"
    own += [notice.status for notice in notices if notice.about == itself]
    return worst(own), tuple(notice for notice in notices if notice.about != itself)


def _updates(given: object) -> Iterator[tuple[Editorial, dict[str, Any]]]:
    for update in given if isinstance(given, list) else ():
        kind = re.sub(r"\W+", "_", str(update.get("type")).strip().casefold()) if isinstance(update, dict) else ""
        if kind in _UPDATES:
            yield _UPDATES[kind], update


def of_pubmed(citation: Any) -> tuple[Editorial | None, tuple[EditorialNotice, ...]]:
    """Return the status from a MedlineCitation's publication types and references, and notices about other works."""
    own: list[Editorial] = []
    notices: dict[EditorialNotice, None] = {}
    for kind in citation.iterfind(".//PublicationType"):
        if kind.get("UI") == "D016441" or extract_text(kind) == "Retracted Publication":
            own.append(Editorial.RETRACTED)
    for reference in citation.iterfind("CommentsCorrectionsList/CommentsCorrections"):
        match = _REF_TYPE.fullmatch(reference.get("RefType") or "")
        if match and match.group(2) == "In":
            own.append(_REFERENCES[match.group(1)])
        elif match and (pmid := normalise_pmid(extract_text(reference.find("PMID")))):
            notices[EditorialNotice(f"pmid:{pmid}", _REFERENCES[match.group(1)])] = None
    if not notices and (status := of_title(extract_text(citation.find("Article/ArticleTitle")))):
        own.append(status)
    return worst(own), tuple(notices)


def of_jats(meta: Any) -> tuple[Editorial | None, tuple[EditorialNotice, ...]]:
    """Return the status from an article-meta's `related-article` elements, and notices about other works by DOI or PMID."""
    own: list[Editorial] = []
    notices: dict[EditorialNotice, None] = {}
    for related in meta.iterfind("{*}related-article"):
        kind, named = related.get("related-article-type"), related.get("{http://www.w3.org/1999/xlink}href") or ""
        if kind in _FORWARD:
            own.append(_FORWARD[kind])
        elif kind in _RELATED and (doi := normalise_doi(named.removeprefix("info:doi/"))):
            notices[EditorialNotice(f"doi:{doi}", _RELATED[kind])] = None
        elif kind in _RELATED and related.get("ext-link-type") == "pmid" and (pmid := normalise_pmid(named)):
            notices[EditorialNotice(f"pmid:{pmid}", _RELATED[kind])] = None
    if not notices and (status := of_title(extract_text(meta.find("{*}title-group/{*}article-title")))):
        own.append(status)
    return worst(own), tuple(notices)


def of_arxiv(comments: str, abstract: str) -> Editorial | None:
    """Return WITHDRAWN if the abstract's start or a sentence of the comments reports it; arXiv does not delete withdrawn records."""
    sentences = [abstract, *_SENTENCES.split(comments)]
    is_withdrawn = any(_WITHDRAWN.match(" ".join(sentence.split())) for sentence in sentences)
    return Editorial.WITHDRAWN if is_withdrawn else None
