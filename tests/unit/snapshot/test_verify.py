"""`corpus verify` finds every damage; `corpus read` finds every document."""

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

from s2corpus.commands import read, verify
from s2corpus.errors import UserError
from s2corpus.snapshot.pointer import publish
from tests.unit.snapshot.test_export import release


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a lake with one published snapshot."""
    folder = tmp_path_factory.mktemp("published")
    made = release(folder)
    publish(made.lake, made.snapshot_id)
    return folder / "lake"


@pytest.fixture(scope="module")
def published(lake: Path) -> Path:
    """Return the snapshot's folder."""
    return next(path for path in (lake / "snapshots").iterdir() if "-" in path.name)


@pytest.fixture
def copy(published: Path, tmp_path: Path) -> Path:
    """Return a copy of the snapshot that a test may damage."""
    shutil.copytree(published, tmp_path / "copy")
    return tmp_path / "copy"


def run(command: Any, *arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def test_complete_snapshot_passes_verification(published: Path) -> None:
    assert run(verify.command, str(published)).exit_code == 0


def relisted(folder: Path, path: str, lines: list[bytes]) -> None:
    """Replace the lines of a file and update its manifest entry, so that only a check of the format can detect the change."""
    content = b"".join(lines)
    data = gzip.compress(content, mtime=0)
    (folder / path).write_bytes(data)
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    for file in manifest["files"]:
        if file["path"] == path:
            file |= {
                "bytes": len(data),
                "sha256": hashlib.sha256(data).hexdigest(),
                "rows": len(lines),
                "content_bytes": len(content),
                "content_sha256": hashlib.sha256(content).hexdigest(),
            }
    (folder / "manifest.json").write_bytes(orjson.dumps(manifest))


def lines_of(folder: Path, path: str) -> list[bytes]:
    return gzip.decompress((folder / path).read_bytes()).splitlines(keepends=True)


def changed(line: bytes, **fields: Any) -> bytes:
    return orjson.dumps({**orjson.loads(line), **fields}, option=orjson.OPT_APPEND_NEWLINE)


def first_file(folder: Path, pattern: str = "v2/s2orc/train") -> str:
    """Return the path of a file with at least two lines."""
    for path in sorted((folder / pattern).glob("*.jsonl.gz")):
        relative = path.relative_to(folder).as_posix()
        if len(lines_of(folder, relative)) > 1:
            return relative
    raise AssertionError(f"no file of two lines under {pattern}")


def _text(line: bytes, change: Callable[[str], str]) -> bytes:
    return changed(line, text=change(orjson.loads(line)["text"]))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        pytest.param(lambda ls: ls[::-1], "unique ids in ascending order", id="order"),
        pytest.param(lambda ls: [ls[0], *ls], "unique ids in ascending order", id="twice"),
        pytest.param(lambda ls: ls[1:], "is in no file", id="lost"),
        pytest.param(lambda ls: [changed(ls[0], id="zzz"), *ls[1:]], "belongs to file|the index has", id="another id"),
        pytest.param(lambda ls: [changed(ls[0], year=2011), *ls[1:]], "keys are", id="a key more"),
        pytest.param(lambda ls: [changed(ls[0], id=7), *ls[1:]], "string `id`", id="no string"),
        pytest.param(lambda ls: [ls[0].replace(b'","', b'", "', 1), *ls[1:]], "not canonical JSON", id="a space"),
        pytest.param(lambda ls: [b"not json\n", *ls[1:]], "invalid JSON", id="no JSON"),
        pytest.param(lambda ls: [b'"text"\n', *ls[1:]], "expected a JSON object", id="no object"),
        pytest.param(lambda ls: [_text(ls[0], lambda t: t + "\n"), *ls[1:]], "a line is empty", id="a last newline"),
        pytest.param(lambda ls: [_text(ls[0], lambda t: t + "  x"), *ls[1:]], "white space", id="two spaces"),
        pytest.param(lambda ls: [_text(ls[0], lambda t: t + " e\u0301"), *ls[1:]], "not in NFC", id="not NFC"),
        pytest.param(lambda ls: [_text(ls[0], lambda t: "a\nb\n\n" + t), *ls[1:]], "more than one line", id="title"),
        pytest.param(lambda ls: [_text(ls[0], lambda t: "a\n\nb"), *ls[1:]], "2 blocks", id="no body"),
    ],
)
def test_line_that_violates_the_format_is_found(
    copy: Path, damage: Callable[[list[bytes]], list[bytes]], says: str
) -> None:
    path = first_file(copy)
    relisted(copy, path, damage(lines_of(copy, path)))
    result = run(verify.command, str(copy))
    assert result.exit_code == 1
    assert any(word in result.output for word in says.split("|"))


