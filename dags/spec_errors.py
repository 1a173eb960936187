"""Show invalid specs of releases and datasets as Airflow's import error of this file. Only the DAGs of these specs are missing.

The file contains no DAG. While a spec is invalid, drops and deliveries that no other spec uses remain waiting.
"""

from __future__ import annotations

from s2corpus.errors import UserError
from s2corpus.spec_files import datasets_folder, read_specs, releases_folder
from s2corpus_datasets.spec import read_dataset_specs

_, _errors = read_specs(releases_folder())
_errors += read_dataset_specs(datasets_folder(), check_params=False)[1]
if _errors:
    raise UserError("\n".join(_errors))
