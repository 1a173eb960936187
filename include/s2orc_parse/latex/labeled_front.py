"""Settle the front matter of a converted document: an abstract and keywords that only a label or a header marks."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import takewhile

from s2orc_parse.latex.document import Block, Head, Inline, Inlines, LatexDocument, MarkedText, Math, Para, walk

_LABEL = re.compile(
    r"\W*(?:(abstract|summary|résumé|zusammenfassung|resumen|resumo|riassunto|sommario)"
    r"|(key\s*-?\s*words?(?:\s+and\s+phrases)?|index\s+terms|mots[- ]clés|palabras\s+clave|palavras[- ]chave|parole\s+chiave"
    r"|schl(?:agw|üsselw)örter))\b(?:\s*[:.—–-]+\s*|\s*(?-i:(?![\sa-zà-ÿ])))",
    re.IGNORECASE,
)
"""a label of front matter, but not the first word of a sentence: Abstract interpretation is a theory"""
_SENTENCE_END = re.compile(r"[.?!:;,。！？…][\s\"'”’»)\]*†‡]*\Z")


def settle_front_matter(document: LatexDocument) -> None:
    """Move an abstract and keywords that only a label or a header marks, and remove text other than prose before the first section.

    Without sections, all text is body.
    """
    first = next((i for i, block in enumerate(document.blocks) if isinstance(block, Head)), None)
    if first is None:
        return
    heads = [(i, block) for i, block in enumerate(document.blocks) if isinstance(block, Head)]
    opening = [*takewhile(lambda head: not head[1].numbered, heads), *heads[:1]]
    named = [(i, head) for i, head in opening if (label := _LABEL.fullmatch(_to_words(head.content))) and label[1]]
    if not document.abstract and named:
        begin, head = named[0]
        end = next((i for i, _ in heads if i > begin), None)
        if end is not None:
            moved = document.blocks[begin + 1 : end]
            document.blocks[begin:end] = [replace(head, content=())]  # its number counts
            document.blocks[first:first] = [Para(head.content), *moved]
            first += 1 + len(moved)
    kept: list[Block] = []
    has_begun = in_abstract = False
    for block in document.blocks[:first]:
        if not isinstance(block, Para):
            kept.append(block)
            continue
        text = _to_words(block.content)
        label = _LABEL.match(text)
        rest = text[label.end() :] if label else text
        if label and label[2]:
            document.keywords += split_keywords(rest)
            in_abstract = False
        elif not document.abstract and label and label[1] and (not rest or is_prose(block, rest)):
            in_abstract = True
            document.abstract += [_cut(block, label.end())] if rest else []
        elif in_abstract and is_prose(block, text):
            document.abstract.append(block)
        elif has_begun or is_prose(block, text):
            kept.append(block)
            has_begun, in_abstract = True, False
    document.blocks[:first] = kept


def is_prose(paragraph: Para, text: str) -> bool:
    """Return whether a paragraph is sentences, not an address, a date, a list of words or a running head.

    It ends as a sentence or with a formula, and no more than half of its words after the first are capitalized or numbers.
    """
    if any(isinstance(inline, Math) and inline.display for inline in walk(paragraph.content)):
        return True
    words = text.split()[1:]
    named = sum(word[:1].isupper() or word[:1].isdigit() or "@" in word for word in words)
    return bool(text) and _SENTENCE_END.search(text) is not None and 2 * named <= len(words)


def split_keywords(text: str) -> list[str]:
    """Return the keywords of a list with semicolons, bullets, dashes or commas between them."""
    label = _LABEL.match(text)
    text = text[label.end() :] if label and label[2] else text
    for separator in (r"[;•∙⋅·|]", r"\s[–—-]{1,3}\s", r","):
        if len(found := [word for part in re.split(separator, text) if (word := part.strip(" .:;,–—"))]) > 1:
            return found
    return found


def _to_words(content: Inlines) -> str:
    return " ".join("".join(inline if isinstance(inline, str) else "" for inline in walk(content)).split())


def _cut(paragraph: Para, length: int) -> Para:
    """Return a paragraph without the label at its start, of `length` characters, in any markup."""
    rest: list[Inline] = []
    for inline in paragraph.content:
        text = _to_words((inline,)) if isinstance(inline, str | MarkedText) else ""
        if length > 0 and text:
            rest += [text[length:]] if len(text) > length else []
            length -= len(text) + 1
        else:
            rest.append(inline)
    return replace(paragraph, content=tuple(rest))
