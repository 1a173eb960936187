"""Every notation of a concept is read through every format (SPEC §3.9, §3.18–§3.20).

`VARIANTS` is the only list: a row is a notation and its meaning. An entrance writes the notations of a concept into one file
of a format and returns the records of the format's reader. The notations are from exports of dblp, Mendeley,
Zotero, JabRef and NASA ADS, of PubMed, PMC, SciELO, eLife, Crossref, OpenAlex and Semantic Scholar, and of printed references.
"""

import json
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import pytest

from s2corpus.sources import Author
from s2orc_parse import jats
from s2orc_parse.jats import elsevier
from s2orc_parse.parse_model import BibEntry
from tests.unit.s2corpus.sources.samples import one
from tests.unit.s2orc_parse.jats import articles, test_elsevier
from tests.unit.s2orc_parse.latex import archives
from tests.unit.s2orc_parse.tei import teis

SICI = "10.1002/(sici)1097-0142(19960115)77:2<356::aid-cncr19>3.0.co;2-y"
CHAPTER = "10.1007/978-3-030-58548-8_1"
GROUPS = (
    "Department of Health, Odd State", "ODD Study Group, European Centre", "ODD Group, for the ODD Trial",
    "United Nations Educational, Scientific and Cultural Organization", "World Health Organization", "The PGF/TikZ Team",
)  # fmt: skip

