"""An author of a paper or of a bibliography entry."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

MAX_ENTRY_BYTES = 16 << 20  # maximum size of one entry; the largest real Crossref works and JATS articles are smaller


@dataclass(frozen=True, slots=True)
class Affiliation:
    """An author's institution as printed, and its identifier in the Research Organization Registry."""

    name: str
    ror: str | None = None  # "02jx3x895"


@dataclass(frozen=True, slots=True)
class Author:
    """One author. Authors are compared by name only."""

    first: str
    middle: tuple[str, ...]
    last: str
    suffix: str
    affiliations: tuple[Affiliation, ...] = field(default=(), compare=False)
    orcid: str | None = field(default=None, compare=False)  # "0000-0002-1825-0097"

    def name(self) -> dict[str, Any]:
        """Return the name in the form of S2ORC's release."""
        return {"first": self.first, "middle": list(self.middle), "last": self.last, "suffix": self.suffix}

    def as_dict(self) -> dict[str, Any]:
        """Return the author in the form of tables and parses."""
        affiliations = [{"name": a.name, "ror": a.ror} for a in self.affiliations]
        return {**self.name(), "affiliations": affiliations, "orcid": self.orcid}
