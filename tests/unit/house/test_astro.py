"""The project has the layout of an Astro project: all files that `astro dev start` reads and mounts exist, and the
image agrees with this layout.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")


def test_project_file_names_the_project() -> None:
    config = yaml.safe_load((ROOT / ".astro" / "config.yaml").read_text("utf-8"))
    assert re.fullmatch("[a-z0-9-]+", config["project"]["name"])


@pytest.mark.parametrize(
    "path",
    [".astro/config.yaml", "Dockerfile", "airflow_settings.yaml", "packages.txt", "requirements.txt", "dags", "include", "plugins"],
)  # fmt: skip
def test_file_of_a_project_is_in_git(path: str) -> None:
    assert (ROOT / path).exists()
    ignored = subprocess.run(["git", "check-ignore", "-q", path], cwd=ROOT)
    assert ignored.returncode == 1


def test_default_image_is_airflow_with_astros_home() -> None:
    stages = re.findall(r"(?m)^FROM (\S+)(?: AS (\S+))?$", DOCKERFILE)
    assert stages[-1][1] == "airflow", "`astro dev start` builds the last stage of the Dockerfile"
    assert re.findall(r"(?m)^WORKDIR (.*)$", DOCKERFILE) == ["/usr/local/airflow"], (
        "Astro mounts dags, include, plugins below it"
    )


def test_settings_have_astros_three_lists() -> None:
    settings = yaml.safe_load((ROOT / "airflow_settings.yaml").read_text("utf-8"))["airflow"]
    assert set(settings) == {"connections", "pools", "variables"} and settings["pools"]
    assert all({"pool_name", "pool_slot"} <= set(pool) for pool in settings["pools"])
