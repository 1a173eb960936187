"""Convert extractors' responses, LaTeX sources and publishers' full texts to S2ORC parses (S2ORC §2.1, §2.2; SPEC §3).

The content store contains the parses. A file that a converter version has converted is never converted again, in any release.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import orjson

from pdf2tei.references.fields import parse_bibliography_item
from s2corpus.deliveries.files import read_file
from s2corpus.errors import UnreadableObject
from s2corpus.extractors import EXTRACTORS, Adapter, BadAnswer, ExtractorIdentity
from s2corpus.papers.pdf_records import PRINTED_COLUMNS, make_pdf_record
from s2corpus.pipeline.run import Metrics, Run, Shard, Stage, commit_all, count_outcomes
from s2corpus.stages.postprocess.stored import Found, convert_missing, describe, make_stored_row
from s2corpus.storage.content_store import ContentStore
from s2corpus.tables.intake import ARTICLES, LATEX_SOURCES, PDFS, ArticleRow, LatexSourceRow, RecordRow
from s2corpus.tables.parses import (
    ARTICLE_PARSES,
    EXTRACTIONS,
    LATEX_PARSES,
    PARSES,
    PDF_RECORDS,
    SELECTIONS,
    STORED_PARSES,
    STORED_TEI,
    ArticleParseRow,
    ExtractionRow,
    LatexParseRow,
    ParseRow,
    StoredParseRow,
)
from s2orc_parse import jats, latex, tei
from s2orc_parse.parse_model import ParseKind, make_parse_id

log = logging.getLogger(__name__)
_ARTICLE_HEADER = ("doi", "pmc_id", "license", "open_access")


class PostprocessStage(Stage):
    """The postprocess stage. It writes parses of PDFs, LaTeX sources and publishers' full texts, and records of PDF headers."""

    name = "postprocess"

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Convert new inputs, then list the shard's parses and headers."""
        parses, records = _convert_pdfs(run, shard.index)
        run.table(PARSES).write(shard.index, parses)
        run.table(PDF_RECORDS).write(shard.index, records)
        run.table(LATEX_PARSES).write(shard.index, _convert_latex_sources(run, shard.index))
        run.table(ARTICLE_PARSES).write(shard.index, _convert_articles(run, shard.index))

    def finish(self, run: Run) -> Metrics:
        """Commit the tables; return metrics with the parses by outcome and citation style."""
        for_pdfs, _, *for_articles = list_converters(_load_adapter(run))
        converters = f"{for_pdfs};{','.join(_latex_key())};{','.join(for_articles)}"
        commit_all(run, self.name, run.pdf_shards, {"converter": converters})
        return {
            **count_outcomes(run, PARSES),
            **count_outcomes(run, PARSES, "citation_style"),
            **{f"latex.{name}": value for name, value in count_outcomes(run, LATEX_PARSES).items()},
            **{f"article.{name}": value for name, value in count_outcomes(run, ARTICLE_PARSES).items()},
        }


def _convert_pdfs(run: Run, shard: int) -> tuple[list[ParseRow], list[RecordRow]]:
    """Convert the extractions without a stored parse from this converter.

    Return a row for each extraction of the shard, and the records of their headers.
    """
    extractions = list(run.table(EXTRACTIONS).rows(shard=shard))
    adapter = _load_adapter(run)
    by_extractor: dict[tuple[str, str, str], dict[str, ExtractionRow]] = defaultdict(dict)
    for row in extractions:
        if row["outcome"] == "ok":
            by_extractor[row["extractor"], row["version"], row["options_hash"]][row["file_sha1"]] = row
    parses: dict[str, Found] = {}
    for key, files in sorted(by_extractor.items()):
        extractor = ExtractorIdentity(*key[:2], options_hash=key[2])
        convert_rows = partial(_convert_rows, adapter, extractor, run.store(STORED_TEI, *key))
        stored = convert_missing(parse_store(run, adapter, key), files, convert_rows)
        parses |= {sha1: stored[sha1] for sha1 in files}
    log.info("postprocess shard %d: %d extractions, %d parses", shard, len(extractions), len(parses))
    rows = []
    for row in extractions:
        extractor_key = [row["extractor"], row["version"], row["options_hash"]]
        rows.append(ParseRow(
            parse_id=make_parse_id(row["file_sha1"], ParseKind.PDF, adapter.CONVERTER_VERSION, extractor_key),
            file_sha1=row["file_sha1"], kind=ParseKind.PDF, text_layer=row["text_layer"],
            **describe(parses.get(row["file_sha1"]), f"none:{row['outcome']}"),
        ))  # fmt: skip
    headers = {sha1: header for sha1, (row, _) in parses.items() if (header := row["header"]) is not None}
    return rows, _make_records(run, shard, extractions, headers)


