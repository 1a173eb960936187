"""Find the lines of the first pages that name the authors."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from functools import partial
from itertools import groupby, pairwise, takewhile

from pdf2tei.front.authors import (
    DEGREES,
    LABEL,
    PARTICLES,
    SEPARATOR,
    affiliation_words,
    are_inverted,
    begins_with_name,
    begins_with_name_in_capitals,
    ends_within_name,
    get_names_type,
    has_initials_last,
    parse_printed_name,
    select_names,
    split_names,
)
from pdf2tei.front.front_lines import Front, FrontLabel
from pdf2tei.front.inverted import BY, ROLE, find_listed, is_cited, is_inverted, is_label
from pdf2tei.pages.model import Kind, Line, Token

_CODE = re.compile(r"(?<![\d−–-])\d{4,6}(?![\d−–-])")  # a year or a postal code
_WORD = re.compile(r"\w{3,}")
_MARKED = re.compile(r"[^\W\d_.]\s?\(?\d{1,2}(?![\d\w])")  # a name with a number after it that is not raised
_KEYED = re.compile(r"\(?\d{1,2}\)?\s?[^\W\d_]")
_SECTION_NUMBER = re.compile(r"\d+(?:\.\d+)+\.? ")
_MAX_CASELESS_WORDS = 5  # a line without separators and with more words in a script without capitals is a sentence
_CERTAIN_SHARE = 0.9
_MIN_NAME_SHARE = 0.5  # minimum share of names among the parts of a line of names
_MIN_AUTHOR_PROBABILITY = 0.1  # minimum probability of the label `author` for a line that also contains other text
_FULL_WIDTH = 0.6  # minimum width of a line of names that may break within a name, as a share of the page's width
_MAX_OFF_CENTER = 0.045  # maximum difference of the margins beside a centered title, as a share of the page's width


def find_byline(front: Front, title: list[Line], abstract: list[Line], width: float) -> list[Line]:
    """Return the lines of names under the title, in reading order by rows; `width` is the page's width.

    All names have one font. It is the font with the most author labels and names among the lines between title and abstract.
    If no such line contains names, the header CRF's best run elsewhere is used.
    """
    labeled = find_labeled(front)
    if labeled and title and labeled[0].font == title[0].font and labeled[0].page == title[0].page:
        return labeled  # a cover lists title and authors in one paragraph
    under = _select_below_title(front, title, abstract, width)
    if listed := find_listed(front, under):
        return listed
    if under and is_cited(front, under[0]):
        return [x for x in under if x.font == under[0].font and x.block == under[0].block]
    others = set(map(id, _list_other_people(front.lines)))
    if announced := _find_announced(front, under) or _find_announced(front, sorted(front.lines, key=_get_row)):
        return announced
    under = [x for x in under if id(x) not in others]
    scores: dict[tuple[str, int], float] = defaultdict(float)
    for line in under:
        share, count = measure_names(line)
        share = 1.0 if begins_with_name(line, split_names(line.tokens)) else share
        if count and share >= 0.3:
            kind = get_names_type(line)
            over = [x for x in under if line.continues(x, gap=3, size=99) and x.size >= line.size]
            weight = 0.5 if any(_names_only(x) and get_names_type(x) != kind for x in over) else 1.0  # an institution
            scores[kind] += weight * count * share * (0.2 + front.probability(line, FrontLabel.AUTHOR))
    if labeled and title and labeled[0].page < title[0].page:  # a cover names the authors
        words = set(_WORD.findall(" ".join(x.text for x in labeled).casefold()))
        known = [x for x in under if measure_names(x)[1] and not words.isdisjoint(_WORD.findall(x.text.casefold()))]
        if not known:
            return labeled
        scores = {get_names_type(known[0]): 1.0}
    if not scores:
        return _find_above(front, title) or _find_elsewhere(front, title, others) or find_labeled(front)
    best = max(scores, key=lambda kind: (scores[kind], kind))
    found: list[Line] = []
    is_marked = below_marks = False
    for above, line in zip([None, *under], under, strict=False):
        has_mark = any(token.font.raised for token in line.tokens) or _MARKED.search(line.text) is not None
        marks_follow = bool(found) and not _starts_with_mark(found[0]) and not found[-1].text[-1].isalpha()
        starts_raised = marks_follow and _starts_with_mark(line)
        below_marks = below_marks or starts_raised
        is_unmarked = below_marks and is_marked and (starts_raised or not has_mark)  # a marked affiliation
        tokens, parts = select_names(line, best), split_names(line.tokens)
        is_partial = len(tokens) < len(line.tokens) and bool(found) and line.y0 - found[-1].y1 < line.size
        is_short = above is not None and above in found and above.width < _FULL_WIDTH * width
        is_below_list = above is not None and is_short and _follows_list(above, line)
        has_code = len(parts) > 2 and _CODE.search(line.text) and not begins_with_name(line, parts) and not is_partial
        if not tokens or is_unmarked or is_below_list or has_code:  # an address: High St, Santa Cruz, 95060
            continue
        share, count = measure_names(line)
        affiliation = front.probability(line, FrontLabel.AFFILIATION)
        is_author = front.probability(line, FrontLabel.AUTHOR) > _MIN_AUTHOR_PROBABILITY
        certain = share > _CERTAIN_SHARE or (share >= _MIN_NAME_SHARE and is_author)
        has_names = count > 0 and certain and affiliation < _CERTAIN_SHARE
        is_below_affiliation = bool(found) and above not in found
        is_place = is_below_affiliation and len(parts) == 2 and " " not in parts[1]  # Porto Alegre, Brazil
        is_named = count > 0.3 * len(parts) and parse_printed_name(parts[0]) is not None
        is_begun = begins_with_name_in_capitals(parts) or ((is_named or begins_with_name(line, parts)) and not is_place)
        ends = split_names(found[-1].tokens) if found else []
        is_cut = bool(ends) and ends_within_name(found[-1], ends)
        is_surname = is_cut and " " not in ends[-1]  # below its forename
        is_not_affiliation = (affiliation < _CERTAIN_SHARE or is_surname) and not affiliation_words(line.text)
        gap = 1.5 if is_cut else 0.9
        is_below = bool(found) and found[-1].page == line.page
        is_near = is_below and -0.5 * line.size < line.y0 - found[-1].y1 < gap * line.size
        is_continuation = is_near and is_not_affiliation
        if front.probability(line, FrontLabel.AUTHOR) > 0.5 or has_names or is_begun or is_continuation or is_partial:
            found.append(line)
            is_marked = is_marked or has_mark
    return found


def _find_announced(front: Front, lines: list[Line]) -> list[Line]:
    """Return the names that a label announces: right of it, in its column below it, or else on the next lines."""
    label = next(filter(is_label, lines), None)
    here = [x for x in lines if label and x.page == label.page]
    after = here[here.index(label) + 1 :] if label else []
    row = (x for x in here if label and abs(x.y0 - label.y0) < 4 and x.x0 >= label.x1)
    places = (list(row), [x for x in after if label and x.overlaps(label)], after)
    lists = (list(takewhile(check, x)) for x in places for check in (partial(is_cited, front), _names_only))
    return next(filter(None, lists), [])


def _follows_list(above: Line, line: Line) -> bool:
    """Return whether a line like one name is an institution, because the list of names on the line above is complete."""
    parts, names = split_names(line.tokens), [x for x in split_names(above.tokens) if x not in DEGREES]
    is_name = (
        line.overlaps(above) and len(parts) == 1 and " " in parts[0] and parts[0].split()[0].lower() not in PARTICLES
    )
    is_complete = len(names) > 1 and parse_printed_name(names[-1]) is not None and above.text[-1].isalpha()
    return is_name and is_complete and bool(SEPARATOR.search(above.text)) and not SEPARATOR.match(line.text)


def _starts_with_mark(line: Line) -> bool:
    return line.tokens[0].font.raised or _KEYED.match(line.text) is not None


def _names_only(line: Line) -> bool:
    """Return whether all parts of a line are names."""
    return measure_names(line)[0] > _CERTAIN_SHARE


def measure_names(line: Line) -> tuple[float, int]:
    """Return the share of a line's parts that are names, and their number; 0 for a numbered head, or a sentence without capitals."""
    if _SECTION_NUMBER.match(line.text):
        return 0.0, 0
    if not line.text.isascii() and not SEPARATOR.search(line.text):
        caseless = sum(word[0].isalpha() and word[0].lower() == word[0].upper() for word in line.text.split())
        if caseless > _MAX_CASELESS_WORDS:
            return 0.0, 0
    parts = [x for x in split_names(line.tokens) if sum(map(str.isalpha, x)) > 2 and x not in DEGREES]
    names = [parse_printed_name(x.rstrip("-")) is not None or has_initials_last(x) for x in parts]
    count = len(parts) if are_inverted(parts) else sum(names)
    return count / max(len(parts), 1), count


