"""The published snapshot of the unit tests, for the tests that read files."""

from tests.unit.conftest import published as published
