"""Build a benchmark of record matching from records of complete journals, and score the clusters of any tool.

    python -m devtools.bench.journals build crossref=works.json dblp=dblp.xml.gz pubmed=journal.xml \
        --only dblp:journals/tois/ --out bench
    corpus cluster --records bench/records.jsonl --out clusters.jsonl
    python -m devtools.bench.journals score bench clusters.jsonl

A source is `NAME=FILE`, or `NAME:READER=FILE`; a folder means its files. The reader is a metadata source of docs/sources.md,
or `export` for a search export of a database (see exports.py). The gold is the DOI that each source prints. Records get
no identifier, so that only metadata can match them. These entries are counted, but are not in the benchmark:

- `no_doi`: the source prints no DOI; `shared_doi`: several records of the source print it, as abstracts of a supplement do
- `repeated`: an entry with this id was read before; `withdrawn`: the source deleted it; `elsewhere`: excluded by --only
- `unreadable_title`: no title, or only the name of its journal; other words are the readers' reasons (docs/sources.md)

`records.jsonl` has the records in the generic form of docs/sources.md, `gold.csv` their DOIs. The same files give the
same bytes. `score` takes CSV, JSON lines or Parquet; the first two columns are record and cluster. A record that the file
lacks is a separate cluster.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import duckdb
import orjson

from devtools.bench.exports import read_export
from s2corpus import sources
from s2corpus.errors import UserError
from s2corpus.sources import Deleted, Dropped, Entry, Record

USED = "used"
_FIELDS = ("date", "venue", "journal", "volume", "issue", "pages", "issns", "type", "document")
Pairs = Counter[tuple[str, str]]


@dataclass
class Part:
    """The records of one source, by DOI, and the outcomes of its entries."""

    name: str
    records: dict[str, list[Record]] = field(default_factory=lambda: defaultdict(list))
    outcomes: Counter[str] = field(default_factory=Counter)
    seen: set[str] = field(default_factory=set)

    def add(self, entry: Entry, only: list[str]) -> None:
        """Count an entry; store the record if it has a DOI."""
        outcome = "withdrawn" if isinstance(entry, Deleted) else None
        if isinstance(entry, Dropped):
            outcome = str(entry.reason)
        elif isinstance(entry, Record):
            if only and not entry.record_id.startswith(tuple(only)):
                outcome = "elsewhere"
            elif entry.record_id in self.seen:
                outcome = "repeated"
            elif not entry.doi:
                outcome = "no_doi"
            elif not entry.title:
                outcome = "unreadable_title"
            else:
                self.records[entry.doi].append(entry)
            self.seen.add(entry.record_id)
        if outcome:
            self.outcomes[outcome] += 1

    def select(self) -> dict[str, Record]:
        """Return the record of each DOI that only one record prints; count the outcomes."""
        used = {doi: records[0] for doi, records in self.records.items() if len(records) == 1}
        self.outcomes[USED] = len(used)
        self.outcomes["shared_doi"] = sum(len(records) for records in self.records.values() if len(records) > 1)
        return used


def build(given: list[str], only: list[str], out: Path) -> str:
    """Write the benchmark of the sources; return its counts."""
    parts: dict[str, Part] = {}
    for text in given:
        source, _, place = text.partition("=")
        name, _, reader = source.partition(":")
        if not place or not Path(place).exists():
            raise SystemExit(f"{text}: expected NAME=FILE or NAME:READER=FILE with a file or folder that exists")
        part = parts.setdefault(name, Part(name))
        for path in sorted(path for path in [Path(place), *Path(place).rglob("*")] if path.is_file()):
            for entry in read_export(path) if reader == "export" else sources.read(reader or name, path):
                part.add(entry, [prefix for prefix in only if prefix.startswith(f"{name}:")])
    if len(parts) < 2:
        raise SystemExit(f"{len(parts)} source given: expected at least two, because a pair has records of two sources")
    used = [(name, doi, record) for name, part in parts.items() for doi, record in part.select().items()]
    rows = sorted((make_id(name, record), doi, record) for name, doi, record in used)
    out.mkdir(parents=True, exist_ok=True)
    (out / "records.jsonl").write_bytes(b"".join(orjson.dumps(strip(*row)) + b"\n" for row in rows))
    with (out / "gold.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("record", "doi"), *((id_, doi) for id_, doi, _ in rows)])
    return describe(list(parts.values()), [(id_, doi) for id_, doi, _ in rows])


def make_id(name: str, record: Record) -> str:
    """Return an id that does not contain the source's own id, which may be the DOI."""
    return f"{name}:{hashlib.sha256(record.record_id.encode()).hexdigest()[:16]}"


