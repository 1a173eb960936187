"""Kinds are data: no decision depends on the name of a record, a parse or an extractor (docs/extractors.md)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from pdf2tei.version import NAME as EMBEDDED
from s2corpus.extractors.registry import BUILT_IN
from s2corpus.rules import FullText
from s2orc_parse import jats
from s2orc_parse.parse_model import ParseKind

ROOT = Path(__file__).resolve().parents[3]
EXTRACTORS = (*BUILT_IN, EMBEDDED)
SAYS_ITS_OWN_NAME = {
    "include/s2corpus/extractors/grobid.py",
    "include/s2corpus/extractors/registry.py",
    "include/pdf2tei/version.py",
}
_NAME = re.compile(rf"""(?<!pool=)(?<!"pool": )["'](?:{"|".join(map(re.escape, EXTRACTORS))})["']""")
"""Airflow's pool of slots has such a name: it limits the load of any extractor."""


def test_code_does_not_compare_extractor_names() -> None:
    """Such code would treat the next extractor differently: compare the kind of a record, or the identity that extract committed."""
    paths = {path for folder in ("include", "plugins", "dags") for path in (ROOT / folder).rglob("*.py")}
    names = {path.relative_to(ROOT).as_posix() for path in paths if _NAME.search(path.read_text("utf-8"))}
    assert names == SAYS_ITS_OWN_NAME


def test_kinds_of_full_texts_have_one_order_everywhere() -> None:
    assert get_args(FullText) == tuple(kind.value for kind in ParseKind)
    assert {*jats.CONVERTERS, ParseKind.PDF, ParseKind.LATEX} == {*ParseKind}
