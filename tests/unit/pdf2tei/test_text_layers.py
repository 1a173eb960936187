"""The reader of pdfalto's XML returns the words, unreliable text layers are detected, and OCR reads scans if it is installed.

The ligature `Th` that pdfalto drops is restored from PDFium's text.
"""

import io
from pathlib import Path
from unittest import mock

import pypdfium2
import pytest
import typst

from pdf2tei import ExtractionError, extract
from pdf2tei.pages import alto, ligatures, scans
from pdf2tei.pages.health import Defect, find_defects
from pdf2tei.pages.model import Box, Document, Font, Line, Page, Token
from tests.unit.pdf2tei.samples import NS, PROSE, Row, draw, join_body, list_texts, read_pdf


def pictures(pdf: bytes, dpi: int = 150) -> bytes:
    """Return a PDF with the pages as images, without text."""
    source, out = pypdfium2.PdfDocument(pdf), pypdfium2.PdfDocument.new()
    for page in source:
        width, height = page.get_size()
        image = pypdfium2.PdfImage.new(out)
        image.set_bitmap(page.render(scale=dpi / 72))
        image.set_matrix(pypdfium2.PdfMatrix().scale(width, height))
        sheet = out.new_page(width, height)
        sheet.insert_obj(image)
        sheet.gen_content()
    buffer = io.BytesIO()
    out.save(buffer)
    return buffer.getvalue()


def test_scan_has_no_content_without_ocr(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pictures(typst.compile(f"= Introduction\n{PROSE}".encode(), format="pdf")))
    assert extract(tmp_path / "a.pdf", timeout=60) is None


@pytest.mark.skipif(not scans.installed(), reason="the extra `ocr` is not installed")
def test_scan_is_recognized_and_marked(tmp_path: Path) -> None:
    text = (
        '#set page(paper: "a5", margin: 1.5cm)\n#align(center)[#text(size: 17pt)[Traits of Beetles in the Litter]]\n\n'
        f"#align(center)[Waleed Ammar]\n\n= Introduction\n{PROSE}"
    )
    tei = read_pdf(pictures(typst.compile(text.encode(), format="pdf")), tmp_path, ocr=True)
    assert list_texts(tei, ".//t:titleStmt/t:title") == ["Traits of Beetles in the Litter"]
    assert "We sampled three forests over two summers" in join_body(tei)
    pages = tei.findall(".//t:extent/t:measure[@unit='pages'][@type='ocr']", NS)
    assert [(e.get("quantity"), e.get("n")) for e in pages] == [("1", "1")]
    assert [a.get("ident") for a in tei.iterfind(".//t:application", NS)] == ["s2corpus-layout", "ocr"]


def page(text: str, *, x: float = 50.0) -> Page:
    tokens = [Token(word, x, 50.0, x + 20, 60.0, Font("serif", 10.0), True) for word in text.split()]
    return Page(1, 600.0, 800.0, [Line(tokens[i : i + 10], 1, 0) for i in range(0, len(tokens), 10)], [])


SHIFTED = "".join(chr((ord(c) - 97 + 3) % 26 + 97) if "a" <= c <= "z" else c for c in PROSE.lower() * 2)
"""Each letter is moved by three places, as by a font with a wrong character map."""
GERMAN = """Die Käfer leben im Laub und fressen, was sie finden; wir haben drei Wälder über zwei Sommer untersucht, ohne etwas zu
zerstören, und gemessen, was sich messen ließ. Die Stärke dieser Beziehung war verschieden, aber ihre Richtung war es nie."""
LOST = draw([Row(text) for text in (
    "e traits of beetles follow the litter that they live in.",
    "We measured what could be measured. ese are the values of it.",
    "e strength of the relation differed between the sites that we saw,",
    "and is not the same in winter. is is what others have found before.",
)] * 3).pages[0]  # fmt: skip
PORTUGUESE = "O perfil da publicação e a produção brasileira e a chinesa e os autores de cada país."


@pytest.mark.parametrize(
    ("given", "ill"),
    [
        (page(PROSE), None),
        (page(SHIFTED), Defect.NO_WORDS),
        (page(" ".join(chr(0xE000 + ord(c) % 200) for c in PROSE)), Defect.NO_UNICODE),
        (page(PROSE, x=700.0), Defect.OUTSIDE),
        (page(GERMAN), None),
        (Page(1, 600.0, 800.0, [], [Box(0, 0, 600, 800)]), Defect.NO_TEXT),
        (Page(1, 600.0, 800.0, [], []), None),
        (LOST, Defect.LOST_LETTERS),
        (draw([Row(PORTUGUESE)] * 12).pages[0], None),
    ],
)
def test_damage_of_a_text_layer_is_detected(given: Page, ill: Defect | None) -> None:
    assert find_defects(Document([given])) == ({1: ill} if ill else {})


def test_each_font_has_its_sign_of_ligature() -> None:
    seen = ["In +e spring +ese leaves, +ey say, 3ymus grows. 3yme and 3ymus of 20m and 3kg"]
    assert ligatures.find_signs(seen) == ["+", "3"]
    page = draw([Row("In e spring ese leaves, ey say, ymus grows")]).pages[0]
    ligatures.restore_page(page, seen[0], ["+", "3"])
    assert page.lines[0].text == "In The spring These leaves, They say, Thymus grows"


