"""Read hostile archives in a separate child process (`LAUNCH`, then this folder, a mode and its limits).

This module uses only the standard library and imports nothing of its package: a bare interpreter runs it, and importing
the package takes a second. The archive is read from standard input. `source` reads a complete arXiv source: tar.gz, one
gzipped file, tar or plain TeX. `stream` reads an uncompressed tar of any size. The output consists of frames: a line of
JSON, then the number of bytes that the line states.
"""

from __future__ import annotations

import json
import posixpath
import re
import sys
import tarfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import IO, Any, Self

LAUNCH = "import sys; sys.path.insert(0, sys.argv[1]); import reading; reading.main()"
MAX_HEADER_BYTES = 64 << 10
"""maximum size of an extended header, for which CPython's reader takes quadratic time"""
MAX_NAME = 4096
_MAX_SIZE = 1 << 36
"""maximum size of a member; a larger size means that the archive is damaged"""
_EXTENDED = (b"x", b"g", b"X", b"L", b"K")
_LONG_NUMBER = re.compile(rb"[0-9]{256}")  # CPython before 3.11.10 takes quadratic time for such numbers
_TEXT_SUFFIXES = (".tex", ".ltx", ".latex", ".bbl", ".bib", ".sty", ".cls", ".def", ".txt", ".bst", ".readme")
_CHUNK = 1 << 20
_WITHDRAWN = re.compile(rb"auto-ignore|\bwithdrawn\b", re.IGNORECASE)


class BadArchive(Exception):
    """An archive without usable files: its outcome (a value of `LatexOutcome`) and a detail."""

    def __init__(self, outcome: str, detail: str = "") -> None:
        super().__init__(outcome, detail)
        self.outcome = outcome
        self.detail = detail


class _Header(tarfile.TarInfo):
    """A tar header with a plausible size."""

    @classmethod
    def frombuf(cls, buf: Any, encoding: str, errors: str) -> _Header:
        """Return the header of a block. Raises HeaderError."""
        found = super().frombuf(buf, encoding, errors)
        if not 0 <= found.size <= _MAX_SIZE:
            raise _BadHeader("a header states an impossible size")
        if found.type in _EXTENDED and found.size > MAX_HEADER_BYTES:
            raise _BadHeader(f"an extended header has more than {MAX_HEADER_BYTES} bytes")
        return found

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        """Return the next header. Raises HeaderError at the end of the archive, _BadHeader for a later header that is damaged."""
        try:
            return super().fromtarfile(archive)
        except (tarfile.InvalidHeaderError, tarfile.TruncatedHeaderError) as error:  # type: ignore[attr-defined]  # not in its stubs
            if archive.offset == 0:  # not an archive
                raise
            raise _BadHeader(f"a header is damaged: {error}") from None


class _BadHeader(tarfile.TarError):
    """A damaged header. It is not a HeaderError, which `tarfile` interprets as the end of the archive: later members would be lost."""


class _ForwardFile:
    """A file that `tarfile` can only read forward, so that no header causes repeated reads or endless seeks.

    It checks extended headers before `tarfile` parses their numbers.
    """

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._at = 0
        self._is_extended = False

    def tell(self) -> int:
        """Return the number of bytes read."""
        return self._at

    def read(self, size: int) -> bytes:
        """Return the next bytes. Raises ReadError if a number is too long."""
        data = self._raw.read(size)
        self._at += len(data)
        if self._is_extended and _LONG_NUMBER.search(data):
            raise tarfile.ReadError("an extended header has a number with more than 255 digits")
        self._is_extended = len(data) == tarfile.BLOCKSIZE and not self._is_extended and data[156:157] in _EXTENDED
        return data

    def seek(self, position: int) -> None:
        """Skip bytes, at most to the end of the file. Raises ReadError for an earlier position."""
        if position < self._at:
            raise tarfile.ReadError("a member begins before the end of the previous member")
        while self._at < position and (skipped := self._raw.read(min(position - self._at, _CHUNK))):
            self._at += len(skipped)


def tar_members(file: IO[bytes]) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """Yield the members of an uncompressed tar in order. For a damaged one, raise any exception; `describe_error` describes it."""
    forward: Any = _ForwardFile(file)
    with tarfile.open(fileobj=forward, mode="r:", tarinfo=_Header, errorlevel=0) as archive:
        while (member := archive.next()) is not None:
            if not 0 <= member.size <= _MAX_SIZE:
                raise _BadHeader("a header states an impossible size")
            yield archive, member
            archive.members = []  # type: ignore[attr-defined]  # free the headers that tarfile stores


def describe_error(error: Exception) -> str:
    """Return a message for an exception that was raised while an archive was read."""
    if isinstance(error, RecursionError):
        return "too many extended headers, one after the other"
    kind = "" if isinstance(error, tarfile.TarError) else f"{type(error).__name__}: "
    return f"{kind}{error}"[:200]


# -- an arXiv source


