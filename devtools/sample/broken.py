"""Make PDFs that a release must refuse, with reproducible bytes."""

from __future__ import annotations

import hashlib
import io
import random
from typing import Any

import pypdf
from pypdf.generic import ArrayObject, ByteStringObject


def treat(pdf: bytes, treatment: str | None) -> bytes:
    """Encrypt (with a user password, or only an owner password), rotate or truncate a PDF."""
    if treatment is None:
        return pdf
    if treatment == "truncate":
        return pdf[: len(pdf) // 2]
    writer = _Writer(clone_from=io.BytesIO(pdf))
    writer.identifier = hashlib.sha256(pdf).digest()[:16]
    if treatment == "rotate":
        for page in writer.pages:
            page.rotate(90)
    else:
        password = {"encrypt": "sesame", "owner_password": ""}[treatment]
        writer.encrypt(password, "owner", algorithm="RC4-128")  # without random numbers, unlike AES
    return _write(writer)


class _Writer(pypdf.PdfWriter):
    """A writer of reproducible bytes, with a fixed file identifier.

    An encrypted file's key depends on the identifier, which is random by default."""

    identifier: bytes

    def generate_file_identifiers(self) -> None:
        """Set the given identifier instead of a random one."""
        self._ID = ArrayObject((ByteStringObject(self.identifier), ByteStringObject(self.identifier)))


def _write(writer: pypdf.PdfWriter) -> bytes:
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def blank() -> bytes:
    """Return a PDF with one blank page."""
    writer = pypdf.PdfWriter()
    writer.add_blank_page(595, 842)
    return _write(writer)


def scan_svg(rng: random.Random) -> str:
    """Return a page of gray bars that look like printed lines, without text."""
    lines = []
    for i in range(48):
        y = 40 + i * 22
        lines.append(f'<rect x="60" y="{y}" width="{rng.randrange(420, 690)}" height="9" fill="#555"/>')
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="794" height="1123">{"".join(lines)}</svg>'


def not_found_page(template: dict[str, Any]) -> dict[str, Any]:
    """Return the page that some servers deliver for every missing paper."""
    sentence = "The article that you asked for is not available at this address. Please contact your library."
    blank = dict.fromkeys(("abstract", "keywords", "banner", "header", "doi_line"))
    blocks = [{"t": "par", "runs": [{"s": sentence}]}]
    return template | blank | {"title": "Page not found", "authors": "", "blocks": blocks, "refs": []}
