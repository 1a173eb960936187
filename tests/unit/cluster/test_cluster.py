"""Records are clustered into papers by the rules.

The tests check cases, laws, and a brute-force version of the rules.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2corpus import spec, titles
from s2corpus.clustering.explain import explanations, format_explanation
from s2corpus.sources import Record, RecordKind, batches
from s2corpus.sources.record import WorkType
from s2corpus.stages.cluster.local import Clustering, cluster_records
from s2corpus.tables.intake import RECORDS
from s2orc_parse.bibliography.names import parse_authors

PREFIXES = spec.ClusterRules().preprint_prefixes
TITLE = "Deep parsing of scientific papers"
A = "a" * 40


def record(
    record_id: str, title: str | None = TITLE, authors: str = "Ada Lovelace", year: int | None = 2020, **fields: Any
) -> Record:
    kind = fields.pop("kind", RecordKind.ARCHIVE)
    source = fields.pop("source", record_id.partition(":")[0])
    date: dict[str, Any] = {"date": str(year), "date_precision": "year"} if year else {}
    return Record(record_id, source, kind, title=title, authors=parse_authors(authors), **date, **fields)


def clustered(*records: Record) -> Clustering:
    return cluster_records(pa.Table.from_batches(batches(records), schema=RECORDS.schema))


def partition(found: Clustering) -> set[frozenset[str]]:
    groups: dict[str, set[str]] = {}
    for row in found.clusters.to_pylist():
        groups.setdefault(row["paper_id"], set()).add(row["record_id"])
    return {frozenset(group) for group in groups.values()}


def together(a: Record, b: Record) -> bool:
    return len(partition(clustered(a, b))) == 1


@pytest.mark.parametrize("name", ["doi", "arxiv_id", "pubmed_id", "pmc_id", "acl_id"])
def test_equal_identifier_joins_different_titles(name: str) -> None:
    given: dict[str, Any] = {name: "10.18653/v1/n18"}
    found = clustered(record("a:1", "One title", **given), record("b:1", "Quite another", **given))
    assert len(partition(found)) == 1 and found.edges["reason"].to_pylist() == [name]


def test_declared_record_joins_its_file_regardless_of_title() -> None:
    own = record("declared:d/a.pdf", "What the deliverer calls it", "", None, file_sha1=A)
    headers = [record(f"{name}:{A}", kind=RecordKind.PDF, file_sha1=A) for name in ("grobid", "scienceparse")]
    other = record(
        "grobid:b", "What the deliverer calls it", "Kurt Gödel", 1931, kind=RecordKind.PDF, file_sha1="b" * 40
    )
    found = clustered(own, *headers, other)
    assert frozenset({"declared:d/a.pdf", f"grobid:{A}", f"scienceparse:{A}"}) in partition(found)
    strongest = max(found.edges.to_pylist(), key=lambda edge: edge["strength"])
    assert (strongest["reason"], strongest["right"]) == ("declared", f"grobid:{A}")
    assert "a drop's own record of the file" in "".join(
        format_explanation(e) for e in explanations(found.clusters, found.edges)
    )


def test_two_drops_of_one_file_make_one_paper() -> None:
    drops = [record(f"declared:{drop}/a.pdf", f"Title by {drop}", "", None, file_sha1=A) for drop in ("one", "two")]
    assert partition(clustered(*drops, record(f"grobid:{A}", None, "", None, kind=RecordKind.PDF, file_sha1=A))) == {
        frozenset({"declared:one/a.pdf", "declared:two/a.pdf", f"grobid:{A}"})
    }


def test_declared_doi_replaces_the_extracted_doi() -> None:
    own = record("declared:d/a.pdf", "Another title", "", None, file_sha1=A, doi="10.1016/right")
    header = record(f"grobid:{A}", kind=RecordKind.PDF, file_sha1=A, doi="10.1016/wrong")
    right, wrong = (
        record(f"crossref:{doi}", title, doi=f"10.1016/{doi}") for doi, title in (("right", TITLE), ("wrong", "Else"))
    )
    assert partition(clustered(own, header, right, wrong)) == {
        frozenset({"declared:d/a.pdf", f"grobid:{A}", "crossref:right"}),
        frozenset({"crossref:wrong"}),
    }


def test_file_sha1_joins_records_with_similar_titles_only() -> None:
    assert not together(
        record("mylab:1", "Another title", "", None, file_sha1=A), record("grobid:1", kind=RecordKind.PDF, file_sha1=A)
    )


@pytest.mark.parametrize("name", ["doi", "arxiv_id", "file_sha1"])
@pytest.mark.parametrize(
    ("title", "joined"), [("Deep parsing of scientific paper", True), ("Page not found", False), (None, False)]
)
def test_extracted_identifier_joins_similar_titles_only(name: str, title: str | None, joined: bool) -> None:
    """A PDF without a title joins the only title that names its SHA-1."""
    given: dict[str, Any] = {name: A if name == "file_sha1" else "1911.02782"}
    pdf = record("grobid:1", title, kind=RecordKind.PDF, year=None, authors="", **given)
    assert together(record("a:1", **given), pdf) is (joined or (title is None and name == "file_sha1"))


def test_not_found_page_of_many_papers_joins_none() -> None:
    papers = [
        record(f"a:{i}", f"Paper number {word} on its own topic", file_sha1=A)
        for i, word in enumerate(("red", "blue", "green"))
    ]
    for title in ("Not found", None):
        assert len(partition(clustered(*papers, record("grobid:1", title, kind=RecordKind.PDF, file_sha1=A)))) == 4


@pytest.mark.parametrize(
    ("one", "other", "authors", "joined"),
    [
        ({"issue": "1"}, {"issue": "2"}, "Ada Example", False),
        ({"issue": "1"}, {"issue": "1"}, "Ada Example", True),
        ({"issue": "1"}, {}, "Ada Example", True),
        ({"issue": "12"}, {"issue": "December"}, "Ada Example", True),
        ({"issue": "1"}, {"issue": "1-2"}, "Ada Example", True),
        # Each issue has a page 1.
        ({"issue": "1", "pages": "3"}, {"issue": "2", "pages": "3-4"}, "Ada Example", False),
        ({"issue": "1", "pages": "3"}, {"issue": "2", "pages": "97"}, "Ada Example", False),
        ({"issue": "1"}, {"issue": "2", "pages": "97"}, "A. One; B. Two; C. Three", False),
        # An abstract in a supplement, and its paper.
        ({"issue": "9", "pages": "1514"}, {"issue": "12", "pages": "2129-2132"}, "A. One; B. Two; C. Three", True),
    ],
)
def test_columns_of_different_issues_do_not_join(
    one: dict[str, Any], other: dict[str, Any], authors: str, joined: bool
) -> None:
    title = "Remarks from the Lattice Quarterly Editor"
    place: dict[str, Any] = {"journal": "Lattice Quarterly", "volume": "24"}
    assert (
        together(*(record(f"x:{i}", title, authors, **place, **more) for i, more in enumerate((one, other)))) is joined
    )


class TestTypes:
    """The source's type decides whether a DOI is a preprint's; without a type, the DOI's prefix does."""

    def crossref(self, doi: str, year: int, type_: WorkType | None) -> Record:
        kind = RecordKind.ARCHIVE if type_ is WorkType.PREPRINT else RecordKind.PUBLISHER
        return record(f"crossref:{doi}", year=year, doi=doi, type=type_, kind=kind)

    @pytest.mark.parametrize("doi", ["10.2196/99999", "10.1002/zzz.1", "10.99999/new-server.1"])
    def test_posted_content_is_a_preprint_under_any_prefix(self, doi: str) -> None:
        preprint, journal = (
            self.crossref(doi, 2019, WorkType.PREPRINT),
            self.crossref("10.1016/a", 2021, WorkType.ARTICLE),
        )
        assert together(preprint, journal)
        assert not together(self.crossref(doi, 2019, None), journal)

    def test_article_under_a_preprint_prefix_is_published(self) -> None:
        article = self.crossref("10.5281/zenodo.1", 2021, WorkType.ARTICLE)
        other = self.crossref("10.1016/a", 2021, WorkType.ARTICLE)
        assert not together(article, other)
        assert together(self.crossref("10.5281/zenodo.1", 2021, None), other)

    def test_work_type_applies_to_all_records_of_its_doi(self) -> None:
        preprint = self.crossref("10.99999/new.1", 2019, WorkType.PREPRINT)
        same = record("s2:1", year=None, doi="10.99999/new.1")
        assert len(partition(clustered(preprint, same, self.crossref("10.1016/a", 2021, WorkType.ARTICLE)))) == 1

    def test_doi_of_published_version_in_arxiv_record_is_published(self) -> None:
        arxiv = record("arxiv:1", year=2021, doi="10.1016/a", arxiv_id="1911.02782", type=WorkType.PREPRINT)
        assert not together(record("s2:1", year=2021, doi="10.1016/b"), arxiv)


