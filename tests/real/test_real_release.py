"""A release of real papers agrees with what a reader found in each paper, or docs/quality.md explains the
difference.

The tests need the papers of `devtools.real_data`. They are skipped without papers, and fail if S2CORPUS_REAL_DATA names
a folder that does not exist.
"""

from __future__ import annotations

import gzip
import os
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

import orjson
import pyarrow.parquet as pq
import pytest

from s2corpus.datasets import runner
from s2corpus.datasets.job import Job
from s2corpus.datasets.source import SnapshotSource
from s2corpus.datasets.spec import DATASETS, DatasetSpec
from s2corpus.evaluation.beside import NOT_DELIVERED, compared
from s2corpus.evaluation.others import Corpus, read
from s2corpus.evaluation.sample import EvaluationTask, sampled
from s2corpus.pdf import inspect_many
from s2corpus.pipeline.quality import read_metrics
from s2corpus.pipeline.run import Run
from s2corpus.rules import EvaluationRules
from s2corpus.spec import SelectRules
from s2corpus.storage.lake import open_lake
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.parses import LATEX_PARSES, SELECTIONS
from s2corpus.tables.texts import DOCUMENTS, FILTERED, FULLTEXTS
from s2orc_parse.bibliography.identifiers import normalise_doi
from tests.real import release
from tests.real.compare import FACTS, Line, compare
from tests.real.truth import RealPaper, real_papers
from tests.releases import ROOT

pytestmark = [pytest.mark.long, pytest.mark.services]

DOC = ROOT / "docs" / "quality.md"
PAPERS_OF_TRUTH = real_papers()


