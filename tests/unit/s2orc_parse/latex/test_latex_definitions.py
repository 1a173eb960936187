"""The paper's macros and acronyms are expanded, and environments that pandoc does not support are converted."""

from __future__ import annotations

import pytest

from s2orc_parse.latex.macros import find_definitions, find_names
from s2orc_parse.latex.pandoc import define_macros
from s2orc_parse.latex.provided import IN_TEXT
from tests.unit.parse_laws import check_laws
from tests.unit.s2orc_parse.latex.archives import parse, texts


@pytest.mark.parametrize("name", sorted({one.name for one in IN_TEXT}))
def test_own_definition_wins_over_provided_one(name: str) -> None:
    own = find_definitions(rf"\newcommand{{\{name}}}{{Own}}")
    tex = define_macros(own, {name}, find_names(rf"\{name}"))
    assert tex.strip() == rf"\renewcommand{{\{name}}}{{Own}}"


@pytest.mark.parametrize(
    "definition",
    [
        r"\newcommand{\name}{FooNet\xspace}",
        r"\newcommand\name{FooNet\xspace}",
        r"\newcommand*\name{FooNet}",
        r"\renewcommand{\name}{FooNet}",
        r"\providecommand{\name}{FooNet}",
        r"\def\name{FooNet}",
        r"\gdef\name{FooNet}",
        r"\def\foo{FooNet}\let\name\foo",
        r"\def\foo{FooNet}\newcommand\name\foo",
        r"\DeclareRobustCommand{\name}{FooNet}",
        r"\NewDocumentCommand{\name}{}{FooNet}",
        r"\newrobustcmd{\name}{FooNet}",
        r"\newcommand{\name}{Foo}\renewcommand{\name}{FooNet}",
        r"\newcommand{\name}{FooNet\@}",
    ],
)
def test_every_form_of_macro_definition_is_expanded(definition: str) -> None:
    found = parse(r"We present \name{} here.", rf"\usepackage{{xspace}}{definition}")
    assert texts(found) == [("", "We present FooNet here.")]


@pytest.mark.parametrize(
    "definition", [r"\newcommand{\name}{FooNet\xspace}", r"\def\name{FooNet}", r"\def\foo{FooNet}\let\name\foo"]
)
def test_macros_of_packages_and_of_the_body_are_expanded(definition: str) -> None:
    found = parse(
        rf"We use \tool{{}}. {definition} We present \name{{}} here.",
        r"\usepackage{mine}",
        mine_sty=definition.replace("name", "tool"),
    )
    assert texts(found) == [("", "We use FooNet. We present FooNet here.")]


@pytest.mark.parametrize(
    ("definition", "body", "printed"),
    [
        (r"\newcommand\eps\varepsilon", r"For $\eps$ it is.", "For ε it is."),
        (r"\newcommand\a b", r"An \a{} is.", "An b is."),
        (r"\def\part{\partial}", r"For $\part x$ it is.", "For ∂x it is."),
        (r"\newcommand\path{way}", r"The \path{} is.", "The way is."),
        (r"\NewDocumentCommand{\x}{m m}{#2 #1}", r"It \x{a}{b} is.", "It b a is."),
        (r"\NewDocumentCommand{\x}{O{z} m}{#1#2}", r"It \x[y]{b} \x{b} is.", "It yb zb is."),
        (r"\NewDocumentCommand{\x}{s m}{\IfBooleanTF{#1}{no}{yes #2}}", r"It \x{b} is.", "It yes b is."),
        (r"\DeclareMathOperator{\Tr}{Tr}", r"For $\Tr x$ it is.", "For Trx it is."),
        (r"\DeclarePairedDelimiter{\abs}{\lvert}{\rvert}", r"For $\abs{x}$ it is.", "For |x| it is."),
        (r"\DeclareTextFontCommand{\x}{\bfseries}", r"It \x{was} is.", "It was is."),
        (r"\def\sun{\ifmmode\odot\else$\odot$\fi}", r"The $M_\sun$ and \sun{} is.", "The M⊙ and ⊙ is."),
        (r"\def\eg{\emph{e.g}\onedot}", r"It, \eg, is.", "It, e.g., is."),
    ],
)
def test_definition_prints_its_text(definition: str, body: str, printed: str) -> None:
    found = parse(body, definition)
    check_laws(found)
    assert [" ".join(text.replace("\u2061", "").split()) for _, text in texts(found)] == [printed]


