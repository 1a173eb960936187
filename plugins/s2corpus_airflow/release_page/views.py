"""Collect the values of each template of the release pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from s2corpus.drops.standing import NAMES, DropStatus, iterate_drop_statuses
from s2corpus.ids import ReleaseId, SnapshotId
from s2corpus.pipeline.funnel import Step, build_funnel
from s2corpus.pipeline.stages import STAGE_NAMES, stage_row
from s2corpus.pipeline.summary import describe_scope
from s2corpus.rules import MIN_REASON
from s2corpus.snapshot.markers import explain_missing_parent, is_withdrawn
from s2corpus_airflow.release_page import charts
from s2corpus_airflow.release_page.measures import RATES, compute_rates, count_items
from s2corpus_airflow.release_page.releases import Archive
from s2corpus_airflow.release_page.render import duration, rate, short, size, thousands
from s2corpus_airflow.release_page.states import ListedRelease, ReleaseStatus
from s2corpus_datasets.shelf import list_datasets

PER_PAGE = 25
MOST_WAITING = 20
"""maximum number of releases in the section of releases that need a decision"""
MOST_DROPS = 500
"""maximum number of drops and deliveries on the page of drops; the last by name"""


def release_list(archive: Archive, visible: Callable[[str], bool], page: int) -> dict[str, Any]:
    """Return one page of the list of releases; releases that need a decision come first.

    `visible` returns whether the user may see the DAG of a spec.
    """
    may_see = cache(visible)
    ids = [release for release in archive.ids() if may_see(release.spec)]
    first = (page - 1) * PER_PAGE
    shown = archive.releases(ids[first : first + PER_PAGE])
    by_spec: dict[str, list[Any]] = {}
    for release in shown:
        by_spec.setdefault(release.spec, []).append(release)
    lines = {
        spec: charts.line(
            [(r.date, float(r.documents)) for r in reversed(releases) if r.snapshot],
            f"documents over the releases of {spec}",
            thousands,
        )
        for spec, releases in by_spec.items()
    }
    visible_ids, shown_ids = set(ids), {release.id for release in shown}
    undecided = [id_ for id_ in archive.list_undecided() if id_ in visible_ids][:MOST_WAITING]
    others = archive.releases([id_ for id_ in undecided if id_ not in shown_ids])
    waiting = [r for r in (*shown, *others) if r.state in (ReleaseStatus.AWAITING, ReleaseStatus.STOPPED)]
    return {
        "by_spec": by_spec,
        "lines": lines,
        "page": page,
        "more": len(ids) > first + PER_PAGE,
        "waiting": [
            (r, _list_blocking_checks(archive, r))
            for r in sorted(waiting, key=lambda r: r.state is ReleaseStatus.STOPPED)
        ],
    }


def _list_blocking_checks(archive: Archive, release: ListedRelease) -> list[dict[str, Any]]:
    """Return the verdicts of the checks that block a release."""
    if release.state is not ReleaseStatus.STOPPED:
        return []
    verdicts = (v for stage in archive.verdicts(release.id).values() for v in stage)
    return [v for v in verdicts if v["verdict"] == "block" and not v["accepted"]]


def format_accept_command(archive: Archive, release: str, verdict: Mapping[str, Any]) -> str | None:
    """Return the command that overrides a failed check; None if it passed, is accepted already, or cannot be overridden."""
    can_accept = verdict["severity"] == "warn" or verdict["overridable"]
    if verdict["verdict"] == "pass" or verdict["accepted"] or not can_accept:
        return None
    reason = f"<why, in at least {MIN_REASON} characters>"
    return f'corpus accept {release} {verdict["stage"]}.{verdict["check"]} --lake {archive.uri} --reason "{reason}"'


def drops(archive: Archive, chosen: str, page: int) -> dict[str, Any]:
    """Return one page of the drops and deliveries with their status, the last name first.

    `chosen` is the status to show; "" shows all.
    """
    statuses = list(iterate_drop_statuses(archive.lake, paused=archive.drops_paused(), max_rows=MOST_DROPS))[::-1]
    counts = Counter(status.name for status in statuses)
    rows: list[DropStatus] = [status for status in statuses if chosen in ("", status.name)]
    first = (page - 1) * PER_PAGE
    return {
        "counts": [(name, counts[name]) for name in NAMES if counts[name]],
        "chosen": chosen,
        "rows": rows[first : first + PER_PAGE],
        "page": page,
        "more": len(rows) > first + PER_PAGE,
        "most": MOST_DROPS if len(statuses) == MOST_DROPS else None,
    }


def trends(archive: Archive, id_: str) -> dict[str, Any]:
    """Return size, duration and throughput of the latest releases of a spec up to this release, oldest first."""
    trend = archive.trend(id_)
    metrics, seconds = {r: archive.metrics(r) for r in trend}, {r: archive.seconds(r) for r in trend}
    days = [(r, r.date) for r in trend]

    def totals(prefix: str) -> list[tuple[str, float | None]]:
        exported = [(day, metrics[r].get("export", {})) for r, day in days]
        return [(day, sum(v for n, v in m.items() if n.startswith(prefix)) if m else None) for day, m in exported]

    durations = [(d, sum(seconds[r].values()) if len(seconds[r]) == len(STAGE_NAMES) else None) for r, d in days]
    charted: list[tuple[str, list[tuple[str, float | None]], Callable[[float], str]]] = [
        ("Documents", totals("documents."), short),
        ("Words", totals("words."), short),
        ("Size", totals("bytes"), size),
        ("All stages together", durations, duration),
    ]

    def per_second(release: ReleaseId, stage: str) -> float | None:
        elapsed, n = seconds[release].get(stage), count_items(stage, metrics[release].get(stage, {}))
        return n / elapsed if elapsed and n else None

    stages = []
    for stage in STAGE_NAMES:
        elapsed = [(d, seconds[r].get(stage)) for r, d in days]
        rates_ = [(d, per_second(r, stage)) for r, d in days]
        stages.append(
            (
                stage,
                stage_row(stage).items[0],
                elapsed[-1][1],
                charts.line(elapsed, f"{stage}: duration over releases", duration),
                rates_[-1][1],
                charts.line(rates_, f"{stage}: throughput over releases", rate),
            )
        )
    return {
        "release": archive.release(id_),
        "trend": trend,
        "charts": [
            (label, points[-1][1], format_, charts.trend(points, f"{label} over {len(points)} releases", format_))
            for label, points, format_ in charted
        ],
        "stages": stages,
    }


def overview(archive: Archive, id_: ReleaseId) -> dict[str, Any]:
    """Return the overview of a release: funnel, stages, rates over releases, failed checks and changes."""
    release = archive.release(id_)
    metrics, verdicts = archive.metrics(id_), archive.verdicts(id_)
    stages = archive.stages(id_, metrics, verdicts)
    total = sum(stage.seconds or 0 for stage in stages)
    trend = archive.trend(id_)
    rates_by_release = [(r.date, compute_rates(metrics if r == id_ else archive.metrics(r))) for r in trend]
    checks = [v for stage_verdicts in verdicts.values() for v in stage_verdicts]
    diff = archive.diff(release.snapshot) if release.snapshot else None
    return {
        "release": release,
        "steps": _draw_bars(build_funnel(metrics)),
        "stages": [
            (
                stage,
                charts.bar([("kept", "", stage.seconds or 0)], total, f"{stage.name}: share of the time")
                if stage.seconds is not None
                else "",
            )
            for stage in stages
        ],
        "total": total,
        "rates": [
            (
                label,
                rates_by_release[-1][1][label] if rates_by_release else None,
                charts.line(
                    [(r, values[label]) for r, values in rates_by_release], f"{label} over {len(trend)} releases"
                ),
            )
            for label in RATES
        ],
        "over": len(trend),
        "passed": sum(v["verdict"] == "pass" for v in checks),
        "notable": [(v, format_accept_command(archive, id_, v)) for v in checks if v["verdict"] != "pass"],
        "diff": diff,
        "scope": describe_scope(archive.lake, id_),
        "no_parent": explain_missing_parent(archive.lake, release.id) if release.snapshot and not diff else "",
        "is_parent_withdrawn": is_withdrawn(archive.lake, diff["parent"]) if diff else False,
        "parent": _link_page(archive, diff["parent"]) if diff else None,
        "others": [r for r in archive.ids(release.spec) if r != id_][:PER_PAGE],
        "approvals": archive.approvals(id_),
        "yanked": archive.read_yank(release.snapshot) if release.state == "yanked" and release.snapshot else None,
    }


def quality_table(archive: Archive, id_: str) -> dict[str, Any]:
    """Return every check of a release with its verdicts in earlier releases."""
    trend = archive.trend(id_)
    over: dict[str, dict[str, list[dict[str, Any]]]] = {r: archive.verdicts(r) for r in trend}
    rows = []
    for stage, verdicts in over[id_].items() if id_ in over else ():
        for verdict in verdicts:
            points = []
            for release in trend:
                found = next((v for v in over[release].get(stage, ()) if v["check"] == verdict["check"]), None)
                points.append((release.date, found["verdict"], found["offending"]) if found else (release.date, "", 0))
            label = f"{stage}.{verdict['check']} over {len(trend)} releases"
            rows.append((stage, verdict, charts.verdicts(points, label), format_accept_command(archive, id_, verdict)))
    return {"release": archive.release(id_), "rows": rows, "trend": trend}


def snapshot(archive: Archive, id_: str) -> dict[str, Any]:
    """Return the snapshot of a release: manifest, tables, files by folder ("" is the top folder), download commands and datasets."""
    release = archive.release(id_)
    manifest = archive.manifest(release.snapshot) if release.snapshot else None
    folders: dict[str, list[dict[str, Any]]] = {}
    for file in manifest["files"] if manifest else ():
        folders.setdefault(file["path"].rpartition("/")[0], []).append({"rows": None, **file})
    return {
        "release": release,
        "manifest": manifest,
        "tables": archive.tables(release.snapshot) if release.snapshot and manifest else [],
        "folders": dict(sorted(folders.items())),
        "lines": archive.list_download_commands(release.snapshot, manifest) if release.snapshot and manifest else [],
        "datasets": list_datasets(archive.lake, release.snapshot) if release.snapshot and manifest else [],
    }


def _link_page(archive: Archive, snapshot: str | None) -> str | None:
    """Return the path of the release that built a snapshot; None if the release was deleted."""
    if snapshot is None or not SnapshotId.is_valid(snapshot):
        return None
    release = SnapshotId(snapshot).release
    return release.page_path if archive.has(release) else None


def _draw_bars(steps: list[Step]) -> list[tuple[Step, Any, float | None]]:
    """Return each step with its bar and its fraction of the first step of its group (None for the first step)."""
    bars = []
    total = 0
    for step in steps:
        if step.starts:
            total = step.count
        words = [(word, n, f"{word}: {n:,}") for word, n in step.left_out]
        parts = [("kept", f"{step.label}: {step.count:,}", float(step.count))]
        parts += [(f"excluded excluded{i % 2}", text, float(n)) for i, (_, n, text) in enumerate(words)]
        label = f"{step.label}: {step.count:,}" + (f"; excluded {', '.join(w[2] for w in words)}" if words else "")
        whole = max(total, sum(n for _, _, n in parts))
        bars.append((step, charts.bar(parts, whole, label), step.count / total if total and not step.starts else None))
    return bars
