"""Records of Crossref, arXiv, PubMed, DBLP, the ACL Anthology and JATS are read as their formats document (docs/sources.md)."""

from typing import Any

import pytest

from s2corpus.sources import Dropped, Record, RejectReason
from s2corpus.sources.jsonl import read_authors
from s2orc_parse import jats
from s2orc_parse.bibliography.author import Affiliation
from tests.unit.s2corpus.sources.samples import entries, names, one
from tests.unit.s2orc_parse.tei import teis


def assert_values(record: Record, values: dict[str, Any]) -> None:
    found = {name: names(record) if name == "authors" else getattr(record, name) for name in values}
    assert found == values


_PUBMED = """<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>7</PMID><Article><Journal><ISSN IssnType="Electronic">1548-7105</ISSN>
<Title>Nature methods</Title></Journal><ArticleTitle>T</ArticleTitle></Article><MedlineJournalInfo><ISSNLinking>1548-7091</ISSNLinking>
</MedlineJournalInfo></MedlineCitation></PubmedArticle></PubmedArticleSet>"""
_JATS = """<article><front><journal-meta><issn pub-type="ppub">1548-7091</issn><issn pub-type="epub">1548-7105</issn></journal-meta>
<article-meta><article-id pub-id-type="doi">10.1/a</article-id>
<title-group><article-title>T</article-title></title-group></article-meta></front></article>"""
_OPENALEX = {
    "id": "W7", "title": "T", "primary_location": {"source": {"type": "journal", "display_name": "J", "issn": ["1548-7091", "1548-7105"]}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("source", "entry", "issns"),
    [
        ("crossref", {"DOI": "10.1/a", "title": ["T"], "ISSN": ["1548-7091", "1548-7105"]}, ("1548-7091", "1548-7105")),
        ("crossref", {"DOI": "10.1/a", "title": ["T"], "ISSN": ["x", "15487091", "1548-7092", 7]}, ("1548-7091",)),
        ("openalex", _OPENALEX, ("1548-7091", "1548-7105")),
        ("pubmed", _PUBMED, ("1548-7105", "1548-7091")),
        ("unpaywall", {"doi": "10.1038/nmeth.2019", "journal_issns": "1548-7091,1548-7105"}, ("1548-7091", "1548-7105")),
        ("jats", _JATS, ("1548-7105", "1548-7091")),
        ("elsevier", {"docId": "S1", "metadata": {"title": "T", "issn": "15487091"}}, ("1548-7091",)),
        ("jsonl", {"id": "1", "title": "T", "issns": "1548-7091"}, ("1548-7091",)),
        ("jsonl", {"id": "1", "title": "T", "issns": ["1548-7091"]}, ("1548-7091",)),
    ],
)  # fmt: skip
def test_issns_of_the_journal_have_right_check_digits(source: str, entry: Any, issns: tuple[str, ...]) -> None:
    assert one(source, entry).issns == issns


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"Stra\ss e, \O ystein, {\AA}ngstr{\"o}m, Fran\c cois", "Straße, Øystein, Ångström, François"),
        (r"On $\alpha$-type and $\'{x}$ sets of B\"acklund", r"On $\alpha$-type and $\'{x}$ sets of Bäcklund"),
    ],
)
def test_tex_of_arxiv_outside_formulas_is_text(tex: str, text: str) -> None:
    record = one("arxiv", {"id": "1903.00002", "title": tex, "abstract": tex})
    assert (record.title, record.abstract) == (text, text)


@pytest.mark.parametrize(
    ("authors", "found"),
    [
        ([["{\\L}ukasz", "K.", ""], ['M\\"uller', 'J\\"org', "Jr"]], ["K Łukasz", "Jörg Müller Jr"]),
        ([["Collaboration", "EXA", ""], [":", "", ""], ["Other", "A. B.", ""]], ["EXA Collaboration", "A B Other"]),
        ("EXA Collaboration: A. B. Example, C. Other (1)", ["EXA Collaboration", "A B Example", "C Other"]),
    ],
)
def test_authors_of_arxiv_are_people_and_collaborations(authors: Any, found: list[str]) -> None:
    key = "authors" if isinstance(authors, str) else "authors_parsed"
    assert names(one("arxiv", {"id": "1903.00002", "title": "T", key: authors})) == found


