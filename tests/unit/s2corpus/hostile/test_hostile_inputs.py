"""More than two thousand damaged inputs each end in a named outcome or one sentence (docs/hostile-input.md).

`tests/unit/pdf2tei/test_extract.py` tests 2,000 damaged PDFs in addition.
"""

import gzip
import io
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from devtools.sample.truth import Truth
from s2corpus import sources
from s2corpus.cli import corpus
from s2corpus.deliveries.declarations import Declarations
from s2corpus.deliveries.ready import Refused, read_ready
from s2corpus.errors import TransientError, UserError
from s2corpus.evaluation import external
from s2corpus.evaluation.external import Corpus
from s2corpus.ids import ReleaseId, SnapshotId, check_spec_name
from s2corpus.snapshot.verify import verify
from s2corpus.spec_files import load_spec
from s2corpus.storage.error_kinds import convert_environment_error
from s2corpus.storage.lake import Lake, open_lake
from s2corpus.storage.parquet import open_parquet, read_parquet
from s2corpus.text.files import read_documents
from s2corpus_datasets.spec import load_dataset_spec
from s2corpus_reader.bounded import TooLarge
from s2orc_parse import jats, tei
from s2orc_parse.archives.reading import BadArchive, unpack_source
from s2orc_parse.latex.process import MAX_FILES, MAX_TEXT, MAX_UNPACKED
from tests.releases import ROOT
from tests.unit.s2corpus.snapshot.release import release
from tests.unit.s2orc_parse.jats.articles import article
from tests.unit.s2orc_parse.latex.archives import tar

TEI = (
    b'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title level="a">A title</title></titleStmt>'
    b"<sourceDesc><biblStruct><analytic><author><persName><forename>A</forename><surname>B</surname></persName></author>"
    b'</analytic></biblStruct></sourceDesc></fileDesc></teiHeader><text><body><div><head n="1">One</head><p>Words '
    b'<ref type="bibr" target="#b0">[1]</ref> and <ref type="figure" target="#fig_0">Fig. 1</ref>.</p><formula xml:id="formula_0">'
    b'x<label>(1)</label></formula></div><figure xml:id="fig_0"><head>Figure 1</head><figDesc>What.</figDesc></figure></body>'
    b'<back><div type="references"><listBibl><biblStruct xml:id="b0"><analytic><title level="a">Cited</title></analytic>'
    b'<monogr><imprint><date when="2001"/></imprint></monogr></biblStruct></listBibl></div></back></text></TEI>'
)
TEX = rb"\documentclass{article}\begin{document}\section{One}Words of a paper.\end{document}"
DOCUMENT = b'{"id": "a", "title": "A title", "abstract": "Words.", "date": "2020-01", "body": [{"section": "One::Two", "text": "Words."}]}'
DECLARED = b'{"name": "a.pdf", "open_access": true, "license": "CC-BY-4.0", "published": "2020-01-02", "title": "T", "doi": "10.1/x"}'
FILE = {"name": "a.pdf", "bytes": 1, "sha256": "0" * 64}
READY = orjson.dumps({"ready_at": "2023-01-01T00:00:00Z", "files": [FILE], "mode": "delta"})
NASTY = (b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"[" * 2000, b"<a>" * 2000, b"&#0;", b"1e999", b"-1", b"9" * 400,
         b"null", b"{}", b"[]", b"true", b"../", b"\r\n", b'"', b"%s{}", b"<!DOCTYPE a [<!ENTITY b 'c'>]>")  # fmt: skip


def damage(data: bytes, rng: random.Random) -> bytes:
    """Return the input with one to three damages."""
    for _ in range(rng.randint(1, 3)):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice((1, 2, 8, 64, 512)))
        data = rng.choice((
            lambda s=start, d=data: d[:s],
            lambda s=start, e=end, d=data: d[:s] + d[e:],
            lambda s=start, e=end, d=data: d[:s] + d[s:e] * 3 + d[e:],
            lambda s=start, e=end, d=data: d[:s] + rng.choice(NASTY) + d[e:],
            lambda s=start, d=data: d[:s] + rng.choice(NASTY) + d[s:],
            lambda s=start, e=end, d=data: d[:s] + rng.randbytes(e - s) + d[e:],
        ))()  # fmt: skip
    return data


