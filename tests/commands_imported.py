"""Imports every command: `tests.children` forks from a process that has imported this module."""

from devtools.cli import tools
from s2corpus.cli import corpus

for group in (corpus, tools):
    for name in group.list_commands(None):
        group.get_command(None, name)
