"""Run pdfalto on a PDF and read its ALTO XML."""

from __future__ import annotations

import math
import re
import shutil
import signal
import tempfile
from contextlib import suppress
from dataclasses import replace
from functools import cache
from html import unescape
from pathlib import Path
from unicodedata import normalize

from lxml import etree

from pdf2tei.errors import Code, ExtractionError
from pdf2tei.pages.alto_cache import MEMORY_BYTES, OPTIONS, unpack
from pdf2tei.pages.directions import CONTROLS
from pdf2tei.pages.model import Box, Document, Font, Line, Page, Token
from s2orc_parse import sandbox
from s2orc_parse.outputs import check_free_space
from s2orc_parse.sandbox.confine import NOT_CONFINED
from s2orc_parse.words import LIGATURES

OUTPUT_BYTES = 256 << 20  # maximum size of a file that pdfalto writes, in bytes
MAX_BLOCKS = 5_000
MAX_TOKENS = 20_000
"""Limits of a page; a dense page has a tenth. A page that exceeds a limit, such as a diagram of 10,000 letters, is left out."""
MAX_DOCUMENT_TOKENS = 1_000_000  # GROBID's limit (grobid.yaml: tokensMax). The pages after it are left out.
MAX_LINE = 250  # maximum number of tokens of a line; longer lines are cut
MAX_TOKEN = 250  # maximum number of characters of a token; the rest is dropped

_NO_FONT = Font("", 0.0)
_PRINTED = {**LIGATURES, **{0xF700 + ord(x): x for x in "0123456789abcdefghijklmnopqrstuvwxyz"}}
"""Ligatures, and Adobe's private codes of old-style digits and small capitals (corporate use subarea of its glyph list)."""


@cache
def _binary() -> str:
    from pdfalto import binary_path

    return str(binary_path())


def _convert(folder: Path, timeout: float) -> None:
    """Write the ALTO XML of a folder's `in.pdf` to `a.xml`, and its metadata to `a_metadata.xml`.

    Raises:
        ExtractionError: TIMEOUT, or PDFALTO_CONVERSION_FAILURE on a non-zero exit.
    """
    limits = {"AS": MEMORY_BYTES, "FSIZE": OUTPUT_BYTES, "CORE": 0, "CPU": math.ceil(timeout) + 1}
    policy = sandbox.Policy(str(folder), read=sandbox.data_folders(_binary()), limits=limits)
    status = sandbox.wait(sandbox.start([_binary(), *OPTIONS, "in.pdf", "a.xml"], policy, seconds=timeout), timeout)
    if status is None or status == -signal.SIGXCPU:
        raise ExtractionError(Code.TIMEOUT, f"pdfalto took more than {timeout:g} s")
    check_free_space(folder)  # otherwise a truncated file would pass as complete
    if status == NOT_CONFINED:
        raise OSError("pdfalto could not be started in its sandbox")
    if status != 0 or not (folder / "a.xml").exists():
        raise ExtractionError(Code.PDFALTO_CONVERSION_FAILURE, f"pdfalto ended with status {status}")


def read_document(pdf: Path, timeout: float, cached: Path | None = None) -> Document:
    """Return the pages of a PDF and the title in its metadata, from the cached output of pdfalto if it is usable.

    Raises:
        ExtractionError: BAD_INPUT_DATA if it is not a PDF, TIMEOUT, PDFALTO_CONVERSION_FAILURE.
    """
    with pdf.open("rb") as file:
        if b"%PDF-" not in file.read(1024):
            raise ExtractionError(Code.BAD_INPUT_DATA, "not a PDF: no %PDF- in its first 1,024 bytes")
    if cached is not None and (found := unpack(cached)) is not None:
        with suppress(ExtractionError):
            return Document(read_pages(found[0]), _read_metadata_title(found[1]))
    with tempfile.TemporaryDirectory(prefix="s2corpus-alto-") as folder:
        out = Path(folder) / "a.xml"
        shutil.copyfile(pdf, out.with_name("in.pdf"))
        _convert(out.parent, timeout)
        metadata = out.with_name("a_metadata.xml")
        title = _read_metadata_title(metadata.read_bytes() if metadata.exists() else b"")
        return Document(read_pages(out.read_bytes()), title)


def _read_metadata_title(xml: bytes) -> str:
    try:
        root = etree.fromstring(xml, etree.XMLParser(recover=True, resolve_entities=False))
    except etree.XMLSyntaxError:
        return ""
    return " ".join((root.findtext("TITLE") or "").split()) if root is not None else ""


