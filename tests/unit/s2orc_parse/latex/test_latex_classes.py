"""The front matter of a source is read as its class defines it: no note, date or keyword is body text (SPEC §3.29)."""

import re

import pytest

from s2orc_parse.latex.classes import CLASSES, find_forms
from s2orc_parse.words import read_table
from tests.unit.s2orc_parse.latex.archives import parse, texts

WORDS = "We show odd rivers."
TITLE = r"\title{Odd rivers}\author{Ada Byron}"
FRONTS = [  # class, preamble, text before the first section, text at the end: abstract and keywords as below, nothing else
    ("article", "", rf"{TITLE}\maketitle\begin{{abstract}}{WORDS}\end{{abstract}}\textbf{{Keywords:}} rivers, lakes", ""),
    ("article", "", rf"{TITLE}\maketitle\section*{{Abstract}} {WORDS}" "\n\n" r"\noindent\emph{Index terms} --- rivers; lakes", ""),
    ("article", "", rf"{TITLE}\maketitle\textbf{{Resumo}}" "\n\n" rf"{WORDS}" "\n\n" r"\textbf{Palavras-chave:} rivers; lakes.", ""),
    ("article", "", rf"{TITLE}\maketitle Riassunto: {WORDS}" "\n\nParole chiave: rivers, lakes.", ""),
    ("article", r"\usepackage{authblk}", rf"{TITLE}\affil{{Odd University}}\date{{\today}}\maketitle"
     rf"\begin{{center}}\textbf{{Abstract}}\end{{center}} {WORDS}" "\n\nKey words and phrases: rivers; lakes.", ""),
    ("revtex4-2", "", rf"\preprint{{ODD-1}}{TITLE}\affiliation{{Odd University of Rivers}}\altaffiliation{{Now at Odd}}\date{{\today}}"
     rf"\begin{{abstract}}{WORDS}\end{{abstract}}\pacs{{42.50}}\keywords{{rivers, lakes}}\maketitle", ""),
    ("aastex631", "", rf"\received{{May 1, 2020}}\submitjournal{{ApJ}}{TITLE}\affiliation{{Odd University}}\nocollaboration{{2}}"
     rf"\correspondingauthor{{Ada Byron}}\begin{{abstract}}{WORDS}\end{{abstract}}\keywords{{rivers (1) --- lakes}}", ""),
    ("aa", "", rf"{TITLE}\institute{{Odd \email{{a@x.org}}}}\date{{Received May 1, 2020; accepted May 2, 2020}}\abstract{{{WORDS}}}"
     r"\keywords{rivers -- lakes}\maketitle", ""),
    ("mnras", r"\pubyear{2020}", rf"{TITLE}\date{{Accepted XXX}}\begin{{abstract}}{WORDS}\end{{abstract}}"
     r"\begin{keywords} rivers -- lakes \end{keywords}", ""),
    ("elsarticle", "", rf"\begin{{frontmatter}}{TITLE}\tnotetext[t1]{{This is a result of a project.}}\cortext[c]{{Corresponding author}}"
     rf"\fntext[f]{{Both are equal.}}\ead{{a@x.org}}\address[a]{{Odd University}}\begin{{abstract}}{WORDS}\end{{abstract}}"
     r"\begin{graphicalabstract}\includegraphics{a} It flows.\end{graphicalabstract}\begin{highlights}\item Rivers are odd.\end{highlights}"
     r"\begin{keyword} rivers \sep lakes \PACS 71.20 \MSC[2008] 23-557\end{keyword}\end{frontmatter}", ""),
    ("cas-dc", "", rf"\shorttitle{{Odd}}{TITLE}\cormark[1]\credit{{Wrote it all, as it is usual}}\begin{{abstract}}{WORDS}\end{{abstract}}"
     r"\begin{keywords} rivers \sep lakes\end{keywords}\maketitle", r"\bio{a.jpg} She is an author of rivers.\endbio"),
    ("IEEEtran", "", rf"{TITLE}\markboth{{Odd Journal}}{{Byron}}\IEEEpubid{{0000--0000~\copyright~2020 IEEE}}\IEEEtitleabstractindextext{{"
     rf"\begin{{abstract}}{WORDS}\end{{abstract}}\begin{{IEEEkeywords}}rivers, lakes\end{{IEEEkeywords}}}}\maketitle",
     r"\begin{IEEEbiography}[{\includegraphics{a}}]{Ada Byron} is an author of rivers.\end{IEEEbiography}"),
    ("acmart", "", rf"{TITLE}\authornote{{Both are equal.}}\affiliation{{\institution{{Odd University}}}}\setcopyright{{none}}"
     rf"\acmConference[O '20]{{Odd Conference}}{{May}}{{Odd Town}}\begin{{abstract}}{WORDS}\end{{abstract}}\ccsdesc[500]{{Methods~Rivers}}"
     r"\keywords{rivers, lakes}\received{1 May 2020}\received[accepted]{2 May 2020}\maketitle", ""),
    ("llncs", "", rf"{TITLE}\authorrunning{{A. Byron}}\institute{{Odd University}}\maketitle"
     rf"\begin{{abstract}}{WORDS} \keywords{{rivers \and lakes}}\end{{abstract}}", ""),
    ("sn-jnl", "", rf"{TITLE}\equalcont{{These authors contributed equally to this work.}}\affil[1]{{\orgdiv{{Odd}}}}\abstract{{{WORDS}}}"
     r"\keywords{rivers, lakes}\pacs[MSC Classification]{35A01}\maketitle", ""),
    ("svjour3", "", rf"{TITLE}\institute{{A. Byron \at Odd}}\date{{Received: date / Accepted: date}}\maketitle\abstract{{{WORDS}}}"
     r"\keywords{rivers \and lakes}\PACS{71.20}\subclass{23-557}", ""),
    ("amsart", "", rf"{TITLE}\address{{Odd University}}\curraddr{{Odd}}\subjclass[2010]{{Primary 35A01}}\keywords{{rivers, lakes}}"
     rf"\dedicatory{{For all who know it well.}}\begin{{abstract}}{WORDS}\end{{abstract}}\maketitle", ""),
    ("article", r"\usepackage{jmlr2e}\ShortHeadings{Odd}{Byron}", rf"{TITLE}\editor{{Jane Doe and all the others.}}\maketitle"
     rf"\begin{{abstract}}{WORDS}\end{{abstract}}\begin{{keywords}}rivers, lakes\end{{keywords}}", ""),
    ("article", r"\usepackage{icml2023}", r"\twocolumn[\icmltitle{Odd rivers}\icmlsetsymbol{equal}{*}\begin{icmlauthorlist}"
     r"\icmlauthor{Ada Byron}{odd}\end{icmlauthorlist}\icmlaffiliation{odd}{Odd}\icmlcorrespondingauthor{Ada}{a@x.org}"
     r"\icmlkeywords{rivers, lakes}]"
     rf"\printAffiliationsAndNotice{{}}\begin{{abstract}}{WORDS}\end{{abstract}}", ""),
    ("iopart", "", rf"{TITLE}\address{{Odd University}}\ead{{a@x.org}}\begin{{abstract}}{WORDS}\end{{abstract}}\pacs{{71.20}}\ams{{35A01}}"
     r"\submitto{\JPA}\vspace{2pc}\noindent{\it Keywords\/}: rivers, lakes", ""),
    ("article", rf"\usepackage{{jcappub}}{TITLE}\affiliation[a]{{Odd}}\emailAdd{{a@x.org}}\abstract{{{WORDS}}}\keywords{{rivers, lakes}}"
     r"\arxivnumber{2001.00001}", r"\maketitle", ""),
    ("siamart220329", r"\headers{Odd}{A. Byron}", rf"{TITLE}\maketitle\begin{{abstract}}{WORDS}\end{{abstract}}"
     r"\begin{keywords}rivers, lakes\end{keywords}\begin{MSCcodes}35A01\end{MSCcodes}", ""),
    ("wlscirep", "", rf"{TITLE}\affil[1]{{Odd}}\begin{{abstract}}{WORDS}\end{{abstract}}\keywords{{rivers, lakes}}\flushbottom", ""),
    ("FrontiersinHarvard", "", rf"{TITLE}\correspondance{{}}\extraAuth{{}}\begin{{abstract}}\section{{}} {WORDS}"
     r"\tiny\keyFont{\section{Keywords:} rivers, lakes}\end{abstract}", ""),
    ("Definitions/mdpi", rf"\Title{{Odd rivers}}\Author{{Ada Byron $^{{1,*}}$}}\AuthorNames{{Ada Byron}}\address{{Odd}}\corres{{a@x.org}}"
     rf"\abstract{{{WORDS}}}\keyword{{rivers; lakes}}\simplesumm{{Rivers made simple for all.}}\datereceived{{1 May 2020}}", "", ""),
    ("copernicus", "", r"\title{Odd rivers}\Author[1]{Ada}{Byron}\affil[1]{Odd}\runningtitle{Odd}\correspondence{Ada}\received{}"
     rf"\maketitle\begin{{abstract}}{WORDS}\end{{abstract}} Keywords: rivers; lakes", ""),
    ("lipics-v2021", "", r"\title{Odd rivers}\author{Ada Byron}{Odd University}{a@x.org}{https://orcid.org/0}{Paid by all of us.}"
     rf"\Copyright{{Ada Byron}}\keywords{{rivers, lakes}}\EventEditors{{Jane Doe}}\maketitle\begin{{abstract}}{WORDS}\end{{abstract}}", ""),
    ("jss", rf"{TITLE}\Plainauthor{{Ada Byron}}\Plaintitle{{Odd rivers}}\Shorttitle{{Odd}}\Abstract{{{WORDS}}}\Keywords{{rivers, lakes}}"
     r"\Plainkeywords{rivers, lakes}\Address{Ada Byron\\ Odd University}", "", ""),
    ("odd-unknown-class", "", rf"{TITLE}\titlenote{{Paid by all.}}\abstract{{{WORDS}}}\begin{{keyword}}rivers; lakes\end{{keyword}}", ""),
]  # fmt: skip


