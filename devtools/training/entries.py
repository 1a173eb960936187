"""Train the CRF that splits reference lists without labels.

This command made the committed model:

    python -m devtools.training.entries ../shared/data/grobid-training

The result is deterministic: the same archive and versions give the same model. The data are GROBID's annotated
reference lists (CC BY 4.0): `tei/` marks the starts of entries, `raw/` marks the indented lines. A fifth of the lists
is held out. The script counts the complete entries in the held-out lists, by the model and by the rules alone.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from lxml import etree

from pdf2tei.pages.model import Font, Line, Token
from pdf2tei.references.entries import BEGINS, INSIDE, LABEL, MODEL, EntryLine, features
from pdf2tei.references.splitting import split_by_rules

from .lines import apart, members

PARAMETERS = {"c1": 0.5, "c2": 0.1}
"""CRFsuite's parameters."""
_TOKEN = re.compile(r"\w+|[^\w\s]")
_FONT = Font("", 10.0)
_COLUMNS = 24
"""Minimum number of fields of a token in `raw/`."""
_FEW = 5
"""Minimum number of lines matched with their text; lists with fewer are not used."""


def lists(archive: Path) -> Iterator[tuple[str, list[EntryLine], list[str]]]:
    """Yield name, lines and labels of the annotated lists, by name."""
    for part in ("corpus", "evaluation"):
        raws = members(archive, f"{part}/raw")
        for name, tei in sorted(members(archive, f"{part}/tei").items()):
            raw = raws.get(name.removesuffix(".tei.xml"))
            found = _matched(raw, tei) if raw is not None else []
            if len(found) >= _FEW and sum(begins for _, begins, _ in found) > 2:
                ruled = _ruled([(text, indented) for text, _, indented in found])
                rows = [EntryLine(text, indented, rule) for (text, _, indented), rule in zip(found, ruled, strict=True)]
                yield name, rows, [BEGINS if begins else INSIDE for _, begins, _ in found]


def _matched(raw: bytes, tei: bytes) -> list[tuple[str, bool, bool]]:
    """Return text, whether an entry begins, and whether it is indented, for each line that both files contain."""
    lines = _labelled(tei)
    set_in: list[bool] = []
    texts: list[str] = []
    for row in (x.split(" ") for x in raw.decode("utf-8", "replace").splitlines()):
        if len(row) < _COLUMNS:
            continue
        if row[10] == "LINESTART" or not texts:
            set_in.append(row[11] == "LINEINDENT")
            texts.append("")
        texts[-1] += row[0]
    keys = ["".join(_TOKEN.findall(text))[:12] for text, _ in lines]
    matcher = SequenceMatcher(None, [text[:12] for text in texts], keys, autojunk=False)
    return [
        (*lines[block.b + k], set_in[block.a + k]) for block in matcher.get_matching_blocks() for k in range(block.size)
    ]


def _labelled(tei: bytes) -> list[tuple[str, bool]]:
    """Return the lines of an annotated list, and whether an entry begins with each."""
    root = etree.fromstring(tei, etree.XMLParser(recover=True, resolve_entities=False, no_network=True))
    lines: list[tuple[str, bool]] = []
    current: list[str] = []
    fresh = False

    def end() -> None:
        nonlocal fresh
        text = " ".join("".join(current).split())
        current.clear()
        if text:
            lines.append((text, fresh))
            fresh = False

    def walk(element: etree._Element) -> None:
        nonlocal fresh
        name = etree.QName(element).localname
        if name in ("lb", "bibl"):
            end()
        fresh = fresh or name == "bibl"
        current.append(element.text or "")
        for child in element:
            if isinstance(child.tag, str):
                walk(child)
            current.append(child.tail or "")
        if name == "bibl":
            end()

    for found in root.iter("{*}listBibl", "listBibl"):
        walk(found)
        break
    return lines


def _ruled(found: Sequence[tuple[str, bool]]) -> list[bool]:
    """Return which lines begin an entry by the rules.

    The positions of the lines are simulated, because the data contain only their indentation."""
    lines: list[Line] = []
    for i, (text, indented) in enumerate(found):
        at = 12.0 if indented else 0.0
        tokens: list[Token] = []
        for word in text.split():
            tokens.append(Token(word, at, 12.0 * i, at + 5 * len(word), 12.0 * i + 10, _FONT, bool(tokens)))
            at += 5 * len(word) + 3
        lines.append(Line(tokens, 1, 1))
    begins = {id(group[0]) for group in split_by_rules(lines)}
    return [id(line) in begins for line in lines]


def train(data: Sequence[tuple[str, list[EntryLine], list[str]]], model: Path, iterations: int) -> None:
    """Train the model on lists."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for _, rows, labels in data:
        trainer.append(features(rows), labels)
    trainer.select("lbfgs")
    trainer.set_params(PARAMETERS | {"max_iterations": iterations})
    trainer.train(str(model))


def measure(data: Sequence[tuple[str, list[EntryLine], list[str]]], model: Path) -> None:
    """Print the number of complete entries, by the model and by the rules, for lists with and without labels."""
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(str(model))
    counts: dict[tuple[bool, str], Counter[str]] = {}
    for _, rows, labels in data:
        labelled = 2 * sum(LABEL.match(row.text) is not None for row in rows) > labels.count(BEGINS)
        gold = _spans([label == BEGINS for label in labels])
        for way, begins in (
            ("model", [x == BEGINS for x in tagger.tag(features(rows))]),
            ("rules", [row.ruled for row in rows]),
        ):
            ours = _spans(begins)
            counts.setdefault((labelled, way), Counter()).update(
                {"both": len(gold & ours), "gold": len(gold), "ours": len(ours)}
            )
    for (labelled, way), n in sorted(counts.items()):
        print(
            f"{'with' if labelled else 'without'} labels, {way}: precision {n['both'] / max(n['ours'], 1):.3f} "
            f"recall {n['both'] / max(n['gold'], 1):.3f} of {n['gold']} entries"
        )


def _spans(begins: Sequence[bool]) -> set[tuple[int, int]]:
    at = [i for i, x in enumerate(begins) if x]
    return set(zip(at, [*at[1:], len(begins)], strict=True))


def main() -> None:
    """Parse the command line, train, and print the measurements."""
    parser = argparse.ArgumentParser(
        prog="python -m devtools.training.entries", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("data", type=Path, help="folder with reference-segmenter.tar.xz")
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--out", type=Path, default=MODEL)
    given = parser.parse_args()
    data = list(lists(given.data / "reference-segmenter.tar.xz"))
    train([x for x in data if not apart(x[0])], given.out, given.iterations)
    print(f"{given.out}: {given.out.stat().st_size / 1e6:.2f} MB")
    measure([x for x in data if apart(x[0])], given.out)


if __name__ == "__main__":
    main()
