"""Compare two releases of a spec."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from release_page.measures import compute_rates
from release_page.releases import Archive
from s2corpus.pipeline.funnel import Step, build_funnel
from s2corpus.pipeline.stages import STAGE_NAMES


@dataclass(frozen=True, slots=True)
class ComparedNumber:
    """One number in both releases; None if a release has not reached the step."""

    label: str
    before: float | None
    after: float | None
    starts: bool = False

    @property
    def change(self) -> float | None:
        """The second number minus the first."""
        return None if self.before is None or self.after is None else self.after - self.before


def compare(archive: Archive, before: str, after: str) -> dict[str, Any]:
    """Return the counts, rates and durations of two releases, and the checks and inputs that differ."""
    metrics = archive.metrics(before), archive.metrics(after)
    seconds = archive.seconds(before), archive.seconds(after)
    shares = compute_rates(metrics[0]), compute_rates(metrics[1])
    releases = archive.release(before), archive.release(after)
    manifests = [archive.manifest(release.snapshot) if release.snapshot else None for release in releases]
    made = [_made_from(manifest) for manifest in manifests]
    return {
        "releases": releases,
        "steps": _lines(build_funnel(metrics[0]), build_funnel(metrics[1])),
        "rates": [ComparedNumber(label, shares[0][label], shares[1][label]) for label in shares[0]],
        "seconds": [
            ComparedNumber(s, seconds[0].get(s), seconds[1].get(s))
            for s in STAGE_NAMES
            if s in seconds[0] or s in seconds[1]
        ],
        "checks": _checks(archive, before, after),
        "made": [
            (name, made[0].get(name), made[1].get(name))
            for name in dict.fromkeys((*made[0], *made[1]))
            if made[0].get(name) != made[1].get(name)
        ],
    }


def _lines(before: list[Step], after: list[Step]) -> list[ComparedNumber]:
    """Return the funnel's counts, with each reason for exclusion below its step."""
    counts = [_counts(before), _counts(after)]
    labels = dict.fromkeys((*counts[1], *counts[0]))  # in the order of the newer release
    there = [{label for label, _ in of} for of in counts]

    def count(side: int, label: str, reason: str) -> int | None:
        return counts[side].get((label, reason), 0) if label in there[side] else None

    return [
        ComparedNumber(reason or label, count(0, label, reason), count(1, label, reason), starts=not reason)
        for label, reason in sorted(labels, key=lambda key: [label for label, _ in labels].index(key[0]))
    ]


def _counts(steps: list[Step]) -> dict[tuple[str, str], int]:
    return {
        (step.label, reason): n
        for step in steps
        for reason, n in (("", step.count), *((w, n) for w, n in step.left_out))
    }


def _checks(
    archive: Archive, before: str, after: str
) -> list[tuple[str, dict[str, Any] | None, dict[str, Any] | None]]:
    """Return the checks with different results, by name."""
    found = [
        {f"{v['stage']}.{v['check']}": v for said in archive.verdicts(release).values() for v in said}
        for release in (before, after)
    ]
    names = dict.fromkeys((*found[1], *found[0]))
    both = [(name, found[0].get(name), found[1].get(name)) for name in names]
    return [
        (name, one, other)
        for name, one, other in both
        if one is None or other is None or (one["verdict"], one["offending"]) != (other["verdict"], other["offending"])
    ]


def _made_from(manifest: dict[str, Any] | None) -> dict[str, Any]:
    if manifest is None:
        return {}
    return {"inputs": manifest["inputs"], "drops": manifest.get("drops"), **manifest["versions"], **manifest["rules"]}
