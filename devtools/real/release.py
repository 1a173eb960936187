"""The drops and deliveries of the real papers.

`python -m devtools.real.release FOLDER` writes the drops and deliveries, for `corpus build --from FOLDER`.
"""

import json
import sys
from pathlib import Path

from devtools.real import sources
from devtools.real.truth import RealPaper, real_papers
from devtools.real_data import REAL_DATA, require
from devtools.sample.deliver import write_ready

_DROPPED, _DELIVERED = "2026-03-02T00:00:00Z", "2026-03-01T00:00:00Z"


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


if __name__ == "__main__":
    require()
    write_tree(Path(sys.argv[1]), REAL_DATA)
