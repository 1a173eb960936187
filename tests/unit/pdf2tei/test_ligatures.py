"""The ligature `Th` that pdfalto drops is restored from PDFium's text; a page without its ligatures is unhealthy."""

from __future__ import annotations

from pathlib import Path

from pdf2tei import extract, health, ligatures
from pdf2tei.model import Document
from tests.unit.pdf2tei.samples import Row, draw

LOST = [
    "e traits of beetles follow the litter that they live in.",
    "We measured what could be measured. ese are the values of it.",
    "e strength of the relation differed between the sites that we saw,",
    "and is not e same in winter. is is what others have found before.",
] * 3
SEEN = " ".join(LOST).replace("e traits", "+e traits").replace(". ese", ". +ese").replace("e strength", "+e strength")
SEEN = SEEN.replace("not e same", "not +e same").replace(". is is", ". +is is")
PORTUGUESE = ["O perfil da publicação e a produção brasileira e a chinesa e os autores de cada país."] * 12


def draw_rows(rows: list[str]) -> Document:
    return draw([Row(text) for text in rows])


def test_lost_ligature_returns_from_second_reader() -> None:
    page = draw_rows(LOST).pages[0]
    ligatures.restore_page(page, SEEN, ["+"])
    text = " ".join(line.text for line in page.lines)
    assert text.count("The traits") == 3
    assert text.count("These are") == 3
    assert text.count("winter. This is what") == 3
    assert "and is not The same" in text  # As PDFium shows it.


def test_each_font_has_its_sign_of_ligature() -> None:
    seen = ["In +e spring +ese leaves, +ey say, 3ymus grows. 3yme and 3ymus of 20m and 3kg"]
    assert ligatures.find_signs(seen) == ["+", "3"]
    page = draw_rows(["In e spring ese leaves, ey say, ymus grows"]).pages[0]
    ligatures.restore_page(page, seen[0], ["+", "3"])
    assert page.lines[0].text == "In The spring These leaves, They say, Thymus grows"


def test_ligature_between_signs_returns() -> None:
    page = draw_rows(["bitors from thyme ( ymus vulgaris L.),” D. Sollars, “ yme"]).pages[0]
    ligatures.restore_page(page, "bitors from thyme (3ymus vulgaris L.),” D. Sollars, “3yme", ["3"])
    assert page.lines[0].text == "bitors from thyme ( Thymus vulgaris L.),” D. Sollars, “ Thyme"


def test_page_without_first_letters_is_damaged() -> None:
    assert health.find_defects(draw_rows(LOST)) == {1: health.Defect.LOST_LETTERS}


def test_word_e_of_other_languages_is_not_damage() -> None:
    assert ligatures.count_words_without_th(draw_rows(PORTUGUESE).pages[0]) == 0


def test_printed_ligature_is_read(shared_data: Path) -> None:
    text = (extract(shared_data / "cases" / "layout" / "PMC5964621.pdf", timeout=200) or b"").decode()
    assert "modern medicine. The medicinal use of plants" in text
