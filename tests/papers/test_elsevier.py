"""Elsevier OA CC-BY corpus (Kershaw and Koeling, 2020): its demands by section and table."""

from typing import Any

import orjson
import pytest

from s2corpus.snapshot.metadata import released_parse
from s2corpus_datasets.elsevier.article import ARTICLE, SUBJECTS, build_article, list_subjects, markup_share
from s2corpus_datasets.elsevier.dataset import ArticleOutcome, ElsevierCorpus, ElsevierParams
from s2corpus_datasets.protocol import StepResult
from s2corpus_datasets.source import SnapshotPaper
from s2orc_parse.jats.elsevier import convert
from s2orc_parse.tei.s2orc import to_s2orc
from tests.unit.s2corpus_datasets.conftest import METADATA
from tests.unit.s2corpus_datasets.test_elsevier_corpus import GIVEN, KNOWN

PARAMS = ElsevierParams()


def body(*texts: str, path: str = "Results::Frogs") -> dict[str, Any]:
    """Return a parse with a paragraph for each text."""
    paragraphs = [
        {"section": path.split("::")[-1], "section_path": path, "text": text, "cite_spans": []} for text in texts
    ]
    entry = {"title": "Toads", "authors": [{"first": "Cy", "middle": [], "last": "Roy", "suffix": ""}], "year": 2010, "venue": "",
             "volume": "2", "pages": "3--4", "other_ids": {"DOI": ["10.1000/x"], "PMID": ["2"]}}  # fmt: skip
    return {
        "body_text": paragraphs, "bib_entries": {"BIBREF0": entry}, "keywords": ["frogs"], "issn": "1932-6203", "authors": [],
    }  # fmt: skip


def judge(sentences: int = 20, unclean: int = 0, year: int = 2014, license: str = "CC-BY-4.0") -> str:
    """Return the outcome of an article with this number of clean and of unclean sentences."""
    texts = [*["Frogs are loud in the ponds of the north."] * sentences, *["<b>x</b> <i>y</i> <b>z</b>"] * unclean]
    paper = SnapshotPaper(
        {**METADATA, "year": year}, {**KNOWN, "license": license}, {"jats": body(*texts)}, {"jats": 0}
    )
    result = StepResult()
    list(ElsevierCorpus().rows(PARAMS, paper, result))
    (outcome,) = (name for step, name in result.funnel if step == "papers" and name != "in")
    return outcome


# -- §3.1 Data sampling


@pytest.mark.parametrize(
    ("article", "outcome"),
    [
        ({}, ArticleOutcome.KEPT), ({"year": 2013}, ArticleOutcome.TOO_OLD), ({"license": "CC-BY-NC-4.0"}, ArticleOutcome.LICENSE),
        ({"sentences": 19}, ArticleOutcome.FEW_SENTENCES), ({"sentences": 20, "unclean": 5}, ArticleOutcome.KEPT),
        ({"sentences": 20, "unclean": 6}, ArticleOutcome.UNCLEAN),
    ],
)  # fmt: skip
def test_articles_of_the_base_corpus(article: dict[str, Any], outcome: str) -> None:
    """Demands of the corpus.

    1. §3.1: articles were published since the beginning of 2014.
    2. §3.1: articles are open access and covered by CC-BY 4.0.
    3. §3.1: an article has a minimum of 20 sentences.
    4. §3.1: a maximum of 20 % of the sentences is removed.
    """
    assert judge(**article) == outcome


def test_older_versions_of_the_license_are_accepted() -> None:
    """5. §3.1: the license is CC-BY 4.0.

    Deviation: Older versions of CC-BY are accepted.
    Reason: They permit the same uses.
    """
    assert judge(license="CC-BY-3.0") == ArticleOutcome.KEPT


def test_sentence_with_excessive_markup_is_removed() -> None:
    """6. §3.1: a sentence with an excessive amount of XML or other markup is removed.

    Deviation: A share of more than 20 % is excessive. Display formulas and sentences without words are removed too.
    Reason: The paper states no number, and such sentences are not clean text.
    """
    assert (
        markup_share("The value is $x_{1}$.")
        > 0.2
        >= markup_share("The value of the mean is $x$ in each of the cases.")
    )
    texts = "We saw <b>x</b><i>y</i>.", "So EQUATION holds.", "1.5 2.5 3.5", "It is in all of the ponds."
    article, number, removed = build_article(SnapshotPaper(METADATA, KNOWN), body(*texts), PARAMS.max_markup_share)
    assert ([s["sentence"] for s in article["body_text"]], number, removed) == (["It is in all of the ponds."], 4, 3)


def test_sample_is_stratified() -> None:
    """Demands of the corpus.

    7. §3.1: the 334 ASJC codes are grouped into their 27 top-level subjects.
    8. §3.1: 2000 documents are sampled for each subject; an article is sampled for one subject only.
    """
    assert len(SUBJECTS) == 27 and PARAMS.per_subject == 2_000
    assert list_subjects({"metadata": {"asjc": [2713, 1705], "subjareas": ["MEDI"]}}) == [
        "Computer Science",
        "Medicine",
    ]


