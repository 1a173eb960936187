"""The law of conservation: each printed line has one place in the TEI, and the TEI has no word that is not printed.

The law compares the letters of pdfalto's lines, of the lines after all steps, and of the TEI. Repairs need evidence: lost
letters are in PDFium's text of the page.
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pypdfium2
import pytest
import typst
from lxml import etree

from devtools.real_data import REAL_DATA
from pdf2tei import cli
from pdf2tei.pages import alto
from pdf2tei.pages.model import Kind, Line
from pdf2tei.paper import extract
from pdf2tei.places import FIELDS, LOST, PATHS, fold_letters, list_texts, place_lines, read_text
from tests.unit.pdf2tei.samples import FLOATS, HANGING, PROSE, TITLE, typeset
from tests.unit.pdf2tei.typeset import LOOKS

QUICK_LOOKS = ("ieee", "manuscript, plain", "open, plain", "humanities, complete")
QUICK_PAPERS = ("pairs/6f06584c", "cases/layout/a2", "pmc-pdf/PMC5448358", "cases/layout/PMC5964621")
"""papers with tables without captions, abstracts in two languages, notes of tables, and lost ligatures"""
PAPERS = [*REAL_DATA.glob("pairs/*.pdf"), *REAL_DATA.glob("pmc-pdf/*.pdf"), *REAL_DATA.glob("cases/layout/*.pdf")]


def is_quick(paper: Path) -> bool:
    return any(
        paper.is_relative_to(REAL_DATA) and str(paper.relative_to(REAL_DATA)).startswith(x) for x in QUICK_PAPERS
    )


def find_added(lines: list[Line], tei: bytes) -> list[str]:
    """Return words of the TEI that its lines do not contain, and the parts that have more letters than their lines."""
    root = etree.fromstring(tei)
    out: list[str] = []
    for kind in PATHS.keys() - {Kind.FORMULA}:
        kinds = (kind, Kind.FORMULA) if kind is Kind.BODY else (kind,)
        printed = "".join(fold_letters(line.text) for line in lines if line.kind in kinds)
        text = " ".join(list_texts(root, kind))
        out += [word for word in text.split() if fold_letters(word) not in printed]
        out += [f"more letters in {kind}"] * bool(Counter(fold_letters(text)) - Counter(printed))
    page = "".join(fold_letters(line.text) for line in lines)
    fields = [read_text(field) for path in FIELDS.values() for field in root.iterfind(path)]
    words = [
        part for field in fields for part in re.split(r"[\s@-]", field)
    ]  # `{ada,bo}@x.org` is printed for two addresses
    return out + [word for word in words if fold_letters(word) not in page]


def count_letters(texts: list[str]) -> Counter[str]:
    return Counter(fold_letters("".join(texts)))


def check_law(pdf: Path) -> None:
    lines: list[Line] = []
    tei = extract(pdf, timeout=300, printed=lines)
    assert tei is not None
    placed = place_lines(lines, tei)
    assert len(placed) == len(lines)
    assert [row for row in placed if row.place == LOST] == []
    assert find_added(lines, tei) == []
    first = count_letters([line.text for page in alto.read_document(pdf, 300).pages for line in page.lines])
    last = count_letters([line.text for line in lines])
    removed = (first - last).total()
    assert removed <= len("Zusammenfassung") * 2, "only the names of abstracts and a label are removed"
    with pypdfium2.PdfDocument(pdf) as document:
        shown = count_letters([page.get_textpage().get_text_range() for page in document])
    assert not (last - first) - shown, "a repair added letters that PDFium does not show"


@pytest.mark.parametrize("look", [pytest.param(x, marks=() if x in QUICK_LOOKS else pytest.mark.long) for x in LOOKS])
def test_generated_paper_obeys_the_law(look: str, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(typeset(look, f"#set par(spacing: 1.2em)\n\n{FLOATS}")[0])
    check_law(tmp_path / "a.pdf")


@pytest.mark.parametrize(
    "paper", [pytest.param(x, marks=() if is_quick(x) else pytest.mark.long, id=x.stem) for x in sorted(PAPERS)]
)
def test_real_paper_obeys_the_law(paper: Path, shared_data: Path) -> None:
    check_law(paper)


FRONT = f'#set page(paper: "a4", numbering: "1")\n#text(size: 16pt)[{TITLE}]\n\nAna Luzia Ferreira\n\n'
CELLS = ["Site", "Beetles", "Litter", "North", "12", "0.4", "South", "31", "0.9", "West", "17", "0.2"]


def test_table_without_a_caption_is_kept(tmp_path: Path) -> None:
    table = f"#text(size: 8pt)[#grid(columns: (1fr, 1fr, 1fr), row-gutter: 6pt, {', '.join(f'[{x}]' for x in CELLS)})]"
    source = f"{FRONT}= Introduction\n{PROSE}\n\n{PROSE}\n\n{table}\n\n{PROSE}"
    (tmp_path / "a.pdf").write_bytes(typst.compile(source.encode(), format="pdf"))
    tei = etree.fromstring(extract(tmp_path / "a.pdf", timeout=60) or b"")
    assert [cell.text for cell in tei.iterfind(".//{*}figure[@type='table']//{*}cell")] == CELLS


def test_explain_lists_each_line_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = f"{FRONT}*Abstract*\n\n{PROSE}\n\n= Introduction\n{PROSE}\n\n= References\n{HANGING}"
    (tmp_path / "a.pdf").write_bytes(typst.compile(source.encode(), format="pdf"))
    monkeypatch.setattr("sys.argv", ["pdf2tei", "--explain", str(tmp_path / "a.pdf")])
    cli.main()
    rows = [row.split("\t") for row in capsys.readouterr().out.splitlines()]
    places = {text: place for _, place, text in rows}
    assert places[TITLE] == "title" and places["Ana Luzia Ferreira"] == "authors"
    assert places["Abstract"] == places["References"] == "not used: name of a field"
    assert places["1"] == "not used: page furniture"
    assert {place for _, place, _ in rows} >= {"abstract", "body", "reference"}


def test_explain_names_pages_above_a_limit(tmp_path: Path) -> None:
    """The second page has more words than a page may have."""
    numbers = '#set text(size: 1pt)\n#set page(height: auto)\n#(range(21000).map(str).join(" "))'
    source = f"{FRONT}= Introduction\n{PROSE}\n#pagebreak()\n{numbers}"
    (tmp_path / "a.pdf").write_bytes(typst.compile(source.encode(), format="pdf"))
    command = [sys.executable, "-m", "pdf2tei.cli", "--explain", str(tmp_path / "a.pdf")]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [row for row in run.stdout.splitlines() if row.startswith("2\t")] == ["2\tnot used: page above a limit\t"]


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (None, "No such file"),
        (b"", "not a PDF"),
        (b"%PDF-1.7\n%%EOF", "cannot be extracted"),
        (typst.compile(b"#rect(fill: red)", format="pdf"), "has no text"),
    ],
)
def test_explain_names_the_fault_of_a_file(content: bytes | None, cause: str, tmp_path: Path) -> None:
    pdf = tmp_path / "a.pdf"
    if content is not None:
        pdf.write_bytes(content)
    run = subprocess.run([sys.executable, "-m", "pdf2tei.cli", "--explain", pdf], capture_output=True, text=True)
    assert run.returncode == 2 and run.stderr.count("\n") == 1
    assert str(pdf) in run.stderr and cause in run.stderr


def test_explain_names_a_full_disk(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(typst.compile(f"{FRONT}{PROSE}".encode(), format="pdf"))
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "pdf2tei.cli", "--explain", str(tmp_path / "a.pdf")]
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 2 and run.stderr == "pdf2tei: [Errno 28] No space left on device\n"
