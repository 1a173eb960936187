"""Convert rows of `members` to rows of `papers`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby, islice
from typing import Literal, cast

import pyarrow as pa

from s2corpus.papers.editorial import Statement, find_status
from s2corpus.papers.openness import Declaration, Openness, decide_article_openness, decide_source_openness
from s2corpus.papers.vote import Delivered, Pdf, VotedPaper, elect_metadata
from s2corpus.sources.arrow import read_record
from s2corpus.sources.record import Record, RecordKind, WorkType
from s2corpus.tables.columns import Access, SearchedEvidence
from s2corpus.tables.papers import PAPERS, MemberRow, PaperRow


@dataclass(frozen=True, slots=True)
class ArxivParse:
    """The LaTeX parse of an arXiv id.

    If several archives have the id, the archive with the latest first-seen time is used, then the smallest SHA-1.
    """

    sha1: str
    parse_id: str
    arxiv_id: str
    declarations: tuple[Declaration, ...] = ()


@dataclass(frozen=True, slots=True)
class Article:
    """A parsed full text of a publisher (JATS, Elsevier's JSON), and its own metadata."""

    sha1: str
    kind: str
    first_seen: str
    doi: str | None = None
    pmc_id: str | None = None
    licence: str | None = None
    open_access: bool | None = None
    declarations: tuple[Declaration, ...] = ()


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The facts about the files and notices of a set of papers, for the vote."""

    pdfs: Mapping[str, Pdf] = field(default_factory=dict)
    """by SHA-1"""
    sources: Mapping[str, ArxivParse] = field(default_factory=dict)
    """LaTeX sources by arXiv id"""
    articles: Mapping[str, Article] = field(default_factory=dict)
    """publishers' full texts by the id of their record"""
    notices: Mapping[str, Sequence[Statement]] = field(default_factory=dict)
    """statements of retraction and correction notices by identifier"""


def build_papers(
    members: Iterable[pa.RecordBatch],
    facts: FileFacts,
    *,
    trust: Sequence[str],
    all_open: bool,
    is_preprint: Callable[[str], bool],
    support: Literal["similar", "equal"] = "similar",
    rows: int = 2_000,
) -> Iterator[pa.RecordBatch]:
    """Yield the canonical metadata of every paper in `members`, which is sorted by paper_id, in batches of `rows`
    papers.
    """
    by_paper = groupby((row for batch in members for row in batch.to_pylist()), key=lambda row: row["paper_id"])

    def _openness(article: Article, records: Iterable[Delivered], is_preprint: Callable[[str], bool]) -> Openness:
        return decide_article_openness(
            article.sha1,
            [delivered.record for delivered in records],
            article.declarations,
            own=Record(f"{article.kind}:{article.sha1}", article.kind, RecordKind.ARCHIVE, doi=article.doi, pmc_id=article.pmc_id,
                       licence=article.licence, open_access=article.open_access),
            is_preprint=is_preprint,
            all_open=all_open,
        )  # fmt: skip

    def paper(paper_id: str, given: Iterable[MemberRow]) -> PaperRow:
        records = [Delivered(read_record(row), row["ready_at"] or "") for row in given]
        preprint = _correct_by_type(records, is_preprint)
        found = elect_metadata(
            paper_id, records, trust=trust, pdfs=facts.pdfs, all_open=all_open, is_preprint=preprint, support=support
        )
        texts = [
            _build_access(article.sha1, article.kind, _openness(article, records, preprint))
            for article in _select_articles(records, facts.articles)
        ]
        status, said_by = find_status([delivered.record for delivered in records], facts.notices, preprint)
        return {
            **_build_row(found, _select_latex(found, records, facts.sources), records, texts),
            "editorial": status,
            "editorial_by": list(said_by),
        }

    found = (paper(paper_id, given) for paper_id, given in by_paper)
    while chunk := list(islice(found, rows)):
        yield pa.RecordBatch.from_pylist(chunk, PAPERS.schema)


def _correct_by_type(records: Iterable[Delivered], is_preprint: Callable[[str], bool]) -> Callable[[str], bool]:
    """Return `is_preprint` with corrections from the types in records with their own DOI; arXiv gives the published
    DOI.
    """
    known: dict[str, bool] = {}
    for record in (delivered.record for delivered in records):
        if record.doi and record.type and not record.arxiv_id:
            if record.type is WorkType.PREPRINT:
                known[record.doi] = True
            elif record.kind is RecordKind.PUBLISHER:
                known.setdefault(record.doi, False)
    return lambda doi: known[doi] if doi in known else is_preprint(doi)


def _select_latex(
    paper: VotedPaper, records: Iterable[Delivered], sources: Mapping[str, ArxivParse]
) -> ArxivParse | None:
    """Return the LaTeX source of an arXiv id of the cluster (S2ORC §2.4): of the canonical id, else of the smallest id."""
    ids = sorted({d.record.arxiv_id for d in records if d.record.arxiv_id})
    return next((sources[i] for i in (str(paper.values.get("arxiv_id")), *ids) if i in sources), None)


def _select_articles(records: Iterable[Delivered], articles: Mapping[str, Article]) -> list[Article]:
    """Return the publishers' full texts of a cluster, one per kind: the latest first-seen, then the smallest SHA-1."""
    of_kind: dict[str, Article] = {}
    mine = {one.sha1: one for d in records if (one := articles.get(d.record.record_id))}
    for _, article in sorted(mine.items()):
        known = of_kind.get(article.kind)
        if known is None or article.first_seen > known.first_seen:
            of_kind[article.kind] = article
    return [article for _, article in sorted(of_kind.items())]


def _build_row(
    paper: VotedPaper, latex: ArxivParse | None, records: Iterable[Delivered], articles: Iterable[Access]
) -> PaperRow:
    date, precision = paper.values.get("date", (None, None))
    by_canonical = sorted(paper.access, key=lambda sha1: (sha1 != paper.canonical_pdf, sha1))
    access = [_build_access(sha1, "pdf", paper.access[sha1]) for sha1 in by_canonical]
    if latex is not None:
        judged = decide_source_openness(latex.arxiv_id, [d.record for d in records], latex.declarations)
        access.append(_build_access(latex.sha1, "latex", judged))
    access += articles
    # Only the canonical PDF is a full text of the paper; the text of other PDFs is not used.
    texts = [one for one in access if one["sha1"] == paper.canonical_pdf or one["kind"] != "pdf"]
    first = next((one for one in texts if one["open_access"]), texts[0] if texts else None)
    row = {
        **dict.fromkeys(PAPERS.schema.names),
        **paper.values,
        "authors": [author.as_dict() for author in paper.values.get("authors", ())],
        "date": date,
        "date_precision": precision,
        "fields_of_study": list(paper.values.get("fields_of_study", ())),
        "paper_id": paper.paper_id,
        "mag_ids": list(paper.mag_ids),
        "subjects": list(paper.subjects),
        "canonical_pdf": paper.canonical_pdf,
        "latex_parse_id": latex.parse_id if latex else None,
        "open_access": first is not None and first["open_access"],
        "oa_evidence": first and first["oa_evidence"],
        "licence": first and first["licence"],
        "access": access,
        "provenance": [(name, asdict(decision)) for name, decision in paper.provenance.items()],
        "record_ids": list(paper.record_ids),
    }
    return cast(PaperRow, row)  # the names of voted fields are columns


def _build_access(sha1: str, kind: str, openness: Openness) -> Access:
    return Access(
        sha1=sha1,
        kind=kind,
        open_access=openness.open,
        oa_evidence=openness.evidence,
        licence=openness.licence,
        licence_detail=openness.licence_detail,
        looks=[
            SearchedEvidence(evidence=look.evidence, found=look.found, detail=look.detail) for look in openness.looks
        ],
    )