VARIANTS: dict[str, list[tuple[str, Any]]] = {
    "date": [
        ("1999", "1999"), ("1991-92", "1991"), ("1991–1992", "1991"), ("1982--1983", "1982"), ("c2018", "2018"), ("2019a", "2019"),
        ("[2011]", "2011"), ("2005~", "2005"), ("1999-05-31", "1999-05-31"), ("2019-03-01/2020-04-02", "2019-03-01"),
        ("05/2019", "2019-05"),
        ("31.05.2019", "2019-05-31"), ("5/6/2019", "2019"), ("31 May 1999", "1999-05-31"), ("May 31, 1999", "1999-05-31"),
        ("1999 May-Jun", "1999-05"), ("Spring 1999", "1999"), ("3. März 2019", "2019-03-03"), ("Dezember 2003", "2003-12"),
        ("1er janvier 2001", "2001-01-01"), ("12 août 2019", "2019-08-12"), ("3 de mayo de 2019", "2019-05-03"), ("set. 2011", "2011-09"),
        ("2011年5月3日", "2011-05-03"), ("2011년 5월 3일", "2011-05-03"), ("3-May-2011", "2011-05-03"), ("in press", None),
        ("2 stycznia 2001", "2001-01-02"), ("12 января 2010", "2010-01-12"), ("5. desember 2001", "2001-12-05"),
        ("5 Ocak 2012", "2012-01-05"),
        ("5 de gener de 2012", "2012-01-05"), ("Jänner 2001", "2001-01"), ("10. května 2001", "2001-05-10"), ("2001. június", "2001-06"),
        ("2020. 3. 5.", "2020-03-05"), ("5.III.2020", "2020-03-05"), ("12 XI 1998", "1998-11-12"),
    ],
    "person": [
        ("Jane A. Doe", "Jane A|Doe"), ("Doe, Jane A.", "Jane A|Doe"), ("van den Berg, Pieter", "Pieter|van den Berg"),
        ("Pieter van den Berg", "Pieter|van den Berg"), ("García Márquez, Gabriel", "Gabriel|García Márquez"),
        ("Müller, Jörg", "Jörg|Müller"), ("O'Neill, Ann", "Ann|O'Neill"), ("Lee, S.-H.", "S.-H.|Lee"),
        ("Wharton, III, R. A.", "R A|Wharton|III"), ("St. John, Mary", "Mary|St. John"), ("Mary St. John", "Mary|St. John"),
        ("Bo Hu 0002", "Bo|Hu"), ("Dr. Jane A. Doe", "Jane A|Doe"), ("Jane Ann Doe, Ph.D.", "Jane Ann|Doe|Ph.D"),
        ("Jane Ann Doe MD PhD", "Jane Ann|Doe|MD PhD"),
    ],
    "orcid": [
        ("0000-0002-1825-0097", "0000-0002-1825-0097"), ("https://orcid.org/0000-0002-1825-0097", "0000-0002-1825-0097"),
        ("http://orcid.org/0000-0002-1694-233x", "0000-0002-1694-233X"), ("0000-0002-1825-0098", None),
    ],
    "affiliation": [("Odd University, Odd Town", "Odd University, Odd Town"), ("Zürich & Sons", "Zürich & Sons"), ("1", None)],
    "group": [(group, f"|{group}") for group in GROUPS],
    "doi": [
        (CHAPTER, CHAPTER), ("10.1007/978-3-030-58548-8\\_1", CHAPTER), ("10.1007/978-3-030-58548-8{\\_}1", CHAPTER),
        ("https://doi.org/10.1007/978-3-030-58548-8\\_1", CHAPTER), ("http://dx.doi.org/10.1007/978-3-030-58548-8%5C_1", CHAPTER),
        ("doi:10.1007/978-3-030-58548-8_1.", CHAPTER), (f"{CHAPTER}arXiv:https://arxiv.org/pdf/2005.12872", CHAPTER),
        ("http://dx.doi.org/10.1007%2F978-3-030-58548-8_1", CHAPTER), (f"https://link.springer.com/chapter/{CHAPTER}", CHAPTER),
        (f"{CHAPTER}/.Acesso", CHAPTER), (f"{CHAPTER}[Crossref]", CHAPTER), (f"{CHAPTER}.PMID12345", CHAPTER),
        (f"{CHAPTER}Epub2020", CHAPTER),
        (f"{CHAPTER}.Disponívelem:", CHAPTER), (f"{CHAPTER}ISSN1234-5678", CHAPTER), (f"\\doi{{{CHAPTER}}}", CHAPTER),
        ("10.1002/(SICI)1097-0142(19960115)77:2<356::AID-CNCR19>3.0.CO;2-Y", SICI),
        ("10.1002/(SICI)1097-0142(19960115)77:2&lt;356::AID-CNCR19&gt;3.0.CO;2-Y", SICI),
        ("10.1002/(SICI)1097-0142(19960115)77:2{\\textless}356::AID-CNCR19{\\textgreater}3.0.CO;2-Y", SICI),
        ("https://doi.org/10.1002/(SICI)1097-0142(19960115)77:2%3C356::AID-CNCR19%3E3.0.CO;2-Y", SICI),
    ],
    "arxiv_id": [
        ("1706.03762", "1706.03762"), ("arXiv:1706.03762v5 [cs.CL]", "1706.03762"), ("https://arxiv.org/abs/1706.03762v2", "1706.03762"),
        ("http://arxiv.org/pdf/1706.03762.pdf", "1706.03762"), ("math.GT/0309136", "math/0309136"),
        ("arXiv:astro-ph/0505517", "astro-ph/0505517"), ("https://arxiv.org/abs/hep-th/9711200", "hep-th/9711200"),
    ],
    "pmc_id": [
        ("PMC123456", "PMC123456"), ("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC123456/", "PMC123456"),
        ("https://www.ncbi.nlm.nih.gov/pmc/articles/123456", "PMC123456"),
        ("https://pmc.ncbi.nlm.nih.gov/articles/PMC123456/", "PMC123456"),
        ("https://europepmc.org/article/PMC/PMC123456", "PMC123456"), ("PMCID: PMC123456", "PMC123456"),
        ("https://pubmed.ncbi.nlm.nih.gov/123456/", None), ("https://europepmc.org/article/MED/123456", None),
    ],
    "pubmed_id": [
        ("123456", "123456"), ("PMID: 123456", "123456"), ("https://pubmed.ncbi.nlm.nih.gov/123456/", "123456"),
        ("http://www.ncbi.nlm.nih.gov/pubmed/123456", "123456"), ("https://europepmc.org/article/MED/123456", "123456"),
        ("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC123456/", None), ("PMC123456", None),
    ],
    "license": [
        ("https://creativecommons.org/licenses/by-nc-nd/4.0/", "CC-BY-NC-ND-4.0"), ("CC BY-NC-ND 4.0", "CC-BY-NC-ND-4.0"),
        ("CC BY-NC-ND", "CC-BY-NC-ND"), ("CCBYNCND", "CC-BY-NC-ND"), ("cc-by", "CC-BY"), ("CC0", "CC0-1.0"),
        ("http://creativecommons.org/licenses/by-nc-sa/3.0/us/", "CC-BY-NC-SA-3.0"),
        ("This is an open access article under the CC BY-NC-ND license.", "CC-BY-NC-ND"),
        ("Creative Commons Attribution-NonCommercial-NoDerivatives 4.0 International License", "CC-BY-NC-ND-4.0"),
        ("the Creative Commons Attribution-ShareAlike License", "CC-BY-SA"),
        ("Licencia Creative Commons Atribución-NoComercial 4.0 Internacional", "CC-BY-NC-4.0"),
        ("http://creativecommons.org/licenses/by/2.5/ Creative Commons Attribution Noncommercial License", "CC-BY-NC"),
        ("Creative Commons Deed, Attribution 2.5, which does not permit commercial exploitation.", "CC-BY-NC"),
        ("Creative Commons Attribution License for commercial and non-commercial purposes", "CC-BY"),
    ],
    "title": [
        ("On odd things*", "On odd things"), ("On odd things†", "On odd things"), ("Planning with A*", "Planning with A*"),
        ("On C*-algebras", "On C*-algebras"), ("On odd things.", "On odd things"), ("Odd \u00adef\ufb01\u00adciency", "Odd efficiency"),
    ],
    "formula": [
        (r"\gamma_2 \leq \frac{a}{b}", "γ2 ≤ a/b"), (r"\alpha _{1}< 5", "α1 < 5"), (r"\mathbb{R}^n", "ℝn"), (r"\Lambda", "Λ"),
        (r"37^{\circ}\mathrm{C}", "37°C"), (r"\hat{x}", "x̂"), (r"\text{if } x > 0", "if x > 0"),
        (r"\sqrt{s} = 7~\mathrm{TeV}", "√s = 7 TeV"),
    ],
}  # fmt: skip


