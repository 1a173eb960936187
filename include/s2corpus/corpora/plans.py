"""The form of an action on a lake: its fields, its plan with the cost, and its execution."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from s2corpus.storage.lake import Lake

Values = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Plan:
    """What an action would do."""

    effects: tuple[str, ...]
    """one sentence each"""
    cost: str
    corpora: frozenset[str]
    """corpora that it changes"""
    needs_approver: bool = False
    """whether only a person who may approve the releases of these corpora may do it"""

    @property
    def token(self) -> str:
        """A hash of the plan, which a confirmation repeats."""
        return hashlib.sha256("\n".join((*self.effects, self.cost)).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Action:
    """One kind of action. `fields` are its parameters: name → label."""

    name: str
    label: str
    fields: Mapping[str, str]
    plan: Callable[[Lake, Values], Plan]
    apply: Callable[[Lake, Values, str], str]
    """does it in the name of a person, and returns a sentence about the result"""
    prove: Callable[[Lake, Values], dict[str, str]] | None = None
    """returns corpus → sentence: whether its latest snapshot shows the result"""


REASON = {"reason": "Reason, ten characters or more"}
PAPER = {"paper": "DOI, title, id of the paper, or SHA-1 of its file"}
