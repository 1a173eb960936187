"""SPEC §4.2–4.13: records join by an equal identifier, or by title if authors and years agree.

§4.15: edges are added strongest first; an edge that would join two different DOIs, neither a preprint's, is a `conflict`.
§4.16: edges form stars, never cliques. The borders of each rule for a pair are in `test_pairs`.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2corpus import titles
from s2corpus.sources import Record, RecordKind
from s2corpus.sources.record import WorkType
from tests.unit.s2corpus.clustering.samples import (
    TITLE,
    A,
    Row,
    assert_joined,
    cluster_all,
    cluster_cases,
    partition,
    pdf,
    record,
)

# -- Identifiers


def test_equal_identifier_joins_different_titles() -> None:
    names = ("doi", "arxiv_id", "pubmed_id", "pmc_id", "acl_id")
    given: list[Row] = [{name: "10.18653/v1/n18"} for name in names]
    found = cluster_cases([record("a:1", "One title", **ids), record("b:1", "Quite another", **ids)] for ids in given)
    assert [[edge["reason"] for edge in one.edges] for one in found] == [[name] for name in names]
    assert all(len(one.papers) == 1 for one in found)


def test_declared_record_joins_its_file_regardless_of_title() -> None:
    title = "What the deliverer calls it"
    own = record("declared:d/a.pdf", title, "", None, file_sha1=A)
    headers = [pdf(f"{name}:{A}", file_sha1=A) for name in ("grobid", "scienceparse")]
    found = cluster_all(own, *headers, pdf("grobid:b", title, "Kurt Gödel", 1931, file_sha1="b" * 40))
    assert frozenset({"declared:d/a.pdf", f"grobid:{A}", f"scienceparse:{A}"}) in partition(found)
    strongest = max(found.edges.to_pylist(), key=lambda edge: edge["strength"])
    assert (strongest["reason"], strongest["right"]) == ("declared", f"grobid:{A}")


def test_files_join_by_declaration_or_similar_title() -> None:
    drops = [record(f"declared:{drop}/a.pdf", f"Title by {drop}", "", None, file_sha1=A) for drop in ("one", "two")]
    own = record("declared:d/a.pdf", "Another title", "", None, file_sha1=A, doi="10.1016/right")
    header = pdf("grobid:1", file_sha1=A, doi="10.1016/wrong")
    right, wrong = (
        record(f"crossref:{doi}", title, doi=f"10.1016/{doi}") for doi, title in (("right", TITLE), ("wrong", "Else"))
    )
    other = record("mylab:1", "Another title", "", None, file_sha1=A)
    readings = [pdf("grobid:1", "iversity of X", file_sha1=A), pdf("scienceparse:1", file_sha1=A)]
    found = cluster_cases(
        [[*drops, pdf("grobid:1", None, "", None, file_sha1=A)], [own, header, right, wrong], [other, header], readings]
    )
    assert [len(one.papers) for one in found] == [1, 2, 2, 1]
    assert frozenset({"crossref:wrong"}) in found[1].papers, "the declared DOI replaces the extracted one"


def test_only_a_declared_doi_of_a_paper_replaces_the_extracted_one() -> None:
    """SPEC §4.15: two DOIs conflict unless one is a preprint's; a file that declares its preprint keeps the DOI it prints."""
    printed, published = (
        pdf("grobid:1", file_sha1=A, doi="10.1016/printed"),
        record("crossref:1", doi="10.1016/published"),
    )
    declared: tuple[Row, ...] = ({"doi": "10.48550/arxiv.1911.02782"}, {"doi": "10.1016/published"})
    own = [record("declared:d/a.pdf", TITLE, file_sha1=A, **doi) for doi in declared]
    assert [len(one.papers) for one in cluster_cases([one, printed, published] for one in own)] == [2, 1]


def test_extracted_identifier_joins_similar_titles_only() -> None:
    """A PDF without a title joins the record with its identifier."""
    ids: tuple[Row, ...] = ({"doi": "1911.02782"}, {"arxiv_id": "1911.02782"}, {"file_sha1": A})
    similar = "Deep parsing of scientific paper"
    table = [((one, title), title in (similar, None)) for one, title in product(ids, (similar, "Page not found", None))]
    assert_joined(table, lambda case: (record("a:1", **case[0]), pdf("grobid:1", case[1], "", None, **case[0])))


