"""Report the outcome of each delivered PDF of a small release."""

from __future__ import annotations

from s2corpus.pipeline.run import Run
from s2corpus.tables.intake import PDFS
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.parses import EXTRACTIONS, SELECTIONS
from s2corpus.tables.texts import DOCUMENTS, FILTERED, SPLITS


def format_papers_report(run: Run) -> str:
    """Return one line per delivered file name of a small release, with the deciding stage and outcome.

    If papers without a PDF exist, a last line counts them.
    """
    selections = {row["file_sha1"]: row["outcome"] for row in run.table(SELECTIONS).rows(["file_sha1", "outcome"])}
    extracted = {row["file_sha1"]: row["outcome"] for row in run.table(EXTRACTIONS).rows(["file_sha1", "outcome"])}
    rows = list(run.table(PAPERS).rows(["paper_id", "canonical_pdf", "title"]))
    papers = {row["canonical_pdf"]: row for row in rows if row["canonical_pdf"]}
    kept = {row["paper_id"]: row["outcome"] for row in run.table(FILTERED).rows(["paper_id", "outcome"])}
    documents = {
        row["paper_id"]: row["outcome"]
        for row in run.table(DOCUMENTS).rows(["paper_id", "set", "outcome"])
        if row["set"] == "s2orc"
    }
    splits = {
        row["paper_id"]: row["split"]
        for row in run.table(SPLITS).rows(["paper_id", "set", "split"])
        if row["set"] == "s2orc"
    }
    lines = []
    for pdf in run.table(PDFS).rows(["file_sha1", "places"]):
        sha1, paper = pdf["file_sha1"], papers.get(pdf["file_sha1"])
        if selections[sha1] != "selected":
            what = f"select: {selections[sha1]}"
        elif extracted[sha1] != "ok":
            what = f"extract: {extracted[sha1]}"
        elif paper is None:
            what = "another PDF of its paper is canonical"
        elif kept[paper["paper_id"]] != "kept":
            what = f"filter: {kept[paper['paper_id']]}"
        elif documents[paper["paper_id"]] != "kept":
            what = f"clean: {documents[paper['paper_id']]}"
        else:
            what = f"document, {splits[paper['paper_id']]}"
        title = (paper and paper["title"]) or ""
        for number, place in enumerate(pdf["places"]):
            same = f"the same file as {pdf['places'][0]['name']}" if number else what
            lines.append((place["name"], f"  {same[:60]:<28} {place['name'][-44:]:<44} {title[:60]}"))
    report = ["Outcome of each PDF", "", *(line for _, line in sorted(lines))]
    if without := len(rows) - len(papers):
        report += [
            "",
            f"  {len(rows)} papers: {len(papers)} with a PDF, {without} without. A record of metadata without a PDF is a paper too.",
        ]
    return "\n".join(report)
