"""Load `airflow_settings.yaml` (Astro's file) into an Airflow other than Astro's: pools, connections and variables.

Astro's command line loads the file itself. This module uses Airflow's REST API. `python -m s2corpus.deployment.settings` loads the file
into any Airflow (for example, a compose setup), so that a pool's size is defined in only one place.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from s2corpus.deployment.airflow_client import AirflowClient
from s2corpus.errors import TransientError, UserError

_KEYS = {
    "pools": ("pool_name", "pool_slot", "pool_description"),
    "variables": ("variable_name", "variable_value"),
    "connections": (
        "conn_id",
        "conn_type",
        "conn_host",
        "conn_schema",
        "conn_login",
        "conn_password",
        "conn_port",
        "conn_uri",
        "conn_extra",
    ),
}


@dataclass(frozen=True)
class Settings:
    """The three lists in the format of Airflow's REST API."""

    pools: list[dict[str, Any]]
    connections: list[dict[str, Any]]
    variables: list[dict[str, Any]]

    @classmethod
    def read(cls, path: Path) -> Settings:
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
        return cls(
            pools=[_pool(entry) for entry in _entries(path, lists, "pools")],
            connections=[_connection(path, entry) for entry in _entries(path, lists, "connections")],
            variables=[
                {"key": str(entry["variable_name"]), "value": entry.get("variable_value")}
                for entry in _entries(path, lists, "variables")
            ],
        )


def _entries(path: Path, lists: Mapping[str, Any], kind: str) -> Iterable[dict[str, Any]]:
    for entry in lists.get(kind) or []:
        if not isinstance(entry, dict):
            raise UserError(f"{path}: {kind} must be a list of mappings, found {entry!r}")
        if unknown := sorted(set(entry) - set(_KEYS[kind])):
            raise UserError(f"{path}: unknown key {unknown[0]!r} in {kind}, allowed are {', '.join(_KEYS[kind])}")
        # Astro's template contains an example in conn_extra.
        if not any(value not in (None, "") for key, value in entry.items() if key != "conn_extra"):
            continue
        if entry.get(_KEYS[kind][0]) in (None, ""):
            raise UserError(f"{path}: an entry of {kind} has no {_KEYS[kind][0]}")
        if kind == "pools" and type(entry.get("pool_slot")) is not int:
            raise UserError(
                f"{path}: pool_slot of {entry['pool_name']} must be a whole number, found {entry.get('pool_slot')!r}"
            )
        yield entry


def _pool(entry: Mapping[str, Any]) -> dict[str, Any]:
    description = entry.get("pool_description") or ""
    return {"name": str(entry["pool_name"]), "slots": entry["pool_slot"], "description": description}


def _connection(path: Path, entry: Mapping[str, Any]) -> dict[str, Any]:
    if entry.get("conn_uri"):
        raise UserError(f"{path}: conn_uri of {entry['conn_id']}: give conn_type, conn_host and conn_port instead")
    extra = entry.get("conn_extra")
    fields = {
        "connection_id": str(entry["conn_id"]),
        "conn_type": entry.get("conn_type") or "generic",
        "host": entry.get("conn_host"),
        "schema": entry.get("conn_schema"),
        "login": entry.get("conn_login"),
        "password": entry.get("conn_password"),
        "port": entry.get("conn_port"),
        "extra": extra if isinstance(extra, str) or extra is None else json.dumps(extra),
    }
    return {name: value for name, value in fields.items() if value not in (None, "")}


def load_settings(settings: Settings, url: str, user: str, password: str) -> None:
    """Create or overwrite every entry in the Airflow at `url`. Entries that the file does not contain remain unchanged.

    Raises:
        UserError: Airflow rejects the user or a request. TransientError: Airflow does not respond or store the entries.
    """
    client = AirflowClient(url, user, password)
    for kind in ("pools", "connections", "variables"):
        entries: list[dict[str, Any]] = getattr(settings, kind)
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
        url, user, password = (os.environ[f"AIRFLOW_{name}"] for name in ("URL", "USER", "PASSWORD"))
    except KeyError as error:
        sys.exit(f"{error.args[0]} is not set")
    try:
        load_settings(Settings.read(Path(sys.argv[1])), url.rstrip("/"), user, password)
    except (UserError, TransientError, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
