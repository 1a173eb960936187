"""The extractor finds the typeset structure, in one and two columns and with every citation style."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from lxml import etree

from pdf2tei import VERSION, Code, ExtractionError, alto, extract
from pdf2tei.model import Kind
from tests.unit.layout.conftest import REFERENCES, STYLES, tei

NS = {"t": "http://www.tei-c.org/ns/1.0"}
ID = "{http://www.w3.org/XML/1998/namespace}id"
LAYOUTS = [(columns, style) for columns in (1, 2) for style in STYLES]
Paper = Callable[[int, str], Path]


def text(element: etree._Element | None) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def texts(root: etree._Element, path: str) -> list[str]:
    return [text(e) for e in root.xpath(path, namespaces=NS)]


@pytest.mark.parametrize(("columns", "style"), LAYOUTS)
def test_front_matter_is_read(paper: Paper, columns: int, style: str) -> None:
    root = tei(paper(columns, style))
    assert text(root.find(".//t:titleStmt/t:title", NS)) == "Traits of Beetles Follow the Litter They Live In"
    assert texts(root, ".//t:sourceDesc//t:author//t:forename") == ["Waleed", "Kyle"]
    assert texts(root, ".//t:sourceDesc//t:author//t:surname") == ["Ammar", "van der Lo"]
    abstract = text(root.find(".//t:abstract", NS))
    assert abstract.startswith("We relate the traits of beetles") and abstract.endswith("its direction never did.")
    assert texts(root, ".//t:keywords/t:term") == ["beetles", "litter", "functional traits"]


@pytest.mark.parametrize(("columns", "style"), LAYOUTS)
def test_sections_are_read(paper: Paper, columns: int, style: str) -> None:
    root = tei(paper(columns, style))
    heads = [(e.get("n"), text(e)) for e in root.xpath(".//t:body/t:div/t:head", namespaces=NS)]
    assert heads == [("1", "Introduction"), ("1.1", "Sampling"), ("2", "Results")]
    assert texts(root, ".//t:back/t:div[@type='acknowledgement']/t:div/t:p") == ["We thank the foresters."]
    body = " ".join(texts(root, ".//t:body/t:div/t:p"))
    assert "Litter-dwelling predators follow the traits of their prey" in body
    for elsewhere in ("Ammar and Lo: Traits", "axis label", "North", "The data are with", "Counts by site", "Keywords"):
        assert elsewhere not in body


@pytest.mark.parametrize(("columns", "style"), LAYOUTS)
def test_floats_notes_and_formulas_are_read(paper: Paper, columns: int, style: str) -> None:
    root = tei(paper(columns, style))
    figures = {e.get(ID): text(e.find("t:figDesc", NS)) for e in root.xpath(".//t:figure", namespaces=NS)}
    assert figures == {"fig_0": "The traits of beetles against those of the litter.", "tab_0": "Counts by site."}
    rows = [texts(row, "t:cell") for row in root.xpath(".//t:figure[@type='table']/t:table/t:row", namespaces=NS)]
    assert rows == [["Site", "Beetles", "Litter"], ["North", "12", "0.4"], ["South", "31", "0.9"]]
    assert len(root.xpath(".//t:body//t:formula", namespaces=NS)) == 1
    assert any("The data are with the authors." in note for note in texts(root, ".//t:note[@place='foot']"))
    assert [e.get("target") for e in root.xpath(".//t:p/t:ref[@type='figure']", namespaces=NS)] == ["#fig_0"]


@pytest.mark.parametrize(("columns", "style"), LAYOUTS)
def test_references_and_callouts_are_linked(paper: Paper, columns: int, style: str) -> None:
    root = tei(paper(columns, style))
    assert texts(root, ".//t:listBibl/t:biblStruct/t:note[@type='raw_reference']") == REFERENCES
    assert texts(root, ".//t:listBibl/t:biblStruct//t:title[@type='main']")[:2] == [
        "CiteSeerX: AI in a digital library search engine",
        "Learning to predict citation-based impact measures",
    ]
    targets = [e.get("target") for e in root.xpath(".//t:body//t:ref[@type='bibr']", namespaces=NS)]
    assert targets == ["#b0", "#b2", "#b1"]


def test_extraction_is_reproducible_and_names_its_version(paper: Paper) -> None:
    first = extract(paper(2, "bracket"), timeout=60)
    assert first == extract(paper(2, "bracket"), timeout=60)
    application = etree.fromstring(first or b"").find(".//t:application", NS)
    assert application is not None and (application.get("ident"), application.get("version")) == (
        "s2corpus-layout",
        VERSION,
    )


PAGE = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>endobj
trailer<</Root 1 0 R>>
%%EOF"""


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"", Code.BAD_INPUT_DATA), (b"just text", Code.BAD_INPUT_DATA), (b"%PDF-1.7\n", Code.PDFALTO_CONVERSION_FAILURE)],
)
def test_unreadable_pdf_raises_grobids_error_code(tmp_path: Path, content: bytes, code: Code) -> None:
    path = tmp_path / "x.pdf"
    path.write_bytes(content)
    with pytest.raises(ExtractionError) as caught:
        extract(path, timeout=60)
    assert caught.value.code is code


def test_empty_page_has_no_content(tmp_path: Path) -> None:
    path = tmp_path / "x.pdf"
    path.write_bytes(PAGE)
    assert extract(path, timeout=60) is None


def test_real_paper_is_extracted(shared_data: Path) -> None:
    """The gold is GROBID 0.6.1's TEI of the same PDF."""
    root = tei(next((shared_data / "pairs").glob("649def34*.pdf")))
    gold = etree.parse(next((shared_data / "pairs").glob("649def34*.tei.xml"))).getroot()
    for path in (".//t:titleStmt/t:title", ".//t:sourceDesc//t:author//t:surname"):
        assert [x.casefold() for x in texts(root, path)] == [x.casefold() for x in texts(gold, path)]
    assert len(texts(root, ".//t:listBibl/t:biblStruct")) == len(texts(gold, ".//t:listBibl/t:biblStruct"))
    ours, theirs = texts(root, ".//t:body//t:head"), texts(gold, ".//t:body//t:head")
    assert len(set(ours) & set(theirs)) >= 0.85 * len(theirs)


@pytest.mark.parametrize("columns", (1, 2))
def test_every_line_is_counted_in_one_part(paper: Paper, columns: int) -> None:
    pdf = paper(columns, "bracket")
    counts = {
        e.get("type"): int(e.get("quantity", "0"))
        for e in tei(pdf).xpath(".//t:extent/t:measure[@unit='lines']", namespaces=NS)
    }
    lines = [line for page in alto.read_document(pdf, 60).pages for line in page.lines]
    assert set(counts) == {str(kind) for kind in Kind}
    # Pieces of a line are joined before they are counted.
    assert 0.9 * len(lines) <= sum(counts.values()) <= len(lines)
    assert min(counts["body"], counts["front"], counts["reference"], counts["caption"], counts["note"]) > 0
    assert counts["formula"] == 1
