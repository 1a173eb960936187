"""SPEC §7.18, §7.19: an entry without another candidate links to the paper whose title its printed text contains."""

from typing import Any

import pytest

from s2corpus.sources.documents import find_document
from tests.unit.s2corpus.stages.link.samples import Row, link_all

SEPSIS = "Obesity is not associated with poor outcomes in older patients with sepsis"
PAPERS: list[Row] = [
    {"paper_id": "sepsis", "title": SEPSIS, "surname": "Restrepo", "year": 2014, "volume": "18", "pages": "P47-P48"},
    {"paper_id": "song", "title": "Plainsong", "surname": "Rainbow", "year": 1975, "volume": "116", "pages": "445"},
    {"paper_id": "survey", "title": "A survey of deep learning", "surname": "den Hollander", "year": 2016},
    {"paper_id": "part", "title": "A survey of deep learning: for graphs", "surname": "den Hollander", "year": 2016},
    {"paper_id": "book", "title": "The little handbook of old texts", "surname": "Roe", "year": 2001},
    {"paper_id": "unsigned", "title": "Monster star goes out with two bangs", "year": 2007},
    {"paper_id": "undated", "title": "Religious resistance to neoliberalism", "surname": "Day"},
]
APA, IEEE = (
    "Restrepo, M., & Reyes, L. (2014). {}. Critical Care, 18(Suppl 1), P47.",
    "[1]M. Restrepo, “{},” Critical Care, vol. 18, 2014.",
)


@pytest.mark.parametrize(
    ("raw", "paper"),
    [
        (APA.format(SEPSIS), "sepsis"), (IEEE.format(SEPSIS.upper()), "sepsis"),
        (f"{SEPSIS}. Critical Care 18 (1) (Jan): P47. 2014", "sepsis"),  # volume, page and year agree
        (f"Restrepo M. {SEPSIS}. Critical Care.", "sepsis"),  # no year contradicts
        (f"Restrepo M. {SEPSIS}. Critical Care 7(1):3-9.", None),  # another volume and page
        (f"Smith A 2014 {SEPSIS} Lancet 3 4", None),  # another surname
        (f"Restrepo M (2009). {SEPSIS}. Lancet 3: 4", None),  # another year
        (f"Smith A (2014). On the {SEPSIS}. Lancet", None),  # a part of a title
        ("den Hollander B (2016). A survey of deep learning methods for music. Nature.", None),  # its beginning
        (APA.format(f"Correction to: {SEPSIS}"), None), (IEEE.format(f"Reply to “{SEPSIS}”"), None),
        (IEEE.format(f"Comments on Gelman and Shalizi: ‘{SEPSIS}’"), None),
        (APA.format(f"Review of {SEPSIS}"), None),
        ("[1]B. Rainbow and J. H. Arnold, “Plainsong,” The Musical Times, vol. 116, no. 1587, p. 445, May 1975.", "song"),
        ("Arnold, J. H. (1975). Plainsong. The Musical Times, 116(1587), 445.", "song"),
        ("Arnold, J. H. (1975). Plainsong. The Musical Times, 99, 1.", None),  # a short title needs more
        ("Rainbow, B. (n.d.). Plainsong. The Musical Times.", None),
        ("Den Hollander, P. (2016). A Survey of Deep Learning. ACM.", "survey"),
        ("Den Hollander, P. (2016). A Survey of Deep Learning: For Graphs. ACM.", "part"),  # the longest title
        ("Roe, J. 2001. The little handbook of old texts. Basel.", "book"),
        ("Roe, J. 2001. Runes. In: The little handbook of old texts, pp. 3-9.", None),
        ("Lee, A., & Roe, J. (2001). Runes. In J. Roe (Ed.), The little handbook of old texts (pp. 3-9). Basel.", None),
        ("Monster star goes out with two bangs. (2007). Physics Today.", "unsigned"),
        ("Monster star goes out with two bangs. (1999). Physics Today.", None),
        ("Day, K. (2016). Religious resistance to neoliberalism.", "undated"), ("x" * 3000, None), ("", None),
        (f"Comment on {'A' * 500}: {SEPSIS}. 2014", None), (None, None),
    ],
)  # fmt: skip
def test_printed_title_links_if_enough_agrees(raw: str | None, paper: str | None) -> None:
    (found,) = link_all([{"raw_text": raw}], PAPERS)
    assert (found["paper_id"], found["reason"], found["warning"]) == (paper, "contained" if paper else "none", None)


def test_papers_that_agree_equally_are_a_tie() -> None:
    twins = [{**PAPERS[0], "paper_id": name} for name in ("b", "a")]
    (found,) = link_all([{"raw_text": APA.format(SEPSIS)}], twins)
    assert (found["paper_id"], found["warning"]) == ("a", "tie")
    (found,) = link_all([{"raw_text": APA.format(SEPSIS), "citing_paper_id": "a"}], twins)
    assert (found["paper_id"], found["warning"]) == ("b", None)


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("Correction to: X", "erratum"), ("Author’s Correction: X", "erratum"), ("Corrigendum to “X”", "erratum"), ("Reply to X", "reply"),
        ("The authors’ reply: X", "reply"), ("Comment on X", "comment"), ("Book review: X", "review"), ("“Review of X", "review"),
        ("Front matter", "front matter"), ("Correction of scoliosis", None), ("Responses of mice", None), ("Letters and sounds", None),
    ],
)  # fmt: skip
def test_title_of_a_notice_has_its_kind(title: str, kind: str | None) -> None:
    assert find_document(title) == kind


@pytest.mark.parametrize("notice", ["Correction to: ", "Reply to ", "Comment on "])
@pytest.mark.parametrize("of_entry", [True, False])
def test_notice_is_not_the_work(notice: str, of_entry: bool) -> None:
    cited, given = (f"{notice}{SEPSIS}", SEPSIS) if of_entry else (SEPSIS, f"{notice}{SEPSIS}")
    entry: dict[str, Any] = {"title": cited, "year": 2014, "surname": "Restrepo"}
    assert link_all([entry], [{**PAPERS[0], "title": given}])[0]["paper_id"] is None


@pytest.mark.parametrize(("titles", "paper"), [(256, "p7"), (257, None)])
def test_beginning_of_too_many_titles_proposes_none(titles: int, paper: str | None) -> None:
    papers: list[Row] = [
        {"paper_id": f"p{n}", "title": f"Annals of the society {n:03d}", "surname": "Roe", "year": 2001}
        for n in range(titles)
    ]
    (found,) = link_all([{"raw_text": "Roe, R. (2001). Annals of the society 007. Lancet, 4, 1."}], papers)
    assert found["paper_id"] == paper
