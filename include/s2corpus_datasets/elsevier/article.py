"""Convert a paper to an article of the Elsevier OA CC-BY corpus (Kershaw and Koeling 2020, §3.2), and an article to a row.

Objects with free keys become lists in rows, so that tables can contain them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import pyarrow as pa

from s2corpus_datasets.citations import cited_sentences
from s2corpus_datasets.sentences import has_formula, is_prose, sentence_spans
from s2corpus_datasets.source import SnapshotPaper
from s2orc_parse.bibliography.fields_of_study import asjc_codes, read_classification
from s2orc_parse.bibliography.identifiers import normalize_issn

Json = dict[str, Any]
_MARKUP = re.compile(
    r"</?[A-Za-z][^<>]{0,200}>|&(?:[a-zA-Z]{2,8}|#[0-9]{1,6});|\\[A-Za-z]+\*?(?:\[[^\]]{0,80}\])?(?:\{[^{}]{0,200}\})*|\\[()\[\]]"
    r"|[_^]\{[^{}]{0,80}\}|\$[^$]{1,200}\$"
)
"""tags, entities, LaTeX commands with their arguments, formulas"""
_PII = re.compile(r"s(\d{4})-?(\d{3}[\dx])\((\d{2})\)(\d{5})-?([\dx])")
_SAFE = re.compile(r"[A-Za-z0-9]{5,40}")
_TEXT, _INT = pa.string(), pa.int64()
_PERSON = pa.struct([(name, _TEXT) for name in ("first", "initial", "last", "suffix", "email")])
_SENTENCE = [("sentence", _TEXT), ("startOffset", _INT), ("endOffset", _INT)]
_ENTRY = pa.struct([
    ("ref_id", _TEXT), ("title", _TEXT), ("authors", pa.list_(_PERSON)), ("issn", _TEXT), ("volume", _TEXT), ("firstpage", _TEXT),
    ("lastpage", _TEXT), ("pub_year", _INT), ("doi", _TEXT), ("pmid", _TEXT),
])  # fmt: skip
_METADATA = pa.struct([
    ("title", _TEXT), ("authors", pa.list_(_PERSON)), ("issn", _TEXT), ("journal", _TEXT), ("volume", _TEXT), ("firstpage", _TEXT),
    ("lastpage", _TEXT), ("pub_year", _INT), ("doi", _TEXT), ("pmid", _TEXT), ("openaccess", _TEXT),
    ("subjareas", pa.list_(_TEXT)), ("keywords", pa.list_(_TEXT)), ("asjc", pa.list_(_INT)),
])  # fmt: skip
ARTICLE = pa.schema([
    ("docId", _TEXT),
    ("metadata", _METADATA),
    ("abstract", pa.list_(pa.struct(_SENTENCE))),
    ("author_highlights", pa.list_(pa.struct(_SENTENCE))),
    ("bib_entries", pa.list_(_ENTRY)),
    ("body_text", pa.list_(pa.struct([
        *_SENTENCE, ("secId", _TEXT), ("title", _TEXT),
        ("refoffsets", pa.list_(pa.struct([("ref_id", _TEXT), ("startOffset", _INT), ("endOffset", _INT)]))),
        ("parents", pa.list_(pa.struct([("id", _TEXT), ("title", _TEXT)]))),
    ]))),
])  # fmt: skip
"""the schema of §3.2; `bib_entries` and `refoffsets` are lists of items with the key as `ref_id`"""


def build_article(paper: SnapshotPaper, parse: Mapping[str, Any], max_markup: float) -> tuple[Json, int, int]:
    """Return the article, its number of sentences, and the number of removed sentences.

    Sentences are removed if they have much markup, a display formula or no words. An article that was delivered in this form is
    returned unchanged. Offsets count code points. Offsets of `abstract` refer to the abstract, and offsets of `body_text` to the
    paragraphs joined by line breaks. `refoffsets` refer to the sentence.
    """
    if given := parse.get("article"):
        sentences = [item.get("sentence") or "" for item in given.get("body_text") or () if isinstance(item, dict)]
        return given, len(sentences), sum(markup_share(text) > max_markup for text in sentences)
    body, dropped = [], 0
    sections = _Sections()
    start = 0
    for paragraph in parse["body_text"]:
        where = sections.describe(paragraph)
        for sentence in cited_sentences(paragraph):
            text = paragraph["text"][sentence.start : sentence.end]
            if markup_share(text) > max_markup or has_formula(text) or not is_prose(text):
                dropped += 1
                continue
            refs: Json = {}
            for mark in sentence.marks:
                for ref_id in mark.ref_ids:
                    place = {
                        "endOffset": min(mark.end, sentence.end) - sentence.start,
                        "startOffset": mark.start - sentence.start,
                    }
                    refs.setdefault(ref_id, place)
            body.append({
                "sentence": text, "secId": where["id"], "startOffset": start + sentence.start, "endOffset": start + sentence.end,
                "title": where["title"], "refoffsets": refs, "parents": where["parents"],
            })  # fmt: skip
        start += len(paragraph["text"]) + 1
    abstract = paper.metadata["abstract"] or ""
    article = {
        "docId": doc_id(paper),
        "metadata": _metadata(paper, parse),
        "abstract": [
            {"sentence": abstract[first:last], "startOffset": first, "endOffset": last}
            for first, last in sentence_spans(abstract)
            if not has_formula(abstract[first:last])
        ],
        "bib_entries": {key: _bib_entry(entry) for key, entry in parse["bib_entries"].items()},
        "body_text": body,
    }
    return article, len(body) + dropped, dropped


def markup_share(text: str) -> float:
    """Return the share of a sentence's characters that are XML or LaTeX markup."""
    return sum(len(found[0]) for found in _MARKUP.finditer(text)) / len(text) if text else 0.0


