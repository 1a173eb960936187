"""OpenAlex's works are read in the form of its documentation of the work object and of the snapshot."""

from typing import Any

import pytest

from s2corpus.sources import Dropped, Record, RecordKind, RejectReason
from s2corpus.sources.record import Editorial, OpenVersion, WorkType
from s2orc_parse.bibliography import fields_of_study
from tests.unit.s2corpus.sources import samples

WORK: dict[str, Any] = {
    "id": "https://openalex.org/W2741809807", "doi": "https://doi.org/10.7717/peerj.4375",
    "title": "The state of OA", "publication_year": 2018, "publication_date": "2018-02-13", "language": "en", "type": "article",
    "ids": {"openalex": "https://openalex.org/W2741809807", "doi": "https://doi.org/10.7717/peerj.4375", "mag": 2741809807,
            "pmid": "https://pubmed.ncbi.nlm.nih.gov/29456894", "pmcid": "https://www.ncbi.nlm.nih.gov/pmc/articles/5815332"},
    "primary_location": {"is_oa": True, "landing_page_url": "https://doi.org/10.7717/peerj.4375", "license": "cc-by",
                         "version": "publishedVersion", "source": {"display_name": "PeerJ", "type": "journal"}},
    "best_oa_location": {"is_oa": True, "license": "cc-by", "version": "publishedVersion",
                         "source": {"display_name": "PeerJ", "type": "journal"}},
    "locations": [], "open_access": {"is_oa": True, "oa_status": "gold"},
    "authorships": [
        {"author_position": "first", "raw_author_name": "Heather Piwowar",
         "author": {"display_name": "Heather A. Piwowar", "orcid": "https://orcid.org/0000-0003-1613-5981"},
         "institutions": [{"display_name": "Our Research", "ror": "https://ror.org/02nr0ka47"}]},
        {"author_position": "last", "author": {"display_name": "Stefanie Haustein", "orcid": None}, "institutions": [],
         "raw_affiliation_strings": ["University of Ottawa, Canada"]},
    ],
    "biblio": {"volume": "6", "issue": None, "first_page": "e4375", "last_page": "e4375"},
    "is_retracted": False, "is_paratext": False,
    "abstract_inverted_index": {"Despite": [0], "growing": [1], "interest": [2, 6], "in": [3], "Open": [4], "Access": [5]},
    "primary_topic": {"subfield": {"id": "https://openalex.org/subfields/2740"}, "field": {"id": "https://openalex.org/fields/27"}},
}  # fmt: skip


def topic(subfield: str, field: str = "17") -> dict[str, Any]:
    return {
        "subfield": {"id": f"https://openalex.org/subfields/{subfield}"},
        "field": {"id": f"https://openalex.org/fields/{field}"},
    }


def one(**changes: Any) -> Record:
    return samples.one("openalex", {**WORK, **changes})


def test_documented_work_becomes_a_record() -> None:
    record = one()
    assert (record.record_id, record.source, record.kind) == ("openalex:W2741809807", "openalex", RecordKind.ARCHIVE)
    assert record.title == WORK["title"]
    assert (record.doi, record.mag_id, record.pubmed_id) == ("10.7717/peerj.4375", "2741809807", "29456894")
    assert record.pmc_id == "PMC5815332"
    assert (record.date, record.date_precision) == ("2018-02-13", "day")
    assert (record.journal, record.venue) == ("PeerJ", None)
    assert (record.volume, record.issue, record.pages) == ("6", None, "e4375")
    assert (record.license, record.open_access, record.open_version) == ("CC-BY", True, OpenVersion.PUBLISHED)
    assert record.abstract == "Despite growing interest in Open Access interest"
    assert record.subjects == ("subfields/2740",) and record.editorial is None
    piwowar, haustein = record.authors
    assert (piwowar.first, piwowar.middle, piwowar.last) == ("Heather", (), "Piwowar")  # As printed.
    assert piwowar.orcid == "0000-0003-1613-5981" and piwowar.affiliations[0].ror == "02nr0ka47"
    assert haustein.last == "Haustein" and haustein.affiliations[0].name == "University of Ottawa, Canada"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        *(({"type": type_}, RejectReason.NOT_A_PAPER) for type_ in ("dataset", "paratext", "journal")),
        *(({"id": id_}, RejectReason.NO_ID) for id_ in (None, 7, "https://openalex.org/A5023888391", "https://evil.org/W1")),
    ],
)  # fmt: skip
def test_work_of_other_type_or_without_id_is_dropped(changes: dict[str, Any], reason: RejectReason) -> None:
    (entry,) = samples.entries("openalex", {**WORK, **changes})
    assert isinstance(entry, Dropped) and entry.reason is reason


COPY = {"is_oa": True, "license": None, "version": "submittedVersion", "source": {"type": "repository"}}
CLOSED = {"is_oa": False, "version": "publishedVersion", "source": {"type": "journal"}}


def at(address: object) -> dict[str, Any]:
    return {"locations": [{"is_oa": True, "landing_page_url": address}]}


@pytest.mark.parametrize(
    ("changes", "name", "value"),
    [
        ({"type": "preprint"}, "type", WorkType.PREPRINT),
        ({"type": "article", "type_crossref": "posted-content"}, "type", WorkType.PREPRINT),
        ({"is_retracted": True}, "editorial", Editorial.RETRACTED),
        ({"publication_date": "2018-01-01"}, "date", "2018"),  # January 1 stands for the year.
        (at("http://arxiv.org/pdf/hep-th/9711200v2"), "arxiv_id", "hep-th/9711200"),
        ({"best_oa_location": COPY, "locations": [CLOSED, COPY]}, "open_version", OpenVersion.COPY),
        ({"abstract_inverted_index": {"far": [10**15], "near": [3]}}, "abstract", "near far"),
    ],
)
def test_documented_fields_are_read(changes: dict[str, Any], name: str, value: object) -> None:
    assert getattr(one(**changes), name) == value


def test_field_of_the_primary_topic_is_first() -> None:
    topics = [topic("2746", "27"), topic("1702"), topic("1707")]
    subjects = one(primary_topic=topics[0], topics=topics).subjects
    assert fields_of_study.fields_of_study(subjects) == ("Medicine", "Computer Science")


def test_concepts_are_used_without_topics() -> None:
    concepts = [
        {"display_name": "Citation", "level": 2, "score": 0.9}, {"display_name": "Political science", "level": 0, "score": 0},
        {"display_name": "Library science", "level": 1, "score": 0.9}, {"display_name": "Medicine", "level": 0, "score": "0.4"},
        {"display_name": "Computer science", "level": 0, "score": 0.7}, {"display_name": "Art", "level": 0, "score": "nan"},
    ]  # fmt: skip
    record = one(primary_topic=None, topics=[], concepts=concepts)
    assert fields_of_study.fields_of_study(record.subjects) == ("Computer Science", "Medicine")


@pytest.mark.parametrize("index", [{"a": [0], "b": [0]}, {"a": [-1]}, {"a": list(range(50_001))}])
def test_damaged_index_gives_no_abstract(index: object) -> None:
    assert one(abstract_inverted_index=index).abstract is None


@pytest.mark.parametrize("key", sorted(WORK.keys() - {"id"}))
@pytest.mark.parametrize(
    "value", [None, 7, -1.5, True, "x", [], [None, 7, "x", [], {}], {}, {"source": 7, "license": [], "x": [1]}]
)
def test_value_of_wrong_type_removes_only_its_field(key: str, value: object) -> None:
    (entry,) = samples.entries("openalex", {**WORK, key: value})
    assert isinstance(entry, Record) or (key == "is_paratext" and value is True)