def list_converters(adapter: Adapter) -> list[str]:
    """Return the current converters of PDFs, LaTeX and each kind of article: folders of STORED_PARSES."""
    articles = (f"{kind}-{version}" for kind, version in jats.VERSIONS.items())
    return [_format_converter(adapter), _latex_key()[0], *articles]


def _load_adapter(run: Run) -> Adapter:
    return EXTRACTORS.load(run.table(EXTRACTIONS).committed().facts["adapter"])


def _format_converter(adapter: Adapter) -> str:
    """Return the converter's name and version, which identify the store of PDF parses."""
    return f"{adapter.NAME}-{adapter.CONVERTER_VERSION}"


def parse_store(run: Run, adapter: Adapter, key: Iterable[str]) -> ContentStore[StoredParseRow]:
    """Return the stored parses of the answers of an extractor (name, version, hash of options) by the current converter."""
    return run.store(STORED_PARSES, _format_converter(adapter), *key)


def _convert_rows(
    adapter: Adapter, extractor: ExtractorIdentity, responses: ContentStore, rows: Sequence[ExtractionRow]
) -> Iterator[StoredParseRow]:
    by_part = defaultdict(list)
    for row in rows:
        if row["stored"]:
            by_part[row["stored"]].append(row["file_sha1"])
    for part, sha1s in sorted(by_part.items()):
        for response in responses.fetch(part, sha1s, ["file_sha1", "tei"]):
            yield convert_response(adapter, response["file_sha1"], response["tei"], extractor)


def convert_response(adapter: Adapter, file_sha1: str, data: bytes, extractor: ExtractorIdentity) -> StoredParseRow:
    """Return one extractor response as a row of STORED_PARSES: the parse, or the reason for its absence."""
    try:
        parse = adapter.convert(data, file_sha1=file_sha1, made_by=extractor)
    except BadAnswer as bad:
        return make_stored_row(file_sha1, ParseKind.PDF, bad.outcome)
    return make_stored_row(file_sha1, ParseKind.PDF, parse, tei.build_header(parse))


def _make_records(
    run: Run, shard: int, extractions: Sequence[ExtractionRow], headers: dict[str, bytes]
) -> list[RecordRow]:
    pdfs = {pdf["file_sha1"]: pdf for pdf in run.table(PDFS).rows(shard=shard)}
    printed = {row["file_sha1"]: row for row in run.table(SELECTIONS).rows(PRINTED_COLUMNS, shard=shard)}
    records = [
        make_pdf_record(orjson.loads(headers[sha1]), printed[sha1], row["extractor"], pdfs[sha1])
        for row in extractions
        if (sha1 := row["file_sha1"]) in headers
    ]
    return sorted(records, key=lambda record: record["record_id"])


