"""Notices of publishers and catalogs are no part of abstracts, journals, places and names (PubMed, Europe PMC, Crossref)."""

import pytest

from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.author_fields import select_authors
from s2orc_parse.bibliography.fields import clean_abstract, clean_journal, clean_locator, clean_pages
from s2orc_parse.bibliography.names import make_author, parse_authors

AVAILABLE = "The online version of this article (doi:10.1007/s00125-015-3770-6) contains supplementary material, available to users."
SENTENCE = "We studied mice."


@pytest.mark.parametrize(
    "notice",
    [
        "© 2019 The Authors. Published by Elsevier Ltd. All rights reserved.", "Copyright © 2007 John Wiley & Sons, Ltd.",
        "(C) 2000 Elsevier Science B.V. All rights reserved.", "© 2010 Wiley-Liss, Inc. and the Pharmacists Association J 99:4-9, 2010",
        "All rights reserved.", "This article is protected by copyright. All rights reserved.", "Published by Elsevier Inc.",
        f"Electronic supplementary material {AVAILABLE}", AVAILABLE,
        "Supplementary Information The online version contains supplementary material available at 10.1186/s13.",
        "Supplementary data are available at Bioinformatics online.", "A Correction to this paper has been published: https://doi.org/10.1/x",
    ],
)  # fmt: skip
def test_notice_after_an_abstract_is_removed(notice: str) -> None:
    assert clean_abstract(f"{SENTENCE} {notice}") == clean_abstract(f"<p>{SENTENCE}</p><p>{notice}</p>") == SENTENCE


@pytest.mark.parametrize(
    "abstract",
    [
        "Copyright 1999 was a year of law. We study it.", "The (c) 2004 sample rose. We say why.", "In 2010 (c) we end.",
        "Supplementary information helps readers.", "They were published by Elsevier journals in 2010. We count them.",
        "This corrects the view that mice sleep." * 9,
    ],
)  # fmt: skip
def test_sentence_about_notices_remains(abstract: str) -> None:
    assert clean_abstract(abstract) == abstract


@pytest.mark.parametrize(
    "notice",
    [
        "[This corrects the article DOI: 10.1371/journal.pone.0123456.].", "This corrects the article DOI: 10.1103/PhysRevLett.118.191102.",
        "An amendment to this paper has been published and can be accessed via a link at the top of the paper.",
        "A Correction to this paper has been published: https://doi.org/10.1038/s41", "No abstract available.", "© 2019 The Authors",
    ],
)  # fmt: skip
def test_notice_is_no_abstract(notice: str) -> None:
    assert clean_abstract(notice) is None


def test_headings_of_europe_pmc_are_separated_from_text() -> None:
    given = "<h4>Background</h4>It is. <h4>Methods</h4>We do.<ul><li>One</li></ul>"
    assert clean_abstract(given) == "Background: It is.\nMethods: We do.\nOne"


@pytest.mark.parametrize(
    ("catalog", "name"),
    [
        ("Langmuir : the ACS journal of surfaces and colloids", "Langmuir"), ("Science (New York, N.Y.)", "Science"),
        ("BMJ (Clinical research ed.)", "BMJ"), ("Journal of applied physiology (Bethesda, Md. : 1985)", "Journal of applied physiology"),
        ("Planta = Archiv", "Planta"), ("IEEE/ACM Transactions on X", "IEEE/ACM Transactions on X"), ("Decis. Sci.", "Decis. Sci."),
        ("Proceedings (Baylor University. Medical Center)", "Proceedings (Baylor University. Medical Center)"),
        ("Acta Crystallographica Section D: Structural Biology", "Acta Crystallographica Section D: Structural Biology"),
    ],
)  # fmt: skip
def test_journal_has_its_title_proper(catalog: str, name: str) -> None:
    assert clean_journal(catalog) == name


@pytest.mark.parametrize(
    ("given", "pages"),
    [
        ("1285-90", "1285-1290"), ("123–5", "123-125"), ("S12-5", "S12-S15"), ("S12–S15", "S12-S15"), ("199-3", "199-3"),
        ("e1000", "e1000"), ("no pagination", None), ("No Pagination Specified", None), ("n/a", None), ("ahead-of-print", None),
    ],
)  # fmt: skip
def test_last_page_is_complete(given: str, pages: str | None) -> None:
    assert clean_pages(given) == pages


def test_statement_is_no_volume() -> None:
    assert clean_locator("ahead-of-print") is None and clean_locator("12-4") == "12-4"


def test_hyphen_of_a_name_is_plain() -> None:
    dupont = Author("Jean-Pierre", (), "Smith-Jones", "")
    assert make_author("Jean‐Pierre", "Smith‑Jones") == dupont and parse_authors("Jean‐Pierre Smith‑Jones") == (dupont,)


@pytest.mark.parametrize(
    "role", ["GUEST EDITORS", "Guest Editor", "Anonymous", "[Anonymous]", "Editor-in-Chief", "The Editors"]
)
def test_role_is_no_author(role: str) -> None:
    ann = Author("Ann", (), "Lee", "")
    assert select_authors([*parse_authors(role), make_author("", role), ann, None]) == (ann,)
