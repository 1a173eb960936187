"""Import libraries in Airflow's parent processes, so that their children do not import them again.

Every Airflow process with this folder on its PYTHONPATH loads this file when it starts. Only a dedicated cluster should have it
there, as the local services and `docker-compose.yaml` do. On a shared cluster the same tasks run without it.

Processes import libraries here, before they fork, if their children run tasks or read DAG files.

Without these imports, each task process would spend two to three seconds of CPU on importing pandas, Arrow, numba and boto3.
Our own modules would take half a second more, and AWS's descriptions a fifth of a second. Together, this is most of the cost of
a small task.

Our modules do not change under a running scheduler or worker: after a change of the package, `make up`, `demo` and `release`
restart the local one. Processes that read DAG files import only libraries.
"""

import contextlib
import gc
import importlib
import sys

# The objects that Airflow creates at its start (modules, models, the API's routes) remain in memory. By default, Python searches
# them for garbage after every 700 new objects. This search takes a fifth of the CPU time of the start.
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
    "s2corpus_datasets.spec",
    "s2corpus.extractors.grobid",
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
    # An exception here would end the scheduler. Each task reports errors in the package or in the AWS configuration in a sentence.
    with contextlib.suppress(Exception):
        from s2corpus.pipeline.run import load_stage
        from s2corpus.pipeline.stages import STAGE_NAMES
        from s2corpus.storage.s3_requests import load_s3_model
        from s2corpus.version import code_version

        for _name in STAGE_NAMES:
            load_stage(_name)
        load_s3_model()
        code_version()  # caches the version of the code imported here
    with contextlib.suppress(ImportError):
        # Otherwise numba imports and registers its functions at the first kernel of a process: 0.3 s for each task that runs a kernel.
        from numba.core.registry import cpu_target

        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()
