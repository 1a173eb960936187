"""A PDF's DOI, arXiv id, ACL id, PMCID and date are read from its first pages and metadata.

Identifiers of other papers are ignored.
"""

from pathlib import Path

import pytest
from lxml import etree

from pdf2tei.front.identity import FirstPages, Identity, PrintedLine, identify
from s2corpus.pdf import Selection, inspect_many
from s2corpus.spec import SelectRules
from s2orc_parse.bibliography.identifiers import normalize_doi

TRUE_OF_PAIRS = {  # Taken from the papers' first pages.
    "1a47fb0dc980180fe7283f4f83bae1d73cdaaaa9": ("10.1186/s12984-016-0129-6", None, "2016"),
    "5e9f23c1386c9d1263be440ef41cf7d15b050965": (None, "2504.11011", "2025-04-15"),
    "649def34f8be52c8b66281af98ae884c09aef38b": (None, None, "2018"),
    "913a386bcc7218244484557c40da6ae121fbc24b": (None, "2505.15693", "2025-05-21"),
    "a9b9835437e396c88e356e98b5a5f502ab5271da": ("10.48550/arxiv.2602.19930", "2602.19930", "2026-02-23"),
}
"""DOI (only in the metadata: a9b9), arXiv id, date. 913a prints a template's DOI."""

TITLE = "Recent Development of Solid Electrolytes for Magnesium Ions"
OWN = "10.3389/fchem.2020.00125"
OTHER = "10.1016/j.ssi.2015.01.001"


def identify_pages(*pages: list[tuple[float, str]], **metadata: str) -> Identity:
    lines = [[PrintedLine(text, height) for height, text in page] for page in pages]
    return identify(FirstPages(lines, {key.replace("__", ":"): value for key, value in metadata.items()}))


@pytest.fixture(scope="module")
def read(shared_data: Path) -> dict[str, Selection]:
    paths = [
        *(shared_data / "pairs" / f"{name}.pdf" for name in TRUE_OF_PAIRS),
        *(shared_data / "pmc-pdf").glob("*.pdf"),
    ]
    items = [(path.stem, path) for path in paths]
    found = inspect_many(items, rules=SelectRules(max_pages=100), workers=2, timeout=60, memory_bytes=1 << 30)
    return {selection.file_sha1: selection for selection in found}


def test_identifiers_of_real_papers_are_read(read: dict[str, Selection]) -> None:
    found = {name: read[name].identity for name in TRUE_OF_PAIRS}
    assert {name: (one.doi, one.arxiv_id, one.date) for name, one in found.items()} == TRUE_OF_PAIRS


def test_identifiers_of_real_papers_equal_those_of_publishers(read: dict[str, Selection], shared_data: Path) -> None:
    right = 0
    for path in sorted((shared_data / "pmc-pdf").glob("*.nxml")):
        root = etree.parse(path, etree.XMLParser(load_dtd=False, no_network=True, recover=True)).getroot()
        doi = root.findtext(".//article-meta/article-id[@pub-id-type='doi']")
        dates = [
            "-".join(f"{int(part):02d}" for name in ("year", "month", "day") if (part := date.findtext(name)))
            for date in root.iterfind(".//article-meta/pub-date")
        ]
        found = read[path.stem].identity
        assert found.doi in (None, normalize_doi(doi or "")), path.stem
        assert found.date is None or any(date.startswith(found.date) for date in dates), (path.stem, found.date, dates)
        right += found.doi is not None
    assert right == 27  # Two of the 29 have no DOI.


def test_doi_is_read_from_own_citation_only() -> None:
    title, cited = (0.8, TITLE), "1 Smith J, Berg K. (2015) Magnesium as an anode. Solid State Ionics 3:12"
    reference = [(0.14, cited), (0.125, f"doi: {OTHER}")]
    assert identify_pages([title, (0.5, "Text."), *reference]).doi is None
    own = [(0.3, "Citation:"), (0.28, f"Li W (2020) {TITLE}."), (0.26, "Front. Chem. 8:125."), (0.24, f"doi: {OWN}")]
    assert identify_pages([title, *own, *reference]).doi == OWN


