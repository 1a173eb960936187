"""Imports all modules that commands import: `tests.children` forks from a process that has imported this module."""

import importlib
import pkgutil
from contextlib import suppress

import devtools.local
import s2corpus

for package in (s2corpus, devtools.local):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.endswith("__main__"):
            with suppress(ImportError):  # A module of an extra that is not installed.
                importlib.import_module(module.name)
