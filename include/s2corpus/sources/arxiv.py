"""arXiv: OAI-PMH harvests (`arXiv`, `arXivRaw`, `oai_dc`, XML) or the JSON snapshot. The date is of the first version.
`status="deleted"` deletes. Ids: `arxiv:<id>`.
"""

from __future__ import annotations

import email.utils
import re
from collections.abc import Iterable, Iterator
from typing import IO, Any, cast

from s2corpus.sources.build import RawRecord
from s2corpus.sources.editorial import read_arxiv_status
from s2corpus.sources.json_objects import parse_objects
from s2corpus.sources.json_values import read_list, read_object, read_text
from s2corpus.sources.record import Deleted, Dropped, Editorial, Entry, RecordKind, RejectReason
from s2corpus.sources.streams import Peekable
from s2corpus.sources.xml_elements import parse_xml_elements
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.author_fields import add_affiliations
from s2orc_parse.bibliography.dates import PlainDate, make_date, parse_date
from s2orc_parse.bibliography.identifiers import normalize_arxiv
from s2orc_parse.bibliography.names import MAX_CHARACTERS, MAX_NAME, make_author, parse_authors, parse_name
from s2orc_parse.bibliography.tex import decode_text
from s2orc_parse.xml import extract_text

NAME = "arxiv"
KIND = RecordKind.ARCHIVE
_TEXTS = ("title", "journal-ref", "abstract", "doi", "categories", "license", "comments")
_JOURNAL = re.compile(r"^[^\d(]*[^\d\s(,.:;]\.?")
_GROUP_WORD = r"(?:collaborations?|consortia|consortium|team|group|working group|project|committee)"
_COLLABORATION = re.compile(
    r"(?:(?P<person>\S.{0,100}?)?[\s,(]*\b(?:for|on behalf of)\s+(?:the\s+)?|\bthe\s+(?=[A-Z]))?"
    rf"(?P<group>\S(?:.{{0,150}}\s)?{_GROUP_WORD})[\s)]*",
    re.IGNORECASE,
)
_BEFORE_COLLABORATION = re.compile(
    rf"(?<!\s)\s++(?:for|on behalf of)\s++(?:the\s++)?(?=[^,;]{{1,100}}\b{_GROUP_WORD}\b)", re.IGNORECASE
)
_AFTER_COLLABORATION = re.compile(r"(?<=\w)\s*:(?=\s)")


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Return the records of an OAI-PMH harvest or a JSON snapshot, detected by the first character.

    The date of a record is the date of the first version.
    """
    head = Peekable(stream)
    if head.peek(1024).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return parse_xml_elements(cast(IO[bytes], head), ("record",), lambda root, where: [_parse_oai(root, where)])
    return parse_objects(cast(IO[bytes], head), _parse_snapshot)


def _parse_oai(root: Any, where: str) -> Entry:
    header = root.find("header")
    native = (
        normalize_arxiv(extract_text(header.find("identifier")).rpartition("arXiv.org:")[2])
        if header is not None
        else None
    )
    if native is None:
        return Dropped(RejectReason.NO_ID, where, "no arXiv identifier in the header")
    if header.get("status") == "deleted":
        return Deleted(f"{NAME}:{native}")
    metadata = root.find("metadata")
    if metadata is None or len(metadata) == 0:
        return Dropped(RejectReason.MALFORMED, native, "no metadata")
    paper = metadata[0]
    if paper.tag == "dc":
        return _parse_dublin_core(native, paper)
    versions = [extract_text(version.find("date")) for version in paper.iterfind("version")]
    last = next(paper.iterchildren("version", reversed=True), None)
    is_withdrawn = last is not None and "I" in extract_text(last.find("source_type"))
    authors: list[Author | None]
    if paper.find("authors/author") is not None:
        authors = _authors(
            (
                *(extract_text(author.find(name)) for name in ("forenames", "keyname", "suffix")),
                *map(extract_text, author.iterfind("affiliation")),
            )
            for author in paper.iterfind("authors/author")
        )
    else:
        authors = _parse_authors(extract_text(paper.find("authors")))
    date = _parse_mail_date(versions[0]) if versions else parse_date(extract_text(paper.find("created")))
    texts = {key: extract_text(paper.find(key)) for key in _TEXTS}
    return _build_record(native, texts, authors, date, Editorial.WITHDRAWN if is_withdrawn else None)


def _parse_dublin_core(native: str, paper: Any) -> Entry:
    dates = sorted(filter(None, (parse_date(extract_text(date))[0] for date in paper.iterfind("date"))))
    descriptions = [extract_text(description) for description in paper.iterfind("description")]
    abstract = next((text for text in descriptions if not text.startswith("Comment:")), "")
    comments = " ".join(text for text in descriptions if text.startswith("Comment:")).removeprefix("Comment:")
    identifiers = map(extract_text, paper.iterfind("identifier"))
    return RawRecord(
        f"{NAME}:{native}", NAME, KIND, native,
        title=decode_text(extract_text(paper.find("title"))),
        authors=_authors(_split_creator(extract_text(c)) for c in paper.iterfind("creator")),
        date=dates[0] if dates else None, abstract=decode_text(abstract), doi=next((i for i in identifiers if "doi" in i), None),
        arxiv_id=native, type="preprint", subjects=[extract_text(s) for s in paper.iterfind("subject")],
        editorial=read_arxiv_status(comments, abstract),
    ).normalize()  # fmt: skip


def _parse_snapshot(line: dict[str, Any], where: str) -> Entry:
    native = normalize_arxiv(str(line.get("id") or ""))
    if native is None:
        return Dropped(RejectReason.NO_ID, where, "no arXiv id")
    parsed = line.get("authors_parsed")
    authors: list[Author | None]
    if isinstance(parsed, list) and parsed:
        rows = [[str(part) for part in name] + ["", "", ""] for name in parsed if isinstance(name, list)]
        authors = _authors((name[1], name[0], name[2]) for name in rows)
    else:
        authors = _parse_authors(str(line.get("authors") or ""))
    created = next((read_object(version).get("created") for version in read_list(line.get("versions"))), None)
    date = _parse_mail_date(created) if isinstance(created, str) else parse_date(line.get("update_date"))
    texts = {key: str(line.get(key) or "") for key in _TEXTS} | {"title": read_text(line.get("title"))}
    return _build_record(native, texts, authors, date)


def _build_record(
    native: str,
    texts: dict[str, str],
    authors: list[Author | None],
    date: PlainDate,
    editorial: Editorial | None = None,
) -> Entry:
    journal = _JOURNAL.match(decode_text(texts["journal-ref"]))
    return RawRecord(
        f"{NAME}:{native}", NAME, KIND, native, title=decode_text(texts["title"]), authors=authors, date=date,
        journal=journal.group() if journal else None, abstract=decode_text(texts["abstract"]),
        doi=next(iter(texts["doi"].split()), None), arxiv_id=native, type="preprint", subjects=texts["categories"].split(),
        license=texts["license"], editorial=editorial or read_arxiv_status(texts["comments"], texts["abstract"]),
    ).normalize()  # fmt: skip


def _parse_mail_date(text: str) -> PlainDate:
    """Return the date of "Mon, 2 Apr 2007 19:18:42 GMT"."""
    try:
        date = email.utils.parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return parse_date(text)
    return make_date(date.year, date.month, date.day)


def _split_creator(name: str) -> tuple[str, str, str]:
    """Return (given names, surname, suffix) of a `dc:creator`, "Last, First" or "Last, First, Suffix"."""
    surname, _, rest = name.partition(",")
    given, _, suffix = rest.partition(",")
    return given, surname, suffix


def _authors(names: Iterable[tuple[str, ...]]) -> list[Author | None]:
    """Return the authors of (given names, surname, suffix, affiliations …); a collaboration is one author and is listed once.

    arXiv splits a collaboration's name into given name and surname, and treats "A. Sample for the X Collaboration" as one surname.
    """
    found: list[Author | None] = []
    groups: set[str] = set()
    for given, surname, suffix, *affiliations in names:
        whole = " ".join(f"{given} {surname} {suffix}"[:MAX_NAME].split()).strip(" ,;:")
        if not (match := _COLLABORATION.fullmatch(whole)):
            found.append(add_affiliations(make_author(given, surname, suffix), ((one, "") for one in affiliations)))
            continue
        if match["person"]:
            found.append(parse_name(match["person"]))
        if match["group"].casefold() not in groups:
            groups.add(match["group"].casefold())
            found.append(Author("", (), match["group"], ""))
    return found


def _parse_authors(text: str) -> list[Author | None]:
    """Return the authors of one string, "X Collaboration: A. Sample (1), B. Sample for the Y Collaboration"."""
    text = _AFTER_COLLABORATION.sub(", ", _BEFORE_COLLABORATION.sub(", ", _without_affiliations(text)))
    return _authors(
        (" ".join((author.first, *author.middle)), author.last, author.suffix) for author in parse_authors(text)
    )


def _without_affiliations(authors: str) -> str:
    """Remove round brackets and their content: "C. Balázs (1), E. L. Berger (Argonne)"."""
    depth, kept = 0, []
    for character in authors[:MAX_CHARACTERS]:
        depth += character == "("
        if depth == 0:
            kept.append(character)
        depth = max(depth - (character == ")"), 0)
    return re.sub(r"(?<!\s)\s++,", ",", "".join(kept))
