"""Extractors' answers, LaTeX sources and publishers' full texts → S2ORC parses (S2ORC §2.1, §2.2; SEMANTICS §3), and the PDF's own
header as a record.

Parses are kept by content: what was converted once by this converter version is never converted again, in any release.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from typing import Any

import orjson

from s2corpus import jats, latex, tei
from s2corpus.deliveries.files import read_file
from s2corpus.errors import UserError
from s2corpus.extractors import Adapter, BadAnswer, Identity, adapter
from s2corpus.parse_model import ParseKind, parse_id
from s2corpus.pipeline.run import Metrics, Run, Shard, commit_all, count_outcomes, pdf_shards
from s2corpus.row_types import ArticleRow, ExtractionRow, LatexSourceRow, PdfRow, SelectionRow
from s2corpus.storage.content_store import ContentStore
from s2corpus.tables import (
    ARTICLE_PARSES,
    ARTICLES,
    EXTRACTIONS,
    LATEX_PARSES,
    LATEX_SOURCES,
    PARSES,
    PDF_RECORDS,
    PDFS,
    SELECTIONS,
    STORED_PARSES,
    STORED_TEI,
)

log = logging.getLogger(__name__)
BATCH_BYTES = 32 << 20
"""parses held in memory before they are stored as one part"""


class Postprocess:
    """Extractions → parses and the records of their headers; LaTeX sources → parses."""

    name = "postprocess"
    reads = (PDFS, SELECTIONS, EXTRACTIONS, LATEX_SOURCES, ARTICLES)
    writes = (PARSES, PDF_RECORDS, LATEX_PARSES, ARTICLE_PARSES)

    def plan(self, run: Run) -> list[Shard]:
        """A shard for each range of PDFs."""
        return pdf_shards(run)

    def work(self, run: Run, shard: Shard) -> None:
        """Convert what this converter has not converted yet, then list the shard's parses and headers."""
        rows = list(run.table(EXTRACTIONS).rows(shard=shard.index))
        by = _adapter(run)
        done: dict[str, dict[str, Any]] = {}
        by_extraction = defaultdict(list)
        for row in rows:
            if row["outcome"] == "ok":
                by_extraction[row["extractor"], row["version"], row["options_hash"]].append(row)
        for key, extracted in sorted(by_extraction.items()):
            store = run.store(STORED_PARSES, _converter(by), *key)
            first, last = extracted[0]["pdf_sha1"], extracted[-1]["pdf_sha1"]
            wanted = ("outcome", "citation_style", "header", "bytes")
            known = store.known(first, last, wanted)
            missing = [row for row in extracted if row["pdf_sha1"] not in known]
            if missing:
                self._convert(by, run.store(STORED_TEI, *key), store, missing)
                known = store.known(first, last, wanted)
            done |= {row["pdf_sha1"]: known[row["pdf_sha1"]] for row in extracted}
        log.info("postprocess shard %d: %d extractions, %d parses", shard.index, len(rows), len(done))
        run.table(PARSES).write(shard.index, [_parse_row(by, row, done.get(row["pdf_sha1"])) for row in rows])
        pdfs = {pdf["pdf_sha1"]: pdf for pdf in run.table(PDFS).rows(shard=shard.index)}
        printed = {row["pdf_sha1"]: row for row in run.table(SELECTIONS).rows(_PRINTED, shard=shard.index)}
        headers = [
            _record(orjson.loads(done[row["pdf_sha1"]]["header"]), printed[row["pdf_sha1"]], row, pdfs[row["pdf_sha1"]])
            for row in rows
            if done.get(row["pdf_sha1"], {}).get("outcome") == "ok"
        ]
        run.table(PDF_RECORDS).write(shard.index, sorted(headers, key=lambda record: record["record_id"]))
        run.table(LATEX_PARSES).write(shard.index, self._latex(run, shard))
        run.table(ARTICLE_PARSES).write(shard.index, _article_parses(run, shard))

    def _latex(self, run: Run, shard: Shard) -> list[dict[str, Any]]:
        """Convert the shard's sources that were not converted yet; a row for each of them."""
        sources = list(run.table(LATEX_SOURCES).rows(shard=shard.index))
        wanted = [source for source in sources if source["arxiv_id"]]  # the others belong to no paper
        known: dict[str, dict[str, Any]] = {}
        if wanted:
            store = run.store(STORED_PARSES, *_latex_key(run))
            first, last = wanted[0]["archive_sha1"], wanted[-1]["archive_sha1"]
            columns = ("outcome", "citation_style", "bytes")
            known = store.known(first, last, columns)
            batch: list[dict[str, Any]] = []
            for i, source in enumerate(wanted, 1):
                if source["archive_sha1"] not in known:
                    row = convert_latex(run, source)
                    if row["outcome"] in _TRIED_AGAIN:
                        known[source["archive_sha1"]] = {**row, "stored": None}
                    else:
                        batch.append(row)
                if batch and (i == len(wanted) or sum(row["bytes"] for row in batch) > BATCH_BYTES):
                    store.append(batch)
                    batch = []
            known |= store.known(first, last, columns)
        log.info("postprocess shard %d: %d LaTeX sources", shard.index, len(sources))
        return [_latex_row(run, source, known.get(source["archive_sha1"])) for source in sources]

    def _convert(self, by: Adapter, source: ContentStore, target: ContentStore, extracted: list[ExtractionRow]) -> None:
        by_part = defaultdict(list)
        for row in extracted:
            if row["stored"]:
                by_part[row["stored"]].append(row["pdf_sha1"])
        batch: list[dict[str, Any]] = []
        size = 0
        for part, keys in sorted(by_part.items()):
            for stored in source.fetch(part, keys, ["pdf_sha1", "tei", *_KEY]):
                batch.append(convert(by, stored["pdf_sha1"], stored["tei"], _made_by(stored)))
                size += batch[-1]["bytes"]
                if size > BATCH_BYTES:
                    target.append(batch)
                    batch, size = [], 0
        if batch:
            target.append(batch)

    def finish(self, run: Run) -> Metrics:
        """Commit; parses by outcome and citation style."""
        articles = ",".join(f"{kind}-{version}" for kind, version in jats.VERSIONS.items())
        converters = f"{_converter(_adapter(run))};{','.join(_latex_key(run))};{articles}"
        commit_all(run, self.writes, run.pdf_shards, {"converter": converters})
        of_latex = {f"latex.{name}": value for name, value in count_outcomes(run, LATEX_PARSES).items()}
        of_articles = {f"article.{name}": value for name, value in count_outcomes(run, ARTICLE_PARSES).items()}
        of_pdfs = {**count_outcomes(run, PARSES), **count_outcomes(run, PARSES, "citation_style")}
        return {**of_pdfs, **of_latex, **of_articles}


