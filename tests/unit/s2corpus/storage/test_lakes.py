"""A lake on S3 and a lake in a folder behave in the same way, and errors of S3 become sentences.

The server is the S3 server of docker-compose.yaml; it starts in a few seconds. Another server with fixed responses supplies its errors.
"""

import contextlib
import os
import pickle
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from s2corpus.errors import TransientError, UnreadableObject, UserError
from s2corpus.storage.lake import ABSENT, Conflict, Lake, open_lake
from s2corpus.storage.uris import fetch
from tests import compose
from tests.compose import KEYS
from tests.http_server import Request, serve

MEGABYTE = 1 << 20


def use_server(patch: pytest.MonkeyPatch, port: int) -> None:
    patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    patch.setenv("AWS_ACCESS_KEY_ID", KEYS["S3_ADMIN_ACCESS_KEY"])
    patch.setenv("AWS_SECRET_ACCESS_KEY", KEYS["S3_ADMIN_SECRET_KEY"])


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with compose.s3_server(tmp_path_factory.mktemp("s3")) as ports:
        yield ports["s3"]


@pytest.fixture(params=["folder", "s3"])
def lake(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    if request.param == "folder":
        return open_lake(str(tmp_path / "lake"))
    use_server(monkeypatch, request.getfixturevalue("port"))
    return open_lake(f"s3://corpus/{tmp_path.name}/")


def test_objects_are_written_read_and_deleted(lake: Lake, tmp_path: Path) -> None:
    etag = lake.put("a/b", b"123")
    assert lake.get("a/b") == (b"123", etag) and lake.etag("a/b") == etag and lake.size("a/b") == 3
    assert lake.put("a/b", b"1234") != etag
    with lake.open("a/b") as stream:
        assert stream.read(1) + stream.read() == b"1234"
    with lake.open_ranges("a/b") as file:
        assert (file.seek(2), file.read(1)) == (2, b"3")
    lake.download("a/b", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"1234"
    for size in (3, 9 * MEGABYTE):  # Larger files are sent in parts.
        (tmp_path / "file").write_bytes(bytes(size))
        lake.upload("a/file", tmp_path / "file")
        assert lake.size("a/file") == size and lake.get("a/file")[0] == bytes(size)
    fs, root = lake.filesystem()
    assert fs.open_input_file(f"{root}a/b").read() == b"1234"
    again = pickle.loads(pickle.dumps(lake))
    assert again.get("a/b")[0] == b"1234" and again.root == lake.root
    for _ in range(2):
        lake.delete("a/b")
    assert (lake.etag("a/b"), lake.size("a/b")) == (ABSENT, None)
    for read in (lake.get, lake.open, lake.open_ranges, lambda key: lake.download(key, tmp_path / "missing")):
        with pytest.raises(FileNotFoundError):
            read("a/b")


def test_conditional_writes_need_the_current_etag(lake: Lake) -> None:
    etag = lake.put("pointer", b"1", expect=ABSENT)
    for stale in (ABSENT, '"0"'):
        with pytest.raises(Conflict):
            lake.put("pointer", b"2", expect=stale)
    new = lake.put("pointer", b"3", expect=etag)
    lake.put("pointer", b"4")
    with pytest.raises(Conflict):
        lake.put("pointer", b"5", expect=new)
    assert lake.get("pointer")[0] == b"4"
    lake.delete("pointer")
    with pytest.raises(Conflict):
        lake.put("pointer", b"6", expect=new)
    assert [entry.key for entry in lake.list("")] == []


def test_keys_never_leave_the_lake(lake: Lake, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(9 * MEGABYTE))
    for key in ("/etc/passwd", "a/../../b", "..", "", "a\0b"):
        for act in (lambda k: lake.put(k, b"x"), lake.get, lake.delete, lambda k: lake.upload(k, tmp_path / "file")):
            with pytest.raises(ValueError, match="not a key of the lake"):
                act(key)
    lake.put("a..b/..c", b"x")


def test_listing_is_by_prefix_and_in_order(lake: Lake) -> None:
    for key in ("drops/b/1.pdf", "drops/a/_READY", "drops/a/2.pdf", "drops/x", "dropsy"):
        lake.put(key, key.encode())
    assert [(e.key, e.bytes) for e in lake.list("drops/a/")] == [("drops/a/2.pdf", 13), ("drops/a/_READY", 14)]
    assert [e.key for e in lake.list("drops/")] == ["drops/a/2.pdf", "drops/a/_READY", "drops/b/1.pdf", "drops/x"]
    assert [e.key for e in lake.list("drops")][-1] == "dropsy" and not list(lake.list("none/"))
    assert [list(lake.folders(prefix)) for prefix in ("drops/", "", "none/")] == [["a", "b"], ["drops"], []]


def test_address_of_lake_and_object(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    use_server(monkeypatch, port)
    for address in ("s3://corpus", "s3://corpus/a/b/"):
        lake = open_lake(address)
        assert lake.root == address.rstrip("/") and lake.uri("c") == f"{address.rstrip('/')}/c"
        lake.put("place", address.encode())
    assert fetch("s3://corpus/a/b/place") == b"s3://corpus/a/b/"
    with pytest.raises(UserError, match="no such file"):
        fetch("s3://corpus/a/b/none")
    with pytest.raises(UserError, match="no such bucket"):
        open_lake("s3://another")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(UserError, match="s3://corpus: access refused"):
        open_lake("s3://corpus")


@contextlib.contextmanager
def fixed_server(
    patch: pytest.MonkeyPatch, status: int, code: str = "", good: int = 1, etag: bool = True
) -> Iterator[list[str]]:
    """Serve one response to every request after the first `good` requests; yield the methods of the requests."""
    requests: list[str] = []

    def answer(request: Request) -> tuple[int, bytes, dict[str, str]]:
        requests.append(request.method)
        bad = len(requests) > good
        body = b"<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"
        if bad:
            body = f"<Error><Code>{code}</Code><Message>words</Message></Error>".encode() if code else b""
        return status if bad else 200, body, {"ETag": '"1"'} if etag else {}

    with serve(answer) as url:
        use_server(patch, int(url.rpartition(":")[2]))
        yield requests


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeat requests without waiting."""
    monkeypatch.setattr(time, "sleep", lambda seconds: None)


ROTATED = (TransientError, "they may have been rotated")
UNREADABLE = (UnreadableObject, "s3://lake/x/key: access refused .* let its owner grant s3:GetObject")
DENIED = (UserError, "the AWS keys in the environment have no rights on it")


@pytest.mark.parametrize(
    ("status", "code", "opening", "later"),
    [
        (403, "InvalidAccessKeyId", DENIED, ROTATED),
        (400, "ExpiredToken", DENIED, ROTATED),
        (403, "AccessDenied", None, UNREADABLE),
        (403, "InvalidObjectState", DENIED, (UnreadableObject, "key: .*the object is archived: restore it")),
        (400, "KMS.DisabledException", (UserError, "the KMS key"), UNREADABLE),
        (301, "PermanentRedirect", (UserError, "in another region"), (UserError, "key: .*set AWS_DEFAULT_REGION")),
        (302, "", (TransientError, "proxy"), (TransientError, "s3://lake/x/key: the answer is cut or not from S3 .HTTP 302.: a proxy")),
        (429, "", (TransientError, "429"), (TransientError, "s3://lake/x/key: .*429")),
        (503, "SlowDown", (TransientError, "SlowDown"), (TransientError, "s3://lake/x/key: .*SlowDown")),
        (404, "NoSuchBucket", (UserError, "no such bucket"), (UserError, "no such bucket")),
        (404, "NoSuchKey", (TransientError, "NoSuchKey"), (FileNotFoundError, "s3://lake/x/key")),
        (412, "PreconditionFailed", (TransientError, "PreconditionFailed"), (TransientError, "PreconditionFailed")),
        (400, "KMS.ThrottlingException", (TransientError, "Throttling"), (TransientError, "s3://lake/x/key: .*ThrottlingException")),
        (403, "AccountProblem", DENIED, DENIED),
        (501, "NotImplemented", (UserError, "needs a server"), (UserError, "key: S3 refuses .*: the lake needs a server")),
        (403, "RequestTimeTooSkewed", (TransientError, "set the clock"), (TransientError, r"s3://lake/x/key: .*set the clock \(NTP\)")),
    ],
)  # fmt: skip
def test_error_codes_of_s3(
    status: int, code: str, opening: Any, later: Any, monkeypatch: pytest.MonkeyPatch, quick: None
) -> None:
    # Keys for a part of the lake may not list all of it.
    refused = pytest.raises(opening[0], match=opening[1]) if opening else contextlib.nullcontext()
    with fixed_server(monkeypatch, status, code, good=0), refused:
        open_lake("s3://lake/x")
    with fixed_server(monkeypatch, status, code):
        lake = open_lake("s3://lake/x")
        with pytest.raises(later[0], match=later[1]):
            lake.get("key")
        with pytest.raises((UserError, TransientError), match="s3://lake/x/"):
            list(lake.list(""))


@pytest.mark.parametrize(
    ("status", "code", "kind", "words"),
    [
        (403, "AccessDenied", UserError, "access refused .* have no rights on it"),
        (400, "KMS.DisabledException", UserError, "the KMS key of the bucket is disabled, .*: enable it, or let its owner grant"),
        (507, "XMinioStorageFull", TransientError, "the storage of S3 is full .*: free space or raise the quota"),
        (403, "QuotaExceeded", TransientError, "the storage of S3 is full or over its quota"),
        (501, "NotImplemented", UserError, "the lake needs a server with ListObjectsV2, conditional writes and uploads in parts"),
        (400, "BadDigest", TransientError, "BadDigest"),
    ],
)  # fmt: skip
def test_refused_writes_name_the_next_step(
    status: int,
    code: str,
    kind: type[Exception],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    quick: None,
    tmp_path: Path,
) -> None:
    """Only an error that may pass is transient: commands then advise to try again."""
    (tmp_path / "large").write_bytes(bytes(9 * MEGABYTE))
    with fixed_server(monkeypatch, status, code):
        lake = open_lake("s3://lake/x")
        for write in (lambda: lake.put("key", b"1"), lambda: lake.upload("key", tmp_path / "large")):
            with pytest.raises((UserError, TransientError), match=f"s3://lake/x/key: .*{words}") as raised:
                write()
            assert type(raised.value) is kind


@pytest.mark.parametrize(("status", "error"), [(403, UnreadableObject), (412, TransientError)])
def test_error_without_body(status: int, error: type[Exception], monkeypatch: pytest.MonkeyPatch, quick: None) -> None:
    """The response to HEAD has no error code; botocore gives the status instead."""
    with fixed_server(monkeypatch, status):
        lake = open_lake("s3://lake")
        for act in (lake.etag, lake.size):
            with pytest.raises(error):
                act("k")


def test_failing_server_is_asked_eight_more_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick: None) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(9 * MEGABYTE)
    with fixed_server(monkeypatch, 500, "InternalError") as requests:
        lake = open_lake("s3://lake")
        with pytest.raises(TransientError, match=r"s3://lake/k: .*InternalError"):
            lake.get("k")
        assert requests[1:] == ["GET"] * 9
        with pytest.raises(TransientError, match=r"s3://lake/large: "):
            lake.upload("large", tmp_path / "large")
    with pytest.raises(TransientError, match="s3://lake/k: "):
        lake.get("k")  # The server is gone.


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("AWS_ENDPOINT_URL", "localhost:8333", r"correct .*AWS_ENDPOINT_URL \(http\(s\)://host:port, or empty\)"),
        ("AWS_ENDPOINT_URL", "ftp://localhost", "ftp://localhost.*correct the variables AWS_"),
        ("AWS_ENDPOINT_URL", "https://127.0.0.1:PORT", "no TLS with the server: check AWS_ENDPOINT_URL"),
        ("AWS_DEFAULT_REGION", "my region", "'my region'.*correct AWS_DEFAULT_REGION"),
        ("AWS_PROFILE", "nobody", r"nobody.*correct the variables AWS_… and S2CORPUS_S3_…, or ~/\.aws/config"),
    ],
)
def test_wrong_setting_gives_one_sentence(
    name: str, value: str, words: str, monkeypatch: pytest.MonkeyPatch, quick: None
) -> None:
    with fixed_server(monkeypatch, 200):
        port = os.environ["AWS_ENDPOINT_URL"].rpartition(":")[2]
        monkeypatch.setenv(name, value.replace("PORT", port))
        with pytest.raises(UserError, match=f"s3://lake: .*{words}"):
            open_lake("s3://lake")


def test_missing_keys_give_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, "/dev/null")
    with pytest.raises(UserError, match="s3://lake: no AWS keys given: set AWS_ACCESS_KEY_ID"):
        open_lake("s3://lake")