@pytest.mark.parametrize("row", FRONTS, ids=lambda row: f"{row[0]}{FRONTS.index(row)}")
def test_front_matter_of_a_class_is_not_body(row: tuple[str, str, str, str]) -> None:
    name, preamble, front, end = row
    found = parse(rf"{front} \section{{Introduction}} Text of the paper. {end}", rf"\documentclass{{{name}}}{preamble}")
    assert (found.header.title, [(a.first, a.last) for a in found.header.authors]) == ("Odd rivers", [("Ada", "Byron")])
    assert [paragraph.text for paragraph in found.abstract] == [WORDS]
    assert [word.removesuffix(" (1)") for word in found.header.keywords] == ["rivers", "lakes"]
    assert texts(found) == [("Introduction", "Text of the paper.")]
    assert [p.section for p in found.back_matter] == (["Biography"] if end else [])


TWO = ["Ada Byron", "Alan Turing"]


@pytest.mark.parametrize(
    ("authors", "names"),
    [
        (r"\author{Ada Byron and Alan Turing}", TWO),
        (r"\def\Authors{Ada Byron\,$^{1,*}$, Alan Turing\,$^2$}\author[\firstAuthorLast ]{\Authors}", TWO),
        (r"\author{Ada J.\,D.\ Byron$^2$\\Independent Researcher \And Alan Turing}", ["Ada J D Byron", "Alan Turing"]),
        (r"\author{No Author Given}", []),
        (r"\author{Ada Byron\affmark[1,2]*\and Alan Turing \affmark[1]}", TWO),
        (r"\author{Ada Byron\oddmark{a}\and Alan Turing\oddmark{b}}", TWO),
        (
            r"\author{\IEEEauthorblockN{1\textsuperscript{st} Ada Byron}\and\IEEEauthorblockN{2\textsuperscript{nd} Alan Turing}}",
            TWO,
        ),
        (
            r"\author{\begin{tabular}{c}Ada Byron, Ph.D.\\Odd Lab\end{tabular}\and\begin{tabular}[t]{c}Alan Turing\end{tabular}}",
            TWO,
        ),
        (r"\author{Rodolfo M. Nayga, Jr. \and Ada Byron, Ph.D., MD}", ["Rodolfo M Nayga Jr", "Ada Byron Ph.D. MD"]),
        (r"\author{Ada Byron, MD and Alan Turing, PhD}", ["Ada Byron MD", "Alan Turing PhD"]),
        (r"\author{Byron, Ada \and Turing, Alan}", TWO),
        (r"\author{Submitted by: Ada Byron\\Alan Turing}", TWO),
        (r"\Author[1]{Ada}{Byron}\Author[2,*]{Alan}{Turing}", TWO),
        (r"\author{Ada Byron,~and~Alan~Turing}", TWO),
        (r"\author{Ada Byron\thanks{Odd \textbf{\textit{City}}, USA.} and Alan Turing}", TWO),
        (r"\author{\uppercase{Ada Byron}, \uppercase{and Alan Turing\authorrefmark{1}}}", TWO),
        (r"\author{Ada Byron y Alan Turing}", TWO),
        (r"\author{Ada Byron y Lovelace}", ["Ada Byron y Lovelace"]),
        (r"\author[1]{Authors: Ada Byron}\author[1,*]{Alan Turing}", TWO),
        (
            r"\author{\IEEEauthorblockN{Ada Byron, and Alan Turing}\IEEEauthorblockA{\textit{\textbf{Odd}, Odd Lab}\\ Lisbon, Portugal}}",
            TWO,
        ),
        (
            r"\author{\alignauthor Ada Byron\\ \affaddr{Odd}\\ \email{a@x.org} \alignauthor Alan Turing\\ \affaddr{Odd}}",
            TWO,
        ),
        ("\\author{Ada Byron\\altaffilmark{1,2}\n Alan Turing\\altaffilmark{1}}", TWO),
        (r"\author{Ada Byron$^1$ Alan Turing$^{2,\dag}$}", TWO),
        (r"\author{Ada Byron (ada@x.org)\\ Odd University \and Alan Turing [alan@x.org]\\ Odd Lab}", TWO),
        (
            "\\author{\\text{BYRON Ada\\textsuperscript{(1)(2)}}\n\\text{TURING Alan\\textsuperscript{(1)}}\\\\ Odd Lab}",
            ["Ada BYRON", "Alan TURING"],
        ),
        (
            r"\author{\href{mailto:a@x.org}{M.Sc. Ada Byron}\thanks{Odd.} \and \href{mailto:b@x.org}{Drª. Alan Turing}}",
            TWO,
        ),
        (r"\author{M.Sc. Anderson Ribeiro de Oliveira Santos Silva}", ["Anderson Ribeiro de Oliveira Santos Silva"]),
        (
            r"\author{Ada Byron\\École Nationale Supérieure des Mines de Saint-Étienne \and Alan Turing\\ Wydział, Uniwersytet Odd}",
            TWO,
        ),
        (r"\author{Ada Labbé, Alan Depp}", ["Ada Labbé", "Alan Depp"]),
        # Out-of-Core Surface Reconstruction via Global TGV Minimization (ICCV 2021)
        (
            r"\author{Nikolai Poliarnyi\\Agisoft LLC, St. Petersburg, Russia\\{\tt\small n@x.com}}",
            ["Nikolai Poliarnyi"],
        ),
        (r"\author{removed for review}", []),
        (r"\author{Anonymous Authors}", []),
    ],
)
def test_authors_are_the_printed_names(authors: str, names: list[str]) -> None:
    found = parse(rf"\title{{Odd}}{authors}\maketitle Text.").header.authors
    assert [" ".join(filter(None, (a.first, *a.middle, a.last, a.suffix))) for a in found] == names