@pytest.mark.parametrize(
    ("definition", "use", "printed"),
    [
        (r"\newacronym{cnn}{CNN}{neural net}", r"\gls{cnn}, \gls{cnn}, \glspl{cnn}, \acrlong{cnn}",
         "neural net (CNN), CNN, CNNs, neural net"),
        (r"\newacronym{cnn}{CNN}{neural net}", r"\Glspl{cnn}, \acrshort{cnn}, \acrfull{cnn}",
         "Neural nets (CNNs), CNN, neural net (CNN)"),
        (r"\newacronym[longplural={nets}]{cnn}{CNN}{net}", r"\acrlongpl{cnn}", "nets"),
        (r"\acrodef{cnn}[CNN]{neural net}", r"\ac{cnn}, \ac{cnn}, \acp{cnn}, \acl{cnn}, \acs{cnn}, \acf{cnn}",
         "neural net (CNN), CNN, CNNs, neural net, CNN, neural net (CNN)"),
        (r"\newacro{CNN}{neural net}", r"\ac{CNN}, \acp{CNN}", "neural net (CNN), CNNs"),
        (r"\DeclareAcronym{cnn}{short=CNN, long=neural net}", r"\ac{cnn}, \Acl{cnn}", "neural net (CNN), Neural net"),
        (r"\newglossaryentry{node}{name={node}, description={a point}}", r"\gls{node}, \Gls{node}, \glspl{node}", "node, Node, nodes"),
    ],
)  # fmt: skip
def test_acronyms_are_expanded(definition: str, use: str, printed: str) -> None:
    assert texts(parse(f"We use {use}.", definition)) == [("", f"We use {printed}.")]


def test_acronyms_in_macros_and_other_files_are_expanded() -> None:
    found = parse(
        r"We use \ours{} and \gls{rnn}.",
        r"\newcommand{\ours}{\gls{cnn}}\loadglsentries{acronyms}",
        acronyms_tex=r"\newacronym{cnn}{CNN}{neural net}\newacronym{rnn}{RNN}{recurrent net}",
    )
    assert texts(found) == [("", "We use CNN and recurrent net (RNN).")]


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        (r"\begin{CJK*}{UTF8}{gbsn}", r"\end{CJK*}"),
        (r"\begin{CJK}{UTF8}{min}", r"\end{CJK}"),
        (r"\begin{CJK}[dnp]{UTF8}{song}", r"\end{CJK}"),
        (r"\begin{otherlanguage}{german}", r"\end{otherlanguage}"),
    ],
)
def test_language_environment_does_not_split_its_paragraph(begin: str, end: str) -> None:
    assert texts(parse(f"Wei {begin}王伟{end} says words.")) == [("", "Wei 王伟 says words.")]


@pytest.mark.parametrize("environment", ["multicols}{2", "spacing}{1.5", "adjustwidth}{1cm}{2cm", "boxedminipage}{4cm"])
def test_arguments_of_layout_environments_are_not_text(environment: str) -> None:
    name = environment.partition("}")[0]
    assert texts(parse(f"One.\n\n\\begin{{{environment}}}Two.\\end{{{name}}}\n\nThree.")) == [
        ("", "One."), ("", "Two."), ("", "Three."),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["acknowledgments", "acknowledgements", "acknowledgment", "acknowledgement", "ack", "acks", "Acknowledgments"],
)
def test_acknowledgments_environment_is_back_matter(name: str) -> None:
    found = parse(rf"\section{{A}} One. \begin{{{name}}}We thank all.\end{{{name}}} \section{{B}} Two.")
    check_laws(found)
    assert texts(found) == [("A", "One."), ("B", "Two.")]
    assert [paragraph.text for paragraph in found.back_matter] == ["We thank all."]


@pytest.mark.parametrize(
    "command",
    [
        r"\acknowledgments We thank all.",
        r"\acknowledgments{We thank all.}",
        r"\ack We thank all.",
        r"\funding{We thank all.}",
    ],
)
def test_acknowledgments_command_is_back_matter(command: str) -> None:
    found = parse(rf"\section{{A}} One. {command} \section{{B}} Two.")
    assert texts(found) == [("A", "One."), ("B", "Two.")]
    assert [paragraph.text for paragraph in found.back_matter] == ["We thank all."]


def test_deferred_footnotes_are_notes() -> None:
    found = parse(
        r"Some\footnotemark{} text.\footnotetext{Deferred.} And\footnotemark[7] that.\footnotetext[7]{Seventh.} x\footnote[9]{N.}"
    )
    check_laws(found)
    assert texts(found) == [("", "Some text. And that. x")]
    assert [(entry.num, entry.text) for entry in found.ref_entries] == [
        ("1", "Deferred."),
        ("7", "Seventh."),
        ("9", "N."),
    ]