class TestUntitledRecords:
    """A record without a title joins the PDF that prints its DOI or arXiv id, or that it names."""

    IDENTIFIERS = ({"doi": "10.1234/a"}, {"arxiv_id": "1911.02782"}, {"file_sha1": A})

    def untitled(self, source: str = "unpaywall", **fields: Any) -> Record:
        return record(
            f"{source}:1", fields.pop("title", None), fields.pop("authors", ""), fields.pop("year", None), **fields
        )

    def pdf(self, name: str = "1", title: str | None = TITLE, **fields: Any) -> Record:
        return record(f"grobid:{name}", title, kind=RecordKind.PDF, **({"file_sha1": name * 40} | fields))

    @pytest.mark.parametrize("given", IDENTIFIERS)
    @pytest.mark.parametrize("source", ["unpaywall", "pubmed", "s2", "crossref", "dblp", "arxiv"])
    def test_untitled_record_joins_the_pdf(self, source: str, given: dict[str, str]) -> None:
        kind = RecordKind.PUBLISHER if source == "crossref" else RecordKind.ARCHIVE
        assert together(self.untitled(source, kind=kind, **given), self.pdf(**given))

    @pytest.mark.parametrize("given", IDENTIFIERS[:2])
    def test_untitled_records_join_an_untitled_pdf(self, given: dict[str, str]) -> None:
        assert together(self.untitled(**given), self.pdf(title=None, **given))

    @pytest.mark.parametrize("given", IDENTIFIERS[:2])
    @pytest.mark.parametrize(
        ("title", "papers"), [(TITLE.upper(), 1), ("Shallow parsing of legal texts", 3), (None, 2)]
    )
    def test_identifier_claimed_by_another_pdf_does_not_join(
        self, title: str | None, papers: int, given: dict[str, str]
    ) -> None:
        found = clustered(
            self.untitled(**given), self.pdf(**given), self.pdf("2", title, authors="", year=None, **given)
        )
        assert len(partition(found)) == papers

    @pytest.mark.parametrize("given", IDENTIFIERS)
    def test_identifier_of_titled_record_does_not_join(self, given: dict[str, str]) -> None:
        titled = record("s2:1", "Shallow parsing of legal texts", "", None, **given)
        assert not any(
            {"grobid:1"} < group for group in partition(clustered(self.untitled(**given), titled, self.pdf(**given)))
        )

    @pytest.mark.parametrize("given", IDENTIFIERS)
    @pytest.mark.parametrize(
        ("said", "joined"),
        [
            ({"authors": "Kurt Gödel"}, False),
            ({"authors": "Lovelace, A."}, True),
            ({"year": 2012}, False),
            ({"year": 2020}, True),
        ],
    )
    def test_authors_and_year_confirm_an_untitled_record(
        self, said: dict[str, Any], joined: bool, given: dict[str, str]
    ) -> None:
        assert together(self.untitled("s2", **said, **given), self.pdf(**given)) is joined

    def test_one_page_of_many_untitled_papers_joins_none(self) -> None:
        papers = [record(f"s2:{i}", None, "", None, doi=f"10.1234/{i}", file_sha1=A) for i in range(3)]
        for title in ("Page not found", None):
            assert len(partition(clustered(*papers, self.pdf(title=title, file_sha1=A)))) == 4

    @pytest.mark.parametrize("name", ["pubmed_id", "pmc_id", "acl_id"])
    def test_other_identifiers_need_a_title(self, name: str) -> None:
        assert not together(self.untitled(**{name: "1"}), self.pdf(**{name: "1"}))


