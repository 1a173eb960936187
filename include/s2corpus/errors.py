"""The errors that a user or an operator reads."""

from s2orc_parse.errors import TransientError, UserError

__all__ = ["LostRace", "QualityBlocked", "TransientError", "UserError"]


class LostRace(TransientError):
    """Another process wrote the same object first: retry the step immediately."""


class QualityBlocked(UserError):
    """A blocking check failed: the release stops before the next stage, or the dataset is not published."""
