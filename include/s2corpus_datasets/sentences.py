"""Split scientific text into sentences.

A sentence may end where white space follows `.`, `?` or `!`.
Rules for abbreviations, citations, initials, labels and numbers decide most of these places.
blingfire (MIT, a compiled automaton) decides the others (a short word before a number).
A sentence includes the citation marks that follow its full stop (`… shown. [12] Then`).
"""

from __future__ import annotations

import re
from typing import Final

import blingfire

from s2orc_parse.parse_model import EQUATION

FORMULA = rf"(?<![^\W\d_]){EQUATION}(?![^\W\d_])"
"""regular expression of the token that replaces a display formula"""
_FORMULA = re.compile(FORMULA)
VERSION: Final = "2"
"""version of the rules; part of the key of every dataset that contains sentences"""


def has_formula(text: str) -> bool:
    """Return whether a sentence contains the token of a display formula."""
    return _FORMULA.search(text) is not None


def is_prose(text: str) -> bool:
    """Return whether a sentence has words: it does not consist of formulas, numbers or signs."""
    return any(map(str.isalpha, _FORMULA.sub("", text)))


def count_tokens(text: str) -> int:
    """Return the number of words and punctuation marks, as blingfire separates them."""
    return len(blingfire.text_to_words(text).split(" "))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TITLES = _words("Dr Drs Prof Mr Mrs Ms Mt St Hon Rev Col Capt Gen Univ Dept")
"""words that precede a name"""
_LATIN = _words("vs viz cf eg ie e.g i.e approx ca resp c.f w.r.t a.k.a n.b v Viz Cf E.g I.e N.B")
"""words that never end a sentence"""
_LABELS = _words("fig figs eq eqs eqn eqns ref refs tab tabs sec secs sect supp suppl thm lem prop cor def alg app")
"""words (in any case) that precede a label; a sentence ends there only before a word of `_OPENERS` ("in S8 Fig. In …")"""
_NUMBERED = _words("no nos nr vol vols p pp ch chap art")
"""words (in any case) that precede a number; otherwise they are ordinary words"""
_SELDOM_ENDS = _words("""
al etc Inc Ltd Co Corp sp spp ssp subsp var cv str gen nov a.m p.m U.S U.K U.S.A E.U D.C Ph.D B.Sc M.Sc M.D Jr Sr
i.d o.d i.v i.p s.c s.d s.e s.e.m incl excl dist
""")
"""words that end a sentence only before a word of `_OPENERS`"""
_OPENERS = _words("""
the a an in on at of for from to by with as this these those that it its they their we our he she his her there here however
moreover furthermore therefore thus hence although though while when where if since because after before during both each all
some many most no not only such other another one two three several first second third finally next then also additionally
consequently conversely similarly interestingly notably importantly recently previously overall together taken despite following
due under using based given according between among across within without through what which who how why more less still yet
again nevertheless nonetheless instead rather whereas whether even so alternatively subsequently accordingly specifically let
particularly surprisingly remarkably unfortunately results methods conclusions background objective data samples patients
participants figure figures table tables
""")
"""words that begin sentences and are seldom parts of names"""
_AFTER_HEADINGS = _OPENERS - _words(
    "a one two three several first second third figure figures table tables results methods data so no"
)
"""words that begin the first sentence after a run-in heading; the others also occur in names ("Vitamin A is …")"""

_CANDIDATE = re.compile(
    r"(?P<word>[^\s(\[{“\"'‘]*)(?P<mark>[.?!…]+)(?P<close>[\"'”’»)\]}]*)"
    r"(?P<cited>(?:[\s,;–-]{0,2}\[[0-9][0-9,;\s–-]*\])*)(?P<space>\s+)(?P<next>[\"'“‘«(\[{]*(?P<first>\S+))"
)
_ROMAN = re.compile(r"[IVXLC]+[.,;:]?")
_INITIAL = re.compile(r"(?:[A-Z]|(?:[A-Z]\.)+[A-Z]|[A-Z]-[A-Z])")
_LOWER_NAME = re.compile(r"[a-z]{1,5}[A-Z0-9]|[a-z]-[A-Z]|[α-ω]|\(?(?:[a-z]|[ivx]{1,5})\)")
"""lowercase text that can begin a sentence: gene and protein names, Greek letters, `ii)` of a list"""
_LIST_LABEL = re.compile(r"\(?(?:[a-z]|[ivx]{1,4}|[0-9]{1,2})")
_AFTER_FORMULA = re.compile(rf"{FORMULA}[\s,;]*\s(?P<next>[A-Z]\w*)")


def _capitalized(words: frozenset[str]) -> str:
    """Return a regular expression of words with a capital letter."""
    return "|".join(sorted(word.capitalize() for word in words))


