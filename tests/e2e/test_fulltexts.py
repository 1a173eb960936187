"""Full texts of every kind in one release: identifiers assign them to papers, and they are linked, offered and published as text.

Publishers' files carry their DOI, and LaTeX sources the arXiv id of their name.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any
from unittest import mock

import orjson
import pytest

from s2corpus.pipeline.run import Run
from s2corpus.snapshot.verify import verify
from s2corpus.spec import CleanRules
from s2corpus.storage.lake import open_lake
from s2corpus.tables.papers import MEMBERS, PAPERS
from s2corpus.tables.parses import ARTICLE_PARSES
from s2corpus.tables.texts import CONTEXTS, DOCUMENTS, FULLTEXTS, LINKS
from s2orc_parse.jats import VERSIONS
from tests.releases import build, rows, run_in, spec
from tests.unit.s2corpus.deliveries.samples import deliver
from tests.unit.s2orc_parse.latex.archives import article, gz

pytestmark = pytest.mark.slow
WORDS = (
    "The publisher's own file describes the printed findings about these matters. They show how little machines read when people look "
    "elsewhere, and why careful authors with files in good order may expect better answers from every tool that follows them later. "
) * 3
CC_BY = '<permissions><license xlink:href="https://creativecommons.org/licenses/by/4.0/"><license-p>Open.</license-p></license></permissions>'
DOI, TITLE = "10.5555/printed.7", "On printed matters and their later readers"
CITED, CITED_TITLE = "10.1016/j.tests.2018.01.001", "How numbers differ from words in print"
ARXIV = "2301.09999"
LATEX_WORDS = WORDS.replace("The publisher's own file", "Our own source")
BOTH = "Papers that two publishers print"


def jats(doi: str, title: str, *, permissions: str = CC_BY, cites: str = "A work", words: str = WORDS) -> bytes:
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


PUBLISHERS = {
    "a.nxml": jats(DOI, TITLE, cites=CITED_TITLE), "b/c.json": elsevier(CITED, CITED_TITLE),
    "closed.xml": jats("10.5555/closed.1", "A secret that readers may not see at all", permissions="", words=f"Secret. {WORDS}"),
    "broken.nxml": b"<article><front/>", "readme.xml": b"<html/>",
}  # fmt: skip
OF_BOTH = {"a.nxml": jats("10.5555/both.1", BOTH), "b.json": elsevier("10.5555/both.1", BOTH)}
SOURCES = {f"{ARXIV}v2.gz": latex(), "notes.tex": b"no arXiv id in this name"}
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
def run(extractor: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Build a release that prefers Elsevier's files and LaTeX sources."""
    given, folder = spec(), tmp_path_factory.mktemp("fulltexts")
    changed = {**given.clean.model_dump(), "text_from": ["elsevier", "latex"]}
    clean = CleanRules.model_validate(changed)
    run = run_in(folder, given.model_copy(update={"drops": ("*",), "sources": ("*",), "clean": clean}))
    for drop, files in {"publishers": PUBLISHERS, "twice": OF_BOTH, "latex": SOURCES}.items():
        deliver(run.lake, f"drops/{drop}", files)
    for source, lines in {"crossref": CROSSREF, "arxiv": PREPRINT}.items():
        deliver(run.lake, f"sources/{source}/1", {"works.jsonl": orjson.dumps(lines) + b"\n"})
    of_source = jats("10.5555/source.1", "Words that a source delivers by itself")
    deliver(run.lake, "sources/jats/2023-01", {"a.nxml": of_source})
    with mock.patch.dict(os.environ, extractor):
        build(run)
    return run


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
