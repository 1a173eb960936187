"""What the files of a snapshot must agree on (SEMANTICS: Verify): whoever changes one of them has to change all, each rightly.

Paragraphs and spans are held for one group of files at a time: files whose numbers have one remainder hold the same papers.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from s2corpus.rules.split import Split as SplitRules
from s2corpus.snapshot import report
from s2corpus.snapshot.documents import IDENTIFIERS
from s2corpus.text.layout import blocks, document_text, lines_of, units_of_parse
from s2corpus.text.near_duplicates import text_key
from s2corpus.text.splits import Split, bounds, split_by_date

SHOWN = 100
"""faults of one kind that are shown"""
_DERIVED = ("editorial", "years", "licences", "oa_evidence", "fields_of_study")


def _hash(*values: Any) -> int:
    return int.from_bytes(hashlib.blake2b(orjson.dumps(values), digest_size=8).digest())


@dataclass(slots=True)
class _Indexed:
    """What the index says of a document."""

    set: str
    described: int
    """hash of title, identifiers, year and fields of study"""
    text_key: int
    sha1: str | None


@dataclass(slots=True)
class Agreement:
    """Held against each other: index, metadata, parses, documents, graph and statistics."""

    rules: Mapping[str, Any]
    as_of: str
    published: report.Published = field(default_factory=report.Published)
    index: dict[str, _Indexed] = field(default_factory=dict)
    headed: dict[str, int] = field(default_factory=dict)
    """document → hash of title and abstract, as its metadata have them"""
    cites: Counter[str] = field(default_factory=Counter)
    """paper → sum of the hashes of what it cites, by its metadata, less those by the graph"""
    cited: Counter[str] = field(default_factory=Counter)
    """paper → sum of the hashes of who cites it, by the others' metadata, less those by its own"""
    linked: Counter[str] = field(default_factory=Counter)
    """paper → sum of the hashes of its linked entries, by its parses, less those by the graph"""
    lines: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    """document → hashes of the lines of its parses: of one group of files"""
    paragraphs: set[int] = field(default_factory=set)
    """hashes of the parses' paragraphs with citations: of one group of files"""
    files: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """document → SHA-1s of its parses' files: of one group of files"""

    def next_group(self) -> None:
        """Forget what only files of one group need."""
        self.lines.clear()
        self.paragraphs.clear()
        self.files.clear()

    def add_index(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        """Take the rows of the index; yield documents whose split is not that of their date, or whose text is there twice."""
        texts: dict[int, str] = {}
        by_date = self.rules["clean.profile"] != "recipe-2024"
        rules = {name.removeprefix("split."): v for name, v in self.rules.items() if name.startswith("split.")}
        borders = bounds(SplitRules(**rules), datetime.fromisoformat(self.as_of))
        for row in rows:
            year = int(row["date"][:4]) if row["date"] else None
            named = [row[name] for name in ("title", *IDENTIFIERS)]
            described = _hash(*named, year, row["fields_of_study"] or None)
            self.index[row["id"]] = _Indexed(row["set"], described, row["text_key"], row["sha1"])
            if row["year"] != year:
                yield f"document {row['id']} of {row['date']} has the year {row['year']}"
            if by_date:
                split = split_by_date(row["date"], *borders)
                if split is not Split.UNDATED and split != row["split"]:
                    yield f"document {row['id']} of {row['date']} is in {row['split']}; its date says {split}"
                first = texts.setdefault(row["text_key"], row["id"])
                if first != row["id"]:
                    yield f"documents {first} and {row['id']} have one text"

    def metadata(self, value: Mapping[str, Any]) -> Iterator[str]:
        """Take a paper's metadata; yield what the index says otherwise."""
        paper = value["paper_id"]
        for other in value["outbound_citations"]:
            self.cites[paper] += _hash(other)
            self.cited[other] += _hash(paper)
        for other in value["inbound_citations"]:
            self.cited[paper] -= _hash(other)
        if (known := self.index.get(paper)) is None:
            return
        named = [value[name] for name in ("title", *IDENTIFIERS)]
        if known.described != _hash(*named, value["year"], value["mag_field_of_study"]):
            yield f"title, identifiers, year or fields of study of document {paper} are others in the index"
        self.headed[paper] = _hash(document_text(value["title"] or "", value["abstract"] or ""))

    def parse(self, kind: str, value: Mapping[str, Any]) -> None:
        """Take a parse."""
        paper = value["paper_id"]
        for ref_id, entry in value["bib_entries"].items():
            if entry.get("link") is not None:
                self.linked[paper] += _hash(kind, ref_id, entry["link"])
        parts = [*value["abstract"], *value["body_text"], *value.get("back_matter", ())]
        for number, paragraph in enumerate(parts):
            if paragraph.get("cite_spans"):
                self.paragraphs.add(_hash(paper, kind, number, paragraph["text"]))
        if (known := self.index.get(paper)) is not None and known.set == "s2orc":
            units = units_of_parse(value, drop_citations=self.rules["clean.citations"] == "drop")
            self.lines[paper].update(_hash(line) for block in blocks(units)[0] for line in block.lines)
            self.files[paper].add(str(value["_pdf_hash"]))

    def document(self, value: Mapping[str, Any]) -> Iterator[str]:
        """Yield what a document's text contradicts: its metadata, its parses, the index."""
        known = self.index.get(value["id"])
        if known is None:
            return
        if text_key(value["text"]) != known.text_key:
            yield f"the text of document {value['id']} is not the one that the index has the key of"
        if known.set == "s2orc" and known.sha1 != value["sha1"]:
            yield f"document {value['id']} is from file {value['sha1']}, the index says {known.sha1}"
        if self.rules["clean.profile"] == "recipe-2024":
            return
        title, abstract, body = lines_of(value["text"])
        if self.headed.get(value["id"], 0) != _hash(f"{title}\n\n{abstract}"):
            yield f"document {value['id']} begins with another title or abstract than its metadata have"
        if known.set == "s2orc":
            if value["sha1"] not in self.files[value["id"]]:
                yield f"document {value['id']} is from file {value['sha1']}, of which it has no parse"
            read = self.lines[value["id"]]
            if any(_hash(line) not in read for block in body for line in block):
                yield f"document {value['id']} has a line that is in no parse of it"

    def link(self, row: Mapping[str, Any], cited: set[str]) -> None:
        """Take a row of graph/links; `cited` are the papers that the same paper is known to cite so far."""
        paper, other = row["paper_id"], row["cited_paper_id"]
        self.linked[paper] -= _hash(row["parse_kind"], row["ref_id"], other)
        counts = row["warning"] is None or row["warning"] in self.rules["link.count_warnings"]
        if counts and other not in cited:
            cited.add(other)
            self.cites[paper] -= _hash(other)

    def context(self, row: Mapping[str, Any]) -> bool:
        """Whether a row of graph/contexts is a paragraph of its parse."""
        return _hash(row["paper_id"], row["parse_kind"], row["paragraph"], row["text"]) in self.paragraphs

    def graph(self) -> Iterator[tuple[str, str]]:
        """(file, what) of papers whose citations are not the same everywhere, once all files were taken."""
        for path, sums, what in (
            ("graph/links", self.cites, "cites others there than its metadata say"),
            ("corpus/metadata", self.cited, "is cited by others than its inbound_citations say"),
            ("graph/links", self.linked, "has entries linked otherwise there than in its parses"),
        ):
            for paper in sorted(paper for paper, rest in sums.items() if rest)[:SHOWN]:
                yield path, f"paper {paper} {what}"

    def statistics(self, stats: Mapping[str, Any]) -> Iterator[str]:
        """What stats.json says otherwise than the index."""
        counted = report.stats(self.published, (), {}, {}, {})
        for name in _DERIVED:
            if stats[name] != counted[name]:
                differ = {k for k in {*stats[name], *counted[name]} if stats[name].get(k) != counted[name].get(k)}
                shown = ", ".join(f"{k}: {stats[name].get(k, 0)} of {counted[name].get(k, 0)}" for k in sorted(differ))
                yield f"its {name} are not those of the index ({shown or 'another order'})"
        funnel = {(row["stage"], row["outcome"]): row["count"] for row in stats["funnel"]}
        for (set_, split), documents in sorted(self.published.documents.items()):
            if funnel.get((f"split {set_}", split)) != documents:
                yield f"its funnel has {funnel.get((f'split {set_}', split))} documents of {set_} {split}, not {documents}"
