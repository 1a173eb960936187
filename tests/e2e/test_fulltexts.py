"""Full texts of every kind in one release: identifiers assign them to papers, and they are linked, offered and published as text.

Publishers' files carry their DOI, LaTeX sources the arXiv id of their name, and PDFs print the DOI of a record of
Unpaywall, which has no title.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import orjson
import pyarrow.parquet as pq
import pytest

from devtools.sample.truth import PdfTruth, Truth
from s2corpus.pipeline import runner
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.snapshot.verify import verify
from s2corpus.spec import CleanRules
from s2corpus.storage.lake import open_lake
from s2corpus.tables.intake import ARTICLES
from s2corpus.tables.papers import MEMBERS, PAPERS
from s2corpus.tables.parses import ARTICLE_PARSES, LATEX_PARSES
from s2corpus.tables.texts import CONTEXTS, DOCUMENTS, FULLTEXTS, LINKS
from s2orc_parse.jats import VERSIONS
from tests.releases import build, deliver, rows, run_in, spec
from tests.unit.s2orc_parse.latex.archives import article, gz

pytestmark = pytest.mark.slow


WORDS = (
    "The publisher's own file describes the printed findings about these matters. They show how little machines read when people look "
    "elsewhere, and why careful authors with files in good order may expect better answers from every tool that follows them later. "
) * 3
CC_BY = '<permissions><license xlink:href="https://creativecommons.org/licenses/by/4.0/"><license-p>Open.</license-p></license></permissions>'
DOI, TITLE = "10.5555/printed.7", "On printed matters and their later readers"
CITED, CITED_TITLE = "10.1016/j.tests.2018.01.001", "How numbers differ from words in print"
ARXIV, WITHDRAWN = "2301.09999", "2301.00001"
LATEX_WORDS = WORDS.replace("The publisher's own file", "Our own source")
BOTH = "Papers that two publishers print"


def jats(
    doi: str,
    title: str,
    *,
    permissions: str = CC_BY,
    cites: str = "A work without any other record",
    words: str = WORDS,
) -> bytes:
    sections = "".join(
        f'<sec><title>Part {n}</title><p>{words} As <xref ref-type="bibr" rid="B1">1</xref> shows.</p></sec>'
        for n in range(6)
    )
    return (
        '<article xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta>'
        f'<article-id pub-id-type="doi">{doi}</article-id><title-group><article-title>{title}</article-title></title-group>'
        '<contrib-group><contrib contrib-type="author"><name><surname>Lee</surname><given-names>Ann</given-names></name></contrib>'
        f"</contrib-group><pub-date><day>3</day><month>4</month><year>2019</year></pub-date>{permissions}"
        f"<abstract><p>{WORDS}</p></abstract></article-meta></front><body>{sections}</body><back><ref-list><ref id='B1'><label>1</label>"
        f"<element-citation><article-title>{cites}</article-title><year>2018</year></element-citation></ref></ref-list></back></article>"
    ).encode()


def elsevier(doi: str, title: str, words: str = WORDS) -> bytes:
    body = [
        {"sentence": f"{words} See [1].", "secId": f"s{n}", "startOffset": 5000 * n, "endOffset": 5000 * n + 1, "title": f"Section {n}",
         "parents": [], "refoffsets": {}}
        for n in range(6)
    ]  # fmt: skip
    metadata = {"title": title, "authors": [{"first": "Bo", "last": "Roe"}], "pub_year": 2018, "doi": doi}
    return json.dumps(
        {"docId": "S1234567890123456", "metadata": metadata, "abstract": [{"sentence": WORDS, "startOffset": 0}],
         "bib_entries": {"bib1": {"title": "Another"}}, "body_text": body}
    ).encode()  # fmt: skip


def latex() -> bytes:
    sections = "".join(
        f"\\section{{Part {n}}} {LATEX_WORDS} As \\cite{{a}} show. {LATEX_WORDS}\n\n{LATEX_WORDS}\n" for n in range(5)
    )
    item = f"\\bibitem{{a}} A. Person.\n\\newblock {CITED_TITLE}.\n\\newblock \\emph{{Some Journal}}, 2019."
    return gz(article(sections, entries=f"\\begin{{thebibliography}}{{1}}{item}\\end{{thebibliography}}"))


def release(tmp_path: Path, **clean: object) -> Run:
    given = spec()
    rules = CleanRules.model_validate({**given.clean.model_dump(), **clean})
    return run_in(tmp_path, given.model_copy(update={"drops": ("*",), "sources": ("*",), "clean": rules}))


PUBLISHERS = {
    "a.nxml": jats(DOI, TITLE, cites=CITED_TITLE), "b/c.json": elsevier(CITED, CITED_TITLE),
    "closed.xml": jats("10.5555/closed.1", "A secret that readers may not see at all", permissions="", words=f"Secret. {WORDS}"),
    "broken.nxml": b"<article><front/>", "readme.xml": b"<html/>", "package.json": b'{"name": "x"}',
    "front.xml": jats("10.5555/front.1", "Only a front").partition(b"<body>")[0] + b"</article>",
}  # fmt: skip
OF_BOTH = {"a.nxml": jats("10.5555/both.1", BOTH), "b.json": elsevier("10.5555/both.1", BOTH)}
SOURCES = {
    f"{ARXIV}v2.gz": latex(), "notes.tex": b"no arXiv id in this name", "named.gz": gzip.compress(b"%auto-ignore\nwithdrawn", mtime=0),
    "records.jsonl": orjson.dumps({"name": "named.gz", "arxiv_id": WITHDRAWN}) + b"\n",
}  # fmt: skip
CROSSREF = {
    "DOI": DOI, "title": [TITLE], "type": "journal-article", "author": [{"given": "Ann", "family": "Lee"}],
    "issued": {"date-parts": [[2019, 4, 3]]},
}  # fmt: skip
PREPRINT = {
    "id": ARXIV, "title": "What a source says about its own paper", "authors_parsed": [["Poe", "Cy", ""]], "categories": "cs.DL",
    "license": "http://creativecommons.org/licenses/by/4.0/", "abstract": WORDS, "update_date": "2019-01-02",
    "versions": [{"version": "v1", "created": "Wed, 2 Jan 2019 12:00:00 GMT"}],
}  # fmt: skip


@pytest.fixture(scope="module")
def pdf(tiny: tuple[Path, Truth]) -> tuple[PdfTruth, bytes, str]:
    """Return a PDF of the sample that prints its DOI, its bytes, and the title of its paper."""
    sample, truth = tiny
    titles = {paper.key: paper.title for paper in truth.papers if paper.s2orc == "kept"}
    found = next(p for p in truth.pdfs if p.selection == "selected" and p.doi and p.seen and titles.get(p.paper or ""))
    (drop, name), *_ = found.places
    return found, (sample / "drops" / drop / name).read_bytes(), str(titles[found.paper or ""])


@pytest.fixture(scope="module")
def run(
    extractor: Mapping[str, str], pdf: tuple[PdfTruth, bytes, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Run]:
    """Build a release that prefers Elsevier's files and LaTeX sources, and keeps papers without a date (Unpaywall's)."""
    with mock.patch.dict(os.environ, extractor):
        run = release(tmp_path_factory.mktemp("fulltexts"), text_from=["elsevier", "latex"], unknown_year="keep")
        for drop, files in {
            "publishers": PUBLISHERS,
            "twice": OF_BOTH,
            "latex": SOURCES,
            "pdf": {"a.pdf": pdf[1]},
        }.items():
            deliver(run.lake, f"drops/{drop}/", files)
        place = {
            "host_type": "publisher",
            "version": "publishedVersion",
            "license": "cc-by",
            "url": "https://example.org",
        }
        unpaywall = {
            "doi": pdf[0].doi,
            "is_oa": True,
            "title": None,
            "genre": "journal-article",
            "oa_locations": [place],
        }
        for source, lines in {"crossref": CROSSREF, "arxiv": PREPRINT, "unpaywall": unpaywall}.items():
            deliver(run.lake, f"sources/{source}/1/", {"works.jsonl": orjson.dumps(lines) + b"\n"})
        of_source = jats("10.5555/source.1", "Words that a source delivers by itself")
        deliver(run.lake, "sources/jats/2023-01/", {"a.nxml": of_source})
        build(run)
        yield run


def text_of(run: Run, **where: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a paper and its document of s2orc."""
    (paper,) = rows(run, PAPERS, **where)
    (document,) = rows(run, DOCUMENTS, set="s2orc", paper_id=paper["paper_id"])
    return paper, document


