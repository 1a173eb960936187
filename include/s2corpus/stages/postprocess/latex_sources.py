"""Convert LaTeX source archives to parses (S2ORC §2.2)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from pdf2tei.latex_references import parse_reference
from s2corpus.deliveries.files import read_file
from s2corpus.pipeline.run import Run
from s2corpus.stages.postprocess.stored import convert_missing, make_stored_row
from s2corpus.tables.intake import LATEX_SOURCES, LatexSourceRow
from s2corpus.tables.parses import STORED_PARSES, LatexParseRow, StoredParseRow
from s2orc_parse import latex
from s2orc_parse.parse_model import ParseKind, make_parse_id

log = logging.getLogger(__name__)
_TRANSIENT_OUTCOMES = (latex.LatexOutcome.TIMEOUT, latex.LatexOutcome.OUT_OF_MEMORY)
"""outcomes that can differ on a retry; they are not stored"""


def convert_latex_sources(run: Run, shard: int) -> list[LatexParseRow]:
    """Convert the shard's sources without a stored parse; return a row for each source."""
    sources = list(run.table(LATEX_SOURCES).rows(shard=shard))
    files = {source["archive_sha1"]: source for source in sources if source["arxiv_id"]}  # others belong to no paper
    transient: dict[str, tuple[StoredParseRow, str | None]] = {}

    def convert(missing: Iterable[LatexSourceRow]) -> Iterator[StoredParseRow]:
        for source in missing:
            row = _convert(run, source)
            if row["outcome"] in _TRANSIENT_OUTCOMES:
                transient[source["archive_sha1"]] = (row, None)
            else:
                yield row

    stored = convert_missing(run.store(STORED_PARSES, *latex_key()), files, convert) if files else {}
    parses = {**stored, **transient}
    log.info("postprocess shard %d: %d LaTeX sources", shard, len(sources))
    return [_make_row(source, parses.get(source["archive_sha1"])) for source in sources]


def latex_key() -> tuple[str, ...]:
    """Return the store key for parses of LaTeX sources: the version of our converter, and pandoc's name and version."""
    return f"latex-{latex.CONVERTER_VERSION}", "pandoc", latex.get_pandoc_version()


def _convert(run: Run, source: LatexSourceRow) -> StoredParseRow:
    """Return one source archive as a row of STORED_PARSES: the parse, or the reason for its absence."""
    rules, sha1 = run.spec.resources, source["archive_sha1"]
    if source["bytes"] > latex.MAX_PACKED:
        return make_stored_row(sha1, ParseKind.LATEX, latex.LatexOutcome.TOO_LARGE)
    try:
        parse = latex.convert(
            read_file(run.lake, source["places"][0], sha1),
            sha1=sha1,
            seconds=rules.latex_seconds,
            memory_mb=rules.latex_memory_mb,
            parse_reference=parse_reference,
        )
    except latex.BadSource as bad:
        return make_stored_row(sha1, ParseKind.LATEX, bad.outcome)
    return make_stored_row(sha1, ParseKind.LATEX, parse)


def _make_row(source: LatexSourceRow, found: tuple[StoredParseRow, str | None] | None) -> LatexParseRow:
    parse, stored = found or (None, None)
    return LatexParseRow(
        archive_sha1=source["archive_sha1"],
        parse_id=make_parse_id(source["archive_sha1"], ParseKind.LATEX, latex.CONVERTER_VERSION, latex_key()[1:]),
        arxiv_id=source["arxiv_id"],
        first_seen=source["first_seen"],
        outcome=parse["outcome"] if parse else "no_arxiv_id",
        citation_style=parse["citation_style"] if parse else None,
        bytes=parse["bytes"] if parse else 0,
        stored=stored,
    )
