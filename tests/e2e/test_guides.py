"""The shell blocks of the guides run in order on releases of the tiny sample, on a real S3 server and a real catalog.

A page has a scratch folder with the files that it presumes. A block with the comment `<!-- not run: reason -->` is not
run. `test_tutorial.py` runs the tutorial.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import boto3
import pytest

import s2corpus_reader
from devtools.local import Endpoints
from devtools.sample.truth import Truth
from s2corpus.catalog import Catalog
from s2corpus.storage.lake import open_lake
from tests import children
from tests.doc_blocks import DOCS, Block, read_blocks
from tests.releases import PUBLISHED, ROOT, SECOND, Built

pytestmark = [pytest.mark.slow, pytest.mark.services]
BLOCKS = [
    (page.stem, block)
    for page in sorted(DOCS.glob("*.md"))
    if page.stem != "tutorial"
    for block in read_blocks(page)
    if block.language == "bash"
]
_WORKS = b'{"DOI": "10.1000/a", "type": "journal-article", "title": ["On a"], "author": [{"given": "Ada", "family": "Byron"}]}\n'
_PUBMED = gzip.compress(b"<PubmedArticleSet></PubmedArticleSet>")
FILES: Mapping[str, Mapping[str, bytes]] = {
    "drops": {"crossref-2026-11.json": _WORKS},
    "sources": {
        "works.jsonl": _WORKS,
        "crossref-public-data-file/0.jsonl.gz": gzip.compress(_WORKS),
        "2026-05-01.json": _WORKS,
        "arxiv-metadata-oai-snapshot.json": b'{"id": "2004.14974", "title": "On b"}\n',
        "2026-11-21.xml": b"<OAI-PMH></OAI-PMH>",
        "openalex-works/updated_date=2026-11-01/part_000.gz": gzip.compress(
            b'{"id": "https://openalex.org/W1", "title": "On c"}\n'
        ),
        "dblp.xml.gz": gzip.compress(b"<dblp></dblp>"),
        "acl-anthology/data/xml/2020.acl.xml": b"<collection id='2020.acl'></collection>",
        "unpaywall_snapshot_2026.jsonl.gz": gzip.compress(b'{"doi": "10.1000/a", "is_oa": false}\n'),
        "pubmed26n0001.xml.gz": _PUBMED,
        "pubmed26n0001.xml.gz.md5": f"MD5(pubmed26n0001.xml.gz)= {hashlib.md5(_PUBMED).hexdigest()}\n".encode(),
        "pmc/PMC1.xml": b"<article></article>",
    },
    "datasets": {"my.yaml": b"name: my\ndataset: contexts\nreleases: [sample]\n"},
}
"""page → the files that it presumes"""


@dataclass(frozen=True)
class World:
    """The surroundings of the guides: services, the tiny sample, and three releases of it; `sample` replaces the spec of the guides."""

    environment: Mapping[str, str]
    sample: Path
    values: Mapping[str, str]
    """pattern of an example value in the guides → the value of the sample that replaces it"""

    def fill_in(self, code: str) -> str:
        """Return the code with the sample's ids instead of the example ids."""
        for pattern, value in self.values.items():
            code = re.sub(pattern, value, code)
        return code


@pytest.fixture(scope="module")
def world(services: Endpoints, built: Built, tiny: tuple[Path, Truth]) -> Iterator[World]:
    with children.program() as programs, pytest.MonkeyPatch.context() as patch:
        path = f"{programs}:{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"
        environment = {**os.environ, **services.environ(), "S2CORPUS_LAKE": "s3://lake", "PATH": path}
        for name, value in environment.items():
            patch.setenv(name, value)
        for bucket in ("lake", "mirror", "other"):
            boto3.client("s3").create_bucket(Bucket=bucket)
        Catalog(environment["S2CORPUS_CATALOG"]).migrate()
        lake, source = open_lake("s3://lake"), open_lake(built.lake)
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda entry: lake.put(entry.key, source.get(entry.key)[0]), source.list("")))
        snapshot = s2corpus_reader.open("s3://lake/snapshots/sample")
        (first, *_) = next(snapshot.documents("s2orc", columns=["id", "doi"])).to_pylist()
        values = {
            r"s2_v2-20230201-\w{8}": built.runs[PUBLISHED].snapshot_id,
            r"s2_v2-20230301-\w{8}": built.runs[SECOND].snapshot_id,
            r"\bs2_v2\b": "sample",
            "0123456789abcde": first["id"],
            r"10\.18653/v1/2020\.acl-main\.447": first["doi"],
        }
        yield World(environment, tiny[0], values)


@pytest.fixture(scope="module")
def folder_of(world: World, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that returns the scratch folder of a page, with the files that the page presumes."""

    @cache
    def make(page: str) -> Path:
        folder = tmp_path_factory.mktemp(page)
        for name, content in FILES.get(page, {}).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        shutil.copytree(
            world.sample / "drops" / "2023-01-a", folder / "papers", ignore=shutil.ignore_patterns("_READY")
        )
        return folder

    return make


@pytest.mark.parametrize(("page", "block"), BLOCKS, ids=[f"{page}-{block.code[:40]}" for page, block in BLOCKS])
def test_block_runs(page: str, block: Block, folder_of: Callable[[str], Path], world: World) -> None:
    if block.excuse:
        pytest.skip(block.excuse)
    code = world.fill_in(block.code)
    done = subprocess.run(
        ["bash", "-euc", code], cwd=folder_of(page), env=world.environment, capture_output=True, text=True, timeout=1000
    )
    assert done.returncode == 0, f"{code}\n{done.stdout[-1000:]}\n{done.stderr[-3000:]}"