def test_title_page_of_plos_names_title_and_authors() -> None:
    page = (
        "\\begin{flushleft}\n{\\Large\n\\textbf\\newline{Odd \\textit{rivers} of it}\n}\n\\newline\n\\\\\n"
        "Ada Byron\\textsuperscript{1,2\\Yinyang},\nAlan Turing\\textsuperscript{2*}\n\\\\\n\\bigskip\n"
        "\\textbf{1} Odd University, Lisbon\n\\\\\n* a@x.org\n\\end{flushleft}\n"
    )
    found = parse(rf"{page}\section*{{Abstract}}{WORDS}\section{{One}} Text.")
    assert found.header.title == "Odd rivers of it"
    assert [a.last for a in found.header.authors] == ["Byron", "Turing"]
    assert "Lisbon" not in " ".join(p.text for p in found.body_text)


@pytest.mark.parametrize(
    ("head", "number"),
    [
        (r"\section{Abstract}", "2"), (r"\section*{Abstract}", "1"), (r"\section*{Summary}", "1"),
        (r"\section*{Acknowledgments}\section*{Abstract}", "1"),
    ],
)  # fmt: skip
def test_first_section_with_the_name_of_an_abstract_is_the_abstract(head: str, number: str) -> None:
    found = parse(rf"{head} {WORDS} \section{{A}} Text. \section{{Summary}} All flows.")
    assert [p.text for p in found.abstract] == [WORDS]
    assert [(p.sec_num, p.section) for p in found.body_text] == [(number, "A"), (str(int(number) + 1), "Summary")]


