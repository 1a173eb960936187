"""Shows specs of releases and datasets that are wrong as Airflow's import error of this file: their DAGs are not there, all others are.

It holds no DAG. While a spec is wrong, drops and deliveries that no other spec takes wait.
"""

from __future__ import annotations

from s2corpus.datasets.spec import datasets_folder, read_dataset_specs
from s2corpus.errors import UserError
from s2corpus.spec import read_specs, releases_folder

_, _wrong = read_specs(releases_folder())
_wrong += read_dataset_specs(datasets_folder(), check_params=False)[1]
if _wrong:
    raise UserError("\n".join(_wrong))
