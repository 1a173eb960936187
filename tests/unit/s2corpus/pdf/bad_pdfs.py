"""Generated PDFs with every defect that a corpus contains, each with its expected outcome."""

import io
import zlib
from collections.abc import Callable, Sequence

import pypdf

from s2corpus.outcomes import SelectOutcome

A4 = b"[0 0 595 842]"
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
Objects = Sequence[bytes]


def assemble(objects: Objects, *, before: bytes = b"", startxref: int | None = None) -> bytes:
    """Return a PDF of these objects, numbered from 1; the first is the catalog."""
    out = bytearray(before + b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out) - len(before))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    xref = len(out) - len(before)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\n" % (len(objects) + 1)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % (xref if startxref is None else startxref))


def stream(data: bytes, entries: bytes = b"") -> bytes:
    """Return a PDF stream object."""
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), entries, data)


def text(words: str = "A study of things that are read.") -> bytes:
    """Return a content stream that prints a line."""
    return stream(b"BT /F1 12 Tf 72 500 Td (%s) Tj ET" % words.encode())


def page(content: int = 5, *, box: bytes = A4, more: bytes = b"") -> bytes:
    """Return a page object."""
    return (
        b"<< /Type /Page /Parent 2 0 R /MediaBox %s /Contents %d 0 R /Resources << /Font << /F1 4 0 R >> >> %s >>"
        % (box, content, more)
    )


def paper(
    *, box: bytes = A4, more: bytes = b"", catalog: bytes = b"", content: bytes | None = None, extra: Objects = ()
) -> list[bytes]:
    """Return a PDF with one page of text: catalog, page tree, page, font, content, and any extra objects."""
    return [
        b"<< /Type /Catalog /Pages 2 0 R %s >>" % catalog, b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>", page(box=box, more=more), FONT,
        text() if content is None else content, *extra,
    ]  # fmt: skip


def pages(boxes: Sequence[bytes]) -> list[bytes]:
    """Return a page of text for each box."""
    kids = b" ".join(b"%d 0 R" % (6 + i) for i in range(len(boxes)))
    return [
        b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(boxes)), b"null", FONT, text(),
        *(page(box=box) for box in boxes),
    ]  # fmt: skip


def encrypt(algorithm: str, user: str, owner: str) -> bytes:
    """Return an encrypted paper."""
    writer = pypdf.PdfWriter(io.BytesIO(assemble(paper())))
    writer.encrypt(user, owner, algorithm=algorithm)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def page_tree(entries: bytes) -> bytes:
    """Return a paper whose page tree has these entries."""
    objects = paper()
    objects[1] = b"<< /Type /Pages %s >>" % entries
    return assemble(objects)


def deflate(megabytes: int) -> bytes:
    """Return a zlib stream that unpacks to `megabytes` MB of zeros. Only one megabyte is packed, then repeated."""
    data = bytes(1 << 20)
    packer = zlib.compressobj(9)
    head = packer.compress(data) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(data) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = (megabytes * len(data) % 65521 << 16 | 1).to_bytes(4, "big")
    return head + block * (megabytes - 1) + b"\x03\x00" + checksum


def object_stream_bomb() -> bytes:
    """Return a PDF with all objects except the bomb in a compressed object stream that unpacks to 3 GB."""
    packed = deflate(3072)
    body = stream(packed, b"/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode")
    out = bytearray(b"%PDF-1.7\n")
    at = len(out)
    out += b"4 0 obj\n" + body + b"\nendobj\n"
    xref = len(out)
    rows = [(0, 0, 0), (2, 4, 0), (2, 4, 0), (2, 4, 0), (1, at, 0), (1, xref, 0)]
    table = b"".join(bytes([kind]) + where.to_bytes(4, "big") + bytes([index]) for kind, where, index in rows)
    out += b"5 0 obj\n" + stream(table, b"/Type /XRef /Size 6 /W [1 4 1] /Root 1 0 R") + b"\nendobj\n"
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % xref)


def drawn_forever(what: bytes) -> bytes:
    """Return a PDF of 3 kB with forms that draw forms ten times each, ten levels deep.

    A reader would draw `what` 10⁹ times.
    """
    forms = [
        stream(
            b"/X Do " * 10 if level < 9 else what,
            b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X %d 0 R >> "
            b"/Font << /F1 4 0 R >> >>" % (7 + level),
        )
        for level in range(10)
    ]
    objects = paper(content=stream(b"/X Do"), extra=forms)
    objects[2] = page().replace(b"/Font", b"/XObject << /X 6 0 R >> /Font")
    return assemble(objects)


