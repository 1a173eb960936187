"""Registration, select and extract on one machine download a PDF once. A missing or damaged copy changes nothing."""

import os
import resource
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from s2corpus.deliveries.copies import Copies
from s2corpus.deliveries.ready import Delivery
from s2corpus.deliveries.registration import register
from s2corpus.errors import UserError
from s2corpus.extractors import Limits
from s2corpus.stages.extract import ExtractStage
from s2corpus.stages.select import SelectStage
from s2corpus.storage.local_lake import LocalLake
from s2corpus.tables.parses import EXTRACTIONS
from tests.standin_grobid import StandIn
from tests.unit.s2corpus.deliveries.samples import WHEN, deliver
from tests.unit.s2corpus.extractors.test_extract_stage import Intake, papers, work

DELIVERY = Delivery("drop", "", "d1", WHEN, "full", "0" * 16, 3)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the copies."""
    monkeypatch.setenv("S2CORPUS_SCRATCH", str(tmp_path))
    monkeypatch.setenv("S2CORPUS_CACHE_GB", "")
    return tmp_path / f"s2corpus-shared-{os.geteuid()}" / "pdfs"


def count_downloads(lake: LocalLake, monkeypatch: pytest.MonkeyPatch, between: Callable[[], object]) -> dict[str, int]:
    """Register a drop, select and extract its PDFs; call `between` after each. Return the downloads of each PDF."""
    downloads = Counter[str]()
    open_ = LocalLake.open

    def count(self: LocalLake, key: str) -> object:
        downloads[key] += key.endswith(".pdf")
        return open_(self, key)

    pdfs = papers(3)
    run = Intake(lake, pdfs).run()
    deliver(lake, "drops/d1", {f"{sha1[:8]}.pdf": data for sha1, data in pdfs.items()})
    monkeypatch.setattr(LocalLake, "open", count)
    with StandIn() as server:
        monkeypatch.setenv("GROBID_URL", server.url)
        register(lake, DELIVERY)
        between()
        work(SelectStage(), run)
        between()
        work(ExtractStage(Limits(in_flight=1)), run)
    assert [row["outcome"] for row in run.table(EXTRACTIONS).read().to_pylist()] == ["ok"] * 3
    return dict(+downloads)


def test_pdf_is_downloaded_once(lake: LocalLake, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(count_downloads(lake, monkeypatch, lambda: len(list(folder.iterdir())) == 3).values()) == {1}
    assert list(folder.iterdir()) == [], "closed papers do not remain on the disk"


@pytest.mark.parametrize("damage", [Path.unlink, Path.touch, lambda path: path.write_bytes(path.read_bytes()[:-1])])
def test_lost_or_truncated_copy_is_downloaded_again(
    lake: LocalLake, folder: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Path], object]
) -> None:
    def damage_one() -> None:
        damage(min(folder.iterdir()))

    expected = 1 if damage is Path.touch else 3
    found = count_downloads(lake, monkeypatch, damage_one)
    assert sorted(found.values()) == [1, 1, expected]
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("setting", ["0", "0.0000001"])
def test_without_copies_each_stage_downloads(
    lake: LocalLake, folder: Path, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    monkeypatch.setenv("S2CORPUS_CACHE_GB", setting)
    assert set(count_downloads(lake, monkeypatch, lambda: None).values()) == {3}


def test_full_disk_ends_the_copy_but_not_the_download(folder: Path) -> None:
    """The limit of a file's size stands for a full disk. No data wait in a buffer, whose end would raise the error again."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    copies = Copies.find()
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        with copies.receive(6000) as receiver:
            for _ in range(3):
                receiver.write(b"%PDF" * 500)
            receiver.store("0" * 40)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(folder.iterdir()) == []


def test_copy_of_another_user_is_not_read(folder: Path) -> None:
    Copies.find().receive(1)
    folder.parent.chmod(0o750)
    with pytest.raises(UserError, match="accessible to other users"):
        Copies.find()


def test_copy_of_a_killed_run_stays_one_day(folder: Path, tmp_path: Path) -> None:
    found = Copies.find()
    for name, age in (("today", 0), ("yesterday", 100_000)):
        (tmp_path / name).write_bytes(b"%PDF")
        found.store(name, tmp_path / name)
        past = (tmp_path / name).stat().st_mtime - age
        os.utime(folder / name, (past, past))
    Copies.find().store("new", tmp_path / "today")
    assert sorted(path.name for path in folder.iterdir()) == ["new", "today"]