_KEY = ("extractor", "version", "options_hash")


def _adapter(run: Run) -> Adapter:
    """The adapter that reads the answers of this release's extractor."""
    return adapter(run.table(EXTRACTIONS).committed().facts["adapter"])


def _made_by(row: dict[str, Any]) -> Identity:
    return Identity(row["extractor"], row["version"], options_hash=row["options_hash"])


def _converter(by: Adapter) -> str:
    """Its converter and version: where the parses of PDFs are kept."""
    return f"{by.NAME}-{by.CONVERTER_VERSION}"


_TRIED_AGAIN = (latex.Outcome.TIMEOUT, latex.Outcome.OUT_OF_MEMORY)
"""Outcomes that another day may be other ones: not kept."""


def _latex_key(run: Run) -> tuple[str, ...]:
    """Where the parses of LaTeX sources are kept: by our converter's version, and by the program and its version."""
    program = latex.converter(run.spec.latex.converter)
    if not program.installed():
        raise UserError(
            f"{program.name} is not installed here: install it where tasks run, or say `latex: {{converter: pandoc}}`"
        )
    program.refuse_unconfined(unsafe=run.spec.latex.unsafe)
    return f"latex-{latex.CONVERTER_VERSION}", program.name, program.version


def convert_latex(run: Run, source: LatexSourceRow) -> dict[str, Any]:
    """One source archive as a row of STORED_PARSES: the parse, or why there is none."""
    rules = run.spec.resources
    nothing = {"pdf_sha1": source["archive_sha1"], "kind": ParseKind.LATEX.value, "bytes": 0}
    if source["bytes"] > latex.MAX_PACKED:
        return {**nothing, "outcome": latex.Outcome.TOO_LARGE.value}
    data = read_file(run.lake, source["places"][0], source["archive_sha1"])
    try:
        parse = latex.convert(
            data,
            sha1=source["archive_sha1"],
            converter_name=run.spec.latex.converter,
            seconds=rules.latex_limit(run.spec.latex.converter),
            memory_mb=rules.latex_memory_mb,
            unsafe=run.spec.latex.unsafe,
        )
    except latex.BadSource as bad:
        return {**nothing, "outcome": bad.outcome.value}
    body = orjson.dumps(tei.to_s2orc(parse))
    return {**nothing, "outcome": "ok", "citation_style": parse.citation_style, "bytes": len(body), "parse": body}


def _latex_row(run: Run, source: LatexSourceRow, parse: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "archive_sha1": source["archive_sha1"],
        "parse_id": parse_id(source["archive_sha1"], ParseKind.LATEX, latex.CONVERTER_VERSION, _latex_key(run)[1:]),
        "arxiv_id": source["arxiv_id"],
        "first_seen": source["first_seen"],
        "outcome": parse["outcome"] if parse else "no_arxiv_id",
        "citation_style": parse.get("citation_style") if parse else None,
        "bytes": parse["bytes"] if parse else 0,
        "stored": parse["stored"] if parse else None,
    }


