"""SPEC §10.14: `corpus verify` finds every damage, and `corpus read` finds every document.

test_contradictions.py tests each check alone.
"""

from __future__ import annotations

import gzip
import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from devtools.bench import tamper
from s2corpus.commands.snapshots import read_command, verify_command
from s2corpus.errors import UserError
from s2corpus.snapshot.verify import verify as find_faults
from s2corpus.storage.lake import open_lake
from s2corpus.tables.texts import CONTEXTS
from tests.unit.s2corpus.snapshot.release import release, snapshot_folder


@pytest.fixture
def copy(published: Path, tmp_path: Path) -> Path:
    """Return a copy of the snapshot that a test may damage."""
    return Path(shutil.copytree(published, tmp_path / "copy"))


def run(command: Any, *arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def relist(folder: Path, *, counts_rows: bool = True) -> None:
    """Update the manifest's entries, so that only a check of the content can detect the changes."""
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    for file in manifest["files"]:
        data = (folder / file["path"]).read_bytes()
        file |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        if file["path"].endswith(".gz"):
            content = gzip.decompress(data)
            file |= {"rows": content.count(b"\n"), "content_bytes": len(content)}
            file["content_sha256"] = hashlib.sha256(content).hexdigest()
        elif counts_rows and file["path"].endswith(".parquet"):
            file["rows"] = pq.read_metadata(folder / file["path"]).num_rows
    (folder / "manifest.json").write_bytes(orjson.dumps(manifest))


Lines = list[dict[str, Any]]


def change_lines(folder: Path, path: str, change: Callable[[Lines], object]) -> None:
    lines: Lines = [orjson.loads(line) for line in gzip.decompress((folder / path).read_bytes()).splitlines()]
    assert len(lines) > 1, "the file has at least two lines"
    change(lines)
    content = b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)
    (folder / path).write_bytes(gzip.compress(content, mtime=0))


def change_rows(folder: Path, path: str, change: Callable[[Lines], object]) -> None:
    table = pq.read_table(folder / path)
    rows: Lines = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, table.schema), folder / path)


def close_parse(lines: Lines) -> None:
    closed = next(line for line in lines if not line["body_text"])
    closed["body_text"] = [{"text": "closed text", "section": "", "cite_spans": []}]


def set_all(**values: Any) -> Callable[[Lines], object]:
    """Return a change of all lines or rows."""
    return lambda lines: [line.update(values) for line in lines]