def _select_below_title(front: Front, title: list[Line], abstract: list[Line], width: float) -> list[Line]:
    """Return the front's lines below the title and above the abstract that overlap the title horizontally, by rows.

    If the header CRF labels no names there, return the names that it labels in a column beside title and abstract. `width` is the
    page's width.
    """
    if not title:
        return []
    page, bottom = title[0].page, max(x.y1 for x in title)
    shown = [x for x in abstract if x.page == page]
    left, right = min(x.x0 for x in title), max(x.x1 for x in title)
    top = min((x.y0 for x in shown if x.x0 < right and left < x.x1), default=float("inf"))
    is_moved = left + right - width > _MAX_OFF_CENTER * width
    has_side_column = left > 0.2 * (right + left) and is_moved  # the imprint is a column on the left
    lines = [x for x in front.lines if x.page == page and x not in title and x.kind is not Kind.LABEL]
    lines = [x for x in lines if x.y0 > min(y.y0 for y in title) - 2]
    found = [x for x in lines if bottom - 2 < x.y0 < top - 2 and (x.x0 <= right or x.y0 >= bottom)]
    found = [x for x in found if not has_side_column or x.x1 > left]
    if shown and not any(measure_names(x)[1] > (front.label(x) is not FrontLabel.AUTHOR) for x in found):
        sides = min(x.x0 for x in shown), max(x.x1 for x in shown)
        blocks = {x.block for x in lines if front.label(x) is FrontLabel.AUTHOR}
        beside = [x for x in lines if x.block in blocks and (x.x1 < sides[0] or x.x0 > sides[1])]
        found = beside if any(measure_names(x)[1] for x in beside) else found
    elif shown:  # a column of authors goes on beside the abstract
        types = {get_names_type(x) for x in found if front.label(x) is FrontLabel.AUTHOR}
        later = [x for x in lines if x.y0 >= top - 2 and front.label(x) is FrontLabel.AUTHOR and measure_names(x)[1]]
        edge = min(x.x0 for x in shown)
        found += [x for x in later if x not in found and x.x1 < edge and get_names_type(x) in types]
    return _join_wrapped_names(sorted(found, key=_get_row), front)


