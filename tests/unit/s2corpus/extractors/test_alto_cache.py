"""pdfalto runs once for a PDF: select caches its output, and the extractor on the same machine takes it.

The cache is bounded, and a failure of the cache changes no outcome.
"""

import gzip
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pdf2tei import extract
from pdf2tei.pages import alto_cache
from pdf2tei.pages.alto_cache import ENTRY
from pdf2tei.paper import extract as extract_with_cache
from s2corpus.extractors import Limits
from s2corpus.extractors.embedded import embedded_extractor
from s2corpus.pdf.inspection import find_text_failure
from s2corpus.stages.extract import ExtractStage
from s2corpus.stages.select import SelectStage
from s2corpus.storage.lake import Lake
from s2corpus.tables.parses import EXTRACTIONS, SELECTIONS
from s2orc_parse.bounded_folder import BoundedFolder
from tests.unit.s2corpus.extractors.test_extract_stage import Intake, papers, work
from tests.unit.s2corpus.pdf.bad_pdfs import KINDS

COMPARED = ["file_sha1", "outcome", "tei_sha1"]
COUNTER = """
import os, sys
counter = os.open({path!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
def count(event, arguments):
    if event == "subprocess.Popen" and str(arguments[0]).endswith("pdfalto"):
        os.write(counter, b"x")
sys.addaudithook(count)
"""
"""A module that counts the runs of pdfalto in all Python processes that find it, also inside the sandbox."""


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the setting."""
    folder = tmp_path / "base"
    folder.mkdir()
    monkeypatch.setenv("S2CORPUS_ALTO", str(folder))
    return folder


def test_pdfalto_runs_once_for_each_pdf_of_a_release(
    lake: Lake, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outcomes and TEI are equal without the cache, and no entry remains."""
    counter = tmp_path / "counter"
    (tmp_path / "sitecustomize.py").write_text(COUNTER.format(path=str(counter)))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    html, scan = (KINDS[name][0]() for name in ("html", "blank"))
    pdfs = papers(3) | {hashlib.sha1(data).hexdigest(): data for data in (html, scan)}
    results = []
    with embedded_extractor(1) as (url, token):
        monkeypatch.setenv("GROBID_URL", url)
        monkeypatch.setenv("S2CORPUS_EXTRACTOR_TOKEN", token)
        for month, gigabytes, runs in ((1, "", (4, 4)), (2, "0", (8, 11))):
            monkeypatch.setenv("S2CORPUS_CACHE_GB", gigabytes)
            run = Intake(lake, pdfs, shards=1, month=month).run()
            work(SelectStage(), run)
            runs_in_select = counter.stat().st_size
            work(ExtractStage(Limits(in_flight=1)), run)
            assert (runs_in_select, counter.stat().st_size) == runs
            results.append((run.table(SELECTIONS).read(), run.table(EXTRACTIONS).read(COMPARED)))
            for key in [entry.key for entry in lake.list("") if entry.key.startswith("stored_")]:
                lake.delete(key)
        assert [path.name for path in base.rglob("*") if len(path.name) == 40] == []
    assert results[0] == results[1]


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("paper") / "paper.pdf"
    path.write_bytes(next(iter(papers(1).values())))
    return path


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda entry: b"", id="empty"),
        pytest.param(lambda entry: entry[:-1], id="truncated"),
        pytest.param(lambda entry: gzip.compress(bytes(alto_cache.MAX_BYTES) + b"</alto>"), id="bomb"),
        pytest.param(lambda entry: gzip.compress(b"\0<!DOCTYPE a></alto>"), id="declarations"),
    ],
)
def test_damaged_entry_is_a_miss(tmp_path: Path, paper: Path, damage: Callable[[bytes], bytes]) -> None:
    expected = extract(paper, timeout=60)
    assert find_text_failure(paper.read_bytes(), tmp_path, timeout=60, cache=True) is None
    (tmp_path / "damaged").write_bytes(damage((tmp_path / ENTRY).read_bytes()))
    assert extract_with_cache(paper, timeout=60, cached=tmp_path / "damaged") == expected


def test_full_disk_leaves_no_entry(tmp_path: Path, paper: Path) -> None:
    (tmp_path / ENTRY).symlink_to("/dev/full")
    for name in ("out.xml", "out_metadata.xml"):
        (tmp_path / name).write_text("<alto/>")
    alto_cache.pack(tmp_path / "out.xml", tmp_path / ENTRY)
    assert not (tmp_path / ENTRY).is_symlink()


def list_entries(folder: Path) -> list[int]:
    return sorted(int(path.name) for path in folder.iterdir() if path.name != ".whole")


def test_full_cache_stores_entries_after_others_were_taken(tmp_path: Path, base: Path) -> None:
    """The bound is 64 entries, of which an eighth is reserved for other writers."""
    with alto_cache.open_folder() as folder:
        writer = alto_cache.Writer(BoundedFolder(folder, 64_000))
        (tmp_path / "entry").write_bytes(b"x" * 1000)
        for number in range(100):
            writer.store(str(number), tmp_path / "entry")
        assert list_entries(folder) == list(range(56))
        (folder / "0").unlink()
        writer.store("100", tmp_path / "entry")
        assert list_entries(folder) == [*range(1, 56), 100]


def test_writer_needs_a_server_and_a_private_folder(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S2CORPUS_CACHE_GB", "")
    assert alto_cache.Writer.find() is None
    with alto_cache.open_folder() as folder:
        assert alto_cache.Writer.find() is not None
        folder.parent.chmod(0o750)
        assert alto_cache.Writer.find() is None


def test_links_pipes_and_large_files_are_not_stored(tmp_path: Path, base: Path, paper: Path) -> None:
    (tmp_path / "link").symlink_to(paper)
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", alto_cache.MAX_BYTES + 1)
    os.mkfifo(tmp_path / "pipe")
    os.open(tmp_path / "pipe", os.O_RDWR)  # a reader would wait for this writer
    with alto_cache.open_folder() as folder:
        for number, name in enumerate(("link", "large", "pipe")):
            alto_cache.Writer(BoundedFolder(folder, 1 << 40)).store(str(number), tmp_path / name)
        assert list_entries(folder) == []