def _article_parses(run: Run, shard: Shard) -> list[dict[str, Any]]:
    """Convert the shard's publishers' full texts that were not converted yet; a row for each of them."""
    articles = list(run.table(ARTICLES).rows(shard=shard.index))
    rows = []
    for kind, version in jats.VERSIONS.items():
        wanted = [article for article in articles if article["kind"] == kind]
        if not wanted:
            continue
        store = run.store(STORED_PARSES, f"{kind}-{version}")
        first, last = wanted[0]["file_sha1"], wanted[-1]["file_sha1"]
        columns = ("outcome", "citation_style", "bytes", "header")
        known = store.known(first, last, columns)
        batch: list[dict[str, Any]] = []
        for article in wanted:
            if article["file_sha1"] not in known:
                batch.append(_convert_article(run, article))
            if sum(row["bytes"] for row in batch) > BATCH_BYTES:
                store.append(batch)
                batch = []
        if batch:
            store.append(batch)
        known |= store.known(first, last, columns)
        rows += [_article_row(article, known[article["file_sha1"]]) for article in wanted]
    log.info("postprocess shard %d: %d publishers' full texts", shard.index, len(rows))
    return sorted(rows, key=lambda row: row["file_sha1"])


def _convert_article(run: Run, article: ArticleRow) -> dict[str, Any]:
    """One publisher's full text as a row of STORED_PARSES: the parse, or why there is none."""
    kind = article["kind"]
    nothing = {"pdf_sha1": article["file_sha1"], "kind": kind, "bytes": 0}
    data = read_file(run.lake, article["places"][0], article["file_sha1"])
    try:
        parse = jats.CONVERTERS[kind](data, sha1=article["file_sha1"])
    except jats.BadArticle as bad:
        return {**nothing, "outcome": bad.outcome.value}
    body = orjson.dumps(tei.to_s2orc(parse))
    found = parse.header
    header = {"doi": found.doi, "pmc_id": found.pmc_id, "licence": found.licence, "open_access": found.open_access}
    return {
        **nothing,
        "outcome": "ok",
        "citation_style": parse.citation_style,
        "bytes": len(body),
        "parse": body,
        "header": orjson.dumps(header),
    }


def _article_row(article: ArticleRow, parse: dict[str, Any]) -> dict[str, Any]:
    header = (
        orjson.loads(parse["header"]) if parse["header"] else dict.fromkeys(("doi", "pmc_id", "licence", "open_access"))
    )
    return {
        **header,
        **{name: article[name] for name in ("file_sha1", "kind", "record_ids", "first_seen")},
        "parse_id": parse_id(article["file_sha1"], article["kind"], jats.VERSIONS[article["kind"]]),
        **{name: parse[name] for name in ("outcome", "citation_style", "bytes", "stored")},
    }


def convert(by: Adapter, pdf_sha1: str, data: bytes, made_by: Identity) -> dict[str, Any]:
    """One answer of an extractor as a row of STORED_PARSES: the parse, or why there is none."""
    try:
        parse = by.convert(data, pdf_sha1=pdf_sha1, made_by=made_by)
    except BadAnswer as bad:
        return {"pdf_sha1": pdf_sha1, "kind": ParseKind.PDF.value, "outcome": bad.outcome, "bytes": 0}
    body = orjson.dumps(tei.to_s2orc(parse))
    return {
        "pdf_sha1": pdf_sha1,
        "kind": ParseKind.PDF.value,
        "outcome": "ok",
        "citation_style": parse.citation_style,
        "bytes": len(body),
        "parse": body,
        "header": orjson.dumps(tei.header(parse)),
    }


def _parse_row(by: Adapter, extraction: ExtractionRow, parse: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "parse_id": parse_id(
            extraction["pdf_sha1"],
            ParseKind.PDF,
            by.CONVERTER_VERSION,
            [extraction["extractor"], extraction["version"], extraction["options_hash"]],
        ),
        "pdf_sha1": extraction["pdf_sha1"],
        "kind": ParseKind.PDF.value,
        "outcome": parse["outcome"] if parse else f"none:{extraction['outcome']}",
        "citation_style": parse["citation_style"] if parse else None,
        "bytes": parse["bytes"] if parse else 0,
        "text_layer": extraction["text_layer"],
        "stored": parse["stored"] if parse else None,
    }


_IDENTIFIERS = ("doi", "arxiv_id", "acl_id", "pmc_id")
_PRINTED = ["pdf_sha1", *_IDENTIFIERS, "date", "date_precision"]
_PRECISIONS = (None, "year", "month", "day")


def _record(header: dict[str, Any], printed: SelectionRow, extraction: ExtractionRow, pdf: PdfRow) -> dict[str, Any]:
    """A PDF's header as a record of kind pdf.

    Identifiers and date as its first pages print them come first (weighed with their place, see `pdf.identity`), the date only if it
    is not less precise; then what the extractor read.
    """
    identifiers = {name: value for name, value in printed.items() if name in _IDENTIFIERS and value}
    header = {**header, **identifiers}
    if _PRECISIONS.index(printed["date_precision"]) >= _PRECISIONS.index(header.get("date_precision")):
        header |= {"date": printed["date"], "date_precision": printed["date_precision"]}
    source = extraction["extractor"]
    return {
        **dict.fromkeys(PDF_RECORDS.schema.names),
        **header,
        "record_id": f"{source}:{pdf['pdf_sha1']}",
        "source": source,
        "kind": "pdf",
        "delivery": pdf["places"][0]["drop"],
        "ready_at": pdf["first_seen"],
        "pdf_sha1": pdf["pdf_sha1"],
    }
