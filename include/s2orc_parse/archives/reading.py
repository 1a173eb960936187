"""Reads hostile archives; runs in a child process of its own (`LAUNCH`, then this folder, a mode and its limits).

Standard library only and no import of this package: a bare interpreter runs this module, and the package takes a second to import.
The archive comes on standard input. `source` reads an arXiv source as a whole: tar.gz, one gzipped file, tar or bare TeX. `stream` reads
an uncompressed tar of any size. Answers are frames: a line of JSON, then as many bytes as the line says.
"""

from __future__ import annotations

import json
import re
import sys
import tarfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import PurePosixPath
from typing import IO, Any

LAUNCH = "import sys; sys.path.insert(0, sys.argv[1]); import reading; reading.main()"
MAX_HEADER_BYTES = 64 << 10
"""Bytes of an extended header: CPython's reader takes quadratic time over it."""
MAX_NAME = 4096
_MAX_SIZE = 1 << 36
"""Bytes of a member: a larger size is damage."""
_EXTENDED = (b"x", b"g", b"X", b"L", b"K")
_LONG_NUMBER = re.compile(rb"[0-9]{256}")  # CPython before 3.11.10 tries every digit as the beginning of a number
_TEXT_SUFFIXES = (".tex", ".ltx", ".latex", ".bbl", ".bib", ".sty", ".cls", ".def", ".txt", ".bst", ".readme")
_CHUNK = 1 << 20
_WITHDRAWN = re.compile(rb"auto-ignore|\bwithdrawn\b", re.IGNORECASE)


class BadArchive(Exception):
    """An archive that gives no files: the word for its outcome (`latex.Outcome`), and a detail."""

    def __init__(self, outcome: str, detail: str = "") -> None:
        super().__init__(outcome, detail)
        self.outcome = outcome
        self.detail = detail


class _Header(tarfile.TarInfo):
    """A header of a tar with a size that can be true."""

    @classmethod
    def frombuf(cls, buf: Any, encoding: str, errors: str) -> _Header:
        """Return the header of a block. Raises HeaderError."""
        found = super().frombuf(buf, encoding, errors)
        if not 0 <= found.size <= _MAX_SIZE:
            raise _ImpossibleSize("a header says a size that no file has")
        if found.type in _EXTENDED and found.size > MAX_HEADER_BYTES:
            raise _ImpossibleSize(f"an extended header has more than {MAX_HEADER_BYTES} bytes")
        return found


class _ImpossibleSize(tarfile.TarError):
    """A size that no member has. No HeaderError: `tarfile` takes those for the end of the archive."""


class _ForwardFile:
    """A file that `tarfile` can only read forward: no header makes it read anything twice, or seek behind the end for ever.

    Extended headers are checked before `tarfile` reads their numbers.
    """

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._at = 0
        self._is_extended = False

    def tell(self) -> int:
        """Return the number of bytes read."""
        return self._at

    def read(self, size: int) -> bytes:
        """Return the next bytes. Raises ReadError where a number is too long."""
        data = self._raw.read(size)
        self._at += len(data)
        if self._is_extended and _LONG_NUMBER.search(data):
            raise tarfile.ReadError("an extended header has a number of more than 255 digits")
        self._is_extended = len(data) == tarfile.BLOCKSIZE and not self._is_extended and data[156:157] in _EXTENDED
        return data

    def seek(self, position: int) -> None:
        """Skip bytes, at most to the end. Raises ReadError for a place before this one."""
        if position < self._at:
            raise tarfile.ReadError("a member begins before the end of another one")
        while self._at < position and (skipped := self._raw.read(min(position - self._at, _CHUNK))):
            self._at += len(skipped)


def tar_members(file: IO[bytes]) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """Yield the members of an uncompressed tar in their order.

    Raises:
        Exception: of many types, if the archive is damaged; `describe` says how.
    """
    forward: Any = _ForwardFile(file)
    with tarfile.open(fileobj=forward, mode="r:", tarinfo=_Header, errorlevel=0) as archive:
        while (member := archive.next()) is not None:
            if not 0 <= member.size <= _MAX_SIZE:
                raise _ImpossibleSize("a header says a size that no file has")
            yield archive, member
            archive.members = []  # type: ignore[attr-defined]  # tarfile keeps every header it has seen


def describe(error: Exception) -> str:
    """Return what is wrong with an archive, from what its reading raised."""
    if isinstance(error, RecursionError):
        return "too many extended headers, one after the other"
    kind = "" if isinstance(error, tarfile.TarError) else f"{type(error).__name__}: "
    return f"{kind}{error}"[:200]


# -- an arXiv source


def unpack(data: bytes, max_unpacked: int, max_files: int, max_text: int) -> dict[str, bytes]:
    """Return the text files of a source archive by their names; figures and other data are counted but not kept.

    Raises:
        BadArchive: with the outcome, and no other exception but MemoryError, whatever the bytes are.
    """
    content = _inflate(data, max_unpacked) if data[:2] == b"\x1f\x8b" else data
    if content[:4] in (b"%PDF", b"%!PS") or content[:5] == b"\x04%!PS":
        raise BadArchive("pdf_only")
    if not _is_tar(content):
        _check_single(content, max_text)
        files, has_pdf = {"main.tex": content}, False
    else:
        files, has_pdf = _text_files(content, max_files, max_text)
    tex = [text for name, text in files.items() if name.lower().endswith((".tex", ".ltx", ".latex"))]
    if all(len(text) < 4096 and b"\\begin" not in text for text in tex):
        if any(_WITHDRAWN.search(text) for text in files.values()):
            raise BadArchive("withdrawn")
        if not tex:
            raise BadArchive("pdf_only" if has_pdf else "no_latex", "no TeX file in it")
    return files


