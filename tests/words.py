"""The word list of the lint: words of ours where the field has its own, and turns of phrase that English has not.

    python tests/words.py [folder …]

Prints each line that has one, with what to write instead; exit status 1 where there is any.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORDS = {
    r"\balike\b": "similar",
    r"\btwins?\b": "near-duplicate, duplicate",
    r"\bwaves?\b": "batch",
    r"\bcrowded\b": "over-full",
    r"\b(?:speaks?|spoke) for\b": "describes",
    r"\b(?:gone|goes?|going|went) on over\b": "overridden, overrides",
    r"\banew\b": "again",
    r"\bmend(?:ed|s)? (?:it|the|by)\b": "fix, correct",
    r"\b(?:is|are) told by\b": "is recognised by, is identified by",
    r"\bwhat may pass\b": "a transient error",
    r"\bstands? twice\b": "occurs twice",
    r"\b(?:if|that|which) (?:it )?(?:is|are) none\b": "is not one",
    r"\bchecks? (?:that )?speaks?\b": "check fails",
    r"\bto whom (?:it|they) reach": "to a user",
    r"\b(?<!there )(?<!There )(?:is|are) no (?!longer|more|other|such|branch)(?:[a-z]+)\b(?<!one)": "is not a …",
    r"\bin nobody's way\b": "so that others continue",
    r"\bis told from\b": "is identified from",
    r"\bwithout end\b": "forever",
    r"\bchecks? that spoke\b": "failed checks",
}
SUFFIXES = {".py", ".md", ".sql", ".html", ".j2"}
NOT_OURS = ("devtools/sample/", "devtools/training/", "tests/", "devtools/bench/")
"""generated prose, lists of words for training, and what tests quote"""


def offending(folders: list[str]) -> Iterator[str]:
    """`path:line: word: what to write` for each line that has a word of the list."""
    patterns = [(re.compile(pattern), better) for pattern, better in WORDS.items()]
    for folder in folders:
        top = ROOT / folder
        for path in sorted(top.rglob("*") if top.is_dir() else [top]):
            name = path.relative_to(ROOT).as_posix()
            if path.suffix not in SUFFIXES or name.startswith(NOT_OURS) or "/static/" in name:
                continue
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                for pattern, better in patterns:
                    if found := pattern.search(line):
                        yield f"{name}:{number}: {found[0]!r}: write {better}"


def main() -> int:
    """Check the folders given, else all of the project."""
    found = list(
        offending(sys.argv[1:] or ["include", "dags", "plugins", "sql", "docs", "README.md", "CONTRIBUTING.md"])
    )
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
