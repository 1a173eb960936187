"""What operators do to a lake: each action has a plan, which is shown first, and a record of who did it (`actions/`).

The release page and the commands use the same functions. An action is done only if its plan is still the one that was shown.
"""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime
from typing import Any

import orjson

from s2corpus.corpora.cleanup import delete, list_waste
from s2corpus.corpora.corrections import CORRECT
from s2corpus.corpora.listing import list_corpora
from s2corpus.corpora.plans import REASON, Action, Plan, Values
from s2corpus.corpora.takedown import TAKEDOWN
from s2corpus.errors import UserError
from s2corpus.ids import SnapshotId
from s2corpus.snapshot import markers, pointer
from s2corpus.storage.lake import Lake
from s2corpus_reader.bounded import MAX_SMALL_BYTES, read_object

_RECORDS = "actions/"


def perform(lake: Lake, action: Action, values: Values, token: str, who: str) -> str:
    """Do an action whose plan has this token, record it, and return a sentence about the result.

    Raises:
        UserError: the plan has changed, or the values are wrong.
    """
    plan = action.plan(lake, values)
    if plan.token != token:
        raise UserError("the plan has changed since it was shown: read it again, then confirm")
    result = action.apply(lake, values, who)
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    content = {
        "action": action.name,
        "values": dict(values),
        "who": who,
        "at": at,
        "result": result,
        "corpora": sorted(plan.corpora),
    }
    data = orjson.dumps(content, option=orjson.OPT_SORT_KEYS)
    lake.put(f"{_RECORDS}{at[:23].replace(':', '')}-{hashlib.sha256(data).hexdigest()[:8]}.json", data)
    return result


def list_records(lake: Lake) -> list[dict[str, Any]]:
    """Return the records of the last 100 actions, newest first."""
    keys = sorted((entry.key for entry in lake.list(_RECORDS)), reverse=True)[:100]
    return [read_object(lake, key, MAX_SMALL_BYTES) for key in keys]


def _plan_yank(lake: Lake, values: Values) -> Plan:
    snapshot = SnapshotId.parse(values["snapshot"])
    pointer.check_reason(values["reason"])
    published = markers.list_published(lake, snapshot.spec)
    is_latest = pointer.read_latest(lake, snapshot.spec).snapshot == snapshot
    if (
        snapshot not in published and not is_latest
    ):  # It is the latest if an earlier try ended before it moved the pointer.
        raise UserError(f"{snapshot} is not published; published snapshots: {', '.join(published) or 'none'}")
    effects = [f"{snapshot} is withdrawn; its files remain, and it is no parent of later releases."]
    if is_latest:
        rest = [id_ for id_ in published if id_ != snapshot]
        effects.append(f"latest.json of {snapshot.spec} then names {rest[-1] if rest else 'no snapshot'}.")
    return Plan((*effects, "The action restore undoes it."), "a few requests", frozenset({snapshot.spec}))


def _plan_restore(lake: Lake, values: Values) -> Plan:
    snapshot = SnapshotId.parse(values["snapshot"])
    pointer.check_reason(values["reason"])
    yanked = markers.list_marked(lake, snapshot.spec, "yanked")
    if snapshot not in yanked | markers.list_marked(lake, snapshot.spec, "restored"):  # An earlier try may continue.
        raise UserError(f"{snapshot} is not yanked; yanked snapshots: {', '.join(sorted(yanked)) or 'none'}")
    effects = [f"{snapshot} is published again with the same bytes."]
    published = markers.list_published(lake, snapshot.spec)
    if not published or snapshot.release.day > published[-1].release.day:
        effects.append(f"latest.json of {snapshot.spec} then names it.")
    return Plan(
        tuple(effects), "its manifest is read, and the sizes of its files are compared", frozenset({snapshot.spec})
    )


def _yank(lake: Lake, values: Values, _: str) -> str:
    latest = pointer.yank(lake, values["snapshot"], values["reason"]).snapshot
    return (
        f"{values['snapshot']} is withdrawn; the latest of {SnapshotId(values['snapshot']).spec} is {latest or 'none'}"
    )


def _restore(lake: Lake, values: Values, _: str) -> str:
    latest = pointer.restore(lake, values["snapshot"], values["reason"]).snapshot
    return f"{values['snapshot']} is published again; the latest of {SnapshotId(values['snapshot']).spec} is {latest}"


def _plan_cleanup(lake: Lake, values: Values) -> Plan:
    found = list(list_waste(lake, _read_keep(values), []))
    effects = tuple(
        f"{waste.kind} {waste.name}: {waste.files:,} files, {waste.bytes:,} bytes are deleted." for waste in found
    )
    total = sum(waste.bytes for waste in found)
    return Plan(effects or ("Nothing is deleted.",), f"frees {total / 1e6:,.1f} MB", frozenset(list_corpora(lake)))


def _clean_up(lake: Lake, values: Values, _: str) -> str:
    found = list(list_waste(lake, _read_keep(values), []))
    for waste in found:
        delete(lake, waste)
    return f"{sum(waste.files for waste in found):,} files, {sum(waste.bytes for waste in found) / 1e6:,.1f} MB deleted"


def _read_keep(values: Values) -> int:
    if not re.fullmatch("[1-9][0-9]{0,2}|1000", values["keep"]):
        raise UserError(f"{values['keep']!r} given: expected the number of releases whose tables remain, 1 to 1000")
    return int(values["keep"])


_SNAPSHOT = {"snapshot": "Snapshot"}
_KEEP = {"keep": "Releases of each corpus that keep their tables"}
ACTIONS = {
    action.name: action
    for action in (
        Action("yank", "Withdraw a snapshot", _SNAPSHOT | REASON, _plan_yank, _yank),
        Action("restore", "Publish a withdrawn snapshot again", _SNAPSHOT | REASON, _plan_restore, _restore),
        TAKEDOWN,
        CORRECT,
        Action("cleanup", "Free the tables of old releases", _KEEP, _plan_cleanup, _clean_up),
    )
}
"""name → action"""