def doc_id(paper: SnapshotPaper) -> str:
    """Return the PII (publisher item identifier) if the DOI contains it; otherwise the paper's id."""
    prefix, _, name = (paper.metadata["doi"] or "").casefold().partition("/")
    if prefix == "10.1016" and (found := _PII.fullmatch(name)):
        return f"S{''.join(found.groups())}".upper()
    return paper.id


def file_name(article: Mapping[str, Any], paper_id: str) -> str:
    """Return the name of an article's file, without suffix: its docId, or the paper's id if the docId is not a plain name."""
    given = article.get("docId")
    return given if isinstance(given, str) and _SAFE.fullmatch(given) else paper_id


def list_subjects(article: Mapping[str, Any]) -> list[str]:
    """Return the distinct top-level subjects of an article's ASJC codes or areas, in the order of the codes."""
    metadata = article.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    values = [v for name in ("asjc", "subjareas") for v in (metadata.get(name) or ()) if isinstance(v, int | str)]
    return sorted({name for value in values if (name := _subject_by_code().get(str(value)[:4]))}, key=SUBJECTS.index)


@cache
def _subject_by_code() -> dict[str, str]:
    """Return ASJC code or letters → top-level subject: the four letters of each subject, followed by its codes."""
    subjects, name = {}, ""
    for row in read_classification("asjc"):
        name = row["name"] if row["code"].isalpha() else name
        subjects[row["code"]] = name
    return subjects


_AREA_OF_FIELD = {
    "Art": "ARTS", "Biology": "AGRI", "Business": "BUSI", "Chemistry": "CHEM", "Computer Science": "COMP", "Economics": "ECON",
    "Engineering": "ENGI", "Environmental Science": "ENVI", "Geography": "SOCI", "Geology": "EART", "History": "ARTS",
    "Materials Science": "MATE", "Mathematics": "MATH", "Medicine": "MEDI", "Philosophy": "ARTS", "Physics": "PHYS",
    "Political Science": "SOCI", "Psychology": "PSYC", "Sociology": "SOCI",
}  # fmt: skip
"""MAG field → letters of the nearest ASJC area, for articles without ASJC codes"""
_LETTERS = {subject: code for code, subject in _subject_by_code().items() if code.isalpha()}
SUBJECTS = tuple(_LETTERS)
"""the 27 top-level ASJC subjects, in the order of their codes"""


def _metadata(paper: SnapshotPaper, parse: Mapping[str, Any]) -> Json:
    """Return the article's metadata. Keys without a value are omitted, as in the corpus."""
    columns, metadata = paper.columns, paper.metadata
    first, last = _pages(columns["pages"] or "")
    codes = sorted({code for subject in columns["subjects"] or () for code in asjc_codes(subject)})
    areas = {_LETTERS[_subject_by_code()[code]] for code in codes} or {
        letters for field in paper.fields[:1] if (letters := _AREA_OF_FIELD.get(field))
    }
    found = {
        "title": metadata["title"],
        "authors": _add_emails([_author(author) for author in metadata["authors"]], parse),
        "issn": parse.get("issn") or min(columns.get("issns") or (), default=None),
        "journal": metadata["journal"] or metadata["venue"],
        "volume": columns["volume"],
        "firstpage": first,
        "lastpage": last,
        "pub_year": metadata["year"],
        "doi": metadata["doi"],
        "pmid": metadata["pubmed_id"],
        "openaccess": "Full",
        "subjareas": sorted(areas),
        "keywords": list(parse.get("keywords") or ()),
        "asjc": [int(code) for code in codes if code.isdecimal()],
    }
    return {name: value for name, value in found.items() if value not in (None, "", [])}