def test_both_headers_of_one_pdf_join() -> None:
    assert together(
        record("grobid:1", "iversity of X", kind=RecordKind.PDF, file_sha1=A),
        record("scienceparse:1", kind=RecordKind.PDF, file_sha1=A),
    )


@pytest.mark.parametrize(
    ("other", "joined", "why"),
    [
        ({"title": "Deep Parsing of Scientific Papers!"}, True, "equal once normalised"),
        ({"title": "Deep parsing of scientific paper"}, True, "S above 0.8"),
        ({"title": "Shallow parsing of legal texts"}, False, "S below 0.8"),
        ({"authors": "A. Lovelace; Charles Babbage"}, True, "half of the shorter list"),
        ({"authors": "Charles Babbage"}, False, "no author shared"),
        ({"authors": ""}, True, "one list is empty"),
        ({"year": 2021}, False, "years differ"),
        ({"year": None}, True, "one year is missing"),
        ({"year": 2018, "arxiv_id": "1801.00001"}, True, "a preprint, two years earlier"),
        ({"year": 2017, "arxiv_id": "1701.00001"}, False, "a preprint, three years earlier"),
        ({"year": 2018, "doi": "10.1101/2018.01.01.123456"}, True, "a preprint by its DOI"),
        ({"doi": "10.18653/v1/other"}, False, "another DOI"),
        ({"doi": "10.48550/arxiv.1911.02782", "year": 2019}, True, "another DOI, but a preprint's"),
        ({"doi": None}, True, "no DOI"),
    ],
)
def test_similar_titles_join_if_facts_agree(other: dict[str, Any], joined: bool, why: str) -> None:
    published = record("crossref:1", doi="10.18653/v1/n18", kind=RecordKind.PUBLISHER)
    assert together(published, record("b:1", **other)) is joined, why