def _inflate(data: bytes, max_unpacked: int) -> bytes:
    """Return the content of a gzip file within its limit; its checksum is verified."""
    inflater = zlib.decompressobj(wbits=31)
    out = bytearray()
    rest = data
    try:
        while not inflater.eof:
            out += inflater.decompress(rest, _CHUNK)
            rest = inflater.unconsumed_tail
            if len(out) > max_unpacked:
                raise BadArchive("too_large", f"more than {max_unpacked} bytes once unpacked")
            if not rest and not inflater.eof:
                raise BadArchive("damaged", "the gzip file breaks off")
    except zlib.error as error:
        raise BadArchive("damaged", str(error)) from None
    return bytes(out)


def _is_tar(content: bytes) -> bool:
    if len(content) < tarfile.BLOCKSIZE:
        return False
    try:
        tarfile.TarInfo.frombuf(content[: tarfile.BLOCKSIZE], "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


def _text_files(content: bytes, max_files: int, max_text: int) -> tuple[dict[str, bytes], bool]:
    """Return the text files of a tar, and whether it contains a PDF; every member is checked."""
    files: dict[str, bytes] = {}
    total, has_pdf = 0, False
    try:
        for number, (archive, member) in enumerate(tar_members(BytesIO(content)), 1):
            if number > max_files:
                raise BadArchive("too_many_files", f"more than {max_files}")
            if member.isdir():
                continue
            if member.issym() or member.islnk():
                raise BadArchive("unsafe:link", member.name[:200])
            if not member.isreg():
                raise BadArchive("unsafe:device", member.name[:200])
            name = safe_name(member.name)
            if name is None:
                raise BadArchive("unsafe:path", member.name[:200])
            if member.size > len(content):
                raise BadArchive("damaged", f"{name[:200]} says it has {member.size} bytes")
            has_pdf |= name.lower().endswith((".pdf", ".ps", ".eps"))
            if not name.lower().endswith(_TEXT_SUFFIXES) and "readme" not in name.lower():
                continue
            total += member.size
            if total > max_text:
                raise BadArchive("too_large", f"more than {max_text} bytes of text files")
            stream = archive.extractfile(member)
            files[name] = stream.read() if stream else b""
            if len(files[name]) < member.size:
                raise BadArchive("damaged", f"{name[:200]} breaks off")
    except (BadArchive, MemoryError):
        raise
    except Exception as error:  # tarfile lets through whatever its parsing runs into
        raise BadArchive("damaged", describe(error)) from None
    return files, has_pdf


def safe_name(name: str) -> str | None:
    """Return a name inside the folder in its plain form; None if it leaves the folder or cannot be a name."""
    name = name.replace("\\", "/")
    if name.startswith("/") or "\0" in name or len(name) > 1024 or re.match(r"[A-Za-z]:", name):
        return None
    parts: list[str] = []
    for part in PurePosixPath(name).parts:
        if part == "..":
            if not parts:
                return None
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts) or None


def _check_single(content: bytes, max_text: int) -> None:
    """Raise BadArchive unless a single file is TeX."""
    if len(content) > max_text:
        raise BadArchive("too_large", f"more than {max_text} bytes of text")
    head = content[:4096]
    if b"\0" in head:
        raise BadArchive("not_an_archive", "binary data")
    if not content.strip():
        raise BadArchive("withdrawn", "empty")
    if b"\\" not in content and not _WITHDRAWN.search(head):
        raise BadArchive("not_an_archive" if b"<" not in head else "no_latex", "text without TeX in it")


# -- the child process


def main() -> None:
    """Read the archive on standard input, and write frames to standard output."""
    mode, limits = sys.argv[2], [int(value) for value in sys.argv[3:]]
    try:
        if mode == "source":
            for name, content in unpack(sys.stdin.buffer.read(), *limits).items():
                _put({"name": name}, content)
        else:
            _stream(*limits)
        _put({"end": True})
    except BadArchive as bad:
        _put({"outcome": bad.outcome, "detail": bad.detail})
    except MemoryError:
        _put({"outcome": "out_of_memory", "detail": "the archive needs more memory than it gets"})
    except Exception as error:  # tarfile lets through whatever its parsing runs into
        _put({"outcome": "damaged", "detail": describe(error)})
    sys.stdout.flush()


def _stream(max_bytes: int) -> None:
    """Write the regular files of a tar; of those that are too large the names only."""
    for archive, member in tar_members(sys.stdin.buffer):
        if not member.isfile():
            continue
        name = member.name[:MAX_NAME]
        if member.size > max_bytes:
            _put({"too_large": name})
        elif (content := archive.extractfile(member)) is not None:
            _put({"name": name}, content.read())


def _put(head: dict[str, Any], content: bytes = b"") -> None:
    sys.stdout.buffer.write(json.dumps({**head, "bytes": len(content)}).encode() + b"\n" + content)
