"""A release is compared with files of other corpora.

The comparison reports the matching identifier, the difference of the texts, and the reason for each missing paper.
"""

import gzip
from typing import Any

import orjson
import pytest

from s2corpus.errors import UserError
from s2corpus.evaluation.comparison import NOT_DELIVERED, ComparedPaper, compared
from s2corpus.evaluation.external import Corpus, read
from s2corpus.pipeline.run import Run
from s2corpus.spec import ReleaseSpec
from s2corpus.stages.clean import CleanStage
from s2corpus.stages.split import SplitStage
from s2corpus.storage.local_lake import LocalLake
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.texts import DOCUMENTS, FILTERED, FULLTEXTS
from tests.unit.s2corpus.snapshot.release import lay_out, papers, through


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("beside")
    spec = ReleaseSpec.model_validate({"name": "small", "export": {"files": 2}})
    return through(lay_out(LocalLake(folder / "lake"), folder, spec, papers(60), buckets=2), CleanStage(), SplitStage())


@pytest.fixture(scope="module")
def papers_by_fate(run: Run) -> dict[str, dict[str, Any]]:
    """Return one paper of each fate, with its parse: filtered out, open, closed or without full text."""
    kept = {row["paper_id"] for row in run.table(FILTERED).read().to_pylist() if row["outcome"] == "kept"}
    parses = {row["paper_id"]: row["parse"] for row in run.table(FULLTEXTS).read().to_pylist()}
    found = {}
    for row in run.table(PAPERS).read().to_pylist():
        parse = parses.get(row["paper_id"])
        fate = "bare" if parse is None else "open" if row["open_access"] else "closed"
        found[fate if row["paper_id"] in kept else "filtered"] = row | {"parse": parse}
    return found


def compare(run: Run, corpus: Corpus, *lines: dict[str, Any], packed: bool = False) -> list[ComparedPaper]:
    content = b"".join(orjson.dumps(line) + b"\n" for line in lines)
    return list(compared(run, read(corpus, "theirs.jsonl", gzip.compress(content) if packed else content)))


def test_documents_of_s2_v2_are_compared_by_title(run: Run) -> None:
    documents = run.table(DOCUMENTS).read().to_pylist()
    text = next(row["text"] for row in documents if (row["set"], row["outcome"]) == ("s2orc", "kept"))
    title, rest = text.split("\n\n", 1)
    kept, other, unknown = compare(
        run, Corpus.PES2O, {"id": "1", "sha1": "a" * 40, "text": text.upper()},
        {"id": "2", "text": f"{title}\n\n{rest[: len(rest) // 2]}"}, {"id": "3", "text": "A paper that nobody delivered\n\nIts abstract."},
        packed=True,
    )  # fmt: skip
    assert (kept.found_by, kept.outcome, kept.same) == ("title", "both", True)
    assert other.same is False and other.overlap is not None and 0.5 < other.overlap < 0.8
    assert other.words is not None and other.words[0] > other.words[1]
    assert (unknown.paper_id, unknown.outcome) == (None, NOT_DELIVERED)


def test_every_missing_paper_has_a_reason(run: Run, papers_by_fate: dict[str, dict[str, Any]]) -> None:
    missing = [papers_by_fate[fate] for fate in ("filtered", "closed", "bare")]
    lines = [{"paper_id": "1", "title": "x", "doi": paper["doi"], "body_text": []} for paper in missing]
    rows = compare(run, Corpus.S2ORC, *lines)
    assert [(row.paper_id, row.found_by) for row in rows] == [(paper["paper_id"], "doi") for paper in missing]
    assert [row.outcome for row in rows] == ["filter: no_authors", "assemble: closed", "assemble: no pdf full text"]


def test_s2orc_and_unarxive_are_read_in_every_form(run: Run, papers_by_fate: dict[str, dict[str, Any]]) -> None:
    paper = papers_by_fate["open"]
    body = {"body_text": orjson.loads(paper["parse"])["body_text"]}
    plain = {"paper_id": "7", "title": paper["title"], "authors": [], "year": None}
    rows = compare(
        run, Corpus.S2ORC, {**plain, "doi": paper["doi"], "has_pdf_parse": True}, {**plain, "pdf_parse": body},
        {"paper_id": "8", "metadata": {**plain, "doi": paper["doi"].upper()}, "grobid_parse": body, "latex_parse": None},
    )  # fmt: skip
    assert [row.paper_id for row in rows] == [paper["paper_id"]] * 3
    assert [row.same for row in rows] == [None, True, True], "metadata have no text"
    metadata = {"title": "Other\n  title", "doi": paper["doi"]}
    (row,) = compare(
        run, Corpus.UNARXIVE, {"paper_id": "2105.05862", "metadata": metadata, "body_text": [{"text": "A."}]}
    )
    assert (row.paper_id, row.found_by, row.outcome) == (paper["paper_id"], "doi", "assemble: no latex full text")


def test_file_of_another_format_gives_one_sentence() -> None:
    cut = gzip.compress(b'{"id": "1", "text": "x"}\n', mtime=0)[:-4]
    for content in (b"{", b"[1]\n", b'{"id": 1}\n', b"\x1f\x8b\x08damaged", cut):
        with pytest.raises(UserError, match=r"theirs\.jsonl"):
            list(read(Corpus.PES2O, "theirs.jsonl", content))