def giant_image() -> bytes:
    """Return a PDF with an image of 65,000 × 65,000 pixels."""
    pixels = stream(
        deflate(1),
        b"/Type /XObject /Subtype /Image /Width 65000 /Height 65000 /ColorSpace /DeviceRGB /BitsPerComponent 8 "
        b"/Filter /FlateDecode /DecodeParms << /Predictor 15 /Columns 1000000000 >>",
    )
    objects = paper(content=stream(b"595 0 0 842 0 0 cm /Im Do"), extra=[pixels])
    objects[2] = page().replace(b"/Font", b"/XObject << /Im 6 0 R >> /Font")
    return assemble(objects)


def xref_loop() -> bytes:
    """Return a PDF whose table of objects names itself as the previous one."""
    data = assemble(paper())
    return data.replace(b"/Root 1 0 R", b"/Root 1 0 R /Prev %d" % data.rindex(b"xref\n0"))


KINDS: dict[str, tuple[Callable[[], bytes], SelectOutcome]] = {
    "paper": (lambda: assemble(paper()), SelectOutcome.SELECTED),
    "empty": (lambda: b"", SelectOutcome.UNREADABLE),
    "html": (lambda: b"<!DOCTYPE html><html><body>404 Not Found</body></html>", SelectOutcome.UNREADABLE),
    "truncated_50": (lambda: (whole := assemble(pages([A4] * 20)))[: len(whole) // 2], SelectOutcome.UNREADABLE),
    "user_password_aes": (lambda: encrypt("AES-256", "secret", "owner"), SelectOutcome.ENCRYPTED),
    "owner_password_rc4": (lambda: encrypt("RC4-128", "", "owner"), SelectOutcome.SELECTED),
    "circular_page_tree": (lambda: page_tree(b"/Kids [3 0 R 2 0 R] /Count 2"), SelectOutcome.UNREADABLE),
    "count_too_high": (lambda: page_tree(b"/Kids [3 0 R] /Count 1000000"), SelectOutcome.TOO_MANY_PAGES),
    "no_pages": (lambda: page_tree(b"/Kids [] /Count 0"), SelectOutcome.UNREADABLE),
    "fifty_pages": (lambda: assemble(pages([A4, *[b"[0 0 842 595]"] * 49])), SelectOutcome.SELECTED),
    "fifty_one_pages": (lambda: assemble(pages([b"[0 0 842 595]"] * 51)), SelectOutcome.TOO_MANY_PAGES),
    "xref_broken": (lambda: assemble(paper(), startxref=12), SelectOutcome.SELECTED),
    "xref_loop": (xref_loop, SelectOutcome.SELECTED),
    "junk_before_header": (lambda: assemble(paper(), before=b"HTTP/1.1 200 OK\r\n\r\n"), SelectOutcome.SELECTED),
    "landscape": (lambda: assemble(paper(box=b"[0 0 842 595]", content=stream(b""))), SelectOutcome.LANDSCAPE),
    "square": (lambda: assemble(paper(box=b"[0 0 600 600]")), SelectOutcome.SELECTED),
    "rotated_to_landscape": (lambda: assemble(paper(more=b"/Rotate 90")), SelectOutcome.LANDSCAPE),
    "cropped_to_landscape": (lambda: assemble(paper(more=b"/CropBox [0 400 595 842]")), SelectOutcome.LANDSCAPE),
    "blank": (lambda: assemble(paper(content=stream(b""))), SelectOutcome.PDFALTO_FAILED),
    "stream_bomb": (lambda: assemble(paper(content=stream(deflate(1024), b"/Filter /FlateDecode"))), SelectOutcome.PDFALTO_FAILED),
    "object_stream_bomb": (object_stream_bomb, SelectOutcome.UNREADABLE),
    "a_thousand_million_words": (lambda: drawn_forever(b"BT /F1 1 Tf (word) Tj ET"), SelectOutcome.PDFALTO_FAILED),
    "a_thousand_million_nothings": (lambda: drawn_forever(b"q Q"), SelectOutcome.PDFALTO_FAILED),
    "giant_image": (giant_image, SelectOutcome.PDFALTO_FAILED),
    "deep_nesting": (lambda: assemble(paper(catalog=b"/X " + b"[" * 200_000 + b"]" * 200_000)), SelectOutcome.UNREADABLE),
    "launches_a_program": (lambda: assemble(paper(catalog=b"/OpenAction << /S /Launch /F (/bin/sh) >>")), SelectOutcome.SELECTED),
}  # fmt: skip
