"""The shell blocks of the guides run in order on releases of the tiny sample, on a real S3 server and a real catalog.

A page has a scratch folder with the files that it presumes. A block with the comment `<!-- not run: reason -->` is not
run. The tutorial's blocks and the README's command run without services, and print the output on the page.
"""

import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest

import s2corpus_reader
from devtools.local import Endpoints
from devtools.sample.truth import Truth
from s2corpus.catalog import Catalog
from s2corpus.storage.lake import open_lake
from tests import children
from tests.http_server import Request, serve
from tests.releases import PUBLISHED, ROOT, SECOND, Built
from tests.standin_docling import StandIn
from tests.unit.s2orc_parse.tei.teis import document

pytestmark = pytest.mark.slow
_BLOCK = re.compile(r"(?ms)(?:^<!-- not run: ([^\n]+) -->\n)?^ *```(\w*)\n(.*?)^ *```$")
BLOCKS = [
    (page.stem, language, code, excuse)
    for page in sorted((ROOT / "docs").glob("*.md"))
    for excuse, language, code in _BLOCK.findall(page.read_text("utf-8"))
]
"""page, language, code, and the reason why no test runs the block (or nothing)"""
WITHOUT_SERVICES = ("extractors", "json-lines", "openalex", "scaling", "tutorial")
"""pages that run from their first to their last block in one folder, each by its own test"""
GUIDES = [
    pytest.param(page, code, marks=pytest.mark.skipif(bool(excuse), reason=excuse), id=f"{page}-{code[:40]}")
    for page, language, code, excuse in BLOCKS
    if language == "bash" and page not in WITHOUT_SERVICES
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
        "pmc/PMC1.xml": b"<article><front><article-meta><article-id pub-id-type='pmc'>1</article-id><title-group>"
        b"<article-title>On d</article-title></title-group></article-meta></front></article>",
    },
    "deployment": {"include/releases/sample.yaml": (ROOT / "include/releases/sample.yaml").read_bytes()},
    "years": {"include/releases/sample.yaml": (ROOT / "include/releases/sample.yaml").read_bytes()},
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
    """Run a block; return its output."""
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
            r"s2_v2-20230201-\w{8}": str(built.runs[PUBLISHED].snapshot_id), r"s2_v2-20230301-\w{8}": str(built.runs[SECOND].snapshot_id),
            r"\bs2_v2\b": "sample", "0123456789abcde": first["id"], r"10\.18653/v1/2020\.acl-main\.447": first["doi"],
        }  # fmt: skip
        yield World(environment, values, make_folder)


@pytest.mark.services
@pytest.mark.parametrize(("page", "code"), GUIDES)
def test_block_runs(page: str, code: str, world: World) -> None:
    for pattern, value in world.values.items():
        code = re.sub(pattern, value, code)
    run_block(code, world.folder_of(page), world.environment)


def test_tutorial_runs_and_prints_its_output(tmp_path: Path, tiny: tuple[Path, Truth], path: str) -> None:
    """Run the blocks in one shell, and compare the output after each; times, sizes and folders may differ.

    The sample exists before the tutorial makes it.
    """
    shutil.copytree(tiny[0], tmp_path / "try" / "sample")
    for name in ("include", "devtools"):
        (tmp_path / name).symlink_to(ROOT / name)
    environment = {**os.environ, "PATH": path, "PYTHONPATH": f"{tmp_path}:{ROOT / 'include'}"}
    environment |= {"S2CORPUS_RELEASES": str(tmp_path / "specs")}
    environment.pop("GROBID_URL", None)
    blocks = [(language, code) for page, language, code, excuse in BLOCKS if page == "tutorial" and not excuse]
    end = "--- the end of a block ---"
    printed = run_block(
        f"\necho '{end}'\n".join(code for language, code in blocks if language == "bash"), tmp_path, environment
    )
    outputs = iter(map(comparable, printed.split(end)))
    output = ""
    for language, code in blocks:
        if language == "bash":
            output = next(outputs)
        elif language == "text":
            assert not [line for line in code.splitlines() if comparable(line) not in output], output


@pytest.fixture
def papers(tiny: tuple[Path, Truth], tmp_path: Path) -> Path:
    """Return a folder with two papers and a truncated one."""
    (folder := tmp_path / "papers").mkdir()
    for name in ("bracket", "name-year", "truncated"):
        shutil.copy(tiny[0] / "drops/2023-01-a" / f"{name}.pdf", folder)
    return folder


