"""All real TEI files and generated trees obey the laws of a parse (SPEC §3.3)."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from s2orc_parse import jats, tei
from s2orc_parse.parse_model import Parse
from tests.unit.parse_laws import check_laws
from tests.unit.s2orc_parse.tei import teis

ELSEWHERE = ("figure", "table", "listBibl", "listOrg")
OUT_OF_THE_TEXT = ("head", "note", "formula")


def running_text(element: ElementTree.Element, in_callout: bool = False) -> str:
    """Return an element's running text without white space.

    Elements that leave the text are omitted, except inside a callout: its text remains complete.
    """
    name = element.tag.rpartition("}")[2]
    leaves = name in ELSEWHERE or (name in OUT_OF_THE_TEXT and not in_callout)
    in_callout = in_callout or name == "ref"
    inner = "" if leaves else (element.text or "") + "".join(running_text(child, in_callout) for child in element)
    return "".join((inner + (element.tail or "")).split())


def written(parse: Parse, where: str) -> str:
    """Return the text of all paragraphs of `where`, without formula tokens and white space."""
    pieces = []
    for paragraph in getattr(parse, where):
        text = paragraph.text
        for span in reversed(paragraph.eq_spans):
            text = text[: span.start] + text[span.end :]
        pieces.append("".join(text.split()))
    return "".join(pieces)


def test_every_real_tei_obeys_the_laws(shared_data: Path) -> None:
    files = [*shared_data.glob("pairs/*.tei.xml"), *shared_data.glob("pmc-with-tei/*.tei.xml")]
    assert len(files) == 23
    for path in files:
        data = path.read_bytes()
        parse = tei.convert(data, file_sha1="0" * 40)
        check_laws(parse)
        root = ElementTree.fromstring(data)
        body = root.find(".//{*}body")
        assert body is not None
        body.tail = ""
        assert written(parse, "body_text") == running_text(body), path  # Every character occurs once, in order.
        assert len(parse.bib_entries) == len(root.findall(".//{*}listBibl/{*}biblStruct")), path
        line = tei.to_json_bytes(tei.to_s2orc(parse))
        assert line == tei.to_json_bytes(tei.to_s2orc(tei.convert(data, file_sha1="0" * 40))), path
        json.loads(line)


# Generated trees contain every element that an extractor may write, in combinations that none writes.

words = st.text(st.sampled_from("abcXYZ 12,;.[]()–-äß中𝛼\u00a0\n\t&<\u2009"), max_size=12).map(escape)
callouts = st.builds(
    "<ref{}{}>{}</ref>".format,
    st.sampled_from(["", *(f' type="{kind}"' for kind in ("bibr", "figure", "formula", "foot", "weird"))]),
    st.sampled_from(["", *(f' target="{target}"' for target in ("#b0", "#b1 #b2", "#b99", "#fig_0", "x", " "))]),
    words
    | st.sampled_from(["[1]", "[1,", "2]", "[1-3]", "1", "(2)", "Ann (2001)", "(Ann, 2001a,b)", "Fig. 1", "]", "["]),
)
pieces = st.sampled_from(
    ["Eq. (1) ", "Figure 1 ", "[2] ", "Ann et al. (2001) ", "<formula>x=y<label>(1)</label></formula>"]
)
inline = st.recursive(
    words | callouts | pieces,
    lambda inner: st.builds(
        "<{0}>{1}</{0}>".format,
        st.sampled_from(["hi", "s", "p", "item", "note", "ref"]),
        st.lists(inner, max_size=3).map("".join),
    ),
    max_leaves=5,
)
texts = st.lists(inline, max_size=5).map("".join)
blocks = st.one_of(
    texts.map("<p>{}</p>".format),
    texts,
    st.builds("<head{}>{}</head>".format, st.sampled_from(["", ' n="1"', ' n="1.1"', ' n="II"', ' n="?"']), words),
    st.just('<formula xml:id="formula_0">a = b<label>(1)</label></formula>'),
    st.builds('<figure{}><head>Figure 1</head><label>1</label><figDesc>{}</figDesc></figure>'.format,
              st.sampled_from(["", ' xml:id="fig_0"', ' type="table" xml:id="tab_0"']), texts),
    st.builds('<note place="foot" xml:id="foot_0" n="1">{}</note>'.format, texts),
)  # fmt: skip
divs = st.recursive(
    st.lists(blocks, max_size=4).map("".join),
    lambda inner: st.lists(st.builds("<div>{}</div>".format, inner), max_size=3).map("".join),
    max_leaves=4,
)
BIBLIOGRAPHY = [
    teis.make_entry("Ann", 2001),
    teis.make_entry("Bob", 2002, "[2] Bob 2002"),
    '<biblStruct xml:id="b0"><monogr/></biblStruct>',
    "<bibl>Free text, 1999</bibl>",
    '<biblStruct xml:id="b@"><analytic><title/><author><persName/></author></analytic></biblStruct>',
]
bibliographies = st.lists(st.sampled_from(BIBLIOGRAPHY), max_size=5).map(tuple)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(body=divs, bibliography=bibliographies, abstract=texts, back=divs)
def test_generated_trees_obey_the_laws(body: str, bibliography: tuple[str, ...], abstract: str, back: str) -> None:
    data = teis.document(body, bibliography, abstract=f"<p>{abstract}</p>", back=f'<div type="annex">{back}</div>')
    parse = tei.convert(data, file_sha1="")
    check_laws(parse)
    root = ElementTree.fromstring(data)
    for name, where in (("body", "body_text"), ("back", "back_matter")):
        element = root.find(f".//{{*}}{name}")
        assert element is not None
        element.tail = ""
        assert written(parse, where) == running_text(element)
    tei.to_json_bytes(tei.to_s2orc(parse))
    tei.to_json_bytes(tei.to_gorc(parse))


@settings(max_examples=200)
@given(
    st.sampled_from(["<TEI>{}</TEI>", "<article><body>{}</body></article>"]),
    st.binary(max_size=200) | st.text(max_size=100),
)
def test_arbitrary_bytes_give_a_parse_or_a_reason(root: str, content: bytes | str) -> None:
    data = content if isinstance(content, bytes) else root.format(content).encode("utf-8", "surrogatepass")
    try:
        parse = tei.convert(data, file_sha1="") if "TEI" in root else jats.convert(data, sha1="")
    except tei.BadTei as bad:
        assert bad.reason in tei.TeiRefusal
    except jats.BadArticle as bad:
        assert bad.outcome in jats.JatsOutcome
    else:
        check_laws(parse)
