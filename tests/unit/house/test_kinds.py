"""Kinds are data: no decision depends on the name of a record, a parse or an extractor (docs/extractors.md)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
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
SLOTS = {("dags/corpus_release.py", "pool"), ("dags/pdf_drops.py", "pool")}
"""Airflow's pool of slots has this name: it limits the load of any extractor."""
_NAME = re.compile(rf"(?<![\w./-])(?:{'|'.join(map(re.escape, EXTRACTORS))})(?![\w./-])")


def strings(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield line, text, and the name of the argument or key of each string that is not a docstring."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    given = {id(node.value): node.arg or "" for node in nodes if isinstance(node, ast.keyword)}
    for node in nodes:
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            given |= {id(value): str(key.value) for key, value in pairs if isinstance(key, ast.Constant)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.lineno, node.value, given.get(id(node), "")


def test_code_does_not_compare_extractor_names() -> None:
    """Check that no code contains an extractor's name: such code would treat the next extractor differently."""
    offenders = []
    for path in sorted(path for folder in ("include", "plugins", "dags") for path in (ROOT / folder).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        for line, text, under in strings(path) if name not in SAYS_ITS_OWN_NAME else ():
            if _NAME.search(text) and (name, under) not in SLOTS:
                offenders.append(f"{name}:{line}: {text!r}")
    assert not offenders, "ask for the kind of the record, or for the identity that the extract stage committed"


def test_kinds_of_full_texts_have_one_order_everywhere() -> None:
    assert get_args(FullText) == tuple(kind.value for kind in ParseKind)
    assert {*jats.CONVERTERS, ParseKind.PDF, ParseKind.LATEX} == {*ParseKind}