def _convert_latex_sources(run: Run, shard: int) -> list[LatexParseRow]:
    """Convert the shard's sources without a stored parse; return a row for each source."""
    sources = list(run.table(LATEX_SOURCES).rows(shard=shard))
    files = {source["archive_sha1"]: source for source in sources if source["arxiv_id"]}  # others belong to no paper
    parses: dict[str, Found] = {}
    if files:
        parses = convert_missing(
            run.store(STORED_PARSES, *_latex_key()), files, partial(map, partial(_convert_latex, run))
        )
    log.info("postprocess shard %d: %d LaTeX sources", shard, len(sources))
    rows = []
    for source in sources:
        sha1 = source["archive_sha1"]
        rows.append(LatexParseRow(
            archive_sha1=sha1, arxiv_id=source["arxiv_id"], first_seen=source["first_seen"],
            parse_id=make_parse_id(sha1, ParseKind.LATEX, latex.CONVERTER_VERSION, _latex_key()[1:]),
            **describe(parses.get(sha1), "no_arxiv_id"),
        ))  # fmt: skip
    return rows


def _latex_key() -> tuple[str, ...]:
    """Return the store key for parses of LaTeX sources: the version of our converter, and pandoc's name and version."""
    return f"latex-{latex.CONVERTER_VERSION}", "pandoc", latex.get_pandoc_version()


def _convert_latex(run: Run, source: LatexSourceRow) -> StoredParseRow:
    rules, sha1 = run.spec.resources, source["archive_sha1"]
    if source["bytes"] > latex.MAX_PACKED:
        return make_stored_row(sha1, ParseKind.LATEX, latex.LatexOutcome.TOO_LARGE)
    try:
        parse = latex.convert(
            read_file(run.lake, source["places"][0], sha1),
            sha1=sha1,
            seconds=rules.file_seconds,
            memory_mb=rules.file_memory_mb,
            parse_reference=parse_bibliography_item,
        )
    except UnreadableObject as error:
        log.warning("%s", error)
        return make_stored_row(sha1, ParseKind.LATEX, latex.LatexOutcome.UNREADABLE)
    except latex.BadSource as bad:
        return make_stored_row(sha1, ParseKind.LATEX, bad.outcome)
    return make_stored_row(sha1, ParseKind.LATEX, parse)


def _convert_articles(run: Run, shard: int) -> list[ArticleParseRow]:
    """Convert the shard's publishers' full texts (JATS, Elsevier's JSON) without a stored parse (SPEC §3.23); return all rows."""
    articles = list(run.table(ARTICLES).rows(shard=shard))
    rows = []
    for kind, version in jats.VERSIONS.items():
        files = {article["file_sha1"]: article for article in articles if article["kind"] == kind}
        if not files:
            continue
        store = run.store(STORED_PARSES, f"{kind}-{version}")
        stored = convert_missing(store, files, partial(map, partial(_convert_article, run)))
        for sha1, article in files.items():
            header = stored[sha1][0]["header"]
            values = orjson.loads(header) if header else dict.fromkeys(_ARTICLE_HEADER)
            rows.append(ArticleParseRow(
                file_sha1=sha1, kind=kind, record_ids=article["record_ids"], first_seen=article["first_seen"],
                parse_id=make_parse_id(sha1, kind, version), doi=values["doi"], pmc_id=values["pmc_id"],
                license=values["license"], open_access=values["open_access"], **describe(stored[sha1], ""),
            ))  # fmt: skip
    log.info("postprocess shard %d: %d publishers' full texts", shard, len(rows))
    return sorted(rows, key=lambda row: row["file_sha1"])


def _convert_article(run: Run, article: ArticleRow) -> StoredParseRow:
    sha1, kind = article["file_sha1"], ParseKind(article["kind"])
    try:
        options = {"parse_reference": parse_bibliography_item} if kind is ParseKind.JATS else {}
        parse = jats.CONVERTERS[kind](read_file(run.lake, article["places"][0], sha1), sha1=sha1, **options)
    except UnreadableObject as error:
        log.warning("%s", error)
        return make_stored_row(sha1, kind, jats.JatsOutcome.UNREADABLE)
    except jats.BadArticle as bad:
        return make_stored_row(sha1, kind, bad.outcome)
    return make_stored_row(sha1, kind, parse, {name: getattr(parse.header, name) for name in _ARTICLE_HEADER})
