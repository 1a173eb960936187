"""A direct implementation of the cleaning rules, without shortcuts: every value of every paragraph, one call each.

The fast rules must give the same results.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from typing import Any

import gcld3
from blingfire import text_to_words

_CLD3 = gcld3.NNetLanguageIdentifier(0, 1000)


class Perplexity:
    """Log probability of a text, from a word list given as word → count."""

    def __init__(self, counts: dict[str, int]) -> None:
        total = sum(counts.values())
        self.shares = {word: math.log2(count / total) for word, count in counts.items()}
        self.unknown = math.log2((math.sqrt(len(counts)) + 1) / total)

    def __call__(self, text: str) -> float:
        words = text_to_words(text).split()
        return sum(self.shares.get(word.lower(), self.unknown) for word in words) / len(words) if words else 0.0


def language(text: str) -> str:
    text = text.strip()[:2000]
    return _CLD3.FindLanguage(text).language if text else "unk"


def year_of(document: dict[str, Any]) -> int | None:
    return int(document["date"][:4]) if document.get("date") else None


# --- the card


def card(document: dict[str, Any], perplexity: Perplexity) -> tuple[str, str | None]:
    """Return (outcome, text) of a full text by the card; body units must contain no formulas."""
    title, abstract, year = document["title"], document["abstract"], year_of(document)
    if not (title or "").strip():
        return "no_title", None
    if not (abstract or "").strip():
        return "no_abstract", None
    sections = sections_of(document["body"])
    paragraphs = [paragraph for _, lines in sections for paragraph in lines]
    votes = Counter(language(p) for p in paragraphs if sum(map(str.isalpha, p)) >= 10)
    winners = [code for code, count in votes.items() if count == max(votes.values())]
    if winners != ["en"]:
        return "not_english", None
    if sum(len((header or "").split()) + sum(len(p.split()) for p in lines) for header, lines in sections) < 500:
        return "short", None
    if year is None:
        return "no_year", None
    if year <= 1969:
        return "before_min_year", None
    kept = [
        (header, lines)
        for header, lines in sections
        if not lines or perplexity("\n".join(([header] if header else []) + lines)) >= -20
    ]
    if sum(len(lines) for _, lines in kept) < 5:
        return "few_paragraphs", None
    words = [w for header, lines in kept for line in ([header] if header else []) + lines for w in line.split()]
    top, count = Counter(words).most_common(1)[0]
    if not top.isalpha() or count / len(words) >= 0.075:
        return "bad_top_word", None
    blocks = ["\n".join(([header] if header else []) + lines) for header, lines in kept]
    return "kept", "\n\n".join(
        [one_line(title), "\n".join(filter(None, map(one_line, abstract.splitlines()))), *blocks]
    )


def one_line(text: str) -> str:
    return re.sub(r"\s+", " ", unicodedata.normalize("NFC", text)).strip()


def sections_of(body: list[dict[str, Any]]) -> list[tuple[str | None, list[str]]]:
    sections: list[tuple[str | None, list[str]]] = []
    before: list[str] | None = None
    for unit in body:
        path = [one_line(head) for head in (unit["section"] or "").split("::") if head.strip()]
        if path != before:
            shared = 0
            while before and shared < min(len(before), len(path)) and before[shared] == path[shared]:
                shared += 1
            new = path[shared:] or path[-1:]
            sections += [(head, []) for head in new] or [(None, [])]
            before = path
        sections[-1][1].append(one_line(unit["text"]))
    return sections


# --- the published recipe


def recipe(document: dict[str, Any], perplexity: Perplexity) -> tuple[bool, str | None]:
    """Return (kept, text) of a full text by the annex on the published recipe."""
    paragraphs = merged(document["body"])
    values = {
        "paragraphs": paragraphs,
        "languages": [language(paragraph) for paragraph in paragraphs],
        "means": [perplexity(paragraph) for paragraph in paragraphs],
        "count": sum(len(paragraph.split()) for paragraph in paragraphs),
        "top": Counter(word for paragraph in paragraphs for word in paragraph.split()).most_common(100),
    }
    return recipe_decision({**document, **values})


def recipe_decision(row: dict[str, Any]) -> tuple[bool, str | None]:
    """Return (kept, text) from computed values."""
    votes = Counter(row["languages"])
    likely = [p for p, mean in zip(row["paragraphs"], row["means"], strict=True) if mean >= -20]
    year = year_of(row)
    kept = (
        row["title"] is not None
        and row["abstract"] is not None
        and year is not None
        and year >= 1970
        and 500 < row["count"] < 50_000
        and min(votes, key=lambda code: (-votes[code], code)) == "en"
        and re.match(r"^[A-Za-z][a-z]+$", row["top"][0][0]) is not None
        and len(likely) >= 5
    )
    if not kept:
        return False, None
    title, abstract = (unicodedata.normalize("NFC", row[key]) for key in ("title", "abstract"))
    return True, f"{title}\n\n{abstract}\n\n" + "\n".join(likely)


def merged(body: list[dict[str, Any]]) -> list[str]:
    paragraphs: list[str] = []
    header = None
    section = None
    for unit in body:
        if unit["section"] is not None and (unit["section"] != section or unit["text"] is None):
            header = unicodedata.normalize("NFC", unit["section"].split("::")[-1].strip())
        section = unit["section"]
        if unit["text"] is None:
            continue
        text = unicodedata.normalize("NFC", unit["text"].strip())
        if header is not None:
            paragraphs.append(f"\n{header}\n{text}")
            header = None
        elif paragraphs and (
            " " not in text
            or not paragraphs[-1].rstrip()
            or paragraphs[-1].rstrip()[-1] not in ".?!"
            or spans_a_parenthesis(paragraphs[-1], text)
        ):
            paragraphs[-1] = paragraphs[-1].rstrip() + " " + text
        else:
            paragraphs.append(text)
    return paragraphs


def spans_a_parenthesis(before: str, after: str) -> bool:
    opens_before = re.search(r"\([^)]*$", before) is not None
    closes_after = re.search(r"\)[^(]*$", after) is not None
    return opens_before and closes_after
