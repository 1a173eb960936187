"""What each page of releases shows, gathered for its template."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from release_page import charts
from release_page.measures import HANDLES, RATES, handled, rates
from release_page.releases import Archive
from release_page.render import duration, rate, short, size, thousands
from release_page.states import Release, State
from s2corpus.datasets.shelf import datasets_of
from s2corpus.drops.standing import NAMES, Standing, standings
from s2corpus.ids import SnapshotId
from s2corpus.pipeline.acceptance import MIN_REASON
from s2corpus.pipeline.funnel import Step, build_funnel
from s2corpus.pipeline.stages import STAGE_NAMES

PER_PAGE = 25
MOST_WAITING = 20
"""releases that wait for a person and are shown on top"""
MOST_DROPS = 500
"""drops and deliveries, the last by name, of which the page says how they stand"""


def release_list(archive: Archive, visible: Callable[[str], bool], page: int) -> dict[str, Any]:
    """A page of the releases whose spec the user may see, those that wait for a person first."""
    may_see = cache(visible)
    ids = [release for release in archive.ids() if may_see(release.spec)]
    first = (page - 1) * PER_PAGE
    found = archive.releases(ids[first : first + PER_PAGE])
    by_spec: dict[str, list[Any]] = {}
    for each in found:
        by_spec.setdefault(each.spec, []).append(each)
    lines = {
        spec: charts.line(
            [(r.date, float(r.documents)) for r in reversed(of) if r.snapshot],
            f"documents over the releases of {spec}",
            thousands,
        )
        for spec, of in by_spec.items()
    }
    held = [release for release in archive.waiting() if release in set(ids)][:MOST_WAITING]
    others = archive.releases([release for release in held if release not in {r.id for r in found}])
    waiting = [r for r in (*found, *others) if r.state in (State.AWAITING, State.STOPPED)]
    return {
        "by_spec": by_spec,
        "lines": lines,
        "page": page,
        "more": len(ids) > first + PER_PAGE,
        "waiting": [(r, _stopping(archive, r)) for r in sorted(waiting, key=lambda r: r.state is State.STOPPED)],
    }


def _stopping(archive: Archive, release: Release) -> list[dict[str, Any]]:
    """The checks that stop a release."""
    said = [v for of in archive.verdicts(release.id).values() for v in of] if release.state is State.STOPPED else []
    return [v for v in said if v["verdict"] == "block" and not v["accepted"]]


def accept_line(archive: Archive, release: str, verdict: Mapping[str, Any]) -> str | None:
    """What to type to go on over what a check found; None where nothing is to be accepted, or nobody can."""
    may = verdict["severity"] == "warn" or verdict["overridable"]
    if verdict["verdict"] == "pass" or verdict["accepted"] or not may:
        return None
    why = f"<why, in at least {MIN_REASON} characters>"
    return f'corpus accept {release} {verdict["stage"]}.{verdict["check"]} --lake {archive.uri} --reason "{why}"'


def drops(archive: Archive, chosen: str, page: int) -> dict[str, Any]:
    """A page of the drops and deliveries and how they stand, newest name first; of one standing where it is chosen."""
    found = list(standings(archive.lake, paused=archive.drops_paused(), max_rows=MOST_DROPS))[::-1]
    counts = Counter(standing.name for standing in found)
    rows: list[Standing] = [standing for standing in found if chosen in ("", standing.name)]
    first = (page - 1) * PER_PAGE
    return {
        "counts": [(name, counts[name]) for name in NAMES if counts[name]],
        "chosen": chosen,
        "rows": rows[first : first + PER_PAGE],
        "page": page,
        "more": len(rows) > first + PER_PAGE,
        "most": MOST_DROPS if len(found) == MOST_DROPS else None,
    }


def over_releases(archive: Archive, id_: str) -> dict[str, Any]:
    """How large, fast and long the releases of a spec were, up to this one, oldest first."""
    trend = archive.trend(id_)
    metrics, seconds = {r: archive.metrics(r) for r in trend}, {r: archive.seconds(r) for r in trend}
    days = [(r, r.date) for r in trend]

    def totals(prefix: str) -> list[tuple[str, float | None]]:
        sums = [(d, metrics[r].get("export"), prefix) for r, d in days]
        return [(d, sum(v for n, v in m.items() if n.startswith(p)) if m else None) for d, m, p in sums]

    whole = [(d, sum(seconds[r].values()) if len(seconds[r]) == len(STAGE_NAMES) else None) for r, d in days]
    charted: list[tuple[str, list[tuple[str, float | None]], Callable[[float], str]]] = [
        ("Documents", totals("documents."), short),
        ("Words", totals("words."), short),
        ("Size", totals("bytes"), size),
        ("All stages together", whole, duration),
    ]

    def per_second(release: str, stage: str) -> float | None:
        took, n = seconds[release].get(stage), handled(stage, metrics[release].get(stage, {}))
        return n / took if took and n else None

    stages = []
    for stage in STAGE_NAMES:
        took = [(d, seconds[r].get(stage)) for r, d in days]
        rates_ = [(d, per_second(r, stage)) for r, d in days]
        stages.append(
            (
                stage,
                HANDLES[stage][0],
                took[-1][1],
                charts.line(took, f"{stage}: duration over releases", duration),
                rates_[-1][1],
                charts.line(rates_, f"{stage}: throughput over releases", rate),
            )
        )
    return {
        "release": archive.release(id_),
        "trend": trend,
        "charts": [
            (label, points[-1][1], written, charts.trend(points, f"{label} over {len(points)} releases", written))
            for label, points, written in charted
        ],
        "stages": stages,
    }


def overview(archive: Archive, id_: str) -> dict[str, Any]:
    """One release: funnel, stages, rates over releases, what checks said, what changed."""
    release = archive.release(id_)
    metrics, verdicts = archive.metrics(id_), archive.verdicts(id_)
    stages = archive.stages(id_, metrics, verdicts)
    total = sum(stage.seconds or 0 for stage in stages)
    trend = archive.trend(id_)
    over = [(r.date, rates(metrics if r == id_ else archive.metrics(r))) for r in trend]
    said = [v for of in verdicts.values() for v in of]
    diff = archive.diff(release.snapshot) if release.snapshot else None
    return {
        "release": release,
        "steps": _bars(build_funnel(metrics)),
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
                over[-1][1][label] if over else None,
                charts.line([(r, values[label]) for r, values in over], f"{label} over {len(over)} releases"),
            )
            for label in RATES
        ],
        "over": len(over),
        "passed": sum(v["verdict"] == "pass" for v in said),
        "notable": [(v, accept_line(archive, id_, v)) for v in said if v["verdict"] != "pass"],
        "diff": diff,
        "parent": _page_of(archive, diff["parent"]) if diff else None,
        "others": [r for r in archive.ids(release.spec) if r != id_][:PER_PAGE],
        "people": archive.people(id_),
        "yanked": archive.yanked(release.snapshot) if release.state == "yanked" and release.snapshot else None,
    }


def quality_table(archive: Archive, id_: str) -> dict[str, Any]:
    """Every check of a release, with what it said in the releases before."""
    trend = archive.trend(id_)
    over = {r: archive.verdicts(r) for r in trend}
    rows = []
    for stage, verdicts in over[id_].items() if id_ in over else ():
        for verdict in verdicts:
            points = []
            for release in trend:
                found = next((v for v in over[release].get(stage, ()) if v["check"] == verdict["check"]), None)
                points.append((release.date, found["verdict"], found["offending"]) if found else (release.date, "", 0))
            label = f"{stage}.{verdict['check']} over {len(trend)} releases"
            rows.append((stage, verdict, charts.verdicts(points, label), accept_line(archive, id_, verdict)))
    return {"release": archive.release(id_), "rows": rows, "trend": trend}


def snapshot(archive: Archive, id_: str) -> dict[str, Any]:
    """A release's snapshot: how to get it, what it is made from, its files by folder ("" for those beside the folders)."""
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
        "lines": archive.download_lines(release.snapshot, manifest) if release.snapshot and manifest else [],
        "datasets": datasets_of(archive.lake, release.snapshot) if release.snapshot and manifest else [],
    }


def _page_of(archive: Archive, snapshot: str | None) -> str | None:
    """The path of the release that made a snapshot, where its tables are still there."""
    if snapshot is None or not SnapshotId.known(snapshot):
        return None
    release = SnapshotId(snapshot).release
    return release.page_path if archive.has(release) else None


def _bars(steps: list[Step]) -> list[tuple[Step, Any, float | None]]:
    """Each step with its bar, as wide as its share of the first of its kind, and that share."""
    drawn = []
    whole = 0
    for step in steps:
        if step.starts:
            whole = step.count
        words = [(word, n, f"{word}: {n:,}") for word, n in step.left_out]
        parts = [("kept", f"{step.label}: {step.count:,}", float(step.count))]
        parts += [(f"left left{i % 2}", said, float(n)) for i, (_, n, said) in enumerate(words)]
        label = f"{step.label}: {step.count:,}" + (f"; left out {', '.join(w[2] for w in words)}" if words else "")
        drawn.append((step, charts.bar(parts, whole, label), step.count / whole if whole and not step.starts else None))
    return drawn
