"""OpenAlex: works of the snapshot and the API, as JSON lines or JSON with `results` ([mapping](#openalex)). Files of `merged_ids`
are not read. Ids: `openalex:<id>`.

The schema is the work object in OpenAlex's documentation. The open-access data of a work are from Unpaywall.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import IO, Any

from s2corpus.sources.build import RawRecord
from s2corpus.sources.editorial import read_title_status
from s2corpus.sources.json_objects import parse_objects
from s2corpus.sources.json_values import read_list, read_object, read_objects, read_text
from s2corpus.sources.record import OPENALEX, Dropped, Editorial, Entry, OpenVersion, RecordKind, RejectReason
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.author_fields import MAX_AUTHORS, add_affiliations
from s2orc_parse.bibliography.fields import MAX_ABSTRACT
from s2orc_parse.bibliography.identifiers import normalize_arxiv
from s2orc_parse.bibliography.names import parse_names

NAME = OPENALEX
KIND = RecordKind.ARCHIVE
MAX_WORDS = 50_000  # of an abstract; a longer index is considered damaged
MAX_ITEMS = 100  # locations, topics and concepts that are read
MIN_CONCEPT_SCORE = 0.3  # OpenAlex assigns a concept from this score on; ancestors may have less

_ID = re.compile(r"(?:https?://(?:api\.)?openalex\.org/(?:works/)?)?(W[1-9]\d{0,14})/?", re.IGNORECASE)
_TOPIC_LEVEL = re.compile(r"(?:https?://(?:api\.)?openalex\.org/)?((?:sub)?fields/\d{2,4})/?")
_ARXIV_ADDRESS = re.compile(r"https?://(?:[a-z]+\.)?arxiv\.org/(?:abs|pdf)/(\S+)", re.IGNORECASE)
_NOT_PAPERS = frozenset(
    (
        "dataset", "grant", "journal", "libguides", "paratext", "peer-review", "component", "supplementary-materials", "software",
        "database", "journal-issue", "journal-volume", "proceedings", "proceedings-series", "book-series", "book-set", "report-series",
    )
)  # fmt: skip
"""Values of `type`: OpenAlex's own, and Crossref's in older snapshots."""


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Return a record of each work. Responses of the API contain works in `results`."""
    return parse_objects(stream, _parse, lambda work: work.get("results"))


def _parse(work: dict[str, Any], where: str) -> Entry:
    found = _ID.fullmatch(read_text(work.get("id")).strip())
    if found is None:
        return Dropped(RejectReason.NO_ID, where, "no id of a work, such as https://openalex.org/W2741809807")
    native = found.group(1).upper()
    type_ = read_text(work.get("type"))
    if type_ in _NOT_PAPERS or work.get("is_paratext") is True:
        return Dropped(RejectReason.NOT_A_PAPER, native, type_ if type_ in _NOT_PAPERS else "paratext")
    ids, source, biblio = (
        read_object(work.get("ids")),
        read_object(read_object(work.get("primary_location")).get("source")),
        read_object(work.get("biblio")),
    )
    name, is_journal = source.get("display_name"), source.get("type") == "journal"
    title = work.get("title") or work.get("display_name")
    locations = [place for place in _list_objects(work.get("locations")) if place.get("is_oa") is True]
    best = read_object(work.get("best_oa_location"))
    return RawRecord(
        f"{NAME}:{native}", NAME, KIND, native,
        title=title, authors=_read_authors(work.get("authorships")), date=_read_date(work),
        venue=None if is_journal or source.get("type") == "repository" else name, journal=name if is_journal else None,
        abstract=_restore_abstract(work.get("abstract_inverted_index")),
        volume=biblio.get("volume"), issue=biblio.get("issue"), pages=_read_pages(biblio),
        doi=work.get("doi") or ids.get("doi"), arxiv_id=_find_arxiv_id(work), pubmed_id=ids.get("pmid"), pmc_id=ids.get("pmcid"),
        mag_id=ids.get("mag"), issns=source.get("issn") if is_journal else None, subjects=_read_subjects(work), license=best.get("license"),
        open_access=read_object(work.get("open_access")).get("is_oa"),
        open_version=_best_version([best, *locations] if best else locations),
        type=read_text(work.get("type_crossref")) or type_ if type_ == "article" else type_,
        editorial=Editorial.RETRACTED if work.get("is_retracted") is True else read_title_status(title),
    ).normalize()  # fmt: skip


