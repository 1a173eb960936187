"""What each page of releases shows, gathered for its template."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from release_page import charts
from release_page.releases import RATES, Archive, rates
from s2corpus.pipeline.funnel import Step, funnel

PER_PAGE = 25


def release_list(archive: Archive, visible: Callable[[str], bool], page: int) -> dict[str, Any]:
    """A page of the releases whose spec the user may see."""
    allowed: dict[str, bool] = {}
    ids = []
    for release in archive.ids():
        spec = release.spec
        if spec not in allowed:
            allowed[spec] = visible(spec)
        if allowed[spec]:
            ids.append(release)
    first = (page - 1) * PER_PAGE
    found = archive.releases(ids[first : first + PER_PAGE])
    by_spec: dict[str, list[Any]] = {}
    for each in found:
        by_spec.setdefault(each.spec, []).append(each)
    lines = {
        spec: charts.line(
            [(r.date, float(r.documents) if r.snapshot else None) for r in reversed(of)],
            f"documents over the releases of {spec}",
            share=False,
        )
        for spec, of in by_spec.items()
    }
    return {"by_spec": by_spec, "lines": lines, "page": page, "more": len(ids) > first + PER_PAGE}


def overview(archive: Archive, id_: str) -> dict[str, Any]:
    """One release: funnel, stages, rates over releases, what checks said, what changed."""
    release = archive.release(id_)
    metrics, verdicts = archive.metrics(id_), archive.verdicts(id_)
    stages = archive.stages(id_, metrics, verdicts)
    total = sum(stage.seconds or 0 for stage in stages)
    trend = archive.trend(id_)
    over = [(r.day, rates(metrics if r == id_ else archive.metrics(r))) for r in trend]
    said = [v for of in verdicts.values() for v in of]
    return {
        "release": release,
        "steps": _bars(funnel(metrics)),
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
        "passed": sum(v["verdict"] == "pass" for v in said),
        "notable": [v for v in said if v["verdict"] != "pass"],
        "diff": archive.diff(release.snapshot) if release.snapshot else None,
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
                date = release.day
                points.append((date, found["verdict"], found["offending"]) if found else (date, "", 0))
            label = f"{stage}.{verdict['check']} over {len(trend)} releases"
            rows.append((stage, verdict, charts.verdicts(points, label)))
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
        "folders": dict(sorted(folders.items())),
        "lines": archive.download_lines(release.snapshot, manifest) if release.snapshot and manifest else [],
    }


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
