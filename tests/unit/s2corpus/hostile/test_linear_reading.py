"""A law: if a delivered text doubles, the number of steps to read it at most triples.

The tests count steps instead of time. Steps are bytes that are read, copied and searched, executed lines of Python, and
comparisons of names. `Counted` replaces the bytes of a stream, and `CountedPatterns` replaces the module `re`.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest

from s2corpus import sources
from s2corpus.deliveries import registration
from s2corpus.deliveries.declarations import Declarations
from s2corpus.deliveries.ready import Delivery, ListedFile, Ready, Refused
from s2corpus.sources import json_objects, streams, xml_elements
from s2corpus.sources.json_values import find_repeated_keys
from s2corpus.storage.lake import Lake
from s2orc_parse import jats, tei
from s2orc_parse.latex.bibtex import read_bib

MOST = 3.0


class Counted(bytes):
    """Bytes that count copied and searched bytes."""

    steps = 0
    """the number of steps of all counted objects"""

    def __new__(cls, data: bytes) -> Counted:
        """Return counted bytes. Copying them adds a step per byte."""
        Counted.steps += len(data)
        return super().__new__(cls, data)

    def __add__(self, other: Any) -> Counted:
        return Counted(bytes(self) + bytes(other))

    def __radd__(self, other: Any) -> Counted:
        return Counted(bytes(other) + bytes(self))

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return found if isinstance(found, int) else Counted(found)

    def find(self, what: Any, begin: Any = 0, end: Any = None) -> int:
        found = super().find(what, begin, end)
        Counted.steps += (found if found >= 0 else len(self) if end is None else min(end, len(self))) - begin
        return found

    def rfind(self, what: Any, begin: Any = 0, end: Any = None) -> int:
        found = super().rfind(what, begin, end)
        Counted.steps += len(self) - max(found, begin)
        return found

    def split(self, *given: Any, **named: Any) -> list[Any]:
        Counted.steps += len(self)
        return [Counted(part) for part in super().split(*given, **named)]

    def decode(self, *given: Any, **named: Any) -> str:
        Counted.steps += len(self)
        return super().decode(*given, **named)


class Wrapped:
    """An object with counting methods and the attributes of the wrapped object."""

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)


class CountedPattern(Wrapped):
    """A compiled pattern that counts the searched bytes."""

    def search(self, text: Any, begin: int = 0, end: int = sys.maxsize) -> Any:
        found = self._wrapped.search(text, begin, end)
        Counted.steps += (found.end() if found else min(len(text), end)) - begin
        return found

    def finditer(self, text: Any, begin: int = 0, end: int = sys.maxsize) -> Iterator[Any]:
        at = begin
        for found in self._wrapped.finditer(text, begin, end):
            Counted.steps += found.end() - at
            at = found.end()
            yield found
        Counted.steps += min(len(text), end) - at

    def findall(self, text: Any, begin: int = 0, end: int = sys.maxsize) -> Any:
        Counted.steps += min(len(text), end) - begin
        return self._wrapped.findall(text, begin, end)


class CountedDecoder(Wrapped):
    """A decoder of JSON that counts the read characters."""

    def raw_decode(self, text: str, start: int) -> tuple[Any, int]:
        end = len(text)
        try:
            value, end = self._wrapped.raw_decode(text, start)
        except json.JSONDecodeError as error:
            end = start + error.pos  # The error counts the lines before its position.
            raise
        finally:
            Counted.steps += end - start
        return value, end


class CountedPatterns(Wrapped):
    """The module `re` with counting patterns."""

    def compile(self, *given: Any) -> CountedPattern:
        return CountedPattern(re.compile(*given))


class CountedStream(io.BytesIO):
    """A stream that returns counted bytes."""

    def read(self, size: int | None = -1, /) -> bytes:
        return Counted(super().read(size))

    read1 = read


def count_lines(act: Callable[[bytes], Any], data: bytes) -> int:
    """Return the number of Python lines that an action executes. Each iteration of a one-line loop counts."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act(data)
    finally:
        sys.settrace(before)
    return count


