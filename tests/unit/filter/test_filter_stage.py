"""The stage filter takes papers down by any of their identifiers, and judges the right text (SPEC §6)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest

from s2corpus.errors import UserError
from s2corpus.papers.filter import FilterOutcome
from s2corpus.pipeline.run import Run, Shard
from s2corpus.spec import ReleaseSpec
from s2corpus.stages.filter import FilterStage, _read_body, read_suppressions
from s2corpus.storage.lake import Lake
from s2corpus.tables.papers import ALIASES, MEMBERS, PAPERS
from s2corpus.tables.schema import Table
from s2corpus.tables.texts import FILTERED, FULLTEXTS

SHA1, OTHER = "a1" * 20, "b2" * 20
TAKEN, KEPT = "0" * 14 + "1", "0" * 14 + "2"
FORMER = "f" * 15
ENGLISH = "We present a large corpus of scientific papers with full text, citations and references, and show how it was made. "
GERMAN = "Wir stellen eine große Sammlung wissenschaftlicher Arbeiten mit Volltext und Zitaten vor und zeigen, wie sie entstand. "


def row(table: Table, **values: Any) -> dict[str, Any]:
    """Return a complete row from the columns that matter."""
    lists: dict[str, Any] = {field.name: [] for field in table.schema if pa.types.is_nested(field.type)}
    words = {field.name: "" for field in table.schema if not field.nullable and pa.types.is_string(field.type)}
    return {**dict.fromkeys(table.schema.names), **lists, **words, **values}


def filtered(
    lake: Lake,
    scratch: Path,
    suppressed: Mapping[str, object] | None = None,
    *,
    spec: Mapping[str, Any] | None = None,
    texts: Mapping[str, str] | None = None,
    abstract: str | None = ENGLISH,
    paper: Mapping[str, Any] | None = None,
    alias_of: str = KEPT,
) -> dict[str, dict[str, Any]]:
    """Return the outcomes of two papers.

    One has two PDFs (the second is not canonical), a former id, a DOI, and these full texts.
    """
    run = Run(
        ReleaseSpec.model_validate({"name": "t", **(spec or {})}), datetime(2023, 2, 1, tzinfo=UTC), lake, scratch
    )
    run.lake.put(f"releases/{run.release_id}/suppress.jsonl", json.dumps(suppressed).encode() if suppressed else b"")
    author = {"first": "Ada", "middle": [], "last": "Lovelace", "suffix": ""}
    access = {"sha1": OTHER, "kind": "pdf", "open_access": True, "looks": []}
    papers = [
        row(PAPERS, paper_id=TAKEN, title="On the Analytical Engine", authors=[author], abstract=abstract, open_access=True,
            access=[access]),
        row(PAPERS, paper_id=KEPT, title="On another engine", authors=[author], abstract=ENGLISH, open_access=True),
    ]  # fmt: skip
    papers[0] |= paper or {}
    run.table(PAPERS).write(0, papers)
    members = [
        row(
            MEMBERS,
            kind="archive",
            paper_id=TAKEN,
            record_id="crossref:10.1016/j.engine.1843",
            doi="10.1016/j.engine.1843",
            file_sha1=SHA1,
        ),
        row(
            MEMBERS,
            kind="archive",
            paper_id=KEPT,
            record_id="crossref:10.1016/j.other.1844",
            doi="10.1016/j.other.1844",
        ),
    ]
    run.table(MEMBERS).write(0, members)
    run.table(ALIASES).write(
        0, [row(ALIASES, alias=FORMER, paper_id=TAKEN), row(ALIASES, alias="e" * 15, paper_id=alias_of)]
    )
    run.table(FULLTEXTS).write(
        0,
        [
            row(FULLTEXTS, paper_id=TAKEN, parse_kind=kind, file_sha1=SHA1, parse_id=f"{SHA1}:{kind}:1", open_access=True,
                parse=orjson.dumps({"body_text": [{"text": text}]}))
            for kind, text in sorted((texts or {}).items())
        ],
    )  # fmt: skip
    for table in (PAPERS, MEMBERS, ALIASES, FULLTEXTS):
        run.table(table).commit([0], {"paper_shards": 1})
    for shard in FilterStage().plan(run):
        assert shard == Shard(0, shard.params)
        FilterStage().work(run, shard)
    counts = FilterStage().finish(run)
    rows = {one["paper_id"]: one for one in run.table(FILTERED).read().to_pylist()}
    assert sum(counts.get(f"outcome.{outcome}", 0) for outcome in FilterOutcome) == counts["rows"] == len(rows)
    return rows


@pytest.mark.parametrize(
    "by",
    [
        {"paper_id": TAKEN},
        {"paper_id": FORMER},
        {"sha1": SHA1},
        {"sha1": SHA1.upper()},
        {"sha1": f" {SHA1} "},
        {"sha1": OTHER},
        {"doi": "10.1016/j.engine.1843"},
        {"doi": "https://doi.org/10.1016/J.ENGINE.1843"},
        {"doi": "10.1016/j.nobodys.1845", "paper_id": TAKEN},
    ],
    ids=str,
)
def test_any_identifier_suppresses_exactly_its_paper(lake: Lake, tmp_path: Path, by: dict[str, str]) -> None:
    """The names are current and former ids, DOIs of its records, and the SHA-1s of all its PDFs, in any case."""
    rows = filtered(lake, tmp_path, {**by, "reason": "the author asked for it"})
    assert {name: one["outcome"] for name, one in rows.items()} == {TAKEN: "suppressed", KEPT: "kept"}


def test_without_list_no_paper_is_suppressed(lake: Lake, tmp_path: Path) -> None:
    rows = filtered(lake, tmp_path)
    assert {one["outcome"] for one in rows.values()} == {"kept"}
    assert {one["characters"] for one in rows.values()} == {len(ENGLISH)}


@pytest.mark.parametrize("line", [b"{", b"[]", b'{"reason": "r"}', b'{"sha1": ""}', b'{"doi": 7}', b'"10.1/x"'])
def test_line_without_identifier_stops_the_release(line: bytes) -> None:
    """A line without a valid name must not let its paper pass."""
    with pytest.raises(UserError, match=r"suppress\.jsonl, line 3: "):
        read_suppressions(b'{"sha1": "a"}\n\n' + line)


@pytest.mark.parametrize(
    ("order", "outcome"),
    [(["latex", "pdf"], "kept"), (["pdf", "latex"], "not_english"), (["jats", "pdf"], "not_english")],
)
def test_text_is_judged_in_the_order_of_the_spec(lake: Lake, tmp_path: Path, order: list[str], outcome: str) -> None:
    texts = {"pdf": GERMAN * 5, "latex": ENGLISH * 5}
    rest = [kind for kind in ("pdf", "latex", "jats", "elsevier") if kind not in order]
    rows = filtered(lake, tmp_path, spec={"clean": {"text_from": [*order, *rest]}}, texts=texts, abstract=None)
    assert rows[TAKEN]["outcome"] == outcome
    assert rows[TAKEN]["characters"] == len((ENGLISH if outcome == "kept" else GERMAN) * 5)


def test_abstract_and_body_are_judged_together(lake: Lake, tmp_path: Path) -> None:
    rows = filtered(lake, tmp_path, texts={"pdf": ENGLISH}, abstract="Short.")
    assert (rows[TAKEN]["outcome"], rows[TAKEN]["characters"]) == ("kept", len(f"Short.\n{ENGLISH}"))
    assert rows[KEPT]["characters"] == len(ENGLISH), "a paper without full text has its abstract alone"


def test_minimum_length_is_from_the_spec(lake: Lake, tmp_path: Path) -> None:
    rules = {"filter": {"min_characters": len(ENGLISH) + 1}}
    assert {one["outcome"] for one in filtered(lake, tmp_path, spec=rules).values()} == {"short_text"}


def test_every_identifier_counts_and_wrong_line_is_named() -> None:
    good = b'\n{"doi": "https://doi.org/10.1016/X", "sha1": "ABC", "reason": "asked"}\n  \n{"paper_id": "P7 ", "doi": ""}\n'
    assert read_suppressions(good) == {"10.1016/x", "abc", "p7"}
    assert read_suppressions(b'{"doi": "Not A Doi"}') == {"not a doi"}
    for wrong in (b"nonsense", b'{"doi": 7}', b"[]", b'{"reason": "asked"}'):
        with pytest.raises(UserError, match=r"suppress\.jsonl, line 5: "):
            read_suppressions(good + wrong)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"[]", "line 1: expected one of doi, sha1, paper_id and a reason; correct the line"),
        (b'{"doi": ""}', "line 1: expected one of doi, sha1, paper_id and a reason; correct the line"),
        (
            b'\n\n{"sha1": "a"}\n{"reason": "asked"}',
            "line 4: expected one of doi, sha1, paper_id and a reason; correct the line",
        ),
        (b"{", "line 1: not JSON (unexpected end of data: line 1 column 2 (char 1)); correct the line"),
    ],
)
def test_error_names_the_wrong_line(line: bytes, said: str) -> None:
    with pytest.raises(UserError) as refused:
        read_suppressions(line)
    assert str(refused.value) == f"suppress.jsonl, {said}"


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (b"", set()),
        (b" \n\n", set()),
        (b'{"doi": " 10.1016/X ", "sha1": "A", "paper_id": "B"}', {"10.1016/x", "a", "b"}),
        (b'{"doi": " Odd "}', {"odd"}),
        (b'{"sha1": "10.1016/X"}', {"10.1016/x"}),
        (b'{"paper_id": "https://doi.org/10.1016/X"}', {"https://doi.org/10.1016/x"}),
    ],
)
def test_identifiers_are_normalized(line: bytes, names: set[str]) -> None:
    assert read_suppressions(line) == names


def test_row_of_a_paper_has_all_columns(lake: Lake, tmp_path: Path) -> None:
    """Its text is the abstract and all paragraphs of one full text."""
    rules = {"filter": {"min_characters": 20}, "clean": {"text_from": ["latex", "pdf", "jats", "elsevier"]}}
    rows = filtered(lake, tmp_path, texts={"latex": "Not so long.", "pdf": ENGLISH}, abstract="Short.", spec=rules)
    whole = {"paper_id": TAKEN, "outcome": "short_text", "characters": 6 + 1 + 12, "english": None, "disputed": None}
    assert rows[TAKEN] == whole
    paragraphs: list[Any] = [
        {"parse_kind": "pdf", "parse": orjson.dumps({"body_text": [{"text": "First."}, {"text": ENGLISH}]})}
    ]
    assert _read_body(paragraphs, ["pdf"]) == f"First.\n{ENGLISH}"
    assert _read_body([], ["pdf"]) == ""


@pytest.mark.parametrize(
    ("spec", "outcome"),
    [
        ({"min_characters": len(ENGLISH)}, "kept"),
        ({"min_characters": len(ENGLISH) + 1}, "short_text"),
        ({"min_english": 1.0}, "not_english"),
        ({"min_english": 0.0}, "kept"),
    ],
)
def test_each_limit_is_from_the_spec(lake: Lake, tmp_path: Path, spec: dict[str, Any], outcome: str) -> None:
    rows = filtered(lake, tmp_path, spec={"filter": spec})
    assert rows[KEPT]["outcome"] == outcome
    assert (rows[KEPT]["english"] is None) is (outcome == "short_text")


def test_paper_without_title_or_authors_is_dropped(lake: Lake, tmp_path: Path) -> None:
    for missing, outcome in (
        ({"title": None}, "no_title"),
        ({"authors": None}, "no_authors"),
        ({"authors": []}, "no_authors"),
    ):
        assert filtered(lake, tmp_path, paper=missing)[TAKEN]["outcome"] == outcome


def test_former_id_of_another_bucket_suppresses_nothing(lake: Lake, tmp_path: Path) -> None:
    rows = filtered(lake, tmp_path, {"paper_id": "e" * 15}, alias_of="d" * 15)
    assert {one["outcome"] for one in rows.values()} == {"kept"}
