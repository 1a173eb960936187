"""Readable summary of a finished release: the funnel, the snapshot, and how to read a document."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress

import orjson
import pyarrow.compute as pc
import pyarrow.dataset as ds

from s2corpus.errors import UserError
from s2corpus.ids import ReleaseId
from s2corpus.outcomes import Split
from s2corpus.pipeline import quality, sealed
from s2corpus.pipeline.funnel import SETS, build_funnel
from s2corpus.pipeline.run import Metrics, Run
from s2corpus.snapshot import markers
from s2corpus.storage.lake import Lake, open_lake
from s2corpus_reader.escaping import escape_markdown

_PUBLISHED = tuple(split for split in Split if split.is_kept)

_SHOWN = 5
"""number of a check's rows that the summary shows"""


def format_summary(run: Run, *, command: str = "corpus") -> str:
    """Return the summary of a release as text. All numbers are metrics; no table is read."""
    metrics = quality.read_metrics(run)
    lines = [
        f"Release {run.release_id}",
        *(f"  {sentence}" for sentence in describe_scope(run.lake, run.release_id)),
        "",
    ]
    if lost := list_losses(run):
        lines += [f"  Counts below {run.parent}", *(f"    {line}" for line in lost), ""]
    lines += ["  Funnel", *(f"    {label:<34}{value}" for label, value in _format_funnel(metrics))]
    failed = []
    for v in _list_failed_checks(run):
        override = f"; overridden: {v.accepted}" if v.accepted else ""
        failed.append(f"{v.stage}.{v.check}: {v.offending} ({v.reason}){override}")
        if v.stage == "intake":  # rows that show deliverers the errors in their deliveries
            failed += [f"  {', '.join(str(value) for value in row.values() if value)}" for row in v.rows[:_SHOWN]]
    lines += ["", f"  Checks       {'all passed' if not failed else ''}", *(f"    {line}" for line in failed)]
    address = run.lake.uri(f"snapshots/{run.snapshot_id}/")
    lines += ["", f"  Snapshot     {address}", f"  Read a text  {command} read {address} --sample 1 --text"]
    return "\n".join(lines)


def describe_scope(lake: Lake, release: ReleaseId) -> list[str]:
    """Return a sentence about a run that is a trial on chosen drops: its contents, and the drops that it leaves out."""
    try:
        record = sealed.read_record(lake, release)
    except UserError:
        return []
    if not record.is_trial:
        return []
    names, n = record.left_out[:_SHOWN], len(record.left_out)
    more = f" and {n - len(names)} more" if n > len(names) else ""
    left_out = f"leaves out {', '.join(names)}{more}" if names else f"leaves out no other drop of {release.spec}"
    return [f"It is a trial on the drops {', '.join(record.drops or ())}: it {left_out}. Only a person publishes it."]


def _list_failed_checks(run: Run) -> list[quality.CheckVerdict]:
    return [v for verdicts in quality.read_verdicts(run).values() for v in verdicts if v.verdict != "pass"]


def _format_funnel(metrics: Mapping[str, Metrics]) -> list[tuple[str, str]]:
    """Return labels and values of the funnel's bars, followed by totals of the papers' content."""
    rows = []
    for step in build_funnel(metrics):
        excluded = "; ".join(f"{outcome} {n}" for outcome, n in step.left_out)
        rows.append((step.label, f"{step.count}" + (f"   excluded: {excluded}" if excluded else "")))
    for label, stage, *names in (
        ("Records of sources", "intake", "records"),
        ("Bibliography entries", "assemble", "rows.entries"),
        ("linked", "link", "linked"),
        *((f"Words of {set_}", "export", *(f"words.{set_}.{split}" for split in _PUBLISHED)) for set_ in SETS),
    ):
        values = metrics.get(stage, {})
        rows.append((label, f"{int(sum(values.get(name, 0) for name in names))}"))
    return rows


def list_losses(run: Run) -> list[str]:
    """Return one line for each count below the parent's, greatest loss first; return no lines without a parent."""
    before, now = quality.parent_metrics(run), quality.read_metrics(run)
    if run.parent is not None:
        stats = quality.read_of_parent(run, "stats.json")
        sets = stats.get("sets", {}).items()
        documents = {f"documents.{s}.{split}": n["documents"] for s, splits in sets for split, n in splits.items()}
        before = {**before, "export": documents}
    losses, moves = [], _count_moves(run)
    for label, stage, name in (
        ("PDFs", "intake", "pdfs"),
        ("papers", "vote", "rows.papers"),
        *((f"documents of {s} {split}", "export", f"documents.{s}.{split}") for s in SETS for split in _PUBLISHED),
    ):
        had, has = int(before.get(stage, {}).get(name, 0)), int(now.get(stage, {}).get(name, 0))
        if has < had:
            why = "; ".join(f"{reason} {n:,}" for reason, n in sorted(moves[label].items()))
            line = f"{label}: {had:,} → {has:,} ({(has - had) / had:+.1%})"
            losses.append(((had - has) / had, f"{line}: {why}" if why else line))
    return [line for _, line in sorted(losses, key=lambda item: (-item[0], item[1]))]


def _count_moves(run: Run) -> dict[str, Counter[str]]:
    """Return where the documents of the parent's sets and splits are now, or why they are gone; nothing before export."""
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    with suppress(UserError, FileNotFoundError):
        snapshot = open_lake(run.lake.uri(f"snapshots/{run.snapshot_id}"))
        if run.parent is None or snapshot.size("changes.parquet") is None:
            return counted
        fs, root = snapshot.filesystem()
        columns = ["change", "set", "split", "former_set", "former_split", "reason"]
        rows = ds.dataset(f"{root}changes.parquet", filesystem=fs, format="parquet")
        for batch in rows.to_batches(columns=columns, filter=pc.field("change").isin(["moved", "removed"])):
            for row in batch.to_pylist():
                reason = (
                    f"moved to {row['set']} {row['split']}" if row["change"] == "moved" else f"removed, {row['reason']}"
                )
                counted[f"documents of {row['former_set']} {row['former_split']}"][reason] += 1
    return counted


def format_approval_request(run: Run, excluded: Mapping[str, str]) -> str:
    """Return the approval request for a release in Markdown.

    It contains the documents, the changes, the results of the checks, links, and the people who may not approve
    (`excluded`: name → reason). Airflow shows every answer as accepted, so they must be listed before they answer.
    """
    snapshot = f"snapshots/{run.snapshot_id}"
    stats = orjson.loads(run.lake.get(f"{snapshot}/stats.json")[0])
    lost = list_losses(run)
    lines = [
        *([f"**Counts below its parent `{run.parent}`:**", "", *(f"- {line}" for line in lost), ""] if lost else []),
        f"**{run.snapshot_id}** contains deliveries that were ready before {run.as_of:%Y-%m-%d %H:%M} UTC. "
        "It remains unpublished if it is rejected or not answered in time.",
        *describe_scope(run.lake, run.release_id),
        "",
        *(f"- {_code(name)} may not approve it ({_code(did)}). If they approve it, Airflow first shows the approval "
          "as accepted, then asks again. They may reject it."
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
        lines.append(markers.explain_missing_parent(run.lake, run.release_id))
    else:
        changes = orjson.loads(run.lake.get(f"{snapshot}/diff.json")[0])
        since = ", which was withdrawn" if markers.is_withdrawn(run.lake, run.parent) else ""
        lines += [f"Documents since its parent `{run.parent}`{since}:", ""]
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
    failed_checks = _list_failed_checks(run)
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
