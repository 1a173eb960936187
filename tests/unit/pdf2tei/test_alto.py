"""The reader of pdfalto's XML returns the same words as an XML parser, for any characters in a PDF."""

from __future__ import annotations

import pytest

from pdf2tei import ExtractionError, alto
from pdf2tei.model import Page

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


def test_words_have_place_font_and_spaces() -> None:
    drawn = '<Illustration ID="i" HPOS="5" VPOS="6" WIDTH="7" HEIGHT="8" TYPE="image"/>'
    (page,) = read(BEFORE + line(word("Litter"), SPACE, word("and"), word("soil")) + drawn + AFTER)
    (found,) = page.lines
    assert [(t.text, t.space) for t in found.tokens] == [("Litter", False), ("and", True), ("soil", False)]
    assert (found.x0, found.tokens[0].y0, found.x1, found.block) == (10.0, 20.5, 40.25, 1)
    font = found.tokens[0].font
    assert (font.family, font.size, font.bold, font.raised) == ("times&co", 9.5, True, True)
    assert [(b.x0, b.y0, b.x1, b.y1) for b in page.boxes] == [(5.0, 6.0, 12.0, 14.0)]


def test_escaped_markup_is_text_and_ligatures_are_letters() -> None:
    given = ["p&lt;0.05", "R&amp;D", "&amp;lt;", "&quot;a&quot;", "&lt;String", "/&gt;", "Conﬂicts"]
    (page,) = read(BEFORE + line(*map(word, given)) + AFTER)
    assert [t.text for t in page.lines[0].tokens] == ["p<0.05", "R&D", "&lt;", '"a"', "<String", "/>", "Conflicts"]


@pytest.mark.parametrize("bad", [b"\x01", b"\x0c", b"\xff", b"\xef\xbf\xbf"])
def test_invalid_xml_character_is_replaced(bad: bytes) -> None:
    xml = BEFORE + line(word("soil"), SPACE, word("Lit?er")) + AFTER
    (page,) = read(xml.encode().replace(b"?er", bad + b"er"))
    assert page.lines[0].text == "soil Lit\ufffder"


def test_doctype_is_refused_and_other_xml_has_no_pages() -> None:
    with pytest.raises(ExtractionError):
        read(f'<!DOCTYPE alto [<!ENTITY a "aaaa">]>{BEFORE}{line(word("&a;&a;"))}{AFTER}')
    assert read(b"<alto/>") == []
