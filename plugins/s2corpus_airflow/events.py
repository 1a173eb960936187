"""Events of published snapshots: a contract with consumers (SPEC §10.18).

Persons can create events with any content in Airflow's UI. Consumers therefore read `latest.json`, and use an event only as a signal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

MAX_EARLIER_EVENTS = 1_000


def describe_publication(run: Any, sequence: int) -> dict[str, Any]:
    """Return the content of a snapshot's events. `sequence` is the number of the last move of `latest.json`."""
    from s2corpus.snapshot.pointer import published_manifest_sha256

    return {
        "release": str(run.release_id),
        "snapshot": str(run.snapshot_id),
        "manifest": run.lake.uri(f"snapshots/{run.snapshot_id}/manifest.json"),
        "manifest_sha256": published_manifest_sha256(run.lake, run.snapshot_id),
        "sequence": sequence,
    }


def has_content(events: Iterable[Any]) -> bool:
    """Return whether a release sent one of the events."""
    return any(_is_sent_by_a_release(event) for event in events)


def was_sent(events: Any, **content: Any) -> bool:
    """Return whether one of the newest events of an asset (`inlet_events[asset]`) has this content.

    A release whose task was killed after it moved the pointer therefore sends its event later, and a repeated release sends none.
    """
    newest = events.ascending(False).limit(MAX_EARLIER_EVENTS)
    return any(_is_sent_by_a_release(event) and content.items() <= event.extra.items() for event in newest)


def _is_sent_by_a_release(event: Any) -> bool:
    extra = event.extra or {}
    return "sequence" in extra and not extra.get("from_rest_api")
