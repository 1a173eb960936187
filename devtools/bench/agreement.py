"""Compare the forms of the same paper: `python -m devtools.bench.agreement [--folder NAME …] [--snapshot FOLDER] [--show 3]`.

The forms are PDF, a GROBID TEI, JATS and LaTeX with the same file name; of a snapshot, its published parses and metadata.
For each pair of forms and each field, the script prints the papers in which both forms have the field, the share of equal
papers, and the share of common items (intersection ÷ union). Then it lists what differs.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import orjson

from devtools.real_data import MISSING, REAL_DATA
from pdf2tei import extract
from pdf2tei.references.fields import parse_bibliography_item
from s2corpus.snapshot.agreement import FIELDS, Facts, compare_forms, read_facts
from s2orc_parse import jats, latex, tei
from s2orc_parse.parse_model import Parse

FOLDERS = ("pmc-pdf", "cases/layout", "pmc-with-tei", "pairs", "jats", "latex")
_SUFFIXES = {
    ".pdf": "pdf", ".tei.xml": "grobid", ".nxml": "jats", ".xml": "jats", ".tar.gz": "latex", ".tgz": "latex", ".gz": "latex",
    ".tex": "latex",
}  # fmt: skip


def read_form(kind: str, path: Path) -> Facts:
    """Return the facts of a file; a file that its reader rejects has none."""
    data = path.read_bytes()
    try:
        parse = _READERS[kind](data, path)
    except (tei.BadTei, jats.BadArticle, latex.BadSource) as error:
        print(f"{path.name}: {error}", file=sys.stderr)
        return {}
    year = {"year": int(parse.header.date[:4])} if parse.header.date else {}
    return read_facts({**tei.to_s2orc(parse), **year})


def _read_pdf(_: bytes, path: Path) -> Parse:
    return tei.convert(extract(path, timeout=120) or b"<TEI/>", file_sha1="")


_READERS: dict[str, Callable[[bytes, Path], Parse]] = {
    "pdf": _read_pdf,
    "grobid": lambda data, _: tei.convert(data, file_sha1=""),
    "jats": lambda data, _: jats.convert(data, sha1="", parse_reference=parse_bibliography_item),
    "latex": lambda data, _: latex.convert(data, sha1="", parse_reference=parse_bibliography_item),
}


def list_files(folder: Path) -> dict[str, dict[str, Path]]:
    """Return the files of each paper by form."""
    papers: dict[str, dict[str, Path]] = defaultdict(dict)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        suffix = next((suffix for suffix in _SUFFIXES if path.name.endswith(suffix)), None)
        if suffix:
            papers[path.name.removesuffix(suffix)].setdefault(_SUFFIXES[suffix], path)
    return papers


def read_snapshot(folder: Path) -> Iterator[tuple[str, dict[str, Facts]]]:
    """Yield each paper of a snapshot that has two forms, with the facts of its forms."""
    papers: dict[str, dict[str, Facts]] = defaultdict(dict)
    for path in sorted((folder / "corpus").glob("*/*.jsonl.gz")):
        kind = path.parent.name.removesuffix("_parses")
        if kind == "gorc":
            continue
        with gzip.open(path) as lines:
            for line in lines:
                row = orjson.loads(line)
                papers[row["paper_id"]].setdefault(kind, read_facts(row))
    yield from ((paper, forms) for paper, forms in sorted(papers.items()) if len(forms) > 1)


def read_folder(folder: Path, most: int | None = None) -> Iterator[tuple[str, dict[str, Facts]]]:
    """Yield each paper of a folder that has two forms, with the facts of its forms."""
    for paper, files in sorted(list_files(folder).items())[:most]:
        if len(files) > 1:
            yield paper, {kind: read_form(kind, path) for kind, path in sorted(files.items())}


class Agreement:
    """The counts of one run."""

    def __init__(self) -> None:
        self.items: dict[tuple[str, str, str], list[tuple[int, int]]] = defaultdict(list)
        """common and all items of each paper, by both forms and field"""
        self.differences: list[tuple[str, str, str, str, Counter[str], Counter[str]]] = []

    def add(self, paper: str, forms: Mapping[str, Facts]) -> None:
        """Compare every pair of forms of a paper, in the fields that both have."""
        for (a, b), field, left, right in compare_forms(forms):
            self.items[a, b, field].append(((left & right).total(), (left | right).total()))
            if left != right:
                self.differences.append((paper, a, b, field, left - right, right - left))

    def format(self, most: int) -> str:
        """Return the table, and up to `most` items that only one form has, for each difference."""
        lines = [f"{'forms':16} {'field':12} {'papers':>6} {'equal':>7} {'common':>7}"]
        for (a, b, field), values in sorted(
            self.items.items(), key=lambda item: (item[0][:2], FIELDS.index(item[0][2]))
        ):
            equal = sum(shared == every for shared, every in values) / len(values)
            common = sum(shared for shared, _ in values) / sum(every for _, every in values)
            lines.append(f"{a + '/' + b:16} {field:12} {len(values):6} {equal:7.1%} {common:7.1%}")
        for paper, a, b, field, only_a, only_b in self.differences if most else ():
            sides = (
                f"{kind}: {', '.join(sorted(items)[:most])}" for kind, items in ((a, only_a), (b, only_b)) if items
            )
            lines.append(f"{paper} {field}  " + "  ".join(f"only in {side}" for side in sides))
        return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--folder", action="append", help=f"folders of {REAL_DATA}, or paths (default: {', '.join(FOLDERS)})"
    )
    parser.add_argument("--snapshot", type=Path, help="compare the forms of a published snapshot instead")
    parser.add_argument("--most", type=int, help="papers of each folder")
    parser.add_argument("--show", type=int, default=3, help="items of each difference (0: only the table)")
    arguments = parser.parse_args()
    agreement = Agreement()
    if arguments.snapshot:
        papers = read_snapshot(arguments.snapshot)
    else:
        folders = [REAL_DATA / name for name in arguments.folder or FOLDERS]  # an absolute path stays itself
        if not any(folder.exists() for folder in folders):
            raise SystemExit(MISSING)
        papers = (paper for folder in folders for paper in read_folder(folder, arguments.most))
    for number, (paper, forms) in enumerate(papers, 1):
        print(f"\r{number} {paper:44}", end="", file=sys.stderr, flush=True)
        agreement.add(paper, forms)
    print(file=sys.stderr)
    print(agreement.format(arguments.show))


if __name__ == "__main__":
    main()