def people(kind: str, last: str) -> str:
    return f"<AuthorList Type='{kind}'><Author><LastName>{last}</LastName><ForeName>Bo</ForeName></Author></AuthorList>"


def book(in_book: str, content: str) -> Record:
    about = "<BookTitle>Odd Things</BookTitle><PubDate><Year>1993</Year></PubDate>" + people("editors", "Editor")
    doi = "<ELocationID EIdType='doi'>10.1037/book</ELocationID>"
    book = f"<Book>{about}{in_book}<CollectionTitle>Reviews</CollectionTitle>{doi}</Book>"
    text = f"<BookDocument><PMID>7</PMID>{book}{content}</BookDocument>"
    return one("pubmed", f"<PubmedArticleSet><PubmedBookArticle>{text}</PubmedBookArticle></PubmedArticleSet>")


@pytest.mark.parametrize(
    ("authors", "found"),
    [
        (["Ada Byron, Alan Turing, Grace Hopper, &"], ["Ada Byron", "Alan Turing", "Grace Hopper"]),
        (["Ada Byron and Alan Turing (Odd University, Lisbon)"], ["Ada Byron", "Alan Turing"]),
        (["Byron, A. and Turing, A.", "Hopper, Grace"], ["A Byron", "A Turing", "Grace Hopper"]),
        (["Ada Byron (University of Odd)", "Alan Turing (IBM Quantum)"], ["Ada Byron", "Alan Turing"]),
        ("Ada Byron (Odd University, Korea (South)), Alan Turing (Odd Labs)", ["Ada Byron", "Alan Turing"]),
        (["García Márquez, Gabriel José"], ["Gabriel José García Márquez"]), (["Byron, Ada, Jr."], ["Ada Byron"]),
        (["Ortega y Gasset, José"], ["José Ortega y Gasset"]), (["William (Bill) Gates"], ["William (Bill) Gates"]),
        ("Ada Byron (Odd Labs) , Alan Turing (Al) , Grace Hopper", ["Ada Byron", "Alan Turing", "Grace Hopper"]),
        (["Ministry of Health and Welfare"], ["Ministry of Health and Welfare"]),
    ],
)  # fmt: skip
def test_authors_of_the_generic_form_are_all_people(authors: Any, found: list[str]) -> None:
    read = read_authors(authors)
    assert [" ".join(filter(None, (one.first, *one.middle, one.last))) for one in read] == found


def test_book_of_pubmed_is_a_work_or_contains_a_chapter() -> None:
    date = "<ContributionDate><Year>2001</Year><Month>02</Month><Day>3</Day></ContributionDate>"
    whole = {"title": "Odd Things", "authors": ["Bo Booker"], "date": "1993", "doi": "10.1037/book"}
    assert_values(book(people("authors", "Booker"), date), {**whole, "venue": "Reviews", "journal": None})
    title = f"<ArticleTitle>Odd syndrome</ArticleTitle>{people('authors', 'Chapter')}{people('editors', 'Other')}"
    part = {"title": "Odd syndrome", "authors": ["Bo Chapter"], "journal": "Odd Things", "doi": None}
    assert_values(book("", title + date), {**part, "date": "2001-02-03"})
    assert book("", title).date == "1993"


