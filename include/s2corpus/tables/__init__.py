"""All tables between stages, by area; `schema` has the rules by which row classes become tables."""

from s2corpus.tables.columns import *
from s2corpus.tables.intake import *
from s2corpus.tables.papers import *
from s2corpus.tables.parses import *
from s2corpus.tables.schema import *
from s2corpus.tables.texts import *
