# ruff: noqa: E501
"""Check which manipulations of a published snapshot `corpus verify` finds.

    python -m devtools.bench.tamper --lake FOLDER --snapshot ID [--only WORD …]

Each manipulation is applied to a separate copy. The manifest is rewritten, so that every size and checksum fits, unless
the manifest itself is manipulated. Each copy is verified twice: with its publication, then without it, when only
contradictions between the files can reveal the manipulation.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from s2corpus.errors import UserError
from s2corpus.ids import SnapshotId
from s2corpus.snapshot.croissant import describe_snapshot
from s2corpus.snapshot.reader import published_manifests
from s2corpus.snapshot.report import generate_files
from s2corpus.snapshot.verify import verify
from s2corpus.storage.lake import open_lake
from s2corpus.text.near_duplicates import text_key
from s2corpus_reader.files import SnapshotFile

Json = dict[str, Any]


@dataclass
class Copy:
    """A copy of a snapshot's folder to manipulate."""

    folder: Path

    def names(self, start: str) -> list[str]:
        """Return the sorted paths that start with `start`."""
        return sorted(path for p in self.folder.rglob("*") if p.is_file() and (path := self.path(p)).startswith(start))

    def path(self, file: Path) -> str:
        """Return a file's path in the snapshot."""
        return file.relative_to(self.folder).as_posix()

    def lines(self, path: str) -> list[Json]:
        """Return the objects of a file of JSON lines."""
        return [orjson.loads(line) for line in gzip.decompress((self.folder / path).read_bytes()).splitlines()]

    def write(self, path: str, lines: list[Any]) -> None:
        """Write a file of JSON lines; bytes are written unchanged."""
        content = b"".join(
            line if isinstance(line, bytes) else orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines
        )
        (self.folder / path).write_bytes(gzip.compress(content, mtime=0))

    def find(self, start: str, wanted: Callable[[Json], bool] = lambda line: True) -> tuple[str, list[Json], int]:
        """Return the first matching line below `start`: its file, the file's lines, its position."""
        for path in self.names(start):
            lines = self.lines(path)
            for place, line in enumerate(lines):
                if wanted(line):
                    return path, lines, place
        raise LookupError(f"nothing to manipulate in {start}")

    def change(
        self, start: str, change: Callable[[Json], Any], wanted: Callable[[Json], bool] = lambda line: True
    ) -> None:
        """Change the first matching line in place, or replace it by the result of `change` if that is not None."""
        path, lines, place = self.find(start, wanted)
        changed = change(lines[place])
        lines[place] = lines[place] if changed is None else changed
        self.write(path, lines)

    def table(self, path: str, change: Callable[[list[Json]], Any]) -> None:
        """Change the rows of a Parquet file."""
        table = pq.read_table(self.folder / path)
        rows = table.to_pylist()
        changed = change(rows)
        pq.write_table(
            pa.Table.from_pylist(changed if isinstance(changed, list) else rows, table.schema), self.folder / path
        )

    def json(self, path: str, change: Callable[[Json], Any]) -> None:
        """Change a JSON file."""
        value = orjson.loads((self.folder / path).read_bytes())
        changed = change(value)
        data = orjson.dumps(
            value if changed is None else changed, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        )
        (self.folder / path).write_bytes(data)

    def relist(self) -> None:
        """Rewrite the manifest, so that it lists the current state of every file."""
        manifest = orjson.loads((self.folder / "manifest.json").read_bytes())
        listed = {file["path"]: file for file in manifest["files"]}
        files = []
        for path in self.names(""):
            if path == "manifest.json":
                continue
            data = (self.folder / path).read_bytes()
            file = {
                **listed.get(path, {}),
                "path": path,
                "bytes": len(data),
                "sha256": hashlib.sha256(data).hexdigest(),
            }
            try:
                if path.endswith(".parquet"):
                    file["rows"] = pq.read_metadata(self.folder / path).num_rows
                elif path.endswith(".gz"):
                    content = gzip.decompress(data)
                    file |= {"rows": content.count(b"\n"), "content_bytes": len(content)}
                    file["content_sha256"] = hashlib.sha256(content).hexdigest()
            except (OSError, EOFError, zlib.error, pa.ArrowException):
                pass
            files.append(file)
        self.json("manifest.json", lambda m: {**m, "files": files})

    def remake_descriptions(self) -> None:
        """Rewrite the Croissant file and the data card from manifest and statistics, and list them."""
        stats, old = (orjson.loads((self.folder / name).read_bytes()) for name in ("stats.json", "croissant.json"))
        for name in ("croissant.json", "README.md"):
            manifest = orjson.loads((self.folder / "manifest.json").read_bytes())
            if name == "README.md":
                data = dict(generate_files(manifest, stats, old["description"]))[name]
            else:
                files = [SnapshotFile(**file) for file in manifest["files"]]
                data = orjson.dumps(
                    describe_snapshot(manifest["snapshot"], old["description"], manifest["as_of"], stats, files)
                )
            (self.folder / name).write_bytes(data)
            self.relist()