def test_article_without_asjc_has_the_subject_of_its_field() -> None:
    """9. §3.1: the discipline is given by ASJC codes of the journal.

    Deviation: An article without ASJC code is sampled for the subject nearest to its primary field of study.
    Reason: Few sources give ASJC codes.
    """
    assert list_subjects({"metadata": {}}) == []


# -- §3.2 Data structure


def test_delivered_article_keeps_every_field() -> None:
    """10. §3.2: the schema, with author highlights; an article that was delivered in this form is published unchanged."""
    parse = released_parse(to_s2orc(convert(orjson.dumps(GIVEN), sha1="0" * 40)), {}, open_access=True)
    one = SnapshotPaper({"paper_id": "p", "doi": None}, {}, {"elsevier": orjson.loads(orjson.dumps(parse))})
    assert build_article(one, one.parses["elsevier"], 0.2) == (GIVEN, 2, 1), "most of the second sentence is markup"
    assert ARTICLE.names == ["docId", "metadata", "abstract", "author_highlights", "bib_entries", "body_text"]


def test_made_article_has_the_fields_of_the_schema() -> None:
    """Demands of the corpus.

    11. §3.2: docId is resolved by ScienceDirect's address of a PII.
    12. §3.2: metadata have title, authors (first, initial, last, email), issn, volume, firstpage, lastpage, pub_year, doi, pmid,
        openaccess, subjareas, keywords and asjc.
    13. §3.2: the abstract is sentences with offsets.
    14. §3.2: bib_entries have title, authors, issn, volume, firstpage, lastpage, pub_year, doi and pmid.
    15. §3.2: body_text is sentences with section, offsets, references with offsets, and parents, the highest level first.
    """
    metadata = {**METADATA, "doi": "10.1016/S0140-6736(18)30010-1", "abstract": "One frog. Two frogs.", "pubmed_id": "1",
                "authors": [{"first": "Ada", "middle": [], "last": "Lovelace", "suffix": ""}]}  # fmt: skip
    text = "Frogs are loud [1]."
    parse = body(text)
    parse["body_text"][0]["cite_spans"] = [{"start": 15, "end": 18, "text": "[1]", "ref_id": "BIBREF0"}]
    known = {**KNOWN, "pages": "1-9", "volume": "391", "subjects": ["subfields/1702", "2713"]}
    article, *_ = build_article(SnapshotPaper(metadata, known), parse, PARAMS.max_markup_share)
    assert article["docId"] == "S0140673618300101"
    found = article["metadata"]
    expected = {
        "title": "T", "issn": "1932-6203", "volume": "391", "firstpage": "1", "lastpage": "9", "pub_year": 2020, "pmid": "1",
        "doi": metadata["doi"], "openaccess": "Full", "subjareas": ["COMP", "MEDI"], "keywords": ["frogs"], "asjc": [1702, 2713],
    }  # fmt: skip
    assert {name: found[name] for name in expected} == expected
    assert (found["authors"][0]["first"], found["authors"][0]["last"]) == ("Ada", "Lovelace")
    assert article["abstract"] == [
        {"sentence": "One frog.", "startOffset": 0, "endOffset": 9},
        {"sentence": "Two frogs.", "startOffset": 10, "endOffset": 20},
    ]
    entry = article["bib_entries"]["BIBREF0"]
    assert [entry[name] for name in ("title", "volume", "firstpage", "lastpage", "pub_year", "doi", "pmid")] == [
        "Toads", "2", "3", "4", 2010, "10.1000/x", "2",
    ]  # fmt: skip
    (sentence,) = article["body_text"]
    assert (sentence["sentence"], sentence["title"], sentence["startOffset"], sentence["endOffset"]) == (
        text, "Frogs", 0, 19,
    )  # fmt: skip
    assert sentence["refoffsets"] == {"BIBREF0": {"startOffset": 15, "endOffset": 18}}
    assert [parent["title"] for parent in sentence["parents"]] == ["Results"]


# -- §3.3 Data coverage and statistics


def test_tables_of_the_corpus() -> None:
    """Demands of the corpus.

    16. §1: the corpus has 40,091 articles.
    17. Table 1: coverage of abstract (99.25 %), author highlights (61.31 %), bib_entries (97.60 %), firstpage (85.50 %) and lastpage
        (85.34 %); all other fields 100 %.
    18. Tables 2 and 3: articles by year and by discipline (`years.csv`, `disciplines.csv`).
    """
    published = ElsevierCorpus.published_metrics
    assert published["articles"] == 40_091
    incomplete = {
        name.removeprefix("coverage."): share for name, share in published.items() if name != "articles" and share < 1
    }
    assert incomplete == {
        "abstract": 0.9925, "author_highlights": 0.6131, "bib_entries": 0.9760, "metadata.firstpage": 0.8550, "metadata.lastpage": 0.8534,
    }  # fmt: skip
    assert {name for name, share in published.items() if share == 1} == {
        f"coverage.{name}" for name in ("body_text", "metadata", *(f"metadata.{field}" for field in (
            "issn", "pub_year", "doi", "openaccess", "subjareas", "keywords", "asjc",
        )))
    }  # fmt: skip
