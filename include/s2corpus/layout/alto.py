"""A PDF's text as pdfalto sees it: runs pdfalto as a process and reads its ALTO XML."""

from __future__ import annotations

import math
import shutil
import signal
import tempfile
from functools import cache
from pathlib import Path

from lxml import etree

from s2corpus import sandbox
from s2corpus.sandbox.confine import NOT_CONFINED
from s2corpus.storage.transient import refuse_full

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

_NS = "{http://www.loc.gov/standards/alto/ns-v3#}"


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
    pages: list[Page] = []
    fonts: dict[str, Font] = {}
    blocks = tokens = 0
    events = etree.iterparse(
        path,
        events=("end",),
        tag=(f"{_NS}TextStyle", f"{_NS}Page"),
        recover=True,
        huge_tree=True,
        resolve_entities=False,
    )
    try:
        for _, element in events:
            if element.tag == f"{_NS}TextStyle":
                fonts[element.get("ID", "")] = Font.of(
                    element.get("FONTFAMILY", ""), _number(element, "FONTSIZE"), element.get("FONTSTYLE", "")
                )
                continue
            page = Page(len(pages) + 1, _number(element, "WIDTH"), _number(element, "HEIGHT"), [], [])
            for block in element.iter(f"{_NS}TextBlock"):
                blocks += 1
                if blocks > MAX_BLOCKS:
                    raise ExtractionError(Code.TOO_MANY_BLOCKS, f"more than {MAX_BLOCKS} blocks of text")
                for line in block.iter(f"{_NS}TextLine"):
                    found = _tokens(line, fonts)
                    tokens += len(found)
                    if tokens > MAX_TOKENS:
                        raise ExtractionError(Code.TOO_MANY_TOKENS, f"more than {MAX_TOKENS} tokens")
                    for start in range(0, len(found), MAX_LINE):
                        page.lines.append(Line(found[start : start + MAX_LINE], page.number, blocks))
            page.boxes = [
                _box(e) for e in element.iter(f"{_NS}Illustration") if _number(e, "WIDTH") + _number(e, "HEIGHT") > 0
            ]
            pages.append(page)
            element.clear()
    except etree.XMLSyntaxError as error:
        raise ExtractionError(Code.PDFALTO_CONVERSION_FAILURE, f"pdfalto's XML is not readable: {error}") from None
    return pages


def _tokens(line: etree._Element, fonts: dict[str, Font]) -> list[Token]:
    found: list[Token] = []
    space = False
    for child in line:
        if child.tag == f"{_NS}String":
            text = child.get("CONTENT", "").strip()[:MAX_TOKEN]
            if text:
                x, y = _number(child, "HPOS"), _number(child, "VPOS")
                font = fonts.get(child.get("STYLEREFS", "").split(" ")[0]) or Font("", 0.0)
                found.append(Token(text, x, y, x + _number(child, "WIDTH"), y + _number(child, "HEIGHT"), font, space))
                space = False
        elif child.tag == f"{_NS}SP":
            space = True
    return found


def _box(element: etree._Element) -> Box:
    x, y = _number(element, "HPOS"), _number(element, "VPOS")
    return Box(x, y, x + _number(element, "WIDTH"), y + _number(element, "HEIGHT"), element.get("TYPE") == "image")


def _number(element: etree._Element, name: str) -> float:
    try:
        return float(element.get(name, "0"))
    except ValueError:
        return 0.0
