"""Names of releases, snapshots and records: text that is known to have its form, and what the form says.

They are text of a type of their own: give `str(id)` to what asks for plain text, as YAML does.
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
    """The name of a release spec, if it can be one.

    Raises:
        UserError: it cannot.
    """
    if not re.fullmatch(SPEC_NAME, given):
        raise UserError(f"{given!r} is not the name of a release spec: expected a-z, 0-9 and _, as in s2_v2")
    return given


class ReleaseId(str):
    """`<spec>-<YYYYMMDD>`: the release of a spec as of a day; its folder in `releases/`.

    As of another instant than midnight, `<spec>-<YYYYMMDD>T<HHMMSS>`: several releases of one day are several releases.
    """

    __slots__ = ()

    @classmethod
    def of(cls, spec: str, as_of: datetime) -> Self:
        """The id of a spec's release as of an instant."""
        return cls(f"{spec}-{as_of:%Y%m%d}" + (f"T{as_of:%H%M%S}" if f"{as_of:%H%M%S}" != "000000" else ""))

    @classmethod
    def parse(cls, given: str) -> Self:
        """The id, if it has the form.

        Raises:
            UserError: it has not, or names a day that does not exist.
        """
        if not _dated(_RELEASE, given):
            raise UserError(f"{given!r} is not a release id: expected <spec>-<YYYYMMDD>, as in `releases/`")
        return cls(given)

    @classmethod
    def known(cls, given: str) -> bool:
        """Whether text has the form of an id."""
        return _dated(_RELEASE, given)

    @classmethod
    def at(cls, dag: str, day: str) -> Self:
        """Return the release that `page_path` addresses.

        Raises:
            UserError: there can be no such release.
        """
        return cls.parse(f"{dag.removeprefix(RELEASE_DAG)}-{day}")

    @property
    def page_path(self) -> str:
        """Return the address of the release on the page "Corpus releases", below the page's own."""
        return f"{RELEASE_DAG}{self.spec}/{self.day}"

    @property
    def spec(self) -> str:
        """The spec's name."""
        return self.rsplit("-", 1)[0]

    @property
    def day(self) -> str:
        """The day that the release sees, `YYYYMMDD`, with its time if it is not midnight; in order as text."""
        return self.rsplit("-", 1)[1]

    @property
    def date(self) -> str:
        """Return the instant for people: `2023-02-01`, or `2023-02-01 12:00:00 UTC` if it is not midnight."""
        return f"{self.as_of:%Y-%m-%d %H:%M:%S} UTC" if "T" in self.day else f"{self.as_of:%Y-%m-%d}"

    @property
    def as_of(self) -> datetime:
        """The instant (UTC)."""
        return datetime.strptime(self.day, _FORM["T" in self.day]).replace(tzinfo=UTC)


class SnapshotId(str):
    """`<spec>-<YYYYMMDD>-<8 hex>`: a snapshot of a release; its folder in `snapshots/`."""

    __slots__ = ()

    @classmethod
    def of(cls, release: ReleaseId, digest: str) -> Self:
        """The id of a release's snapshot, given the SHA-256 over all that decides its bytes."""
        return cls(f"{release}-{digest[:8]}")

    @classmethod
    def parse(cls, given: str) -> Self:
        """The id, if it has the form.

        Raises:
            UserError: it has not, or names a day that does not exist.
        """
        if not _dated(_SNAPSHOT, given):
            raise UserError(f"{given!r} is not a snapshot id: expected <spec>-<YYYYMMDD>-<8 hex>, as in `snapshots/`")
        return cls(given)

    @classmethod
    def known(cls, given: str) -> bool:
        """Whether text has the form of an id."""
        return _dated(_SNAPSHOT, given)

    @property
    def release(self) -> ReleaseId:
        """The release it is a snapshot of."""
        return ReleaseId(self.rsplit("-", 1)[0])

    @property
    def spec(self) -> str:
        """The spec's name."""
        return self.release.spec


class RecordId(str):
    """`<source>:<native id>`: a record of a metadata source."""

    __slots__ = ()

    @classmethod
    def of(cls, source: str, native: object) -> Self:
        """The id of a source's own entry."""
        return cls(f"{source}:{native}")

    @property
    def source(self) -> str:
        """The source's name."""
        return self.partition(":")[0]

    @property
    def native(self) -> str:
        """What the source itself calls the record; empty where there is none."""
        return self.partition(":")[2]


def _dated(form: re.Pattern[str], given: str) -> bool:
    if not (match := form.fullmatch(given)):
        return False
    try:
        datetime.strptime(match[2], _FORM["T" in match[2]])
    except ValueError:
        return False
    return True