@pytest.mark.parametrize(
    ("fields", "values"),
    [
        ("<title>T</title><ee>https://x.org/a.pdf</ee><ee>https://doi.org/10.1007/5</ee>", {"doi": "10.1007/5"}),
        ("<title>T</title><ee>https://www.usenix.org/conference/10.1007/5</ee>", {"doi": None}),
        ("<title>T</title><journal>CoRR</journal><volume>abs/2101.00001</volume>", {"arxiv_id": "2101.00001"}),
        ("<title>T</title><journal>CoRR</journal><volume>cs.DB/0101001</volume>", {"arxiv_id": "cs/0101001"}),
    ],
)
def test_fields_of_dblp_are_read(fields: str, values: dict[str, Any]) -> None:
    assert_values(one("dblp", f'<dblp><article key="journals/x/A20">{fields}</article></dblp>'), values)


MEMBER = "<contrib contrib-type='author'><name><surname>Member</surname><given-names>Mo</given-names></name></contrib>"
COLLAB = f"<collab>The <italic>Odd</italic> Group<xref>a</xref><contrib-group>{MEMBER}</contrib-group></collab>"
GROUP = f"<contrib contrib-type='author'>{COLLAB}</contrib>"


def article(meta: str) -> Record:
    meta = f"{meta}<title-group><article-title>T</article-title></title-group>"
    return one("jats", f"<article><front><article-meta>{meta}</article-meta></front></article>")


@pytest.mark.parametrize(
    ("contributors", "names"),
    [
        (f"{GROUP}{MEMBER}", [("", "The Odd Group"), ("Mo", "Member")]), (GROUP, [("", "The Odd Group"), ("Mo", "Member")]),
        (f"{MEMBER.replace('Mo<', 'Jo<')}{GROUP}", [("Jo", "Member"), ("", "The Odd Group")]),
        ("<contrib contrib-type='author'><name-alternatives><name><surname>Doe</surname><given-names>Jane</given-names></name>"
         "</name-alternatives></contrib>", [("Jane", "Doe")]),
    ],
)  # fmt: skip
def test_contributor_of_jats_is_a_person_or_a_group(contributors: str, names: list[tuple[str, str]]) -> None:
    """The members of a group are authors only if no other author is named."""
    record = article(
        f"<article-id pub-id-type='pmid'>7</article-id><contrib-group>{contributors}<contrib contrib-type='group'>"
        "<string-name>Jo</string-name></contrib><contrib contrib-type='editor'><anonymous/></contrib></contrib-group>"
    )
    assert [(a.first, a.last) for a in record.authors] == names


@pytest.mark.parametrize(
    ("abstract", "text"),
    [
        ("<abstract>Bare <italic>text</italic> of it.</abstract>", "Bare text of it."),
        (
            "<abstract><title>Abstract</title>Bare text.<p>Then a paragraph.</p></abstract>",
            "Bare text.\nThen a paragraph.",
        ),
        ("<trans-abstract>Texto.</trans-abstract>", "Texto."),
    ],
)
def test_abstract_of_jats_may_lack_paragraphs(abstract: str, text: str) -> None:
    assert article(f"<article-id pub-id-type='pmid'>7</article-id>{abstract}").abstract == text
    parse = jats.convert(
        f"<article><front><article-meta>{abstract}</article-meta></front><body><p>x</p></body></article>".encode(),
        sha1="",
    )
    assert [paragraph.text for paragraph in parse.abstract] == text.split("\n")


@pytest.mark.parametrize(
    ("ids", "record_id", "doi"),
    [
        ("<article-id pub-id-type='doi'> https://doi.org/10.1371/ODD.5 </article-id>", "jats:10.1371/odd.5", "10.1371/odd.5"),
        ("<article-id pub-id-type='doi' specific-use='version'>10.7554/eLife.1.3</article-id>"
         "<article-id pub-id-type='doi'>10.7554/eLife.1</article-id>", "jats:10.7554/elife.1", "10.7554/elife.1"),
    ],
)  # fmt: skip
def test_record_id_of_jats_is_the_normalized_identifier(ids: str, record_id: str, doi: str | None) -> None:
    record = article(ids)
    assert (record.record_id, record.doi) == (record_id, doi)