def show(author: Author) -> str:
    given = " ".join((author.first, *author.middle)).strip()
    return "|".join(filter(None, (f"{given}|{author.last}", author.suffix))).replace("’", "'")


def list_shown(authors: Sequence[Author]) -> str | None:
    return "; ".join(map(show, authors)) or None


def read_values(found: Sequence[Any], name: str) -> list[Any]:
    """Return a field of entries or records in the form of the table."""
    if name in ("person", "group"):
        return [list_shown(one.authors) for one in found]
    if name == "orcid":
        return [one.authors[0].orcid for one in found]
    if name == "affiliation":
        return ["; ".join(place.name for place in one.authors[0].affiliations) or None for one in found]
    if name == "date" and found and isinstance(found[0], BibEntry):
        return [one.year and str(one.year) for one in found]
    return [getattr(one, name) or None for one in found]


Entrance = Callable[[Sequence[str], str], list[Any]]


def bibtex(field: str, braces: str = "{}") -> Entrance:
    def read(written: Sequence[str], name: str) -> list[Any]:
        value = braces.replace("{}", "{%s}")
        title = "" if field == "title" else "title={T}, "
        items = "".join(f"@misc{{k{n}, {title}{field} = {value % text}}}\n" for n, text in enumerate(written))
        cited = ",".join(f"k{n}" for n in range(len(written)))
        found = archives.parse(f"\\cite{{{cited}}} \\bibliography{{r}}", r_bib=items)
        return read_values(found.bib_entries, name)

    return read


def amsrefs(field: str, braces: str = "{%s}") -> Entrance:
    def read(written: Sequence[str], name: str) -> list[Any]:
        items = "".join(
            f"\\bib{{k{n}}}{{misc}}{{title={{T}}, {field}={braces % text}}}\n".replace("%", "\\%")
            for n, text in enumerate(written)
        )
        text = f"Text.\n\\begin{{biblist}}\n{items}\\end{{biblist}}"
        return read_values(archives.parse(text, "\\usepackage{amsrefs}").bib_entries, name)

    return read


