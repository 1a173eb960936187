"""Define private-use characters that carry LaTeX constructs through pandoc. Sources do not contain these characters."""

OPEN, CLOSE = "\ue000", "\ue001"  # around a mark: a letter and a number
# C caption, R row, B entry, L label, T title, N author or footnote number, S abstract, K keywords, E end of S or K, A appendix,
# I item, U subequations, Z end of the body
CELL, BLOCK = "\ue002", "\ue003"
FIELD, VALUE, END = "\ue004", "\ue005", "\ue006"  # a field of a bibliography entry: its name, its value
EMPH, EMPH_END = "\ue007", "\ue008"  # around emphasized text of a bibliography entry
CITE, KEYS, PART = "\ue00a", "\ue00b", "\ue00c"  # a citation as a link: see citations.py
REF = "\ue00d"  # a reference as a link: see rewriting.py
NOTE, NOTE_END = "\ue00e", "\ue00f"  # around the note of a theorem
XSPACE = "\ue009"  # \xspace: a space if the following text needs one