AFFILIATED = """<article-id pub-id-type="doi">10.1/b</article-id><contrib-group>
<contrib contrib-type="author"><contrib-id contrib-id-type="orcid">https://orcid.org/0000-0002-1825-0097</contrib-id>
<name><surname>Lo</surname><given-names>Kyle</given-names></name><xref ref-type="aff" rid="a1 a2"/></contrib>
<contrib contrib-type="author"><name><surname>Wu</surname><given-names>Ann</given-names></name>{other}</contrib></contrib-group>
<aff id="a1"><label>1</label><institution-wrap><institution-id institution-id-type="ror">https://ror.org/05w520734</institution-id>
<institution>Allen Institute for AI</institution></institution-wrap>, <city>Seattle</city><email>a@b.org</email></aff>
<aff id="a2"><sup>2</sup>Another <italic>Lab</italic>, Rome</aff>"""


def test_author_of_jats_has_the_referenced_affiliations() -> None:
    """Several unreferenced affiliations are not assigned."""
    lab = Affiliation("Another Lab, Rome")
    first, second = article(AFFILIATED.format(other='<xref ref-type="aff" rid="a2">2</xref>')).authors
    assert first.affiliations == (Affiliation("Allen Institute for AI, Seattle", "05w520734"), lab)
    assert (first.orcid, second.affiliations) == ("0000-0002-1825-0097", (lab,))
    assert article(AFFILIATED.format(other="")).authors[1].affiliations == ()


# -- Crossref.

NC_ND = "https://creativecommons.org/licenses/by-nc-nd/4.0/"
TDM = "https://www.elsevier.com/tdm/userlicense/1.0/"


def work(**fields: Any) -> Record:
    return one("crossref", {"DOI": "10.1016/j.x.2020.1", "type": "journal-article", "title": ["A title"], **fields})


def math(content: str) -> str:
    return f'<mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML" display="inline">{content}</mml:math>'


X, GAMMA = math('<mml:mi mathvariant="italic">X</mml:mi>'), math("<mml:mi>γ</mml:mi>")


@pytest.mark.parametrize(
    ("title", "text"),
    [
        (f"Waves in{X}-coupled lattices", "Waves in X-coupled lattices"),
        (f"The {X} boson: {GAMMA}, or not", "The X boson: γ, or not"),
        (math("<mml:semantics><mml:mi>α</mml:mi><mml:annotation encoding='x-tex'>\\alpha</mml:annotation></mml:semantics>"), "α"),
        ("On p < 0.05 and $$\\alpha <1$$", "On p < 0.05 and $$\\alpha <1$$"),
    ],
)  # fmt: skip
def test_formula_in_title_is_a_word(title: str, text: str) -> None:
    assert work(title=[title]).title == text


def test_formulas_take_linear_time() -> None:
    assert work(title=["<math>" * 2_000], abstract="<alternatives><math>" * 15_000).doi


@pytest.mark.parametrize(
    ("author", "name"),
    [
        ({"family": "Jane A. Doe"}, ("Jane", ("A",), "Doe", "")),
        ({"given": "John", "family": "John Smith"}, ("John", (), "Smith", "")),
        ({"name": "The Alpha Consortium"}, ("", (), "The Alpha Consortium", "")),
    ],
)
def test_complete_name_in_family_is_split(author: dict[str, str], name: tuple[Any, ...]) -> None:
    (found,) = work(author=[author]).authors
    assert (found.first, found.middle, found.last, found.suffix) == name


def license(url: str, version: str, start: list[int] | None = None, delay: int | None = None) -> dict[str, Any]:
    given: dict[str, Any] = {"URL": url, "content-version": version}
    if start is not None:
        given["start"] = {"date-parts": [start], "date-time": "ignored"}
    return given if delay is None else given | {"delay-in-days": delay}


EMBARGOED = [license(TDM, "tdm", [2020, 7, 1], 0), license(NC_ND, "am", [2021, 7, 1], 365)]


