"""README.md and docs/index.md: each statement with a figure, or of all or none, names the page, test or command that shows it.

The figures that come from other files of the project are compared with them.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from s2corpus.pipeline.stages import PIPELINE
from s2corpus.rules import SelectRules

ROOT = Path(__file__).resolve().parents[3]
PAGES = ("README.md", "docs/index.md")
_CLAIM = re.compile(r"(?<![\w.-])\d[\d,.]*(?![\w-])|\b(?:every|each|no|none|all|equal)\b", re.IGNORECASE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_COMMAND = re.compile(r"`(?:make|corpus|python|pip) [^`]+`|```bash")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def read(path: str) -> str:
    return (ROOT / path).read_text("utf-8")


def split_blocks(text: str) -> Iterator[str]:
    """Yield paragraphs, bullets and tables, without code.

    A block that ends with a colon includes the next block, and a table the paragraph below it.
    """
    text = re.sub(r"(?ms)^```(\w*)\n.*?^```$", r"```\1", text)
    text = re.sub(r"(?m)^- ", "\n- ", text)
    joined: list[str] = []
    for part in (part.strip() for part in re.split(r"\n\n+", text)):
        if joined and (joined[-1].endswith(":") or (joined[-1].startswith("|") and not part.startswith(("#", "|")))):
            joined[-1] += f"\n{part}"
        elif part:
            joined.append(part)
    yield from (part for part in joined if not part.startswith(("#", "!", "```")))


BLOCKS = [(page, block) for page in PAGES for block in split_blocks(read(page))]


@pytest.mark.parametrize(("page", "block"), BLOCKS, ids=[f"{page}-{block[:40]}" for page, block in BLOCKS])
def test_claim_names_what_shows_it(page: str, block: str) -> None:
    stated = re.sub(r"`[^`]*`|\(([^)\s]*[/.#][^)\s]*)\)", "", block)
    if _CLAIM.search(stated):
        assert _LINK.search(block) or _COMMAND.search(block), f"{page}: no page, test or command shows: {block}"


def test_linked_tests_exist_and_have_tests() -> None:
    links = [
        link.partition("#")[0] for page, block in BLOCKS for link in _LINK.findall(block) if link.startswith("tests/")
    ]
    assert links and all("def test_" in read(link) for link in links)


def test_tables_of_figures_equal_their_pages() -> None:
    """The cost of extraction, and the quality beside GROBID."""
    costs = re.findall(r"(?m)^\| (?:10|200|1,000),000 \|.*$", read("README.md"))
    assert costs == re.findall(r"(?m)^\| (?:10|200|1,000),000 \|.*$", read("docs/sizing.md"))
    for row in costs:
        count, ours, grobid = (cell.strip() for cell in row.strip("|").split("|"))
        pdfs = int(count.replace(",", ""))
        for cell, seconds in ((ours, 0.33), (grobid, 16 / 10.6)):
            hours, dollars = map(float, cell.split(";"))
            assert hours == pytest.approx(pdfs * seconds / 3600, rel=0.1) and dollars == pytest.approx(
                hours * 0.05, rel=0.01
            )
    quality = read("docs/quality.md")
    (ours,) = re.findall(r"(?m)^\| built-in extractor, 9 papers .*$", read("README.md"))
    (theirs,) = re.findall(r"(?m)^\| GROBID 0\.8\.2, published, .*$", read("README.md"))
    for row, name, places in (
        (ours, "held out | 9", (1, 2, 3, 4, 7)),
        (theirs, "GROBID 0.8.2, published | 1,943", (1, 2, 3, 4, 7)),
    ):
        measured = next(line for line in quality.splitlines() if line.startswith(f"| {name} |")).split("|")[2:]
        assert [cell.strip() for cell in row.strip("|").split("|")[1:]] == [measured[n].split()[0] for n in places]


def test_numbers_of_the_readme_are_those_of_the_code() -> None:
    readme = read("README.md")
    assert len(PIPELINE) == 12 and "twelve stages" in readme
    assert f"at most {SelectRules().max_pages} pages" in readme
    assert PROJECT["requires-python"] == ">=3.11,<3.14" and "Python 3.11–3.13" in readme
    airflow = next(name for name in PROJECT["optional-dependencies"]["airflow"] if name.startswith("apache-airflow=="))
    assert f"Airflow {'.'.join(airflow.partition('==')[2].split('.')[:2])}" in readme
