"""Ids of releases, snapshots and records have a defined content; a malformed id causes an error message and is never used as a path."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from devtools.local.release import own_interval
from s2corpus.errors import UserError
from s2corpus.ids import ReleaseId, SnapshotId, check_spec_name

SNAPSHOT = "s2_v2-20230101-0a1b2c3d"
NO_IDS = ["", "x", "../../etc-20230101-0a1b2c3d", "a/b-20230101-0a1b2c3d", "s2_v2-20230230-0a1b2c3d", "s2_v2-20230101",
          "s2_v2-20230101-0A1B2C3D", f"{SNAPSHOT}\n", f" {SNAPSHOT}", "s2_v2-٢٠٢٣٠١٠١-0a1b2c3d", "-20230101-0a1b2c3d"]  # fmt: skip


def test_snapshot_id_is_parsed_into_its_parts() -> None:
    snapshot = SnapshotId.parse(SNAPSHOT)
    assert (snapshot.release, snapshot.spec) == ("s2_v2-20230101", "s2_v2")
    assert snapshot.release.as_of == datetime(2023, 1, 1, tzinfo=UTC)
    assert ReleaseId.from_spec("s2_v2", snapshot.release.as_of) == ReleaseId.parse("s2_v2-20230101") == snapshot.release
    assert SnapshotId.from_digest(snapshot.release, "0a1b2c3d" * 8) == SNAPSHOT


@pytest.mark.parametrize(
    ("parse", "message", "given"),
    [
        *((SnapshotId.parse, "is not a snapshot id: expected <spec>-<YYYYMMDD>-<8 hex>", given) for given in NO_IDS),
        (ReleaseId.parse, "is not a release id", "s2_v2-20230230"),
        (ReleaseId.parse, "is not a release id", "own-20261122T250000"),
        *(
            (check_spec_name, "is not the name of a release spec", given)
            for given in ("", "../x", "S2", "a b", "a-b", "x" * 42)
        ),
    ],
)
def test_malformed_id_or_name_is_refused(parse: Callable[[str], object], message: str, given: str) -> None:
    with pytest.raises(UserError, match=message):
        parse(given)


def test_releases_of_one_day_have_different_ids() -> None:
    first, second = (own_interval(datetime(2026, 11, 22, hour, 30, tzinfo=UTC))[1] for hour in (9, 14))
    ids = [ReleaseId.from_spec("own", end) for end in (first, second)]
    assert ids == ["own-20261122T093001", "own-20261122T143001"]
    assert [ReleaseId.parse(id_).as_of for id_ in ids] == [first, second]
    assert ids[0].day < ids[1].day < ReleaseId.from_spec("own", datetime(2026, 11, 23, tzinfo=UTC)).day
    assert SnapshotId.from_digest(ids[0], "0" * 64).release == ids[0]