@pytest.mark.parametrize(
    "line", [f"Data are available from the Dryad repository: https://doi.org/{OTHER}", "doi: 10.1145/nnnnnnn.nnnnnnn"]
)
def test_dois_of_other_objects_are_ignored(line: str) -> None:
    assert identify_pages([(0.8, TITLE), (0.3, line)]).doi is None
    assert identify_pages([(0.95, f"Front. Chem. 2020 | doi: {OWN}"), (0.8, TITLE), (0.3, line)]).doi == OWN


def test_position_and_metadata_decide_the_doi() -> None:
    page = [(0.8, TITLE), (0.5, "References"), (0.45, f"https://doi.org/{OTHER}"), (0.03, f"doi: {OWN}")]
    assert identify_pages(page).doi == OWN, "references are not read"
    assert identify_pages([(0.95, f"doi: {OWN}"), (0.05, f"doi: {OTHER}")]).doi is None, "both are equally likely"
    head = (0.96, f"PLOS ONE | https://doi.org/{OWN} November 29, 2018")
    assert identify_pages([head], [head]).doi == OWN
    assert identify_pages([(0.4, TITLE)], subject=f"Frontiers in Chemistry, doi:{OWN}").doi == OWN


def test_doi_broken_at_a_line_end_is_joined() -> None:
    first = "Citation: Li W (2020) Solid Electrolytes. https://doi.org/10.1371/journal."
    assert identify_pages([(0.95, first), (0.93, "pone.0198050")]).doi == "10.1371/journal.pone.0198050"


@pytest.mark.parametrize(
    ("stamp", "arxiv_id", "date"),
    [
        ("arXiv:1706.03762v1 [cs.CL] 12 Jun 2017", "1706.03762", "2017-06-12"),
        ("arXiv:1706.03762v5 [cs.CL] 6 Dec 2017", "1706.03762", "2017-06"),
        ("arXiv:hep-th/9711200v3 22 Jan 1998", "hep-th/9711200", "1997-11"),
        ("Vaswani et al. Attention is all you need. arXiv:1706.03762", None, None),
    ],
)
def test_arxiv_stamp_gives_id_and_date(stamp: str, arxiv_id: str | None, date: str | None) -> None:
    found = identify_pages([(0.5, stamp), (0.8, TITLE)])
    assert (found.arxiv_id, found.date, found.stamp) == (arxiv_id, date, "arxiv" if arxiv_id else None)


def test_acl_id_is_read_if_printed_with_acl_stamp() -> None:
    venue = "Proceedings of the 58th Annual Meeting of the Association for Computational Linguistics, pages 2270–2282"
    foot = [(0.8, TITLE), (0.06, venue), (0.05, "July 5 - 10, 2020. c 2020 Association for Computational Linguistics")]
    found = identify_pages(foot, prism__doi="10.18653/v1/2020.acl-main.207")
    assert (found.stamp, found.acl_id) == ("acl", "2020.acl-main.207")
    assert identify_pages([(0.8, TITLE), (0.05, "https://aclanthology.org/N18-3011")]).acl_id == "N18-3011"


def test_printed_pmcid_is_read() -> None:
    assert identify_pages([(0.9, "PMCID: PMC4391421"), (0.8, TITLE)]).pmc_id == "PMC4391421"


@pytest.mark.parametrize(
    ("line", "date"),
    [
        ("Received: 3 April 2017 / Accepted: 2 May 2017 / Published online: 24 May 2017", "2017-05-24"),
        ("Frontiers in Chemistry | www.frontiersin.org 1 February 2020 | Volume 8 | Article 125", "2020-02"),
        ("© 2021 The Authors. Published by Elsevier B.V.", "2021"),
        ("Received 12 March 2016", None),
    ],
)
def test_printed_date_is_read(line: str, date: str | None) -> None:
    assert identify_pages([(0.8, TITLE), (0.1, line)]).date == date
