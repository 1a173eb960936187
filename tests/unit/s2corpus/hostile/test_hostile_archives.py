"""Archives that hang, mislead or overflow their reader have a named outcome.

They are tested as LaTeX sources and as deliveries (SPEC §3).
"""

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from s2corpus.sources.record import Dropped, RejectReason
from s2corpus.sources.streams import read_documents, stop_at_damage
from s2orc_parse.archives import child
from s2orc_parse.latex import BadSource, process
from s2orc_parse.outcomes import LatexOutcome
from tests.unit.s2orc_parse.latex.archives import article, gz

GOOD = article("Text of a paper.").encode()
END = bytes(1024)


def header(name: str, size: int, kind: bytes = tarfile.REGTYPE, link: str = "") -> bytes:
    """Return the header of a tar member; GNU tar writes sizes that are negative or too large for octal digits in base 256."""
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = size, kind, link
    return info.tobuf(tarfile.GNU_FORMAT)


def member(name: str, data: bytes, kind: bytes = tarfile.REGTYPE) -> bytes:
    return header(name, len(data), kind) + data + bytes(-len(data) % 512)


def pax(*records: tuple[bytes, bytes], kind: bytes = b"x") -> bytes:
    """Return an extended header. The length of a record includes its own digits."""
    found = b""
    for key, value in records:
        rest = len(key) + len(value) + 3
        length = rest + len(str(rest + len(str(rest))))
        found += b"%d %b=%b\n" % (length, key, value)
    return member("pax", found, kind)


FIRST = member("main.tex", GOOD)
DAMAGED: dict[str, bytes] = {
    "size of 2^80": header("a.tex", 1 << 80),
    "negative size": FIRST + header("a.tex", -512) + END,
    "wrong checksum": FIRST + header("a.tex", 0).replace(b"a.tex", b"b.tex") + FIRST + END,
    "half a header": FIRST + header("a.tex", 0)[:256],
    "more than there is": FIRST + header("a.tex", 10_000_000) + b"x" * 512,
    "huge extended header": FIRST + header("pax", 1 << 60, b"x") + END,
    "chain of extended headers": FIRST + pax((b"a", b"b")) * 5_000 + END,
    "chain of long names": FIRST + member("L", b"name\0", b"L") * 5_000 + END,
    "digits within the limit": FIRST + member("pax", b"1" * 60_000, b"x") + END,
    "negative size in an extended header": FIRST + pax((b"size", b"-512")) + FIRST + END,
    "records that overlap": FIRST + member("pax", b"3 a=b\n" * 10_000, b"x") + header("a.tex", 1 << 70),
    "sparse file of 2^60": FIRST + pax((b"GNU.sparse.major", b"1"), (b"GNU.sparse.minor", b"0"),
        (b"GNU.sparse.realsize", b"%d" % (1 << 60))) + member("a.tex", b"1\n0\n512\n") + END,
}  # fmt: skip
UNSAFE: dict[str, tuple[bytes, LatexOutcome]] = {
    "link to a link": (FIRST + header("a", 0, b"2", "b") + header("b", 0, b"2", "a") + END, LatexOutcome.UNSAFE_LINK),
    "path in an extended header": (FIRST + pax((b"path", b"../../a.tex")) + member("a", b"") + END, LatexOutcome.UNSAFE_PATH),
    "many folders": (FIRST + header("a/", 0, b"5") * 5_001 + END, LatexOutcome.TOO_MANY_FILES),
    "zip": (b"PK\x03\x04" + bytes(100), LatexOutcome.NOT_AN_ARCHIVE),
    "gzip in gzip": (gzip.compress(gz(GOOD.decode())), LatexOutcome.NOT_AN_ARCHIVE),
    "gzip header only": (gzip.compress(b"")[:10], LatexOutcome.DAMAGED),
    "gzip with a name that never ends": (b"\x1f\x8b\x08\x08" + bytes(6) + b"a" * 100_000, LatexOutcome.DAMAGED),
}  # fmt: skip


def unpack_error(data: bytes, **limits: float) -> BadSource:
    with pytest.raises(BadSource) as raised:
        process.unpack(data, **limits)
    return raised.value


def read_delivered(data: bytes) -> tuple[list[tuple[str, bytes]], list[RejectReason]]:
    """Return the members of a delivered tar, and the reasons of its rejects."""
    found = list(stop_at_damage(read_documents(io.BytesIO(data))))
    members = [one for one in found if not isinstance(one, Dropped)]
    return members, [one.reason for one in found if isinstance(one, Dropped)]


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_tar_has_outcome(name: str) -> None:
    begins_well = DAMAGED[name][:8] == b"main.tex"
    error = unpack_error(gzip.compress(DAMAGED[name], 1))
    assert error.detail
    assert error.outcome is LatexOutcome.DAMAGED or (not begins_well and error.outcome is LatexOutcome.NOT_AN_ARCHIVE)
    members, reasons = read_delivered(DAMAGED[name])
    assert members[:1] == ([("main.tex", GOOD)] if begins_well else [])
    assert reasons[-1:] == [RejectReason.UNREADABLE_REST] and reasons[:-1] in ([], [RejectReason.TOO_LARGE])


@pytest.mark.parametrize("name", UNSAFE)
def test_unsafe_or_foreign_archive_has_outcome(name: str) -> None:
    data, outcome = UNSAFE[name]
    assert unpack_error(data).outcome is outcome


def test_links_in_a_delivered_tar_are_ignored() -> None:
    data = FIRST + header("a", 0, b"2", "/etc/passwd") + header("b", 0, b"3") + member("b.xml", b"b") + END
    assert read_delivered(data) == ([("main.tex", GOOD), ("b.xml", b"b")], [])


def test_slow_archive_is_ended_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    script = "import sys, time; sys.stdin.buffer.read(1); time.sleep(600)"
    monkeypatch.setattr(child, "LAUNCH", script)
    monkeypatch.setattr(child, "INACTIVITY_SECONDS", 1.0)
    assert unpack_error(gz(GOOD.decode()), seconds=1.0).outcome is LatexOutcome.TIMEOUT
    assert read_delivered(FIRST + END) == ([], [RejectReason.UNREADABLE_REST])


def test_greedy_archive_is_ended_by_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "MEMORY_BYTES", 64 << 20)
    data = gzip.compress(FIRST + member("a.png", bytes(100 << 20)) + END, 1)
    assert unpack_error(data).outcome is LatexOutcome.OUT_OF_MEMORY


@pytest.mark.parametrize("written", ["'x' * 100000", "'[1]\\n'", "'{\"bytes\": -1}\\n'", "'{\"bytes\": 1e9}\\n'"])
def test_compromised_child_gives_no_files(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "LAUNCH", f"import sys; sys.stdout.write({written})")
    assert unpack_error(gz(GOOD.decode())).outcome is LatexOutcome.DAMAGED
    assert read_delivered(FIRST + END) == ([], [RejectReason.UNREADABLE_REST])


def test_child_reads_no_other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = tmp_path / "secret"
    secret.write_text("words")
    monkeypatch.setattr(child, "LAUNCH", f"import sys; sys.stdout.write(open({str(secret)!r}).read())")
    assert "status 1" in unpack_error(gz(GOOD.decode())).detail


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_ordinary_tar_is_read(form: int) -> None:
    files = {f"folder/{'n' * length}.tex": bytes(length) for length in (1, 99, 255, 513)} | {"main.tex": GOOD}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as made:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            made.addfile(info, io.BytesIO(data))
    assert process.unpack(gzip.compress(out.getvalue())) == files
    assert read_delivered(out.getvalue()) == (list(files.items()), [])
