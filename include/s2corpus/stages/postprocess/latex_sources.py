"""Convert LaTeX source archives to parses (S2ORC §2.2)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator

from pdf2tei.latex_references import parse_reference
from s2corpus.deliveries.files import read_file
from s2corpus.pipeline.run import Run
from s2corpus.stages.postprocess.stored import keep, none, ok
from s2corpus.tables.intake import LATEX_SOURCES, LatexSourceRow
from s2corpus.tables.parses import STORED_PARSES, LatexParseRow, StoredParseRow
from s2orc_parse import latex
from s2orc_parse.parse_model import ParseKind, parse_id

log = logging.getLogger(__name__)
_WANTED = ("outcome", "citation_style", "bytes")
_TRIED_AGAIN = (latex.LatexOutcome.TIMEOUT, latex.LatexOutcome.OUT_OF_MEMORY)
"""outcomes that can differ on a retry; they are not stored"""


def parses(run: Run, shard: int) -> list[LatexParseRow]:
    """Convert the shard's sources without a stored parse; return a row for each source."""
    sources = list(run.table(LATEX_SOURCES).rows(shard=shard))
    wanted = [source for source in sources if source["arxiv_id"]]  # sources without an arXiv id belong to no paper
    known: dict[str, tuple[StoredParseRow, str | None]] = {}
    if wanted:
        store = run.store(STORED_PARSES, *latex_key())
        first, last = wanted[0]["archive_sha1"], wanted[-1]["archive_sha1"]
        known |= store.known(first, last, _WANTED)
        transient: dict[str, tuple[StoredParseRow, str | None]] = {}

        def converted(missing: Iterable[LatexSourceRow]) -> Iterator[StoredParseRow]:
            for source in missing:
                row = _convert(run, source)
                if row["outcome"] in _TRIED_AGAIN:
                    transient[source["archive_sha1"]] = (row, None)
                else:
                    yield row

        keep(store, converted(source for source in wanted if source["archive_sha1"] not in known))
        known |= store.known(first, last, _WANTED)
        known |= transient
    log.info("postprocess shard %d: %d LaTeX sources", shard, len(sources))
    return [_row(source, known.get(source["archive_sha1"])) for source in sources]


def latex_key() -> tuple[str, ...]:
    """Return the store key for parses of LaTeX sources: our converter's version, and the program with its version."""
    program = latex.get_pandoc()
    return f"latex-{latex.CONVERTER_VERSION}", program.name, program.version


def _convert(run: Run, source: LatexSourceRow) -> StoredParseRow:
    """Return one source archive as a row of STORED_PARSES: the parse, or the reason for its absence."""
    rules, sha1 = run.spec.resources, source["archive_sha1"]
    if source["bytes"] > latex.MAX_PACKED:
        return none(sha1, ParseKind.LATEX, latex.LatexOutcome.TOO_LARGE)
    try:
        parse = latex.convert(
            read_file(run.lake, source["places"][0], sha1),
            sha1=sha1,
            seconds=rules.latex_seconds,
            memory_mb=rules.latex_memory_mb,
            parse_reference=parse_reference,
        )
    except latex.BadSource as bad:
        return none(sha1, ParseKind.LATEX, bad.outcome)
    return ok(sha1, ParseKind.LATEX, parse)


def _row(source: LatexSourceRow, kept: tuple[StoredParseRow, str | None] | None) -> LatexParseRow:
    parse, stored = kept or (None, None)
    return LatexParseRow(
        archive_sha1=source["archive_sha1"],
        parse_id=parse_id(source["archive_sha1"], ParseKind.LATEX, latex.CONVERTER_VERSION, latex_key()[1:]),
        arxiv_id=source["arxiv_id"],
        first_seen=source["first_seen"],
        outcome=parse["outcome"] if parse else "no_arxiv_id",
        citation_style=parse["citation_style"] if parse else None,
        bytes=parse["bytes"] if parse else 0,
        stored=stored,
    )