def read_pages(xml: bytes) -> list[Page]:
    """Return the pages in pdfalto's XML.

    Raises:
        ExtractionError: PDFALTO_CONVERSION_FAILURE if it declares entities.
    """
    text = xml.translate(_CONTROL_TO_INVALID).decode("utf-8", "replace")
    if "<!" in text:  # pdfalto escapes `<` in values and writes no declarations
        raise ExtractionError(Code.PDFALTO_CONVERSION_FAILURE, "pdfalto's XML declares entities")
    reader = _Reader()
    reader.read(text.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd"))
    return reader.pages


_CONTROL_TO_INVALID = bytes(byte if byte > 31 or byte in b"\t\n\r" else 0xFF for byte in range(256))
"""Table that maps control characters, which XML forbids, to the invalid byte 0xFF. It is decoded as U+FFFD."""
_WORD = re.compile(
    r'<S(?:P |tring ID="[^"]*" CONTENT="([^"]*)" HPOS="([^"]*)" VPOS="([^"]*)" WIDTH="([^"]*)" HEIGHT="([^"]*)" STYLEREFS="([^" ]*))'
)
"""Match an SP element, or a String element with its attributes in pdfalto's order."""
_NAMES = ("CONTENT", "HPOS", "VPOS", "WIDTH", "HEIGHT", "STYLEREFS")
_ELEMENT = re.compile(r"<(\w+)([^<>]*)>")
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_MIN_SPACE = 0.12
"""Minimum space before a word that begins with an accented letter, in type sizes: composed accents stand apart."""


def _read_attributes(xml: str) -> dict[str, str]:
    return {name: unescape(value) for name, value in _ATTRIBUTE.findall(xml)}


class _Reader:
    """A reader of ALTO elements in document order, with patterns in place of an XML parser.

    It takes a third of the time of an XML parser. It relies on pdfalto's libxml2, which escapes markup in attribute values.
    """

    def __init__(self) -> None:
        self.pages: list[Page] = []
        self._fonts: dict[str, Font] = {}
        self._blocks = self._tokens = 0
        self._first_block = self._page_tokens = 0

    def read(self, xml: str) -> None:
        """Read a complete document."""
        before, *lines = xml.split("<TextLine ")
        self._read_elements(before)
        for line in lines:
            line_xml, _, rest = line.partition("</TextLine>")
            self._read_line(line_xml)
            if "<" in rest:
                self._read_elements(rest)

    def _read_elements(self, xml: str) -> None:
        """Process the elements between lines."""
        for tag, rest in _ELEMENT.findall(xml):
            if tag == "TextBlock":
                self._blocks += 1
            elif tag == "Illustration" and self.pages:
                given = _read_attributes(rest)
                x, y, width, height = (_number(given.get(name, "")) for name in ("HPOS", "VPOS", "WIDTH", "HEIGHT"))
                if width + height > 0:
                    self.pages[-1].boxes.append(Box(x, y, x + width, y + height))
            elif tag == "Page":
                given = _read_attributes(rest)
                width, height = _number(given.get("WIDTH", "")), _number(given.get("HEIGHT", ""))
                self.pages.append(Page(len(self.pages) + 1, width, height, [], []))
                self._first_block, self._page_tokens = self._blocks, 0
            elif tag == "TextStyle":
                given = _read_attributes(rest)
                size = _number(given.get("FONTSIZE", ""))
                font = Font.from_pdfalto(given.get("FONTFAMILY", ""), size, given.get("FONTSTYLE", ""))
                self._fonts[given.get("ID", "")] = font

    def _read_line(self, xml: str) -> None:
        words = _WORD.findall(xml)
        if len(words) < xml.count("<"):  # other attributes, or in another order
            found = (_read_attributes(rest) if tag == "String" else {} for tag, rest in _ELEMENT.findall(xml))
            words = [tuple(given.get(name, "") for name in _NAMES) for given in found]
        tokens: list[Token] = []
        fonts = self._fonts
        space = False
        for content, left, top, w, h, style in words:
            if not content:
                space = space or not style
                continue
            text = unescape(content).strip() if "&" in content else content.strip()
            if not text.isascii():
                text = CONTROLS.sub("", text).translate(_PRINTED)
            if not text:
                continue
            try:
                x, y, width, height = float(left), float(top), float(w), float(h)
            except ValueError:
                x, y, width, height = map(_number, (left, top, w, h))
            font = fonts.get(style, _NO_FONT)
            if text == "," and tokens and x + width < tokens[-1].x1:  # a comma below its letter: ț
                tokens[-1] = replace(tokens[-1], text=normalize("NFC", tokens[-1].text + "\u0326"))
                continue
            before = tokens[-1].text[-1:] if space and tokens else ""
            is_accented = text[0] > "\x7f" and before.isalpha() and (text[0].islower() or before.isupper())
            if before and (is_accented or before in "șțȘȚ"):
                space = (
                    x - tokens[-1].x1 > _MIN_SPACE * (1.3 if text[0].isupper() else 1) * font.size
                )  # Val éry, SAGASTIZ ÁBAL
            tokens.append(Token(text[:MAX_TOKEN], x, y, x + width, y + height, font, space))
            space = False
        self._tokens += len(tokens)
        self._page_tokens += len(tokens)
        if self.pages:
            page = self.pages[-1]
            is_page_too_large = self._page_tokens > MAX_TOKENS or self._blocks - self._first_block > MAX_BLOCKS
            if page.is_left_out or is_page_too_large or self._tokens > MAX_DOCUMENT_TOKENS:
                page.is_left_out = True
                page.lines.clear()
                return
            for start in range(0, len(tokens), MAX_LINE):
                page.lines.append(Line(tokens[start : start + MAX_LINE], page.number, self._blocks))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
