"""Reference lists are found under any heading, are complete, and are split into the entries that a reader sees."""

from __future__ import annotations

import re

import pytest

from pdf2tei import references
from pdf2tei.measures import measure
from pdf2tei.model import Document, Font, Kind, Line
from pdf2tei.segmentation import SegmentLabel
from pdf2tei.splitting import split
from pdf2tei.text import Joiner
from tests.unit.pdf2tei.samples import HEAD, ROMAN, SMALL, Row, all_lines, draw, draw_line

TYPE = Font("times", 9.0)


def line(text: str, row: int, x: float = 50.0) -> Line:
    """Return a line of nine-point type in a row of a page."""
    return draw_line((text, TYPE), x=x, y=11.0 * row)


def entries(texts: list[str]) -> list[str]:
    lines = [line(text, row) for row, text in enumerate(texts)]
    return [" ".join(x.text for x in group) for group in split(lines)]


HEADS = """References|■ REFERENCES|Notes and references|R E F E R E N C E S|6. Literature cited|Références bibliographiques|
Literaturverzeichnis|参考文献|VI. REFERENCES|Список литературы|Referencias bibliográficas"""
OTHERS = ["in the table for reference only", "Reference values were measured at rest.", "Results"]


def test_head_of_reference_list_is_found() -> None:
    heads = HEADS.replace("\n", "").split("|")
    assert [text for text in [*heads, *OTHERS] if references.is_head(line(text, 1))] == heads


PRINTED = {
    "a label that was not read": """1 Ammar W, Groeneveld D. Construction of the literature graph. 2018;3:84–91.
2 Lo K, Wang LL. S2ORC: the Semantic Scholar open research corpus. 2020;1:4969–83.
van der Sluis I. Predictors that follow litter. J Ecol 2011; +
12: 4–9. +
4 van Dijk J. Beetles of three forests. Oikos 2012;4:1–9.
5 Xiong C. Explicit semantic ranking. WWW 2017;2:1271–9.""",
    "a year like a label": """1. Ammar W. Construction of the literature graph.
2018. Proceedings of NAACL, pages 84–91. +
2. Lo K. S2ORC: the open research corpus. ACL,
2020. pages 4969–83. +
3. Xiong C. Explicit semantic ranking. 2017.""",
    "the rest of an address": """Geiger RS, Yu K (2020) Garbage in, garbage out? In: Proceedings of FAT, pp. 1–9.
Gershgorn D (2017) The Data That Transformed AI. At: https://qz.com/the-data-thatchanged-the-direction
-of-ai-research-and-possibly-theworld/ (accessed 10 July 2018). +
Gibney E (2020) The battle for ethical AI. Nature 577(7792): 609–609.""",
}
"""Lists; a plus sign ends the lines that continue an entry."""


@pytest.mark.parametrize("name", PRINTED)
def test_line_within_entry_begins_none(name: str) -> None:
    whole = re.sub(r"\n(.*) \+$", r" \1", PRINTED[name], flags=re.M)
    assert entries(PRINTED[name].replace(" +", "").split("\n")) == whole.split("\n")


HANGING_LIST = """Baltagi, B. (2008). Distributed lags and dynamic models. In Econometrics
>(pp. 129–145).
Böse, J.-H., et al. (2017). Probabilistic demand forecasting at scale.
>Proceedings in VLDB Endowment, 10(12), 1694–1705.
Capistran, C., Constandse, C., & Ramos-Francia, M. (2010). Multi-horizon
>inflation forecasts using disaggregated data. Economic Modelling,
>27(3), 666–677.
Choi, E., et al. (2016). RETAIN: An interpretable predictive model for
>healthcare using reverse time attention mechanism. In NIPS.
van Hoek, M., Hogeweg, P., 2006. In silico evolved lac operons. Biophys J
>91, 2833–2843."""


def test_layout_corrects_starts_of_entries() -> None:
    rows = HANGING_LIST.split("\n")
    lines = [line(row.lstrip(">"), i, 62.0 if row.startswith(">") else 50.0) for i, row in enumerate(rows)]
    assert [" ".join(x.text for x in group) for group in split(lines)] == HANGING_LIST.replace("\n>", " ").split("\n")


def test_label_inside_merged_line_is_found() -> None:
    found = entries(
        [
            "[1] Ammar W. Graphs. 2018;3:84–91.",
            "[2] Lo K. Corpora. 2020;1:4969–83. [3] Sluis I. Litter. J Ecol 2011;12:4–9.",
            "[4] Xiong C. Ranking. 2017;2:1271–9.",
        ]
    )
    assert [e[:3] for e in found] == ["[1]", "[2]", "[3]", "[4]"]


