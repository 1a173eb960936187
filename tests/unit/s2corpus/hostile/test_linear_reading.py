"""A law: if a delivered text doubles, the number of steps to read it at most triples.

The tests count steps instead of time. Steps are bytes that are read, copied and searched, or executed lines of Python. `Counted`
replaces the bytes of a stream, and `CountedPatterns` replaces the module `re`.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType
from typing import Any

import pytest

from s2corpus import sources
from s2corpus.deliveries.declarations import Declarations
from s2corpus.sources import json_objects, streams, xml_elements
from s2orc_parse import jats, tei
from s2orc_parse.latex.bibtex import read_bib

MOST = 3.0


class Counted(bytes):
    """Bytes that count copied and searched bytes."""

    steps = 0

    def __new__(cls, data: bytes) -> Counted:
        Counted.steps += len(data)
        return super().__new__(cls, data)

    def __add__(self, other: Any) -> Counted:
        return Counted(bytes(self) + bytes(other))

    def __radd__(self, other: Any) -> Counted:
        return Counted(bytes(other) + bytes(self))

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return found if isinstance(found, int) else Counted(found)

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
    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)


class CountedPattern(Wrapped):
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
    def compile(self, *given: Any) -> CountedPattern:
        return CountedPattern(re.compile(*given))


class CountedStream(io.BytesIO):
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
    "opened only": lambda n: b"<record>" * n,
    "no end of a tag": lambda n: b"<record " * n,
    "two names": lambda n: b"<record><entry>" * n + b"</entry>",
    "closed by another name": lambda n: b"<record>" + b"</a:record>" * n,
    "elements with prefixes": lambda n: (
        b"".join(b"<r xmlns:p%d='b'>" % i for i in range(n)) + b"<record>p1:</record>" * n
    ),
}
JSON: dict[str, Callable[[int], bytes]] = {
    "a long line": lambda n: b'{"a":"' + b"x" * (16 * n) + b'"}',
    "opened in an array": lambda n: b"[" + b'{"a":' * n,
    "escapes in an array": lambda n: b'[{"a":"' + b"\\\\" * (8 * n),
    "damaged objects with brackets in strings": lambda n: b"[" + b'{"a":"{" b},' * n + b'{"a":1}]',
    "damaged objects after a long one": lambda n: b'[{"a":"' + b"x" * (8 * n) + b'"},' + b'{"a":"b},' * n + b'{"a":1}]',
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


Text = tuple[str | tuple[str], ...]
"""Parts of a text. A part in parentheses is repeated; its `~` is the number of the repetition."""
TEI_BODY = '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/><text><body><div><p>'
TEI_ENTRIES: Text = (
    '</p></div></body><back><div type="references"><listBibl>',
    (
        '<biblStruct xml:id="b~"><analytic><title level="a">T</title><author><persName><surname>B</surname></persName></author>'
        '</analytic><monogr><imprint><date when="2001"/></imprint></monogr></biblStruct>',
    ),
    "</listBibl></div></back></text></TEI>",
)
JATS_BODY = (
    '<article><front><article-meta><article-id pub-id-type="doi">10.1/a</article-id><title-group><article-title>T</article-title>'
    "</title-group></article-meta></front><body><p>Text.</p>"
)
RECORDS: dict[str, Text] = {
    "crossref": ('{"DOI":"10.1/a","title":["T"],"author":[', ('{"family":"A~"},',), '{"family":"B"}]}'),
    "jsonl": ('{"record_id":"a:1","title":"T","authors":"A B', (" and A B",), '"}'),
    "elsevier": ('{"docId":"S1","metadata":{"title":"T","doi":"10.1/a"},"abstract":"', ("<p>&amp;",), '"}'),
    "s2orc": ('{"paper_id":"1","title":"', ("<i>$",), '"}'),
    "unpaywall": (
        '{"doi":"10.1/a","is_oa":true,"oa_locations":[', ('{"license":"l~","host_type":"publisher"},',), "{}]}",
    ),
    "pubmed": (
        "<PubmedArticle><MedlineCitation><PMID>1</PMID><Article><ArticleTitle>T</ArticleTitle><AuthorList>",
        ("<Author><LastName>A</LastName><ForeName>B</ForeName></Author>",),
        "</AuthorList></Article></MedlineCitation></PubmedArticle>",
    ),
    "dblp": ("<article key='a/b'><title>T", ("&auml;",), "</title></article>"),
    "acl": (
        "<collection id='2020.a'><volume id='1'><meta><year>2020</year></meta><paper id='1'><title>T</title><abstract>",
        ("\\emph{a ",),
        "</abstract></paper></volume></collection>",
    ),
}  # fmt: skip


convert_tei = partial(tei.convert, file_sha1="a" * 40)
convert_jats = partial(jats.convert, sha1="a" * 40)


def read_source(name: str, data: bytes) -> object:
    return list(sources.read(name, io.BytesIO(data)))


def read_declarations(data: bytes) -> object:
    return list(Declarations("d", {"a.pdf": "a" * 40}).entries(io.BytesIO(data)))


LAWS: dict[str, tuple[Callable[[bytes], object], Text, int]] = {
    **{name: (partial(read_source, name), text, 400) for name, text in RECORDS.items()},
    "TEI numbers": (convert_tei, (TEI_BODY, ('<ref type="bibr">[~]</ref> ',), *TEI_ENTRIES), 200),
    "TEI sections": (convert_tei, (TEI_BODY, ('</p></div><div><head n="~">One</head><p>See Section ~.',), *TEI_ENTRIES), 200),
    "TEI figures": (
        convert_tei, (TEI_BODY, ('</p><figure xml:id="f~"><head>Figure ~</head></figure><p><ref type="figure">Fig. ~</ref>',),
                      *TEI_ENTRIES), 200,
    ),
    "JATS citations": (
        convert_jats, (JATS_BODY, "<p>", ('<xref ref-type="bibr" rid="r~">~</xref> ',), "</p></body><back><ref-list>",
                       ('<ref id="r~"><label>~</label><mixed-citation>T</mixed-citation></ref>',),
                       "</ref-list></back></article>"), 200,
    ),
    "JATS cells": (
        convert_jats, (JATS_BODY, "<table-wrap id='t'><table><tr>", ("<td rowspan='1000'>x</td>",),
                       "</tr></table></table-wrap></body></article>"), 200,
    ),
    "declared keys": (read_declarations, ('{"name":"a.pdf"', (',"k~":1,"k~":2',), "}"), 400),
    "BibTeX opened": (lambda data: read_bib(data.decode()), (("@article{k, title={",),), 400),
    "BibTeX joined": (lambda data: read_bib(data.decode()), ('@string{s="x"}@article{k, title = ', ("s # ",), "s}"), 400),
}  # fmt: skip


@pytest.mark.parametrize("name", LAWS)
def test_parsing_takes_linear_steps(name: str) -> None:
    parse, text, size = LAWS[name]

    def make(n: int) -> bytes:
        parts = [
            part if isinstance(part, str) else "".join(part[0].replace("~", str(i)) for i in range(n)) for part in text
        ]
        return "".join(parts).encode()

    parse(make(10))  # Import modules and fill caches first.
    check_law(lambda size: count_lines(parse, make(size)), size)


def test_strings_of_strings_stay_small() -> None:
    doubled = "".join(f"@string{{s{i + 1} = s{i} # s{i}}}" for i in range(60))
    (record,) = read_bib(f'@string{{s0 = "xx"}}{doubled}@article{{k, title = s60 # s60}}').values()
    assert len(record.fields["title"]) <= 1 << 16