def _join_wrapped_names(lines: list[Line], front: Front) -> list[Line]:
    """Return the lines after joining the surname on a second line of a column to the forename, beside another column."""
    types = {id(x): get_names_type(x) for x in lines}
    for above in [x for x in lines if x.text.count(" ") < 2]:
        alike = [x for x in lines if types[id(x)] == types[id(above)]]
        below = next((x for x in alike if x.continues(above, gap=0.6, size=0.3) and x.block == above.block), None)
        if below is None or (" " in above.text and " " in below.text):
            continue
        parts = split_names(tokens := _join_tokens(above, below))
        is_in_columns = any(abs(x.y0 - above.y0) < 3 and not x.overlaps(above) for x in alike)
        if is_in_columns and len(parts) == 1 and parse_printed_name(parts[0]) is not None:
            _replace(above, tokens, below, lines, front)
    while len(lines) > 1 and ";" in lines[0].text and types[id(lines[0])] == types[id(lines[1])]:
        tokens = _join_tokens(lines[0], lines[1])
        if affiliation_words(lines[1].text) or not is_inverted(split_names(tokens)):
            break
        _replace(lines[0], tokens, lines[1], lines, front)
    return lines


def _join_tokens(above: Line, below: Line) -> list[Token]:
    return [*above.tokens, replace(below.tokens[0], space=True), *below.tokens[1:]]


