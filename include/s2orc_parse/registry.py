"""Extensions: a tuple names the built-in modules of a package, and an entry-point group adds those of installed packages.

Sources, extractors, datasets, filters and cleaning rules use this convention: the group has the name of the package, such as
`s2corpus.sources`. Modules are imported on first use.
"""

from __future__ import annotations

import importlib
import sys
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any, Generic, TypeVar, cast

from s2orc_parse.errors import UserError

T = TypeVar("T")


class Registry(Generic[T]):
    """The extensions of one kind. An extension is a module, or the object with the name `attribute` in it."""

    def __init__(self, package: str, kind: str, built_in: tuple[str, ...], attribute: str = "") -> None:
        """`package` is the package of the built-in modules and the entry-point group; `kind` is the kind in words."""
        self.kind, self.built_in, self._package, self._attribute = kind, built_in, package, attribute
        self._loaded: dict[str, T] = {}

    @property
    def _plugins(self) -> dict[str, EntryPoint]:
        return _find_plugins(self._package, tuple(sys.path))

    @property
    def names(self) -> list[str]:
        """The sorted names of all installed extensions."""
        return sorted({*self.built_in, *self._plugins})

    def load(self, name: str) -> T:
        """Return the extension with this name.

        Raises:
            UserError: no extension has this name; the message lists the available names.
        """
        if name not in self._loaded:
            self._loaded[name] = self._import(name)
        return self._loaded[name]

    def _import(self, name: str) -> T:
        if name in self.built_in:
            found: Any = importlib.import_module(f"{self._package}.{name}")
        elif name in self._plugins:
            found = self._plugins[name].load()
        else:
            expected = f"expected one of {', '.join(self.names)}" if self.names else f"no {self.kind} is installed"
            raise UserError(f"no {self.kind} is called {name!r}: {expected}")
        if self._attribute and isinstance(found, ModuleType):
            found = getattr(found, self._attribute)
        return cast(T, found)


@lru_cache(maxsize=64)
def _find_plugins(group: str, path: tuple[str, ...]) -> dict[str, EntryPoint]:
    """Return the entry points of the packages on a path by name. Reading the metadata of all packages takes a tenth of a second."""
    return {point.name: point for point in entry_points(group=group)}