@pytest.mark.parametrize(
    ("licenses", "written", "now", "later"),
    [
        (EMBARGOED, None, TDM, [("CC-BY-NC-ND-4.0", "2021-07-01")]),
        (EMBARGOED, [2021, 7, 1], "CC-BY-NC-ND-4.0", []),
        ([license(NC_ND, "am", [2021])], [2021, 3, 1], None, [("CC-BY-NC-ND-4.0", "2021-12-31")]),
    ],
)  # fmt: skip
def test_license_is_valid_from_its_start_date(
    licenses: Any, written: Any, now: str | None, later: list[tuple[str, str]]
) -> None:
    indexed = {"indexed": {"date-parts": [written]}} if written else {}
    record = work(license=licenses, **indexed)
    assert record.license == now
    assert [(one.license, one.start) for one in record.later_licenses] == later
    assert record.open_access is None  # the accepted manuscript's license does not open the version of record


@pytest.mark.parametrize(
    ("version", "start", "is_open"), [("vor", [2020, 7, 1], True), ("vor", [2099], None), ("am", [2020], None)]
)
def test_creative_commons_license_in_force_opens_version_of_record(
    version: str, start: list[int], is_open: bool | None
) -> None:
    assert work(license=[license(NC_ND, version, start)], indexed={"date-parts": [[2021, 7, 1]]}).open_access is is_open


@pytest.mark.parametrize(
    ("fields", "values"),
    [
        # The registration is not a publication.
        ({"issued": {"date-parts": [[None]]}, "created": {"date-parts": [[2015, 3, 19]]},
          "journal-issue": {"published-print": {"date-parts": [[1997, 9]]}}}, {"date": "1997-09"}),
        ({"created": {"date-parts": [[2015, 3, 19]]}}, {"date": None}),
        ({"title": [], "original-title": ["Ein Werk"]}, {"title": "Ein Werk"}),
        ({"container-title": ["Journal of Odd Things", "J Odd"]}, {"journal": "Journal of Odd Things"}),
        # The titles of a chapter begin with the series.
        ({"type": "book-chapter", "container-title": ["Lecture Notes in Computer Science", "Odd Computing 2019"]},
            {"venue": "Odd Computing 2019"}),
    ],
)  # fmt: skip
def test_dates_and_containers_of_crossref_are_those_of_the_work(fields: dict[str, Any], values: dict[str, Any]) -> None:
    assert_values(work(**fields), values)


def other_abstract(text: str, language: str, kind: str = "Publisher") -> str:
    return f"<OtherAbstract Type='{kind}' Language='{language}'><AbstractText>{text}</AbstractText></OtherAbstract>"


@pytest.mark.parametrize(
    ("own", "others", "abstract"),
    [
        ("<Abstract><AbstractText>Own.</AbstractText></Abstract>", other_abstract("Suyo.", "spa"), "Own."),
        ("", other_abstract("Suyo.", "spa") + other_abstract("Other.", "eng", "PIP"), "Other."),
        ("<Language>spa</Language>", other_abstract("Sien.", "fre") + other_abstract("Suyo.", "spa"), "Suyo."),
        ("", other_abstract("Plain.", "eng", "plain-language-summary"), None),
    ],
)  # fmt: skip
def test_other_abstract_of_pubmed_replaces_a_missing_one(own: str, others: str, abstract: str | None) -> None:
    citation = f"<PMID>7</PMID><Article><ArticleTitle>T</ArticleTitle>{own}</Article>{others}"
    content = f"<PubmedArticleSet><PubmedArticle><MedlineCitation>{citation}</MedlineCitation></PubmedArticle></PubmedArticleSet>"
    assert one("pubmed", content).abstract == abstract


