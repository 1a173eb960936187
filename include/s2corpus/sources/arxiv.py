"""arXiv: OAI-PMH harvests (formats arXiv, arXivRaw and oai_dc, XML) and the JSON snapshot (JSONL)."""

from __future__ import annotations

import email.utils
import re
from collections.abc import Iterable, Iterator
from typing import IO, Any, cast

from s2corpus.sources.build import RawRecord
from s2corpus.sources.editorial import of_arxiv
from s2corpus.sources.record import Deleted, Dropped, Editorial, Entry, RecordKind, RejectReason
from s2corpus.sources.streams import Peekable, json_objects, xml_elements
from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.dates import PlainDate, make_date, parse_date
from s2orc_parse.bibliography.identifiers import normalise_arxiv
from s2orc_parse.bibliography.names import make_author, parse_authors, parse_name
from s2orc_parse.bibliography.tex import decode_text
from s2orc_parse.xml import extract_text, parse_xml

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
    rf"\s+(?:for|on behalf of)\s+(?:the\s+)?(?=[^,;]{{1,100}}\b{_GROUP_WORD}\b)", re.IGNORECASE
)
_AFTER_COLLABORATION = re.compile(r"(?<=\w)\s*:(?=\s)")


def read(stream: IO[bytes]) -> Iterator[Entry]:
    """Yield the records of either form, detected by the first character. The date is the first version's."""
    head = Peekable(stream)
    if head.peek(1024).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        yield from _read_oai(cast(IO[bytes], head))
    else:
        for item in json_objects(cast(IO[bytes], head)):
            yield item if isinstance(item, Dropped) else _snapshot(item[1], item[0])


def _read_oai(stream: IO[bytes]) -> Iterator[Entry]:
    for number, item in enumerate(xml_elements(stream, ("record",)), 1):
        if isinstance(item, Dropped):
            yield item
            continue
        try:
            root = parse_xml(item[1], item[2])
        except ValueError as error:
            yield Dropped(RejectReason.MALFORMED, f"record {number}", str(error))
            continue
        yield _oai(root, f"record {number}")


def _oai(root: Any, where: str) -> Entry:
    header = root.find("header")
    native = (
        normalise_arxiv(extract_text(header.find("identifier")).rpartition("arXiv.org:")[2])
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
        dates = sorted(filter(None, (parse_date(extract_text(date))[0] for date in paper.iterfind("date"))))
        abstracts = [
            extract_text(d) for d in paper.iterfind("description") if not extract_text(d).startswith("Comment:")
        ]
        comments = [extract_text(d) for d in paper.iterfind("description") if extract_text(d).startswith("Comment:")]
        dois = [extract_text(i) for i in paper.iterfind("identifier") if "doi" in extract_text(i)]
        return RawRecord(
            f"{NAME}:{native}", NAME, KIND, native,
            title=decode_text(extract_text(paper.find("title"))),
            authors=_authors(_split_creator(extract_text(c)) for c in paper.iterfind("creator")),
            date=dates[0] if dates else None, abstract=decode_text(abstracts[0]) if abstracts else None,
            doi=dois[0] if dois else None,
            arxiv_id=native, type="preprint", subjects=[extract_text(s) for s in paper.iterfind("subject")],
            editorial=of_arxiv(" ".join(comments).removeprefix("Comment:"), abstracts[0] if abstracts else ""),
        ).normalize()  # fmt: skip
    versions = [extract_text(version.find("date")) for version in paper.iterfind("version")]
    last = next(paper.iterchildren("version", reversed=True), None)
    ignored = last is not None and "I" in extract_text(last.find("source_type"))  # arXiv's mark of a withdrawn version
    authors: list[Author | None]
    if paper.find("authors/author") is not None:
        authors = _authors(
            (extract_text(a.find("forenames")), extract_text(a.find("keyname")), extract_text(a.find("suffix")))
            for a in paper.iterfind("authors/author")
        )
    else:
        authors = _parse_authors(extract_text(paper.find("authors")))
    date = _mail_date(versions[0]) if versions else parse_date(extract_text(paper.find("created")))
    texts = {key: extract_text(paper.find(key)) for key in _TEXTS}
    return _build(native, texts, authors, date, Editorial.WITHDRAWN if ignored else None)


def _snapshot(line: dict[str, Any], where: str) -> Entry:
    native = normalise_arxiv(str(line.get("id") or ""))
    if native is None:
        return Dropped(RejectReason.NO_ID, where, "no arXiv id")
    parsed = line.get("authors_parsed")
    authors: list[Author | None]
    if isinstance(parsed, list) and parsed:
        rows = [[str(part) for part in name] + ["", "", ""] for name in parsed if isinstance(name, list)]
        authors = _authors((name[1], name[0], name[2]) for name in rows)
    else:
        authors = _parse_authors(str(line.get("authors") or ""))
    versions = line.get("versions")
    first = versions[0] if isinstance(versions, list) and versions else {}
    created = first.get("created") if isinstance(first, dict) else None
    date = _mail_date(created) if isinstance(created, str) else parse_date(line.get("update_date"))
    texts = {key: str(line.get(key) or "") for key in _TEXTS}
    if not isinstance(line.get("title"), str):
        texts["title"] = ""
    return _build(native, texts, authors, date)


def _build(
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
        licence=texts["license"], editorial=editorial or of_arxiv(texts["comments"], texts["abstract"]),
    ).normalize()  # fmt: skip


def _mail_date(text: str) -> PlainDate:
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


def _authors(names: Iterable[tuple[str, str, str]]) -> list[Author | None]:
    """Return the authors of (given names, surname, suffix); a collaboration is one author and is listed once.

    arXiv takes a collaboration's last word for its surname, and "A. Sample for the X Collaboration" for one surname.
    """
    found: dict[str, Author | None] = {}
    for given, surname, suffix in names:
        whole = " ".join(f"{given} {surname} {suffix}".split()).strip(" ,;:")
        if not (match := _COLLABORATION.fullmatch(whole)):
            found[f"{len(found)}"] = make_author(given, surname, suffix)
            continue
        if match["person"]:
            found[f"{len(found)}"] = parse_name(match["person"])
        found.setdefault(match["group"].casefold(), Author("", (), match["group"], ""))
    return [*found.values()]


def _parse_authors(text: str) -> list[Author | None]:
    """Return the authors of one string, "X Collaboration: A. Sample (1), B. Sample for the Y Collaboration"."""
    text = _AFTER_COLLABORATION.sub(", ", _BEFORE_COLLABORATION.sub(", ", _without_affiliations(text)))
    return _authors(
        (" ".join((author.first, *author.middle)), author.last, author.suffix) for author in parse_authors(text)
    )


def _without_affiliations(authors: str) -> str:
    """Remove round brackets and their content: "C. Balázs (1), E. L. Berger (Argonne)"."""
    depth, kept = 0, []
    for character in authors:
        depth += character == "("
        if depth == 0:
            kept.append(character)
        depth = max(depth - (character == ")"), 0)
    return re.sub(r"\s+,", ",", "".join(kept))
