"""Convert publishers' full texts (JATS, Elsevier's JSON) to parses (SPEC §3.23)."""

from __future__ import annotations

import logging

import orjson

from s2corpus.deliveries.files import read_file
from s2corpus.pipeline.run import Run
from s2corpus.stages.postprocess.stored import convert_missing, make_stored_row
from s2corpus.tables.intake import ARTICLES, ArticleRow
from s2corpus.tables.parses import STORED_PARSES, ArticleParseRow, StoredParseRow
from s2orc_parse import jats
from s2orc_parse.parse_model import ParseKind, make_parse_id

log = logging.getLogger(__name__)
_HEADER_FIELDS = ("doi", "pmc_id", "licence", "open_access")


def convert_articles(run: Run, shard: int) -> list[ArticleParseRow]:
    """Convert the shard's publishers' full texts without a stored parse; return a row for each text."""
    articles = list(run.table(ARTICLES).rows(shard=shard))
    rows = []
    for kind, version in jats.VERSIONS.items():
        files = {article["file_sha1"]: article for article in articles if article["kind"] == kind}
        if files:
            store = run.store(STORED_PARSES, f"{kind}-{version}")
            stored = convert_missing(store, files, lambda missing: (_convert(run, article) for article in missing))
            rows += [_make_row(article, *stored[sha1]) for sha1, article in files.items()]
    log.info("postprocess shard %d: %d publishers' full texts", shard, len(rows))
    return sorted(rows, key=lambda row: row["file_sha1"])


def _convert(run: Run, article: ArticleRow) -> StoredParseRow:
    """Return one publisher's full text as a row of STORED_PARSES: the parse, or the reason for its absence."""
    sha1, kind = article["file_sha1"], ParseKind(article["kind"])
    try:
        parse = jats.CONVERTERS[kind](read_file(run.lake, article["places"][0], sha1), sha1=sha1)
    except jats.BadArticle as bad:
        return make_stored_row(sha1, kind, bad.outcome)
    return make_stored_row(sha1, kind, parse, {name: getattr(parse.header, name) for name in _HEADER_FIELDS})


def _make_row(article: ArticleRow, parse: StoredParseRow, stored: str) -> ArticleParseRow:
    header = orjson.loads(parse["header"]) if parse["header"] else dict.fromkeys(_HEADER_FIELDS)
    return ArticleParseRow(
        file_sha1=article["file_sha1"],
        kind=article["kind"],
        record_ids=article["record_ids"],
        first_seen=article["first_seen"],
        parse_id=make_parse_id(article["file_sha1"], article["kind"], jats.VERSIONS[article["kind"]]),
        outcome=parse["outcome"],
        citation_style=parse["citation_style"],
        bytes=parse["bytes"],
        doi=header["doi"],
        pmc_id=header["pmc_id"],
        licence=header["licence"],
        open_access=header["open_access"],
        stored=stored,
    )