_HEADING = re.compile(
    rf"(?!(?:{_capitalized(_OPENERS)})\b)[A-Z][\w’'-]*(?: (?:& )?[\w/’'-]+){{0,5}}?"
    rf"(?:: (?=(?:{_capitalized(_OPENERS)}) )| (?=(?:{_capitalized(_AFTER_HEADINGS)}) ))(?P<next>\w+) [a-z]"
)
_LAST_WORD = re.compile(r"[^\W\d_](?:[\w.&-]*\w)?$")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return start and end (code points, `text[start:end]`) of each sentence, in order, without surrounding white space.

    Every character that is not white space belongs to one sentence.
    """
    starts = sorted(_find_starts(text))
    spans = []
    for start, end in zip([0, *starts], [*starts, len(text)], strict=True):
        piece = text[start:end]
        if stripped := piece.strip():
            first = start + len(piece) - len(piece.lstrip())
            spans.append((first, first + len(stripped)))
    return spans


def heading_end(text: str) -> int:
    """Return the length of a run-in heading at the start of a paragraph, or 0.

    A heading has at most six words and no full stop, and a sentence follows ("Ablation study We start …", "Setup: The server …").
    """
    found = _HEADING.match(text)
    return found.start("next") if found else 0


def _find_starts(text: str) -> set[int]:
    """Return the start offset of each sentence except the first."""
    blingfire_starts = _blingfire_starts(text)
    found = {match.start("next") for match in _AFTER_FORMULA.finditer(text) if match["next"].casefold() in _OPENERS}
    if heading := heading_end(text):
        found.add(heading)
    at = 0
    while match := _CANDIDATE.search(text, at):
        at = match.end("mark")
        if _is_boundary(match, text, blingfire_starts):
            found.add(match.start("next"))
        elif match["cited"][:1].isspace() and match["mark"] == "." and not _is_abbreviation(match, text):
            # The citation begins the next sentence: … shown. [7] also consider
            found.add(match.start("cited"))
    return {cut for cut in found if text[cut] != "." or text[cut + 1 : cut + 2].isalnum()}  # not inside of ". . ."


def _blingfire_starts(text: str) -> set[int]:
    """Return the start offsets of sentences by blingfire, or no offset if it rejects the text (blank, control characters)."""
    try:
        _, spans = blingfire.text_to_sentences_and_offsets(text.replace("\0", " "))
    except (AssertionError, UnicodeError):
        return set()
    return {start for start, _ in spans}


def _is_boundary(match: re.Match[str], text: str, blingfire_starts: set[int]) -> bool:
    """Return whether a sentence ends at this mark, which is followed by white space and another word."""
    word, mark, first = _last_word(match, text), match["mark"], match["first"]
    opening = first[0]
    if opening.islower() and not _LOWER_NAME.match(first):
        return False
    if opening in ",;:)]}%=+±×<>≤≥&/":
        return False
    if not match.start("word") and _LIST_LABEL.fullmatch(match["word"]):
        return False
    if mark != ".":
        return not (mark.startswith("..") or mark == "…") or opening.isupper()
    sure = opening.isupper() and first.strip(",.;:").casefold() in _OPENERS
    if match["close"] or match["cited"]:
        return True
    if word in _TITLES or word in _LATIN:
        return False
    lower = word.casefold()
    if lower in _LABELS:
        return sure and len(first) > 1
    if lower in _NUMBERED and (opening.isdigit() or _ROMAN.fullmatch(first)):
        return False
    if word in _SELDOM_ENDS:
        return sure
    if _INITIAL.fullmatch(match["word"].lstrip("\"'“‘([{")):
        return sure and not _in_name(text, match.start("word"))
    return match.start("next") in blingfire_starts or not (
        opening.isdigit() and word.isalpha() and not word.isupper() and len(word) <= 3
    )


def _last_word(match: re.Match[str], text: str) -> str:
    """Return the word before a mark, also if white space separates them ("Brown et al .")."""
    start = match.start("mark")
    word = match["word"] or text[max(0, start - 12) : start].rstrip().rpartition(" ")[2]
    found = _LAST_WORD.search(word)
    return found[0] if found else word


def _is_abbreviation(match: re.Match[str], text: str) -> bool:
    """Return whether the full stop may belong to an abbreviation."""
    word = _last_word(match, text)
    known = _TITLES | _LATIN | _SELDOM_ENDS
    return word in known or word.casefold() in _LABELS | _NUMBERED or "." in word or len(word) == 1


def _in_name(text: str, start: int) -> bool:
    """Return whether an initial follows another initial or a comma, as in a list of names."""
    before = text[max(0, start - 3) : start].rstrip()
    return before.endswith((",", "."))
