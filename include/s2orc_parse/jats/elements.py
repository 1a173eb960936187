"""The effect of each JATS element on the surrounding text. Unlisted elements are inline."""

from __future__ import annotations

from s2orc_parse.jats.read import MATHML

BREAK = "begins and ends a paragraph"
ITEM = "begins and ends a paragraph, which its label or term begins"
DIVIDE = "has paragraphs, and may have a header"
TITLE = "a header, read with the element that it belongs to"
CALLOUT = "refers to something"
DISPLAYED = "leaves a token"
INLINE = "an inline formula"
FLOAT = "has content outside the running text"
NOTE = "is read separately"
SPACE = "separates words"
LEAVE = "is read elsewhere, or not at all"

DOES: dict[object, str] = {
    **dict.fromkeys(
        (
            "p", "list", "disp-quote", "def-list", "def", "verse-group", "verse-line", "speech", "attrib", "preformat",
            "question-wrap", "answer", "explanation", "disp-formula-group", "verse", "speaker", "textual-form",
        ),
        BREAK,
    ),
    **dict.fromkeys(("list-item", "def-item", "statement"), ITEM),
    **dict.fromkeys(
        ("sec", "boxed-text", "app", "app-group", "ack", "notes", "glossary", "bio", "body", "back", "fn-group", "abstract"),
        DIVIDE,
    ),
    **dict.fromkeys(("title", "subtitle", "label", "term-head", "def-head"), TITLE),
    "xref": CALLOUT,
    "disp-formula": DISPLAYED,
    **dict.fromkeys(("inline-formula", f"{MATHML}math", "tex-math"), INLINE),
    **dict.fromkeys(("fig", "fig-group", "table-wrap", "table-wrap-group", "table", "array", "media", "supplementary-material"), FLOAT),
    "fn": NOTE,
    **dict.fromkeys(("break", "td", "th", "tr", "row", "entry"), SPACE),
    **dict.fromkeys(
        (
            "ref-list", "graphic", "inline-graphic", "object-id", "alt-text", "long-desc", "permissions",
            "sec-meta", "index-term", "chem-struct-wrap", "colspec", "spanspec",
            "related-article", "processing-meta", "kwd-group", "floats-group",
            "sub-article", "response", "inline-media",
        ),
        LEAVE,
    ),
}  # fmt: skip