Damage = tuple[str, Callable[[Lines], object], str]
"""path, change, message"""
ORDER, SCHEMA = "expected unique ids in ascending order", "keys differ from S2ORC 20200705"
DIFFERS = "title, identifiers, year or fields of study of document "
TRAIN, PARSES = "v2/s2orc/train/0", "corpus/pdf_parses/pdf_parses_"
LINES: list[Damage] = [
    (TRAIN + "0.jsonl.gz", lambda ls: ls.reverse(), ORDER),
    (TRAIN + "1.jsonl.gz", lambda ls: ls.insert(0, ls[0]), ORDER),
    (TRAIN + "1.jsonl.gz", lambda ls: None, "is also in another file"),
    (TRAIN + "2.jsonl.gz", lambda ls: ls[0].update(id="zzz"), "belongs to file "),
    (TRAIN + "3.jsonl.gz", lambda ls: ls[0].update(year=2011), "keys are"),
    ("v2/s2ag/train/00.jsonl.gz", lambda ls: ls.pop(0), "the index has document "),
    ("corpus/metadata/metadata_0.jsonl.gz", set_all(title="B"), DIFFERS),
    ("corpus/metadata/metadata_1.jsonl.gz", lambda ls: ls[0].update(extra=1), SCHEMA),
    ("corpus/metadata/metadata_2.jsonl.gz", lambda ls: ls[0].update(paper_id="f" * 15), "belongs to file "),
    ("corpus/metadata/metadata_3.jsonl.gz", lambda ls: ls[0].pop("paper_id"), "no JSON object with a paper_id"),
    ("corpus/metadata", lambda ls: None, "has inbound_citations that contradict the papers citing it"),
    (PARSES + "0.jsonl.gz", lambda ls: ls[0].update(abstract=None), "malformed: TypeError"),
    (PARSES + "1.jsonl.gz", lambda ls: ls[0].update(paper_id="0"), "paper 0 has no metadata"),
    (PARSES + "3.jsonl.gz", close_parse, "has_pdf_body_text is False, but its parse has body text"),
]  # fmt: skip
LOST = {"id": "g", "title": "B"}
ROWS: list[Damage] = [
    ("index.parquet", lambda rows: rows.append(rows[0] | LOST), "document g is in no file"),
    ("aliases.parquet", lambda rows: rows.append({"alias": "f", "paper_id": "e"}), "f refers to e, which is not a paper"),
    ("aliases.parquet", lambda rows: rows.append(rows[0]), "refers to two papers"),
    ("clusters.parquet", lambda rows: rows.append(rows[0]), "a record belongs to two papers"),
    ("clusters.parquet", lambda rows: rows.pop(1), "of corpus/metadata has no record"),
]  # fmt: skip
DOCUMENTS, RIGHTS = "documents/s2orc/train/0", "licence or evidence of the "
CONTEXT = {f.name: "" if pa.types.is_string(f.type) else 0 for f in CONTEXTS.schema} | {
    "paper_id": "x",
    "parse_kind": "pdf",
}
COPIES: list[Damage] = [
    (DOCUMENTS + "0.parquet", set_all(text="other"), ""), (DOCUMENTS + "3.parquet", set_all(licence="MIT"), ""),
    ("documents", lambda rows: None, " differs from its line in v2/"),
    ("documents", lambda rows: None, "licence, evidence or abstract source of document "),
    ("tables/paragraphs/01.parquet", lambda rows: rows[0].update(text="x"), ""),
    ("tables/paragraphs", lambda rows: None, "the paragraphs of paper "),
    ("tables/rights/00.parquet", set_all(licence="MIT"), RIGHTS + "pdf of "),
    ("tables/rights/01.parquet", set_all(evidence=""), " has no evidence"),
    ("tables/rights/01.parquet", lambda rows: None, RIGHTS + "abstract of "),
    ("tables/papers/00.parquet", lambda rows: rows.append(rows[0] | {"paper_id": "9"}), ""),
    ("tables/papers", lambda rows: None, "title or identifiers of paper 9 differ from corpus/metadata"),
    ("keys/00.parquet", lambda rows: rows.reverse(), "keys belong to another file, or are not sorted"),
    ("keys/01.parquet", lambda rows: rows[0].update(key=0), "keys belong to another file, or are not sorted"),
    ("keys", lambda rows: None, "the keys of paper "),
    ("graph/links/00.parquet", lambda rows: rows[0].update(parse_kind="latex"), ""),
    ("graph/links", lambda rows: None, "links other bibliography entries in graph/links than in its parses"),
    ("graph/links/01.parquet", lambda rows: rows[0].update(cited_paper_id="f" * 15), f"paper {'f' * 15} is not in corpus/metadata"),
    ("graph/links", lambda rows: None, "cites other papers in graph/links than in its metadata"),
    ("graph/contexts/00.parquet", lambda rows: rows.append(CONTEXT), "row 1 of paper x is not a paragraph of its parse"),
]  # fmt: skip
GROUPS = {"lines": LINES, "rows": ROWS, "copies": COPIES, "lost rows": [
    ("tables/rights/00.parquet", lambda rows: rows.pop(), " rows; the manifest has "),
    ("tables/rights", lambda rows: None, " differ from its abstract and parses in corpus/"),
    (DOCUMENTS + "0.parquet", lambda rows: rows.pop(), ""), ("documents", lambda rows: None, " differs from its line in v2/"),
    ("keys/00.parquet", lambda rows: rows.pop(), ""), ("keys", lambda rows: None, "the keys of paper "),
]}  # fmt: skip


STATISTICS = (
    "sets differ from the index (", "the samples differ", "years differ from the index (1999: 1, expected 0",
    "MIT: 0, expected 0)", "the funnel has None documents of s2orc valid; expected ",
)  # fmt: skip


@pytest.mark.parametrize("group", GROUPS)
def test_every_change_of_a_file_is_found(copy: Path, group: str) -> None:
    stats = orjson.loads((copy / "stats.json").read_bytes())
    stats["sets"]["s2orc"]["train"]["words"] += 2
    stats["samples"]["s2orc"]["text"] = "another text"
    stats["years"]["1999"], stats["licences"] = 1, dict(reversed(stats["licences"].items())) | {"MIT": 0}
    stats["funnel"] = [row for row in stats["funnel"] if row["outcome"] != "valid"]
    (copy / "stats.json").write_bytes(orjson.dumps(stats))
    for path, damage, _ in GROUPS[group]:
        if (copy / path).is_file():
            (change_lines if path.endswith(".gz") else change_rows)(copy, path, damage)
    relist(copy, counts_rows=group != "lost rows")
    faults = [(fault.path, fault.message) for fault in find_faults(open_lake(str(copy)))]
    said = [(path, message) for path, _, message in GROUPS[group]]
    said += [("stats.json", message) for message in STATISTICS]
    assert [(p, m) for p, m in said if m and not any(p == path and m in message for path, message in faults)] == []


@pytest.mark.parametrize("damage", ["flipped", "shorter", "deleted"])
def test_damaged_file_is_named(copy: Path, damage: str) -> None:
    paths = ["README.md", "index.parquet", "stats.json", "v2/s2ag/valid/00.jsonl.gz", "aliases.parquet"]
    for path in paths:
        data = (copy / path).read_bytes()
        middle = len(data) // 2
        flipped = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
        (copy / path).write_bytes(flipped if damage == "flipped" else data[:middle])
        if damage == "deleted":
            (copy / path).unlink()
    (copy / "v2/more.jsonl.gz").write_bytes(b"")
    faults = [str(fault) for fault in find_faults(open_lake(str(copy)))]
    assert [path for path in paths if not any(fault.startswith(path) for fault in faults)] == []
    assert "v2/more.jsonl.gz: the manifest does not list this file" in faults