TRAIN, VALID, AG = "v2/s2orc/train/", "v2/s2orc/valid/", "v2/s2ag/train/"
META, PARSES, LINKS, CONTEXTS = "corpus/metadata/", "corpus/pdf_parses/", "graph/links/", "graph/contexts/"
DUPLICATES = "duplicates.parquet"
MANIPULATIONS: dict[str, Callable[[Copy], Any]] = {}
CANNOT = {
    "day of a date", "authors of metadata", "venue of metadata", "title of an entry",
    "score of a link", "alias lost", "record moved to another paper", "a metric", "drop patterns of the manifest",
}  # fmt: skip
"""Manipulations that no other file of a snapshot reveals: only the publication does.

The data card and the Croissant file are rewritten too.
"""


def each(group: str, **changes: Callable[[Copy], Any]) -> None:
    """Register several manipulations."""
    for name, change in changes.items():
        MANIPULATIONS[f"{group}{name.replace('_', ' ')}"] = change


def replaced(line: Json, key: str, value: Any) -> None:
    """Set a key."""
    line[key] = value


def on_file(start: str, change: Callable[[bytes], bytes | None]) -> Callable[[Copy], Any]:
    """Return a function that changes the bytes of the first file with content, or removes the file."""

    def act(copy: Copy) -> None:
        path = next(p for p in copy.names(start) if not p.endswith(".gz") or copy.lines(p))
        data = change((copy.folder / path).read_bytes())
        if data is None:
            (copy.folder / path).unlink()
        else:
            (copy.folder / path).write_bytes(data)

    return act


def text(change: Callable[[str], str], start: str = TRAIN) -> Callable[[Copy], Any]:
    """Return a function that changes a document's text."""
    return lambda copy: copy.change(start, lambda line: replaced(line, "text", change(line["text"])))


def line_of(change: Callable[[Json], Any], start: str = TRAIN) -> Callable[[Copy], Any]:
    """Return a function that changes a line."""
    return lambda copy: copy.change(start, change)


def lines_as(change: Callable[[list[Json], int], list[Any]], start: str = TRAIN) -> Callable[[Copy], Any]:
    """Return a function that changes the lines of a file; `change` gets the lines and the position of the first."""

    def act(copy: Copy) -> None:
        path, lines, place = copy.find(start)
        copy.write(path, change(lines, place))

    return act


def row_of(
    path: str, change: Callable[[Json], Any], wanted: Callable[[Json], bool] = lambda row: True
) -> Callable[[Copy], Any]:
    """Return a function that changes the first matching row of a Parquet file, or of the files below a folder."""

    def act(copy: Copy) -> None:
        for name in copy.names(path):
            if any(wanted(row) for row in pq.read_table(copy.folder / name).to_pylist()):
                copy.table(name, lambda rows: change(next(row for row in rows if wanted(row))))
                return
        raise LookupError(f"nothing to manipulate in {path}")

    return act


def full(row: Json) -> bool:
    """Return whether a row of the index is a full text."""
    return bool(row["set"] == "s2orc")