@pytest.mark.parametrize(
    ("title", "authors", "fields", "joins"),
    [
        ("WOOD & STONE", "Ada Lovelace", {"doi": "10.1016/a"}, True),
        ("Wood & Stone", "Kurt Gödel", {"doi": "10.1016/a"}, False),
        ("Bark & Sand", "Ada Lovelace", {"doi": "10.1016/a"}, False),
        ("Wood & Stone", "Ada Lovelace", {"journal": "Wood Stone", "volume": "7", "pages": "11"}, True),
        ("Bark & Sand", "Ada Lovelace", {"journal": "Wood Stone", "volume": "7", "pages": "11"}, False),
        ("Wood & Stone", "Ada Lovelace", {"journal": "Wood Stone", "volume": "7", "pages": "12"}, False),
    ],
)
def test_pdf_titled_by_its_journal_is_untitled(title: str, authors: str, fields: Row, joins: bool) -> None:
    """SPEC §4.4, §4.22: it joins the record with its DOI, or with its authors and place."""
    published = record("a:1", doi="10.1016/a", journal="Wood & Stone", volume="7", pages="11-19")
    assert len(partition(cluster_all(published, pdf("grobid:1", title, authors, **fields)))) == 2 - joins


def test_not_found_page_of_many_papers_joins_none() -> None:
    words = ("crimson", "yellow", "purple")
    subjects = [record(f"a:{word}", f"Paper about {word} on its own topic", file_sha1=A) for word in words]
    untitled = [record(f"s2:{i}", None, "", None, doi=f"10.1234/{i}", file_sha1=A) for i in range(3)]
    pages = [pdf("grobid:1", title, file_sha1=A) for title in ("Page not found", None)]
    found = cluster_cases([*papers, page] for papers in (subjects, untitled) for page in pages)
    assert [len(one.papers) for one in found] == [4] * 4


CLAIMED: tuple[Row, ...] = ({"doi": "10.1234/a"}, {"arxiv_id": "1911.02782"}, {"file_sha1": A})
"""identifiers by which a record without a title joins the PDF that prints or has them"""


def untitled_record(source: str = "unpaywall", **fields: Any) -> Record:
    return record(f"{source}:1", None, fields.pop("authors", ""), fields.pop("year", None), **fields)


def test_untitled_record_joins_the_pdf_with_its_identifier() -> None:
    table = [((kind, ids), True) for kind in (RecordKind.ARCHIVE, RecordKind.PUBLISHER) for ids in CLAIMED]
    assert_joined(table, lambda case: (untitled_record(kind=case[0], **case[1]), pdf("grobid:1", **case[1])))
    others = [({name: "1"}, False) for name in ("pubmed_id", "pmc_id", "acl_id")]
    assert_joined(
        [*((ids, True) for ids in CLAIMED[:2]), *others],
        lambda ids: (untitled_record(**ids), pdf("grobid:1", None if ids in CLAIMED else TITLE, **ids)),
    )


def test_authors_and_year_confirm_an_untitled_record() -> None:
    said: list[tuple[Row, bool]] = [
        ({"authors": "Kurt Gödel"}, False), ({"authors": "Lovelace, A."}, True), ({"year": 2012}, False), ({"year": 2020}, True),
    ]  # fmt: skip
    table = [((facts, ids), joined) for facts, joined in said for ids in CLAIMED]
    assert_joined(table, lambda case: (untitled_record("s2", **case[0], **case[1]), pdf("grobid:1", **case[1])))


def test_identifier_claimed_by_another_title_does_not_join() -> None:
    cases, expected = [], []
    other, b = "Shallow parsing of legal texts", "b" * 40
    for title, file, papers in ((TITLE.upper(), b, 1), (other, b, 3), (None, b, 2), (other, A, 1)):
        for ids in CLAIMED[:2]:
            pdfs = [pdf("grobid:1", file_sha1=A, **ids), pdf("scienceparse:2", title, "", None, file_sha1=file, **ids)]
            cases.append([untitled_record(**ids), *pdfs])
            expected.append(papers)
    assert [len(one.papers) for one in cluster_cases(cases)] == expected


