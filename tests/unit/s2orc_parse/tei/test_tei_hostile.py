"""Hostile TEI gives a parse or a reason for its rejection, and never uses much memory. Sizes and depths are limited (SPEC §3)."""

import re
from collections.abc import Callable
from itertools import product

import pytest

from s2orc_parse import jats, tei, xml
from tests.unit.s2orc_parse.jats import articles
from tests.unit.s2orc_parse.tei import teis

PARAGRAPH = "<div><p>Text.</p></div>"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"), (teis.document(PARAGRAPH).replace(b"Text", b"T\xe9xt"), "not_utf8"),
        (teis.document(PARAGRAPH)[:-40], "not_well_formed"), (b"<html><body>503 Service Unavailable</body></html>", "not_tei"),
        (articles.declare_entities(10, "<TEI><text><body><p>@</p></body></text></TEI>"), "doctype"),
        (b'<!-- -- >x --><!DOCTYPE TEI SYSTEM "file:///etc/passwd"><TEI/>', "doctype"),
        (b"<TEI><text><body><p>&undefined;</p></body></text></TEI>", "not_well_formed"),
        (teis.document("<div>" * 150 + "</div>" * 150), "too_deep"), (b"<TEI/>".ljust(12_000_001), "too_large"),
        (b"<TEI>" + b"x" * 11_000_000 + b"</TEI>", "too_large"), (b"<TEI>" + b"<a/>" * 499_999 + b"</TEI>", "too_large"),
        (b"<!-- ", "not_well_formed"),
    ],
)  # fmt: skip
def test_bad_tei_is_rejected_with_its_reason(data: bytes, reason: str) -> None:
    with pytest.raises(tei.BadTei) as bad:
        tei.convert(data, file_sha1="")
    assert bad.value.outcome == reason


@pytest.mark.parametrize(
    "convert",
    [
        lambda: tei.convert(teis.document("<div>" * 140 + "</div>" * 140), file_sha1=""),
        lambda: jats.convert(articles.article("<sec>" * 110 + "<p>x</p>" + "</sec>" * 110), sha1=""),
    ],
)
def test_nesting_is_rejected_if_the_callers_stack_is_deep(convert: Callable[[], object]) -> None:
    def call(frames: int) -> object:
        return call(frames - 1) if frames else convert()

    with pytest.raises((tei.BadTei, jats.BadArticle), match="too_deep"):
        call(700)


@pytest.mark.parametrize(
    "rewrite",
    [
        lambda xml: (
            xml.replace(b"<", b"<t:").replace(b"<t:/", b"</t:").replace(b"<t:?", b"<?").replace(b"xmlns=", b"xmlns:t=")
        ),
        lambda xml: b"\xef\xbb\xbf" + xml,
        lambda xml: xml.replace(b'encoding="UTF-8"', b'encoding="ISO-8859-1"'),
        lambda xml: re.sub(rb"(</?)(?=head\b)", rb"\1odd:", xml.replace(b"<p>", b'<p xlink:href="a" xml:id="0">')),
    ],
)
def test_namespaces_and_wrappers_do_not_change_the_parse(rewrite: Callable[[bytes], bytes]) -> None:
    plain = teis.document(
        '<div><head n="1">Ärzte</head><p>Text <ref type="bibr" target="#b0">[1]</ref>.</p></div>', teis.NUMBERED[:2]
    )
    expected, found = (tei.convert(data, file_sha1="") for data in (plain, rewrite(plain)))
    assert expected.body_text == found.body_text != ()
    assert expected.bib_entries == found.bib_entries != ()


RESOLVED = '<p>As <ref type="bibr" target="#b0">[1]</ref>.</p>' * 4


@pytest.mark.parametrize(
    "body",
    [
        # Patterns.
        *(f'<div><p><ref type="bibr">{text}</ref></p><p>{text}</p>{RESOLVED}</div>' for text in (
            "[1" * 60_000, "[1-2" * 40_000, "Smith and " * 20_000, "Figure 1, " * 8_000 + "1 and 2 and " * 8_000,
            " ".join(["Smith (2010a,b,c"] * 4_000),
            "qq-zz qqzz " * 20_000, "qq zz qq-zz qq-zz qqzz " * 9_000, "10 1 × 10 8 " * 8_000, "a/ b-or c-d " * 8_000,
        )),
        # Paragraphs, mentions, numbers, a long header, a long path, contradictions.
        '<p><ref type="bibr" target="#b0">[1]</ref> </p>' * 3_000,
        "<p>" + '<ref type="figure">1</ref> Figure 1 ' * 8_000 + "</p>",
        "".join(f'<div><head n="{a}.{b}.{c}">H</head><p>x</p></div>' for a, b, c in product(range(20), repeat=3)),
        "<div><head>" + "long " * 20_000 + "</head>" + "<p>x</p>" * 3_000 + "</div>",
        "".join(f"<div><head>{'x' * 400}</head>" for _ in range(148)) + "<p>x</p>" * 3_000 + "</div>" * 148,
        "".join(f'<p><ref type="bibr" target="#b{n % 3}">[{n}]</ref></p>' for n in range(4_000, 0, -1)),
    ],
    ids=lambda body: body[:60],
)  # fmt: skip
def test_time_and_output_are_linear_in_the_document(body: str) -> None:
    """Each document takes at most a second.

    A quadratic step would take minutes or hours, and a path copied into every paragraph gigabytes.
    """
    parse = teis.parse(body, teis.NUMBERED[:3])
    size = len(tei.to_json_bytes(tei.to_s2orc(parse)))
    assert size < 20 * len(body) + 4_000_000


def test_number_of_thousands_of_digits_is_no_number() -> None:
    """Python refuses to read integers of more than 4,300 digits."""
    number = "1" * 5_000
    body = f"<div><head n='{number}'>Aims</head><p>As [{number}] shows.</p></div><figure type='table'><head>T</head><table><row>"
    body += f"<cell cols='{number}' rows='{number}'>a</cell></row></table></figure>"
    entry = f"<biblStruct xml:id='b0' n='{number}'><monogr><title>A title</title><imprint/></monogr></biblStruct>"
    document = f"<TEI><text><body>{body}</body><back><listBibl>{entry}</listBibl></back></text></TEI>"
    parse = tei.convert(document.encode(), file_sha1="a" * 40)
    assert [one.title for one in parse.bib_entries] == ["A title"]


@pytest.mark.parametrize(
    "data",
    [
        b"<TEI/>".ljust(12_000_000), b"<TEI>" + b"<a/>" * 499_998 + b"</TEI>", b"<?a <!DOCTYPE ?> <!-- <!DOCTYPE TEI> --> <?b?><TEI/>",
    ],
)  # fmt: skip
def test_tei_at_its_limits_gives_an_empty_parse(data: bytes) -> None:
    parse = tei.convert(data, file_sha1="a" * 40)
    assert (parse.body_text, parse.abstract, parse.bib_entries) == ((), (), ())
    assert parse.provenance.extractor == "unknown"
    found = tei.build_header(parse)
    assert found.pop("authors") == [] and set(found.values()) == {None}


def test_entities_are_not_expanded_without_the_doctype_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml, "_DOCTYPE", re.compile(b"(?!)"))
    inside = b'<!DOCTYPE TEI [<!ENTITY x "expanded">]><TEI>a&x;b</TEI>'
    assert "expanded" not in "".join(xml.read_tei(inside).itertext())