def test_alternative_affiliations_of_jats_are_one() -> None:
    original = '<institution content-type="original">Odd University, Odd Town.</institution><institution>Odd University</institution>'
    forms = f'<aff-alternatives id="a1"><aff>{original}<city>Odd Town</city></aff><aff xml:lang="pt">Universidade</aff></aff-alternatives>'
    name = "<name><surname>Lo</surname></name>"
    for reference in ('<xref ref-type="aff" rid="a1"/>', ""):
        group = f"<contrib-group><contrib>{name}{reference}</contrib></contrib-group>"
        (author,) = article(f"<article-id pub-id-type='pmid'>7</article-id>{group}{forms}").authors
        assert author.affiliations == (Affiliation("Odd University, Odd Town."),)


def test_thesis_of_tei_has_its_title() -> None:
    monograph = '<monogr><title level="m">Odd rivers</title><imprint/></monogr>'
    thesis = f'<biblStruct xml:id="b@"><analytic><title/></analytic>{monograph}</biblStruct>'
    (entry,) = teis.parse("<p>x</p>", (thesis,)).bib_entries
    assert (entry.title, entry.venue) == ("Odd rivers", "")


@pytest.mark.parametrize(
    ("title", "abstract", "printed"),
    [  # Crossref's records of the Journal of Landscape Ecology
        ("Any lesson?", "<title>Any Lesson?</title><p>Have we time?</p>", "Have we time?"),
        ("Woody species", "<title>Woody species</title><p>The aim is known.</p>", "The aim is known."),
        ("Woody species", "<p>Woody species are known.</p>", "Woody species are known."),
    ],
)
def test_title_is_no_head_of_the_abstract(title: str, abstract: str, printed: str) -> None:
    assert one("crossref", {"DOI": "10.1016/a", "title": [title], "abstract": abstract}).abstract == printed


@pytest.mark.timeout(120)
@pytest.mark.parametrize("piece", [" ", "(", "\\(", "Prof. ", "MD ", "Jr., "])
def test_repetitions_in_a_record_are_read_in_linear_time(piece: str) -> None:
    """100,000 spaces in the names of an arXiv record once took minutes."""
    text = f"Ada {piece * (100_000 // len(piece))}Lovelace"
    record = one("arxiv", {"id": "1903.00002", "title": "T", "authors": text, "abstract": text, "comments": text})
    assert record.authors and record.abstract
    assert one("arxiv", {"id": "1903.00002", "title": "T", "authors_parsed": [[text, text, text]]}).authors


@pytest.mark.parametrize("given", [[], {}, 7, None])
def test_type_of_a_work_may_be_anything(given: Any) -> None:
    assert one("crossref", {"DOI": "10.1016/a", "title": ["T"], "type": given}).type is None


def test_note_of_dblp_is_no_paper() -> None:
    (found,) = entries("dblp", '<dblp><article key="dblpnote/error"><title>(error)</title></article></dblp>')
    assert isinstance(found, Dropped) and found.reason is RejectReason.NOT_A_PAPER


def test_editorial_of_the_academic_graph_is_a_kind_of_document() -> None:
    assert one("s2ag", {"corpusid": 1, "title": "T", "publicationtypes": ["Editorial"]}).document == "editorial"


@pytest.mark.parametrize(
    ("label", "text", "abstract"),
    [
        ("AIM", "To parse.", "AIM: To parse."), ("UNLABELLED", "To parse.", "To parse."), ("Unlabelled", "To parse.", "To parse."),
        ("AIM:", "To parse.", "AIM: To parse."), ("AIM", "Aim: To parse.", "Aim: To parse."), ("AIM", "", None),
    ],
)  # fmt: skip
def test_label_of_pubmed_begins_its_section_once(label: str, text: str, abstract: str | None) -> None:
    section = f'<ArticleTitle>T</ArticleTitle><Abstract><AbstractText Label="{label}">{text}</AbstractText></Abstract>'
    entry = (
        f"<PubmedArticle><MedlineCitation><PMID>7</PMID><Article>{section}</Article></MedlineCitation></PubmedArticle>"
    )
    assert one("pubmed", entry).abstract == abstract
