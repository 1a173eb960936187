"""Fixtures of the tests with hostile input."""

from __future__ import annotations

from tests.unit.s2corpus.deliveries.conftest import run as run
