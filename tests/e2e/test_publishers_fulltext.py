"""Publishers' full text in a complete release: DOIs assign it to papers, and it is linked, offered, and published as text."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import orjson
import pytest

from s2corpus.pipeline import runner
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.spec import CleanRules
from s2corpus.tables.intake import ARTICLES
from s2corpus.tables.papers import MEMBERS, PAPERS
from s2corpus.tables.parses import ARTICLE_PARSES
from s2corpus.tables.texts import CONTEXTS, DOCUMENTS, FULLTEXTS, LINKS
from s2orc_parse.jats import VERSIONS
from tests.releases import build, deliver, rows, run_in, spec

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def with_extractor(extractor: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in extractor.items():
        monkeypatch.setenv(name, value)


WORDS = (
    "The publisher's own file describes the printed findings about these matters. They show how little machines read when people look "
    "elsewhere, and why careful authors with files in good order may expect better answers from every tool that follows them later. "
) * 3
CC_BY = '<permissions><license xlink:href="https://creativecommons.org/licenses/by/4.0/"><license-p>Open.</license-p></license></permissions>'
DOI = "10.5555/printed.7"
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


def release(tmp_path: Path, **clean: object) -> Run:
    given = spec()
    rules = CleanRules.model_validate({**given.clean.model_dump(), **clean})
    return run_in(tmp_path, given.model_copy(update={"drops": ("*",), "sources": ("*",), "clean": rules}))


def test_drop_of_publishers_files_is_published(tmp_path: Path) -> None:
    """Check a release that prefers Elsevier's files: one paper has both kinds, and files of a source are full texts too."""
    run = release(tmp_path, text_from=["elsevier"])
    of_jats = jats(DOI, "On printed matters and their later readers", cites="How numbers differ from words in print")
    of_elsevier = elsevier("10.1016/j.tests.2018.01.001", "How numbers differ from words in print")
    closed = jats(
        "10.5555/closed.1", "A secret that readers may not see at all", permissions="", words=f"Secret. {WORDS}"
    )
    deliver(
        run.lake,
        "drops/publishers/",
        {
            "a.nxml": of_jats, "b/c.json": of_elsevier, "closed.xml": closed, "broken.nxml": b"<article><front/>",
            "front.xml": jats("10.5555/front.1", "Only a front").partition(b"<body>")[0] + b"</article>",
            "readme.xml": b"<html/>", "package.json": b'{"name": "x"}',
        },
    )  # fmt: skip
    crossref = {"DOI": DOI, "title": ["On printed matters and their later readers"], "type": "journal-article",
                "author": [{"given": "Ann", "family": "Lee"}], "issued": {"date-parts": [[2019, 4, 3]]}}  # fmt: skip
    deliver(run.lake, "sources/crossref/1/", {"works.jsonl": json.dumps(crossref).encode()})
    of_both = {"a.nxml": jats("10.5555/both.1", BOTH), "b.json": elsevier("10.5555/both.1", BOTH)}
    deliver(run.lake, "drops/twice/", of_both)
    deliver(
        run.lake,
        "sources/jats/2023-01/",
        {"a.nxml": jats("10.5555/source.1", "Words that a source delivers by itself")},
    )
    snapshot = build(run)

    assert {(row["kind"], row["places"][0]["name"]) for row in rows(run, ARTICLES)} == {
        ("jats", "a.nxml"), ("elsevier", "b/c.json"), ("jats", "closed.xml"), ("jats", "broken.nxml"), ("jats", "front.xml"),
        ("elsevier", "b.json"),
    }  # fmt: skip
    outcomes = Counter((row["kind"], row["outcome"]) for row in rows(run, ARTICLE_PARSES))
    failed = {("jats", "no_body"): 1, ("jats", "not_well_formed"): 1}
    assert outcomes == {("elsevier", "ok"): 2, ("jats", "ok"): 4} | failed

    sha1 = hashlib.sha1(of_jats).hexdigest()
    (parse,) = rows(run, ARTICLE_PARSES, file_sha1=sha1)
    expected = (f"{sha1}:jats:-:{VERSIONS['jats']}", "CC-BY-4.0", DOI)
    assert (parse["parse_id"], parse["licence"], parse["doi"]) == expected
    (paper,) = rows(run, PAPERS, doi=DOI)
    joined = {row["record_id"] for row in rows(run, MEMBERS, paper_id=paper["paper_id"])}
    assert joined == {f"crossref:{DOI}", f"jats:{sha1}"}  # Joined by the DOI.
    (access,) = paper["access"]
    assert (access["kind"], access["open_access"], access["oa_evidence"], access["licence"]) == (
        "jats", True, "publisher", "CC-BY-4.0",
    )  # fmt: skip

    (cited,) = rows(run, PAPERS, doi="10.1016/j.tests.2018.01.001")
    assert [row["cited_paper_id"] for row in rows(run, LINKS, parse_kind="jats", paper_id=paper["paper_id"])] == [
        cited["paper_id"]
    ]
    assert len(rows(run, CONTEXTS, parse_kind="jats", paper_id=paper["paper_id"])) == 6

    documents = {row["paper_id"]: row for row in rows(run, DOCUMENTS, set="s2orc")}
    assert documents[paper["paper_id"]]["outcome"] == documents[cited["paper_id"]]["outcome"] == "kept"
    assert documents[paper["paper_id"]]["sha1"] == sha1
    (secret,) = rows(run, PAPERS, doi="10.5555/closed.1")
    assert documents[secret["paper_id"]]["outcome"] == "closed"
    (twice,) = rows(run, PAPERS, doi="10.5555/both.1")
    assert documents[twice["paper_id"]]["sha1"] == hashlib.sha1(of_both["b.json"]).hexdigest()
    (of_source,) = rows(run, PAPERS, doi="10.5555/source.1")
    assert [row["record_id"] for row in rows(run, MEMBERS, paper_id=of_source["paper_id"])] == ["jats:10.5555/source.1"]
    assert [(one["kind"], one["open_access"]) for one in of_source["access"]] == [("jats", True)]
    assert documents[of_source["paper_id"]]["outcome"] == "kept"
    published = b"".join(
        gzip.decompress(run.lake.get(entry.key)[0])
        for entry in run.lake.list(f"snapshots/{snapshot}/")
        if entry.key.endswith(".gz")
    )
    assert b"The publisher's own file describes" in published and b"Secret." not in published
    for folder, kind, of in (("jats_parses", "jats", paper), ("elsevier_parses", "elsevier", cited)):
        lines = [
            orjson.loads(line)
            for entry in run.lake.list(f"snapshots/{snapshot}/corpus/{folder}/")
            for line in gzip.decompress(run.lake.get(entry.key)[0]).splitlines()
        ]
        (own,) = [line for line in lines if line["paper_id"] == of["paper_id"]]
        assert own["body_text"][0]["text"].startswith("The publisher's own file describes"), kind


@pytest.mark.long
@pytest.mark.parametrize(("order", "chosen"), [("jats", "jats"), (["pdf", "latex"], "jats")])
def test_spec_orders_the_kinds_of_full_texts(tmp_path: Path, order: object, chosen: str) -> None:
    run = release(tmp_path, text_from=order)
    title = "On printed matters and their later readers"
    files = {"jats": jats(DOI, title), "elsevier": elsevier(DOI, title)}
    deliver(run.lake, "drops/both/", {"a.nxml": files["jats"], "b.json": files["elsevier"]})
    for name in STAGE_NAMES[: STAGE_NAMES.index("clean") + 1]:
        runner.run_stage(run, name, workers=1)
    assert sorted(row["parse_kind"] for row in rows(run, FULLTEXTS)) == ["elsevier", "jats"]
    (document,) = rows(run, DOCUMENTS, set="s2orc")
    assert document["sha1"] == hashlib.sha1(files[chosen]).hexdigest()
