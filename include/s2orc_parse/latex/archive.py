"""Unpacks an arXiv source as it comes: tar.gz, one gzipped file, tar, or bare TeX. In memory only: nothing is ever written.

A link, a device or a name that leaves the folder is not an accident: the archive is refused with it.
"""

from __future__ import annotations

import contextlib
import io
import re
import tarfile
import zlib
from pathlib import PurePosixPath

import deflate

from s2orc_parse.latex.outcome import BadSource, Outcome

MAX_PACKED = 128 << 20
MAX_UNPACKED = 256 << 20
"""Bytes of the whole archive once unpacked."""
MAX_FILES = 5_000
MAX_TEXT = 16 << 20
"""Bytes of all files that can hold text: what is larger is data."""
_TEXT_SUFFIXES = (".tex", ".ltx", ".latex", ".bbl", ".bib", ".sty", ".cls", ".def", ".txt", ".bst", ".readme")
_CHUNK = 1 << 20
_WITHDRAWN = re.compile(rb"auto-ignore|\bwithdrawn\b", re.IGNORECASE)


def unpack(data: bytes) -> dict[str, bytes]:
    """The text files of a source archive by their names; figures and other data are counted but not kept.

    Raises:
        BadSource: with the outcome; within the limits on bytes and files whatever the bytes are.
    """
    if len(data) > MAX_PACKED:
        raise BadSource(Outcome.TOO_LARGE, f"{len(data)} bytes; at most {MAX_PACKED} are read")
    content = _inflate(data) if data[:2] == b"\x1f\x8b" else data
    if content[:4] in (b"%PDF", b"%!PS") or content[:5] == b"\x04%!PS":
        raise BadSource(Outcome.PDF_ONLY)
    if not _is_tar(content):
        _check_single(content)
        files, has_pdf = {"main.tex": content}, False
    else:
        files, has_pdf = _members(content)
    tex = [text for name, text in files.items() if name.lower().endswith((".tex", ".ltx", ".latex"))]
    if all(len(text) < 4096 and b"\\begin" not in text for text in tex):
        if any(_WITHDRAWN.search(text) for text in files.values()):
            raise BadSource(Outcome.WITHDRAWN)
        if not tex:
            raise BadSource(Outcome.PDF_ONLY if has_pdf else Outcome.NO_LATEX, "no TeX file in it")
    return files


def _inflate(data: bytes) -> bytes:
    """The content of a gzip file, its limit and checksum observed.

    libdeflate takes a third of zlib's time, and needs the size, which the file ends with; what it refuses zlib reads, and says why.
    """
    size = int.from_bytes(data[-4:], "little")
    if 0 < size <= MAX_UNPACKED:
        with contextlib.suppress(deflate.DeflateError):
            return bytes(deflate.gzip_decompress(data, size))
    inflater = zlib.decompressobj(wbits=31)
    out = bytearray()
    rest = data
    try:
        while not inflater.eof:
            out += inflater.decompress(rest, _CHUNK)
            rest = inflater.unconsumed_tail
            if len(out) > MAX_UNPACKED:
                raise BadSource(Outcome.TOO_LARGE, f"more than {MAX_UNPACKED} bytes once unpacked")
            if not rest and not inflater.eof:
                raise BadSource(Outcome.DAMAGED, "the gzip file breaks off")
    except zlib.error as error:
        raise BadSource(Outcome.DAMAGED, str(error)) from None
    return bytes(out)


def _is_tar(content: bytes) -> bool:
    if len(content) < 512:
        return False
    try:
        tarfile.TarInfo.frombuf(content[:512], "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


def _members(content: bytes) -> tuple[dict[str, bytes], bool]:
    """The text files of a tar, and whether it holds a PDF; every member is looked at, whatever it holds."""
    files: dict[str, bytes] = {}
    total, has_pdf = 0, False
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:", errorlevel=0) as archive:
            for number, member in enumerate(archive, 1):
                if number > MAX_FILES:
                    raise BadSource(Outcome.TOO_MANY_FILES, f"more than {MAX_FILES}")
                if member.isdir():
                    continue
                if member.issym() or member.islnk():
                    raise BadSource(Outcome.UNSAFE_LINK, member.name[:200])
                if not member.isreg():
                    raise BadSource(Outcome.UNSAFE_DEVICE, member.name[:200])
                name = safe_name(member.name)
                if name is None:
                    raise BadSource(Outcome.UNSAFE_PATH, member.name[:200])
                if member.size > len(content):
                    raise BadSource(Outcome.DAMAGED, f"{name[:200]} says it has {member.size} bytes")
                has_pdf |= name.lower().endswith((".pdf", ".ps", ".eps"))
                if not name.lower().endswith(_TEXT_SUFFIXES) and "readme" not in name.lower():
                    continue
                total += member.size
                if total > MAX_TEXT:
                    raise BadSource(Outcome.TOO_LARGE, f"more than {MAX_TEXT} bytes of text files")
                stream = archive.extractfile(member)
                files[name] = stream.read() if stream else b""
                if len(files[name]) < member.size:
                    raise BadSource(Outcome.DAMAGED, f"{name[:200]} breaks off")
    except (tarfile.TarError, OSError, EOFError, ValueError, OverflowError) as error:
        raise BadSource(Outcome.DAMAGED, str(error)[:200]) from None
    return files, has_pdf


def safe_name(name: str) -> str | None:
    """A name inside the folder in its plain form; None if it leaves it or cannot be a name."""
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


def _check_single(content: bytes) -> None:
    """A single file is TeX, or there is nothing here."""
    if len(content) > MAX_TEXT:
        raise BadSource(Outcome.TOO_LARGE, f"more than {MAX_TEXT} bytes of text")
    head = content[:4096]
    if b"\0" in head:
        raise BadSource(Outcome.NOT_AN_ARCHIVE, "binary data")
    if not content.strip():
        raise BadSource(Outcome.WITHDRAWN, "empty")
    if b"\\" not in content and not _WITHDRAWN.search(head):
        raise BadSource(Outcome.NOT_AN_ARCHIVE if b"<" not in head else Outcome.NO_LATEX, "text without TeX in it")