@pytest.mark.parametrize(
    ("folder", "damage", "says"),
    [
        ("corpus/metadata", {"has_pdf_parse": 1, "extra": 1}, "keys differ from S2ORC 20200705"),
        ("corpus/metadata", {"outbound_citations": ["b", "a"], "has_outbound_citations": True}, "not sorted"),
        (
            "corpus/metadata",
            {"inbound_citations": [], "has_inbound_citations": True},
            "has_inbound_citations contradicts inbound_citations",
        ),
        ("corpus/pdf_parses", {"abstract": None}, "malformed"),
        (
            "corpus/pdf_parses",
            {"abstract": [{"text": "abc", "cite_spans": [{"start": 0, "end": 1, "text": "b", "ref_id": None}]}]},
            "the text of a span in cite_spans differs",
        ),
        (
            "corpus/pdf_parses",
            {"abstract": [{"text": "abc", "ref_spans": [{"start": 0, "end": 1, "text": "a", "ref_id": "FIGREF9"}]}]},
            "refers to FIGREF9, which is not in ref_entries",
        ),
        ("corpus/pdf_parses", {"paper_id": "0"}, "has no metadata"),
    ],
)
def test_corpus_line_that_violates_its_format_is_found(
    copy: Path, folder: str, damage: dict[str, Any], says: str
) -> None:
    path = first_file(copy, folder)
    first, *rest = lines_of(copy, path)
    relisted(copy, path, [changed(first, **damage), *rest])
    result = run(verify.command, str(copy))
    assert result.exit_code == 1
    assert says in result.output


@pytest.mark.parametrize(
    "path", ["README.md", "index.parquet", "stats.json", "v2/s2ag/valid/00.jsonl.gz", "aliases.parquet"]
)
@pytest.mark.parametrize("damage", ["flipped", "shorter", "deleted"])
def test_damaged_file_is_found(copy: Path, path: str, damage: str) -> None:
    data = (copy / path).read_bytes()
    if damage == "deleted":
        (copy / path).unlink()
    else:
        middle = len(data) // 2
        flipped = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
        (copy / path).write_bytes(flipped if damage == "flipped" else data[:middle])
    result = run(verify.command, str(copy))
    assert result.exit_code == 1
    assert path in result.output


def remade(folder: Path, path: str) -> None:
    """Update the manifest's entry of a plain file after a change, which makes the manipulation harder to find."""
    data = (folder / path).read_bytes()
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    for file in manifest["files"]:
        if file["path"] == path:
            file |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    (folder / "manifest.json").write_bytes(orjson.dumps(manifest))


def index_with(folder: Path, **columns: Any) -> None:
    """Change columns in the first row of the index."""
    table = pq.read_table(folder / "index.parquet")
    rows = table.to_pylist()
    rows[0] |= columns
    pq.write_table(pa.Table.from_pylist(rows, table.schema), folder / "index.parquet")
    remade(folder, "index.parquet")


def first_of_s2orc(folder: Path) -> dict[str, Any]:
    return next(row for row in pq.read_table(folder / "index.parquet").to_pylist() if row["set"] == "s2orc")


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"words": 1}, "words; the index has 1"),
        ({"split": "held"}, ", but its file is v2/"),
        ({"set": "s2ag", "split": "valid", "file": "v2/s2orc/train/00.jsonl.gz"}, "but its file is v2/s2orc/train"),
    ],
)
def test_index_that_contradicts_the_files_is_found(copy: Path, columns: dict[str, Any], says: str) -> None:
    index_with(copy, **columns)
    result = run(verify.command, str(copy))
    assert result.exit_code == 1 and says in result.output


def test_full_text_without_evidence_is_found(copy: Path) -> None:
    table = pq.read_table(copy / "index.parquet")
    rows = [{**row, "oa_evidence": None} for row in table.to_pylist()]
    pq.write_table(pa.Table.from_pylist(rows, table.schema), copy / "index.parquet")
    remade(copy, "index.parquet")
    assert "is a full text without open-access evidence" in run(verify.command, str(copy)).output


def test_alias_to_a_missing_paper_is_found(copy: Path) -> None:
    table = pq.read_table(copy / "aliases.parquet")
    rows = [*table.to_pylist(), {"alias": "f" * 15, "paper_id": "e" * 15}]
    pq.write_table(pa.Table.from_pylist(rows, table.schema), copy / "aliases.parquet")
    remade(copy, "aliases.parquet")
    assert f"refers to {'e' * 15}, which is not a paper" in run(verify.command, str(copy)).output


def test_statistics_that_contradict_the_files_are_found(copy: Path) -> None:
    stats = orjson.loads((copy / "stats.json").read_bytes())
    stats["sets"]["s2orc"]["train"]["words"] += 1
    (copy / "stats.json").write_bytes(orjson.dumps(stats))
    remade(copy, "stats.json")
    assert "words of s2orc train; the files have" in run(verify.command, str(copy)).output


def test_text_added_to_an_empty_parse_is_found(copy: Path) -> None:
    for path in sorted((copy / "corpus/pdf_parses").glob("*.jsonl.gz")):
        relative = path.relative_to(copy).as_posix()
        lines = lines_of(copy, relative)
        closed = [i for i, line in enumerate(lines) if not orjson.loads(line)["body_text"]]
        if closed:
            lines[closed[0]] = changed(
                lines[closed[0]], body_text=[{"text": "closed text", "section": "", "cite_spans": []}]
            )
            relisted(copy, relative, lines)
            break
    else:
        raise AssertionError("the snapshot has no closed parse")
    assert "has_pdf_body_text is False, but its parse has body text" in run(verify.command, str(copy)).output


