"""Each PDF gives a TEI with its version and the counts of its lines, no content, or an error with GROBID's code.

docs/hostile-input.md: a damaged PDF never crashes the process.
"""

import os
import random
from collections import Counter
from pathlib import Path

import pytest
from lxml import etree
from pebble import ProcessPool

from pdf2tei import VERSION, Code, ExtractionError, extract
from pdf2tei.pages import alto
from pdf2tei.pages.model import Kind
from tests.unit.pdf2tei.samples import NS, all_lines, list_raws, list_texts, read_pdf, typeset
from tests.unit.s2corpus.pdf.bad_pdfs import KINDS

SEED = 20200705


def test_every_line_is_counted_in_one_part(tmp_path: Path) -> None:
    measures = read_pdf(typeset("ieee")[0], tmp_path).xpath(".//t:extent/t:measure[@unit='lines']", namespaces=NS)
    counts = {e.get("type"): int(e.get("quantity", "0")) for e in measures}
    assert set(counts) == {str(kind) for kind in Kind}
    assert min(counts["body"], counts["front"], counts["reference"]) > 0
    lines = len(all_lines(alto.read_document(tmp_path / "a.pdf", 60)))
    assert 0.9 * lines <= sum(counts.values()) <= lines  # Pieces of a line are joined before they are counted.


def test_extraction_is_reproducible_and_names_its_version(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(typeset("ieee")[0])
    first = extract(tmp_path / "a.pdf", timeout=60)
    assert first is not None and first == extract(tmp_path / "a.pdf", timeout=60)
    [application] = etree.fromstring(first).iterfind(".//t:application", NS)
    assert (application.get("ident"), application.get("version")) == ("s2corpus-layout", VERSION)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", Code.BAD_INPUT_DATA),
        (b"just text", Code.BAD_INPUT_DATA),
        (b"%PDF-1.7\n", Code.PDFALTO_CONVERSION_FAILURE),
        (KINDS["blank"][0](), None),
    ],
)
def test_pdf_without_content_gives_grobids_error_code(tmp_path: Path, content: bytes, code: Code | None) -> None:
    (tmp_path / "x.pdf").write_bytes(content)
    if code is None:
        assert extract(tmp_path / "x.pdf", timeout=60) is None
        return
    with pytest.raises(ExtractionError) as caught:
        extract(tmp_path / "x.pdf", timeout=60)
    assert caught.value.code is code


def test_real_paper_is_extracted(shared_data: Path) -> None:
    """The gold is GROBID 0.6.1's TEI of the same PDF."""
    root = etree.fromstring(extract(next((shared_data / "pairs").glob("649def34*.pdf")), timeout=60) or b"")
    gold = etree.parse(next((shared_data / "pairs").glob("649def34*.tei.xml"))).getroot()
    for path in (".//t:titleStmt/t:title", ".//t:sourceDesc//t:author//t:surname"):
        assert [x.casefold() for x in list_texts(root, path)] == [x.casefold() for x in list_texts(gold, path)]
    assert len(list_raws(root)) == len(list_texts(gold, ".//t:listBibl/t:biblStruct"))
    ours, theirs = list_texts(root, ".//t:body//t:head"), list_texts(gold, ".//t:body//t:head")
    assert len(set(ours) & set(theirs)) >= 0.85 * len(theirs)


def damage(data: bytes, rng: random.Random) -> bytes:
    """Return a copy with changed bytes, a range removed, repeated or overwritten, changed digits, or a cut end."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at, other, length = rng.randrange(len(out)), rng.randrange(len(out)), rng.randint(1, 400)
        match rng.randrange(4):
            case 0:
                for i in rng.choices(range(len(out)), k=rng.randint(1, 40)):
                    out[i] = rng.randrange(256)
            case 1:
                replaced, copied = rng.choice([(length, 0), (0, length), (length, length)])
                out[at : at + replaced] = out[other : other + copied]
            case 2:
                digits = [i for i in range(at, min(at + 4000, len(out))) if 48 <= out[i] <= 57]
                for i in rng.sample(digits, min(len(digits), 5)):
                    out[i] = 48 + rng.randrange(10)
            case _:
                del out[max(at, len(out) // 2) :]
    return bytes(out)


def extraction_outcome(path: Path) -> str:
    """Return the outcome of an extraction: an error code, `no content` or `tei`."""
    try:
        tei = extract(path, timeout=60)
    except ExtractionError as error:
        return error.code.value
    if tei is None:
        return "no content"
    etree.fromstring(tei)
    return "tei"


@pytest.mark.parametrize("count", [24, pytest.param(2000, marks=pytest.mark.long)])
def test_damaged_pdf_gives_an_error_code(count: int, tmp_path: Path) -> None:
    rng = random.Random(SEED)
    paths = [tmp_path / f"{i}.pdf" for i in range(count)]
    for i, path in enumerate(paths):
        path.write_bytes(damage(typeset(("nature", "ieee")[i % 2])[0], rng))
    with ProcessPool(max_workers=min(2, os.cpu_count() or 1), max_tasks=200) as pool:
        futures = [pool.schedule(extraction_outcome, args=[path], timeout=90) for path in paths]
        found = Counter(future.result() for future in futures)  # Raises an error if the worker died.
    assert found.total() == count and found["tei"] > 0, found