@pytest.fixture(scope="module")
def run(shared_data: Path, extractor: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Run:
    with mock.patch.dict(os.environ, extractor):
        return release.build(tmp_path_factory.mktemp("real"), shared_data)


@pytest.fixture(scope="module")
def lines(run: Run) -> dict[tuple[str, str], Line]:
    return {(line.paper, line.fact): line for line in compare(run)}


def known() -> set[tuple[str, str]]:
    """Return (paper, fact) of the differences that docs/quality.md lists."""
    table = DOC.read_text("utf-8").partition("### Wrong facts")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([^`|]+)` \| ([^|]+?) \|", table, re.MULTILINE)
    return {(key, fact.strip()) for key, facts in rows for fact in facts.split(",")}


def test_listed_deviations_exist() -> None:
    assert known() <= {(paper.key, fact) for paper in PAPERS_OF_TRUTH for fact in FACTS}


@pytest.mark.parametrize("paper", PAPERS_OF_TRUTH, ids=lambda paper: paper.key)
def test_every_fact_is_right_or_explained(lines: dict[tuple[str, str], Line], paper: RealPaper) -> None:
    wrong = [line for (key, _), line in lines.items() if key == paper.key and not line.right]
    unexplained = [line for line in wrong if (line.paper, line.fact) not in known()]
    assert not unexplained, "\n".join(
        f"{line.fact}: {line.expected!r} expected, {line.found!r} found" for line in unexplained
    )


def test_right_facts_are_not_listed_as_deviations(lines: dict[tuple[str, str], Line]) -> None:
    right = sorted(key for key in known() if lines[key].right)
    assert not right, f"right, take it out of {DOC.name}: {right}"


def test_every_file_is_a_full_text(run: Run) -> None:
    selected = Counter(row["outcome"] for row in run.table(SELECTIONS).read().to_pylist())
    assert selected == {"selected": 42}
    assert Counter(row["outcome"] for row in run.table(LATEX_PARSES).read().to_pylist()) == {"ok": 2}
    sha1s = {row["file_sha1"] for row in run.table(FULLTEXTS).read().to_pylist()}
    assert {paper.sha1 for paper in PAPERS_OF_TRUTH if paper.sha1} <= sha1s


def test_no_paper_is_dropped_for_its_language(run: Run) -> None:
    outcomes = {row["outcome"] for row in run.table(FILTERED).read().to_pylist()}
    outcomes |= {row["outcome"] for row in run.table(DOCUMENTS).read().to_pylist()}
    assert not {outcome for outcome in outcomes if "english" in outcome}


def test_preprint_and_published_version_are_one_paper(run: Run) -> None:
    papers = run.table(PAPERS).read().to_pylist()
    for key in ("lim", "cohan"):
        truth = next(paper for paper in PAPERS_OF_TRUTH if paper.key == key)
        (paper,) = [row for row in papers if truth.sha1 == row["canonical_pdf"]]
        assert paper["arxiv_id"] == truth.arxiv_id
        assert len([row for row in papers if row["arxiv_id"] == truth.arxiv_id]) == 1


def test_retitled_delivery_makes_no_second_paper(run: Run) -> None:
    retitled = next(paper for paper in PAPERS_OF_TRUTH if paper.printed_title)
    titles = [row["title"] for row in run.table(PAPERS).read().to_pylist()]
    assert titles.count(retitled.title) == 1
    assert retitled.printed_title not in titles


def test_closed_and_withdrawn_texts_are_not_published(run: Run) -> None:
    kept_out = {paper.sha1 for paper in PAPERS_OF_TRUTH if paper.why.startswith(("closed", "suppressed"))}
    published = set()
    for entry in run.lake.list(f"snapshots/{run.snapshot_id}/v2/s2orc/"):
        published |= {orjson.loads(line)["sha1"] for line in gzip.decompress(run.lake.get(entry.key)[0]).splitlines()}
    assert len(kept_out) == 2
    assert published and not published & kept_out


def test_published_examples_of_s2orc_are_compared(run: Run, shared_data: Path) -> None:
    """Check that the two examples delivered to this release are found with nearly the same text; no other example was delivered."""
    examples = sorted((shared_data / "s2orc/doc2json_fixtures/pdf").glob("*.json"))
    examples += sorted((shared_data / "s2orc/doc2json_fixtures/s2orc").glob("*/*.json"))
    content = b"".join(orjson.dumps(orjson.loads(path.read_bytes())) + b"\n" for path in examples)
    content += (shared_data / "s2orc/metadata_20200705_sample.jsonl").read_bytes()
    rows = list(compared(run, read(Corpus.S2ORC, "examples", content)))
    both = {row.id: row for row in rows if row.outcome == "both"}
    assert {row.outcome for row in rows} == {"both", NOT_DELIVERED} and len(rows) == len(examples) + 1000
    assert {row.found_by for row in both.values()} == {"acl_id", "title"}
    assert set(both) == {"N18-3011", "2020"}, "SPECTER calls itself 2020 there"
    assert all(row.overlap is not None and row.overlap > 0.85 for row in both.values())


def test_evaluation_draws_its_sample(run: Run) -> None:
    items = sampled(run, EvaluationRules())
    clusters = [item for item in items if item.task is EvaluationTask.CLUSTERS]
    assert len(clusters) == 41 and len(items) > 41
    assert sum(item.auto_title is True for item in clusters) >= 39


def test_gold_figures_are_above_their_limits(run: Run) -> None:
    """Check the automatic gold figures.

    No title of these papers is read wrongly (`docs/quality.md` lists none), and each paper is one cluster.
    """
    assert not {key for key, fact in known() if fact == "title"}
    metrics = read_metrics(run)

    def counts(stage: str, measure: str) -> list[float]:
        return [metrics[stage][f"gold.{measure}.{name}"] for name in ("known", "found", "said", "right")]

    for stage, measure, least in (
        ("cluster", "clusters", 40),
        ("cluster", "titles", 35),
        ("assemble", "xml_title", 12),
        ("link", "links", 1),
    ):
        assert counts(stage, measure) == [counts(stage, measure)[0]] * 4 and counts(stage, measure)[0] >= least, measure
    names_known, names_found, names_said, _ = counts("assemble", "xml_authors")
    assert names_found == names_known and names_said - names_known <= 1, "one of 86 names is no author's"


def test_printed_identifiers_are_read(shared_data: Path) -> None:
    printed, wrong, found = 0, [], 0
    truths = {paper.sha1: paper for paper in PAPERS_OF_TRUTH if paper.sha1}
    selections = inspect_many(
        [(sha1, shared_data / paper.file) for sha1, paper in truths.items()],
        rules=SelectRules(max_pages=100), workers=2, timeout=60, memory_bytes=1 << 30,
    )  # fmt: skip
    for selection in selections:
        truth, read = truths[selection.file_sha1], selection.identity
        in_metadata = {"PMC7844712": "10.1016/s2352-3026(20)30366-5", "gavenski": "10.48550/arxiv.2602.19930"}.get(
            truth.key
        )
        for name, value in (("doi", read.doi), ("arxiv_id", read.arxiv_id)):
            expected = truth.printed.get(name)
            expected = normalise_doi(expected) if name == "doi" and expected else expected
            printed += expected is not None
            found += expected is not None and value == expected
            if value is not None and value not in (expected, in_metadata):
                wrong.append((truth.key, name, value))
    assert printed == 33 + 3
    assert not wrong
    assert found >= 35


def test_datasets_have_exact_offsets(run: Run, tmp_path: Path) -> None:
    """Check the datasets (docs/datasets.md has the figures).

    By default, CiteWorth requires papers cited by others of the release. These papers are not, so the test drops this
    requirement.
    """
    source = SnapshotSource(open_lake(run.lake.uri(f"snapshots/{run.snapshot_id}")))
    papers = {paper.id: paper for shard in range(source.shards) for paper in source.papers(shard)}
    params = {"citeworth": {"require": ["body_text", "bibliography"], "paragraphs_per_field": 1000}}
    made = {}
    for name in DATASETS:
        job = Job(DatasetSpec(name=name, dataset=name, params=params.get(name, {})), source, open_lake(str(tmp_path)))
        made[name] = runner.make(job)
        assert (tmp_path / job.prefix / "manifest.json").exists()
    folders = {name: tmp_path / "datasets" / name / source.id for name in DATASETS}

    for path in folders["citeworth"].glob("*/*.jsonl.gz"):
        for line in map(orjson.loads, gzip.decompress(path.read_bytes()).splitlines()):
            _, parse = papers[line["paper_id"]].full_text(("pdf", "latex", "jats", "elsevier")) or ("", {})
            assert parse["body_text"][line["section_index"]]["text"] == line["original_text"]
            assert all(sample["original_text"] in line["original_text"] for sample in line["samples"])
    for row in (
        row for path in folders["contexts"].glob("contexts/*.parquet") for row in pq.read_table(path).to_pylist()
    ):
        paragraph = papers[row["paper_id"]].parses[row["parse_kind"]]["body_text"][row["paragraph"]]
        span = next(span for span in paragraph["cite_spans"] if span["ref_id"] == row["ref_id"])
        assert span["text"] in row["sentence"][row["start"] : row["end"]] and row["sentence"] in paragraph["text"]
    texts = [gzip.decompress(path.read_bytes()).decode() for path in folders["pretraining"].glob("text/*.gz")]
    assert sum(text.count("\n\n") for text in texts) == made["pretraining"]["papers"]
    assert sum(len(list(filter(None, text.split("\n")))) for text in texts) == made["pretraining"]["sentences"]
    index = [row for path in folders["elsevier"].glob("index/*.parquet") for row in pq.read_table(path).to_pylist()]
    assert len(index) == made["elsevier"]["articles"] >= 40
    for row in index:
        _, parse = papers[row["paper_id"]].full_text(("elsevier", "jats", "latex", "pdf")) or ("", {})
        whole = "\n".join(paragraph["text"] for paragraph in parse["body_text"])
        sentences = orjson.loads((folders["elsevier"] / row["file"]).read_bytes())["body_text"]
        assert (
            all(whole[s["startOffset"] : s["endOffset"]] == s["sentence"] for s in sentences) and len(sentences) >= 20
        )