def check_law(count: Callable[[int], int], size: int) -> None:
    once, twice = count(size), count(2 * size)
    assert once > 0
    assert twice <= MOST * once, f"{once} steps for {size}, {twice} for {2 * size}"


XML: dict[str, Callable[[int], bytes]] = {
    "opened and one closed": lambda n: b"<record>" * n + b"</record>",
    "opened only": lambda n: b"<record>" * n,
    "prefixed": lambda n: b"<a:record>" * n + b"</a:record>",
    "no end of a tag": lambda n: b"<record " * n,
    "two names": lambda n: b"<record><entry>" * n + b"</entry>",
    "one name in another": lambda n: b"<record>" + b"<entry>" * n + b"</entry>",
    "closed only": lambda n: b"</record>" * n,
    "closed by another name": lambda n: b"<record>" + b"</a:record>" * n,
    "elements": lambda n: b"<record>text</record>" * n,
    "empty elements": lambda n: b"<record/>" * n,
    "signs": lambda n: b"<" * n,
    "a long name": lambda n: b"<" + b"a" * (8 * n),
    "declarations": lambda n: b"<r xmlns:a='b'>" * n,
    "elements with prefixes": lambda n: (
        b"".join(b"<r xmlns:p%d='b'>" % i for i in range(n)) + b"<record>p1:</record>" * n
    ),
    "text": lambda n: b"<record>" + b"text " * n + b"</record>",
}
JSON: dict[str, Callable[[int], bytes]] = {
    "a long line": lambda n: b'{"a":"' + b"x" * (16 * n) + b'"}',
    "lines": lambda n: b'{"a":1}\n' * n,
    "line ends": lambda n: b"\n" * n,
    "an array": lambda n: b"[" + b'{"a":1},' * n + b'{"a":1}]',
    "opened in an array": lambda n: b"[" + b'{"a":' * n,
    "a long text in an array": lambda n: b'[{"a":"' + b"x" * (16 * n),
    "escapes in an array": lambda n: b'[{"a":"' + b"\\\\" * (8 * n),
    "quotation marks in an array": lambda n: b'[{"a":' + b'"' * (8 * n),
    "damaged objects in an array": lambda n: b"[" + b'{"a":"b},' * n + b'{"a":1}]',
    "damaged objects with brackets in strings": lambda n: b"[" + b'{"a":"{" b},' * n + b'{"a":1}]',
    "damaged objects after a long one": lambda n: b'[{"a":"' + b"x" * (8 * n) + b'"},' + b'{"a":"b},' * n + b'{"a":1}]',
    "no items": lambda n: b'{"a":' + b'"items" ' * (8 * n),
}


def count_steps(act: Callable[[CountedStream], Any], data: bytes, patch: pytest.MonkeyPatch) -> int:
    """Return the number of bytes that a stream reader reads, copies and searches, in pieces of 4 KiB."""
    Counted.steps = 0
    with patch.context() as patched:
        for module in (streams, json_objects, xml_elements):
            patched.setattr(module, "_CHUNK", 4096)
            patched.setattr(module, "MAX_ENTRY_BYTES", 1 << 18)
            for name, value in vars(module).copy().items():
                if isinstance(value, re.Pattern):
                    patched.setattr(module, name, CountedPattern(value))
        patched.setattr(xml_elements, "re", CountedPatterns(re))
        patched.setattr(json_objects, "_DECODER", CountedDecoder(json_objects._DECODER))
        act(CountedStream(data))
    return Counted.steps


