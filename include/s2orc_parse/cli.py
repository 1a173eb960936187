"""`s2orc-parse`: convert TEI, JATS, Elsevier JSON and LaTeX files to S2ORC JSON, one line per document."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from s2orc_parse import tei
from s2orc_parse.errors import UserError
from s2orc_parse.files import SUFFIX, convert_document, read_files
from s2orc_parse.parse_model import Parse

_LATEX = re.compile(r"\.(?:tar\.gz|tgz|gz|tar|tex)$", re.IGNORECASE)


def main() -> None:
    """Run the command line of `s2orc-parse`."""
    parser = argparse.ArgumentParser(
        prog="s2orc-parse",
        description="Convert TEI, JATS, Elsevier JSON and LaTeX sources to S2ORC JSON, one line per document.",
        epilog="Example: s2orc-parse papers/*.tei.xml > parses.jsonl",
    )
    parser.add_argument(
        "inputs", nargs="+", type=Path, metavar="FILE", help="file, or folder of TEI, JATS and JSON files"
    )
    parser.add_argument("--out", type=Path, help="file to write (default: standard output)")
    parser.add_argument(
        "--schema", choices=("20200705", "gorc"), default="20200705", help="schema of the output (default: %(default)s)"
    )
    given = parser.parse_args()
    outcomes: Counter[str] = Counter()
    try:
        with contextlib.ExitStack() as stack:
            out: IO[bytes] = stack.enter_context(given.out.open("wb")) if given.out else sys.stdout.buffer
            for name, parse, outcome in _parse_inputs(given.inputs):
                outcomes[outcome] += 1
                if parse is None:
                    print(f"{name}: {outcome}", file=sys.stderr)
                else:
                    line = tei.to_s2orc(parse, name) if given.schema == "20200705" else tei.to_gorc_line(parse, name)
                    out.write(tei.to_json_bytes(line) + b"\n")
            out.flush()
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except (UserError, OSError) as error:
        print(f"s2orc-parse: {error}", file=sys.stderr)
        sys.exit(2)
    print(f"{outcomes.total()} documents: {outcomes['ok']} parsed", file=sys.stderr)
    if outcomes.total() > outcomes["ok"]:
        sys.exit(1)


def _parse_inputs(inputs: list[Path]) -> Iterator[tuple[str, Parse | None, str]]:
    """Yield name, parse (or None) and outcome of each document, with one document in memory at a time."""
    for path in inputs:
        if not path.exists():
            raise UserError(
                f"{path} does not exist: give files of TEI, JATS, Elsevier JSON or LaTeX, or folders of them"
            )
        if _LATEX.search(path.name) and path.is_file():
            yield _LATEX.sub("", path.name), *_convert_latex(path)
            continue
        for file, data in read_files(path):
            name = SUFFIX.sub("", file.name)
            yield name, *((None, "unreadable") if data is None else convert_document(data, ""))


def _convert_latex(path: Path) -> tuple[Parse | None, str]:
    try:
        from s2orc_parse import latex
    except ModuleNotFoundError as missing:
        raise UserError(f"LaTeX needs {missing.name}; for LaTeX files: pip install 's2orc-parse[pandoc]'") from None
    with path.open("rb") as file:
        data = file.read(latex.MAX_PACKED + 1)
    try:
        return latex.convert(data, sha1=hashlib.sha1(data, usedforsecurity=False).hexdigest()), "ok"
    except latex.BadSource as bad:
        return None, f"bad_latex:{bad.outcome}"


if __name__ == "__main__":
    main()
