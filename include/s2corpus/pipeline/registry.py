"""The stages of a release, in order, behind the protocol in `pipeline.run`.

A new stage is one file or package in `stages/` and one name in `STAGES`, at its place.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from s2corpus.pipeline.run import Stage

STAGES = (
    "intake",
    "select",
    "extract",
    "postprocess",
    "cluster",
    "vote",
    "assemble",
    "filter",
    "link",
    "clean",
    "split",
    "export",
)
"""In order. Each is `stages/<name>.py`, or a package of that name, with a class of that name, capitalised."""

TAKES_OVER = {
    "select": "intake",
    "postprocess": "intake",
    "vote": "cluster",
    "assemble": "cluster",
    "filter": "cluster",
    "link": "cluster",
    "clean": "cluster",
    "export": "cluster",
}
"""Stages that have nothing to plan, and an earlier one whose tables are cut as theirs: they take over its shards."""

GATHERS = {"intake": 1, "vote": 2, "assemble": 2, "link": 2, "export": 1}
"""Stages whose shards leave rows in buckets, and how many rounds of shards then gather their parts (`pipeline.run.Gathers`)."""


def stage(name: str) -> Stage:
    """The stage of that name; only its own module is imported."""
    module = importlib.import_module(f"s2corpus.stages.{name}")
    made: Stage = getattr(module, name.capitalize())()
    return made
