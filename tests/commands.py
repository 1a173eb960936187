"""Run the command `corpus` in the process of a test."""

from click.testing import CliRunner, Result

from s2corpus.cli import corpus


def invoke(*words: object, catch: bool = True) -> Result:
    """Return the result of `corpus <words>`, which may contain an exception; raise the exception instead if `catch` is false."""
    return CliRunner().invoke(corpus, list(map(str, words)), catch_exceptions=catch)