def biblatex(line: str) -> Entrance:
    def read(written: Sequence[str], name: str) -> list[Any]:
        items = "".join(
            f"\\entry{{k{n}}}{{misc}}{{}}\n\\field{{title}}{{T}}\n{line.replace('@', text)}\n\\endentry\n"
            for n, text in enumerate(written)
        )
        found = archives.parse(
            "Text. \\printbibliography", "\\usepackage{biblatex}", main_bbl=f"\\refsection{{0}}\n{items}\\endrefsection"
        )
        return read_values(found.bib_entries, name)

    return read


def jats_reference(form: str, element: str = "element-citation") -> Entrance:
    def read(written: Sequence[str], name: str) -> list[Any]:
        refs = "".join(
            f'<ref id="k{n}"><{element}>{form.replace("@", escape(text))}</{element}></ref>'
            for n, text in enumerate(written)
        )
        data = articles.article("<p>x</p>").replace(b"<ref-list>", f"<ref-list>{refs}".encode())
        return read_values(jats.convert(data, sha1="").bib_entries, name)

    return read


def tei_reference(form: str) -> Entrance:
    def read(written: Sequence[str], name: str) -> list[Any]:
        items = tuple(f'<biblStruct xml:id="b@">{form}</biblStruct>'.replace("{}", escape(text)) for text in written)
        return read_values(teis.parse("<p>x</p>", items).bib_entries, name)

    return read


def elsevier_reference(field: str) -> Entrance:
    def read(written: Sequence[str], name: str) -> list[Any]:
        found = test_elsevier.article([test_elsevier.sentence("x", 0)])
        found["bib_entries"] = {f"k{n}": {"title": "T", field: text} for n, text in enumerate(written)}
        return read_values(elsevier.convert(json.dumps(found).encode(), sha1="").bib_entries, name)

    return read


def source(adapter: str, make: Callable[[str], Any]) -> Entrance:
    def read(written: Sequence[str], name: str) -> list[Any]:
        return read_values([one(adapter, make(text)) for text in written], name)

    return read


def jats_article(form: str) -> Callable[[str], str]:
    meta = "<article-id pub-id-type='publisher-id'>7</article-id>"
    title = "" if "article-title" in form else "<title-group><article-title>T</article-title></title-group>"
    return lambda text: (
        f"<article><front><article-meta>{meta}{title}{form.replace('@', escape(text))}</article-meta></front></article>"
    )


def pubmed_article(form: str, data: str = "") -> Callable[[str], str]:
    title = "" if "ArticleTitle" in form else "<ArticleTitle>T</ArticleTitle>"
    return lambda text: (
        f"<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>7</PMID><Article>{form.replace('@', escape(text))}{title}</Article>"
        f"</MedlineCitation><PubmedData>{data.replace('@', escape(text))}</PubmedData></PubmedArticle></PubmedArticleSet>"
    )


def acl_paper(form: str) -> Callable[[str], str]:
    return lambda text: (
        f"<collection id='P15'><volume id='1'><meta/><paper id='7'>{form.replace('@', escape(text))}</paper></volume></collection>"
    )


def dblp_paper(form: str) -> Callable[[str], str]:
    return lambda text: f"<dblp><article key='x/A'>{form.replace('@', escape(text))}</article></dblp>"


def openalex(**fields: Any) -> Callable[[str], Any]:
    return lambda text: {"id": "https://openalex.org/W1", "title": "T", **fill(fields, text)}


def fill(value: Any, text: str) -> Any:
    """Return nested objects with a text for @."""
    if isinstance(value, dict):
        return {key: fill(item, text) for key, item in value.items()}
    return [fill(item, text) for item in value] if isinstance(value, list) else text if value == "@" else value


def record(native: str = "id", **fields: Any) -> Callable[[str], Any]:
    return lambda text: {native: "7", "title": "T", **fill(fields, text)}