def test_work_type_decides_whether_a_doi_is_a_preprint() -> None:
    """Without a type, the DOI's prefix decides. A type applies to all records of its DOI."""

    def crossref(doi: str, year: int, type_: WorkType | None) -> Record:
        kind = RecordKind.ARCHIVE if type_ is WorkType.PREPRINT else RecordKind.PUBLISHER
        return record(f"crossref:{doi}", year=year, doi=doi, type=type_, kind=kind)

    preprint, article = WorkType.PREPRINT, crossref("10.1016/a", 2021, WorkType.ARTICLE)
    posted = "10.99999/new-server.1"
    new = crossref(posted, 2019, preprint)
    arxiv = record("arxiv:1", year=2021, doi="10.1016/a", arxiv_id="1911.02782", type=preprint)
    table: list[tuple[Sequence[Record], bool]] = [
        ((new, article), True),
        ((crossref(posted, 2019, None), article), False),
        ((crossref("10.5281/zenodo.1", 2021, WorkType.ARTICLE), article), False),
        ((crossref("10.5281/zenodo.1", 2021, None), article), True),
        ((new, record("s2:1", year=None, doi=posted), article), True),
        ((record("s2:1", year=2021, doi="10.1016/b"), arxiv), False),  # arXiv gives the DOI of the published version.
    ]
    assert_joined(table, lambda records: records)


RENAL, HEARING = "Renal damage after operation", "Screening of newborn hearing"


def test_one_doi_on_unrelated_papers_is_a_conflict() -> None:
    """Abstracts have the DOI of their supplement: their titles share nothing, and they have no common surname."""
    renal = record("crossref:1", RENAL, doi="10.1/s")
    hearing = [
        record(f"pubmed:{n}", HEARING + " in districts of Kenya" * n, "Alan Turing", doi="10.1/s") for n in (0, 1)
    ]
    found = cluster_all(renal, *hearing, record("unpaywall:1", None, doi="10.1/s"))
    assert partition(found) == {frozenset({"crossref:1", "unpaywall:1"}), frozenset({"pubmed:0", "pubmed:1"})}
    [cut] = [edge for edge in found.edges.to_pylist() if not edge["taken"]]
    assert cut["reason"] == "unrelated"
    others = [
        (record("s2:1", HEARING, "A. Lovelace", doi="10.1/s"), True),
        (record("s2:1", "Renal damage in young cohorts", "Alan Turing", doi="10.1/s"), True),  # S = 18/60.
        (record("s2:1", "Renal damage in young subjects", "Alan Turing", doi="10.1/s"), False),  # S = 18/61.
        (record("s2:1", "Исходы трансплантации почки", "Ада Лавлейс", doi="10.1/s"), True),
    ]
    assert_joined(others, lambda other: (renal, other))


# -- Titles


SHORT = "On parse trees"
"""its normalized title has ten 3-grams; with n more letters, S = 20 / (20 + n)"""


def test_similar_titles_have_s_above_0_8() -> None:
    assert [titles.score(SHORT, f"{SHORT} {word}") for word in ("bold", "daily")] == [20 / 24, 0.8]
    ids: tuple[Row, ...] = ({}, {"doi": "10.1/x"}, {"file_sha1": A})
    table = [((word, same), word == "bold") for word in ("bold", "daily") for same in ids]
    assert_joined(table, lambda case: (record("a:1", SHORT, **case[1]), pdf("b:1", f"{SHORT} {case[0]}", **case[1])))


def test_titles_without_authors_must_be_nearly_equal() -> None:
    """Trials of one company have similar titles."""
    trial = "An open-label clinical trial of the new drug in {} patients with the old disease"
    far, near = ([trial.format(word) for word in words] for words in (("adult", "all"), ("new", "old")))
    assert 0.89 < titles.score(*far) < 0.9 < titles.score(*near) < 0.91
    table = [(("Acme Pharmaceuticals, Inc; Acme Study Group", far), False), (("", far), False), (("", near), True)]
    assert_joined(table, lambda case: [record(f"{title}:1", title, case[0]) for title in case[1]])


def test_titles_that_differ_in_a_number_do_not_join() -> None:
    table = [
        (("Lemmas on random walks, part I", "Lemmas on random walks, part II"), False),
        (("Lemmas on random walks, part II", "Lemmas on Random Walks. Part 2"), True),
        (("Lemmas on random walks in the plane", "Lemmas on random walks in the plane, part II"), False),
    ]
    assert_joined(table, lambda pair: [record(f"{side}:1", title) for side, title in zip("ab", pair, strict=True)])


def test_generic_titles_need_equal_authors_and_year() -> None:
    table: list[tuple[Row, bool]] = [({}, True), ({"authors": "Ada Lovelace, Alan Turing"}, False)]
    assert_joined(table, lambda other: (record("a:1", "Book review"), record("b:1", "Book Review", **other)))