def _author(author: Mapping[str, Any]) -> Json:
    first = " ".join([author["first"], *author["middle"]]).strip()
    initials = "".join(f"{name[0]}." for name in first.split())
    found = {"first": first, "initial": initials, "last": author["last"], "suffix": author.get("suffix")}
    return {name: value for name, value in found.items() if value}


def _add_emails(authors: list[Json], parse: Mapping[str, Any]) -> list[Json]:
    """Add the e-mail addresses in the full text to authors with the same last name, if that name is unique."""
    given = {}
    for author, email in zip(parse.get("authors") or (), parse.get("emails") or (), strict=False):
        if email and sum(other["last"] == author["last"] for other in parse["authors"]) == 1:
            given[author["last"]] = email
    return [{**author, "email": given[author["last"]]} if author.get("last") in given else author for author in authors]


def _bib_entry(entry: Mapping[str, Any]) -> Json:
    first, last = _pages(entry.get("pages") or "")
    ids = entry.get("other_ids", {})
    found = {
        "title": entry["title"],
        "authors": [_author(author) for author in entry["authors"]],
        "issn": normalize_issn(entry.get("issn") or ""),
        "volume": entry.get("volume"),
        "firstpage": first,
        "lastpage": last,
        "pub_year": entry.get("year"),
        "doi": next(iter(ids.get("DOI", ())), None),
        "pmid": next(iter(ids.get("PMID", ())), None),
    }
    return {name: value for name, value in found.items() if value not in (None, "", [])}


def _pages(pages: str) -> tuple[str, str]:
    first, _, last = re.sub(r"\s*[-–—]+\s*", "-", pages.strip()).partition("-")
    return first, last


class _Sections:
    """Ids of sections by their paths, in the order of appearance."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def describe(self, paragraph: Mapping[str, Any]) -> Json:
        """Return `id`, `title` and `parents` (highest first) of a paragraph's section."""
        path = paragraph.get("section_path", paragraph["section"]) or ""
        headings = path.split("::") if path else [""]
        prefixes = ["::".join(headings[:length]) for length in range(1, len(headings) + 1)]
        chain = [{"id": self._id(prefix), "title": title} for prefix, title in zip(prefixes, headings, strict=True)]
        return {**chain[-1], "parents": chain[:-1]}

    def _id(self, path: str) -> str:
        return self._ids.setdefault(path, f"sec{len(self._ids) + 1}")


def build_row(article: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of an article; a value of a type other than the schema's is null."""
    row = {**article, "bib_entries": _as_list(article.get("bib_entries"))}
    body = article.get("body_text")
    row["body_text"] = [
        {**sentence, "refoffsets": _as_list(sentence.get("refoffsets"))}
        for sentence in (body if isinstance(body, list) else ())
        if isinstance(sentence, dict)
    ]
    return {field.name: _coerce(row.get(field.name), field.type) for field in ARTICLE}


def _as_list(values: object) -> list[dict[str, Any]]:
    if not isinstance(values, dict):
        return []
    return [{**value, "ref_id": key} for key, value in values.items() if isinstance(value, dict)]


def _coerce(value: Any, type_: pa.DataType) -> Any:
    """Return a value converted to its column's type: numbers to text, digits to numbers; other mismatches become null."""
    if pa.types.is_struct(type_):
        return (
            {field.name: _coerce(value.get(field.name), field.type) for field in type_}
            if isinstance(value, dict)
            else None
        )
    if pa.types.is_list(type_):
        items: Iterable[Any] = value if isinstance(value, list) else ()
        return [fitted for item in items if (fitted := _coerce(item, type_.value_type)) is not None]
    if isinstance(value, bool):
        return None
    if pa.types.is_integer(type_):
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 19:
            value = int(value)
        return value if isinstance(value, int) and abs(value) < 1 << 63 else None
    return value if isinstance(value, str) else str(value) if isinstance(value, int | float) else None
