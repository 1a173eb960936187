"""Shows release specs that are wrong as Airflow's import error of this file: their DAGs are not there, all others are.

It holds no DAG. While a spec is wrong, drops and deliveries that no other spec takes wait.
"""

from __future__ import annotations

from s2corpus.errors import UserError
from s2corpus.spec import read_specs, releases_folder

_, _wrong = read_specs(releases_folder())
if _wrong:
    raise UserError("\n".join(_wrong))
