"""A PDF's text as pdfalto sees it: runs pdfalto as a process and reads its ALTO XML."""

from __future__ import annotations

import math
import shutil
import signal
import tempfile
from functools import cache
from pathlib import Path
from xml.parsers import expat

from lxml import etree

from s2corpus import sandbox
from s2corpus.sandbox.confine import NOT_CONFINED
from s2corpus.storage.transient import refuse_full

from .directions import CONTROLS
from .errors import Code, ExtractionError
from .model import Box, Document, Font, Line, Page, Token

MEMORY_BYTES = 2 << 30
"""Address space pdfalto may have."""
OUTPUT_BYTES = 256 << 20
"""Size its XML may have."""
MAX_BLOCKS = 100_000
MAX_TOKENS = 1_000_000
"""GROBID's limits (grobid.yaml: blocksMax, tokensMax)."""
MAX_LINE = 250
"""Tokens of a line; a longer one is none and is cut."""
MAX_TOKEN = 250
"""Characters of a token; what goes beyond is dropped."""

_NO_FONT = Font("", 0.0)


@cache
def _binary() -> str:
    from pdfalto import binary_path

    return str(binary_path())


def _convert(folder: Path, timeout: float) -> None:
    """Writes the ALTO XML of a folder's `in.pdf` to `a.xml`, its metadata beside it.

    Raises ExtractionError: TIMEOUT, or PDFALTO_CONVERSION_FAILURE on a non-zero exit."""
    options = [
        "-q",
        "-readingOrder",
        "-fullFontName",
        "-noLineNumbers",
        "-onlyGraphsCoord",
        "-vectorBoxes",
        "-vectorCoordsOnly",
        "-vectorLimit",
        "5000",
    ]
    limits = {"AS": MEMORY_BYTES, "FSIZE": OUTPUT_BYTES, "CORE": 0, "CPU": math.ceil(timeout) + 1}
    policy = sandbox.Policy(str(folder), read=sandbox.beside(_binary()), limits=limits)
    status = sandbox.wait(sandbox.start([_binary(), *options, "in.pdf", "a.xml"], policy, seconds=timeout), timeout)
    if status is None or status == -signal.SIGXCPU:
        raise ExtractionError(Code.TIMEOUT, f"pdfalto took more than {timeout:g} s")
    refuse_full(folder)  # else half a file would be read for the whole
    if status == NOT_CONFINED:
        raise OSError("pdfalto could not be started in its sandbox")
    if status != 0 or not (folder / "a.xml").exists():
        raise ExtractionError(Code.PDFALTO_CONVERSION_FAILURE, f"pdfalto ended with status {status}")


def read(pdf: Path, timeout: float) -> Document:
    """The pages of a PDF.

    Raises ExtractionError: BAD_INPUT_DATA if it is not a PDF, TIMEOUT, PDFALTO_CONVERSION_FAILURE, TOO_MANY_BLOCKS,
    TOO_MANY_TOKENS."""
    with pdf.open("rb") as file:
        if b"%PDF-" not in file.read(1024):
            raise ExtractionError(Code.BAD_INPUT_DATA, "not a PDF: no %PDF- in its first 1,024 bytes")
    with tempfile.TemporaryDirectory(prefix="s2corpus-alto-") as folder:
        out = Path(folder) / "a.xml"
        shutil.copyfile(pdf, out.with_name("in.pdf"))
        _convert(out.parent, timeout)
        return Document(list(_pages(out)), _claimed_title(out.with_name("a_metadata.xml")))


def _claimed_title(path: Path) -> str:
    if not path.exists():
        return ""
    try:
        root = etree.parse(path, etree.XMLParser(recover=True, resolve_entities=False)).getroot()
    except etree.XMLSyntaxError:
        return ""
    return " ".join((root.findtext("TITLE") or "").split()) if root is not None else ""