@pytest.mark.parametrize("name", XML)
@pytest.mark.parametrize("limit", [1 << 14, 1 << 30])
def test_xml_is_split_in_one_pass(name: str, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(stream: CountedStream) -> None:
        deque(xml_elements.read_xml_elements(stream, ("record", "entry"), limit), 0)

    check_law(lambda size: count_steps(cut, XML[name](size), monkeypatch), 10_000)


@pytest.mark.parametrize("name", JSON)
def test_json_is_split_in_one_pass(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(stream: CountedStream) -> None:
        deque(json_objects.read_json_texts(stream), 0)

    check_law(lambda size: count_steps(cut, JSON[name](size), monkeypatch), 10_000)


class Name(str):
    """A file name that counts its comparisons."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, str(other))


@pytest.mark.parametrize("repeated", [False, True])
def test_names_are_checked_in_one_pass(repeated: bool, lake: Lake) -> None:
    def count_comparisons(size: int) -> int:
        names = [Name(f"{number // 2 if repeated else number}.pdf") for number in range(size)]
        files = [ListedFile.model_construct(name=name, bytes=1, sha256="0" * 64) for name in names]
        Name.compared = 0
        with pytest.raises(Refused):
            registration._check_listing(
                lake, Delivery("drop", "", "d", "", "delta", "", size), Ready.model_construct(files=files)
            )
        return Name.compared + size

    check_law(count_comparisons, 2_000)


CROSSREF = {"DOI": "10.1/a", "title": ["T"]}
GENERIC = {"record_id": "a:1", "title": "T"}
S2ORC = {"paper_id": "1", "title": "T"}


def elsevier(abstract: object, **given: object) -> dict[str, object]:
    return {"docId": "S1", "metadata": {"title": "T", "doi": "10.1/a", **given}, "abstract": abstract}


def unpaywall(locations: list[dict[str, object]]) -> dict[str, object]:
    return {"doi": "10.1/a", "is_oa": True, "oa_locations": locations}


RECORDS: dict[str, Callable[[int], object]] = {
    "crossref authors": lambda n: CROSSREF | {"author": [{"family": f"A{i}"} for i in range(n)]},
    "crossref tags": lambda n: CROSSREF | {"title": ["<i>" * n], "abstract": "<jats:p>" * n},
    "crossref escapes": lambda n: CROSSREF | {"title": ["&" + "amp;" * n + "lt;"]},
    "crossref updates": lambda n: CROSSREF | {"update-to": [{"DOI": f"10.1/{i}", "type": "retraction"} for i in range(n)]},
    "crossref licenses": lambda n: CROSSREF | {"license": [{"URL": f"http://a/{i}"} for i in range(n)]},
    "jsonl authors joined": lambda n: GENERIC | {"authors": " and ".join(["A B"] * n)},
    "jsonl authors by commas": lambda n: GENERIC | {"authors": ", ".join(["A B"] * n)},
    "jsonl long author": lambda n: GENERIC | {"authors": ["A. " * n]},
    "jsonl affiliations": lambda n: GENERIC | {"authors": [{"last": "A", "affiliations": [f"x{i}" for i in range(n)]}]},
    "jsonl subjects": lambda n: GENERIC | {"subjects": [f"s{i}" for i in range(n)]},
    "elsevier authors": lambda n: elsevier("A", authors=[{"first": "A", "last": f"B{i}"} for i in range(n)]),
    "elsevier areas": lambda n: elsevier("A", subjareas=[f"A{i}" for i in range(n)], asjc=["1000"] * n),
    "elsevier sentences": lambda n: elsevier([{"startOffset": n - i, "sentence": f"S{i}."} for i in range(n)]),
    "elsevier abstract": lambda n: elsevier("<p>&amp;" * n),
    "s2orc authors": lambda n: S2ORC | {"authors": [{"first": "A", "middle": [], "last": f"B{i}"} for i in range(n)]},
    "s2orc middle names": lambda n: S2ORC | {"authors": [{"first": "A", "middle": ["C."] * n, "last": "B"}]},
    "s2orc fields": lambda n: S2ORC | {"mag_field_of_study": [f"f{i}" for i in range(n)]},
    "s2orc title": lambda n: S2ORC | {"title": "<i>$" * n, "abstract": "&lt;" * n},
    "unpaywall locations": lambda n: unpaywall([{"license": None, "version": "x"}] * n),
    "unpaywall licenses": lambda n: unpaywall([{"license": f"l{i}", "host_type": "publisher"} for i in range(n)]),
    "unpaywall license": lambda n: unpaywall([{"license": "cc-by-" * n}]),
}  # fmt: skip
_PUBMED = "<PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>T</ArticleTitle><AuthorList>"
_PUBMED_END = "</AuthorList></Article></MedlineCitation></PubmedArticle>"
_ACL = "<collection id='2020.a'><volume id='1'><meta><year>2020</year></meta><paper id='1'><title>T</title>"
_ACL_END = "</paper></volume></collection>"
XML_RECORDS: dict[str, tuple[str, str, str]] = {
    "pubmed authors": (_PUBMED, "<Author><LastName>A</LastName><ForeName>B</ForeName></Author>", _PUBMED_END),
    "pubmed records": ("", "<PubmedArticle><MedlineCitation><PMID>1</PMID></MedlineCitation></PubmedArticle>", ""),
    "dblp authors": ("<article key='a/b'><title>T</title>", "<author>A B</author>", "</article>"),
    "dblp entities": ("<article key='a/b'><title>T", "&auml;", "</title></article>"),
    "arxiv records": ("", "<record><header/></record>", ""),
    "acl authors": (_ACL, "<author><first>A</first><last>B</last></author>", _ACL_END),
    "acl papers": (f"{_ACL}</paper>", "<paper id='1'><title>T</title></paper>", "</volume></collection>"),
    "acl volumes": (f"{_ACL}</paper></volume>", "<volume id='2'><paper id='1'/></volume>", "</collection>"),
    "acl formulas": (f"{_ACL}<abstract>", "<tex-math>x<b>y</b></tex-math>", f"</abstract>{_ACL_END}"),
    "acl commands": (f"{_ACL}<abstract>", "\\emph{a ", f"</abstract>{_ACL_END}"),
}


def make_tei(body: str, entries: str = "") -> bytes:
    return (
        f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/><text><body><div>{body}</div></body>'
        f'<back><div type="references"><listBibl>{entries}</listBibl></div></back></text></TEI>'
    ).encode()


def tei_citations(form: str) -> Callable[[int], bytes]:
    title = '<analytic><title level="a">T</title><author><persName><surname>B</surname></persName></author></analytic>'
    date = '<monogr><imprint><date when="2001"/></imprint></monogr>'
    return lambda n: make_tei(
        "<p>" + "".join(form.format(i) for i in range(n)) + "</p>",
        "".join(f'<biblStruct xml:id="b{i}">{title}{date}</biblStruct>' for i in range(n)),
    )


def make_jats(body: str, entries: str = "") -> bytes:
    ids = '<article-id pub-id-type="doi">10.1/a</article-id><title-group><article-title>T</article-title></title-group>'
    front = f"<front><article-meta>{ids}</article-meta></front><body><p>Text.</p>"
    return f"<article>{front}{body}</body><back><ref-list>{entries}</ref-list></back></article>".encode()


def jats_table(rows: str) -> bytes:
    return make_jats(f'<table-wrap id="t"><table>{rows}</table></table-wrap>')


TEI: dict[str, Callable[[int], bytes]] = {
    "linked citations": tei_citations('<ref type="bibr" target="#b{0}">[{0}]</ref> '),
    "citations by number": tei_citations('<ref type="bibr">[{0}]</ref> '),
    "citations by name": tei_citations('<ref type="bibr">(B, 2001)</ref> '),
    "split citations": tei_citations('<ref type="bibr">[1,</ref> '),
    "paragraphs": lambda n: make_tei("<p>Words of the paper.</p>" * n),
    "sections": lambda n: make_tei("".join(f'<div><head n="{i}">One</head><p>See Section {i}.</p></div>' for i in range(n))),
    "figures": lambda n: make_tei("".join(
        f'<figure xml:id="f{i}"><head>Figure {i}</head></figure><p><ref type="figure">Fig. {i}</ref></p>' for i in range(n)
    )),
}  # fmt: skip
JATS: dict[str, Callable[[int], bytes]] = {
    "citations": lambda n: make_jats(
        "<p>" + "".join(f'<xref ref-type="bibr" rid="r{i}">{i}</xref> ' for i in range(n)) + "</p>",
        "".join(f'<ref id="r{i}"><label>{i}</label><mixed-citation>T</mixed-citation></ref>' for i in range(n)),
    ),
    "sections": lambda n: make_jats("<sec><title>A</title><p>b</p></sec>" * n),
    "figures": lambda n: make_jats("".join(
        f'<fig id="f{i}"><label>Figure {i}</label></fig><p><xref ref-type="fig" rid="f{i}">Fig</xref></p>' for i in range(n)
    )),
    "rows": lambda n: jats_table("<tr><td rowspan='3'>x</td><td>y</td></tr>" * n),
    "wide cells": lambda n: jats_table("<tr>" + "<td colspan='100'>x</td>" * n + "</tr>"),
    "high cells": lambda n: jats_table("<tr>" + "<td rowspan='1000'>x</td>" * n + "</tr>"),
}  # fmt: skip
DECLARATIONS: dict[str, Callable[[int], bytes]] = {
    "lines": lambda n: b'{"name":"a.pdf","open_access":true}\n' * n,
    "names": lambda n: b'{"name":"a.pdf"' + b',"name":"b.pdf"' * n + b"}",
    "keys": lambda n: b'{"name":"a.pdf"' + b"".join(b',"k%d":1,"k%d":2' % (i, i) for i in range(n)) + b"}",
}
BIBLIOGRAPHIES: dict[str, Callable[[int], bytes]] = {
    "entries": lambda n: "".join(f"@article{{k{i}, title={{T}}}}\n" for i in range(n)).encode(),
    "opened": lambda n: b"@article{k, title={" * n,
    "bare": lambda n: b"@a{" * n,
    "joined": lambda n: b'@string{s="x"}@article{k, title = ' + b"s # " * n + b"s}",
    "quoted": lambda n: b'@article{k, title = "{' * n,
}


def read_source(name: str) -> Callable[[bytes], list[Any]]:
    return lambda data: list(sources.read(name.split()[0], io.BytesIO(data)))


def make_json(make: Callable[[int], object]) -> Callable[[int], bytes]:
    return lambda n: json.dumps(make(n)).encode()


def make_xml(begin: str, middle: str, end: str) -> Callable[[int], bytes]:
    return lambda n: (begin + middle * n + end).encode()


LAWS: dict[str, tuple[Callable[[bytes], Any], Callable[[int], bytes], int]] = {
    **{n: (read_source(n), make_json(make), 400) for n, make in RECORDS.items()},
    **{name: (read_source(name), make_xml(*parts), 400) for name, parts in XML_RECORDS.items()},
    **{f"TEI {name}": (lambda data: tei.convert(data, file_sha1="a" * 40), make, 200) for name, make in TEI.items()},
    **{f"JATS {name}": (lambda data: jats.convert(data, sha1="a" * 40), make, 200) for name, make in JATS.items()},
    **{f"declared {name}": (lambda data: list(Declarations("d", {"a.pdf": "a" * 40}).entries(io.BytesIO(data))), make, 400)
       for name, make in DECLARATIONS.items()},
    **{f"BibTeX {name}": (lambda data: read_bib(data.decode()), make, 400) for name, make in BIBLIOGRAPHIES.items()},
    "repeated keys": (find_repeated_keys, lambda n: b'{"a":[' + b'{"k":1,"k":2},' * n + b"0]}", 1_000),
}  # fmt: skip


@pytest.mark.parametrize("name", LAWS)
def test_parsing_takes_linear_steps(name: str) -> None:
    parse, make, size = LAWS[name]
    parse(make(10))  # Import modules and fill caches first.
    check_law(lambda size: count_lines(parse, make(size)), size)


def test_strings_of_strings_stay_small() -> None:
    doubled = "".join(f"@string{{s{i + 1} = s{i} # s{i}}}" for i in range(60))
    (record,) = read_bib(f'@string{{s0 = "xx"}}{doubled}@article{{k, title = s60 # s60}}').values()
    assert len(record.fields["title"]) <= 1 << 16
