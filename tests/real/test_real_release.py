"""docs/quality.md: a release of real papers agrees with what a reader found in each paper, or the page explains the difference.

The tests need the papers of `devtools.real_data`. They are skipped without papers, and fail if S2CORPUS_REAL_DATA names
a folder that does not exist.
"""

import gzip
import os
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from unittest import mock

import orjson
import pytest

from devtools.real.release import write_tree
from devtools.real.truth import RealPaper, real_papers
from s2corpus.deliveries.upload import deliver_tree
from s2corpus.pdf import inspect_many
from s2corpus.pipeline.quality import read_metrics
from s2corpus.pipeline.run import Run
from s2corpus.spec import ExportRules, ReleaseSpec, ResourceRules, SelectRules, SplitRules
from s2corpus.storage.lake import open_lake
from s2corpus.tables.papers import PAPERS
from s2orc_parse.bibliography.identifiers import normalize_doi
from tests.real.compare import Line, compare
from tests.releases import ROOT, build
from tests.unit.s2corpus.snapshot.test_removed import check_sums

pytestmark = [pytest.mark.long, pytest.mark.services]

DOC = ROOT / "docs" / "quality.md"
PAPERS_OF_TRUTH = real_papers()
AS_OF = datetime(2026, 4, 1, tzinfo=UTC)
SPEC = ReleaseSpec(
    name="real",
    description="Real papers with truth written by a reader",
    split=SplitRules(train_before=date(2021, 1, 1), valid_until=date(2021, 3, 31)),
    export=ExportRules(files=1),
    resources=ResourceRules(pdfs_per_shard=10, max_tasks=4, memory_mb=512),
)
"""the default rules, with split dates that put these papers on both sides"""


@pytest.fixture(scope="module")
def run(shared_data: Path, extractor: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("real")
    write_tree(folder / "tree", shared_data)
    made = Run(SPEC, AS_OF, open_lake(str(folder / "lake")), folder)
    deliver_tree(made.lake, folder / "tree")
    with mock.patch.dict(os.environ, extractor):
        build(made, workers=2)
    return made


@pytest.fixture(scope="module")
def lines(run: Run) -> dict[tuple[str, str], Line]:
    return {(line.paper, line.fact): line for line in compare(run)}


def known() -> set[tuple[str, str]]:
    """Return (paper, fact) of the differences that docs/quality.md lists."""
    table = DOC.read_text("utf-8").partition("### Wrong facts")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([^`|]+)` \| ([^|]+?) \|", table, re.MULTILINE)
    return {(key, fact.strip()) for key, facts in rows for fact in facts.split(",")}


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


def test_versions_of_a_paper_are_one_paper(run: Run) -> None:
    papers = run.table(PAPERS).read().to_pylist()
    for key in ("lim", "cohan"):
        truth = next(paper for paper in PAPERS_OF_TRUTH if paper.key == key)
        assert [row["canonical_pdf"] for row in papers if row["arxiv_id"] == truth.arxiv_id] == [truth.sha1]
    retitled = next(paper for paper in PAPERS_OF_TRUTH if paper.printed_title)
    titles = [row["title"] for row in papers]
    assert titles.count(retitled.title) == 1 and retitled.printed_title not in titles


def test_closed_and_withdrawn_texts_are_not_published(run: Run) -> None:
    kept_out = {paper.sha1 for paper in PAPERS_OF_TRUTH if paper.why.startswith(("closed", "suppressed"))}
    published = set()
    for entry in run.lake.list(f"snapshots/{run.snapshot_id}/v2/s2orc/"):
        published |= {orjson.loads(line)["sha1"] for line in gzip.decompress(run.lake.get(entry.key)[0]).splitlines()}
    assert len(kept_out) == 2
    assert published and not published & kept_out


def test_each_word_is_published_or_removed(run: Run, tmp_path: Path) -> None:
    prefix = f"snapshots/{run.snapshot_id}/"
    for entry in run.lake.list(prefix):
        path = tmp_path / entry.key.removeprefix(prefix)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(run.lake.get(entry.key)[0])
    published, removed = check_sums(tmp_path)
    assert published > 20 and removed > 20


def test_gold_figures_are_above_their_limits(run: Run) -> None:
    assert not {key for key, fact in known() if fact == "title"}
    metrics = read_metrics(run)

    def counts(stage: str, measure: str) -> list[float]:
        return [metrics[stage][f"gold.{measure}.{name}"] for name in ("known", "found", "predicted", "right")]

    least = {
        ("cluster", "clusters"): 40, ("cluster", "titles"): 35, ("assemble", "xml_title"): 12, ("link", "links"): 1,
    }  # fmt: skip
    for (stage, measure), count in least.items():
        assert counts(stage, measure) == [counts(stage, measure)[0]] * 4 and counts(stage, measure)[0] >= count, measure
    names_known, names_found, names_said, _ = counts("assemble", "xml_authors")
    assert names_found == names_known and names_said - names_known <= 1, "one of 86 names is no author's"


def test_printed_identifiers_are_read(shared_data: Path) -> None:
    truths = {paper.sha1: paper for paper in PAPERS_OF_TRUTH if paper.sha1}
    printed = {(paper.key, name): value for paper in truths.values() for name, value in paper.printed.items()}
    printed = {key: normalize_doi(value) or value if key[1] == "doi" else value for key, value in printed.items()}
    files, rules = [(sha1, shared_data / paper.file) for sha1, paper in truths.items()], SelectRules(max_pages=100)
    found = {
        (truths[selection.file_sha1].key, name): value
        for selection in inspect_many(files, rules=rules, workers=2, timeout=60, memory_bytes=1 << 30)
        for name in ("doi", "arxiv_id")
        if (value := getattr(selection.identity, name)) is not None
    }
    in_metadata = {
        ("PMC7844712", "doi"): "10.1016/s2352-3026(20)30366-5",
        ("gavenski", "doi"): "10.48550/arxiv.2602.19930",
    }
    wrong = {key: value for key, value in found.items() if value not in (printed.get(key), in_metadata.get(key))}
    assert not wrong
    assert len(printed) == 33 + 3
    assert sum(found.get(key) == value for key, value in printed.items()) >= 35