TRIAL = "An open-label clinical trial of the new drug in {} patients with the old disease"


@pytest.mark.parametrize(
    ("authors", "place", "other", "joined"),
    [
        ("", {}, TRIAL.format("paediatric"), False),  # Trials of one company have similar titles.
        ("Acme Pharmaceuticals, Inc; Acme Study Group", {}, TRIAL.format("paediatric"), False),
        ("", {}, TRIAL.format("adult").replace("clinical", "clinicall"), True),
        ("", {"volume": "12", "pages": "33-40"}, TRIAL.format("paediatric"), True),
        ("Ada Lovelace", {}, TRIAL.format("paediatric"), True),
    ],
)
def test_titles_without_authors_must_be_nearly_equal(
    authors: str, place: dict[str, Any], other: str, joined: bool
) -> None:
    assert 0.8 < titles.score(TRIAL.format("adult"), TRIAL.format("paediatric")) < 0.9
    one, two = (
        record(f"{name}:1", title, authors, **place) for name, title in (("a", TRIAL.format("adult")), ("b", other))
    )
    assert together(one, two) is joined


@pytest.mark.parametrize(
    ("a", "b", "joined"),
    [
        ("Lemmas on random walks, part I", "Lemmas on random walks, part II", False),
        ("Lemmas on random walks, part II", "Lemmas on Random Walks. Part 2", True),
        (
            "Lemmas on random walks in the plane and beyond",
            "Lemmas on random walks in the plane and beyond, part II",
            False,
        ),
        ("Overview of the 2019 shared task", "Overview of the 2020 shared task", False),
        ("Editorial", "Editorial", True),
    ],
)
def test_titles_that_differ_in_a_number_do_not_join(a: str, b: str, joined: bool) -> None:
    assert together(record("a:1", a), record("b:1", b)) is joined


