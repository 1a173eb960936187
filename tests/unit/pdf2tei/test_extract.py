"""The extractor finds the typeset structure, in one and two columns and with every citation style."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from lxml import etree

from pdf2tei import VERSION, Code, ExtractionError, alto, extract
from pdf2tei.model import Kind
from tests.unit.pdf2tei.conftest import REFERENCES, STYLES, tei
from tests.unit.pdf2tei.samples import NS, TITLE, all_lines, join_body, list_raws, list_texts

Paper = Callable[[int, str], Path]


@pytest.fixture(params=[(columns, style) for columns in (1, 2) for style in STYLES], ids=lambda p: f"{p[0]}-{p[1]}")
def root(paper: Paper, request: pytest.FixtureRequest) -> etree._Element:
    return tei(paper(*request.param))


def test_front_matter_is_read(root: etree._Element) -> None:
    assert list_texts(root, ".//t:titleStmt/t:title") == [TITLE]
    assert list_texts(root, ".//t:sourceDesc//t:author//t:forename") == ["Waleed", "Kyle"]
    assert list_texts(root, ".//t:sourceDesc//t:author//t:surname") == ["Ammar", "van der Lo"]
    [abstract] = list_texts(root, ".//t:abstract")
    assert abstract.startswith("We relate the traits of beetles") and abstract.endswith("its direction never did.")
    assert list_texts(root, ".//t:keywords/t:term") == ["beetles", "litter", "functional traits"]


def test_sections_are_read(root: etree._Element) -> None:
    assert list_texts(root, ".//t:body/t:div/t:head") == ["Introduction", "Sampling", "Results"]
    assert root.xpath(".//t:body/t:div/t:head/@n", namespaces=NS) == ["1", "1.1", "2"]
    assert list_texts(root, ".//t:back/t:div[@type='acknowledgement']/t:div/t:p") == ["We thank the foresters."]
    body = join_body(root)
    assert "Litter-dwelling predators follow the traits of their prey" in body
    for elsewhere in ("Ammar and Lo: Traits", "axis label", "North", "The data are with", "Counts by site", "Keywords"):
        assert elsewhere not in body


def test_floats_notes_and_formulas_are_read(root: etree._Element) -> None:
    captions = ["The traits of beetles against those of the litter.", "Counts by site."]
    assert list_texts(root, ".//t:figure/t:figDesc") == captions
    assert root.xpath(".//t:figure/@xml:id", namespaces=NS) == ["fig_0", "tab_0"]
    cells = ["Site", "Beetles", "Litter", "North", "12", "0.4", "South", "31", "0.9"]
    assert list_texts(root, ".//t:figure[@type='table']/t:table/t:row[count(t:cell)=3]/t:cell") == cells
    assert len(list_texts(root, ".//t:body//t:formula")) == 1
    assert any("The data are with the authors." in note for note in list_texts(root, ".//t:note[@place='foot']"))
    assert root.xpath(".//t:p/t:ref[@type='figure']/@target", namespaces=NS) == ["#fig_0"]


def test_references_and_callouts_are_linked(root: etree._Element) -> None:
    assert list_raws(root) == REFERENCES
    assert root.xpath(".//t:body//t:ref[@type='bibr']/@target", namespaces=NS) == ["#b0", "#b2", "#b1"]


def test_every_line_is_counted_in_one_part(root: etree._Element) -> None:
    measures = root.xpath(".//t:extent/t:measure[@unit='lines']", namespaces=NS)
    counts = {e.get("type"): int(e.get("quantity", "0")) for e in measures}
    assert set(counts) == {str(kind) for kind in Kind}
    assert min(counts["body"], counts["front"], counts["reference"], counts["caption"], counts["note"]) > 0
    assert counts["formula"] == 1


def test_lines_of_pdf_are_counted_once(paper: Paper) -> None:
    pdf = paper(2, "bracket")
    quantities = tei(pdf).xpath(".//t:extent/t:measure[@unit='lines']/@quantity", namespaces=NS)
    lines = len(all_lines(alto.read_document(pdf, 60)))
    assert 0.9 * lines <= sum(map(int, quantities)) <= lines  # Pieces of a line are joined before they are counted.


def test_extraction_is_reproducible_and_names_its_version(paper: Paper) -> None:
    first = extract(paper(2, "bracket"), timeout=60)
    assert first is not None and first == extract(paper(2, "bracket"), timeout=60)
    [application] = etree.fromstring(first).iterfind(".//t:application", NS)
    assert (application.get("ident"), application.get("version")) == ("s2corpus-layout", VERSION)


EMPTY_PAGE = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>endobj
trailer<</Root 1 0 R>>
%%EOF"""


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", Code.BAD_INPUT_DATA),
        (b"just text", Code.BAD_INPUT_DATA),
        (b"%PDF-1.7\n", Code.PDFALTO_CONVERSION_FAILURE),
        (EMPTY_PAGE, None),
    ],
)
def test_pdf_without_content_gives_grobids_error_code_or_nothing(
    tmp_path: Path, content: bytes, code: Code | None
) -> None:
    (tmp_path / "x.pdf").write_bytes(content)
    if code is None:
        assert extract(tmp_path / "x.pdf", timeout=60) is None
        return
    with pytest.raises(ExtractionError) as caught:
        extract(tmp_path / "x.pdf", timeout=60)
    assert caught.value.code is code


def test_real_paper_is_extracted(shared_data: Path) -> None:
    """The gold is GROBID 0.6.1's TEI of the same PDF."""
    root = tei(next((shared_data / "pairs").glob("649def34*.pdf")))
    gold = etree.parse(next((shared_data / "pairs").glob("649def34*.tei.xml"))).getroot()
    for path in (".//t:titleStmt/t:title", ".//t:sourceDesc//t:author//t:surname"):
        assert [x.casefold() for x in list_texts(root, path)] == [x.casefold() for x in list_texts(gold, path)]
    assert len(list_raws(root)) == len(list_texts(gold, ".//t:listBibl/t:biblStruct"))
    ours, theirs = list_texts(root, ".//t:body//t:head"), list_texts(gold, ".//t:body//t:head")
    assert len(set(ours) & set(theirs)) >= 0.85 * len(theirs)