def _replace(above: Line, tokens: list[Token], below: Line, lines: list[Line], front: Front) -> None:
    """Give a line the tokens of two lines, and remove the second line."""
    above.tokens = tokens
    above.__post_init__()
    above.forget()
    lines.remove(below)
    front.lines.remove(below)


def _get_row(line: Line) -> tuple[int, int, float]:
    """Return a key that sorts lines by rows."""
    return line.page, round(line.y0 / 4), line.x0


def _list_other_people(lines: list[Line]) -> list[Line]:
    """Return the lines with people in another role, such as a jury.

    The role is printed before names, below one name, or left of or above names: it heads them up to the next label.
    """
    out: list[Line] = []
    headed: list[Line] = []
    roles = {id(x): role for x in lines if (role := ROLE.match(x.text))}
    lines = sorted(lines, key=_get_row) if roles else []
    for i, line in enumerate(lines):
        over = (x for x in reversed(lines[:i]) if x.page == line.page)
        above = next((x for x in over if x.overlaps(line) or (id(x) in roles and abs(x.y0 - line.y0) < 4)), None)
        role = roles.get(id(line))
        if role and role.end() < len(line.text.rstrip(" :.)")):
            out.append(line)
        elif role and above is not None and above not in out and measure_names(above)[1] and line.text[-1] != ":":
            below = next((x for x in lines[i + 1 :] if x.page == line.page and x.overlaps(line)), None)
            is_head = below is not None and measure_names(below)[1] and below.y0 - line.y1 < line.y0 - above.y1
            headed += [line] if is_head else [above, line]
        elif role or (above is not None and above in headed and line.text[-1] != ":"):
            is_other_type = (
                above is not None and line.font.family != above.font.family and line.y0 - above.y1 > line.size
            )
            headed += [line] if role or not is_other_type else []
    return out + headed


def _find_above(front: Front, title: list[Line]) -> list[Line]:
    """Return the lines of names above the title that the header CRF, the word `by` or another page confirms."""
    above = [x for x in front.lines if title and x.page == title[0].page and x.y1 < title[0].y0 + 2]
    for before, line in reversed(list(pairwise([*above[:1], *above]))):
        is_near = title[0].y0 - line.y1 < 2.5 * title[0].size and not _CODE.search(line.text)
        least = _MIN_AUTHOR_PROBABILITY if is_near else _MIN_NAME_SHARE
        is_repeated = sum(x.text == line.text for x in front.lines) > 1  # on the cover and on the title page
        is_confirmed = BY.fullmatch(before.text) or is_repeated or front.probability(line, FrontLabel.AUTHOR) > least
        if is_confirmed and measure_names(line)[0] > _CERTAIN_SHARE:
            return [x for x in above if x.block == line.block and x.font == line.font and _names_only(x)]
    return []


def find_labeled(front: Front) -> list[Line]:
    """Return the first lines that name people after a label, such as `Author(s):` on a cover."""
    start = next(
        (i for i, x in enumerate(front.lines) if LABEL.match(x.text) and measure_names(x)[0] > _CERTAIN_SHARE), -1
    )
    found = front.lines[start : start + 1] if start >= 0 else []
    while found and found[-1].text.endswith((",", ";", " and", "&")) and start + len(found) < len(front.lines):
        found.append(front.lines[start + len(found)])
    return found


def _find_elsewhere(front: Front, title: list[Line], others: set[int]) -> list[Line]:
    """Return the run of the header CRF's author lines that contains the most names, except people in other roles."""

    def get_run(line: Line) -> tuple[bool, int, int]:
        is_author = front.label(line) is FrontLabel.AUTHOR and line not in title and id(line) not in others
        return is_author, line.page, round(line.size)

    def score(run: list[Line]) -> float:
        return sum(share * count for share, count in map(measure_names, run))

    runs = [list(run) for (is_author, *_), run in groupby(front.lines, get_run) if is_author]
    best = max(runs, key=score, default=[])
    return best if score(best) > 0 else []
