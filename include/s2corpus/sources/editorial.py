"""Read the editorial status (retracted, withdrawn, concern, corrected) from Crossref, PubMed, JATS and arXiv, and decide it for a paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from s2corpus.sources.record import ARXIV, Editorial, EditorialNotice, Record, RecordKind
from s2orc_parse.bibliography.identifiers import normalize_doi, normalize_pmid
from s2orc_parse.xml import extract_text

BY_SERIOUSNESS = tuple(Editorial)
Statement = tuple[Editorial, str]
"""(status, id of the record that states it)"""
_CROSSREF_UPDATES = {
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
_PUBMED_REFERENCES = {
    "Retraction": Editorial.RETRACTED,
    "RetractedandRepublished": Editorial.RETRACTED,
    "PartialRetraction": Editorial.CONCERN,
    "ExpressionOfConcern": Editorial.CONCERN,
    "Erratum": Editorial.CORRECTED,
    "CorrectedandRepublished": Editorial.CORRECTED,
}
_REF_TYPE = re.compile(rf"({'|'.join(_PUBMED_REFERENCES)})(In|Of|For|From)")
"""RefType of PubMed's CommentsCorrections: the work itself has `…In`, the notice has `…Of`, `…For` or `…From`."""
_JATS_NOTICES = {
    "retracted-article": Editorial.RETRACTED,
    "partial-retraction": Editorial.CONCERN,
    "object-of-concern": Editorial.CONCERN,
    "corrected-article": Editorial.CORRECTED,
}
"""`related-article-type` of a notice in JATS → status of the related article (JATS 1.3 Tag Library; PMC's guidelines)."""
_JATS_FORWARD_LINKS = {
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
"""Start of a sentence of arXiv's comments or abstract that reports a withdrawal."""
_SENTENCES = re.compile(r"[.;,(]\s+|\(")


def select_most_serious(found: Iterable[Editorial | None]) -> Editorial | None:
    """Return the most serious status, or None."""
    return min((status for status in found if status), key=BY_SERIOUSNESS.index, default=None)


def read_title_status(title: object) -> Editorial | None:
    """Return the status given by a title's prefix, or None."""
    match = _TITLE.match(title) if isinstance(title, str) else None
    return None if match is None else Editorial.RETRACTED if match.group(1) else Editorial.WITHDRAWN


def strip_title_status(title: str) -> str:
    """Return a title without the prefix that `read_title_status` reads."""
    return _TITLE.sub("", title, count=1).strip()


def read_crossref_notices(work: dict[str, Any]) -> tuple[Editorial | None, tuple[EditorialNotice, ...]]:
    """Return the status from a Crossref work's `updated-by`, and notices about other works from its `update-to`.

    The title prefix of a notice is ignored, because some notices are titled `Retracted: …`.
    """
    notices = tuple(
        dict.fromkeys(
            EditorialNotice(f"doi:{doi}", status)
            for status, given in _updates(work.get("update-to"))
            if (doi := normalize_doi(str(given.get("DOI") or "")))
        )
    )
    own = [status for status, _ in _updates(work.get("updated-by"))]
    title = work.get("title")
    if not notices:
        own += filter(None, map(read_title_status, title if isinstance(title, list) else [title]))
    itself = f"doi:{normalize_doi(str(work.get('DOI') or ''))}"
    own += [notice.status for notice in notices if notice.about == itself]
    return select_most_serious(own), tuple(notice for notice in notices if notice.about != itself)


def _updates(given: object) -> Iterator[tuple[Editorial, dict[str, Any]]]:
    for update in given if isinstance(given, list) else ():
        kind = re.sub(r"\W+", "_", str(update.get("type")).strip().casefold()) if isinstance(update, dict) else ""
        if kind in _CROSSREF_UPDATES:
            yield _CROSSREF_UPDATES[kind], update


def read_pubmed_notices(citation: Any) -> tuple[Editorial | None, tuple[EditorialNotice, ...]]:
    """Return the status from a MedlineCitation's publication types and references, and notices about other works."""
    own: list[Editorial] = []
    notices: list[EditorialNotice] = []
    for kind in citation.iterfind(".//PublicationType"):
        if kind.get("UI") == "D016441" or extract_text(kind) == "Retracted Publication":
            own.append(Editorial.RETRACTED)
    for reference in citation.iterfind("CommentsCorrectionsList/CommentsCorrections"):
        match = _REF_TYPE.fullmatch(reference.get("RefType") or "")
        if match and match.group(2) == "In":
            own.append(_PUBMED_REFERENCES[match.group(1)])
        elif match and (pmid := normalize_pmid(extract_text(reference.find("PMID")))):
            notices.append(EditorialNotice(f"pmid:{pmid}", _PUBMED_REFERENCES[match.group(1)]))
    return _conclude(own, notices, extract_text(citation.find("Article/ArticleTitle")))


def read_jats_notices(meta: Any) -> tuple[Editorial | None, tuple[EditorialNotice, ...]]:
    """Return the status from an article-meta's `related-article` elements, and notices about other works by DOI or PMID."""
    own: list[Editorial] = []
    notices: list[EditorialNotice] = []
    for related in meta.iterfind("{*}related-article"):
        kind, named = related.get("related-article-type"), related.get("{http://www.w3.org/1999/xlink}href") or ""
        if kind in _JATS_FORWARD_LINKS:
            own.append(_JATS_FORWARD_LINKS[kind])
        elif kind in _JATS_NOTICES and (doi := normalize_doi(named.removeprefix("info:doi/"))):
            notices.append(EditorialNotice(f"doi:{doi}", _JATS_NOTICES[kind]))
        elif kind in _JATS_NOTICES and related.get("ext-link-type") == "pmid" and (pmid := normalize_pmid(named)):
            notices.append(EditorialNotice(f"pmid:{pmid}", _JATS_NOTICES[kind]))
    return _conclude(own, notices, extract_text(meta.find("{*}title-group/{*}article-title")))


def _conclude(
    own: list[Editorial], notices: list[EditorialNotice], title: str
) -> tuple[Editorial | None, tuple[EditorialNotice, ...]]:
    """Return the most serious status and the distinct notices. The title counts only without notices, since notices repeat it."""
    status = None if notices else read_title_status(title)
    return select_most_serious([*own, status]), tuple(dict.fromkeys(notices))


def read_arxiv_status(comments: str, abstract: str) -> Editorial | None:
    """Return WITHDRAWN if the abstract's start or a sentence of the comments reports a withdrawal; arXiv retains withdrawn records."""
    sentences = [abstract, *_SENTENCES.split(comments)]
    is_withdrawn = any(_WITHDRAWN.match(" ".join(sentence.split())) for sentence in sentences)
    return Editorial.WITHDRAWN if is_withdrawn else None


def find_status(
    records: Sequence[Record], notices: Mapping[str, Sequence[Statement]], is_preprint: Callable[[str], bool]
) -> tuple[Editorial | None, tuple[str, ...]]:
    """Return the most serious editorial status of a paper, and the sorted ids of the records that state it.

    If a publisher record exists, statements about its preprint are ignored: the withdrawal of a preprint does not
    withdraw the published paper.
    """
    published = any(r.kind is RecordKind.PUBLISHER and not _is_preprint(r, is_preprint) for r in records)
    statements: set[Statement] = set()
    for record in records:
        if record.kind is RecordKind.PDF or (published and _is_preprint(record, is_preprint)):
            continue
        if record.editorial is not None:
            statements.add((record.editorial, record.record_id))
        for name in (f"doi:{record.doi}", f"pmid:{record.pubmed_id}"):
            statements.update(notices.get(name, ()))
    status = select_most_serious(status for status, _ in statements)
    return status, tuple(sorted(record_id for found, record_id in statements if found is status))


def _is_preprint(record: Record, is_preprint: Callable[[str], bool]) -> bool:
    return record.source == ARXIV or is_preprint(record.doi or "")