WITH_YEARS = [
    ("Ammar, W., & Groeneveld, D. (2018). Construction of the literature", "graph in Semantic Scholar. NAACL, 84–91."),
    ("Lo, K., & Wang, L. L. (2020). S2ORC: The Semantic Scholar open", "research corpus. ACL, 4969–4983."),
    ("Weihs, L., & Etzioni, O. (2017). Learning to predict citation-based", "impact measures. JCDL, 1–10."),
    (
        "Xiong, C. (2017). Explicit semantic ranking for academic search",
        "via knowledge graph embedding. WWW, 1271–1279.",
    ),
]
WITH_GROUPS = [
    ("World Health Organization. Global report on litter", "and its dwellers. Geneva: WHO Press; 2018."),
    ("Ammar W, Groeneveld D. Construction of the literature", "graph in Semantic Scholar. 2018;3:84–91."),
    ("European Food Safety Authority. Guidance on beetles", "in stored grain. EFSA Journal. 2019;17:5640."),
    ("Lo K, Wang LL. The open research corpus that", "everybody reads. J Data. 2020;1:4969–83."),
    ("Xiong C. Explicit semantic ranking for academic", "search. Inf Retr. 2017;12:4–19."),
]


@pytest.mark.parametrize(
    ("printed", "first", "rest"),
    [
        pytest.param(WITH_YEARS, 50.0, 62.0, id="hanging"),
        pytest.param(WITH_YEARS, 62.0, 50.0, id="indented first lines"),
        pytest.param(WITH_YEARS, 50.0, 50.0, id="no indent"),
        pytest.param(WITH_GROUPS, 50.0, 50.0, id="groups, no indent"),
        pytest.param(WITH_GROUPS, 50.0, 62.0, id="groups, hanging"),
    ],
)
def test_reference_lists_without_labels_are_split(printed: list[tuple[str, str]], first: float, rest: float) -> None:
    """Groups have no initials; a CRF finds the borders of their entries."""
    lines = [line(text, 2 * i + k, (first, rest)[k]) for i, pair in enumerate(printed) for k, text in enumerate(pair)]
    assert [" ".join(x.text for x in group) for group in split(lines)] == [" ".join(pair) for pair in printed]


BODY = [Row("The models that we trained learn from few examples and do not forget them.")] * 30


def entry(year: int, font: Font = ROMAN) -> list[Row]:
    """Return the two rows of an entry."""
    first = Row(f"J. Wu, K. Williams, and C. L. Giles. {year}. Searching", font, block=True)
    return [first, Row("for papers. Journal of Libraries, 12(3):4–19.", font, left=60)]


def listed(years: range, font: Font = ROMAN) -> list[Row]:
    return [*BODY, Row("References", HEAD, block=True), *(row for year in years for row in entry(year, font))]


def list_found_entries(document: Document, labelled: range | list[int]) -> list[str]:
    """Return the entries if only these lines of the document are labeled as references."""
    lines = all_lines(document)
    labels = {id(line): SegmentLabel.BODY for line in lines} | {id(lines[i]): SegmentLabel.REFERENCE for i in labelled}
    return [e.raw for e in references.take_references(document, labels, measure(lines), Joiner(lines))]


@pytest.mark.parametrize("labelled", [range(30, 45), range(51, 71)], ids=["tail", "start"])
def test_missed_part_belongs_to_list(labelled: range) -> None:
    found = list_found_entries(draw(listed(range(1990, 2010))), labelled)
    assert len(found) == 20 and "1990" in found[0] and "2009" in found[-1]


def test_prose_under_head_of_reference_list_is_not_its_start() -> None:
    document = draw([Row("References", HEAD), *BODY, *listed(range(1990, 2010))[31:]])
    assert len(list_found_entries(document, range(31, 71))) == 20
    assert all(line.kind is Kind.BODY for line in all_lines(document)[:31])


@pytest.mark.parametrize(
    ("above", "kind"),
    [
        ("Conference on Artificial Intelligence,", Kind.REFERENCE),
        ("Conference on Artificial Intelligence.", Kind.BODY),
    ],
)
def test_back_matter_ends_list_only_after_complete_entry(above: str, kind: Kind) -> None:
    rows = listed(range(2000, 2010))
    rows[34:34] = [Row(text, left=60) for text in (above, "Ethics, and Society.", "Turin, Rome,", "Naples.")]
    document = draw([Row(x.text, x.font, True, x.gap, x.left) for x in rows])
    list_found_entries(document, range(30, len(rows)))
    assert all_lines(document)[-1].kind is kind


def test_list_begins_at_its_head() -> None:
    credits = [Row("Writing: Elvina V. Brown, Helen M. Faddy.", block=True) for _ in range(12)]
    rows = [*BODY, *credits, *listed(range(2000, 2010))[30:]]
    document = draw(rows)
    assert len(list_found_entries(document, range(30, len(rows)))) == 10
    assert all(line.kind is Kind.BODY for line in all_lines(document)[30:42])


def test_appendix_is_not_part_of_the_reference_list() -> None:
    rows = [*listed(range(2000, 2010)), Row("Proofs of the theorems", HEAD, block=True), *BODY]
    document = draw([*rows, *entry(2010), *entry(2011)])
    list_found_entries(document, [*range(30, 51), *range(len(rows), len(rows) + 4)])
    assert all(line.kind is Kind.BODY for line in all_lines(document)[51 : len(rows)])


def test_text_in_other_size_ends_list() -> None:
    behind = [Row("The authors of Brown et al. (2001) and J. Wu (2002) agreed, p. 12.", ROMAN)] * 10
    document = draw([*listed(range(2000, 2010), SMALL), *behind])
    assert len(list_found_entries(document, range(30, 51))) == 10
    assert all(line.kind is Kind.BODY for line in all_lines(document)[51:])