def crossref(**fields: Any) -> Callable[[str], Any]:
    return lambda text: {"DOI": "10.1016/x", "type": "journal-article", "title": ["T"], **fill(fields, text)}


GIVE_YEARS = frozenset(
    ("bib", "bib date", "amsrefs", "biblatex", "jats reference", "elsevier", "tei reference", "dblp")
)
PUBMED_AUTHOR = "<AuthorList><Author><LastName>B</LastName><ForeName>A</ForeName>{}</Author></AuthorList>"
JATS_AUTHOR = (
    "<contrib-group><contrib>{}<name><surname>B</surname><given-names>A</given-names></name></contrib></contrib-group>"
)
ARXIV_AUTHOR = """<OAI-PMH><record><header><identifier>oai:arXiv.org:1911.02782</identifier></header><metadata><arXiv><title>T</title>
<authors><author><keyname>B</keyname><forenames>A</forenames><affiliation>{}</affiliation></author></authors></arXiv></metadata></record>
</OAI-PMH>"""
PERSON_NAME = "<analytic><author><persName>{}</persName></author></analytic>"
ENTRANCES: dict[str, dict[str, Entrance]] = {
    "date": {
        "bib": bibtex("year"), "bib date": bibtex("date"), "amsrefs": amsrefs("date"), "biblatex": biblatex("\\field{year}{@}"),
        "jats reference": jats_reference("<year>@</year>"), "elsevier": elsevier_reference("pub_year"),
        "tei reference": tei_reference("<monogr><imprint><date>{}</date></imprint></monogr>"),
        "dblp": source("dblp", dblp_paper("<title>T</title><year>@</year>")),
        "jats": source("jats", jats_article("<pub-date><string-date>@</string-date></pub-date>")),
        "pubmed": source("pubmed",
            pubmed_article("<Journal><JournalIssue><PubDate><MedlineDate>@</MedlineDate></PubDate></JournalIssue></Journal>")),
        "s2ag": source("s2ag", record("corpusid", publicationdate="@")), "jsonl": source("jsonl", record(date="@")),
        "s2orc": source("s2orc", record("paper_id", year="@")),
    },
    "person": {
        "bib": bibtex("author"), "amsrefs": amsrefs("author"), "jats reference": jats_reference("<string-name>@</string-name>"),
        "tei reference": tei_reference(PERSON_NAME), "openalex": source("openalex", openalex(authorships=[{"raw_author_name": "@"}])),
        "jats": source("jats", jats_article("<contrib-group><contrib><string-name>@</string-name></contrib></contrib-group>")),
        "dblp": source("dblp", dblp_paper("<title>T</title><author>@</author>")),
        "s2ag": source("s2ag", record("corpusid", authors=[{"name": "@"}])),
        "jsonl": source("jsonl", record(authors=["@"])), "jsonl text": source("jsonl", record(authors="@")),
        "crossref": source("crossref", crossref(author=[{"family": "@"}])),
    },
    "orcid": {
        "acl": source("acl", acl_paper("<title>T</title><author orcid='@'><first>A</first><last>B</last></author>")),
        "dblp": source("dblp", dblp_paper("<title>T</title><author orcid='@'>A B</author>")),
        "pubmed": source("pubmed", pubmed_article(PUBMED_AUTHOR.format("<Identifier Source='ORCID'>@</Identifier>"))),
        "jats": source("jats", jats_article(JATS_AUTHOR.format("<contrib-id contrib-id-type='orcid'>@</contrib-id>"))),
        "crossref": source("crossref", crossref(author=[{"given": "A", "family": "B", "ORCID": "@"}])),
        "openalex": source("openalex", openalex(authorships=[{"raw_author_name": "A B", "author": {"orcid": "@"}}])),
        "jsonl": source("jsonl", record(authors=[{"first": "A", "last": "B", "orcid": "@"}])),
    },
    "affiliation": {
        "acl": source("acl",
            acl_paper("<title>T</title><author><first>A</first><last>B</last><affiliation>@</affiliation></author>")),
        "arxiv": source("arxiv", lambda text: ARXIV_AUTHOR.format(escape(text))),
        "pubmed": source("pubmed",
            pubmed_article(PUBMED_AUTHOR.format("<AffiliationInfo><Affiliation>@</Affiliation></AffiliationInfo>"))),
        "jats": source("jats", jats_article(JATS_AUTHOR.format("<aff>@</aff>"))),
        "crossref": source("crossref", crossref(author=[{"given": "A", "family": "B", "affiliation": [{"name": "@"}]}])),
        "openalex": source("openalex", openalex(authorships=[{"raw_author_name": "A B", "raw_affiliation_strings": ["@"]}])),
        "jsonl": source("jsonl", record(authors=[{"first": "A", "last": "B", "affiliations": ["@"]}])),
    },
    "group": {
        "bib": bibtex("author", "{{{}}}"), "amsrefs": amsrefs("author", "{{%s}}"),
        "biblatex": biblatex("\\name{author}{1}{}{{{hash=a}{family={{@}},familyi={W\\bibinitperiod}}}}"),
        "jats reference": jats_reference("<collab>@</collab>"),
        "tei reference": tei_reference('<analytic><author><orgName type="collaboration">{}</orgName></author></analytic>'),
        "jats": source("jats", jats_article("<contrib-group><contrib><collab>@</collab></contrib></contrib-group>")),
        "pubmed": source("pubmed", pubmed_article("<AuthorList><Author><CollectiveName>@</CollectiveName></Author></AuthorList>")),
        "crossref": source("crossref", crossref(author=[{"name": "@"}])), "jsonl": source("jsonl", record(authors=[{"last": "@"}])),
    },
    "doi": {
        "bib": bibtex("doi"), "bib url": bibtex("url"), "amsrefs": amsrefs("doi"), "biblatex": biblatex("\\verb{doi}\n\\verb @\n\\endverb"),
        "jats reference": jats_reference('<pub-id pub-id-type="doi">@</pub-id>'),
        "jats link": jats_reference('<ext-link xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="@">x</ext-link>'),
        "jats printed": jats_reference("Lee A. A work. doi: @", "mixed-citation"),
        "tei reference": tei_reference('<idno type="DOI">{}</idno>'), "tei link": tei_reference('<ptr target="{}"/>'),
        "tei printed": tei_reference('<note type="raw_reference">Lee A. A work. {}</note>'), "elsevier": elsevier_reference("doi"),
        "jats": source("jats", jats_article("<article-id pub-id-type='doi'>@</article-id>")),
        "pubmed": source("pubmed", pubmed_article("", "<ArticleIdList><ArticleId IdType='doi'>@</ArticleId></ArticleIdList>")),
        "crossref": source("crossref", crossref(DOI="@")), "unpaywall": source("unpaywall", record("x", doi="@")),
        "arxiv": source("arxiv", lambda text: {"id": "1706.03762", "title": "T", "doi": text}),
        "openalex": source("openalex", openalex(doi="@")), "s2ag": source("s2ag", record("corpusid", externalids={"DOI": "@"})),
        "acl": source("acl", acl_paper("<title>T</title><doi>@</doi>")), "jsonl": source("jsonl", record(doi="@")),
        "dblp": source("dblp", dblp_paper("<title>T</title><ee>@</ee>")),
    },
    "arxiv_id": {
        "bib": bibtex("eprint"), "amsrefs": amsrefs("eprint"), "biblatex": biblatex("\\verb{eprint}\n\\verb @\n\\endverb"),
        "jats reference": jats_reference('<pub-id pub-id-type="arxiv">@</pub-id>'),
        "tei reference": tei_reference('<idno type="arXiv">{}</idno>'),
        "s2ag": source("s2ag", record("corpusid", externalids={"ArXiv": "@"})), "jsonl": source("jsonl", record(arxiv_id="@")),
    },
    **{
        name: {
            "bib": bibtex(short), "jats reference": jats_reference(f'<pub-id pub-id-type="{short}">@</pub-id>'),
            "tei reference": tei_reference(f'<idno type="{short.upper()}">{{}}</idno>'),
            "openalex": source("openalex", openalex(ids={short: "@"})),
            "s2ag": source("s2ag", record("corpusid", externalids={graph: "@"})),
            "jats": source("jats", jats_article(f"<article-id pub-id-type='{short}'>@</article-id>")),
            "jsonl": source("jsonl", record(**{name: "@"})),
        }
        for name, short, graph in (("pmc_id", "pmcid", "PubMedCentral"), ("pubmed_id", "pmid", "PubMed"))
    },
    "license": {
        "jats": source("jats", jats_article("<permissions><license><license-p>@</license-p></license></permissions>")),
        "jats link": source("jats", jats_article("<permissions><license href='@'><license_ref>@</license_ref></license></permissions>")),
        "crossref": source("crossref", crossref(license=[{"URL": "@"}])), "jsonl": source("jsonl", record(license="@")),
        "unpaywall": source("unpaywall", lambda text: {"doi": "10.1016/x", "best_oa_location": {"license": text}}),
        "openalex": source("openalex", openalex(best_oa_location={"license": "@"})),
        "arxiv": source("arxiv", lambda text: {"id": "1706.03762", "title": "T", "license": text}),
        "s2ag": source("s2ag", record("corpusid", openaccesspdf={"license": "@"})),
        "s2ag dataset": source("s2ag", record("corpusid", openaccessinfo={"license": "@"})),
    },
    "title": {
        "jats": source("jats", jats_article("<title-group><article-title>@</article-title></title-group>")),
        "jats mark": source("jats",
            jats_article("<title-group><article-title>@<xref ref-type='fn' rid='f'>*</xref></article-title></title-group>")),
        "pubmed": source("pubmed", pubmed_article("<ArticleTitle>@</ArticleTitle>")), "crossref": source("crossref", crossref(title=["@"])),
        "dblp": source("dblp", dblp_paper("<title>@</title>")), "acl": source("acl", acl_paper("<title>@</title>")),
        "arxiv": source("arxiv", lambda text: {"id": "1706.03762", "title": text}), "jsonl": source("jsonl", record(title="@")),
        "openalex": source("openalex", openalex(title="@")), "s2ag": source("s2ag", record("corpusid", title="@")),
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("concept", "entrance"), [(concept, name) for concept in ENTRANCES for name in ENTRANCES[concept]]
)
def test_every_notation_is_read_through_every_format(concept: str, entrance: str) -> None:
    written = [text for text, _ in VARIANTS[concept]]
    found = dict(zip(written, ENTRANCES[concept][entrance](written, concept), strict=True))
    wanted = dict(VARIANTS[concept])
    if concept == "date" and entrance in GIVE_YEARS:
        wanted = {text: value and value[:4] for text, value in wanted.items()}
    assert found == wanted


def test_formula_has_one_text_in_every_format() -> None:
    written, wanted = zip(*VARIANTS["formula"], strict=True)
    body = "".join(f"<p><inline-formula><tex-math>{escape(tex)}</tex-math></inline-formula></p>" for tex in written)
    assert tuple(paragraph.text for paragraph in articles.parse(body).body_text) == wanted
    tagged = [
        f"<jats:inline-formula><jats:tex-math>${escape(tex)}$</jats:tex-math></jats:inline-formula>" for tex in written
    ]
    assert tuple(one("crossref", crossref(title=[title])("")).title for title in tagged) == wanted
    assert tuple(bibtex("title")([f"${tex}$" for tex in written], "title")) == wanted


def test_title_and_subtitle_become_one_title() -> None:
    for title, subtitle, joined in (("On rivers.", "A survey", "On rivers: A survey"), ("Why?", "Because", "Why? Because"),
                                    ("On rivers*", "A survey†", "On rivers: A survey")):  # fmt: skip
        group = f"<title-group><article-title>{title}</article-title><subtitle>{subtitle}</subtitle></title-group>"
        assert one("jats", jats_article(group)("")).title == joined
        assert one("crossref", crossref(title=[title], subtitle=[subtitle])("")).title == joined
