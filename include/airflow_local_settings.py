"""Loaded by every Airflow process at its start: those whose children run tasks or read DAG files import once, before they fork.

A task's process would else spend two to three seconds of CPU on importing pandas, Arrow, numba and boto3, half a second on our own
modules and a fifth on AWS' descriptions: most of what a small task costs. Our modules do not change under a running scheduler or worker:
after a change of the package `make up`, `demo` and `release` restart the local one. Readers of DAG files import libraries only.
"""

import contextlib
import gc
import importlib
import sys

# What a process of Airflow makes at its start (modules, models, the API's routes) stays, but Python looks for garbage in it after each
# 700 objects: a fifth of the processor that the start takes.
gc.set_threshold(50_000, 20, 50)

_RUNS_TASKS = {"scheduler", "celery"}
_HEAVY = (
    "airflow.dag_processing.bundles.local",
    "airflow.providers.amazon.aws.assets.s3",
    "airflow.providers.common.io.assets.file",
    "airflow.providers.standard.decorators.python",
    "airflow.providers.standard.decorators.sensor",
    "airflow.providers.standard.operators.hitl",
    "airflow.sdk.definitions.asset.metadata",
    "airflow.sdk.definitions.decorators",
    "airflow.sdk.definitions.decorators.task_group",
    "airflow.sdk.definitions.retry_policy",
    "airflow.sdk.execution_time.timeout",
    "alembic",
    "boto3.s3.inject",
    "boto3.s3.transfer",
    "botocore.session",
    "deflate",
    "duckdb",
    "email_validator",
    "fsspec.implementations.arrow",
    "gcld3",
    "jinja2.ext",
    "langcodes",
    "lxml.etree",
    "numba",
    "orjson",
    "pandas",
    "pdfalto",
    "phonenumbers",
    "pyarrow.acero",
    "pyarrow.compute",
    "pyarrow.dataset",
    "pyarrow.fs",
    "pyarrow.parquet",
    "pydantic.main",
    "pypdf",
    "pypdfium2",
    "requests",
    "slugify",
    "sqlalchemy.orm",
    "wordfreq",
)
_OURS = (
    "s2corpus.datasets.spec",
    "s2corpus.extractors.grobid",
    "s2corpus.pipeline.alerts",
    "s2corpus.pipeline.runner",
    "s2corpus.storage.local_lake",
)

_READS_DAGS = {"dag-processor"}
_FOR_DAGS = ("pydantic.main", "requests", "yaml")

if _READS_DAGS & set(sys.argv):
    for _name in _FOR_DAGS:
        with contextlib.suppress(ImportError):
            importlib.import_module(_name)
if _RUNS_TASKS & set(sys.argv):
    for _name in _HEAVY + _OURS:
        with contextlib.suppress(ImportError):
            importlib.import_module(_name)
    # What is wrong with the package or with AWS' configuration each task says in a sentence; here it would end the scheduler.
    with contextlib.suppress(Exception):
        from s2corpus.pipeline.stages import STAGE_NAMES, load_stage
        from s2corpus.storage.s3_lake import descriptions
        from s2corpus.version import code_version

        for _name in STAGE_NAMES:
            load_stage(_name)
        descriptions()
        code_version()  # of what was imported here
    with contextlib.suppress(ImportError):
        # What numba imports and lists at the first kernel of a process: 0.3 s of each task that runs one.
        from numba.core.registry import cpu_target

        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()