each(
    "document: ",
    lost=lines_as(lambda ls, i: ls[:i] + ls[i + 1 :]),
    twice=lines_as(lambda ls, i: [ls[i], *ls]),
    a_word_changed=text(lambda t: t[:-2] + "z" + t[-1]),
    a_word_fewer=text(lambda t: t.rpartition(" ")[0]),
    a_paragraph_more=text(lambda t: t + "\nWords that nobody wrote."),
    a_paragraph_of_another=lambda c: c.change(
        TRAIN, lambda line: replaced(line, "text", line["text"] + "\n" + c.find(VALID)[1][0]["text"].rpartition("\n")[2])
    ),
    another_title=text(lambda t: "Another " + t),
    another_abstract=text(lambda t: t.replace("\n\n", "\n\nAnother ", 1)),
    no_text=text(lambda _: ""),
    nul_in_the_text=text(lambda t: t + "\0"),
    an_id_that_is_no_paper=line_of(lambda line: replaced(line, "id", "f" * 15)),
    another_sha1=line_of(lambda line: replaced(line, "sha1", "0" * 40)),
    no_sha1=line_of(lambda line: {"id": line["id"], "text": line["text"]}),
    a_key_more=line_of(lambda line: replaced(line, "licence", "CC0")),
    id_is_a_number=line_of(lambda line: replaced(line, "id", 7)),
    text_is_null=line_of(lambda line: replaced(line, "text", None)),
    not_JSON=lines_as(lambda ls, _: [b"{\n", *ls[1:]]),
    not_UTF8=lines_as(lambda ls, _: [orjson.dumps(ls[0]).replace(b'"text":"', b'"text":"\xff') + b"\n", *ls[1:]]),
    nested_deeply=lines_as(lambda ls, _: [b"[" * 100_000 + b"]" * 100_000 + b"\n", *ls[1:]]),
    windows_line_ends=lines_as(lambda ls, _: [orjson.dumps(line) + b"\r\n" for line in ls]),
    no_last_line_end=lines_as(lambda ls, _: [*ls[:-1], orjson.dumps(ls[-1])]),
    an_abstract_changed_in_s2ag=text(lambda t: t + " More.", AG),
)  # fmt: skip


def _link_to_another(c: Copy) -> None:
    path = c.names(TRAIN)[0]
    (c.folder / path).unlink()
    (c.folder / path).symlink_to(c.folder / c.names(TRAIN)[1])


def _exchange(c: Copy) -> None:
    one, other = c.folder / c.find(TRAIN)[0], c.folder / c.names(VALID)[0]
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)


def _lose_parse(c: Copy) -> None:
    path, lines, place = c.find(PARSES, lambda p: bool(p["paper_id"] == c.find(TRAIN)[1][0]["id"]))
    c.write(path, [line for line in lines if line is not lines[place]])


