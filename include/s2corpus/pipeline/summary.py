"""Readable summary of a finished release: the funnel, the snapshot, and how to read a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import orjson

from s2corpus.escaping import escape_markdown
from s2corpus.pipeline import quality
from s2corpus.pipeline.funnel import PUBLISHED, SETS, build_funnel
from s2corpus.pipeline.run import Metrics, Run
from s2corpus.tables import DOCUMENTS, EXTRACTIONS, FILTERED, PAPERS, PDFS, SELECTIONS, SPLITS

_SHOWN = 5
"""number of a check's rows that the summary shows"""


def format_summary(run: Run, *, command: str = "corpus") -> str:
    """Return the summary of a release as text; all numbers come from metrics."""
    metrics = quality.read_metrics(run)
    lines = [f"Release {run.release_id}", ""]
    if lost := list_losses(run):
        lines += [f"  Fewer than {run.parent}", *(f"    {line}" for line in lost), ""]
    lines += ["  Funnel"]
    lines += [f"    {label:<34}{value}" for label, value in _format_funnel(metrics)]
    warned = []
    for v in (v for verdicts in quality.read_verdicts(run).values() for v in verdicts if v.verdict != "pass"):
        accepted = f"; overridden: {v.accepted}" if v.accepted else ""
        warned.append(f"{v.stage}.{v.check}: {v.offending} ({v.reason}){accepted}")
        if v.stage == "intake":  # rows that show deliverers the errors in their deliveries
            warned += [f"  {', '.join(str(value) for value in row.values() if value)}" for row in v.rows[:_SHOWN]]
    lines += ["", f"  Checks       {'all passed' if not warned else ''}", *(f"    {line}" for line in warned)]
    address = run.lake.uri(f"snapshots/{run.snapshot_id}/")
    lines += ["", f"  Snapshot     {address}", f"  Read one     {command} read {address} --sample 1 --text"]
    return "\n".join(lines)


def _format_funnel(metrics: Mapping[str, Metrics]) -> list[tuple[str, str]]:
    """Return labels and values of the funnel's bars, followed by totals of the papers' content."""
    rows = []
    for step in build_funnel(metrics):
        left = "; ".join(f"{word} {n}" for word, n in step.left_out)
        rows.append((step.label, f"{step.count}" + (f"   not: {left}" if left else "")))
    for label, stage, *names in (
        ("Records of sources", "intake", "records"),
        ("Bibliography entries", "assemble", "rows.entries"),
        ("linked", "link", "linked"),
        *((f"Words of {set_}", "export", *(f"words.{set_}.{split}" for split in PUBLISHED)) for set_ in SETS),
    ):
        values = metrics.get(stage, {})
        rows.append((label, f"{int(sum(values.get(name, 0) for name in names))}"))
    return rows


def list_losses(run: Run) -> list[str]:
    """Return one line for each count that is smaller than the parent's, greatest loss first; return nothing without a
    parent.
    """
    before, now = quality.parent_metrics(run), quality.read_metrics(run)
    if run.parent is not None:
        stats = orjson.loads(run.lake.get(f"snapshots/{run.parent}/stats.json")[0])
        counted = {
            f"documents.{s}.{split}": n["documents"]
            for s, of in stats.get("sets", {}).items()
            for split, n in of.items()
        }
        before = {**before, "export": counted}
    found = []
    for label, stage, name in (
        ("PDFs", "intake", "pdfs"),
        ("papers", "vote", "rows.papers"),
        *((f"documents of {s} {split}", "export", f"documents.{s}.{split}") for s in SETS for split in PUBLISHED),
    ):
        had, has = int(before.get(stage, {}).get(name, 0)), int(now.get(stage, {}).get(name, 0))
        if has < had:
            found.append(((had - has) / had, f"{label}: {had:,} → {has:,} ({(has - had) / had:+.1%})"))
    return [line for _, line in sorted(found, key=lambda item: (-item[0], item[1]))]


def format_approval_request(run: Run, excluded: Mapping[str, str]) -> str:
    """Return the approval request for a release in Markdown.

    It contains the documents, the changes, the results of the checks, links, and the people who may not approve
    (`excluded`: name → reason). Airflow displays every answer as accepted, so the people must know this before they answer.
    """
    snapshot = f"snapshots/{run.snapshot_id}"
    stats = orjson.loads(run.lake.get(f"{snapshot}/stats.json")[0])
    lost = list_losses(run)
    lines = [
        *([f"**Fewer than its parent `{run.parent}`:**", "", *(f"- {line}" for line in lost), ""] if lost else []),
        f"**{run.snapshot_id}** contains deliveries that were ready before {run.as_of:%Y-%m-%d %H:%M} UTC. "
        "It remains unpublished if it is rejected or not answered in time.",
        "",
        *(f"- {_code(name)} {_code(did)}: their approval is refused; they can reject it."
          for name, did in sorted(excluded.items())),
        *([""] if excluded else []),
        *_table("documents", "words", [
            (f"{set_} {split}", counted["documents"], counted["words"])
            for set_, splits in stats["sets"].items()
            for split, counted in splits.items()
        ]),
        "",
    ]  # fmt: skip
    if run.parent is None:
        lines.append("It has no parent: it is the first snapshot of its spec, or all earlier snapshots were withdrawn.")
    else:
        changes = orjson.loads(run.lake.get(f"{snapshot}/diff.json")[0])
        lines += [f"Documents since its parent `{run.parent}`:", ""]
        lines += _table("s2orc", "s2ag", [
            (change, changes[change]["documents"].get("s2orc", 0), changes[change]["documents"].get("s2ag", 0))
            for change in ("added", "removed", "moved", "changed", "same")
        ])  # fmt: skip
    lines += [
        "",
        "Funnel:",
        "",
        *(f"- {label}: {escape_markdown(value)}" for label, value in _format_funnel(quality.read_metrics(run))),
    ]
    failed_checks = [v for verdicts in quality.read_verdicts(run).values() for v in verdicts if v.verdict != "pass"]
    lines += ["", "Failed checks:" if failed_checks else "All checks passed.", ""]
    for v in failed_checks:
        overridden = (
            f"; overridden by {escape_markdown(v.accepted_by)}: {escape_markdown(v.accepted)}" if v.accepted else ""
        )
        lines.append(f"- {v.verdict} `{v.stage}.{v.check}`: {v.offending} ({escape_markdown(v.reason)}){overridden}")
    lines += ["", f"The data card: `{run.lake.uri(f'{snapshot}/README.md')}`"]
    return "\n".join(lines)


def _code(text: str) -> str:
    """Return text of a delivery as a Markdown code span, so that it cannot contain markup."""
    return f"`{' '.join(text.replace('`', chr(39)).split())}`"


def _table(first: str, second: str, rows: Iterable[tuple[str, int, int]]) -> list[str]:
    return [
        f"| | {first} | {second} |",
        "|---|---:|---:|",
        *(f"| {label} | {one:,} | {two:,} |" for label, one, two in rows),
    ]


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
