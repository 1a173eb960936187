"""The drops and deliveries that a release needs, and waits for (`schedule.expects`, SPEC §0.22)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import orjson

from s2corpus.deliveries.ready import folder_of
from s2corpus.errors import UserError
from s2corpus.ids import ReleaseId
from s2corpus.spec import ReleaseSpec
from s2corpus.storage.lake import Lake
from s2corpus_reader.bounded import read_object

_MAX_BYTES = 1 << 20


def list_expected(spec: ReleaseSpec, as_of: datetime) -> dict[str, str]:
    """Return the folder of each drop and delivery that a release needs, by name.

    Raises:
        UserError: the spec's drops or sources do not select one of them, so the release would never contain it.
    """
    found = {}
    for name in spec.schedule.list_expected(as_of):
        source, is_delivery, id_ = name.rpartition("/")
        if not (spec.selects_delivery(source, id_) if is_delivery else spec.selects_drop(id_)):
            field = f"sources: {list(spec.sources)}" if is_delivery else f"drops: {list(spec.drops)}"
            raise UserError(
                f"spec {spec.name} expects {name}, but its {field} does not select it: add it there, or correct schedule.expects"
            )
        found[name] = folder_of("delivery" if is_delivery else "drop", source, id_)
    return found


def find_missing(lake: Lake, expected: Mapping[str, str]) -> list[str]:
    """Return the names of the expected drops and deliveries (`list_expected`) that have no `_READY` yet."""
    return [name for name, folder in expected.items() if lake.size(f"{folder}_READY") is None]


def describe_missing(missing: Sequence[str], spec: str) -> str:
    """Return the sentence about expected drops that are missing."""
    return (
        f"missing: {', '.join(missing)} (schedule.expects of {spec}). Deliver them and start the release again, or set "
        "schedule.without_expected: continue"
    )


def write_awaited(lake: Lake, release: ReleaseId, missing: Sequence[str], until: datetime | None) -> None:
    """Store the missing deliveries of a release for the release page, and the end of the wait (None if the release continued).

    If no delivery is missing, the stored list is removed."""
    if missing:
        end = until and until.isoformat(timespec="minutes")
        lake.put(_key(release), orjson.dumps({"missing": missing, "until": end}))
    else:
        lake.delete(_key(release))


def read_awaited(lake: Lake, release: ReleaseId) -> tuple[list[str], datetime | None] | None:
    """Return the missing deliveries of a release and the end of the wait, as stored; None if no delivery is missing."""
    try:
        value = read_object(lake, _key(release), _MAX_BYTES)
        return [str(name) for name in value["missing"]], value["until"] and datetime.fromisoformat(value["until"])
    except (FileNotFoundError, KeyError, TypeError, ValueError):
        return None


def _key(release: ReleaseId) -> str:
    return f"releases/{release}/_awaited.json"
