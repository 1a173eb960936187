"""Loaded by every Airflow process at its start: those whose children run tasks or read DAG files import libraries once, before they fork.

A task's process would else spend two to three seconds of CPU on importing pandas, Arrow, numba and boto3: most of what a small task
costs. Only libraries are loaded, never s2corpus itself, so that changed code takes effect with the next task.
"""

import contextlib
import importlib
import sys

_RUNS_TASKS = {"scheduler", "celery"}
_HEAVY = (
    "airflow.providers.standard.decorators.python",
    "airflow.providers.standard.decorators.sensor",
    "airflow.providers.standard.operators.hitl",
    "airflow.sdk.definitions.decorators",
    "alembic",
    "boto3",
    "botocore.session",
    "deflate",
    "duckdb",
    "email_validator",
    "fsspec.implementations.arrow",
    "gcld3",
    "jinja2",
    "langcodes",
    "lxml.etree",
    "numba",
    "orjson",
    "pandas",
    "pdfalto",
    "phonenumbers",
    "pyarrow.compute",
    "pyarrow.dataset",
    "pyarrow.fs",
    "pyarrow.parquet",
    "pydantic.main",
    "pypdf",
    "pypdfium2",
    "requests",
    "sqlalchemy.orm",
    "wordfreq",
)

_READS_DAGS = {"dag-processor"}
_FOR_DAGS = ("pydantic.main", "requests", "yaml")

if _READS_DAGS & set(sys.argv):
    for _name in _FOR_DAGS:
        with contextlib.suppress(ImportError):
            importlib.import_module(_name)
if _RUNS_TASKS & set(sys.argv):
    for _name in _HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(_name)
    with contextlib.suppress(ImportError):
        # What numba imports and lists at the first kernel of a process: 0.3 s of each task that runs one.
        from numba.core.registry import cpu_target

        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()
