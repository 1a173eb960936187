"""Airflow imports this in each of its processes; one that forks others imports here, once, what each of them would import again.

A task of the local executor or of a Celery worker, and each reading of a DAG file, is a process that is forked and ends. In a small
release imports are a third of a task's time. Changed sources need a restart: `corpus up`, `demo` and `release` see to it.
"""

from __future__ import annotations

import importlib
import sys

_MODULES = (
    # what Airflow imports only where it uses it, in each task of a release
    "airflow.dag_processing.bundles.local",
    "airflow.providers.amazon.aws.assets.s3",
    "airflow.providers.common.io.assets.file",
    "airflow.providers.standard.decorators.python",
    "airflow.providers.standard.decorators.sensor",
    "airflow.providers.standard.operators.hitl",
    "airflow.sdk.definitions.asset.metadata",
    "airflow.sdk.definitions.decorators.task_group",
    "airflow.sdk.definitions.retry_policy",
    "airflow.sdk.execution_time.timeout",
    "jinja2.ext",
    "slugify",
    # and what we do
    "boto3.s3.inject",
    "boto3.s3.transfer",
    "pyarrow.acero",
    "s2corpus.datasets.spec",
    "s2corpus.extractors.grobid",
    "s2corpus.pipeline.alerts",
    "s2corpus.pipeline.runner",
    "s2corpus.storage.local_lake",
)

__all__: list[str] = []  # Airflow takes every other name as a setting of its own

if {"scheduler", "celery", "dag-processor"} & set(sys.argv[1:2]):
    from s2corpus.pipeline.registry import STAGES, stage
    from s2corpus.storage.s3_lake import descriptions
    from s2corpus.version import code_version

    for _name in _MODULES:
        importlib.import_module(_name)
    for _name in STAGES:
        stage(_name)
    descriptions()
    code_version()  # of what was imported
