"""Crossref's REST format is read: formulas, full names as family names, and licenses with a later start date.

The source is Crossref's documentation of `works`.
"""

from __future__ import annotations

from typing import Any

import pytest

from s2corpus.sources import Record
from tests.unit.s2corpus.sources.samples import one

NC_ND = "https://creativecommons.org/licenses/by-nc-nd/4.0/"
TDM = "https://www.elsevier.com/tdm/userlicense/1.0/"


def work(**fields: Any) -> Record:
    return one("crossref", {"DOI": "10.1016/j.x.2020.1", "type": "journal-article", "title": ["A title"], **fields})


def math(content: str) -> str:
    return f'<mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML" display="inline">{content}</mml:math>'


X, GAMMA = math('<mml:mi mathvariant="italic">X</mml:mi>'), math("<mml:mi>γ</mml:mi>")


@pytest.mark.parametrize(
    ("title", "text"),
    [
        (f"Waves in{X}-coupled lattices", "Waves in X-coupled lattices"),
        (f"The {X} boson: {GAMMA}, or not", "The X boson: γ, or not"),
        (math("<mml:semantics><mml:mi>α</mml:mi><mml:annotation encoding='x-tex'>\\alpha</mml:annotation></mml:semantics>"), "α"),
        ("On p < 0.05 and $$\\alpha <1$$", "On p < 0.05 and $$\\alpha <1$$"),
    ],
)  # fmt: skip
def test_formula_in_title_is_a_word(title: str, text: str) -> None:
    assert work(title=[title]).title == text


def test_formulas_take_linear_time() -> None:
    assert work(title=["<math>" * 2_000], abstract="<alternatives><math>" * 15_000).doi


@pytest.mark.parametrize(
    ("author", "name"),
    [
        ({"family": "Jane A. Doe"}, ("Jane", ("A",), "Doe", "")),
        ({"given": "John", "family": "John Smith"}, ("John", (), "Smith", "")),
        ({"name": "The Alpha Consortium"}, ("", (), "The Alpha Consortium", "")),
    ],
)
def test_complete_name_in_family_is_split(author: dict[str, str], name: tuple[Any, ...]) -> None:
    (found,) = work(author=[author]).authors
    assert (found.first, found.middle, found.last, found.suffix) == name


def licence(url: str, version: str, start: list[int] | None = None, delay: int | None = None) -> dict[str, Any]:
    given: dict[str, Any] = {"URL": url, "content-version": version}
    if start is not None:
        given["start"] = {"date-parts": [start], "date-time": "ignored"}
    return given if delay is None else given | {"delay-in-days": delay}


EMBARGOED = [licence(TDM, "tdm", [2020, 7, 1], 0), licence(NC_ND, "am", [2021, 7, 1], 365)]


@pytest.mark.parametrize(
    ("licences", "written", "now", "later"),
    [
        (EMBARGOED, None, TDM, [("CC-BY-NC-ND-4.0", "2021-07-01")]),
        (EMBARGOED, [2021, 7, 1], "CC-BY-NC-ND-4.0", []),
        ([licence(NC_ND, "am", [2021])], [2021, 3, 1], None, [("CC-BY-NC-ND-4.0", "2021-12-31")]),
    ],
)  # fmt: skip
def test_license_is_valid_from_its_start_date(
    licences: Any, written: Any, now: str | None, later: list[tuple[str, str]]
) -> None:
    indexed = {"indexed": {"date-parts": [written]}} if written else {}
    record = work(license=licences, **indexed)
    assert record.licence == now
    assert [(one.licence, one.start) for one in record.later_licences] == later
