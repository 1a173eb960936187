"""The shell blocks of the guides run in order on releases of the tiny sample, on a real S3 server and a real catalog.

A page has a scratch folder with the files that it presumes. A block with the comment `<!-- not run: reason -->` is not
run. The tutorial's blocks and the README's command run without services, and print the output on the page.
"""

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
from tests.releases import PUBLISHED, ROOT, SECOND, Built
from tests.unit.s2orc_parse.tei.teis import document

pytestmark = pytest.mark.slow
_BLOCK = re.compile(r"(?ms)(?:^<!-- not run: ([^\n]+) -->\n)?^ *```(\w*)\n(.*?)^ *```$")
BLOCKS = [
    (page.stem, language, code, excuse)
    for page in sorted((ROOT / "docs").glob("*.md"))
    for excuse, language, code in _BLOCK.findall(page.read_text("utf-8"))
]
"""page, language, code, and the reason why no test runs the block (or nothing)"""
GUIDES = [
    pytest.param(page, code, marks=pytest.mark.skipif(bool(excuse), reason=excuse), id=f"{page}-{code[:40]}")
    for page, language, code, excuse in BLOCKS
    if language == "bash" and page != "tutorial"
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
    """The surroundings of the guides: services, and three releases of the tiny sample, whose spec replaces that of the guides."""

    environment: Mapping[str, str]
    values: Mapping[str, str]
    """pattern of an example value in the guides → the value of the sample that replaces it"""
    folder_of: Callable[[str], Path]
    """returns the scratch folder of a page, with the files that the page presumes"""


@pytest.fixture(scope="module")
def path() -> Iterator[str]:
    """Yield a PATH with a program `corpus` that runs in a fork."""
    with children.program() as programs:
        yield f"{programs}:{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"


def run_block(code: str, folder: Path, environment: Mapping[str, str]) -> str:
    """Run a block; return what it prints."""
    command = ["bash", "-euc", code]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=1000)
    assert done.returncode == 0, f"{code}\n{done.stdout[-1000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def world(
    services: Endpoints, built: Built, tiny: tuple[Path, Truth], path: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    @cache
    def make_folder(page: str) -> Path:
        folder = tmp_path_factory.mktemp(page)
        for name, content in FILES.get(page, {}).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        papers = tiny[0] / "drops" / "2023-01-a"
        shutil.copytree(papers, folder / "papers", ignore=shutil.ignore_patterns("_READY"))
        return folder

    with pytest.MonkeyPatch.context() as patch:
        environment = {**os.environ, **services.environ(), "S2CORPUS_LAKE": "s3://lake", "PATH": path}
        for name, value in environment.items():
            patch.setenv(name, value)
        for bucket in ("lake", "mirror", "other"):
            boto3.client("s3").create_bucket(Bucket=bucket)
        Catalog(environment["S2CORPUS_CATALOG"]).migrate()
        lake, source = open_lake("s3://lake"), open_lake(built.lake)
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda entry: lake.put(entry.key, source.get(entry.key)[0]), source.list("")))
        (first, *_) = next(s2corpus_reader.open("s3://lake/snapshots/sample").documents("s2orc")).to_pylist()
        values = {
            r"s2_v2-20230201-\w{8}": str(built.runs[PUBLISHED].snapshot_id),
            r"s2_v2-20230301-\w{8}": str(built.runs[SECOND].snapshot_id),
            r"\bs2_v2\b": "sample",
            "0123456789abcde": first["id"],
            r"10\.18653/v1/2020\.acl-main\.447": first["doi"],
        }
        yield World(environment, values, make_folder)


@pytest.mark.services
@pytest.mark.parametrize(("page", "code"), GUIDES)
def test_block_runs(page: str, code: str, world: World) -> None:
    for pattern, value in world.values.items():
        code = re.sub(pattern, value, code)
    run_block(code, world.folder_of(page), world.environment)


def test_tutorial_runs_and_prints_its_output(tmp_path: Path, tiny: tuple[Path, Truth], path: str) -> None:
    """Compare the output after each shell block; times and folders may differ. The sample exists before the tutorial makes it."""
    shutil.copytree(tiny[0], tmp_path / "try" / "sample")
    for name in ("include", "devtools"):
        (tmp_path / name).symlink_to(ROOT / name)
    environment = {**os.environ, "PATH": path, "PYTHONPATH": f"{tmp_path}:{ROOT / 'include'}"}
    environment.pop("GROBID_URL", None)
    printed = ""
    for language, code, excuse in [block[1:] for block in BLOCKS if block[0] == "tutorial"]:
        if language == "bash" and not excuse:
            printed = comparable(run_block(code, tmp_path, environment))
        elif language == "text":
            assert not [line for line in code.splitlines() if comparable(line) not in printed], printed


def comparable(text: str) -> str:
    """Return the text without times, folders and repeated spaces."""
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:+]+", "TIME", text)
    return re.sub(r" +", " ", re.sub(r"\S*try/lake", "LAKE", text)).strip()


def test_command_of_the_readme_runs_as_printed(tmp_path: Path, path: str) -> None:
    (line,) = re.findall(r"(?m)^(corpus parse .*?)  +#", (ROOT / "README.md").read_text("utf-8"))
    (tmp_path / "a.tei.xml").write_bytes(document("<div><head>One</head><p>Some words.</p></div>"))
    run_block(line, tmp_path, {**os.environ, "PATH": path})
    assert "Some words." in (tmp_path / "parses.jsonl").read_text()
