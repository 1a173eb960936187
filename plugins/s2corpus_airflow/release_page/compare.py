"""Compare two releases of a spec."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from s2corpus.pipeline.funnel import Step, build_funnel
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus_airflow.release_page.measures import compute_rates
from s2corpus_airflow.release_page.releases import Archive


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
    provenance = [_read_provenance(manifest) for manifest in manifests]
    return {
        "releases": releases,
        "steps": _compare_steps(build_funnel(metrics[0]), build_funnel(metrics[1])),
        "rates": [ComparedNumber(label, shares[0][label], shares[1][label]) for label in shares[0]],
        "seconds": [
            ComparedNumber(s, seconds[0].get(s), seconds[1].get(s))
            for s in STAGE_NAMES
            if s in seconds[0] or s in seconds[1]
        ],
        "checks": _checks(archive, before, after),
        "provenance": [
            (name, provenance[0].get(name), provenance[1].get(name))
            for name in dict.fromkeys((*provenance[0], *provenance[1]))
            if provenance[0].get(name) != provenance[1].get(name)
        ],
    }


def _compare_steps(before: list[Step], after: list[Step]) -> list[ComparedNumber]:
    """Return the funnel's counts in the order of the newer release, with each reason for exclusion below its step."""
    counts = [{step.label: {"": step.count, **dict(step.left_out)} for step in steps} for steps in (before, after)]
    numbers = []
    for label in dict.fromkeys((*counts[1], *counts[0])):
        steps = [of_release.get(label) for of_release in counts]
        for reason in dict.fromkeys((*(steps[1] or ()), *(steps[0] or ()))):
            old, new = (None if step is None else step.get(reason, 0) for step in steps)
            numbers.append(ComparedNumber(reason or label, old, new, starts=not reason))
    return numbers


def _checks(
    archive: Archive, before: str, after: str
) -> list[tuple[str, dict[str, Any] | None, dict[str, Any] | None]]:
    """Return the checks with different results, by name."""
    verdicts = [
        {f"{v['stage']}.{v['check']}": v for stage in archive.verdicts(release).values() for v in stage}
        for release in (before, after)
    ]
    names = dict.fromkeys((*verdicts[1], *verdicts[0]))
    both = [(name, verdicts[0].get(name), verdicts[1].get(name)) for name in names]
    return [
        (name, one, other)
        for name, one, other in both
        if one is None or other is None or (one["verdict"], one["offending"]) != (other["verdict"], other["offending"])
    ]


def _read_provenance(manifest: dict[str, Any] | None) -> dict[str, Any]:
    if manifest is None:
        return {}
    return {"inputs": manifest["inputs"], "drops": manifest.get("drops"), **manifest["versions"], **manifest["rules"]}