def _pages(path: Path) -> list[Page]:
    reader = _Reader()
    try:
        reader.read(path.read_bytes())
    except expat.ExpatError:  # characters that XML forbids, say: libxml2 leaves them out
        root = etree.parse(path, etree.XMLParser(recover=True, huge_tree=True, resolve_entities=False)).getroot()
        if root is None:
            raise ExtractionError(Code.PDFALTO_CONVERSION_FAILURE, "pdfalto's XML is not readable") from None
        reader = _Reader()
        try:
            reader.read(etree.tostring(root))
        except expat.ExpatError as error:
            raise ExtractionError(Code.PDFALTO_CONVERSION_FAILURE, f"pdfalto's XML is not readable: {error}") from None
    return reader.pages


class _Reader:
    """Pages from ALTO's elements in document order, by expat: half the time of a tree."""

    def __init__(self) -> None:
        self.pages: list[Page] = []
        self._fonts: dict[str, Font] = {}
        self._line: list[Token] = []
        self._space = False
        self._blocks = self._tokens = 0

    def read(self, xml: bytes) -> None:
        """Read a whole document."""
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EntityDeclHandler = _refuse_entity
        parser.Parse(xml, True)
        self._end_line()

    def _start(self, tag: str, given: dict[str, str]) -> None:
        if tag == "SP":
            self._space = True
        elif tag == "String":
            text = given.get("CONTENT", "").strip()
            if not text.isascii():
                text = CONTROLS.sub("", text)
            if not text:
                return
            font = self._fonts.get(given.get("STYLEREFS", "").partition(" ")[0]) or _NO_FONT
            try:
                x, y = float(given["HPOS"]), float(given["VPOS"])
                right, bottom = x + float(given["WIDTH"]), y + float(given["HEIGHT"])
            except (KeyError, ValueError):
                x, y = _number(given, "HPOS"), _number(given, "VPOS")
                right, bottom = x + _number(given, "WIDTH"), y + _number(given, "HEIGHT")
            self._line.append(Token(text[:MAX_TOKEN], x, y, right, bottom, font, self._space))
            self._space = False
        elif tag == "TextLine":
            self._end_line()
        elif tag == "TextBlock":
            self._end_line()
            self._blocks += 1
            if self._blocks > MAX_BLOCKS:
                raise ExtractionError(Code.TOO_MANY_BLOCKS, f"more than {MAX_BLOCKS} blocks of text")
        elif tag == "Illustration":
            x, y, width, height = (_number(given, name) for name in ("HPOS", "VPOS", "WIDTH", "HEIGHT"))
            if width + height > 0 and self.pages:
                self.pages[-1].boxes.append(Box(x, y, x + width, y + height, given.get("TYPE") == "image"))
        elif tag == "Page":
            self._end_line()
            width, height = _number(given, "WIDTH"), _number(given, "HEIGHT")
            self.pages.append(Page(len(self.pages) + 1, width, height, [], []))
        elif tag == "TextStyle":
            font = Font.of(given.get("FONTFAMILY", ""), _number(given, "FONTSIZE"), given.get("FONTSTYLE", ""))
            self._fonts[given.get("ID", "")] = font

    def _end_line(self) -> None:
        """Lines of what was read since the line before began."""
        found, self._line, self._space = self._line, [], False
        self._tokens += len(found)
        if self._tokens > MAX_TOKENS:
            raise ExtractionError(Code.TOO_MANY_TOKENS, f"more than {MAX_TOKENS} tokens")
        if not self.pages:
            return
        page = self.pages[-1]
        for start in range(0, len(found), MAX_LINE):
            page.lines.append(Line(found[start : start + MAX_LINE], page.number, self._blocks))


def _refuse_entity(*_: object) -> None:
    raise ExtractionError(Code.PDFALTO_CONVERSION_FAILURE, "pdfalto's XML declares entities")


def _number(given: dict[str, str], name: str) -> float:
    try:
        return float(given.get(name, "0"))
    except ValueError:
        return 0.0
