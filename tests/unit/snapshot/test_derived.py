"""Derived files."""


def test_nothing() -> None:
    pass