def check(seeds: list[bytes], count: int, act: Callable[[bytes], object], *expected: type[Exception]) -> None:
    """Run an action on `count` damaged copies of the seeds; an unexpected error fails the test and reports its input."""
    for number in range(count):
        data = damage(seeds[number % len(seeds)], random.Random(number))
        try:
            act(data)
        except expected as error:
            assert str(error).strip(), (number, data[:200])
        except Exception as error:
            raise AssertionError(f"input {number}: {type(error).__name__}: {error}: {data[:300]!r}") from error


def test_damaged_tei_gives_a_named_outcome() -> None:
    check([TEI], 400, partial(tei.convert, file_sha1=""), tei.BadTei)


def test_damaged_jats_gives_a_named_outcome() -> None:
    body = "<sec><title>One</title><p>Words <xref ref-type='bibr' rid='B1'>1</xref>.</p></sec>"

    def convert(data: bytes) -> object:
        kind = jats.detect_kind(data)
        return kind and jats.CONVERTERS[kind](data, sha1="")

    check([article(body, 2)], 250, convert, jats.BadArticle)


def test_damaged_records_give_named_outcomes(tiny: tuple[Path, Truth]) -> None:
    for folder in sorted((tiny[0] / "sources").iterdir()):
        files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "_READY"]
        read = partial(lambda name, data: list(sources.read(name, io.BytesIO(data))), folder.name)
        check([path.read_bytes() for path in files], 60, read, UserError)


def test_damaged_documents_give_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    check([DOCUMENT], 300, lambda data: path.write_bytes(data) and list(read_documents(path)), UserError)


def test_damaged_declarations_give_named_outcomes() -> None:
    check([DECLARED], 250, lambda data: list(Declarations("d", {"a.pdf": "0" * 40}).entries(io.BytesIO(data))), Refused)


def test_damaged_ready_files_give_named_outcomes(lake: Lake) -> None:
    check([READY], 200, lambda data: lake.put("drops/d/_READY", data) and read_ready(lake, "drop", "", "d"), Refused)