def run_page(name: str, folder: Path, path: str, **variables: str) -> str:
    """Run the blocks of a page in one shell without services; return their output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GROBID", "S2CORPUS"))}
    environment |= {"PATH": path, "PYTHONPATH": str(ROOT / "include"), **variables}
    return run_block("\n".join(code for page, _, code, _ in BLOCKS if page == name), folder, environment)


def test_page_on_json_lines_writes_papers_texts_and_citations(papers: Path, path: str) -> None:
    printed = run_page("json-lines", papers.parent, path)
    lines = [json.loads(line) for line in (papers.parent / "s2orc.jsonl").open()]
    assert [line["paper_id"] for line in lines] == ["bracket", "name-year"]
    assert "truncated" in printed and all(line["title"] in printed for line in lines)
    assert sorted(file.stem for file in (papers.parent / "text").iterdir()) == ["bracket", "name-year"]
    cited = [row.split("\t")[3] for row in (papers.parent / "citations.tsv").read_text("utf-8").splitlines()]
    titles = {entry["title"] for line in lines for entry in line["bib_entries"].values()}
    assert len(titles.intersection(cited)) > 10


def test_page_on_openalex_links_papers_to_other_works(papers: Path, tiny: tuple[Path, Truth], path: str) -> None:
    """The server has the truth's works in OpenAlex's format: papers by DOI, with the ids of the works that they cite."""
    truth = json.loads((tiny[0] / "truth.json").read_bytes())["papers"]
    names = {"10.70112/a": "bracket", "10.70112/b": "name-year"}
    (papers / "records.jsonl").write_text(
        "".join(json.dumps({"name": f"{name}.pdf", "doi": doi}) + "\n" for doi, name in names.items())
    )
    titles = sorted({entry["title"] for paper in truth for entry in paper["bibliography"]})
    cited = {
        f"W{n}": {
            "id": f"https://openalex.org/W{n}", "title": title, "type": "article", "publication_year": 2001,
            "authorships": [{"author": {"display_name": "A. Byron"}, "raw_author_name": "A. Byron"}],
        }
        for n, title in enumerate(titles, 1)
    }  # fmt: skip
    references = [work["id"] for work in cited.values()]
    asked = []

    def answer(request: Request) -> tuple[int, bytes, dict[str, str]]:
        kind, _, ids = parse_qs(urlsplit(request.path).query)["filter"][0].partition(":")
        asked.append(ids.split("|"))
        own = [
            {"id": f"https://openalex.org/W9{n}", "doi": f"https://doi.org/{doi}", "referenced_works": references}
            for n, doi in enumerate(asked[-1])
        ]  # fmt: skip
        return 200, json.dumps({"results": own if kind == "doi" else [cited[id_] for id_ in asked[-1]]}).encode(), {}

    with serve(answer) as url:
        run_page("openalex", papers.parent, path, OPENALEX_URL=url)
    assert max(map(len, asked)) <= 50 and sorted(id_ for ids in asked[1:] for id_ in ids) == sorted(cited)
    counts = dict(
        re.findall(r"(?m)^ +(Bibliography entries|linked) +(\d+)", (papers.parent / "summary.txt").read_text())
    )
    assert int(counts["Bibliography entries"]) > 15 and int(counts["linked"]) > 0.9 * int(
        counts["Bibliography entries"]
    )


def test_page_on_extractors_converts_with_docling(papers: Path, tmp_path: Path) -> None:
    """The page installs the adapter from its package. The server answers in docling's form."""
    for name in ("devtools", ".venv"):
        (tmp_path / name).symlink_to(ROOT / name)
    install, conversion = [
        code for page, language, code, excuse in BLOCKS if (page, language) == ("extractors", "bash") and not excuse
    ]
    install = install.replace(
        "uv pip install --python .venv/bin/python", "uv pip install -q --no-build-isolation --target installed"
    )
    environment = {
        **os.environ, "PATH": f"{ROOT / '.venv/bin'}:{os.environ['PATH']}", "VIRTUAL_ENV": str(ROOT / ".venv"),
    }  # fmt: skip
    environment["PYTHONPATH"] = os.pathsep.join(map(str, (ROOT / "include", tmp_path / "installed", ROOT)))
    run_block(install, tmp_path, environment)
    with StandIn() as server:
        conversion = conversion.strip().replace("docling+http://127.0.0.1:5001", server.url)
        run_block(conversion + " || true", tmp_path, environment)
    lines = [json.loads(line) for line in (tmp_path / "s2orc.jsonl").open()]
    assert {line["title"] for line in lines} == {"A small paper"} and len(lines) == 3


def comparable(text: str) -> str:
    """Return the text without times, folders and repeated spaces."""
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:+]+|\d{8}T\d{6}(-[0-9a-f]{8})?", "TIME", text)
    return re.sub(r" +", " ", re.sub(r"\S*try/lake", "LAKE", text)).strip()


def test_command_of_the_readme_runs_as_printed(tiny: tuple[Path, Truth], tmp_path: Path, path: str) -> None:
    (line,) = re.findall(r"(?m)^(corpus convert .*?)  +#", (ROOT / "README.md").read_text("utf-8"))
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers/a.tei.xml").write_bytes(document("<div><head>One</head><p>Some words.</p></div>"))
    shutil.copy(min((tiny[0] / "drops" / "2023-01-a").glob("*.pdf")), tmp_path / "papers/b.pdf")
    run_block(line, tmp_path, {**os.environ, "PATH": path})
    papers = [json.loads(line) for line in (tmp_path / "s2orc.jsonl").open()]
    assert [paper["paper_id"] for paper in papers] == ["a", "b"]
    assert "Some words." in papers[0]["body_text"][0]["text"] and papers[1]["body_text"][0]["text"]
