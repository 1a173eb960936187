"""The rules of each kernel, a small class each: kernels take them as values, and `spec.py` composes them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

MIN_REASON = 10
"""characters of a written reason: for overriding a check, withdrawing a snapshot, or restoring it"""
Fraction = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]
NonNegative = Annotated[int, Field(ge=0)]
FullText = Literal["pdf", "latex", "jats", "elsevier"]


class Rules(BaseModel):
    """A section of a release spec: its fields are checked, and an unknown one is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)
