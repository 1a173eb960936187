"""Real TEI files and generated trees obey the laws of a parse; each field has its place in each schema (SPEC §3.2, §3.3, §3.17)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from s2orc_parse import jats, tei
from s2orc_parse.bibliography.author import Author
from s2orc_parse.parse_model import (  # fmt: skip
    BackPart,
    BibEntry,
    CellCite,
    CitationStyle,
    CiteSpan,
    EqSpan,
    Header,
    Paragraph,
    Parse,
    Provenance,
    RefEntry,
    RefSpan,
    RefType,
)
from tests.unit.parse_laws import check_laws, nest, words
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
        texts = (written(parse, "body_text"), running_text(body))  # Every character occurs once, in order.
        assert len({text.replace("-", "") for text in texts}) == 1, path  # Divided words are joined.
        assert len(parse.bib_entries) == len(root.findall(".//{*}listBibl/{*}biblStruct")), path
        line = tei.to_json_bytes(tei.to_s2orc(parse))
        assert line == tei.to_json_bytes(tei.to_s2orc(tei.convert(data, file_sha1="0" * 40))), path
        json.loads(line)


# Generated trees contain every element that an extractor may write, in combinations that none writes.

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
texts = nest(words | callouts | pieces, ("hi", "s", "p", "item", "note", "ref"))
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
    teis.make_entry("Ann", 2001), teis.make_entry("Bob", 2002, "[2] Bob 2002"), '<biblStruct xml:id="b0"><monogr/></biblStruct>',
    "<bibl>Free text, 1999</bibl>", '<biblStruct xml:id="b@"><analytic><title/><author><persName/></author></analytic></biblStruct>',
]  # fmt: skip
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
        assert bad.outcome in tei.TeiRefusal
    except jats.BadArticle as bad:
        assert bad.outcome in jats.JatsOutcome
    else:
        check_laws(parse)


ADA = Author("Ada", ("B.",), "Lee", "Jr")
ADA_NAME = {"first": "Ada", "middle": ["B."], "last": "Lee", "suffix": "Jr"}
PARAGRAPH = Paragraph(
    section="Methods::Mice",
    text="By [1] and [9] in Fig. 1 and Sec. 2: EQUATION",
    sec_num="2.1",
    cite_spans=(CiteSpan(3, 6, "[1]", "BIBREF0"), CiteSpan(11, 14, "[9]", None)),
    ref_spans=(RefSpan(18, 24, "Fig. 1", "FIGREF0"), RefSpan(29, 35, "Sec. 2", "SECREF0")),
    eq_spans=(EqSpan(37, 45, "EQUATION", "EQREF0", "x = 1", "x=1", "<math/>", "3"),),
)
PARSE = Parse(
    file_sha1="a" * 40,
    header=Header("A title", (ADA,), "2001-02-03", "day", "Venue", "Journal", "10.1000/a", "2001.00001", "12", "PMC1234"),
    citation_style=CitationStyle.BRACKET,
    abstract=(Paragraph("Abstract", "One."), Paragraph("Abstract", "Two.")),
    body_text=(PARAGRAPH, Paragraph("", "End.")),
    back_matter=(Paragraph("", "Thanks.", back_part=BackPart.FUNDING),),
    bib_entries=(
        BibEntry("BIBREF0", "b3", "Work", (ADA,), 1999, "Where", "1", "4", "5", "6--7", "Pub", "1234-5678", "10.1000/b",
                 "2002.00002", "34", "PMC5678", "Raw.", ("http://a",)),
        BibEntry("BIBREF1", "b4"),
    ),
    ref_entries=(
        RefEntry("FIGREF0", RefType.FIGURE, "A cat [1] [9].", "1", cite_spans=PARAGRAPH.cite_spans),
        RefEntry("TABREF0", RefType.TABLE, "Rows.", "II", "\\hline", (("a", "[1]"), ("b",)), "<table/>",
                 cell_cites=(CellCite(0, 1, CiteSpan(0, 3, "[1]", "BIBREF0")), CellCite(1, 0, CiteSpan(0, 1, "b", None)))),
        RefEntry("EQREF0", RefType.FORMULA, "x = 1", "3", "x=1"),
        RefEntry("SECREF0", RefType.SECTION, "Methods", "2"),
        RefEntry("FOOTREF0", RefType.FOOTNOTE, "A note.", "1"),
    ),
    provenance=Provenance("grobid", "0.8.2", "0123", "b" * 40, "7"),
    article={"their": "own"},
)  # fmt: skip
LINKED = {"start": 3, "end": 6, "text": "[1]", "ref_id": "BIBREF0"}
UNLINKED = {"start": 11, "end": 14, "text": "[9]"}


def plain(section: str, text: str) -> dict[str, object]:
    return {
        "section": section, "text": text, "cite_spans": [], "ref_spans": [], "eq_spans": [], "unlinked_spans": [],
        "section_path": section, "sec_num": None,
    }  # fmt: skip


def entry(text: str, kind: str, num: str, **more: object) -> dict[str, object]:
    return {"text": text, "type": kind, "num": num, "latex": None, "cells": None, "html": None, "cite_spans": []} | more


def test_in_schema_20200705() -> None:
    found = tei.to_s2orc(PARSE, "42")
    data = tei.to_json_bytes({**found, "title": "é"})
    assert b"\\u" not in data and b'": ' not in data and "é".encode() in data
    assert found.pop("body_text") == [{
        "section": "Mice", "text": PARAGRAPH.text, "cite_spans": [LINKED],
        "ref_spans": [{"start": 18, "end": 24, "text": "Fig. 1", "ref_id": "FIGREF0"},
                      {"start": 29, "end": 35, "text": "Sec. 2", "ref_id": "SECREF0"}],
        "eq_spans": [{"start": 37, "end": 45, "text": "EQUATION", "ref_id": "EQREF0", "raw_text": "x = 1", "latex": "x=1",
                      "mathml": "<math/>", "label": "3"}],
        "unlinked_spans": [UNLINKED], "section_path": "Methods::Mice", "sec_num": "2.1",
    }, plain("", "End.")]  # fmt: skip
    assert found.pop("bib_entries") == {
        "BIBREF0": {"title": "Work", "authors": [ADA_NAME], "year": 1999, "venue": "Where", "link": None, "ref_id": "b3", "label": "1",
                    "volume": "4", "issue": "5", "pages": "6--7", "publisher": "Pub",
                    "other_ids": {"DOI": ["10.1000/b"], "arXiv": ["2002.00002"], "PMID": ["34"], "PMCID": ["PMC5678"]},
                    "raw_text": "Raw.", "urls": ["http://a"]},
        "BIBREF1": {"title": "", "authors": [], "year": None, "venue": "", "link": None, "ref_id": "b4", "label": None, "volume": "",
                    "issue": "", "pages": "", "publisher": "", "other_ids": {}, "raw_text": "", "urls": []},
    }  # fmt: skip
    assert found.pop("ref_entries") == {
        "FIGREF0": entry("A cat [1] [9].", "figure", "1", cite_spans=[LINKED], unlinked_spans=[UNLINKED]),
        "TABREF0": entry("Rows.", "table", "II", latex="\\hline", cells=[["a", "[1]"], ["b"]], html="<table/>",
                         cell_cite_spans=[{"row": 0, "column": 1, "start": 0, "end": 3, "text": "[1]", "ref_id": "BIBREF0"}]),
        "EQREF0": entry("x = 1", "formula", "3", latex="x=1"),
        "SECREF0": entry("Methods", "section", "2"),
        "FOOTREF0": entry("A note.", "footnote", "1"),
    }  # fmt: skip
    assert found == {
        "paper_id": "42", "_pdf_hash": "a" * 40, "abstract": [plain("Abstract", "One."), plain("Abstract", "Two.")],
        "back_matter": [{**plain("", "Thanks."), "back_part": "funding"}], "citation_style": "BRACKET", "title": "A title",
        "authors": [ADA.as_dict()],
        "provenance": {"extractor": "grobid", "version": "0.8.2", "options": "0123", "tei_sha1": "b" * 40, "converter_version": "7"},
        "article": {"their": "own"},
    }  # fmt: skip


def test_in_gorc() -> None:
    found = tei.to_gorc_line(PARSE, "42")
    parse = found.pop("grobid_parse")
    assert found == {
        "paper_id": "42",
        "metadata": {"title": "A title", "authors": [ADA_NAME], "abstract": "One.\n\nTwo.", "year": "2001", "arxiv_id": "2001.00001",
                     "acl_id": None, "pmc_id": "PMC1234", "pubmed_id": "12", "doi": "10.1000/a", "venue": "Venue", "journal": "Journal"},
        "s2_pdf_hash": "a" * 40, "latex_parse": None,
    }  # fmt: skip
    empty: dict[str, list[object]] = {"cite_spans": [], "ref_spans": [], "eq_spans": []}
    assert parse == {
        "title": "A title", "authors": [ADA_NAME],
        "abstract": [{"text": "One.", **empty, "section": "Abstract"}, {"text": "Two.", **empty, "section": "Abstract"}],
        "body_text": [{
            "text": PARAGRAPH.text,
            "cite_spans": [{**LINKED, "latex": None}, {**UNLINKED, "latex": None, "ref_id": None}],
            "ref_spans": [{"start": 18, "end": 24, "text": "Fig. 1", "latex": None, "ref_id": "FIGREF0"},
                          {"start": 29, "end": 35, "text": "Sec. 2", "latex": None, "ref_id": None}],
            "eq_spans": [{"start": 37, "end": 45, "text": "EQUATION", "latex": "x=1", "ref_id": "EQREF0"}],
            "section": "Mice",
        }, {"text": "End.", **empty, "section": None}],
        "ref_entries": {"FIGREF0": {"text": "A cat [1] [9].", "latex": None, "type": "figure"},
                        "TABREF0": {"text": "Rows.", "latex": "\\hline", "type": "table"},
                        "EQREF0": {"text": "x = 1", "latex": "x=1", "type": "formula"}},
        "bib_entries": {
            "BIBREF0": {"ref_id": "b3", "title": "Work", "authors": [ADA_NAME], "year": 1999, "venue": "Where", "volume": "4",
                        "issn": "1234-5678", "pages": "6--7", "links": None,
                        "other_ids": {"doi": ["10.1000/b"], "arxiv": ["2002.00002"], "pmid": ["34"], "pmcid": ["PMC5678"]}},
            "BIBREF1": {"ref_id": "b4", "title": "", "authors": [], "year": None, "venue": "", "volume": "", "issn": "", "pages": "",
                        "links": None, "other_ids": {}},
        },
    }  # fmt: skip


def shapes(value: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Yield (path, JSON type) of a value and all values in it. The keys of entries (BIBREF0) count as one path."""
    yield at, type(value).__name__
    items = (
        value.items() if isinstance(value, dict) else [("[]", one) for one in value] if isinstance(value, list) else ()
    )
    for key, inner in items:
        yield from shapes(inner, f"{at}.{'*' if at.endswith('_entries') else key}")


def test_parse_has_every_key_of_20200705_with_its_type(shared_data: Path) -> None:
    fixtures = (shared_data / "s2orc/doc2json_fixtures/s2orc/20200705").glob("*.json")
    theirs = {shape for path in fixtures for shape in shapes(json.loads(path.read_bytes()))}
    teis = shared_data.glob("pairs/*.tei.xml")
    ours = {
        shape for path in teis for shape in shapes(tei.to_s2orc(tei.convert(path.read_bytes(), file_sha1="a" * 40)))
    }
    paths = {path for path, _ in theirs}
    assert paths and paths - {path for path, _ in ours} == set()
    other_types = {(path, kind) for path, kind in ours - theirs if path in paths}
    assert {kind for _, kind in other_types} == {"NoneType"}
    optional = (".paper_id", ".bib_entries.*.year", ".bib_entries.*.link")
    assert [path for path, _ in other_types if path not in optional and not path.endswith("ref_spans.[].ref_id")] == []