@pytest.mark.parametrize(
    "manifest", [b"[]", b"{", b'{"format": "s2corpus-snapshot-1"}', b'{"format": "s2corpus-snapshot-1", "files": [{}]}']
)
def test_malformed_manifest_gives_one_sentence(tmp_path: Path, manifest: bytes) -> None:
    assert "no manifest.json and no latest.json found" in str(run(verify_command, tmp_path).exception)
    (tmp_path / "manifest.json").write_bytes(manifest)
    result = run(verify_command, tmp_path)
    assert isinstance(result.exception, UserError) or any(
        word in result.output for word in ("malformed", "invalid JSON")
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [(bytes(200_000_000), ": corrupt gzip data"), (b"\n" * 2_000_000, "the content of the file has more than ")],
)
def test_gzip_bomb_is_read_only_to_its_listed_sizes(copy: Path, content: bytes, says: str) -> None:
    path = "v2/s2orc/train/00.jsonl.gz"
    (copy / path).write_bytes(gzip.compress(content, mtime=0))
    faults = [str(fault) for fault in find_faults(open_lake(str(copy)))]
    assert any(fault.startswith(path) and says in fault for fault in faults)


def test_manipulations_of_a_publication_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sixth of `devtools/bench/tamper.py`'s manipulations are found from the publication, and most without it."""
    folder = snapshot_folder(release(tmp_path))
    names = list(tamper.MANIPULATIONS | tamper.AFTER)
    for table in ("MANIPULATIONS", "AFTER"):
        sixth = {
            n: act
            for n, act in getattr(tamper, table).items()
            if names.index(n) % 6 == 0 or n.startswith("similar texts")
        }
        monkeypatch.setattr(tamper, table, sixth)
    results = list(tamper.trials(tmp_path / "lake", folder.name, []))
    assert len(results) > 20
    assert [(r.name, r.traceback) for r in results if r.traceback] == []
    assert [r.name for r in results if not r.published] == []
    assert {r.name for r in results if not r.alone} == tamper.CANNOT & {r.name for r in results}


def test_publication_and_parent_are_compared(published: Path, tmp_path: Path) -> None:
    assert run(verify_command, published).exit_code == 0
    found = find_faults(open_lake(str(published)), parent=open_lake(str(published)))
    assert [str(fault) for fault in found] == [f"manifest.json: the parent is None; expected {published.name}"]
    folder = shutil.copytree(published.parents[1], tmp_path / "lake") / "snapshots" / published.name
    mark = folder.parent / "small/published" / folder.name
    right = mark.read_bytes()
    for data in (right.replace(b'_sha256":"', b'_sha256":"0'), b"null"):
        mark.write_bytes(data)
        assert "this is not the published manifest" in run(verify_command, folder).output
    mark.write_bytes(right)
    (folder / "README.md").write_bytes((folder / "README.md").read_bytes().replace(b"CC-BY-4.0", b"CC0-1.0  "))
    relist(folder)
    assert "this is not the published manifest" in run(verify_command, folder).output


def ids(published: Path) -> list[str]:
    return sorted(pq.read_table(published / "index.parquet")["id"].to_pylist())


def test_document_is_read_by_id_and_former_id(published: Path) -> None:
    wanted = ids(published)[3]
    assert orjson.loads(run(read_command, published, "--id", wanted).stdout_bytes)["id"] == wanted
    (alias,) = pq.read_table(published / "aliases.parquet").to_pylist()
    assert orjson.loads(run(read_command, published, "--id", alias["alias"]).stdout_bytes)["id"] == alias["paper_id"]
    assert "no document nobody" in str(run(read_command, published, "--id", "nobody").exception)


def test_sample_is_reproducible(published: Path, copy: Path) -> None:
    words = ("--sample", 3, "--set", "s2ag")
    first = run(read_command, published, *words).stdout_bytes
    assert [orjson.loads(line)["text"].count("\n\n") for line in first.splitlines()] == [1, 1, 1]
    assert run(read_command, published, *words).stdout_bytes == first
    assert run(read_command, "small", "--lake", published.parents[1], *words).stdout_bytes == first, (
        "the latest of a spec"
    )
    index = pq.read_table(copy / "index.parquet")
    pq.write_table(index.filter(pc.equal(index["split"], "train")), copy / "index.parquet")
    empty = run(read_command, copy, "--sample", 3, "--split", "valid")
    assert (empty.exit_code, empty.stdout_bytes) == (0, b"")


def test_documents_are_read_by_regular_expression(published: Path) -> None:
    found = run(read_command, published, "--grep", "^On [A-M]").stdout_bytes.splitlines()
    everything = run(read_command, published, "--grep", ".").stdout_bytes.splitlines()
    assert sorted(orjson.loads(line)["id"] for line in everything) == ids(published)
    assert found == [line for line in everything if "A" <= orjson.loads(line)["text"][3] <= "M"]
    assert "not a regular expression" in str(run(read_command, published, "--grep", "(").exception)
    for options in ([], ["--id", "a", "--sample", "1"]):
        assert "select documents with exactly one of --id" in str(run(read_command, published, *options).exception)
