"""LaTeX sources pass through a complete release.

ArXiv ids assign them to papers; they are linked and offered. The spec decides whether their text is used.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pyarrow.compute as pc
import pytest

from devtools.sample.truth import Truth
from s2corpus.pipeline.run import Run
from s2corpus.snapshot.verify import verify
from s2corpus.spec import CleanRules
from s2corpus.storage.lake import open_lake
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.parses import LATEX_PARSES
from s2corpus.tables.texts import CONTEXTS, DOCUMENTS, FULLTEXTS, LINKS
from tests.releases import build, copy_lake, deliver, rows, run_in, spec
from tests.unit.s2orc_parse.latex.archives import article, gz

pytestmark = pytest.mark.slow

WITHDRAWN = "2301.00001"
WORDS = (
    "Our own source describes findings that no printed page contains. They show how little machines read when people look "
    "elsewhere, and why careful authors with files in good order may expect better answers from every tool that follows them later. "
) * 3


def source(cited: str) -> bytes:
    sections = "".join(f"\\section{{Part {n}}} {WORDS} As \\cite{{other}} show. {WORDS}\n\n{WORDS}\n" for n in range(5))
    item = f"\\bibitem{{other}} A. Person.\n\\newblock {cited}.\n\\newblock \\emph{{Some Journal}}, 2019."
    entries = f"\\begin{{thebibliography}}{{1}}{item}\\end{{thebibliography}}"
    return gz(article(sections, entries=entries))


@pytest.fixture(scope="module")
def papers(released: tuple[Run, Truth]) -> list[dict[str, Any]]:
    """Return the open papers of a release without LaTeX sources; papers with an arXiv id are first."""
    found = released[0].table(PAPERS).read(where=pc.field("open_access")).to_pylist()
    return sorted(found, key=lambda paper: not paper["arxiv_id"])


@pytest.mark.parametrize("text_from", ["latex", pytest.param("pdf", marks=pytest.mark.long)])
def test_latex_source_belongs_to_paper_of_its_arxiv_id(
    released: tuple[Run, Truth],
    extractor: Mapping[str, str],
    papers: list[dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text_from: str,
) -> None:
    for name, value in extractor.items():
        monkeypatch.setenv(name, value)
    paper, other = papers[0], papers[1]
    release = spec()
    clean = CleanRules.model_validate({**release.clean.model_dump(), "text_from": text_from})
    release = release.model_copy(update={"drops": ("*",), "clean": clean})
    copy_lake(released, tmp_path)
    run = run_in(tmp_path, release)
    data = source(other["title"])
    deliver(
        run.lake,
        "drops/latex-sources/",
        {
            f"{paper['arxiv_id'].replace('/', '')}v2.gz": data,
            "notes.tex": b"no arXiv id in this name",
            "named.gz": gzip.compress(b"%auto-ignore\nwithdrawn", mtime=0),
            "records.jsonl": orjson.dumps({"name": "named.gz", "arxiv_id": WITHDRAWN}) + b"\n",
        },
    )
    snapshot = build(run)

    outcomes = sorted((row["arxiv_id"] or "", row["outcome"]) for row in rows(run, LATEX_PARSES))
    assert outcomes == sorted([("", "no_arxiv_id"), (WITHDRAWN, "withdrawn"), (paper["arxiv_id"], "ok")])
    (found,) = [row for row in rows(run, PAPERS) if row["latex_parse_id"]]
    assert found["paper_id"] == paper["paper_id"]
    assert {name: found[name] for name in ("title", "authors", "abstract")} == {
        name: paper[name] for name in ("title", "authors", "abstract")
    }
    (fulltext,) = rows(run, FULLTEXTS, parse_kind="latex")
    assert fulltext["paper_id"] == paper["paper_id"] and fulltext["open_access"]
    assert fulltext["file_sha1"] == hashlib.sha1(data).hexdigest()

    (link,) = rows(run, LINKS, parse_kind="latex")
    assert (link["paper_id"], link["cited_paper_id"]) == (paper["paper_id"], other["paper_id"])
    assert len(rows(run, CONTEXTS, parse_kind="latex")) == 5

    lines: list[dict[str, Any]] = []
    for entry in run.lake.list(f"snapshots/{snapshot}/corpus/latex_parses/"):
        lines += [orjson.loads(line) for line in gzip.decompress(run.lake.get(entry.key)[0]).splitlines()]
    (parse,) = lines
    assert parse["paper_id"] == paper["paper_id"] and parse["bib_entries"]["BIBREF0"]["link"] == other["paper_id"]

    assert list(verify(open_lake(f"{tmp_path}/lake/snapshots/{snapshot}"))) == []

    (document,) = rows(run, DOCUMENTS, set="s2orc", paper_id=paper["paper_id"])
    assert document["outcome"] == "kept"
    assert (WORDS.strip() in document["text"]) is (text_from == "latex")