@pytest.mark.parametrize(("folder", "load"), [("releases", load_spec), ("datasets", load_dataset_spec)])
def test_damaged_specs_give_one_sentence(folder: str, load: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "sample.yaml"
    seeds = [p.read_bytes() for p in sorted((ROOT / "include" / folder).glob("*.yaml"))]
    check(seeds, 120, lambda data: path.write_bytes(data) and load(path), UserError)


@pytest.mark.parametrize("parse", [ReleaseId.parse, SnapshotId.parse, check_spec_name])
def test_damaged_ids_give_one_sentence(parse: Callable[[str], object]) -> None:
    seeds = [b"s2_v2-20230101-0a1b2c3d", b"s2_v2-20230101", b"own-20230101T101112", b"s2_v2"]
    check(seeds, 100, lambda data: parse(data.decode("utf-8", "surrogateescape")), UserError)


def test_damaged_latex_archives_give_named_outcomes() -> None:
    plain = tar({"main.tex": TEX.decode(), "fig/a.bbl": "\\bibitem{a} A."})
    limits = (MAX_UNPACKED, MAX_FILES, MAX_TEXT)
    check([plain, gzip.decompress(plain)], 250, lambda data: unpack_source(data, *limits), BadArchive)


def test_damaged_manifests_give_one_sentence(tmp_path: Path) -> None:
    made = release(tmp_path, count=6)
    folder = open_lake(made.lake.uri(f"snapshots/{made.snapshot_id}"))
    manifest = folder.get("manifest.json")[0]
    check([manifest], 80, lambda data: folder.put("manifest.json", data) and next(verify(folder), None), UserError)


@pytest.mark.parametrize("corpus", Corpus)
def test_damaged_files_of_other_corpora_give_one_sentence(corpus: Corpus) -> None:
    body = [{"text": "Words.", "content_type": "paragraph"}]
    line = orjson.dumps(
        {"id": "1", "paper_id": "1", "sha1": "a" * 40, "title": "T", "text": "T\n\nWords.", "body_text": body,
         "metadata": {"title": "T", "doi": "10.1/x"}, "pdf_parse": {"body_text": body}}
    )  # fmt: skip
    check([line, gzip.compress(line, mtime=0)], 80, lambda data: list(external.read(corpus, "x", data)), UserError)


# -- Names of files.


@pytest.mark.parametrize(("suffix", "data"), [(".tei.xml", TEI), (".tex", TEX)])
def test_every_name_has_one_outcome(suffix: str, data: bytes, tmp_path: Path) -> None:
    (folder := tmp_path / "in").mkdir()
    for name in (os.fsdecode(b"caf\xe9"), "two\nlines", "tab\there", "plain"):
        (folder / f"{name}{suffix}").write_bytes(data)
    (folder / f"dangling{suffix}").symlink_to("nowhere")
    (folder / f"folder{suffix}").mkdir()
    out, rejects = tmp_path / "out.jsonl", tmp_path / "rejects.jsonl"
    with pytest.raises(SystemExit, match="1"):
        corpus.main(["convert", str(folder), "--out", str(out), "--rejects", str(rejects)], standalone_mode=False)
    found, rejected = ([orjson.loads(line) for line in path.read_bytes().splitlines()] for path in (out, rejects))
    assert sorted(line["paper_id"] for line in found) == ["caf\\xe9", "plain", "tab\\there", "two\\nlines"]
    assert [line["outcome"] for line in rejected] == ["unreadable"]


# -- Each command that reads a snapshot handles a missing, cut or replaced file.


FILES = (
    "manifest.json", "index.parquet", "aliases.parquet", "clusters.parquet", "keys/00.parquet", "stats.json",
    "v2/s2orc/train/00.jsonl.gz", "documents/s2orc/train/00.parquet", "corpus/metadata/metadata_0.jsonl.gz",
)  # fmt: skip
COMMANDS = (
    "read SNAPSHOT 0123456789abcde", "read SNAPSHOT --sample 50", "read SNAPSHOT 10.1234/7", "read SNAPSHOT --grep the",
    "diff SNAPSHOT WHOLE",
    "push SNAPSHOT OUT", "similar 10.1234/7 --snapshot SNAPSHOT",
)  # fmt: skip
SLOW = (
    "delta SNAPSHOT WHOLE --out OUT", "register SNAPSHOT --catalog sqlite:///OUT", "dataset contexts --snapshot SNAPSHOT --out OUT",
)  # fmt: skip
"""Slow commands, tested only with damage to the files that they read."""


def damages(path: Path) -> dict[str, bytes | None]:
    data = path.read_bytes()
    other = {".json": b"[3]", ".gz": gzip.compress(b'{"id": 5}\n[]\n')}.get(path.suffix, b"PAR1" + bytes(40) + b"PAR1")
    return {"gone": None, "cut": data[: len(data) // 2], "another": other}


@pytest.mark.parametrize("file", FILES)
def test_damaged_snapshot_file_gives_a_clear_error(file: str, published: Path, tmp_path: Path) -> None:
    snapshot, out = tmp_path / "lake/snapshots" / published.name, tmp_path / "out"
    shutil.copytree(published, snapshot)
    slow = SLOW if file in ("manifest.json", "index.parquet", "documents/s2orc/train/00.parquet") else ()
    for damage, data in damages(snapshot / file).items():
        (snapshot / file).unlink(missing_ok=True)
        if data is not None:
            (snapshot / file).write_bytes(data)
        for command in (*COMMANDS, *slow):
            words = (
                command.replace("SNAPSHOT", str(snapshot))
                .replace("WHOLE", str(published))
                .replace("OUT", str(out))
                .split()
            )
            try:
                corpus.main(words, standalone_mode=False)
            except (UserError, TransientError, click.ClickException) as error:
                assert "\n" not in str(error).strip(), (damage, command)
            except Exception as error:
                assert convert_environment_error(error) is not None, (damage, command)
            shutil.rmtree(out, ignore_errors=True)
            out.unlink(missing_ok=True)


# -- Each command that reads a Parquet file refuses one with more rows or values than its size allows.


COLUMNS = (
    "record_id", "paper_id", "source", "kind", "title", "authors", "abstract", "doi", "canonical_pdf", "file_sha1", "tei", "id", "text",
)  # fmt: skip
FORGED = {"many rows": pa.nulls(3_000_000, pa.string()), "one value again and again": pa.array(["a" * 100_000] * 1_000)}
RECORDS = {"record_id": ["dblp:1"], "source": ["dblp"], "kind": ["archive"], "title": ["A title of five words"]}
RIGHT = {
    "RECORDS": RECORDS, "PAPERS": {"paper_id": ["1"], "title": ["A title"]}, "ENTRIES": {"entry_id": ["1"], "title": ["A title"]},
}  # fmt: skip
PARQUET_COMMANDS = (
    "cluster --records FORGED --out OUT", "link --entries FORGED --papers PAPERS --out OUT",
    "link --entries ENTRIES --papers FORGED --out OUT", "clean --in FORGED --set s2orc --out OUT",
)  # fmt: skip
_RUN = """
import sys, resource
from s2corpus.cli import corpus
from s2corpus.errors import UserError
for line in sys.stdin.read().splitlines():
    try:
        corpus.main(line.split(), standalone_mode=False)
        print("accepted:", line)
    except UserError as error:
        print(error)
own = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))  # ru_maxrss is inherited
print(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.parametrize("kind", FORGED)
def test_commands_refuse_forged_parquet(kind: str, tmp_path: Path) -> None:
    places = {name: tmp_path / f"{name}.parquet" for name in (*RIGHT, "FORGED")} | {"OUT": tmp_path / "out.jsonl"}
    for name, columns in RIGHT.items():
        pq.write_table(pa.table(columns), places[name])
    values = pa.table(dict.fromkeys(COLUMNS, FORGED[kind]))
    pq.write_table(values, places["FORGED"], compression="zstd", row_group_size=len(values))
    assert places["FORGED"].stat().st_size < 1 << 20
    lines = [" ".join(str(places.get(word, word)) for word in command.split()) for command in PARQUET_COMMANDS]
    done = subprocess.run(
        [sys.executable, "-c", _RUN], input="\n".join(lines), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    *said, memory = done.stdout.splitlines()
    assert len(said) == len(PARQUET_COMMANDS)
    for command, sentence in zip(PARQUET_COMMANDS, said, strict=True):
        words = ("3,000,000 rows in",) if kind == "many rows" else ("bytes of values in", "bytes of columns in")
        assert str(places["FORGED"]) in sentence and any(word in sentence for word in words), (command, sentence[:500])
    assert max(map(int, memory.split())) < 1 << 20, "KiB; all values have 1.3 GB"
    assert not places["OUT"].exists()


def test_sizes_of_right_files_are_allowed(tmp_path: Path) -> None:
    """100,000 rows and 64 MiB of values are always allowed."""
    for length in (600, 700):
        pq.write_table(pa.table({"text": ["a" * length] * 100_000}), tmp_path / f"{length}.parquet", compression="zstd")
    with open_parquet(tmp_path / "600.parquet") as file:
        assert sum(batch.num_rows for batch in file.batches(rows=7_000)) == 100_000
    with pytest.raises(TooLarge, match=r"700\.parquet has more than"):
        read_parquet(tmp_path / "700.parquet")
