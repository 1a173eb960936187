"""Report the outcome of each delivered PDF of a small release."""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc

from s2corpus.pipeline.run import Run
from s2corpus.tables.intake import PDFS
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.parses import EXTRACTIONS, SELECTIONS
from s2corpus.tables.schema import Table
from s2corpus.tables.texts import DOCUMENTS, FILTERED, SPLITS

_GOOD = ("selected", "ok", "kept")


def format_papers_report(run: Run) -> str:
    """Return one line per delivered file name of a small release, with the deciding stage and outcome.

    If papers without a PDF exist, a last line counts them.
    """

    def read(table: Table[Any], key: str, value: str = "outcome", where: pc.Expression | None = None) -> dict[str, str]:
        return {row[key]: row[value] for row in run.table(table).rows([key, value], where=where)}

    selected, extracted = read(SELECTIONS, "file_sha1"), read(EXTRACTIONS, "file_sha1")
    filtered, in_s2orc = read(FILTERED, "paper_id"), pc.field("set") == "s2orc"
    cleaned, splits = read(DOCUMENTS, "paper_id", where=in_s2orc), read(SPLITS, "paper_id", "split", in_s2orc)
    rows = list(run.table(PAPERS).rows(["paper_id", "canonical_pdf", "title"]))
    papers = {row["canonical_pdf"]: row for row in rows if row["canonical_pdf"]}
    lines = []
    for pdf in run.table(PDFS).rows(["file_sha1", "places"]):
        paper = papers.get(sha1 := pdf["file_sha1"], {"paper_id": None, "title": None})
        id_ = paper["paper_id"]
        outcomes = {"select": selected[sha1], "extract": extracted.get(sha1)}
        outcomes |= {"filter": filtered[id_], "clean": cleaned.get(id_)} if id_ else {}
        decided = "another PDF of its paper is canonical" if id_ is None else f"document, {splits.get(id_)}"
        what = next((f"{stage}: {word}" for stage, word in outcomes.items() if word not in _GOOD), decided)
        for number, place in enumerate(pdf["places"]):
            same = f"the same file as {pdf['places'][0]['name']}" if number else what
            lines.append((place["name"], f"  {same[:60]:<28} {place['name'][-44:]:<44} {(paper['title'] or '')[:60]}"))
    report = ["Outcome of each PDF", "", *(line for _, line in sorted(lines))]
    if without := len(rows) - len(papers):
        counts = f"{len(rows)} papers: {len(papers)} with a PDF, {without} without"
        report += ["", f"  {counts}. A record of metadata without a PDF is a paper too."]
    return "\n".join(report)
