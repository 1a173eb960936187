"""Vary titles and journals beyond the lists: short, upper-case, with dates and signs inside, and unlisted journals."""

from __future__ import annotations

import random
import re

from .render import ordinal
from .words import WORDS


def titled(text: str) -> str:
    """Return the text in title case."""
    words = text.split(" ")
    return " ".join(
        w if (i and w.lower() in WORDS["small_words"]) or not w[:1].islower() else w[0].upper() + w[1:]
        for i, w in enumerate(words)
    )


def journal(listed: list[str], rng: random.Random) -> str:
    """Return a journal: from the lists, or made from a subject; sometimes abbreviated, rarely in capitals."""
    if rng.random() < 0.55 and listed:
        return rng.choice(listed)
    a, b = rng.sample(WORDS["disciplines"], 2)
    name = rng.choice(WORDS["journal_frames"]).format(a=a, b=b, p=rng.choice(WORDS["regions"]), l=rng.choice("ABCDE"))
    roll = rng.random()
    if roll < 0.25:  # abbreviated, with or without periods
        stop = rng.choice([".", ""])
        large = (w for w in name.split() if w.lower() not in WORDS["small_words"])
        return " ".join(w if len(w) < 5 else w[: rng.randint(3, 5)] + stop for w in large)
    return name.upper() if roll < 0.3 else name


def meeting(year: int, rng: random.Random) -> str:
    """Return the name of proceedings."""
    a, b = rng.sample(WORDS["disciplines"], 2)
    nth = ordinal(rng.randint(1, 60))
    letters = "".join(rng.choice("ABCDEFGILMNOPRSTV") for _ in range(rng.randint(3, 6)))
    return rng.choice(WORDS["meetings"]).format(
        a=a, b=b, p=rng.choice(WORDS["regions"]), y=year, yy=f"{year % 100:02d}", n=nth, num=rng.randint(1, 40), c=letters,
        o=rng.choice(WORDS["meeting_kinds"]),
    )  # fmt: skip


def title(text: str, another: str, rng: random.Random) -> str:
    """Return a title unchanged, or in one of the forms that are easily mistaken for something else."""
    roll = rng.random()
    if roll < 0.18:  # a short title
        words = re.findall(r"[^\W\d_][\w'-]+", text)
        text = " ".join(words[: rng.randint(1, 3)]) or text
        return rng.choice([text, titled(text), rng.choice(WORDS["disciplines"]), rng.choice(["The ", "A ", ""]) + text])
    if roll < 0.205:
        return f"{text}. {another}"
    if roll < 0.23:
        return f"{text}: {another}"
    if roll < 0.27:
        place, number = rng.choice(WORDS["places"]), rng.randint(2, 40)
        year = rng.randint(1780, 2015)
        more = [
            f" ({another.split(' ')[0]})", f", {year}", f", {year}–{year + number}", f" in {place}", f": the {year} survey",
            f" ({year}-{year + 4})", ". Part II", f" {number}", " I.", f". {number}. {another}", f" (n = {number})",
            f", {number} January {year}",
            " and Co. Ltd.", " et al.",
        ]  # fmt: skip
        text += rng.choice(more)
    elif roll < 0.30:
        text += rng.choice(["?", "!", "...", "? " + another, "! " + another])
    elif roll < 0.325:
        kind = rng.choice(["Chapter", "Section", "Part", "Lecture", "Table", "Case"])
        text = f"{kind} {rng.randint(1, 30)}{rng.choice(['.', ':', ' -'])} {text}"
    elif roll < 0.355:
        text = f"{rng.choice(['1996', '13th', 'The 9th', '3D', '2,4', 'Book Review:', 'Abstract 212:', 'Comment on'])} {text}"
    elif roll < 0.38:  # a review, with the book's imprint
        publisher, _, place = rng.choice(WORDS["publishers"]).partition("|")
        who = f"{rng.choice('ABCDEGHJKLMRST')}. {rng.choice('ABCDEFGHJLMPRSTW')}. {rng.choice(WORDS['surnames'])}"
        pages = rng.randint(90, 600)
        year = rng.randint(1930, 2012)
        text = titled(text) + rng.choice([
            f". By {who}. {place}: {publisher}, {year}. Pp. {pages}. ${rng.randint(5, 90)}.{rng.choice(['00', '50', '95'])}",
            f". {who}", f" by {who}", f". By {who}. ({place}: {publisher}, {year}. xii + {pages} pp. £{rng.randint(5, 60)})",
            f". Edited by {who}. Pp. xvi, {pages}. {place}: {publisher}, {year}",
        ])  # fmt: skip
    roll = rng.random()
    return text.upper() if roll < 0.05 else titled(text) if roll < 0.4 else text
