"""Define the parameters of the stages, one class per stage. `spec.py` combines them; functions receive them as arguments."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

MIN_REASON = 10
"""Minimum characters of a reason for overriding a check, or withdrawing or restoring a snapshot."""
Fraction = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]
NonNegative = Annotated[int, Field(ge=0)]
FullText = Literal["pdf", "latex", "jats", "elsevier"]


class Rules(BaseModel):
    """Base class of the sections of a release spec. Fields are validated; an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)