def published(run: Run, folder: str, paper: Mapping[str, Any]) -> Any:
    """Return the published parse of a paper."""
    lines = [
        orjson.loads(line)
        for entry in run.lake.list(f"snapshots/{run.snapshot_id}/corpus/{folder}/")
        for line in gzip.decompress(run.lake.get(entry.key)[0]).splitlines()
    ]
    (own,) = [line for line in lines if line["paper_id"] == paper["paper_id"]]
    return own


def test_every_file_has_its_outcome(run: Run) -> None:
    assert {(row["kind"], row["places"][0]["name"]) for row in rows(run, ARTICLES)} == {
        ("jats", "a.nxml"), ("elsevier", "b/c.json"), ("jats", "closed.xml"), ("jats", "broken.nxml"), ("jats", "front.xml"),
        ("elsevier", "b.json"),
    }  # fmt: skip
    outcomes = Counter((row["kind"], row["outcome"]) for row in rows(run, ARTICLE_PARSES))
    failed = {("jats", "no_body"): 1, ("jats", "not_well_formed"): 1}
    assert outcomes == {("elsevier", "ok"): 2, ("jats", "ok"): 4} | failed
    of_latex = sorted((row["arxiv_id"] or "", row["outcome"]) for row in rows(run, LATEX_PARSES))
    assert of_latex == sorted([("", "no_arxiv_id"), (WITHDRAWN, "withdrawn"), (ARXIV, "ok")])


