"""Find the inputs of a release other than the deliveries: the lists of operators, the parent, and the people who delivered."""

from __future__ import annotations

import hashlib
from fnmatch import fnmatchcase
from typing import Literal

from s2corpus.deliveries.ready import Delivery, iso
from s2corpus.errors import UserError
from s2corpus.ids import SnapshotId
from s2corpus.papers.corrections import FILE, read_corrections
from s2corpus.pipeline.run import Run
from s2corpus.snapshot.markers import list_published
from s2corpus.storage.lake import NotALakeFile


def _read_list(run: Run, name: str) -> bytes:
    """Return the content of a list of operators at the top of the lake; nothing if it is missing."""
    try:
        return run.lake.get(name)[0]
    except NotALakeFile:
        raise
    except FileNotFoundError:
        return b""


def copy_suppressions(run: Run) -> str:
    """Copy `suppress.jsonl` to the release and return its SHA-256; return an empty text if the file is missing."""
    data = _read_list(run, "suppress.jsonl")
    run.lake.put(f"releases/{run.release_id}/suppress.jsonl", data)
    return hashlib.sha256(data).hexdigest() if data else ""


def copy_corrections(run: Run, parent: str | None) -> tuple[str, dict[str, str]]:
    """Copy the corrections that were ready before `as_of` to the release; return their SHA-256, and who wrote them after the parent."""
    lines = read_corrections(_read_list(run, FILE), iso(run.as_of))
    data = b"".join(line.as_line() for line in lines)
    run.lake.put(f"releases/{run.release_id}/{FILE}", data)
    since = iso(SnapshotId(parent).release.as_of) if parent else ""
    return hashlib.sha256(data).hexdigest() if data else "", {line.by: FILE for line in lines if line.ready_at >= since}


def check_patterns(run: Run, delivered: list[tuple[Literal["drop", "delivery"], str, str]]) -> None:
    """Raise UserError for a drop pattern without a matching drop; a mistyped pattern would publish an empty corpus.

    `*` needs no match if metadata was delivered, because a corpus of abstracts has no drops.
    """
    drops = [id_ for kind, _, id_ in delivered if kind == "drop"]
    for pattern in run.spec.drops:
        if not any(fnmatchcase(drop, pattern) for drop in drops) and not (pattern == "*" and delivered):
            existing = ", ".join(drops[:5]) + (f" and {len(drops) - 5} more" if len(drops) > 5 else "")
            raise UserError(
                f"drops: the pattern {pattern!r} of spec {run.spec.name} matches no drop in {run.lake.uri('drops/')}; "
                f"existing drops: {existing or 'none'}. Correct the pattern, or deliver first (docs/drops.md)"
            )


def list_deliverers(taken: list[Delivery], parent: str | None) -> dict[str, str]:
    """Return the people who delivered something after the parent release, each with the first folder."""
    since = iso(SnapshotId(parent).release.as_of) if parent else ""
    found: dict[str, str] = {}
    for delivery in sorted(taken, key=lambda delivery: (delivery.ready_at, delivery.folder)):
        if delivery.by and delivery.ready_at >= since:
            found.setdefault(delivery.by, delivery.folder.rstrip("/"))
    return found


def find_parent(run: Run) -> str | None:
    """Return the newest snapshot of the spec before this release that is published and not yanked."""
    earlier = [id_ for id_ in list_published(run.lake, run.spec.name) if id_.release.day < run.release_id.day]
    return earlier[-1] if earlier else None