@pytest.mark.parametrize(
    ("other", "joined"),
    [
        ({}, True),
        ({"authors": "Ada Lovelace, Alan Turing"}, False),
        ({"year": 2021}, False),
        ({"year": 2019}, False),
        ({"year": None}, False),
        ({"authors": ""}, False),
    ],
)
def test_generic_titles_need_equal_authors_and_year(other: dict[str, Any], joined: bool) -> None:
    assert together(record("a:1", "Book review"), record("b:1", "Book Review", **other)) is joined


@pytest.mark.parametrize("year", [None, 2020])
def test_uninformative_titles_without_year_do_not_join(year: int | None) -> None:
    """Two missing years do not count as an agreement."""
    assert together(record("a:1", "Book review", year=year), record("b:1", "Book Review", year=year)) is (
        year is not None
    )


@pytest.mark.parametrize(
    ("a", "b", "joined"),
    [
        ("Ada Lovelace; Alan Turing", "Ada Lovelace; Kurt Gödel", True),  # Exactly half of both lists.
        (
            "Ada Lovelace; Alan Turing",
            "Ada Lovelace; Kurt Gödel; Grace Hopper; John Backus",
            True,
        ),  # Half of the shorter list.
        ("Ada Lovelace; Alan Turing; Emmy Noether", "Ada Lovelace; Kurt Gödel; Grace Hopper", False),  # A third.
        ("Ada Lovelace; Alan Turing; Emmy Noether", "Ada Lovelace; Alan Turing; Grace Hopper", True),
        ("Ada Lovelace; Alan Turing", "Kurt Gödel; Grace Hopper", False),
    ],
)
def test_authors_agree_with_half_of_the_shorter_list(a: str, b: str, joined: bool) -> None:
    assert together(record("a:1", authors=a), record("b:1", authors=b)) is joined


@pytest.mark.parametrize(
    ("a", "b", "joined", "why"),
    [
        ({"volume": "5", "pages": "1"}, {"volume": "5", "pages": "9"}, False, "one volume, another page"),
        ({"volume": "5", "pages": "1"}, {"volume": "5", "pages": "1"}, True, "the very place"),
        ({"volume": "5", "pages": "1"}, {"volume": "6", "pages": "1"}, False, "another volume"),
        ({"volume": "5"}, {"volume": "5"}, False, "no page"),
        ({}, {}, False, "no place"),
    ],
)
def test_different_authors_join_only_with_equal_volume_and_page(
    a: dict[str, Any], b: dict[str, Any], joined: bool, why: str
) -> None:
    one, other = record("a:1", authors="Ada Lovelace", **a), record("b:1", authors="Kurt Gödel", **b)
    assert together(one, other) is joined, why


@pytest.mark.parametrize(
    ("a", "b", "joined"),
    [
        (
            {"pages": "1"},
            {"volume": "7", "pages": "9"},
            True,
        ),  # A missing volume contradicts nothing.
        ({"volume": "7", "pages": "9"}, {"pages": "1"}, True),
        ({"volume": "6", "pages": "1"}, {"volume": "7", "pages": "9"}, False),
    ],
)
def test_missing_place_does_not_contradict(a: dict[str, Any], b: dict[str, Any], joined: bool) -> None:
    assert together(record("a:1", **a), record("b:1", **b)) is joined


def test_strongest_reason_is_listed_first() -> None:
    found = clustered(
        record("a:1", "Deep parsing of scientific papers", pubmed_id="7"),
        record("b:1", "Deep parsing of scientific paper"),
        record("c:1", "Deep parsing of scientific papers", pubmed_id="7"),
    )
    (explanation,) = explanations(found.clusters, found.edges, {found.clusters["paper_id"][0].as_py()})
    strengths = [why.strength for why in explanation.joined]
    assert len(strengths) == 2 and strengths == sorted(strengths, reverse=True) and strengths[0] > strengths[1]


