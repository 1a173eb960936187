"""Validated ids of releases, snapshots and records, with access to their parts.

The ids are subclasses of `str`. Convert them with `str(id)` for libraries that require plain text, such as YAML.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import ClassVar, Self

from s2corpus.errors import UserError

SPEC_NAME = "[a-z0-9][a-z0-9_]{0,40}"
"""regular expression of the name of a release spec"""
RELEASE_DAG = "corpus_release__"
"""prefix of the ids of the DAGs that make releases; the spec's name follows"""
_RELEASE = re.compile(rf"({SPEC_NAME})-([0-9]{{8}}(?:T[0-9]{{6}})?)")
_SNAPSHOT = re.compile(rf"{_RELEASE.pattern}-([0-9a-f]{{8}})")


def check_spec_name(given: str) -> str:
    """Return the name of a release spec if it is valid.

    Raises:
        UserError: the name is malformed.
    """
    if not re.fullmatch(SPEC_NAME, given):
        raise UserError(f"{given!r} is not the name of a release spec: expected a-z, 0-9 and _, as in s2_v2")
    return given


class _DatedId(str):
    """An id with the date of a release: the second group of `_PATTERN`."""

    __slots__ = ()
    _PATTERN: ClassVar[re.Pattern[str]]
    _EXPECTED: ClassVar[str]

    @classmethod
    def parse(cls, given: str) -> Self:
        """Return the id if the text is valid.

        Raises:
            UserError: the text is malformed or contains a date that does not exist.
        """
        if not cls.is_valid(given):
            raise UserError(f"{given!r} is not a {cls._EXPECTED}")
        return cls(given)

    @classmethod
    def is_valid(cls, given: str) -> bool:
        """Return whether the text is a well-formed id."""
        if not (match := cls._PATTERN.fullmatch(given)):
            return False
        try:
            _parse_time(match[2])
        except ValueError:
            return False
        return True


def _parse_time(given: str) -> datetime:
    return datetime.strptime(given, "%Y%m%dT%H%M%S" if "T" in given else "%Y%m%d").replace(tzinfo=UTC)


class ReleaseId(_DatedId):
    """`<spec>-<YYYYMMDD>`: the release of a spec as of a day; its folder in `releases/`.

    If `as_of` is not midnight, the id is `<spec>-<YYYYMMDD>T<HHMMSS>`. A day can therefore have several releases.
    """

    __slots__ = ()
    _PATTERN = _RELEASE
    _EXPECTED = "release id: expected <spec>-<YYYYMMDD>, as in `releases/`"

    @classmethod
    def from_spec(cls, spec: str, as_of: datetime) -> Self:
        """Return the id of a spec's release at an instant."""
        return cls(f"{spec}-{as_of:%Y%m%d}" + (f"T{as_of:%H%M%S}" if f"{as_of:%H%M%S}" != "000000" else ""))

    @classmethod
    def from_page_path(cls, dag: str, day: str) -> Self:
        """Return the id from the two parts of its `page_path`.

        Raises:
            UserError: a part is malformed.
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
        """Return `YYYYMMDD`, or `YYYYMMDDTHHMMSS` if the time is not midnight. These texts sort chronologically."""
        return self.rsplit("-", 1)[1]

    @property
    def date(self) -> str:
        """Return `2023-02-01`, or `2023-02-01 12:00:00 UTC` if the time is not midnight, for display."""
        return f"{self.as_of:%Y-%m-%d %H:%M:%S} UTC" if "T" in self.day else f"{self.as_of:%Y-%m-%d}"

    @property
    def as_of(self) -> datetime:
        """Return the instant (UTC)."""
        return _parse_time(self.day)


class SnapshotId(_DatedId):
    """`<spec>-<YYYYMMDD>-<8 hex>`: a snapshot of a release; its folder in `snapshots/`."""

    __slots__ = ()
    _PATTERN = _SNAPSHOT
    _EXPECTED = "snapshot id: expected <spec>-<YYYYMMDD>-<8 hex>, as in `snapshots/`"

    @classmethod
    def from_digest(cls, release: ReleaseId, digest: str) -> Self:
        """Return the id of a snapshot; `digest` is the SHA-256 of all inputs that determine its bytes."""
        return cls(f"{release}-{digest[:8]}")

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

    @property
    def source(self) -> str:
        """Return the source's name."""
        return self.partition(":")[0]

    @property
    def native(self) -> str:
        """Return the source's native id, or an empty string."""
        return self.partition(":")[2]
