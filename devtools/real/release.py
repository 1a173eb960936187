"""The release of the real papers: its drops and deliveries, built by the code that builds every release.

`python -m devtools.real.release FOLDER` writes the drops and deliveries, for `corpus build --from FOLDER`.
"""

import json
import sys
from datetime import UTC, date, datetime
from pathlib import Path

from devtools.real import sources
from devtools.real.truth import RealPaper, real_papers
from devtools.real_data import MISSING, REAL_DATA
from devtools.sample.deliver import write_ready
from s2corpus.deliveries.upload import deliver_tree
from s2corpus.pipeline import runner, sealed
from s2corpus.pipeline.run import Run
from s2corpus.pipeline.stages import STAGE_NAMES
from s2corpus.spec import ExportRules, ReleaseSpec, ResourceRules, SplitRules
from s2corpus.storage.lake import open_lake

AS_OF = datetime(2026, 4, 1, tzinfo=UTC)
_DROPPED, _DELIVERED = "2026-03-02T00:00:00Z", "2026-03-01T00:00:00Z"


def spec() -> ReleaseSpec:
    """Return the default rules with split dates that put these papers on both sides."""
    return ReleaseSpec(
        name="real",
        description="Real papers with truth written by a reader",
        split=SplitRules(train_before=date(2021, 1, 1), valid_until=date(2021, 3, 31)),
        export=ExportRules(files=1),
        resources=ResourceRules(pdfs_per_shard=10, max_tasks=4, memory_mb=512),
    )


def write_tree(folder: Path, data: Path) -> None:
    """Write the drops, deliveries and suppressions that `deliver_tree` uploads; `data` is the folder of the papers."""
    papers = real_papers()
    drops: dict[str, dict[str, bytes]] = {"pairs": {}, "pmc": {}, "latex": {}}
    for paper in papers:
        drop = {"pairs": "pairs", "pmc-pdf": "pmc", "latex": "latex"}[paper.file.split("/")[0]]
        drops[drop][paper.delivered_name] = (data / paper.file).read_bytes()
    drops["pairs"]["records.jsonl"] = sources.declared(data, _of(papers, "declared"))
    for name, files in drops.items():
        write_ready(folder / "drops" / name, files, _DROPPED)
    for source in ("crossref", "unpaywall", "pubmed", "arxiv", "acl", "jats"):
        files = sources.delivery(source, data, _of(papers, source))
        write_ready(folder / "sources" / source / "2026-03", files, _DELIVERED, "full")
    withdrawn = [{"sha1": p.sha1, "reason": p.why} for p in papers if p.why.startswith("suppressed")]
    (folder / "suppress.jsonl").write_text("".join(json.dumps(line) + "\n" for line in withdrawn))


def _of(papers: list[RealPaper], source: str) -> list[RealPaper]:
    return [paper for paper in papers if source in paper.said_by]


def build(folder: Path, data: Path, *, workers: int = 2) -> Run:
    """Deliver everything to a lake in `folder`, then build and publish the release. GROBID_URL selects the extractor."""
    write_tree(folder / "tree", data)
    run = Run(spec(), AS_OF, open_lake(str(folder / "lake")), folder)
    deliver_tree(run.lake, folder / "tree")
    run = sealed.seal(run)
    for name in STAGE_NAMES:
        runner.run_stage(run, name, workers=workers)
    runner.publish(run)
    return run


if __name__ == "__main__":
    if not REAL_DATA.is_dir():
        sys.exit(MISSING)
    write_tree(Path(sys.argv[1]), REAL_DATA)
