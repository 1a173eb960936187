"""The filter selects the papers of the corpus; the first rule that applies decides (SPEC §6, S2ORC §2.5).

The stage takes papers down by any of their identifiers, and judges their abstract and one full text.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pyarrow as pa
import pytest

from s2corpus.errors import UserError
from s2corpus.outcomes import FilterOutcome
from s2corpus.own_rules import FILTERS
from s2corpus.papers.filter import Paper, decide
from s2corpus.pipeline.run import Run
from s2corpus.rules import FilterRules
from s2corpus.spec import ReleaseSpec
from s2corpus.stages.filter import FilterStage, read_suppressions
from s2corpus.storage.lake import Lake
from s2corpus.tables.papers import ALIASES, MEMBERS, PAPERS
from s2corpus.tables.schema import Table
from s2corpus.tables.texts import FILTERED, FULLTEXTS

SHA1, OTHER = "a1" * 20, "b2" * 20
TAKEN, KEPT, FORMER = "0" * 14 + "1", "0" * 14 + "2", "f" * 15
ENGLISH = "We present a large corpus of scientific papers with full text, citations and references, and show how it was made. "
GERMAN = "Wir stellen eine große Sammlung wissenschaftlicher Arbeiten mit Volltext und Zitaten vor und zeigen, wie sie entstand. "
P_ENGLISH = decide({"p"}, set(), FilterRules(), title="T", author_count=1, text=ENGLISH).english or 0


@pytest.mark.parametrize(
    ("title", "authors", "text", "suppressed", "rules", "outcome"),
    [
        ("T", 1, ENGLISH, "10.18653/v1/x", {}, "suppressed"), (None, 0, "", "", {}, "no_title"), ("T", 1, ENGLISH[:100], "", {}, "kept"),
        ("T", 1, ENGLISH, "", {"min_english": P_ENGLISH + 1e-9}, "not_english"),
    ],
)  # fmt: skip
def test_first_matching_rule_decides(
    title: str | None, authors: int, text: str, suppressed: str, rules: dict[str, float], outcome: str
) -> None:
    listed, limits = {suppressed} - {""}, FilterRules.model_validate(rules)
    found = decide(["p", "10.18653/v1/x"], listed, limits, title=title, author_count=authors, text=text)
    assert (found.outcome, found.characters, found.disputed) == (outcome, len(text), None)
    assert (found.english is not None) == (outcome in ("kept", "not_english"))


def row(table: Table, **values: Any) -> dict[str, Any]:
    """Return a complete row from the columns that matter."""
    lists: dict[str, Any] = {field.name: [] for field in table.schema if pa.types.is_nested(field.type)}
    words = {field.name: "" for field in table.schema if not field.nullable and pa.types.is_string(field.type)}
    return {**dict.fromkeys(table.schema.names), **lists, **words, **values}


def run_filter(
    lake: Lake,
    scratch: Path,
    suppressed: Mapping[str, object] | None = None,
    *,
    spec: Mapping[str, Any] | None = None,
    texts: Mapping[str, list[str]] | None = None,
    **paper: Any,
) -> dict[str, dict[str, Any]]:
    """Return the rows of two papers. The first has a LaTeX source, which no record names, a former id, and these full texts."""
    rules = ReleaseSpec.model_validate({"name": "t", **(spec or {})})
    run = Run(rules, datetime(2023, 2, 1, tzinfo=UTC), lake, scratch)
    run.lake.put(f"releases/{run.release_id}/suppress.jsonl", json.dumps(suppressed).encode() if suppressed else b"")
    author = {"first": "Ada", "middle": [], "last": "Lovelace", "suffix": ""}
    access = {"sha1": OTHER, "kind": "latex", "open_access": True, "searches": []}
    common = {"title": "On the Engine", "authors": [author], "abstract": ENGLISH, "open_access": True}
    tables: dict[Table, list[dict[str, Any]]] = {
        PAPERS: [row(PAPERS, paper_id=TAKEN, **{**common, "access": [access], **paper}), row(PAPERS, paper_id=KEPT, **common)],
        MEMBERS: [
            row(MEMBERS, kind="archive", paper_id=TAKEN, record_id="crossref:1", doi="10.1016/j.engine.1843", file_sha1=SHA1),
            row(MEMBERS, kind="archive", paper_id=KEPT, record_id="crossref:2", doi="10.1016/j.other.1844"),
        ],
        ALIASES: [row(ALIASES, alias=FORMER, paper_id=TAKEN)],
        FULLTEXTS: [
            row(FULLTEXTS, paper_id=TAKEN, parse_kind=kind, file_sha1=SHA1, parse_id=f"{SHA1}:{kind}:1", open_access=True,
                parse=orjson.dumps({"body_text": [{"text": text} for text in paragraphs]}))
            for kind, paragraphs in sorted((texts or {}).items())
        ],
    }  # fmt: skip
    for table, rows in tables.items():
        run.table(table).write(0, rows)
        run.table(table).commit([0], {"paper_shards": 1})
    for shard in FilterStage().plan(run):
        FilterStage().work(run, shard)
    counts = FilterStage().finish(run)
    found = {one["paper_id"]: one for one in run.table(FILTERED).read().to_pylist()}
    assert {f"outcome.{outcome}" for outcome in FilterOutcome} & counts.keys()
    assert sum(n for name, n in counts.items() if name.startswith("outcome.")) == counts["rows"] == len(found)
    return found


@pytest.mark.parametrize(
    "by",
    [
        {"paper_id": TAKEN}, {"paper_id": FORMER}, {"sha1": f" {SHA1.upper()} "}, {"sha1": OTHER},
        {"doi": "https://doi.org/10.1016/J.ENGINE.1843"},
    ],
    ids=str,
)  # fmt: skip
def test_any_identifier_suppresses_exactly_its_paper(lake: Lake, tmp_path: Path, by: dict[str, str]) -> None:
    """The identifiers are current and former ids, DOIs of its records, and the SHA-1s of all its files, in any case."""
    rows = run_filter(lake, tmp_path, {**by, "reason": "the author asked for it"})
    assert {name: one["outcome"] for name, one in rows.items()} == {TAKEN: "suppressed", KEPT: "kept"}


ORDER, BOTH = ["jats", "latex", "pdf"], f"{ENGLISH}\n{ENGLISH}"


@pytest.mark.parametrize(
    ("spec", "texts", "paper", "outcome", "judged"),
    [
        ({"filter": {"min_characters": len(ENGLISH) + 1}}, {}, {}, "short_text", ENGLISH),
        ({"filter": {"min_characters": len(BOTH)}}, {"latex": [ENGLISH]}, {}, "kept", BOTH),
        # The first full text in the order of the spec is judged, with the abstract.
        ({"clean": {"text_from": ORDER}}, {"pdf": [GERMAN], "latex": [ENGLISH]}, {"abstract": None}, "kept", ENGLISH),
    ],
)
def test_stage_judges_paper_by_the_rules_of_the_spec(
    lake: Lake, tmp_path: Path, spec: Any, texts: dict[str, list[str]], paper: dict[str, Any], outcome: str, judged: str
) -> None:
    found = run_filter(lake, tmp_path, spec=spec, texts=texts, **paper)[TAKEN]
    assert (found["outcome"], found["characters"]) == (outcome, len(judged))
    assert (found["english"] is None) == (outcome == "short_text")


def test_rule_of_a_package_judges_passing_papers(lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It applies after the built-in rules (docs/own-filter.md)."""
    judged: list[str] = []

    def drops(paper: Paper, options: Mapping[str, Any]) -> bool:
        judged.append(paper.paper_id)
        return options["word"] in paper.text

    monkeypatch.setitem(FILTERS._loaded, "word", SimpleNamespace(VERSION=1, drops=drops))
    rule = {"name": "word", "version": 1, "options": {"word": "corpus"}}
    rows = run_filter(lake, tmp_path, {"paper_id": TAKEN, "reason": "asked"}, spec={"filter": {"rules": [rule]}})
    assert {name: one["outcome"] for name, one in rows.items()} == {TAKEN: "suppressed", KEPT: "rule:word"}
    assert judged == [KEPT]


NEEDED = "expected one of doi, sha1, paper_id and a reason; correct the line"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (b'\n\n{"sha1": "a"}\n{"reason": "asked"}', f"line 4: {NEEDED}"),
        (b"{", "line 1: not JSON (unexpected end of data: line 1 column 2 (char 1)); correct the line"),
    ],
)
def test_line_without_identifier_stops_the_release(lines: bytes, message: str) -> None:
    with pytest.raises(UserError) as refused:
        read_suppressions(lines)
    assert str(refused.value) == f"suppress.jsonl, {message}"


def test_identifiers_are_normalized() -> None:
    lines = b'\n{"doi": " https://doi.org/10.1016/X ", "sha1": "ABC"}\n  \n{"paper_id": "P7 ", "doi": ""}'
    assert read_suppressions(lines) == {"10.1016/x", "abc", "p7"}
