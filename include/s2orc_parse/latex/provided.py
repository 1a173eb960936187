"""Macros of common packages and styles that pandoc does not know. Definitions of the paper have priority."""

from __future__ import annotations

from s2orc_parse.latex.macros import Definition, find_definitions
from s2orc_parse.latex.marks import BLOCK, END, FIELD, VALUE, XSPACE
from s2orc_parse.words import read_table

_TABLE = read_table("latex/words")
IN_TEXT = (
    *find_definitions(_TABLE["provided"]["text"].replace("XSPACE", XSPACE)),
    *(
        Definition(name, f"\\providecommand{{\\{name}}}{{{text.replace('&', chr(92) + '&')}}}", 0, 0)
        for name, text in _TABLE["journals"].items()
    ),
)
"""definitions for the text and the bibliography"""
IN_ENTRIES: str = _TABLE["provided"]["entries"].replace("FIELD ", FIELD)
for _name, _mark in (("FIELD", FIELD), ("VALUE", VALUE), ("END", END), ("BLOCK", BLOCK)):
    IN_ENTRIES = IN_ENTRIES.replace(_name, _mark)
"""definitions for the bibliography only: they mark the fields of its entries"""