def test_columns_of_different_issues_do_not_join() -> None:
    """An abstract and its paper have more than two authors."""
    place: list[Row] = [{"volume": "24", "issue": n, "pages": page} for n, page in (("9", "1514"), ("12", "2129"))]
    two, three = "A. One; B. Two", "A. One; B. Two; C. Three"
    table = [((two, None), False), ((two, "10.48550/arxiv.1101.00001"), True), ((three, None), True)]
    assert_joined(
        table, lambda by: [record("a:1", TITLE, by[0], doi=by[1], **place[0]), record("b:1", TITLE, by[0], **place[1])]
    )


# -- Clusters

SAME: Row = {"title": "The role of complement in renal disease", "authors": "Lovelace, A. and Turing, A.", "year": 2011}


def test_conflicting_records_are_not_joined_by_a_third() -> None:
    dois = {doi: record(f"{doi}:1", doi=f"10.18653/v1/{doi}") for doi in "ab"}
    places: list[Row] = [
        {"journal": "Blood", "volume": "12", "pages": "1-9"}, {}, {"journal": "Kidney", "volume": "14", "pages": "33-40"},
    ]  # fmt: skip
    found = cluster_cases(
        [
            [record(f"{id_}:1", year=year) for id_, year in (("a", 1989), ("b", 1993), ("c", None))],
            [record(f"{id_}:1", **SAME, **place) for id_, place in zip("acb", places, strict=True)],
            # An identifier outweighs a title, regardless of the record ids.
            [
                record("a:1", "Another title altogether here", doi="10.18653/v1/a", pubmed_id="1"),
                dois["b"],
                record("c:1", pubmed_id="1"),
            ],
        ]
    )
    assert [one.papers for one in found] == [{frozenset({"a:1", "c:1"}), frozenset({"b:1"})}] * 3


def test_two_dois_never_join_and_the_conflict_is_reported() -> None:
    dois = [record(f"crossref:{i}", doi=f"10.18653/v1/{i}", kind=RecordKind.PUBLISHER) for i in (1, 2)]
    found = cluster_all(*dois, record("dblp:1"))
    assert partition(found) == {frozenset({"crossref:1", "dblp:1"}), frozenset({"crossref:2"})}
    (cut,) = [row for row in found.edges.to_pylist() if not row["taken"]]
    assert (cut["left"], cut["right"], cut["reason"]) == ("crossref:1", "crossref:2", "dois")


def test_many_records_of_one_title_need_few_edges() -> None:
    found = cluster_all(*(record(f"s:{i:04d}") for i in range(500)))
    assert len(partition(found)) == 1 and found.edges.num_rows == 499


def test_duplicate_record_id_is_refused() -> None:
    with pytest.raises(ValueError, match="'a:1' occurs twice"):
        cluster_all(record("a:1"), record("a:1"))


STEMS = ("Deep parsing of scientific papers", "Deep parsing of scientific paper", "Notes on parsing, part I", "Notes on parsing, part II",
         "Editorial", "A survey of random walks on graphs")  # fmt: skip


@st.composite
def record_sets(draw: st.DrawFn) -> list[Record]:
    found = []
    for number in range(draw(st.integers(1, 9))):
        kind = draw(st.sampled_from(RecordKind))
        found.append(
            record(
                f"{draw(st.sampled_from('abc'))}:{number}", draw(st.sampled_from([*STEMS, None])),
                draw(st.sampled_from(["", "Ada Lovelace", "Ada Lovelace, Alan Turing", "Kurt Gödel"])),
                draw(st.sampled_from([None, 2018, 2019, 2020])), kind=kind,
                doi=draw(st.sampled_from([None, None, "10.18653/v1/a", "10.18653/v1/b", "10.48550/arxiv.1911.02782"])),
                arxiv_id=draw(st.sampled_from([None, None, None, "1911.02782"])), pubmed_id=draw(st.sampled_from([None, None, None, "7"])),
                file_sha1=draw(st.sampled_from([None, A])) if kind is RecordKind.PDF else None,
            )
        )  # fmt: skip
    return found


@settings(max_examples=60)
@given(record_sets(), st.randoms())
def test_taken_edges_span_clusters_in_any_order(records: list[Record], rng: Any) -> None:
    once, again = cluster_all(*records), cluster_all(*rng.sample(records, len(records)))
    assert once.clusters.equals(again.clusters) and once.edges.equals(again.edges)
    papers = dict(zip(once.clusters["record_id"].to_pylist(), once.clusters["paper_id"].to_pylist(), strict=True))
    for edge in once.edges.to_pylist():
        assert edge["left"] < edge["right"] and edge["taken"] is (papers[edge["left"]] == papers[edge["right"]])
    assert sum(once.edges["taken"].to_pylist()) == len(records) - len(set(papers.values()))