def strip(id_: str, doi: str, record: Record) -> dict[str, Any]:
    """Return the record as its source printed it, without identifiers, abstract and fields that contain the DOI."""
    authors = [author.name() for author in record.authors]
    fields = {"title": record.original_title or record.title, **{name: getattr(record, name) for name in _FIELDS}}
    clean = {name: value for name, value in fields.items() if value and doi not in str(value).lower()}
    return {"record_id": id_, "source": id_.partition(":")[0], "kind": record.kind, "authors": authors, **clean}


def describe(parts: list[Part], gold: list[tuple[str, str]]) -> str:
    """Return the outcomes of each source's entries, the DOIs by number of sources, and the pairs."""
    counts = ((part.name, sorted((+part.outcomes).items())) for part in parts)
    lines = [f"{name}: {', '.join(f'{word} {n}' for word, n in outcomes)}" for name, outcomes in counts]
    sizes = Counter(Counter(doi for _, doi in gold).values())
    lines += [f"DOIs in {number} source{'s' * (number > 1)}: {sizes[number]}" for number in sorted(sizes)]
    lines += [f"pairs of {' and '.join(pair)}: {count}" for pair, count in sorted(count_pairs(gold).items())]
    return "\n".join(lines)


def count_pairs(groups: Iterable[tuple[str, Any]]) -> Pairs:
    """Return the number of pairs in one group by their two sources, given (record, group)."""
    members: dict[Any, Counter[str]] = defaultdict(Counter)
    for record, group in groups:
        members[group][record.partition(":")[0]] += 1
    pairs = Pairs()
    for counts in members.values():
        for a, b in combinations_with_replacement(sorted(counts), 2):
            pairs[a, b] += counts[a] * counts[b] if a != b else counts[a] * (counts[a] - 1) // 2
    return +pairs


def read_clusters(path: Path) -> list[tuple[str, str]]:
    """Return the first two columns of CSV, JSON lines or Parquet."""
    if path.suffix == ".csv":
        table = duckdb.read_csv(str(path), all_varchar=True)
    else:
        table = duckdb.read_parquet(str(path)) if path.suffix == ".parquet" else duckdb.read_json(str(path))
    return [(str(record), str(cluster)) for record, cluster in table.project("#1, #2").fetchall()]


def score(folder: Path, clusters: Path) -> Iterator[str]:
    """Yield a line for each pair of sources and one for all: pairs, precision, recall, F1."""
    with (folder / "gold.csv").open(encoding="utf-8", newline="") as file:
        gold = {row["record"]: row["doi"] for row in csv.DictReader(file)}
    rows = read_clusters(clusters)
    for record, n in Counter(record for record, _ in rows).items():
        if record not in gold or n > 1:
            expected = f"expected records of {folder}/gold.csv, each at most once"
            raise SystemExit(f"{clusters}: {record} occurs {n} times: {expected}")
    cluster_of = {record: (record,) for record in gold} | {record: ("", cluster) for record, cluster in rows}
    wanted = count_pairs(gold.items())
    made = count_pairs(cluster_of.items())
    right = count_pairs((record, (cluster_of[record], doi)) for record, doi in gold.items())
    yield f"{'sources':28} {'pairs':>8} {'found':>8} {'right':>8} {'precision':>9} {'recall':>7} {'F1':>7}"
    for pair in [*sorted(wanted | made), None]:
        n, m, r = ((counts.total() if pair is None else counts[pair]) for counts in (wanted, made, right))
        name = "all" if pair is None else " and ".join(pair)
        yield f"{name:28} {n:8} {m:8} {r:8} {r / m if m else 0:9.4f} {r / n if n else 0:7.4f} {2 * r / (n + m) if n + m else 0:7.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command")
    make = commands.add_parser("build", help="Write records.jsonl and gold.csv.")
    make.add_argument("sources", nargs="+", metavar="NAME[:READER]=FILE")
    only = "Use only records of this source with this prefix of the id."
    make.add_argument("--only", action="append", default=[], metavar="ID", help=only)
    make.add_argument("--out", type=Path, required=True)
    measure = commands.add_parser("score", help="Print precision, recall and F1 of clusters by pair of sources.")
    measure.add_argument("folder", type=Path)
    measure.add_argument("clusters", type=Path)
    args = parser.parse_args()
    if args.command == "build":
        try:
            print(build(args.sources, args.only, args.out))
        except UserError as error:
            raise SystemExit(str(error)) from None
    elif args.command == "score":
        print("\n".join(score(args.folder, args.clusters)))
    else:
        parser.print_help()


if __name__ == "__main__":
    main()