each(
    "file of documents: ",
    emptied=on_file(TRAIN, lambda _: gzip.compress(b"", mtime=0)),
    removed=on_file(TRAIN, lambda _: None),
    cut=on_file(TRAIN, lambda data: data[: len(data) // 2]),
    a_bit_flipped=on_file(TRAIN, lambda data: data[:50] + bytes([data[50] ^ 4]) + data[51:]),
    not_compressed=on_file(TRAIN, gzip.decompress),
    zero_bytes=on_file(TRAIN, lambda _: b""),
    zeros_appended=on_file(TRAIN, lambda data: data + bytes(64)),
    a_member_appended=on_file(TRAIN, lambda data: data + gzip.compress(b'{"id":"x","text":"y"}\n', mtime=0)),
    removed_and_made_a_link_to_another=_link_to_another,
    exchanged_with_another=_exchange,
    one_more=lambda c: c.write("v2/s2orc/train/99.jsonl.gz", []),
)  # fmt: skip


def _moved(c: Copy) -> None:
    path, lines, place = c.find(TRAIN)
    line, target = lines.pop(place), path.replace("/train/", "/valid/")
    c.write(path, lines)
    c.write(target, sorted([*c.lines(target), line], key=lambda one: str(one["id"])))
    where = {one["id"]: n for n, one in enumerate(lines, 1)} | {
        one["id"]: n for n, one in enumerate(c.lines(target), 1)
    }

    def move(rows: list[Json]) -> None:
        for row in rows:
            if row["id"] == line["id"]:
                row |= {"split": "valid", "file": target}
            if row["file"] in (path, target):
                row["line"] = where[row["id"]]

    c.table("index.parquet", move)
    words = len(line["text"].split())

    def count(stats: Json) -> None:
        for split, sign in (("train", -1), ("valid", 1)):
            counts = stats["sets"]["s2orc"][split]
            counts |= {"documents": counts["documents"] + sign, "words": counts["words"] + sign * words}

    c.json("stats.json", count)


def _closed(c: Copy) -> None:
    put = _closed_text(c)
    c.change(
        META, lambda m: m.update(has_pdf_body_text=True, has_pdf_parsed_body_text=True), lambda m: m["paper_id"] == put
    )


def _closed_text(c: Copy) -> str:
    path, lines, place = c.find(PARSES, lambda parse: not parse["body_text"])
    lines[place]["body_text"] = [
        {"section": "", "text": "Closed text.", "cite_spans": [], "ref_spans": [], "eq_spans": []}
    ]
    c.write(path, lines)
    return str(lines[place]["paper_id"])


def _two(rows: list[Json], key: str) -> None:
    first = next(row for row in rows if full(row))
    other = next(row for row in rows if full(row) and row[key] != first[key])
    first[key], other[key] = other[key], first[key]


each(
    "index: ",
    licence=row_of("index.parquet", lambda r: r.update(licence="CC0-1.0"), full),
    licence_made_empty=row_of("index.parquet", lambda r: r.update(licence=""), full),
    evidence=row_of("index.parquet", lambda r: r.update(oa_evidence="publisher"), lambda r: bool(full(r) and r["oa_evidence"] != "publisher")),
    no_evidence=row_of("index.parquet", lambda r: r.update(oa_evidence=None), full),
    DOI=row_of("index.parquet", lambda r: r.update(doi="10.1/x")),
    year=row_of("index.parquet", lambda r: r.update(date="1999-01-01")),
    fields=row_of("index.parquet", lambda r: r.update(fields_of_study=["Art"])),
    words=row_of("index.parquet", lambda r: r.update(words=r["words"] + 1)),
    words_below_zero=row_of("index.parquet", lambda r: r.update(words=-1)),
    text_key=row_of("index.parquet", lambda r: r.update(text_key=1)),
    row_lost=lambda c: c.table("index.parquet", lambda rows: rows[1:]),
    row_twice=lambda c: c.table("index.parquet", lambda rows: [rows[0], *rows]),
    no_rows=lambda c: c.table("index.parquet", lambda rows: []),
    another_line=row_of("index.parquet", lambda r: r.update(line=r["line"] + 1)),
    another_file=row_of("index.parquet", lambda r: r.update(file="v2/s2ag/valid/00.jsonl.gz")),
    a_file_outside=row_of("index.parquet", lambda r: r.update(file="../../../etc/passwd")),
    another_split=row_of("index.parquet", lambda r: r.update(split="valid"), lambda r: bool(r["split"] == "train")),
    date_that_is_none=row_of("index.parquet", lambda r: r.update(date="yesterday")),
    id_that_is_no_paper=row_of("index.parquet", lambda r: r.update(id="f" * 15)),
    without_a_column=lambda c: pq.write_table(pq.read_table(c.folder / "index.parquet").drop_columns(["licence"]), c.folder / "index.parquet"),
    not_Parquet=on_file("index.parquet", lambda _: b"PAR1 nothing PAR1"),
    cut=on_file("index.parquet", lambda data: data[: len(data) // 2]),
    removed=on_file("index.parquet", lambda _: None),
)  # fmt: skip
MANIPULATIONS |= {
    "licences of two documents exchanged": lambda c: c.table("index.parquet", lambda rows: _two(rows, "licence")),
    "day of a date": row_of(
        "index.parquet",
        lambda r: r.update(date=r["date"][:8] + ("11" if r["date"][8:] != "11" else "12")),
        lambda r: bool(r["date"] and len(r["date"]) == 10 and r["date"] < "2022"),
    ),
    "authors of metadata": line_of(lambda m: m["authors"].append({"first": "A", "middle": [], "last": "Nobody", "suffix": ""}), META),
    "venue of metadata": line_of(lambda m: m.update(venue="Nature"), META),
    "title of an entry": lambda c: c.change(
        PARSES, lambda p: next(iter(p["bib_entries"].values())).update(title="Another"), lambda p: bool(p["bib_entries"])
    ),
    "score of a link": row_of(LINKS, lambda r: r.update(score=0.81)),
    "alias lost": lambda c: c.table("aliases.parquet", lambda rows: [] if rows else _nothing()),
    "record moved to another paper": lambda c: c.table("clusters.parquet", _record_moved),
    "a metric": lambda c: c.json("stats.json", lambda s: s["metrics"]["intake"].update(pdfs=1.0) if s["metrics"] else _nothing()),
    "drop patterns of the manifest": lambda c: c.json("manifest.json", lambda m: m.update(drops=["other-*"])),
}  # fmt: skip


def _nothing() -> Any:
    raise LookupError("nothing to manipulate")


def _similar(rows: list[Json]) -> bool:
    return any(r["reason"] == "words" and r["split"] in ("train", "valid") for r in rows)


def _record_moved(rows: list[Json]) -> None:
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["paper_id"]] = counts.get(row["paper_id"], 0) + 1
    row = next((row for row in rows if counts[row["paper_id"]] > 1), {}) or _nothing()
    row["paper_id"] = next(other["paper_id"] for other in rows if other["paper_id"] != row["paper_id"])


each(
    "metadata: ",
    title_of_a_document=lambda c: c.change(META, lambda m: m.update(title="Another"), lambda m: m["paper_id"] == c.find(TRAIN)[1][0]["id"]),
    abstract_of_a_document=lambda c: c.change(META, lambda m: m.update(abstract="Another"), lambda m: m["paper_id"] == c.find(TRAIN)[1][0]["id"]),
    DOI_of_a_document=lambda c: c.change(META, lambda m: m.update(doi="10.1/x"), lambda m: m["paper_id"] == c.find(TRAIN)[1][0]["id"]),
    year_of_a_document=lambda c: c.change(META, lambda m: m.update(year=1970), lambda m: m["paper_id"] == c.find(TRAIN)[1][0]["id"]),
    a_citation_more=lambda c: c.change(
        META, lambda m: m.update(outbound_citations=sorted({*m["outbound_citations"], m["paper_id"]}), has_outbound_citations=True)
    ),
    a_citation_fewer=lambda c: c.change(
        META, lambda m: m.update(inbound_citations=m["inbound_citations"][1:], has_inbound_citations=len(m["inbound_citations"]) > 1),
        lambda m: bool(m["inbound_citations"]),
    ),
    a_flag=lambda c: c.change(META, lambda m: m.update(has_pdf_parse=not m["has_pdf_parse"])),
    paper_lost=lines_as(lambda ls, i: ls[:i] + ls[i + 1 :], META),
    another_id=line_of(lambda m: m.update(paper_id="f" * 15), META),
    id_is_null=line_of(lambda m: m.update(paper_id=None), META),
    a_list_for_a_paper=lines_as(lambda ls, _: [b"[]\n", *ls[1:]], META),
    citations_are_a_number=line_of(lambda m: m.update(outbound_citations=3), META),
)  # fmt: skip
each(
    "parse: ",
    closed_text_put_in=_closed_text,
    a_published_paragraph_changed=lambda c: c.change(
        PARSES,
        lambda p: [b.update(text=b["text"] + " Changed.") for b in p["body_text"]] and None,
        lambda p: p["paper_id"] == c.find(TRAIN)[1][0]["id"],
    ),
    a_span_moved=lambda c: c.change(
        PARSES,
        lambda p: next(s for b in p["body_text"] for s in b["cite_spans"]).update(start=0, end=1, text="\0"),
        lambda p: any(b["cite_spans"] for b in p["body_text"]),
    ),
    a_link_changed=lambda c: c.change(
        PARSES,
        lambda p: next(e for e in p["bib_entries"].values() if e["link"]).update(link="f" * 15),
        lambda p: any(e["link"] for e in p["bib_entries"].values()),
    ),
    a_linked_entry_lost=lambda c: c.change(
        PARSES,
        lambda p: p["bib_entries"].pop(next(k for k, e in p["bib_entries"].items() if e["link"])) and None,
        lambda p: any(e["link"] for e in p["bib_entries"].values()),
    ),
    another_file=lambda c: c.change(PARSES, lambda p: p.update(_pdf_hash="0" * 40), lambda p: p["paper_id"] == c.find(TRAIN)[1][0]["id"]),
    lost=_lose_parse,
    spans_are_null=lambda c: c.change(PARSES, lambda p: p["body_text"][0].update(cite_spans=None), lambda p: bool(p["body_text"])),
    body_is_a_text=line_of(lambda p: p.update(body_text="text"), PARSES),
)  # fmt: skip
each(
    "duplicates: ",
    a_held_one_published=row_of(DUPLICATES, lambda r: r.update(split="train"), lambda r: r["split"].startswith("held_back")),
    a_similar_one_lost=lambda c: c.table(DUPLICATES, lambda rows: [r for r in rows if r["reason"] != "words"] if _similar(rows) else _nothing()),
    an_equal_one_lost=lambda c: c.table(DUPLICATES, lambda rows: rows[1:] if rows else _nothing()),
    a_similarity=row_of(DUPLICATES, lambda r: r.update(jaccard=r["jaccard"] / 2 + 0.5), lambda r: _similar([r])),
    of_another=row_of(DUPLICATES, lambda r: r.update(duplicate_of=r["paper_id"]), lambda r: r["reason"] is not None),
    another_reason=row_of(DUPLICATES, lambda r: r.update(reason="title"), lambda r: _similar([r])),
    another_cluster=row_of(DUPLICATES, lambda r: r.update(cluster="f" * 15)),
    an_unpublished_one_more=lambda c: c.table(DUPLICATES, lambda rows: [*rows, {**rows[-1], "paper_id": "f" * 15}]),
    file_removed=on_file(DUPLICATES, lambda _: None),
)  # fmt: skip
each(
    "graph: ",
    another_cited_paper=lambda c: row_of(LINKS, lambda r: r.update(cited_paper_id=r["paper_id"]))(c),
    a_link_lost=lambda c: c.table(_first_with_rows(c, LINKS), lambda rows: rows[1:]),
    a_warning=row_of(LINKS, lambda r: r.update(warning="tie"), lambda r: r["warning"] is None),
    an_unknown_paper=row_of(LINKS, lambda r: r.update(cited_paper_id="f" * 15)),
    text_of_a_context=row_of(CONTEXTS, lambda r: r.update(text="Closed text.")),
    files_exchanged=on_file(CONTEXTS, lambda _: b""),
    file_removed=on_file(LINKS, lambda _: None),
)  # fmt: skip


def _first_with_rows(c: Copy, start: str) -> str:
    return next(name for name in c.names(start) if pq.read_metadata(c.folder / name).num_rows)


each(
    "copy as Parquet: ",
    text_of_a_document=row_of("documents/", lambda r: r.update(text=r["text"] + " More.")),
    split_of_a_document=row_of("documents/", lambda r: r.update(split="valid"), lambda r: bool(r["split"] == "train")),
    a_document_lost=lambda c: c.table(_first_with_rows(c, "documents/"), lambda rows: rows[1:]),
    a_paragraph=row_of("tables/paragraphs/", lambda r: r.update(text="Closed text.")),
    an_entry_lost=lambda c: c.table(_first_with_rows(c, "tables/bib_entries/"), lambda rows: rows[1:]),
    file_removed=on_file("documents/s2orc/train/", lambda _: None),
)  # fmt: skip
each(
    "rights: ",
    a_row_lost=lambda c: c.table(_first_with_rows(c, "tables/rights/"), lambda rows: rows[1:]),
    a_row_more=lambda c: c.table(_first_with_rows(c, "tables/rights/"), lambda rows: [*rows, {**rows[-1], "of": "latex"}]),
    no_evidence=row_of("tables/rights/", lambda r: r.update(evidence="")),
    a_licence_in_words=row_of("tables/rights/", lambda r: r.update(licence="free for all")),
    closed_made_open=row_of("tables/rights/", lambda r: r.update(open_access=True), lambda r: not r["open_access"]),
    another_licence_than_the_texts=lambda c: _licence_of_a_text(c),
)  # fmt: skip


def _licence_of_a_text(c: Copy) -> None:
    """Change the license of a full text that is a document, in the table of rights only."""
    texts = {
        row["id"]: row["parse_kind"]
        for path in c.names("documents/s2orc/")
        for row in pq.read_table(c.folder / path).to_pylist()
    }
    row_of("tables/rights/", lambda r: r.update(licence="MIT"), lambda r: texts.get(r["paper_id"]) == r["of"])(c)


def _leak(c: Copy) -> None:
    """Copy a text of train, with one added word, to a text of valid, in lines, Parquet and index."""
    _rewritten(c, VALID, next(line["text"] for path in c.names(TRAIN) for line in c.lines(path)) + " Again.")


def _copied(c: Copy) -> None:
    """Copy a text of train to a text of valid."""
    _rewritten(c, VALID, next(line["text"] for path in c.names(TRAIN) for line in c.lines(path)))


def _rewritten(c: Copy, start: str, text: str) -> None:
    path = next(path for path in c.names(start) if c.lines(path))
    lines = c.lines(path)
    lines[0]["text"] = text
    c.write(path, lines)

    def table(rows: list[Json], known: Json) -> list[Json]:
        return [{**row, **known} if row["id"] == lines[0]["id"] else row for row in rows]

    copy = f"documents/{path.removeprefix('v2/').removesuffix('.jsonl.gz')}.parquet"
    c.table(copy, lambda rows: table(rows, {"text": text}))
    c.table("index.parquet", lambda rows: table(rows, {"words": len(text.split()), "text_key": text_key(text)}))


each(
    "others: ",
    alias_to_nobody=lambda c: c.table("aliases.parquet", lambda rows: [*rows, {"alias": "e" * 15, "paper_id": "f" * 15}]),
    alias_of_a_paper=lambda c: c.table(
        "aliases.parquet", lambda rows: [*rows, *({"alias": m["paper_id"], "paper_id": m["paper_id"]} for m in c.find(META)[1][:1])]
    ),
    record_in_two_papers=lambda c: c.table(
        "clusters.parquet", lambda rows: [*rows, {**rows[0], "paper_id": next(r["paper_id"] for r in rows if r["paper_id"] != rows[0]["paper_id"])}]
    ),
    clusters_removed=on_file("clusters.parquet", lambda _: None),
    words_of_the_statistics=lambda c: c.json("stats.json", lambda s: s["sets"]["s2orc"]["train"].update(words=1)),
    a_set_of_the_statistics=lambda c: c.json("stats.json", lambda s: s["sets"].pop("s2ag") and None),
    licences_of_the_statistics=lambda c: c.json("stats.json", lambda s: s.update(licences={"CC0-1.0": 55})),
    years_of_the_statistics=lambda c: c.json("stats.json", lambda s: s.update(years={})),
    funnel_of_the_statistics=lambda c: c.json("stats.json", lambda s: s["funnel"][-1].update(count=999)),
    statistics_are_a_list=lambda c: c.json("stats.json", lambda s: [s]),
    data_card=on_file("README.md", lambda data: data.replace(b"Licences", b"License")),
    data_card_emptied=on_file("README.md", lambda _: b""),
    croissant_licence=lambda c: c.json("croissant.json", lambda v: v.update(license=["CC0-1.0"])),
    croissant_checksum=lambda c: c.json("croissant.json", lambda v: v["distribution"][0].update(sha256="0" * 64)),
    croissant_is_null=on_file("croissant.json", lambda _: b"null"),
    funnel_table=on_file("funnel.csv", lambda data: data + b"export,kept,1\n"),
    a_picture=on_file("years.svg", lambda data: data.replace(b"</svg>", b"<script>alert(1)</script></svg>")),
)  # fmt: skip
each(
    "manifest: ",
    another_parent=lambda c: c.json("manifest.json", lambda m: m.update(parent="sample-20220101-00000000")),
    another_code=lambda c: c.json("manifest.json", lambda m: m["versions"].update(code="9.9")),
    another_instant=lambda c: c.json("manifest.json", lambda m: m.update(as_of="2023-03-01T00:00:00Z")),
    an_instant_that_is_none=lambda c: c.json("manifest.json", lambda m: m.update(as_of="soon")),
    another_id=lambda c: c.json("manifest.json", lambda m: m.update(snapshot=m["snapshot"][:-8] + "00000000")),
    other_inputs=lambda c: c.json("manifest.json", lambda m: m.update(inputs=[])),
    a_rule=lambda c: c.json("manifest.json", lambda m: m["rules"].update({"filter.min_english": 0.1})),
    a_rule_fewer=lambda c: c.json("manifest.json", lambda m: m["rules"].pop("export.files") and None),
    a_rule_of_another_type=lambda c: c.json("manifest.json", lambda m: m["rules"].update({"export.files": "many"})),
    no_files_a_set=lambda c: c.json("manifest.json", lambda m: m["rules"].update({"export.files": 0})),
    an_override=lambda c: c.json("manifest.json", lambda m: m.update(overrides={"link.x": "because I say so"})),
    overrides_are_a_number=lambda c: c.json("manifest.json", lambda m: m.update(overrides=7)),
    no_versions=lambda c: c.json("manifest.json", lambda m: m.update(versions=None)),
)  # fmt: skip
MANIPULATIONS["document: moved from train to valid, index and statistics with it"] = _moved
MANIPULATIONS["closed text put into a parse and its metadata"] = _closed
MANIPULATIONS["similar texts in train and in valid"] = _leak
MANIPULATIONS["equal texts in train and in valid"] = _copied
AFTER = {
    "manifest: a file outside": lambda c: c.json("manifest.json", lambda m: m["files"][0].update(path="../../escape")),
    "manifest: a file twice": lambda c: c.json("manifest.json", lambda m: m["files"].append(m["files"][0])),
    "manifest: a size that is a text": lambda c: c.json("manifest.json", lambda m: m["files"][0].update(bytes="12")),
    "manifest: a size below zero": lambda c: c.json("manifest.json", lambda m: m["files"][-1].update(bytes=-1)),
    "manifest: a path that is a number": lambda c: c.json("manifest.json", lambda m: m["files"][0].update(path=5)),
    "manifest: no files": lambda c: c.json("manifest.json", lambda m: m.update(files=[])),
    "manifest: files are null": lambda c: c.json("manifest.json", lambda m: m.update(files=None)),
    "manifest: another format": lambda c: c.json("manifest.json", lambda m: m.update(format="s2corpus-snapshot-9")),
    "manifest: cut": on_file("manifest.json", lambda data: data[: len(data) // 2]),
    "manifest: a list": on_file("manifest.json", lambda _: b"[]"),
    "manifest: empty": on_file("manifest.json", lambda _: b""),
    "manifest: removed": on_file("manifest.json", lambda _: None),
    "a file that nobody listed": lambda c: (c.folder / "v2" / "more.jsonl.gz").write_bytes(b""),
}  # fmt: skip
"""Manipulations of the manifest's own list; the manifest is not rewritten."""


@dataclass(frozen=True)
class TamperResult:
    """The faults that `corpus verify` reports for one manipulation."""

    name: str
    published: list[str]
    """Faults found with the publication."""
    alone: list[str]
    """Faults found without the publication."""
    traceback: str | None = None


def trials(lake: Path, snapshot: str, only: list[str]) -> Iterator[TamperResult]:
    """Yield the result of every manipulation, each on a separate copy."""
    for name, act in (MANIPULATIONS | AFTER).items():
        if only and not any(word in name for word in only):
            continue
        with tempfile.TemporaryDirectory(prefix="tamper-") as scratch:
            beside = Path(scratch) / "lake" / "snapshots"
            spec = SnapshotId(snapshot).spec
            shutil.copytree(lake / "snapshots" / snapshot, beside / snapshot)
            shutil.copytree(lake / "snapshots" / spec, beside / spec)
            copy = Copy(beside / snapshot)
            try:
                act(copy)
            except (LookupError, StopIteration) as error:
                print(f"{name}: not done: {error}", file=sys.stderr)
                continue
            if name not in AFTER:
                copy.relist()
            if name in CANNOT:  # Otherwise the sizes and checksums in these files would reveal the manipulation.
                copy.remake_descriptions()
            try:
                published = said(copy.folder)
                shutil.rmtree(beside / spec)
                yield TamperResult(name, published, said(copy.folder))
            except Exception as error:  # an exception is a defect of `verify`
                yield TamperResult(name, [], [], f"{type(error).__name__}: {error}")


def said(folder: Path) -> list[str]:
    """Return the first faults that `verify` reports for a snapshot's folder, at most five."""
    opened = open_lake(str(folder))
    found = []
    try:
        for fault in verify(opened, published_sha256s=published_manifests(opened)):
            found.append(str(fault))
            if len(found) == 5:
                break
    except UserError as error:
        found.append(str(error))
    return found


def main() -> None:
    """Try all manipulations, and print the findings."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lake", type=Path, required=True)
    parser.add_argument("--snapshot", required=True)
    parser.add_argument("--only", nargs="*", default=[])
    given = parser.parse_args()
    results = list(trials(given.lake, given.snapshot, given.only))
    for result in results:
        print(f"{result.name}\n    {result.traceback or (result.alone or ['(found from its publication only)'])[0]}")
    broken = [result.name for result in results if result.traceback]
    missed = [result.name for result in results if not result.published and not result.traceback]
    alone = {result.name for result in results if not result.alone and not result.traceback}
    unexpected = sorted(alone ^ (CANNOT & {result.name for result in results}))
    print(f"\n{len(results)} manipulations; not found: {missed}; with a traceback: {broken}")
    print(f"not found without the publication: {len(alone)}; otherwise than stated in CANNOT: {unexpected}")
    sys.exit(bool(broken or missed or unexpected))


if __name__ == "__main__":
    main()
