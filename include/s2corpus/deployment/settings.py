"""Load `airflow_settings.yaml` (Astro's file) into an Airflow other than Astro's: pools, connections and variables.

Astro's command line loads the file itself. This module uses Airflow's REST API. `python -m s2corpus.deployment.settings` loads the file
into any Airflow (for example, a compose setup), so that a pool's size is defined in only one place.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from s2corpus.deployment.http import AirflowClient
from s2corpus.errors import TransientError, UserError
from s2corpus.secret_files import read_secret

_FIELDS = {
    "pools": {"pool_name": "name", "pool_slot": "slots", "pool_description": "description"},
    "connections": {
        "conn_id": "connection_id", "conn_type": "conn_type", "conn_host": "host", "conn_schema": "schema", "conn_login": "login",
        "conn_password": "password", "conn_port": "port", "conn_extra": "extra",
    },
    "variables": {"variable_name": "key", "variable_value": "value"},
}  # fmt: skip
"""kind of entry → Astro's key → field of Airflow's REST API; the first key names the entry"""
Settings: TypeAlias = Mapping[str, list[dict[str, Any]]]
"""kind of entry → entries in the format of Airflow's REST API"""


def read_settings(path: Path) -> Settings:
    """Read Astro's file. Empty entries are skipped; Astro's template contains one of each kind.

    Raises:
        UserError: the file is missing or not YAML, a key is unknown, a name is missing, or a pool's size is not a number.
    """
    try:
        content = yaml.safe_load(path.read_text()) or {}
    except FileNotFoundError:
        raise UserError(f"{path} is missing: expected Astro's file of pools, connections and variables") from None
    except yaml.YAMLError as error:
        raise UserError(f"{path} is not YAML: {str(error).splitlines()[0]}") from None
    lists = content.get("airflow") if isinstance(content, dict) else None
    if not isinstance(lists, dict):
        raise UserError(f"{path} has no `airflow:` with `pools`, `connections` and `variables` under it")
    return {kind: list(_read_entries(path, lists.get(kind) or [], kind)) for kind in _FIELDS}


def _read_entries(path: Path, entries: Iterable[Any], kind: str) -> Iterator[dict[str, Any]]:
    fields = _FIELDS[kind]
    for entry in entries:
        if not isinstance(entry, dict):
            raise UserError(f"{path}: {kind} must be a list of mappings, found {entry!r}")
        if kind == "connections" and entry.get("conn_uri"):
            raise UserError(
                f"{path}: conn_uri of {entry.get('conn_id')}: give conn_type, conn_host and conn_port instead"
            )
        given = {key: value for key, value in entry.items() if value not in (None, "")}
        former = {"conn_uri"} if kind == "connections" else set()
        if unknown := sorted(entry.keys() - fields.keys() - former):
            raise UserError(f"{path}: unknown key {unknown[0]!r} in {kind}, allowed are {', '.join(fields)}")
        if not given.keys() - {"conn_extra"}:  # Astro's template contains an example in conn_extra.
            continue
        if (name := next(iter(fields))) not in given:
            raise UserError(f"{path}: an entry of {kind} has no {name}")
        if kind == "pools" and type(given.get("pool_slot")) is not int:
            raise UserError(
                f"{path}: pool_slot of {given[name]} must be a whole number, found {given.get('pool_slot')!r}"
            )
        given[name] = str(given[name])
        if isinstance(extra := given.get("conn_extra"), dict | list):
            given["conn_extra"] = json.dumps(extra)
        defaults: dict[str, Any] = {"conn_type": "generic"} if kind == "connections" else {}
        if kind == "variables":  # Airflow requires the value, which may be empty.
            defaults = {"value": entry.get("variable_value")}
        yield defaults | {fields[key]: value for key, value in given.items()}


def load_settings(settings: Settings, url: str, user: str, password: str) -> None:
    """Create or overwrite every entry in the Airflow at `url`. Entries that the file does not contain remain unchanged.

    Raises:
        UserError: Airflow rejects the user or a request. TransientError: Airflow does not respond or store the entries.
    """
    client = AirflowClient(url, user, password)
    for kind, entries in settings.items():
        if entries:
            action = {"action": "create", "action_on_existence": "overwrite", "entities": entries}
            result = client.call("PATCH", kind, {"actions": [action]})
            if errors := (result.get("create") or {}).get("errors"):
                raise TransientError(f"Airflow did not store the {kind} of the settings file: {str(errors)[:500]}")


def main() -> None:
    """Load a settings file: `AIRFLOW_URL=… AIRFLOW_USER=… AIRFLOW_PASSWORD=… python -m s2corpus.deployment.settings FILE`."""
    if len(sys.argv) != 2:
        sys.exit("usage: AIRFLOW_URL=… AIRFLOW_USER=… AIRFLOW_PASSWORD=… python -m s2corpus.deployment.settings FILE")
    try:
        url, user = os.environ["AIRFLOW_URL"], os.environ["AIRFLOW_USER"]
        password = read_secret("AIRFLOW_PASSWORD") or os.environ["AIRFLOW_PASSWORD"]
        load_settings(read_settings(Path(sys.argv[1])), url.rstrip("/"), user, password)
    except KeyError as error:
        sys.exit(f"{error.args[0]} is not set")
    except (UserError, TransientError, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
