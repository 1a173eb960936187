"""S2ORC, §2.5 and §2.6: filtering papers, and linking bibliographies to papers."""

from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2corpus.papers.filter import decide
from s2corpus.pipeline.stages import stage_row
from s2corpus.rules import FilterRules, LinkRules
from s2corpus.titles import grams, normalize, normalize_one, score, score_pairs
from tests.papers.s2orc import LITERAL
from tests.unit.s2corpus.stages.link.samples import link_all

TEXT = "We present a large corpus of scientific papers with full text, citations and references, and show how it was made. "


GERMAN = "Wir stellen eine große Sammlung wissenschaftlicher Arbeiten mit Volltext und Zitaten vor und zeigen, wie sie entstand. "


@pytest.mark.parametrize("language", ["cld3", "cld2"])
@pytest.mark.parametrize(
    ("title", "authors", "text", "outcome"),
    [(None, 0, "", "no_title"), ("T", 0, "", "no_authors"), ("T", 1, TEXT[:99], "short_text"), ("T", 1, TEXT[:100], "kept"),
     ("T", 1, GERMAN, "not_english")],
)  # fmt: skip
def test_filters_apply_in_series(title: str | None, authors: int, text: str, outcome: str, language: str) -> None:
    """Demands of S2ORC.

    31. §2.5 (i): papers without title are removed.
    32. §2.5 (ii): papers without authors are removed.
    33. §2.5 (iii): papers with fewer than 100 characters of abstract and body text are removed.
    34. §2.5 (iv): papers whose primary language is not English are removed.
    35. §2.5: all filters are applied in series.
    """
    pytest.importorskip("pycld2")
    rules = FilterRules.model_validate({"language": language})
    assert decide({"p"}, set(), rules, title=title, author_count=authors, text=text).outcome == outcome


def test_threshold_of_the_english_filter() -> None:
    """36. §2.5, footnote 14: the threshold over the English score is 0.9."""
    assert FilterRules().min_english == LITERAL.filter.min_english == 0.9
    english = decide({"p"}, set(), FilterRules(), title="T", author_count=1, text=TEXT).english or 0.0
    for limit, outcome in ((english, "kept"), (english + 1e-9, "not_english")):
        assert (
            decide({"p"}, set(), FilterRules(min_english=limit), title="T", author_count=1, text=TEXT).outcome
            == outcome
        )


def test_cld2_identifies_the_language_in_the_literal_profile() -> None:
    """37. §2.5, footnote 14: CLD2 detects the language.

    Deviation: CLD3 detects it.
    Reason: The S2 V2 card names CLD3, and one corpus has one detector. `filter.language: cld2` is the paper's rule. The card of a release
    with it counts the papers that the other decides differently.
    """
    pytest.importorskip("pycld2")
    text = "Data not available. " * 8
    found = [
        decide({"p"}, set(), rules, title="T", author_count=1, text=text) for rules in (FilterRules(), LITERAL.filter)
    ]
    assert [(one.outcome, one.disputed) for one in found] == [("not_english", None), ("kept", True)]


GRAPHS = "Inductive representation learning on large graphs"


def test_title_is_normalized() -> None:
    """38. §2.6: white spaces are stripped, letters lower-cased, special characters removed."""
    assert normalize_one(" Graph-\nBased  Methods: a (short) survey! ") == "graphbasedmethodsashortsurvey"


def grams_of(text: str) -> set[str]:
    """Return the character 3-grams of a text; a shorter text is its own."""
    return {text[i : i + 3] for i in range(len(text) - 2)} or ({text} if text else set())


def compute_s(a: set[str], b: set[str]) -> float:
    """Return equation 1 as printed."""
    common = len(a & b)
    if not common:
        return 0.0
    jaccard, containment = common / len(a | b), common / min(len(a), len(b))
    return 2 * jaccard * containment / (jaccard + containment)


TITLES = st.one_of(
    st.text("abcABC 12-é", max_size=20), st.text("ab", max_size=300), st.text(st.characters(exclude_categories=["Cs"]))
)