def _read_authors(authorships: object) -> list[Author | None]:
    """Return the authors by the names that the paper prints, else by OpenAlex's own."""
    given = read_objects(read_list(authorships)[:MAX_AUTHORS])
    names = [
        read_text(one.get("raw_author_name")) or read_text(read_object(one.get("author")).get("display_name"))
        for one in given
    ]
    return [
        add_affiliations(author, _read_affiliations(one), read_text(read_object(one.get("author")).get("orcid")))
        for author, one in zip(parse_names(names), given, strict=True)
    ]


def _read_affiliations(authorship: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (name, ROR) of each institution, or the printed affiliations if OpenAlex recognized none."""
    institutions = _list_objects(authorship.get("institutions"))
    for institution in institutions:
        yield read_text(institution.get("display_name")), read_text(institution.get("ror"))
    if not institutions:
        printed = authorship.get("raw_affiliation_strings")
        for text in printed if isinstance(printed, list) else [authorship.get("raw_affiliation_string")]:
            yield read_text(text), ""


def _read_date(work: Mapping[str, Any]) -> object:
    """Return the date of publication. OpenAlex writes January 1 if only the year is known; then return the year."""
    date = read_text(work.get("publication_date"))
    if date.endswith("-01-01"):
        return date[: -len("-01-01")]
    return date or work.get("publication_year")


def _read_pages(biblio: Mapping[str, Any]) -> str:
    first, last = read_text(biblio.get("first_page")).strip(), read_text(biblio.get("last_page")).strip()
    return f"{first}-{last}" if first and last and first != last else first


def _restore_abstract(index: object) -> str | None:
    """Return the text of an inverted index, `{word: [positions]}`; None if the index is damaged or too large.

    Microsoft's form nests the index under `InvertedIndex`.
    """
    if not isinstance(index, dict):
        return None
    if isinstance(inner := index.get("InvertedIndex"), dict):
        index = inner
    words: dict[int, str] = {}
    characters = 0
    for word, positions in index.items():
        if not isinstance(positions, list):
            return None
        for position in positions:
            if type(position) is not int or position < 0 or position in words:
                return None
            characters += len(word) + 1
            if len(words) >= MAX_WORDS or characters > MAX_ABSTRACT:
                return None
            words[position] = word
    return " ".join(words[position] for position in sorted(words)) or None


def _find_arxiv_id(work: Mapping[str, Any]) -> str | None:
    """Return the arXiv id in the address of a location."""
    for place in (read_object(work.get("primary_location")), *_list_objects(work.get("locations"))):
        for key in ("landing_page_url", "pdf_url"):
            if (address := _ARXIV_ADDRESS.match(read_text(place.get(key)))) and (
                found := normalize_arxiv(address.group(1))
            ):
                return found
    return None


def _read_subjects(work: Mapping[str, Any]) -> list[str]:
    """Return the subfields of the topics, the primary topic's first; else the concepts of level 0, MAG's fields, by score."""
    topics = [read_object(work.get("primary_topic")), *_list_objects(work.get("topics"))]
    if found := [subject for topic in topics if (subject := _level_of(topic))]:
        primary, *rest = found
        return [primary, *(subject for subject in rest if subject != primary)]
    scored = [
        (-float(score), name)
        for concept in _list_objects(work.get("concepts"))
        if concept.get("level") == 0 and isinstance(name := concept.get("display_name"), str)
        if (score := _score(concept.get("score"))) >= MIN_CONCEPT_SCORE
    ]
    return [name for _, name in sorted(scored)]


def _level_of(topic: Mapping[str, Any]) -> str | None:
    """Return the id of a topic's subfield (`subfields/1702`), else of its field (`fields/17`)."""
    for level in ("subfield", "field"):
        if match := _TOPIC_LEVEL.fullmatch(read_text(read_object(topic.get(level)).get("id"))):
            return match.group(1)
    return None


def _score(value: object) -> float:
    """Return a score; older snapshots write it as a string."""
    try:
        return float(value) if isinstance(value, str | int | float) else 0.0
    except (ValueError, OverflowError):
        return 0.0


def _best_version(open_locations: list[dict[str, Any]]) -> OpenVersion | None:
    """Return PUBLISHED if the published version is open, COPY if only copies are, None if no location states a version."""
    versions = {place.get("version") for place in open_locations if isinstance(place.get("version"), str)}
    if "publishedVersion" in versions or any(
        read_object(place.get("source")).get("type") == "journal" for place in open_locations
    ):
        return OpenVersion.PUBLISHED
    return OpenVersion.COPY if versions else None


def _list_objects(values: object) -> list[dict[str, Any]]:
    return read_objects(read_list(values)[:MAX_ITEMS])
