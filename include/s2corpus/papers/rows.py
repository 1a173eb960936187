"""Convert rows of `members` to rows of `papers`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import groupby, islice
from typing import cast

import pyarrow as pa

from s2corpus.papers.ballots import DeliveredRecord
from s2corpus.papers.corrections import Corrections
from s2corpus.papers.evidence import Declaration
from s2corpus.papers.journals import FieldInference
from s2corpus.papers.openness import Openness, decide_article_openness, decide_source_openness
from s2corpus.papers.vote import Pdf, VotedPaper, elect_metadata
from s2corpus.rules import VoteRules
from s2corpus.sources.arrow import read_record
from s2corpus.sources.editorial import Statement, find_status
from s2corpus.sources.preprints import is_preprint_doi
from s2corpus.sources.record import Record, RecordKind, WorkType
from s2corpus.tables.columns import Access, RecordRights, SearchedEvidence
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
    license: str | None = None
    open_access: bool | None = None
    declarations: tuple[Declaration, ...] = ()


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The facts about the files and notices of a set of papers, for the vote."""

    pdfs: Mapping[str, Pdf] = field(default_factory=dict)
    """by SHA-1"""
    latex_parses: Mapping[str, ArxivParse] = field(default_factory=dict)
    """LaTeX parses by arXiv id"""
    articles: Mapping[str, Article] = field(default_factory=dict)
    """publishers' full texts by the id of their record"""
    notices: Mapping[str, Sequence[Statement]] = field(default_factory=dict)
    """statements of retraction and correction notices by identifier"""


def build_papers(
    members: Iterable[pa.RecordBatch],
    facts: FileFacts,
    rules: VoteRules,
    *,
    all_open: bool,
    inference: FieldInference | None = None,
    corrections: Corrections | None = None,
    rows: int = 2_000,
) -> Iterator[pa.RecordBatch]:
    """Yield the canonical metadata of every paper in `members` (sorted by paper_id), in batches of `rows` papers.

    `corrections` then has the outcome of each correction.
    """
    corrections = Corrections() if corrections is None else corrections
    by_paper = groupby((row for batch in members for row in batch.to_pylist()), key=lambda row: row["paper_id"])

    def build_paper(paper_id: str, given: Iterable[MemberRow]) -> PaperRow:
        delivered = [DeliveredRecord(read_record(row), row["ready_at"] or "") for row in given]
        records = [one.record for one in delivered]
        preprint = _correct_preprint_test(records)
        voted = elect_metadata(
            paper_id,
            delivered,
            rules,
            pdfs=facts.pdfs,
            all_open=all_open,
            is_preprint=preprint,
            corrections=corrections,
        )
        if inference is not None:
            voted = inference.complete(voted, records)
        selected = _select_articles(records, facts.articles)
        correct = partial(corrections.correct_rights, paper_id)
        texts = [_decide_access(article, records, rules, preprint, all_open, correct) for article in selected]
        status, stated_by = find_status(records, facts.notices, preprint)
        return {
            **_build_row(voted, _select_latex(voted, records, facts.latex_parses), records, texts, correct),
            "editorial": status,
            "editorial_by": list(stated_by),
        }

    papers = (build_paper(paper_id, given) for paper_id, given in by_paper)
    while chunk := list(islice(papers, rows)):
        yield pa.RecordBatch.from_pylist(chunk, PAPERS.schema)


def _decide_access(
    article: Article,
    records: Sequence[Record],
    rules: VoteRules,
    is_preprint: Callable[[str], bool],
    all_open: bool,
    correct: Callable[[str, Openness], Openness],
) -> Access:
    own = Record(
        f"{article.kind}:{article.sha1}", article.kind, RecordKind.ARCHIVE, doi=article.doi, pmc_id=article.pmc_id,
        license=article.license, open_access=article.open_access,
    )  # fmt: skip
    openness = decide_article_openness(
        article.sha1,
        records,
        article.declarations,
        own=own,
        is_preprint=is_preprint,
        all_open=all_open,
        unit=rules.openness,
    )
    return _build_access(article.sha1, article.kind, correct(article.sha1, openness))


def _correct_preprint_test(records: Iterable[Record]) -> Callable[[str], bool]:
    """Return `is_preprint_doi` corrected by the work types in records.

    Records with an arXiv id are skipped, because arXiv states the DOI of the published version.
    """
    types: dict[str, bool] = {}
    for record in records:
        if record.doi and record.type and not record.arxiv_id:
            if record.type is WorkType.PREPRINT:
                types[record.doi] = True
            elif record.kind is RecordKind.PUBLISHER:
                types.setdefault(record.doi, False)
    return lambda doi: types[doi] if doi in types else is_preprint_doi(doi)


def _select_latex(
    paper: VotedPaper, records: Iterable[Record], latex_parses: Mapping[str, ArxivParse]
) -> ArxivParse | None:
    """Return the LaTeX source of an arXiv id of the cluster (S2ORC §2.4): of the canonical id, else of the smallest id."""
    ids = sorted({record.arxiv_id for record in records if record.arxiv_id})
    return next((latex_parses[i] for i in (str(paper.values.get("arxiv_id")), *ids) if i in latex_parses), None)


def _select_articles(records: Iterable[Record], articles: Mapping[str, Article]) -> list[Article]:
    """Return the publishers' full texts of a cluster, one per kind: the latest first-seen, then the smallest SHA-1."""
    by_kind: dict[str, Article] = {}
    by_sha1 = {article.sha1: article for record in records if (article := articles.get(record.record_id))}
    for _, article in sorted(by_sha1.items()):
        other = by_kind.get(article.kind)
        if other is None or article.first_seen > other.first_seen:
            by_kind[article.kind] = article
    return [article for _, article in sorted(by_kind.items())]


def _build_row(
    paper: VotedPaper,
    latex: ArxivParse | None,
    records: Sequence[Record],
    articles: Iterable[Access],
    correct: Callable[[str, Openness], Openness],
) -> PaperRow:
    date, precision = paper.values.get("date", (None, None))
    by_canonical = sorted(paper.access, key=lambda sha1: (sha1 != paper.canonical_pdf, sha1))
    access = [_build_access(sha1, "pdf", paper.access[sha1]) for sha1 in by_canonical]
    if latex is not None:
        openness = decide_source_openness(latex.arxiv_id, records, latex.declarations)
        access.append(_build_access(latex.sha1, "latex", correct(latex.sha1, openness)))
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
        "preprints": [asdict(preprint) for preprint in paper.preprints],
        "mag_ids": list(paper.mag_ids),
        "issns": list(paper.issns),
        "subjects": list(paper.subjects),
        "canonical_pdf": paper.canonical_pdf,
        "latex_parse_id": latex.parse_id if latex else None,
        "open_access": first is not None and first["open_access"],
        "oa_evidence": first and first["oa_evidence"],
        "license": first and first["license"],
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
        license=openness.license,
        license_detail=openness.license_detail,
        searches=[
            SearchedEvidence(evidence=search.evidence, found=search.found, detail=search.detail)
            for search in openness.searches
        ],
        stated=[
            RecordRights(record_id=one.record_id, license=one.license, open_access=one.open_access, effect=one.effect)
            for one in openness.stated
        ],
    )