@given(st.lists(TITLES, min_size=1, max_size=12))
def test_s_is_equation_1(titles: list[str]) -> None:
    """Demands of S2ORC.

    39. §2.6: a title is represented by its character 3-grams.
    40. §2.6, eq. 1: S is the harmonic mean of the Jaccard index and the containment of the 3-grams.
    """
    normal = normalize(pa.array(titles))
    sets, expected = grams(normal), [grams_of(text) for text in normal.to_pylist()]
    assert sets.sizes.tolist() == [len(s) for s in expected]
    assert all((np.diff(v.astype(object)) > 0).all() for v in np.split(sets.values, sets.offsets[1:-1]))
    i, j = (x.ravel() for x in np.indices((len(titles), len(titles))))
    scores = score_pairs(sets, i, sets, j)
    assert scores == pytest.approx([compute_s(expected[a], expected[b]) for a, b in zip(i, j, strict=True)])
    early = score_pairs(sets, i, sets, j, 0.8)
    assert (early == np.where(scores >= 0.8, scores, 0.0)).all()


@pytest.mark.parametrize("evidence", ["all", "title"])
def test_entry_links_to_the_highest_s_above_the_threshold(evidence: Literal["all", "title"]) -> None:
    """Demands of S2ORC.

    41. §2.6: the pair with the highest S above 0.8 is the link.
    42. §2.6: otherwise the entry remains unlinked.
    """
    assert LinkRules().min_score == LITERAL.link.min_score == 0.8
    papers: list[dict[str, Any]] = [
        {"paper_id": "near", "title": f"{GRAPHS} xq"},
        {"paper_id": "far", "title": f"{GRAPHS} zqkwvpf", "year": 1999},
    ]
    (found,) = link_all([{"title": GRAPHS, "year": 1999}], papers, LinkRules(evidence=evidence))
    assert (found["paper_id"], found["runner_up_score"]) == ("near", score(GRAPHS, f"{GRAPHS} zqkwvpf"))
    s = score(GRAPHS, GRAPHS + "s")
    for threshold, linked in ((s, None), (s - 1e-9, "p")):
        rules = LinkRules(min_score=threshold, evidence=evidence)
        (found,) = link_all([{"title": GRAPHS + "s"}], [{"paper_id": "p", "title": GRAPHS}], rules)
        assert found["paper_id"] == linked


def test_title_alone_links_in_the_literal_profile() -> None:
    """43. §2.6: an entry links to a paper by the similarity of titles only.

    Deviation: An equal identifier is first. Generic and short titles need further agreement, and cut and missing titles may link by other
    evidence. Doubtful links have a warning and do not count.
    Reason: "Editorial" is the title of many papers. `link.evidence: title` is the paper's rule.
    """
    papers: list[dict[str, Any]] = [
        {"paper_id": "a", "title": "Editorial", "year": 1990, "surname": "Lee"},
        {"paper_id": "b", "title": "On graphs, part I", "doi": "10.1/b"},
        {"paper_id": "c", "title": "Deep nets for graphs and trees", "year": 2001, "surname": "Roy", "doi": "10.1/c"},
    ]  # fmt: skip
    entries: list[dict[str, Any]] = [
        {"title": "Editorial", "year": 2020, "surname": "Roy"}, {"title": "On graphs, part II", "year": 2000},
        {"title": "Deep nets for graphs and trees", "year": 1950, "surname": "Lee", "doi": "10.1/b"},
        {"title": "Deep nets", "year": 2001, "surname": "Roy"},
        {"title": "", "doi": "10.1/c"},
    ]  # fmt: skip
    ours, theirs = (link_all(entries, papers, rules) for rules in (LinkRules(), LITERAL.link))
    assert [row["paper_id"] for row in theirs] == ["a", "b", "c", None, None]
    assert {row["warning"] for row in theirs} == {None}
    assert [(row["paper_id"], row["warning"]) for row in ours[:3]] == [(None, None), ("b", "numeral"), ("b", None)]
    assert ours[4]["paper_id"] == "c"


def test_bibliographies_of_both_kinds_of_parse_are_linked() -> None:
    """44. §2.6: the bibliography entries of both GROBID and LaTeX parses are linked."""
    assert {"entries", "papers"} <= set(stage_row("link").reads)
    assert {"parses", "latex_parses"} <= set(stage_row("assemble").reads) and "entries" in stage_row("assemble").writes
