"""Each line of a drop's records.jsonl gives the expected facts, records and exact warnings."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from s2corpus.deliveries.declarations import Declarations, DeclaredFacts
from s2corpus.deliveries.ready import Refused
from s2corpus.sources.record import Dropped, Entry, Record

SHA1 = {"a.pdf": "a" * 40, "b.pdf": "b" * 40, "again/a.pdf": "a" * 40, "s.gz": "c" * 40}
HERE = {"name": "a.pdf"}


def read(*lines: dict[str, Any] | bytes) -> tuple[Declarations, list[Entry]]:
    """Return the reader and the entries of these lines.

    The drop has two PDFs, one of them twice, and a LaTeX source.
    """
    reader = Declarations("d", SHA1, {name: name.endswith(".pdf") for name in SHA1})
    raw = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    return reader, list(reader.entries(io.BytesIO(raw)))


@pytest.mark.parametrize(
    ("line", "facts"),
    [
        (HERE, {"a.pdf": DeclaredFacts(1)}),
        ({**HERE, "open_access": True}, {"a.pdf": DeclaredFacts(1, True)}),
        ({**HERE, "open_access": False}, {"a.pdf": DeclaredFacts(1, False)}),
        ({**HERE, "licence": "CC-BY-4.0"}, {"a.pdf": DeclaredFacts(1, None, "CC-BY-4.0")}),
        ({**HERE, "arxiv_id": "arXiv:1706.03762v5"}, {"a.pdf": DeclaredFacts(1, arxiv_id="1706.03762")}),
        ({"file_sha1": "b" * 40, "open_access": True}, {"b.pdf": DeclaredFacts(1, True)}),
        ({"file_sha1": f" {'B' * 40} "}, {"b.pdf": DeclaredFacts(1)}),
        ({"pdf_sha1": "b" * 40, "open_access": True}, {"b.pdf": DeclaredFacts(1, True)}),  # The key's name up to 0.1.0.
        (
            {"file_sha1": "a" * 40, "open_access": False},
            {"a.pdf": DeclaredFacts(1, False), "again/a.pdf": DeclaredFacts(1, False)},
        ),
        ({"name": "again/a.pdf", "file_sha1": "a" * 40}, {"again/a.pdf": DeclaredFacts(1)}),
        ({**HERE, "note": "x", "open_access": True, "licence": "CC-BY-4.0", "arxiv_id": "1706.03762"}, {}),
        (
            {**HERE, "note": "x", "open_access": False, "licence": "CC-BY-4.0", "arxiv_id": "1706.03762"},
            {"a.pdf": DeclaredFacts(1, False)},
        ),
        ({"name": "z.pdf", "open_access": False}, {}),
    ],
)
def test_line_gives_facts_about_its_file(line: dict[str, Any], facts: dict[str, DeclaredFacts]) -> None:
    assert read(line)[0].facts == facts


@pytest.mark.parametrize(
    ("first", "second", "facts"),
    [
        ({"open_access": True}, {}, DeclaredFacts(2, True)),
        ({}, {"open_access": True}, DeclaredFacts(2, True)),
        ({"open_access": True}, {"open_access": False}, DeclaredFacts(2, False)),
        ({"open_access": False}, {"open_access": True}, DeclaredFacts(2, False)),
        ({"licence": "CC-BY-4.0"}, {"licence": "CC-BY-NC-4.0"}, DeclaredFacts(2, None, "CC-BY-NC-4.0")),
        ({"licence": "CC-BY-NC-4.0"}, {"licence": "CC-BY-4.0"}, DeclaredFacts(2, None, "CC-BY-NC-4.0")),
        ({"licence": "CC-BY-NC-4.0"}, {}, DeclaredFacts(2, None, "CC-BY-NC-4.0")),
        ({"arxiv_id": "1706.03762"}, {}, DeclaredFacts(2, arxiv_id="1706.03762")),
        ({"arxiv_id": "1706.03762"}, {"arxiv_id": "1911.02782"}, DeclaredFacts(2, arxiv_id="1911.02782")),
    ],
)
def test_conflicting_lines_give_the_stricter_facts(
    first: dict[str, Any], second: dict[str, Any], facts: DeclaredFacts
) -> None:
    """Closed wins over open, and the stricter license wins."""
    reader, _ = read({**HERE, **first}, {**HERE, **second})
    assert reader.facts == {"a.pdf": facts}
    assert reader.warning_messages == ('records.jsonl, line 2: describes "a.pdf" again, after line 1',)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({**HERE, "titel": "T", "by": 1}, ["by: is not a key of a drop's records: the line is ignored",
                                           "titel: is not a key of a drop's records: the line is ignored"]),
        ({"name": "z.pdf"}, ['name: "z.pdf" is not a file of the drop: the line is ignored']),
        ({"file_sha1": "0"}, ['file_sha1: "0" is not a file of the drop: the line is ignored']),
        ({"file_sha1": 7}, ["file_sha1: 7 is not a file of the drop: the line is ignored"]),
        ({"name": "b.pdf", "file_sha1": "a" * 40}, ['name: "b.pdf" is not a file of the drop, with that file_sha1: the line is ignored']),
        ({"title": "T"}, ["name: is missing: every line needs name or file_sha1"]),
        ({**HERE, "title": 7}, ["title: 7 cannot be used as title: it is ignored"]),
        ({**HERE, "title": "On a", "authors": 7}, ["authors: 7 cannot be used as authors: it is ignored"]),
        ({**HERE, "title": "On a", "doi": "x"}, ['doi: "x" cannot be used as doi: it is ignored']),
        ({**HERE, "title": "On a", "published": "soon"}, ['published: "soon" cannot be used as published: it is ignored']),
        ({**HERE, "title": "On a", "year": "soon"}, ['year: "soon" cannot be used as year: it is ignored']),
        ({**HERE, "title": "On a", "fields_of_study": [7]}, ["fields_of_study: [7] cannot be used as fields_of_study: it is ignored"]),
        ({**HERE, "title": "On a", "authors": ["Ada Byron", 7, 8]}, ["authors: 2 of 3 cannot be used: they are ignored"]),
        ({**HERE, "title": "On a", "authors": ["Ada Byron", "Alan Turing"]}, []),
        ({**HERE, "title": "On a", "authors": "Ada Byron"}, []),
        ({**HERE, "title": "On a", "venue": "", "abstract": None, "authors": []}, []),
        (b"[]", ["is list: expected a JSON object"]),
        (b"7", ["is int: expected a JSON object"]),
        (b"null", ["is NoneType: expected a JSON object"]),
        (b"  ", []),
    ],
)  # fmt: skip
def test_unusable_keys_of_a_line_are_reported(line: dict[str, Any] | bytes, said: list[str]) -> None:
    reader, _ = read(HERE, line)
    assert [w.removeprefix("records.jsonl, line 2: ") for w in reader.warning_messages if "again" not in w] == said


def test_invalid_json_is_dropped_with_its_line() -> None:
    reader, entries = read(b"{", b"", b"\xff", HERE, b"[]")
    assert [entry.where for entry in entries if isinstance(entry, Dropped)] == ["line 1", "line 3", "line 5"]
    said = [warning.removeprefix("records.jsonl, ").partition(" (")[0] for warning in reader.warning_messages]
    assert said == ["line 1: is not JSON", "line 3: is not JSON", "line 5: is list: expected a JSON object"]


@pytest.mark.parametrize(("lines", "kept", "more"), [(100, 100, None), (101, 100, 1), (250, 100, 150)])
def test_at_most_a_hundred_warnings_are_stored(lines: int, kept: int, more: int | None) -> None:
    reader, _ = read(*[b"7"] * lines)
    assert len(reader.warnings) == kept
    assert reader.warning_messages[kept:] == ((f"records.jsonl: {more} more",) if more else ())


def test_line_becomes_a_record_of_its_file() -> None:
    said = {
        "title": "On a", "authors": ["Ada Byron"], "date": "2021-05", "published": "2020", "year": 2019, "doi": "10.1016/a",
        "venue": "ACL", "fields_of_study": ["cs.CL"], "open_access": True, "licence": "CC-BY-4.0", "arxiv_id": "1706.03762",
    }  # fmt: skip
    reader, (entry,) = read({**HERE, **said})
    assert isinstance(entry, Record) and reader.warning_messages == ()
    assert (entry.record_id, entry.source, entry.kind, entry.file_sha1) == (
        "declared:d/a.pdf",
        "declared",
        "archive",
        "a" * 40,
    )
    assert (entry.title, entry.date, entry.date_precision, entry.doi, entry.venue) == (
        "On a", "2021-05", "month", "10.1016/a", "ACL",
    )  # fmt: skip
    assert (entry.authors[0].last, entry.subjects, entry.arxiv_id) == ("Byron", ("cs.CL",), "1706.03762")
    assert (entry.open_access, entry.licence) == (None, None), "what is promised is the file's, not the paper's"


@pytest.mark.parametrize(
    ("said", "date"),
    [
        ({"published": "2020-03", "year": 2019}, "2020-03"),
        ({"year": 2019}, "2019"),
        ({"date": None, "year": 2019}, "2019"),
        ({}, None),
    ],
)
def test_line_gives_the_publication_date(said: dict[str, Any], date: str | None) -> None:
    _, (entry,) = read({**HERE, "title": "On a", **said})
    assert isinstance(entry, Record) and entry.date == date


def test_only_lines_with_metadata_make_records() -> None:
    """A line with only openness and license makes no record, and a record of a LaTeX source names no PDF.

    If one content has two names, a line by its SHA-1 belongs to the first name.
    """
    _, entries = read(
        {**HERE, "open_access": True, "licence": "CC-BY-4.0"},
        {"name": "s.gz", "title": "On s"},
        {"file_sha1": "a" * 40, "title": "On a"},
        {"name": "again/a.pdf", "title": "On a again"},
        {"name": "b.pdf", "title": "On b", "note": "x"},
    )
    found = [(entry.record_id, entry.file_sha1) for entry in entries if isinstance(entry, Record)]
    assert found == [("declared:d/s.gz", None), ("declared:d/a.pdf", "a" * 40), ("declared:d/again/a.pdf", "a" * 40)]
    assert len(found) == len(entries)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"record_id": "x:1"}, "record_id: reserved, the pipeline sets it; remove the key"),
        ({"deleted": None}, "deleted: reserved, the pipeline sets it; remove the key"),
        ({"open_access": None}, "open_access: null given, true or false expected"),
        ({"licence": 7}, "licence: 7 given, a text expected"),
    ],
)
def test_line_with_foreign_claim_refuses_the_drop(line: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused) as refused:
        read(HERE, {**HERE, **line})
    assert (refused.value.refusal, refused.value.detail) == ("bad_records", f"records.jsonl, line 2: {said}")


@pytest.mark.parametrize(
    ("line", "facts", "key"),
    [
        (b'{"name":"a.pdf","open_access":false,"open_access":true}', {"a.pdf": DeclaredFacts(1, False)}, "open_access"),
        (b'{"name":"a.pdf","open_access":true,"open_access":false}', {"a.pdf": DeclaredFacts(1, False)}, "open_access"),
        (
            b'{"name":"a.pdf","open_access":false,"open_\\u0061ccess":true}',
            {"a.pdf": DeclaredFacts(1, False)},
            "open_access",
        ),
        (
            b'{"name":"a.pdf","open_access":false,"x\\u003a":1,"open_access":true}',
            {"a.pdf": DeclaredFacts(1, False)},
            "open_access",
        ),
        (
            b'{"licence":"CC-BY-NC-4.0","name":"a.pdf","licence":"CC-BY-4.0"}',
            {"a.pdf": DeclaredFacts(1, None, "CC-BY-NC-4.0")},
            "licence",
        ),
        (
            b'{"name":"a.pdf","licence":"https://creativecommons.org/licenses/by-nc-nd/4.0/","licence":"CC0"}',
            {"a.pdf": DeclaredFacts(1, None, "CC-BY-NC-ND-4.0")},
            "licence",
        ),
        (b'{"name":"a.pdf","title":"A","title":"B"}', {"a.pdf": DeclaredFacts(1)}, "title"),
        (b'{"name":"a.pdf","authors":[{"last":"A","last":"B"}]}', {"a.pdf": DeclaredFacts(1)}, "last"),
        (b'{"name":"a.pdf","name":"b.pdf","open_access":true}', {}, "name"),
        (
            b'{"name":"a.pdf","name":"b.pdf","open_access":false}',
            {"a.pdf": DeclaredFacts(1, False), "b.pdf": DeclaredFacts(1, False)},
            "name",
        ),
    ],
)
def test_repeated_keys_warn_and_take_stricter_value(line: bytes, facts: dict[str, DeclaredFacts], key: str) -> None:
    reader, _ = read(line)
    assert reader.facts == facts
    assert any(f"line 1: {key}: is given more than once" in warning for warning in reader.warning_messages)


@pytest.mark.parametrize(
    "line",
    [
        b'{"name":"a.pdf","open_access":"no","open_access":true}',
        b'{"name":"a.pdf","open_access":null,"open_access":true}',
        b'{"name":"a.pdf","licence":7,"licence":"CC0"}',
        b'{"name":"a.pdf","record_id":"crossref:1","record_id":"x"}',
    ],
)
def test_every_value_of_repeated_keys_is_checked(line: bytes) -> None:
    with pytest.raises(Refused):
        read(line)


def test_deep_line_with_repeated_keys_is_ignored() -> None:
    reader, entries = read(b'{"name":"a.pdf","subjects":' + b"[" * 1000 + b"]" * 1000 + b',"name":"b.pdf"}')
    assert [type(entry) for entry in entries] == [Dropped] and not reader.facts