def test_two_dois_never_join_and_the_conflict_is_reported() -> None:
    found = clustered(
        record("crossref:1", doi="10.18653/v1/a", kind=RecordKind.PUBLISHER),
        record("crossref:2", doi="10.18653/v1/b", kind=RecordKind.PUBLISHER),
        record("dblp:1"),
    )
    assert partition(found) == {frozenset({"crossref:1", "dblp:1"}), frozenset({"crossref:2"})}
    (cut,) = [row for row in found.edges.to_pylist() if not row["taken"]]
    assert {cut["left"], cut["right"]} == {"crossref:2", "dblp:1"}
    (explanation,) = explanations(found.clusters, found.edges, {found.clusters["paper_id"][1].as_py()})
    assert "crossref:2 — dblp:1" in format_explanation(explanation) and "cut" in format_explanation(explanation)


def test_stronger_reason_wins_a_conflict() -> None:
    """An identifier outweighs a title, regardless of the record ids."""
    a = record("a:1", doi="10.18653/v1/a", pubmed_id="1", title="Another title altogether here")
    b = record("b:1", doi="10.18653/v1/b")
    assert partition(clustered(a, b, record("c:1", pubmed_id="1"))) == {frozenset({"a:1", "c:1"}), frozenset({"b:1"})}


def test_record_without_year_does_not_join_two_years() -> None:
    found = clustered(record("a:1", year=1989), record("b:1", year=1993), record("c:1", year=None))
    assert partition(found) == {frozenset({"a:1", "c:1"}), frozenset({"b:1"})}


def test_many_records_of_one_title_need_few_edges() -> None:
    found = clustered(*(record(f"s:{i:04d}") for i in range(500)))
    assert len(partition(found)) == 1 and found.edges.num_rows == 499


def test_duplicate_record_id_is_refused() -> None:
    with pytest.raises(ValueError, match="'a:1' occurs twice"):
        clustered(record("a:1"), record("a:1"))


# -- Laws

STEMS = ("Deep parsing of scientific papers", "Deep parsing of scientific paper", "Notes on parsing, part I", "Notes on parsing, part II",
         "Editorial", "A survey of random walks on graphs")  # fmt: skip


@st.composite
def record_sets(draw: st.DrawFn) -> list[Record]:
    found = []
    for number in range(draw(st.integers(1, 9))):
        kind = draw(st.sampled_from(RecordKind))
        found.append(
            record(
                f"{draw(st.sampled_from('abc'))}:{number}",
                draw(st.sampled_from([*STEMS, None])),
                draw(st.sampled_from(["", "Ada Lovelace", "Ada Lovelace, Alan Turing", "Kurt Gödel"])),
                draw(st.sampled_from([None, 2018, 2019, 2020])),
                kind=kind,
                doi=draw(st.sampled_from([None, None, "10.18653/v1/a", "10.18653/v1/b", "10.48550/arxiv.1911.02782"])),
                arxiv_id=draw(st.sampled_from([None, None, None, "1911.02782"])),
                pubmed_id=draw(st.sampled_from([None, None, None, "7"])),
                file_sha1=draw(st.sampled_from([None, A])) if kind is RecordKind.PDF else None,
            )
        )
    return found


@settings(max_examples=60)
@given(record_sets(), st.randoms())
def test_taken_edges_span_clusters_in_any_order(records: list[Record], rng: Any) -> None:
    shuffled = list(records)
    rng.shuffle(shuffled)
    once, again = clustered(*records), clustered(*shuffled)
    assert once.clusters.equals(again.clusters) and once.edges.equals(again.edges)
    papers = dict(zip(once.clusters["record_id"].to_pylist(), once.clusters["paper_id"].to_pylist(), strict=True))
    for edge in once.edges.to_pylist():
        assert edge["left"] < edge["right"] and edge["taken"] is (papers[edge["left"]] == papers[edge["right"]])
    assert sum(once.edges["taken"].to_pylist()) == len(records) - len(set(papers.values()))


