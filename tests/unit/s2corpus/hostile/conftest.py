"""Fixtures of the tests with hostile input."""

from __future__ import annotations

from tests.unit.intake.conftest import run as run