def test_first_word_of_the_body_is_no_label_of_an_abstract() -> None:
    found = parse(rf"{TITLE}\maketitle Abstract interpretation is a theory of programs. \section{{A}} Text.")
    assert [p.text for p in found.body_text] == ["Abstract interpretation is a theory of programs.", "Text."]
    assert not found.abstract


def test_structured_abstract_of_aa_has_the_headers_that_the_class_prints() -> None:
    parts = r"\abstract" "\n% context\n{Rivers flow.}\n% aims\n{}{We look.}{They flow.}{All flows.}"
    found = parse(rf"{parts}\maketitle\section{{A}} Text.", r"\documentclass{aa}")
    assert [p.text for p in found.abstract] == [
        "Context. Rivers flow.", "Methods. We look.", "Results. They flow.", "Conclusions. All flows.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("front", "printed"),
    [
        (
            r"Rivers flow. \begin{itemize}\item one \item two\end{itemize}",
            ["Rivers flow.", "one", "two"],
        ),  # prose of the author
        (r"Ada Byron, Odd University, 12 Odd Street, Odd Town." "\n\nRivers flow.", ["Rivers flow."]),
        (r"\email{a@x.org} Submitted to Odd Journal" "\n\n" r"It is \[x=1\]", ["It is EQUATION"]),
        (r"\newcommand{\note}[1]{#1}\note{Rivers flow.}", ["Rivers flow."]),  # a name that the paper defines
    ],
)
def test_text_before_the_first_section_is_body_from_the_first_prose_on(front: str, printed: list[str]) -> None:
    assert texts(parse(rf"{front} \section{{A}} Text.")) == [*(("", text) for text in printed), ("A", "Text.")]