def test_publishers_file_belongs_to_the_paper_of_its_doi(run: Run) -> None:
    sha1 = hashlib.sha1(PUBLISHERS["a.nxml"]).hexdigest()
    (parse,) = rows(run, ARTICLE_PARSES, file_sha1=sha1)
    expected = (f"{sha1}:jats:-:{VERSIONS['jats']}", "CC-BY-4.0", DOI)
    assert (parse["parse_id"], parse["licence"], parse["doi"]) == expected
    (paper, document), (cited, of_cited) = text_of(run, doi=DOI), text_of(run, doi=CITED)
    joined = {row["record_id"] for row in rows(run, MEMBERS, paper_id=paper["paper_id"])}
    assert joined == {f"crossref:{DOI}", f"jats:{sha1}"}
    (access,) = paper["access"]
    assert (access["kind"], access["open_access"], access["oa_evidence"], access["licence"]) == (
        "jats", True, "publisher", "CC-BY-4.0",
    )  # fmt: skip
    links = rows(run, LINKS, parse_kind="jats", paper_id=paper["paper_id"])
    assert [row["cited_paper_id"] for row in links] == [cited["paper_id"]]
    assert len(rows(run, CONTEXTS, parse_kind="jats", paper_id=paper["paper_id"])) == 6
    assert (document["outcome"], of_cited["outcome"], document["sha1"]) == ("kept", "kept", sha1)
    for folder, of in (("jats_parses", paper), ("elsevier_parses", cited)):
        assert published(run, folder, of)["body_text"][0]["text"].startswith("The publisher's own file describes"), (
            folder
        )