def test_ligatures_of_other_languages_are_not_restored(tmp_path: Path) -> None:
    """In Portuguese, `e` is a word, also next to pages in English with a damaged font."""
    document = Document([LOST, draw([Row(PORTUGUESE)] * 12).pages[0]])
    texts = [" ".join(line.text for line in page.lines).replace(" e ", " +e ") for page in document.pages]
    with mock.patch.object(ligatures, "read_page_texts", return_value=texts):
        ligatures.restore_ligatures(document, tmp_path / "a.pdf")
    assert "The traits" in document.pages[0].lines[0].text or "The strength" in document.pages[0].lines[2].text
    assert document.pages[1].lines[0].text == PORTUGUESE


def test_printed_ligature_is_read(shared_data: Path) -> None:
    text = (extract(shared_data / "cases" / "layout" / "PMC5964621.pdf", timeout=200) or b"").decode()
    assert "modern medicine. The medicinal use of plants" in text


BEFORE = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<alto xmlns="http://www.loc.gov/standards/alto/ns-v3#"><Styles>'
    '<TextStyle ID="font0" FONTFAMILY="abcdef+times&amp;co" FONTSIZE="9.500" FONTSTYLE="bold superscript"/></Styles>'
    '<Layout><Page ID="Page1" PHYSICAL_IMG_NR="1" WIDTH="595.0" HEIGHT="842.0"><PrintSpace>'
)
AFTER = "</PrintSpace></Page></Layout></alto>"


def word(content: str, x: float = 10.0) -> str:
    return (
        f'<String ID="w" CONTENT="{content}" HPOS="{x}" VPOS="20.5" WIDTH="30.25" HEIGHT="9" STYLEREFS="font0 par1"/>'
    )


def line(*words: str) -> str:
    return f'<TextBlock ID="b"><TextLine WIDTH="99" HPOS="1" ID="t">\n{"".join(words)}</TextLine>\n</TextBlock>'


def read(xml: str | bytes) -> list[Page]:
    return alto.read_pages(xml.encode() if isinstance(xml, str) else xml)


SPACE = '<SP WIDTH="2.3" VPOS="20" HPOS="40"/>'


def test_escaped_markup_is_text_and_ligatures_are_letters() -> None:
    given = ["p&lt;0.05", "R&amp;D", "&amp;lt;", "&quot;a&quot;", "&lt;String", "/&gt;", "Conﬂicts"]
    (page,) = read(BEFORE + line(*map(word, given)) + AFTER)
    assert [t.text for t in page.lines[0].tokens] == ["p<0.05", "R&D", "&lt;", '"a"', "<String", "/>", "Conflicts"]


@pytest.mark.parametrize(
    ("parts", "x", "text"),
    [
        (("Universit", "é"), 33.0, "Universit é"), (("Universit", "é"), 31.0, "Université"), (("SAGASTIZ", "ÁBAL"), 31.5, "SAGASTIZÁBAL"),
        (("PEDRO", "ÁVILA"), 32.2, "PEDRO ÁVILA"), (("Pedro", "Ávila"), 31.0, "Pedro Ávila"),
    ],
)  # fmt: skip
def test_composed_accent_is_in_its_word(parts: tuple[str, str], x: float, text: str) -> None:
    """The accented letter is in a separate word of pdfalto, nearer than a word space."""
    (page,) = read(BEFORE + line(word(parts[0], 0.0), SPACE, word(parts[1], x)) + AFTER)
    assert page.lines[0].text == text


@pytest.mark.parametrize("bad", [b"\x01", b"\x0c", b"\xff", b"\xef\xbf\xbf"])
def test_invalid_xml_character_is_replaced(bad: bytes) -> None:
    xml = BEFORE + line(word("soil"), SPACE, word("Lit?er")) + AFTER
    (page,) = read(xml.encode().replace(b"?er", bad + b"er"))
    assert page.lines[0].text == "soil Lit\ufffder"


def test_page_above_a_limit_is_left_out() -> None:
    """The other pages of the paper are read, and the page is reported as a defect."""
    dense = "".join(line(word("o")) for _ in range(alto.MAX_BLOCKS + 1))
    start = BEFORE[BEFORE.index("<Page") :]
    pages = [line(word("first")), dense, line(word("last"))]
    document = Document(read(f"</PrintSpace></Page>{start}".join([BEFORE + pages[0], *pages[1:]]) + AFTER))
    assert [[x.text for x in page.lines] for page in document.pages] == [["first"], [], ["last"]]
    assert find_defects(document) == {2: Defect.TOO_LARGE}


def test_doctype_is_refused_and_other_xml_has_no_pages() -> None:
    with pytest.raises(ExtractionError):
        read(f'<!DOCTYPE alto [<!ENTITY a "aaaa">]>{BEFORE}{line(word("&a;&a;"))}{AFTER}')
    assert read(b"<alto/>") == []