def test_one_doi_on_unrelated_papers_is_a_conflict() -> None:
    """Abstracts have the DOI of their supplement: their titles share nothing, and they have no common surname."""
    abstracts = [
        record(
            "crossref:1",
            doi="10.1/s",
            title="Renal outcomes after transplantation",
            authors="Ada Lovelace",
        ),
        record("pubmed:1", doi="10.1/s", title="Screening of newborn hearing", authors="Alan Turing"),
        record("pubmed:2", doi="10.1/s", title="Screening of newborn hearing", authors="Alan Turing"),
        record("unpaywall:1", doi="10.1/s"),
    ]
    found = clustered(*abstracts)
    assert partition(found) == {frozenset({"crossref:1", "unpaywall:1"}), frozenset({"pubmed:1", "pubmed:2"})}
    [cut] = [edge for edge in found.edges.to_pylist() if not edge["taken"]]
    assert cut["reason"] == "unrelated"
    [explanation, _] = explanations(found.clusters, found.edges)
    assert "unrelated titles and authors" in format_explanation(explanation)


def test_one_doi_with_an_equal_surname_is_one_paper() -> None:
    found = clustered(
        record(
            "crossref:1",
            doi="10.1/s",
            title="Renal outcomes after transplantation",
            authors="Ada Lovelace",
        ),
        record("pubmed:1", doi="10.1/s", title="Screening of newborn hearing", authors="A. Lovelace"),
    )
    assert len(partition(found)) == 1


def test_title_in_another_script_does_not_contradict_a_doi() -> None:
    found = clustered(
        record(
            "crossref:1",
            doi="10.1/s",
            title="Renal outcomes after transplantation",
            authors="Ada Lovelace",
        ),
        record("pubmed:1", doi="10.1/s", title="Исходы трансплантации почки", authors="Ада Лавлейс"),
    )
    assert len(partition(found)) == 1


SAME: dict[str, Any] = {
    "title": "The role of complement in renal disease",
    "authors": "Lovelace, A. and Turing, A.",
    "year": 2011,
}


@pytest.mark.parametrize(
    ("one", "other", "papers"),
    [
        ({"volume": "12", "pages": "1-9"}, {"volume": "14", "pages": "33-40"}, 2),
        ({"volume": "12", "pages": "1-9"}, {"volume": "12", "pages": "33"}, 1),  # The page of an erratum.
        ({"volume": "12", "pages": "969-972"}, {"volume": "12", "pages": "a1754"}, 1),  # In print and electronic.
        ({"journal": "Kidney Int", "volume": "12"}, {"journal": "Blood", "volume": "14"}, 2),
        ({"journal": "Kidney Int", "volume": "12"}, {"journal": "Kidney International", "volume": "14"}, 1),
        ({"journal": "Kidney Int"}, {"journal": "Blood", "title": "Role of complement in renal disease"}, 2),
        ({"journal": "Blood"}, {"journal": "Kidney Int"}, 1),  # One title in two journals, without other facts.
        ({"volume": "12", "pages": "1"}, {"volume": "12", "pages": "1-9", "year": 2012}, 1),  # Online, then in print.
        ({"volume": "12", "pages": "1"}, {"volume": "12", "pages": "1-9", "authors": "Complement Study Group"}, 1),
        ({"title": "Editor's comments", "issue": "1", "pages": "3"}, {"title": "Editor's comments", "issue": "2", "pages": "3"}, 2),
    ],
)  # fmt: skip
def test_contradicting_place_in_print_prevents_a_join(
    one: dict[str, object], other: dict[str, object], papers: int
) -> None:
    found = clustered(record("a:1", **(SAME | one)), record("b:1", **(SAME | other)))
    assert len(partition(found)) == papers
    assert [edge["reason"] for edge in found.edges.to_pylist() if not edge["taken"]] == ["contradiction"] * (papers - 1)


def test_records_that_contradict_are_not_joined_by_a_third() -> None:
    found = clustered(
        record("a:1", **SAME, journal="Blood", volume="12", pages="1-9"),
        record("b:1", **SAME),
        record("c:1", **SAME, journal="Kidney International", volume="14", pages="33-40"),
    )
    assert partition(found) == {frozenset({"a:1", "b:1"}), frozenset({"c:1"})}
