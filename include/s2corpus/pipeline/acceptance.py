"""Checks that a person overrides, each with a written reason: an input of the release, kept with it in the lake.

An acceptance stays with its release, so that the same release made again is the same. It has an effect only where the check fails:
then its reason is in the manifest and part of the snapshot's identity, and who gave it is in the catalog.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import orjson

from s2corpus.errors import TransientError, UserError
from s2corpus.spec import MIN_REASON
from s2corpus.storage.lake import ABSENT, Conflict

if TYPE_CHECKING:
    from s2corpus.pipeline.quality import Check
    from s2corpus.storage.lake import Lake


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A check accepted for one release."""

    reason: str
    by: str
    at: str
    """ISO instant, UTC"""


def accepted(lake: Lake, release: str) -> dict[str, Acceptance]:
    """What was accepted for a release, by `<stage>.<check>`."""
    return _read(lake, release)[0]


def accept(lake: Lake, release: str, reasons: Mapping[str, str], by: str, known: Iterable[Check]) -> list[str]:
    """Keep why these checks (`<stage>.<check>` → reason) are overridden; the names of those that are new or newly reasoned.

    Raises:
        UserError: a check that is not `known`, that blocks without remedy, or a reason that says nothing.
        TransientError: somebody else wrote at the same time.
    """
    _validate(reasons, list(known))
    there, etag = _read(lake, release)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    new = {
        name: Acceptance(reason.strip(), by, now)
        for name, reason in reasons.items()
        if name not in there or there[name].reason != reason.strip()
    }
    if new:
        data = {name: asdict(acceptance) for name, acceptance in sorted((there | new).items())}
        try:
            lake.put(_key(release), orjson.dumps(data, option=orjson.OPT_INDENT_2), expect=etag)
        except Conflict:
            raise TransientError(f"{lake.uri(_key(release))}: somebody else accepted a check just now") from None
    return sorted(new)


def _validate(reasons: Mapping[str, str], known: list[Check]) -> None:
    by_name = {f"{check.stage}.{check.name}": check for check in known}
    for name, reason in reasons.items():
        if name not in by_name:
            of_stage = [other for other in by_name if other.startswith(f"{name.partition('.')[0]}.")]
            raise UserError(
                f"{name!r} is not a check; expected <stage>.<check>, one of {', '.join(of_stage or by_name)}"
            )
        check = by_name[name]
        if check.severity == "block" and not check.overridable:
            raise UserError(
                f"{name} cannot be overridden: what it finds is wrong whatever the reason ({check.reason}); "
                f"fix the cause and clear the stage {check.stage}"
            )
        if len(reason.strip()) < MIN_REASON:
            raise UserError(f"{name}: {reason!r} is not a reason; write why, in at least {MIN_REASON} characters")


def _read(lake: Lake, release: str) -> tuple[dict[str, Acceptance], str]:
    try:
        data, etag = lake.get(_key(release))
    except FileNotFoundError:
        return {}, ABSENT
    return {name: Acceptance(**acceptance) for name, acceptance in orjson.loads(data).items()}, etag


def _key(release: str) -> str:
    return f"releases/{release}/_accepted.json"
