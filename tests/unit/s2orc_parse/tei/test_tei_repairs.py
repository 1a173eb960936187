"""Text has the words, signs and spaces that the paper prints (SPEC §3.30). The texts are from TEI of real papers."""

import pytest

from tests.unit.s2orc_parse.tei import teis


def read(*paragraphs: str) -> list[str]:
    """Return the texts of the paragraphs of a body."""
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return [paragraph.text for paragraph in teis.parse(f"<div>{body}</div>").body_text]


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("additional use of tranilast with 5-FU/ CDDP and", "additional use of tranilast with 5-FU/CDDP and"),
        ("(http:// www.bioafrica.net/rega-genotype)", "(http://www.bioafrica.net/rega-genotype)"),
        ("yes / no", "yes / no"),
        ("heated to 220 ◦C for 12 h", "heated to 220 °C for 12 h"),
        ("at 550 ∘ C and two peaks at about 26◦ and 44◦.", "at 550 °C and two peaks at about 26° and 44°."),
        ("the map f ∘ g, 2 ∘ g", "the map f ∘ g, 2 ∘ g"),
        ("approximately 1.5 × 10 8 colony forming units", "approximately 1.5 × 10^8 colony forming units"),
        ("showed 56.40×10 4 total", "showed 56.40×10^4 total"),
        ("of 2 × 10 15.5 m and 3 × 10 2000 m, n = 10 8", "of 2 × 10 15.5 m and 3 × 10 2000 m, n = 10 8"),
        ("regular intra-and inter-observer variation", "regular intra- and inter-observer variation"),
        ("highly supervised-and thus biased", "highly supervised-and thus biased"),
    ],
)
def test_spaces_and_signs_are_those_of_the_paper(written: str, printed: str) -> None:
    assert read(written) == [printed]


def test_words_are_joined_if_the_paper_also_has_them_undivided() -> None:
    written = (
        "how sec-ond language learners use a second language", "the na- tive model and native speakers", "the hormones of stress hor-mones",
        "low- and middle-income, pre-existing and preexisting", "state-of-the-art covariates", "a wordpiece is a word-piece, a word ",
        "qual-ity control", "Transform-ers and Transformers",
    )  # fmt: skip
    assert read(*written) == [
        "how second language learners use a second language", "the native model and native speakers", "the hormones of stress hormones",
        "low- and middle-income, pre-existing and preexisting", "state-of-the-art covariates", "a wordpiece is a word-piece, a word",
        "qual-ity control", "Transformers and Transformers",
    ]  # fmt: skip


def test_compound_has_the_hyphen_that_it_lost_at_a_line_end() -> None:
    """The paper has the compound more often, and each part as a word; otherwise both forms may be the paper's."""
    written = (
        "a phosphate-containing solution that in addition to electrolytes is containing phosphate",
        "phosphate-containing, Phosphatecontaining",
        "a data-set, the dataset, a data-set of the dataset set, data", "pre-trained, pre-trained, pretrained and trained",
        "end-to-end, the end-to-end models and endto-end to an end", "real-world, realworld and the real world",
    )  # fmt: skip
    assert read(*written) == [
        written[0], "phosphate-containing, Phosphate-containing", written[2], written[3],
        "end-to-end, the end-to-end models and end-to-end to an end", written[5],
    ]  # fmt: skip


def test_space_divides_citations() -> None:
    refs = ("(Bryant and Briscoe, 2018;", "Tetreault et al., 2018)", "[1,", "2]")
    marks = [f'<ref type="bibr">{text}</ref>' for text in refs]
    assert read(f"{marks[0]}{marks[1]} and {marks[2]}{marks[3]}") == [
        "(Bryant and Briscoe, 2018; Tetreault et al., 2018) and [1,2]"
    ]
