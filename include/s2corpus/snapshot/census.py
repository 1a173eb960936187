"""Count the contents of the corpus by paper while its files are written, for the tables of the S2ORC paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from s2corpus.snapshot import rights
from s2corpus.snapshot.agreement import compare_forms, read_facts
from s2corpus.snapshot.documents import IDENTIFIERS
from s2corpus.snapshot.removed import SECTIONS
from s2orc_parse.parse_model import ParseKind

SCHEMA = pa.schema(
    [
        pa.field("what", pa.string(), nullable=False),
        pa.field("which", pa.string(), nullable=False),
        pa.field("count", pa.int64(), nullable=False),
    ]
)
"""Counts as a table: the counted property, its value and the number."""
KINDS = tuple(kind.value for kind in ParseKind)
NO_FIELD = "n/a"
_PUBLISHERS = {ParseKind.JATS.value, ParseKind.ELSEVIER.value}


@dataclass(slots=True)
class Census:
    """Counts over released papers by (property, value). The sum of two censuses is the census of all their papers.

    A full text is a released parse with body text. A closed file is not counted, because only its bibliography is released.
    """

    text_from: Sequence[str]
    """kinds of full text in order of preference; the first available kind gives the tokens (`clean.text_from`)"""
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, paper: Mapping[str, Any]) -> None:
        """Count a released paper of `rows.read_released_papers`."""
        for what, which in self._list_properties(paper):
            self.counts[what, which] += 1
        if paper["abstract"]:
            self.counts["tokens", "abstract"] += len(paper["abstract"].split())
        mentioned: set[str] = set()
        for kind, parse in paper["parses"].items():
            mentioned |= self._add_parse(kind, parse)
        forms = paper["parses"] if len(paper["parses"]) > 1 else {}
        for pair, name, left, right in compare_forms({kind: read_facts(parse) for kind, parse in forms.items()}):
            items = {"common": (left & right).total(), "items": (left | right).total()}
            self._add(f"agreement.{name}", "/".join(pair), papers=1, equal=int(left == right), **items)
        self.counts["citations", "pairs"] += len(paper["outbound"])
        self.counts["citations", "mentioned"] += len(mentioned.intersection(paper["outbound"]))
        if first := next(
            (kind for kind in self.text_from if kind in paper["parses"] and paper["parses"][kind]["body_text"]), None
        ):
            words = sum(len(p["text"].split()) for p in paper["parses"][first]["body_text"])
            self.counts["tokens", "body"] += words
            self.counts["body_words", _find_field(paper)] += words

    def add_removed(self, paper: Mapping[str, Any], row: Mapping[str, Any]) -> None:
        """Count a row of `removed.rows`."""
        part, words = f"{row['rule']}: {row['kind']}", row["words"] or 0
        self._add("removed", part, parts=1, words=words)
        if row["rule"] == SECTIONS:
            self.counts["section_words", _find_field(paper)] += words

    @staticmethod
    def _list_properties(paper: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield each (property, value) that counts the paper."""
        full = {kind for kind, parse in paper["parses"].items() if parse["body_text"]}
        has = {
            "pdf": paper["canonical_pdf"],
            "bibliography": any(parse["bib_entries"] for parse in paper["parses"].values()),
            "publisher_full_text": full & _PUBLISHERS,
            "full_text": full,
            "publisher_abstract": paper["publisher_abstract"],
            "abstract": paper["abstract"],
            **{name: paper[name] for name in IDENTIFIERS},
        }
        fields = paper["fields_of_study"] or ()
        year = paper["date"][:4] if paper["date"] else "n/a"
        yield "papers", "all"
        yield from (("papers", name) for name, value in has.items() if value)
        yield from (("full_text", kind) for kind in full)
        yield "field", _find_field(paper)
        yield "year", year
        if len(fields) > 1:
            yield "papers", "several_fields"
        if full:
            yield "field_full_text", _find_field(paper)
            yield "year_full_text", year
            yield "license", paper["license"]
        for row in rights.rows(paper):
            yield "license_of", f"{row['of']}: {row['license']}"

    def _add_parse(self, kind: str, parse: Mapping[str, Any]) -> set[str]:
        """Count a released parse; return the papers that its text mentions."""
        entries = parse["bib_entries"]
        linked = sum(entry["link"] is not None for entry in entries.values())
        self._add("all_parses", kind, parses=1, entries=len(entries), linked=linked)
        if not parse["body_text"]:
            return set()
        abstract, body = (_spans(parse[part]) for part in ("abstract", "body_text"))
        paragraphs = {"abstract_paragraphs": len(parse["abstract"]), "body_paragraphs": len(parse["body_text"])}
        spans = {"abstract_spans": len(abstract), "body_spans": len(body)}
        self._add("parses", kind, parses=1, entries=len(entries), linked=linked, **paragraphs, **spans)
        mentioned = {entries[ref_id]["link"] for ref_id in (*abstract, *body) if ref_id in entries}
        return mentioned - {None}

    def _add(self, what: str, kind: str, **counts: int) -> None:
        for name, count in counts.items():
            self.counts[f"{what}.{name}", kind] += count

    def table(self) -> pa.Table:
        """Return the counts, sorted."""
        rows = [{"what": what, "which": which, "count": n} for (what, which), n in sorted(self.counts.items())]
        return pa.Table.from_pylist(rows, SCHEMA)


def sum_tables(tables: Iterable[pa.Table]) -> Counter[tuple[str, str]]:
    """Return the sum of counts that `Census.table` wrote."""
    counts: Counter[tuple[str, str]] = Counter()
    for table in tables:
        for row in table.to_pylist():
            counts[row["what"], row["which"]] += row["count"]
    return counts


def _find_field(paper: Mapping[str, Any]) -> str:
    """Return the primary field of study of a paper."""
    return str(next(iter(paper["fields_of_study"] or ()), NO_FIELD))


def _spans(paragraphs: Collection[Mapping[str, Any]]) -> list[str]:
    """Return the ref_id of every linked citation span."""
    return [
        span["ref_id"] for paragraph in paragraphs for span in paragraph["cite_spans"] if span["ref_id"] is not None
    ]
