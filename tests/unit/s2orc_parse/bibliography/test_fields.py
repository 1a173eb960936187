"""Dates, titles, abstracts, licenses, identifiers and names are each normalized in one place (SPEC §3.9, §3.18–§3.20).

`tests/data/author_names.txt` has lists of names in many languages and forms. The expected form is `given|surname`,
`given|surname|suffix`, or `|name of a group`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2corpus.sources import Author, Record, read
from s2orc_parse.bibliography import identifiers
from s2orc_parse.bibliography.author_fields import select_authors
from s2orc_parse.bibliography.dates import find_year, make_date, parse_date
from s2orc_parse.bibliography.fields import (
    clean_abstract,
    clean_journal,
    clean_locator,
    clean_pages,
    clean_text,
    clean_title,
)
from s2orc_parse.bibliography.leading_names import split_leading_names
from s2orc_parse.bibliography.links import doi_of_url
from s2orc_parse.bibliography.names import make_author, parse_authors, parse_name, surname_key

AVAILABLE = "The online version of this article (doi:10.1007/s00125-015-3770-6) contains supplementary material, available to users."
NOTICES = (
    "© 2019 The Authors. Published by Elsevier Ltd. All rights reserved.", "Copyright © 2007 John Wiley & Sons, Ltd.",
    "(C) 2000 Elsevier Science B.V. All rights reserved.", "© 2010 Wiley-Liss, Inc. and the Pharmacists Association J 99:4-9, 2010",
    "All rights reserved.", "This article is protected by copyright. All rights reserved.", "Published by Elsevier Inc.",
    f"Electronic supplementary material {AVAILABLE}", AVAILABLE,
    "Supplementary Information The online version contains supplementary material available at 10.1186/s13.",
    "Supplementary data are available at Bioinformatics online.", "A Correction to this paper has been published: https://doi.org/10.1/x",
)  # fmt: skip
"""notices of publishers and catalogs (PubMed, Europe PMC, Crossref)"""

Rule = tuple[Callable[[Any], Any], list[tuple[Any, Any]]]
RULES: dict[str, Rule] = {
    "date and precision": (parse_date, [
        (1999, ("1999", "year")), ("1999-05-31T23:30:00-05:00", ("1999-05-31", "day")), ([1999, 5], ("1999-05", "month")),
        ("1998 Dec-1999 Jan", ("1998-12", "month")), ("2001-02-31", ("2001-02", "month")), ("2001-13", ("2001", "year")),
        ([None], (None, None)), ("0000", (None, None)), (None, (None, None)), (True, (None, None)),
    ]),
    "the year of a printed reference is not the date of access": (find_year, [
        ("Lee A. A page (2018). Accessed 3 May 2019.", 2018), ("River page. Accessed 3 May 2019. https://x.org/rivers", None),
        ("J Odd [Internet]. 2010 [cited 2019 May 3]", 2010), ("Disponível em: http://x.org/2019/05. Acesso em: 3 maio 2019", None),
        ("abgerufen am 3. März 2019", None), ("Consulté le 12 août 2015. 2010", 2010), ("Consultado el 3 de mayo de 2019", None),
        ("Smith 2001;12:1991-2003", 2001), ("2003. doi:10.1016/j.x.2019.03.001", 2003), ("arXiv 2001.00001 (2020)", 2020),
        ("2001 or 2002", None),
        # Acta Cryst. D60, 2355: the volume looks like a year
        ("Mizuki, E. & Ohba, M. (2001). Biochem. Biophys. Acta, 1547, 57–63.", 2001), ("A. Lee, Phys. Rev. 1547, 57 (2001)", 2001),
        ("History of the Flu (1918). Oxford, 2001", None),
    ]),
    "title": (clean_title, [
        ("Deep <i>parsing</i> of\n papers &amp; more.", "Deep parsing of papers & more"),
        ("Made in the U.S.A.", "Made in the U.S.A."),
        ("More on sleep... N Engl J Med. 2009 Jan 29;360(5):544-6", "More on sleep"),
        ("Sleep... and then, 2009; 3:4 beats", "Sleep... and then, 2009; 3:4 beats"),
        ("H<sub>2</sub>O", "H2O"), ("[Not Available].", None), ("Untitled", None), ("Title Pending 812", None), ("...", None),
        ("Untitled works of Klee", "Untitled works of Klee"), ("  ", None), (None, None), (7, None), ("a\x00b", "a b"),
        ("On &lt;i&gt;E. coli&lt;/i&gt;", "On E. coli"), ("On &amp;lt;i&amp;gt;E. coli&amp;lt;/i&amp;gt;", "On E. coli"),
        ("Software amp; Services #x2013; a survey", "Software & Services – a survey"), ("Customer #x0027;s record", "Customer's record"),
        ("Use of C#; a survey", "Use of C#; a survey"), ("R&amp;amp;D", "R&D"),
        ("Where a<b and c>d", "Where a<b and c>d"), ("p&lt;0.05 but q&gt;0.1", "p<0.05 but q>0.1"),
        # GROBID on HAL's cover and first page (hal-00643787)
        ("Discriminant analyses of peanut allergy severity scores Discriminant analyses of peanut allergy severity scores",
         "Discriminant analyses of peanut allergy severity scores"), ("Row, row, row Row, row, row", "Row, row, row Row, row, row"),
        ("Parts ::: of it", "Parts of it"), ("[On dieldrin in other animals (author's transl)].", "On dieldrin in other animals"),
    ]),
    "abstract with a line for each part": (clean_abstract, [
        ("<jats:title>Abstract</jats:title><jats:p>We <jats:italic>parse</jats:italic>.</jats:p>", "We parse."),
        ("BACKGROUND: We ask. ::: METHODS: We look.", "BACKGROUND: We ask.\nMETHODS: We look."),
        ("<sec><title>Aim:</title><p>To ask.</p></sec><sec><title>Results</title><p>Much.</p></sec>", "Aim: To ask.\nResults: Much."),
        ("&amp;lt;p&amp;gt;of &amp;lt;i&amp;gt;E. coli&amp;lt;/i&amp;gt;&amp;lt;/p&amp;gt;", "of E. coli"),
        # Crossref puts line breaks around markup (10.7717/peerj.17337, 10.1098/rspb.2022.2149).
        ("<p>\n Clams (\n  <i>\n  T. maxima\n  </i>\n  ) take CO\n <sub>2</sub>\n , a\n <i>z</i>\n -score,\n  <i>K</i>\n/\n<i>N</i>\n.</p>",
         "Clams (T. maxima) take CO2, a z-score, K/N."),
        ("<p>One\n two <i>x</i> . (<i> y</i>)</p>", "One two x . ( y)"),
        ("<title>Why?</title><p>Because.</p><title>Aim.</title><p>To ask.</p>", "Why? Because.\nAim: To ask."),
        ("We parse. (ABSTRACT TRUNCATED AT 250 WORDS)", "We parse."), ("We parse. (ABSTRACT TRUNCATED)", "We parse."),
        *((text, None) for text in ("n/a", "-", "Abstract.", "[Figure: see text].", "An abstract is not available for this article.")),
    ]),
    "the head leaves the abstract, but its first word remains": (clean_abstract, [
        *((f"{head} {text}", text) for head, text in (
            ("Abstract", "We parse papers."), ("Abstract", "Background The aim is to parse."), ("Summary", "The ATLAS detector is new."),
            ("Abstract", "Large language models parse."), ("ABSTRACT", "papers are parsed"), ("Abstract:", "papers are parsed"),
            ("Summary.", "Papers are parsed."), ("Abstract —", "Papers are parsed."), ("Abstract", "Purpose: To parse."),
        )),
        *((text, text) for text in (
            "Abstract Meaning Representation (AMR) is a graph.", "Abstract interpretation is a theory.", "Summary statistics are shared.",
            "Abstract Syntax Trees have nodes.", "Summary-level data are shared.", "SummaryMixing is linear.",
            *(f"{head}{end} are parsed." for head, end in (("Abstract", "s"), ("ABSTRACT", "S"), ("Summary", "s"), ("SUMMARY", "S"))),
        )),
        # Crossref and OpenAlex lose the space between the head and the first word.
        *((f"{head}{text}", text) for head in ("Abstract", "ABSTRACT", "Summary")
          for text in ("We parse papers.", "The papers are parsed.", "In papers, text is parsed.")),
    ]),
    "a notice after an abstract is removed": (clean_abstract, [
        (form.format(notice), "We studied mice.")
        for form in ("We studied mice. {}", "<p>We studied mice.</p><p>{}</p>") for notice in NOTICES
    ]),
    "a sentence about notices remains": (clean_abstract, [(text, text) for text in (
        "Copyright 1999 was a year of law. We study it.", "The (c) 2004 sample rose. We say why.", "In 2010 (c) we end.",
        "Supplementary information helps readers.", "They were published by Elsevier journals in 2010. We count them.",
        "This corrects the view that mice sleep." * 9,
    )]),
    "a notice is no abstract": (clean_abstract, [(notice, None) for notice in (
        "[This corrects the article DOI: 10.1371/journal.pone.0123456.].", "This corrects the article DOI: 10.1103/PhysRevLett.118.191102.",
        "An amendment to this paper has been published and can be accessed via a link at the top of the paper.",
        "A Correction to this paper has been published: https://doi.org/10.1038/s41", "No abstract available.", "© 2019 The Authors",
    )]),
    "headings of Europe PMC are separated from the text": (clean_abstract, [
        ("<h4>Background</h4>It is. <h4>Methods</h4>We do.<ul><li>One</li></ul>", "Background: It is.\nMethods: We do.\nOne"),
    ]),
    "a journal has its title proper": (clean_journal, [
        ("Langmuir : the ACS journal of surfaces and colloids", "Langmuir"), ("Science (New York, N.Y.)", "Science"),
        ("BMJ (Clinical research ed.)", "BMJ"), ("Journal of applied physiology (Bethesda, Md. : 1985)", "Journal of applied physiology"),
        ("Planta = Archiv", "Planta"), ("IEEE/ACM Transactions on X", "IEEE/ACM Transactions on X"), ("Decis. Sci.", "Decis. Sci."),
        ("Proceedings (Baylor University. Medical Center)", "Proceedings (Baylor University. Medical Center)"),
        ("Acta Crystallographica Section D: Structural Biology", "Acta Crystallographica Section D: Structural Biology"),
    ]),
    "the last page is complete": (clean_pages, [
        ("1285-90", "1285-1290"), ("123–5", "123-125"), ("S12-5", "S12-S15"), ("S12–S15", "S12-S15"), ("199-3", "199-3"),
        ("e1000", "e1000"), ("no pagination", None), ("No Pagination Specified", None), ("n/a", None), ("ahead-of-print", None),
    ]),
    "volume, issue and pages": (clean_locator, [
        ("12", "12"), (12, "12"), ("Vol. 12", "12"), ("pp. 288–297", "288-297"), ("e01234", "e01234"), ("288 - 297", "288-297"),
        ("S1", "S1"), ("p. 5", "5"), ("", None), ("-", None), (None, None), (True, None), ("ahead-of-print", None), ("12-4", "12-4"),
    ]),
    "DOI of a known address": (doi_of_url, [
        ("https://doi.org/10.1016/S0022-0000(05)80002-1", "10.1016/s0022-0000(05)80002-1"),
        ("http://dx.doi.org/10.1038%2Fs41586", "10.1038/s41586"),
        ("https://doi.apa.org/getdoi.cfm?doi=10.1037/0003-066X.59.1.29", "10.1037/0003-066x.59.1.29"),
        ("https://link.springer.com/content/pdf/10.1007/s00453-1.pdf", "10.1007/s00453-1"),
        ("https://www.biorxiv.org/content/10.1101/2020.01.02.123456v2.full.pdf", "10.1101/2020.01.02.123456"),
        ("10.1038/s41586", "10.1038/s41586"),
        # the page of a reference of the SciELO article a2
        ("https://www.scholarlyassessmentreports.org/articles/10.29024/sar.15/", "10.29024/sar.15"),
        ("https://www.jstor.org/stable/10.1086/123456", "10.1086/123456"),
        ("https://www.emerald.com/insight/content/doi/10.1108/x1/full/html", "10.1108/x1"),
        ("https://proxy.example.edu/login?url=https://doi.org/10.1038/s41586", "10.1038/s41586"),
        (r"\href{https://doi.org/10.1038/s41586}{10.1038/s41586}", "10.1038/s41586"),
        ("https://example.org/10.1038/s41586", None),
        ("doi/" * identifiers.MAX_CHARACTERS, None),
    ]),
    "DOI": (identifiers.normalize_doi, [
        ("DOI: 10.1038/nature12373.", "10.1038/nature12373"),
        ("10.1016/S0022-0000(05)80002-1", "10.1016/s0022-0000(05)80002-1"),
        # Templates and placeholders.
        ("10.1145/1122445.1122456", None),
        ("https://doi.org/10.1145/XXXXXX.XXXXXX", None),
        ("10.1234/abc", None),
        ("10.1000/0000", None),
        # Not identifiers.
        ("see 110.1000/5", None),
        # The number of the journal belongs to the DOI, except behind it.
        ("10.13374/j.issn2095-9389.2019.07.15.001", "10.13374/j.issn2095-9389.2019.07.15.001"),
        ("10.7544/issn1000-1239.2015.20150139", "10.7544/issn1000-1239.2015.20150139"),
        ("10.1590/0034-7167ISSN0034-7167", "10.1590/0034-7167"),
    ]),
    "arXiv id, whose month exists": (identifiers.normalize_arxiv, [("1713.03762", None)]),
    "PMC id": (identifiers.normalize_pmcid, [("pmc5055573.1", "PMC5055573")]),
    "ACL id": (identifiers.normalize_acl, [
        ("https://aclanthology.org/2020.acl-main.207.pdf", "2020.acl-main.207"), ("n18-3011v2", "N18-3011"),
    ]),
    "ISSN, whose check digit is verified (ISO 3297)": (identifiers.normalize_issn, [("03178471", "0317-8471"), ("0317-8472", None)]),
    "arXiv id of its DOI": (identifiers.arxiv_of_doi, [("10.48550/arxiv.1706.03762", "1706.03762")]),
    "DOI of an arXiv id": (identifiers.doi_of_arxiv, [("1706.03762", "10.48550/arxiv.1706.03762")]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("clean", "value", "expected"),
    [pytest.param(clean, *row, id=rule) for rule, (clean, rows) in RULES.items() for row in rows],
)
def test_value_has_its_plain_form(clean: Callable[[Any], Any], value: object, expected: object) -> None:
    assert clean(value) == expected


@given(st.integers(1400, 2100), st.none() | st.integers(-1, 14), st.none() | st.integers(-1, 33))
def test_date_is_parsed_back_to_itself(year: int, month: int | None, day: int | None) -> None:
    assert parse_date(make_date(year, month, day)[0]) == make_date(year, month, day)


@given(st.text(max_size=40))
def test_arbitrary_text_does_not_break_the_date_parser(text: str) -> None:
    date, precision = parse_date(text)
    assert (date is None) == (precision is None)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("piece", ["\n", " \n<i>", "(\n<", "</title>", "a\n<sub>", ",\n</i>", "<i ", " †"])
def test_repetitions_are_cleaned_in_linear_time(piece: str) -> None:
    """Thousands of line breaks before a tag once took minutes."""
    text = f"On odd things{piece * (20_000 // len(piece))}x<i>"
    assert str(clean_title(text)).startswith("On odd") and str(clean_abstract(text)).startswith("On odd")


@given(st.text(alphabet="<>&;:!-/?[]=\"'ampltgi ", max_size=80))
def test_cleaning_is_idempotent(text: str) -> None:
    assert clean_text("x" * 10_000) == "x" * 3_000
    once = clean_text(text)
    assert once is None or clean_text(once) == once


def test_separators_in_real_s2orc_abstracts_become_line_breaks(shared_data: Path) -> None:
    records = list(read("s2orc", shared_data / "s2orc" / "metadata_20200705_sample.jsonl"))
    texts = [f"{record.title} {record.abstract}" for record in records if isinstance(record, Record)]
    assert (len(texts), [text for text in texts if ":::" in text]) == (1000, [])
    assert sum("\n" in text for text in texts) >= 39  # Of 41 abstracts with separators, two have them only at an end.


@given(st.text(max_size=60).map(lambda tail: f"10.1000/{tail}"))
def test_normalized_doi_is_a_fixed_point(text: str) -> None:
    if doi := identifiers.normalize_doi(text):
        assert identifiers.normalize_doi(doi) == doi == doi.lower()


LISTS = (Path(__file__).parents[3] / "data" / "author_names.txt").read_text("utf-8").splitlines()


def short(author: Author) -> str:
    given_names = " ".join([author.first, *author.middle]).strip()
    return "|".join(filter(None, (f"{given_names}|{author.last}", author.suffix)))


@pytest.mark.parametrize("line", LISTS, ids=lambda line: line.split(" => ")[0].encode("ascii", "replace").decode())
def test_author_string_is_split_into_names(line: str) -> None:
    text, _, expected = line.partition(" => ")
    assert "; ".join(map(short, parse_authors(text))) == expected


@pytest.mark.parametrize(
    ("given_name", "family", "suffix", "author"),
    [
        ("Lucy Lu", "Wang", None, "Lucy Lu|Wang"), ("Sammy", "Davis", "Jr.", "Sammy|Davis|Jr"), ("Bill Gates", "", None, "Bill|Gates"),
        ("", "The ATLAS Collaboration", None, "|The ATLAS Collaboration"), ("Ma", "Pei-bei", None, "Pei-bei|Ma"),
        ("Mo", "Al-taie", None, "Mo|Al-taie"), ("Prof. Dr. Ada", "Lovelace", None, "Ada|Lovelace"),
        ("Ing Hao", "Chang", None, "Ing Hao|Chang"), ("Ing. Jan", "Novák", None, "Jan|Novák"),
        ("Ada", "Lovelace PhD", None, "Ada|Lovelace|PhD"), ("A", "Lovelace, MD, PhD", None, "A|Lovelace|MD PhD"),
        ("Sammy", "Davis, Jr., MD", None, "Sammy|Davis|Jr. MD"), ("Ada*", "Lovelace1", None, "Ada|Lovelace"),
        ("-", "Lovelace", None, "|Lovelace"), ("Jean‐Pierre", "Smith‑Jones", None, "Jean-Pierre|Smith-Jones"),
        # PMC4575751 has `<surname>H Aladakatti</surname><given-names>Ravindranath</given-names>`.
        ("Ravindranath", "H Aladakatti", None, "Ravindranath H|Aladakatti"), ("Ann", "O Brien", None, "Ann|O Brien"),
    ],
)  # fmt: skip
def test_separate_name_parts_become_an_author(given_name: str, family: str, suffix: str | None, author: str) -> None:
    found = make_author(given_name, family, suffix)
    assert found is not None and short(found) == author


def test_surnames_are_compared_without_accents_hyphens_and_case() -> None:
    keys = {surname_key(parse_name(name)) for name in ("Hector Garcia-Molina", "H. García-Molina", "H. GARCIA-MOLINA")}  # type: ignore[arg-type]  # each name is readable
    assert keys == {"garciamolina"}


@settings(max_examples=100)
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=60))
def test_arbitrary_text_gives_named_authors(text: str) -> None:
    for author in parse_authors(text):
        assert author.last or author.first


first_names, last_names = st.sampled_from(["Ada", "Kyle", "Lucy Lu"]), st.sampled_from(["Lovelace", "Lo", "Wang"])


@given(st.lists(st.tuples(first_names, last_names), min_size=2, max_size=5))
def test_usual_forms_give_equal_authors(names: list[tuple[str, str]]) -> None:
    inverted = "; ".join(f"{last}, {first}" for first, last in names)
    natural = ", ".join(f"{first} {last}" for first, last in names)
    joined = " and ".join(f"{first} {last}" for first, last in names)
    for text in (inverted, natural, joined):
        assert list(map(short, parse_authors(text))) == [f"{first}|{last}" for first, last in names]


@pytest.mark.parametrize(
    ("printed", "title", "names"),
    [  # References of PMC5830579, PMC7863429 and PMC7718682 as their publishers marked them up; the fourth as GROBID 0.8 read it.
        ("& Bihari, V. Production of antibacterial metabolites", "Production of antibacterial metabolites", "V|Bihari"),
        ("deSouza NM, et al. characterisation of oligometastatic disease", "characterisation of oligometastatic disease", "N M|deSouza"),
        ("Chen BY (eds.): curriculum development for medical education", "curriculum development for medical education", ""),
        # References of PMC7908724 and PMC5248495.
        ("Spry N (2010) Meeting breast cancer patients’ needs", "Meeting breast cancer patients’ needs", "N|Spry"),
        ("Azade Nova, et al. 2021. A graph placement methodology", "A graph placement methodology", "Azade|Nova"),
        ("Comment on Smith et al. 2010: the case of rats", "Comment on Smith et al. 2010: the case of rats", ""),
        ("Reply to Ghosh et al.: On the evolution of cats", "Reply to Ghosh et al.: On the evolution of cats", ""),
        ("Are Kim et al. right about the moon?", "Are Kim et al. right about the moon?", ""),
    ],
)  # fmt: skip
def test_names_before_a_title_are_authors(printed: str, title: str, names: str) -> None:
    found, authors = split_leading_names(printed, ())
    assert (found, "; ".join(map(short, authors))) == (title, names)


def test_name_before_a_title_needs_other_authors() -> None:
    """PMC5248495 prints `Soković M, Marin PD, Brkić D, L. van Griensven. Chemical Composition …`."""
    title, authors = split_leading_names(
        "L. van Griensven. Chemical Composition of oils", parse_authors("Soković M, Brkić D")
    )
    assert (title, short(authors[-1])) == ("Chemical Composition of oils", "L|van Griensven")
    for alone in ("L. van Griensven. Chemical Composition of oils", "E. coli. A model of all"):
        assert split_leading_names(alone, ()) == (alone, ())


@pytest.mark.parametrize(
    "role", ["GUEST EDITORS", "Guest Editor", "Anonymous", "[Anonymous]", "Editor-in-Chief", "The Editors"]
)
def test_role_is_no_author(role: str) -> None:
    ann = Author("Ann", (), "Lee", "")
    assert select_authors([*parse_authors(role), make_author("", role), ann, None]) == (ann,)
