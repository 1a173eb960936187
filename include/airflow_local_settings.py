"""Loaded by every Airflow process at its start: those whose children run tasks import the heavy libraries once, before they fork.

A task's process would else spend two to three seconds of CPU on importing pandas, Arrow, numba and boto3: most of what a small task
costs. Only libraries are loaded, never s2corpus itself, so that changed code takes effect with the next task.
"""

import contextlib
import importlib
import sys

_RUNS_TASKS = {"scheduler", "celery"}
_HEAVY = (
    "alembic",
    "boto3",
    "botocore.session",
    "duckdb",
    "email_validator",
    "gcld3",
    "langcodes",
    "lxml.etree",
    "numba",
    "orjson",
    "pandas",
    "phonenumbers",
    "pyarrow.compute",
    "pyarrow.dataset",
    "pyarrow.fs",
    "pyarrow.parquet",
    "pypdf",
    "requests",
    "sqlalchemy.orm",
    "wordfreq",
)

if _RUNS_TASKS & set(sys.argv):
    for _name in _HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(_name)
    with contextlib.suppress(ImportError):
        # What numba imports and lists at the first kernel of a process: 0.3 s of each task that runs one.
        from numba.core.registry import cpu_target

        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()