@pytest.mark.parametrize(
    "manifest", [b"[]", b'{"format": "s2corpus-snapshot-1"}', b'{"format": "s2corpus-snapshot-1", "files": [{}]}']
)
def test_malformed_manifest_gives_one_sentence(copy: Path, manifest: bytes) -> None:
    (copy / "manifest.json").write_bytes(manifest)
    result = run(verify.command, str(copy))
    assert isinstance(result.exception, UserError) or "malformed" in result.output


def test_published_snapshot_is_verified_from_its_publication(lake: Path, published: Path, tmp_path: Path) -> None:
    """Check that verification from the publication finds any change: an updated manifest differs from the published manifest."""
    whole = tmp_path / "lake"
    shutil.copytree(lake, whole)
    folder = whole / "snapshots" / published.name
    assert run(verify.command, str(folder)).exit_code == 0
    readme = folder / "README.md"
    readme.write_bytes(readme.read_bytes().replace(b"CC-BY-4.0", b"CC0-1.0  "))
    remade(folder, "README.md")
    assert "this is not the published manifest" in run(verify.command, str(folder)).output


def test_another_sample_record_is_found(copy: Path) -> None:
    stats = orjson.loads((copy / "stats.json").read_bytes())
    stats["samples"]["s2orc"]["text"] = "another text"
    (copy / "stats.json").write_bytes(orjson.dumps(stats))
    remade(copy, "stats.json")
    assert "stats.json: the samples differ" in run(verify.command, str(copy)).output


def test_unlisted_file_is_found(copy: Path) -> None:
    (copy / "v2" / "more.jsonl.gz").write_bytes(b"")
    assert "the manifest does not list this file" in run(verify.command, str(copy)).output


@pytest.mark.slow
def test_gzip_bomb_is_unpacked_only_to_its_listed_size(copy: Path) -> None:
    path = first_file(copy)
    (copy / path).write_bytes(gzip.compress(bytes(200_000_000), mtime=0))
    assert run(verify.command, str(copy)).exit_code == 1


def test_folder_without_snapshot_is_refused(tmp_path: Path) -> None:
    result = run(verify.command, str(tmp_path))
    assert isinstance(result.exception, UserError)
    assert "no manifest.json and no latest.json found" in str(result.exception)


def ids(published: Path) -> list[str]:
    return sorted(pq.read_table(published / "index.parquet")["id"].to_pylist())


def test_document_is_read_by_id_and_former_id(published: Path) -> None:
    wanted = ids(published)[3]
    found = orjson.loads(run(read.command, str(published), "--id", wanted).stdout_bytes)
    assert found["id"] == wanted
    alias = pq.read_table(published / "aliases.parquet").to_pylist()[0]
    if alias["paper_id"] in ids(published):
        former = orjson.loads(run(read.command, str(published), "--id", alias["alias"]).stdout_bytes)
        assert former["id"] == alias["paper_id"]
    assert "no document nobody" in str(run(read.command, str(published), "--id", "nobody").exception)


def test_read_sample_is_reproducible(published: Path) -> None:
    first = run(read.command, str(published), "--sample", "3", "--set", "s2ag").stdout_bytes
    assert len(first.splitlines()) == 3
    assert all(orjson.loads(line)["text"].count("\n\n") == 1 for line in first.splitlines())
    assert run(read.command, str(published), "--sample", "3", "--set", "s2ag").stdout_bytes == first


def test_sample_of_an_empty_split_is_empty(copy: Path) -> None:
    index = pq.read_table(copy / "index.parquet")
    pq.write_table(index.filter(pc.equal(index["split"], "train")), copy / "index.parquet")
    result = run(read.command, str(copy), "--sample", "3", "--split", "valid")
    assert (result.exit_code, result.stdout_bytes) == (0, b"")


def test_documents_are_read_by_regular_expression(published: Path) -> None:
    found = run(read.command, str(published), "--grep", "^On [A-M]").stdout_bytes.splitlines()
    everything = run(read.command, str(published), "--grep", ".").stdout_bytes.splitlines()
    assert sorted(orjson.loads(line)["id"] for line in everything) == ids(published)
    expected = [line for line in everything if "A" <= orjson.loads(line)["text"][3] <= "M"]
    assert found == expected
    assert "not a regular expression" in str(run(read.command, str(published), "--grep", "(").exception)


def test_latest_snapshot_is_read_by_spec_name(lake: Path, published: Path) -> None:
    by_name = run(read.command, "small", "--lake", str(lake), "--sample", "1")
    by_address = run(read.command, str(published), "--sample", "1")
    assert by_name.stdout_bytes == by_address.stdout_bytes != b""


@pytest.mark.parametrize("options", [[], ["--id", "a", "--sample", "1"]])
def test_read_without_selection_explains_the_options(published: Path, options: list[str]) -> None:
    assert "select documents with exactly one of --id" in str(run(read.command, str(published), *options).exception)
