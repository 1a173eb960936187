"""All tables between stages, by area; `schema` has the rules by which row classes become tables.

The package defines all tables on import, so `schema.TABLES` is complete.
"""

from s2corpus.tables import intake, papers, parses, texts

__all__ = ["intake", "papers", "parses", "texts"]
