"""Records of Crossref, arXiv, PubMed, DBLP, the ACL Anthology and JATS are read as their formats document (docs/sources.md)."""

from typing import Any

import pytest

from s2corpus.sources import Dropped, Record, RejectReason
from s2corpus.sources.jsonl import read_authors
from s2orc_parse import jats
from s2orc_parse.bibliography.author import Affiliation, Author
from tests.unit.s2corpus.sources.samples import entries, names, one
from tests.unit.s2orc_parse.tei import teis

Entry = tuple[str, Any]
"""source and entry"""


def assert_values(record: Record, values: dict[str, Any]) -> None:
    found = {name: names(record) if name == "authors" else getattr(record, name) for name in values}
    assert found == values


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


MEMBER = "<contrib contrib-type='author'><name><surname>Member</surname><given-names>Mo</given-names></name></contrib>"
COLLAB = f"<collab>The <italic>Odd</italic> Group<xref>a</xref><contrib-group>{MEMBER}</contrib-group></collab>"
GROUP = f"<contrib contrib-type='author'>{COLLAB}</contrib>"


def jats_article(meta: str, journal: str = "<journal-meta/>") -> Entry:
    title = "<title-group><article-title>T</article-title></title-group>"
    return "jats", f"<article><front>{journal}<article-meta>{meta}{title}</article-meta></front></article>"


def article(meta: str) -> Record:
    return one(*jats_article(meta))


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


MATHML = "http://www.w3.org/1998/Math/MathML"
YBALO = (
    f"<math xmlns='{MATHML}'>\n <msub>\n  <mi>YbAlO</mi>\n  <mn>3</mn>\n </msub>\n</math>"  # Phys. Rev. B 109, 214421
)


@pytest.mark.parametrize(
    ("abstract", "text"),
    [
        ("<abstract>Bare <italic>text</italic> of it.</abstract>", "Bare text of it."),
        (
            "<abstract><title>Abstract</title>Bare text.<p>Then a paragraph.</p></abstract>",
            "Bare text.\nThen a paragraph.",
        ),
        ("<trans-abstract>Texto.</trans-abstract>", "Texto."),
        (f"<abstract><p>of {YBALO}.</p></abstract>", "of YbAlO3."),
    ],
)
def test_abstract_of_jats_may_lack_paragraphs(abstract: str, text: str) -> None:
    assert article(f"<article-id pub-id-type='pmid'>7</article-id>{abstract}").abstract == text
    parse = jats.convert(
        f"<article><front><article-meta>{abstract}</article-meta></front><body><p>x</p></body></article>".encode(),
        sha1="",
    )
    assert [paragraph.text for paragraph in parse.abstract] == text.split("\n")


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


def work(**fields: Any) -> Entry:
    return "crossref", {"DOI": "10.1016/j.x.2020.1", "type": "journal-article", "title": ["A title"], **fields}


def math(content: str) -> str:
    return f'<mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML" display="inline">{content}</mml:math>'


X, GAMMA = math('<mml:mi mathvariant="italic">X</mml:mi>'), math("<mml:mi>γ</mml:mi>")


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
def test_license_begins_at_its_date(licenses: Any, written: Any, now: str | None, later: list[tuple[str, str]]) -> None:
    indexed = {"indexed": {"date-parts": [written]}} if written else {}
    record = one(*work(license=licenses, **indexed))
    assert record.license == now
    assert [(one.license, one.start) for one in record.later_licenses] == later
    assert record.open_access is None  # the accepted manuscript's license does not open the version of record


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


@pytest.mark.timeout(120)
@pytest.mark.parametrize("piece", [" ", "(", "\\(", "Prof. ", "MD ", "Jr., "])
def test_repetitions_in_a_record_are_read_in_linear_time(piece: str) -> None:
    """100,000 spaces in the names of an arXiv record once took minutes."""
    text = f"Ada {piece * (100_000 // len(piece))}Lovelace"
    record = one("arxiv", {"id": "1903.00002", "title": "T", "authors": text, "abstract": text, "comments": text})
    assert record.authors and record.abstract
    assert one("arxiv", {"id": "1903.00002", "title": "T", "authors_parsed": [[text, text, text]]}).authors


@pytest.mark.parametrize(
    ("doi", "type_", "kind"),
    [
        ("10.1101/371435", "article", "archive"),
        ("10.1/x", "preprint", "archive"),
        ("10.1101/gr.1", "research-article", "publisher"),
    ],
)
def test_preprint_in_jats_is_a_record_of_an_archive(doi: str, type_: str, kind: str) -> None:
    source, data = jats_article(f"<article-id pub-id-type='doi'>{doi}</article-id>")
    record = one(source, str(data).replace("<article>", f"<article article-type='{type_}'>"))
    assert (record.kind.value, record.type == "preprint") == (kind, kind == "archive")


def test_note_of_dblp_is_no_paper() -> None:
    (found,) = entries("dblp", '<dblp><article key="dblpnote/error"><title>(error)</title></article></dblp>')
    assert isinstance(found, Dropped) and found.reason is RejectReason.NOT_A_PAPER


