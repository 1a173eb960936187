"""Validated ids of releases, snapshots and records, with access to their parts.

The ids are subclasses of `str`. Convert them with `str(id)` for libraries that require plain text, such as YAML.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Self

from s2corpus.errors import UserError

SPEC_NAME = "[a-z0-9][a-z0-9_]{0,40}"
"""regular expression of the name of a release spec"""
RELEASE_DAG = "corpus_release__"
"""prefix of the ids of the DAGs that make releases; the spec's name follows"""
_RELEASE = re.compile(rf"({SPEC_NAME})-([0-9]{{8}}(?:T[0-9]{{6}})?)")
_FORM = ("%Y%m%d", "%Y%m%dT%H%M%S")
_SNAPSHOT = re.compile(rf"{_RELEASE.pattern}-([0-9a-f]{{8}})")


def spec_name(given: str) -> str:
    """Return the name of a release spec after validation.

    Raises:
        UserError: the name is malformed.
    """
    if not re.fullmatch(SPEC_NAME, given):
        raise UserError(f"{given!r} is not the name of a release spec: expected a-z, 0-9 and _, as in s2_v2")
    return given


class ReleaseId(str):
    """`<spec>-<YYYYMMDD>`: the release of a spec as of a day; its folder in `releases/`.

    If `as_of` is not midnight, the id is `<spec>-<YYYYMMDD>T<HHMMSS>`. A day can therefore have several releases.
    """

    __slots__ = ()

    @classmethod
    def from_spec(cls, spec: str, as_of: datetime) -> Self:
        """Return the id of a spec's release at an instant."""
        return cls(f"{spec}-{as_of:%Y%m%d}" + (f"T{as_of:%H%M%S}" if f"{as_of:%H%M%S}" != "000000" else ""))

    @classmethod
    def parse(cls, given: str) -> Self:
        """Return the id after validation.

        Raises:
            UserError: the text is malformed or contains a date that does not exist.
        """
        if not _dated(_RELEASE, given):
            raise UserError(f"{given!r} is not a release id: expected <spec>-<YYYYMMDD>, as in `releases/`")
        return cls(given)

    @classmethod
    def known(cls, given: str) -> bool:
        """Return whether the text is a well-formed id."""
        return _dated(_RELEASE, given)

    @classmethod
    def at(cls, dag: str, day: str) -> Self:
        """Return the release that `page_path` addresses.

        Raises:
            UserError: the address is malformed.
        """
        return cls.parse(f"{dag.removeprefix(RELEASE_DAG)}-{day}")

    @property
    def page_path(self) -> str:
        """Return the path of the release below the page "Corpus releases"."""
        return f"{RELEASE_DAG}{self.spec}/{self.day}"

    @property
    def spec(self) -> str:
        """Return the spec's name."""
        return self.rsplit("-", 1)[0]

    @property
    def day(self) -> str:
        """Return the date `YYYYMMDD` of `as_of`, with the time if it is not midnight. Sorted text is in order of time."""
        return self.rsplit("-", 1)[1]

    @property
    def date(self) -> str:
        """Return the instant for people: `2023-02-01`, or `2023-02-01 12:00:00 UTC` if it is not midnight."""
        return f"{self.as_of:%Y-%m-%d %H:%M:%S} UTC" if "T" in self.day else f"{self.as_of:%Y-%m-%d}"

    @property
    def as_of(self) -> datetime:
        """Return the instant (UTC)."""
        return datetime.strptime(self.day, _FORM["T" in self.day]).replace(tzinfo=UTC)


class SnapshotId(str):
    """`<spec>-<YYYYMMDD>-<8 hex>`: a snapshot of a release; its folder in `snapshots/`."""

    __slots__ = ()

    @classmethod
    def from_digest(cls, release: ReleaseId, digest: str) -> Self:
        """Return the id of a snapshot; `digest` is the SHA-256 of all inputs that determine its bytes."""
        return cls(f"{release}-{digest[:8]}")

    @classmethod
    def parse(cls, given: str) -> Self:
        """Return the id after validation.

        Raises:
            UserError: the text is malformed or contains a date that does not exist.
        """
        if not _dated(_SNAPSHOT, given):
            raise UserError(f"{given!r} is not a snapshot id: expected <spec>-<YYYYMMDD>-<8 hex>, as in `snapshots/`")
        return cls(given)

    @classmethod
    def known(cls, given: str) -> bool:
        """Return whether the text is a well-formed id."""
        return _dated(_SNAPSHOT, given)

    @property
    def release(self) -> ReleaseId:
        """Return the id of the release."""
        return ReleaseId(self.rsplit("-", 1)[0])

    @property
    def spec(self) -> str:
        """Return the spec's name."""
        return self.release.spec


class RecordId(str):
    """`<source>:<native id>`: a record of a metadata source."""

    __slots__ = ()

    @classmethod
    def from_source(cls, source: str, native: object) -> Self:
        """Return the id of a source's entry."""
        return cls(f"{source}:{native}")

    @property
    def source(self) -> str:
        """Return the source's name."""
        return self.partition(":")[0]

    @property
    def native(self) -> str:
        """Return the source's native id, or an empty string."""
        return self.partition(":")[2]


def _dated(form: re.Pattern[str], given: str) -> bool:
    if not (match := form.fullmatch(given)):
        return False
    try:
        datetime.strptime(match[2], _FORM["T" in match[2]])
    except ValueError:
        return False
    return True