def test_document_without_sections_is_body() -> None:
    assert texts(parse("Rivers\n\nOdd University")) == [("", "Rivers"), ("", "Odd University")]


@pytest.mark.parametrize(
    ("document_class", "end", "section"),
    [
        ("IEEEtran", r"\IEEEraisesectionheading{\section{More}} Words.", "More"), ("copernicus", r"\conclusions Words.", "Conclusions"),
        ("copernicus", r"\conclusions[More]  Words.", "More"), ("pnas-new", r"\matmethods{Words.}", "Materials and Methods"),
        ("nature", r"\begin{methods}Words.\end{methods}", "Methods"), ("sn-jnl", r"\bmhead{More} Words.", "More"),
    ],
)  # fmt: skip
def test_headers_of_classes_start_sections(document_class: str, end: str, section: str) -> None:
    found = parse(rf"\section{{A}} Text. {end}", rf"\documentclass{{{document_class}}}")
    assert texts(found) == [("A", "Text."), (section, "Words.")]


def test_thirty_classes_have_their_names_and_others_have_all() -> None:
    assert len(CLASSES) >= 30
    assert find_forms(["aa"])["abstract"].arguments == 5
    assert find_forms(["article"])["abstract"].arguments == find_forms(["odd"])["abstract"].arguments == 1
    assert set(find_forms(["odd"])) == {name for row in CLASSES.values() for name in row}


@pytest.mark.parametrize("row", read_table("latex/classes")["class"], ids=lambda row: row["pattern"])
def test_row_names_the_documentation_of_its_class(row: dict[str, str]) -> None:
    assert re.search(r"https://\S+\.\S+|[A-Z]\S+: .+", row["source"]), (
        f"{row['pattern']} needs `source`: a guide or its address"
    )
