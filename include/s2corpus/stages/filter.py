"""Decide which papers remain in the corpus (SPEC §6; S2ORC §2.5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from s2corpus.errors import UserError
from s2corpus.outcomes import FilterOutcome
from s2corpus.own_rules import FILTERS, find_dropping_rule
from s2corpus.papers.filter import Paper, decide
from s2corpus.pipeline.run import Metrics, Run, Shard, Stage, commit_all, count_outcomes
from s2corpus.storage.by_paper import ByPaper
from s2corpus.tables.papers import ALIASES, MEMBERS, PAPERS
from s2corpus.tables.texts import FILTERED, FULLTEXTS, FulltextRow
from s2orc_parse.bibliography.identifiers import normalize_doi

_PAPER_COLUMNS = ["paper_id", "title", "authors", "abstract", "access"]
_SUPPRESSION_KEYS = ("doi", "sha1", "paper_id")


class FilterStage(Stage):
    """The filter stage. It writes one outcome for each paper."""

    name = "filter"

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Write the outcome of every paper of one bucket."""
        suppressed = read_suppressions(run.lake.get(f"releases/{run.release_id}/suppress.jsonl")[0])
        identifiers = _find_suppressed(run, shard, suppressed)
        parse = ("paper_id", "parse_kind", "parse")
        fulltexts = ByPaper(run.table(FULLTEXTS).rows(parse, shard=shard.index, batch_size=64))
        own = run.spec.filter.rules
        rows = []
        for paper in run.table(PAPERS).rows(None if own else _PAPER_COLUMNS, shard=shard.index):
            paper_id = paper["paper_id"]
            parse_of_paper = _read_parse(fulltexts.at(paper_id), run.spec.clean.text_from)
            paragraphs = parse_of_paper["body_text"] if parse_of_paper else ()
            body = "\n".join(paragraph["text"] for paragraph in paragraphs)
            text = "\n".join(part for part in (paper["abstract"], body) if part)
            decision = decide(
                {paper_id, *identifiers.get(paper_id, ()), *(access["sha1"] for access in paper["access"])},
                suppressed,
                run.spec.filter,
                title=paper["title"],
                author_count=len(paper["authors"] or ()),
                text=text,
            )
            row = {"paper_id": paper_id, **asdict(decision)}
            if own and decision.outcome is FilterOutcome.KEPT:
                judged = Paper(paper_id, paper, parse_of_paper, text)
                row["outcome"] = find_dropping_rule(FILTERS, own, judged) or decision.outcome
            rows.append(row)
        run.table(FILTERED).write(shard.index, rows)

    def finish(self, run: Run) -> Metrics:
        """Commit the table; return metrics with the outcomes."""
        own = {f"outcome.{rule.outcome}": 0.0 for rule in run.spec.filter.rules}  # also if a rule drops nothing
        return commit_all(run, self.name, run.paper_shards) | own | count_outcomes(run, FILTERED)


def read_suppressions(content: bytes) -> set[str]:
    """Return the identifiers listed in `suppress.jsonl`, with lines of the form `{doi | sha1 | paper_id, reason}`.

    Raises:
        UserError: a line is invalid. The stage stops, because a suppressed paper must not be published.
    """
    listed = set()
    for number, line in enumerate(content.splitlines(), 1):
        if not line.strip():
            continue
        try:
            entry: Any = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise UserError(f"suppress.jsonl, line {number}: not JSON ({error}); correct the line") from None
        values = entry if isinstance(entry, dict) else {}
        keys = [key for key in _SUPPRESSION_KEYS if isinstance(values.get(key), str) and values[key]]
        if not keys:
            raise UserError(
                f"suppress.jsonl, line {number}: expected one of {', '.join(_SUPPRESSION_KEYS)} and a reason; correct the line"
            )
        for key in keys:
            value = entry[key].strip()
            listed.add(normalize_doi(value) or value.lower() if key == "doi" else value.lower())
    return listed


def _find_suppressed(run: Run, shard: Shard, suppressed: Collection[str]) -> dict[str, set[str]]:
    """Return the listed former ids, and listed DOIs and SHA-1s of records, by paper id.

    Aliases are one sorted part; only relevant row groups are read.
    """
    found: dict[str, set[str]] = defaultdict(set)
    if not suppressed:
        return found
    listed = pa.array(sorted(suppressed), pa.string())
    by_record = pc.field("doi").isin(listed) | pc.field("file_sha1").isin(listed)
    for member in run.table(MEMBERS).rows(["paper_id", "doi", "file_sha1"], shard=shard.index, where=by_record):
        found[member["paper_id"]].update(filter(None, (member["doi"], member["file_sha1"])))
    for row in run.table(ALIASES).rows(where=pc.field("alias").isin(listed)):
        found[row["paper_id"]].add(row["alias"])
    return found


def _read_parse(fulltexts: list[FulltextRow], order: Sequence[str]) -> dict[str, Any] | None:
    """Return a paper's first full text in the spec's order, or None."""
    if not fulltexts:
        return None
    parse: dict[str, Any] = orjson.loads(min(fulltexts, key=lambda row: order.index(row["parse_kind"]))["parse"])
    return parse