def unpack_source(data: bytes, max_unpacked: int, max_files: int, max_text: int) -> dict[str, bytes]:
    """Return the text files of a source archive by name. Figures and other data are counted but not stored.

    Raises BadArchive with the outcome; besides it, only MemoryError is raised, for any input.
    """
    content = _inflate(data, max_unpacked) if data[:2] == b"\x1f\x8b" else data
    if content[:4] in (b"%PDF", b"%!PS") or content[:5] == b"\x04%!PS":
        raise BadArchive("pdf_only")
    if not _is_tar(content):
        _check_single(content, max_text)
        files, has_pdf = {"main.tex": content}, False
    else:
        files, has_pdf = _read_text_files(content, max_files, max_text)
    tex = [text for name, text in files.items() if name.lower().endswith((".tex", ".ltx", ".latex"))]
    if all(len(text) < 4096 and b"\\begin" not in text for text in tex):
        if any(_WITHDRAWN.search(text) for text in files.values()):
            raise BadArchive("withdrawn")
        if not tex:
            raise BadArchive("pdf_only" if has_pdf else "no_latex", "contains no TeX file")
    return files


def _inflate(data: bytes, max_unpacked: int) -> bytes:
    """Return the content of a gzip file, within the size limit and with a verified checksum."""
    inflater = zlib.decompressobj(wbits=31)
    out = bytearray()
    rest = data
    try:
        while not inflater.eof:
            out += inflater.decompress(rest, _CHUNK)
            rest = inflater.unconsumed_tail
            if len(out) > max_unpacked:
                raise BadArchive("too_large", f"more than {max_unpacked} bytes after unpacking")
            if not rest and not inflater.eof:
                raise BadArchive("damaged", "the gzip file is truncated")
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


def _read_text_files(content: bytes, max_files: int, max_text: int) -> tuple[dict[str, bytes], bool]:
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
            name = normalize_member_name(member.name)
            if name is None:
                raise BadArchive("unsafe:path", member.name[:200])
            if member.size > len(content):
                raise BadArchive("damaged", f"{name[:200]} states a size of {member.size} bytes")
            has_pdf |= name.lower().endswith((".pdf", ".ps", ".eps"))
            if not name.lower().endswith(_TEXT_SUFFIXES) and "readme" not in name.lower():
                continue
            total += member.size
            if total > max_text:
                raise BadArchive("too_large", f"more than {max_text} bytes of text files")
            stream = archive.extractfile(member)
            files[name] = stream.read() if stream else b""
            if len(files[name]) < member.size:
                raise BadArchive("damaged", f"{name[:200]} is truncated")
    except (BadArchive, MemoryError):
        raise
    except Exception as error:  # tarfile does not catch all exceptions of its parser
        raise BadArchive("damaged", describe_error(error)) from None
    return files, has_pdf


def normalize_member_name(name: str) -> str | None:
    """Return a relative name in normalized form, or None if it leaves the folder or is not a valid name."""
    name = name.replace("\\", "/")
    if name.startswith("/") or "\0" in name or len(name) > 1024 or re.match(r"[A-Za-z]:", name):
        return None
    name = posixpath.normpath(name)
    return None if name in (".", "..") or name.startswith("../") else name


def _check_single(content: bytes, max_text: int) -> None:
    """Raise BadArchive unless a single file contains TeX."""
    if len(content) > max_text:
        raise BadArchive("too_large", f"more than {max_text} bytes of text")
    head = content[:4096]
    if b"\0" in head:
        raise BadArchive("not_an_archive", "binary data")
    if not content.strip():
        raise BadArchive("withdrawn", "empty")
    if b"\\" not in content and not _WITHDRAWN.search(head):
        raise BadArchive("not_an_archive" if b"<" not in head else "no_latex", "contains no TeX")


# -- the child process


def main() -> None:
    """Read the archive from standard input and write frames to standard output."""
    mode, limits = sys.argv[2], [int(value) for value in sys.argv[3:]]
    try:
        if mode == "source":
            for name, content in unpack_source(sys.stdin.buffer.read(), *limits).items():
                _write_frame({"name": name}, content)
        else:
            _stream(*limits)
        _write_frame({"end": True})
    except BadArchive as bad:
        _write_frame({"outcome": bad.outcome, "detail": bad.detail})
    except MemoryError:
        _write_frame({"outcome": "out_of_memory", "detail": "the archive needs more memory than allowed"})
    except Exception as error:  # tarfile does not catch all exceptions of its parser
        _write_frame({"outcome": "damaged", "detail": describe_error(error)})
    sys.stdout.flush()


def _stream(max_bytes: int) -> None:
    """Write the regular files of a tar; for too large files write only the names."""
    for archive, member in tar_members(sys.stdin.buffer):
        if not member.isfile():
            continue
        name = member.name[:MAX_NAME]
        if member.size > max_bytes:
            _write_frame({"too_large": name})
        elif (content := archive.extractfile(member)) is not None:
            _write_frame({"name": name}, content.read())


def _write_frame(head: dict[str, Any], content: bytes = b"") -> None:
    sys.stdout.buffer.write(json.dumps({**head, "bytes": len(content)}).encode() + b"\n" + content)
