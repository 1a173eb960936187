"""Addresses and expected rows of the explorer's release."""

import shutil
from pathlib import Path
from typing import Any

from s2corpus.outcomes import CleanOutcome
from s2corpus.pipeline.run import Run
from s2corpus.tables.papers import PAPERS
from s2corpus.tables.texts import DOCUMENTS, FILTERED, SPLITS

AT = "corpus_release__small/20230101"


OF = f"{AT}/documents"


def decisions(run: Run, set_: str) -> list[dict[str, Any]]:
    """Return the decisions of clean and split about the papers that passed the filter, with their outcome as the page names it."""
    passed = {r["paper_id"] for r in run.table(FILTERED).read().to_pylist() if r["outcome"] == "kept"}
    papers = {r["paper_id"]: r for r in run.table(PAPERS).read().to_pylist()}
    splits = {(r["set"], r["paper_id"]): r["split"] for r in run.table(SPLITS).read().to_pylist()}
    found = []
    for row in run.table(DOCUMENTS).read().to_pylist():
        if row["set"] == set_ and row["paper_id"] in passed:
            split = splits.get((set_, row["paper_id"]), "")
            held_back = f"split.{split}" if split.startswith("held_back") else split
            outcome = held_back if row["outcome"] == CleanOutcome.KEPT else f"clean.{row['outcome']}"
            found.append(papers[row["paper_id"]] | row | {"outcome": outcome})
    return found


def copied(run: Run, to: Path) -> Path:
    """Copy the lake to a folder where a test may change it."""
    return Path(shutil.copytree(run.scratch / "lake", to / "lake"))