def test_file_of_a_source_is_a_full_text_and_the_spec_prefers_a_kind(run: Run) -> None:
    assert text_of(run, doi="10.5555/both.1")[1]["sha1"] == hashlib.sha1(OF_BOTH["b.json"]).hexdigest()
    paper, document = text_of(run, doi="10.5555/source.1")
    assert [row["record_id"] for row in rows(run, MEMBERS, paper_id=paper["paper_id"])] == ["jats:10.5555/source.1"]
    assert [(one["kind"], one["open_access"]) for one in paper["access"]] == [("jats", True)]
    assert document["outcome"] == "kept"


def test_closed_file_is_not_published(run: Run) -> None:
    assert text_of(run, doi="10.5555/closed.1")[1]["outcome"] == "closed"
    texts = b"".join(
        gzip.decompress(run.lake.get(entry.key)[0])
        for entry in run.lake.list(f"snapshots/{run.snapshot_id}/")
        if entry.key.endswith(".gz")
    )
    assert b"The publisher's own file describes" in texts and b"Secret." not in texts
    assert list(verify(open_lake(run.lake.uri(f"snapshots/{run.snapshot_id}")))) == []


def test_latex_source_belongs_to_the_paper_of_its_arxiv_id(run: Run) -> None:
    (paper,) = [row for row in rows(run, PAPERS) if row["latex_parse_id"]]
    assert (paper["arxiv_id"], paper["title"], paper["authors"][0]["last"]) == (ARXIV, PREPRINT["title"], "Poe")
    (fulltext,) = rows(run, FULLTEXTS, parse_kind="latex")
    assert fulltext["paper_id"] == paper["paper_id"] and fulltext["open_access"]
    assert fulltext["file_sha1"] == hashlib.sha1(SOURCES[f"{ARXIV}v2.gz"]).hexdigest()
    (link,) = rows(run, LINKS, parse_kind="latex")
    (cited,) = rows(run, PAPERS, doi=CITED)
    assert (link["paper_id"], link["cited_paper_id"]) == (paper["paper_id"], cited["paper_id"])
    assert len(rows(run, CONTEXTS, parse_kind="latex")) == 5
    assert published(run, "latex_parses", paper)["bib_entries"]["BIBREF0"]["link"] == cited["paper_id"]
    document = text_of(run, arxiv_id=ARXIV)[1]
    assert document["outcome"] == "kept" and LATEX_WORDS.strip() in document["text"]


def test_untitled_record_opens_the_pdf_with_its_doi(run: Run, pdf: tuple[PdfTruth, bytes, str]) -> None:
    paper, document = text_of(run, canonical_pdf=pdf[0].sha1)
    assert (paper["doi"], paper["title"]) == (pdf[0].doi, pdf[2])
    assert (paper["open_access"], paper["oa_evidence"]) == (True, "unpaywall")
    index = pq.read_table(run.lake.open(f"snapshots/{run.snapshot_id}/index.parquet")).to_pylist()
    assert document["outcome"] == "kept" and (paper["paper_id"], "s2orc", pdf[0].sha1) in {
        (row["id"], row["set"], row["sha1"]) for row in index
    }


@pytest.mark.long
@pytest.mark.parametrize(("order", "chosen"), [("jats", "jats"), (["pdf", "latex"], "jats")])
def test_spec_orders_the_kinds_of_full_texts(
    extractor: Mapping[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, order: object, chosen: str
) -> None:
    for name, value in extractor.items():
        monkeypatch.setenv(name, value)
    run = release(tmp_path, text_from=order)
    files = {"jats": jats(DOI, TITLE), "elsevier": elsevier(DOI, TITLE)}
    deliver(run.lake, "drops/both/", {"a.nxml": files["jats"], "b.json": files["elsevier"]})
    for name in STAGE_NAMES[: STAGE_NAMES.index("clean") + 1]:
        runner.run_stage(run, name, workers=1)
    assert sorted(row["parse_kind"] for row in rows(run, FULLTEXTS)) == ["elsevier", "jats"]
    (document,) = rows(run, DOCUMENTS, set="s2orc")
    assert document["sha1"] == hashlib.sha1(files[chosen]).hexdigest()