def other_abstract(text: str, language: str, kind: str = "Publisher") -> str:
    return f"<OtherAbstract Type='{kind}' Language='{language}'><AbstractText>{text}</AbstractText></OtherAbstract>"


def pubmed(content: str, others: str = "") -> Entry:
    citation = f"<PMID>7</PMID><Article>{content}<ArticleTitle>T</ArticleTitle></Article>{others}"
    return "pubmed", f"<PubmedArticle><MedlineCitation>{citation}</MedlineCitation></PubmedArticle>"


def labeled(label: str, text: str) -> Entry:
    return pubmed(f'<Abstract><AbstractText Label="{label}">{text}</AbstractText></Abstract>')


def dblp(fields: str) -> Entry:
    return "dblp", f'<dblp><article key="journals/x/A20"><title>T</title>{fields}</article></dblp>'


def arxiv(**fields: Any) -> Entry:
    return "arxiv", {"id": "1903.00002", "title": "T", **fields}


PRINT, ONLINE = "1548-7091", "1548-7105"
ISSNS = f'<journal-meta><issn pub-type="ppub">{PRINT}</issn><issn pub-type="epub">{ONLINE}</issn></journal-meta>'
TEX, PLAIN = r"Stra\ss e, \O ystein, {\AA}ngstr{\"o}m, Fran\c cois", "Straße, Øystein, Ångström, François"
ALPHA = "<mml:semantics><mml:mi>α</mml:mi><mml:annotation encoding='x-tex'>\\alpha</mml:annotation></mml:semantics>"
VALUES: dict[str, list[tuple[Entry, str, Any]]] = {
    "ISSNs of the journal have right check digits": [
        (work(ISSN=[PRINT, ONLINE]), "issns", (PRINT, ONLINE)), (work(ISSN=["x", "15487091", "1548-7092", 7]), "issns", (PRINT,)),
        (("openalex", {"id": "W7", "title": "T", "primary_location": {"source": {"type": "journal", "issn": [PRINT, ONLINE]}}}),
         "issns", (PRINT, ONLINE)),
        (pubmed(f'<Journal><ISSN IssnType="Electronic">{ONLINE}</ISSN></Journal>',
                f"<MedlineJournalInfo><ISSNLinking>{PRINT}</ISSNLinking></MedlineJournalInfo>"), "issns", (ONLINE, PRINT)),
        (("unpaywall", {"doi": "10.1038/nmeth.2019", "journal_issns": f"{PRINT},{ONLINE}"}), "issns", (PRINT, ONLINE)),
        (jats_article("<article-id pub-id-type='doi'>10.1/a</article-id>", ISSNS), "issns", (ONLINE, PRINT)),
        (("elsevier", {"docId": "S1", "metadata": {"title": "T", "issn": "15487091"}}), "issns", (PRINT,)),
        (("jsonl", {"id": "1", "title": "T", "issns": PRINT}), "issns", (PRINT,)),
        (("jsonl", {"id": "1", "title": "T", "issns": [PRINT]}), "issns", (PRINT,)),
    ],
    "TeX of arXiv outside formulas is text": [
        (arxiv(title=TEX), "title", PLAIN), (arxiv(abstract=TEX), "abstract", PLAIN),
        (arxiv(title=r"On $\alpha$-type and $\'{x}$ sets of B\"acklund"), "title", r"On $\alpha$-type and $\'{x}$ sets of Bäcklund"),
    ],
    "authors of arXiv are people and collaborations": [
        (arxiv(authors_parsed=[["{\\L}ukasz", "K.", ""], ['M\\"uller', 'J\\"org', "Jr"]]), "names", ["K Łukasz", "Jörg Müller Jr"]),
        (arxiv(authors_parsed=[["Collaboration", "EXA", ""], [":", "", ""], ["Other", "A. B.", ""]]), "names",
         ["EXA Collaboration", "A B Other"]),
        (arxiv(authors="EXA Collaboration: A. B. Example, C. Other (1)"), "names", ["EXA Collaboration", "A B Example", "C Other"]),
    ],
    "identifiers of dblp": [
        (dblp("<ee>https://x.org/a.pdf</ee><ee>https://doi.org/10.1007/5</ee>"), "doi", "10.1007/5"),
        (dblp("<ee>https://www.usenix.org/conference/10.1007/5</ee>"), "doi", None),
        (dblp("<journal>CoRR</journal><volume>abs/2101.00001</volume>"), "arxiv_id", "2101.00001"),
        (dblp("<journal>CoRR</journal><volume>cs.DB/0101001</volume>"), "arxiv_id", "cs/0101001"),
    ],
    "identifiers of JATS are normalized": [
        (jats_article("<article-id pub-id-type='doi'> https://doi.org/10.1371/ODD.5 </article-id>"), "record_id", "jats:10.1371/odd.5"),
        (jats_article("<article-id pub-id-type='doi'> https://doi.org/10.1371/ODD.5 </article-id>"), "doi", "10.1371/odd.5"),
        (jats_article("<article-id pub-id-type='doi' specific-use='version'>10.7554/eLife.1.3</article-id>"
                      "<article-id pub-id-type='doi'>10.7554/eLife.1</article-id>"), "record_id", "jats:10.7554/elife.1"),
    ],
    "a formula in a title is a word": [
        (work(title=[f"Waves in{X}-coupled lattices"]), "title", "Waves in X-coupled lattices"),
        (work(title=[f"The {X} boson: {GAMMA}, or not"]), "title", "The X boson: γ, or not"), (work(title=[math(ALPHA)]), "title", "α"),
        (work(title=["On p < 0.05 and $$\\alpha <1$$"]), "title", "On p < 0.05 and $$\\alpha <1$$"),
    ],
    "opened elements are read in linear time": [
        (work(title=["<math>" * 2_000], abstract="<alternatives><math>" * 15_000), "doi", "10.1016/j.x.2020.1"),
    ],
    "a complete name in Crossref's field `family` is split": [
        (work(author=[{"family": "Jane A. Doe"}]), "authors", (Author("Jane", ("A",), "Doe", ""),)),
        (work(author=[{"given": "John", "family": "John Smith"}]), "authors", (Author("John", (), "Smith", ""),)),
        (work(author=[{"name": "The Alpha Consortium"}]), "authors", (Author("", (), "The Alpha Consortium", ""),)),
    ],
    "a Creative Commons license in force opens the version of record": [
        (work(license=[license(NC_ND, version, start)], indexed={"date-parts": [[2021, 7, 1]]}), "open_access", is_open)
        for version, start, is_open in (("vor", [2020, 7, 1], True), ("vor", [2099], None), ("am", [2020], None))
    ],
    "dates and containers of Crossref describe the work": [
        # The registration is not a publication.
        (work(issued={"date-parts": [[None]]}, created={"date-parts": [[2015, 3, 19]]},
              **{"journal-issue": {"published-print": {"date-parts": [[1997, 9]]}}}), "date", "1997-09"),
        (work(created={"date-parts": [[2015, 3, 19]]}), "date", None),
        (work(title=[], **{"original-title": ["Ein Werk"]}), "title", "Ein Werk"),
        (work(**{"container-title": ["Journal of Odd Things", "J Odd"]}), "journal", "Journal of Odd Things"),
        # The titles of a chapter begin with the series.
        (work(type="book-chapter", **{"container-title": ["Lecture Notes in Computer Science", "Odd Computing 2019"]}), "venue",
         "Odd Computing 2019"),
    ],
    "another abstract of PubMed replaces a missing one": [
        (pubmed("<Abstract><AbstractText>Own.</AbstractText></Abstract>", other_abstract("Suyo.", "spa")), "abstract", "Own."),
        (pubmed("", other_abstract("Suyo.", "spa") + other_abstract("Other.", "eng", "PIP")), "abstract", "Other."),
        (pubmed("<Language>spa</Language>", other_abstract("Sien.", "fre") + other_abstract("Suyo.", "spa")), "abstract", "Suyo."),
        (pubmed("", other_abstract("Plain.", "eng", "plain-language-summary")), "abstract", None),
    ],
    "the label of PubMed begins its section once": [
        (labeled("AIM", "To parse."), "abstract", "AIM: To parse."), (labeled("UNLABELLED", "To parse."), "abstract", "To parse."),
        (labeled("Unlabelled", "To parse."), "abstract", "To parse."), (labeled("AIM:", "To parse."), "abstract", "AIM: To parse."),
        (labeled("AIM", "Aim: To parse."), "abstract", "Aim: To parse."), (labeled("AIM", ""), "abstract", None),
    ],
    "the title is no head of the abstract (Crossref's records of the Journal of Landscape Ecology)": [
        (work(title=["Any lesson?"], abstract="<title>Any Lesson?</title><p>Have we time?</p>"), "abstract", "Have we time?"),
        (work(title=["Woody species"], abstract="<title>Woody species</title><p>The aim is known.</p>"), "abstract", "The aim is known."),
        (work(title=["Woody species"], abstract="<p>Woody species are known.</p>"), "abstract", "Woody species are known."),
    ],
    "the type of a work may be anything": [
        (work(type=[]), "type", None), (work(type={}), "type", None), (work(type=7), "type", None), (work(type=None), "type", None),
    ],
    "an editorial of the Academic Graph is a kind of document": [
        (("s2ag", {"corpusid": 1, "title": "T", "publicationtypes": ["Editorial"]}), "document", "editorial"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "field", "value"), [pytest.param(*row, id=rule) for rule, rows in VALUES.items() for row in rows]
)
def test_entry_has_the_documented_value(entry: Entry, field: str, value: Any) -> None:
    record = one(*entry)
    assert (names(record) if field == "names" else getattr(record, field)) == value
