"""Manage the local services together: start once and reuse, repair after a crash, stop without leftovers."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import time
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path

from devtools.local import process
from devtools.local.airflow import ADMIN, PARTS, AirflowPart, airflow_environ, migrating
from devtools.local.extractor import Extractor, external_grobid
from devtools.local.postgres import Postgres
from devtools.local.process import Process
from devtools.local.s3 import BUCKET, S3
from devtools.local.service import LocalService
from devtools.local.state import State, require_free
from s2corpus.catalog import Catalog
from s2corpus.errors import UserError

NAMES = ("s3", "postgres", "extractor", "airflow")
_LARGEST_LOG = 20_000_000
# Variables of a user's shell that would redirect the services or their clients.
_FOREIGN = frozenset(
    {"AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"}
    # Without bytecode, Airflow's processes and each task's would compile thousands of source files every time. This
    # takes half of their start time.
    | {"PYTHONDONTWRITEBYTECODE"}
)
_FOREIGN_PREFIXES = ("AIRFLOW", "WEED_", "PG")
# Variables that tasks read from the environment of the user who starts them. Another value restarts Airflow.
_PASSED_ON = ("ENGINE", "S2CORPUS_RELEASES", "S2CORPUS_DROPS_SECONDS", "S2CORPUS_ALERTS_WEBHOOK")
# Seconds before a live but unhealthy process is restarted; a busy machine may only be slow.
_CONVALESCENCE = 20.0
_ROUNDS = 3


class Condition(StrEnum):
    """The condition of a service."""

    RUNNING = "running"
    UNHEALTHY = "unhealthy"
    STOPPED = "stopped"
    EXTERNAL = "external"


@dataclass(frozen=True)
class ServiceStatus:
    """One service: its condition and the reason, its URL, its first pid (0 if none), its log."""

    name: str
    condition: Condition
    reason: str
    url: str
    pid: int
    log: Path | None


@dataclass(frozen=True)
class Endpoints:
    """The addresses and keys of all services."""

    variables: Mapping[str, str]
    airflow_url: str
    airflow_user: str
    airflow_password: str

    def environ(self) -> dict[str, str]:
        """Return the environment variables with which every part of the project finds its services."""
        return dict(self.variables) | _without_proxy()


class Services:
    """The local services of one state folder."""

    def __init__(self, state: Path) -> None:
        self.state = State(state)

    def up(self, only: set[str] | None = None) -> Endpoints:
        """Start the services that do not run, wait until all requested services are healthy, and return their addresses.

        `only` is a subset of {"s3", "postgres", "extractor", "airflow"}; "airflow" needs the others.

        Raises:
            UserError: a port is in use, or a service does not start.
        """
        wanted = set(NAMES) if only is None or "airflow" in only else only
        self.state.create()
        with self.state.lock():
            self.state.choose_ports()
            self.write_environment()
            first: list[LocalService] = [kind(self.state) for kind in (Postgres, S3) if kind.name in wanted]
            if external_grobid(self.state):
                self._stop([Extractor(self.state)])
            elif "extractor" in wanted:
                first.append(Extractor(self.state))
            endpoints = self.endpoints()
            common = endpoints.variables
            parts: list[LocalService] = [AirflowPart(self.state, part, common) for part in PARTS if "airflow" in wanted]
            if not all(self._reusable(part) for part in parts):
                # Start PostgreSQL alone: the next steps wait longest for its database.
                self._start([Postgres(self.state)])
            with migrating(self.state, _inherited() | dict(common)) if parts else nullcontext():
                self._start(first)
                if "postgres" in wanted:
                    Catalog(Postgres(self.state).database_url("catalog")).migrate()
            self._start(parts)
            return endpoints

    def endpoints(self) -> Endpoints:
        """Return all addresses and keys, whether the services run or not.

        Raises `UserError` if nothing was ever set up.
        """
        if not self.state.ports():
            raise UserError(f"no local services are set up in {self.state.root}: `make up` sets them up")
        secrets = self.state.secrets()
        variables = {
            "AWS_ACCESS_KEY_ID": secrets["s3-access-key"], "AWS_SECRET_ACCESS_KEY": secrets["s3-secret-key"],
            "AWS_ENDPOINT_URL": S3(self.state).url, "AWS_DEFAULT_REGION": "us-east-1", "S2CORPUS_STATE": str(self.state.root),
            "S2CORPUS_LAKE": f"s3://{BUCKET}", "S2CORPUS_CATALOG": Postgres(self.state).database_url("catalog"),
            **airflow_environ(self.state),
        }  # fmt: skip
        if external := external_grobid(self.state):
            variables["GROBID_URL"] = external
        else:
            variables["GROBID_URL"] = Extractor(self.state).url
            variables["S2CORPUS_EXTRACTOR_TOKEN"] = secrets["extractor"]
        variables |= {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        return Endpoints(
            variables, airflow_environ(self.state)["AIRFLOW__API__BASE_URL"], ADMIN, secrets["airflow-admin"]
        )

    def write_environment(self) -> None:
        """Write `environment.json`; the commands of `corpus` read the addresses and keys of these services from it."""
        ends = self.endpoints()
        airflow = {
            "AIRFLOW_URL": ends.airflow_url, "AIRFLOW_USER": ends.airflow_user, "AIRFLOW_PASSWORD": ends.airflow_password,
        }  # fmt: skip
        own = {name: value for name, value in ends.environ().items() if name not in _PASSED_ON}
        self.state.write("environment.json", json.dumps(own | airflow, indent=1))

    def down(self) -> None:
        """Stop everything that runs, Airflow first and PostgreSQL last. Data is not deleted.

        Raises `UserError` if a process does not end.
        """
        if not self.state.exists():
            return
        with self.state.lock():
            self._stop([service for service in self._all() if isinstance(service, AirflowPart)])
            self._stop([service for service in self._all() if isinstance(service, S3 | Extractor)])
            self._stop([Postgres(self.state)])

    def status(self) -> list[ServiceStatus]:
        """Return the status of each service without changing anything."""
        if not self.state.ports():
            return []
        return [self._status(service) for service in self._all()]

    def _all(self) -> list[LocalService]:
        common = self.endpoints().variables if self.state.ports() else {}
        return [
            S3(self.state), Postgres(self.state), Extractor(self.state), *(AirflowPart(self.state, part, common) for part in PARTS),
        ]  # fmt: skip

    def _status(self, service: LocalService) -> ServiceStatus:
        leader, members = self.state.leader(service.name), self._members(service)
        external = external_grobid(self.state) if service.name == "extractor" else None
        if external:
            return ServiceStatus(service.name, Condition.EXTERNAL, "named by GROBID_URL", external, 0, None)
        if leader is None or not process.alive(leader):
            condition, reason = Condition.STOPPED, f"killed, {len(members)} processes left" if members else ""
            if leader is not None and not members:
                reason = "died"
        else:
            problem = service.problem()
            condition = Condition.UNHEALTHY if problem else Condition.RUNNING
            reason = problem or ""
        pid = leader.pid if leader and process.alive(leader) else 0
        return ServiceStatus(service.name, condition, reason, service.url, pid, self._log(service))

    def _log(self, service: LocalService) -> Path:
        return self.state.logs / f"{service.name}.log"

    def _members(self, *services: LocalService) -> list[Process]:
        return [
            member
            for service in services
            for member in process.members(self.state.leader(service.name), service.home, service.programs)
        ]

    def _stop(self, services: Iterable[LocalService]) -> None:
        """Stop services together. Services with the same steps wait for each other."""
        services = list(services)
        for steps in {service.steps for service in services}:
            group = [service for service in services if service.steps == steps]
            leaders = [leader for service in group if (leader := self.state.leader(service.name))]
            left = process.stop(partial(self._members, *group), steps, leaders)
            if left:
                pids = ", ".join(str(p.pid) for p in left)
                raise UserError(
                    f"{', '.join(s.name for s in group)}: the processes {pids} do not end, even when killed"
                )
        for service in services:
            service.tidy()
            self.state.forget(service.name)

    def _start(self, services: list[LocalService]) -> None:
        """Make all services healthy: start dead or reconfigured services, then restart services that remain unhealthy."""
        for _ in range(_ROUNDS):
            launched = self._launch([service for service in services if not self._reusable(service)])
            sick = []
            for service in services:
                child = launched.get(service.name)
                problem = self._wait(service, child, service.patience if child else _CONVALESCENCE)
                if problem and child:
                    self._give_up(service, problem)
                if problem:
                    sick.append(service)
            self._stop(sick)
            # Repeat if a service had to be stopped or died meanwhile (it may have been killed just before the check).
            if all(self._reusable(service) for service in services):
                break
        else:
            self._give_up(next(s for s in services if not self._reusable(s)), "died again and again")
        for service in services:
            service.settle()

    def _reusable(self, service: LocalService) -> bool:
        leader, mark = self.state.leader(service.name), self.state.root / f"run/{service.name}.sha256"
        is_started = leader is not None and process.alive(leader) and mark.exists()
        return is_started and mark.read_text() == _fingerprint(service)

    def _launch(self, services: list[LocalService]) -> dict[str, subprocess.Popen[bytes]]:
        """Start services together, after stopping their leftover processes; they may not answer yet."""
        self._stop(services)
        for service in services:
            if service.port:
                require_free(service.name, service.port)
        children = {}
        for service in services:
            service.prepare()
            log = self._log(service)
            if log.exists() and log.stat().st_size > _LARGEST_LOG:
                log.replace(log.with_suffix(".log.1"))
            children[service.name] = service.start(_inherited(), log)
            self.state.record(service.name, children[service.name].pid)
            self.state.write(f"run/{service.name}.sha256", _fingerprint(service))
        return children

    def _wait(self, service: LocalService, child: subprocess.Popen[bytes] | None, patience: float) -> str | None:
        """Wait until a service is healthy. Return the problem if the patience or the service ends first."""
        deadline = time.monotonic() + patience
        pause = 0.02
        while problem := service.problem():
            if child is not None and (code := child.poll()) is not None:
                return f"ended immediately with status {code}"
            if time.monotonic() > deadline:
                return problem
            time.sleep(pause)
            pause = min(1.2 * pause, 0.4)
        return None

    def _give_up(self, service: LocalService, problem: str) -> None:
        self._stop([service])
        raise UserError(f"{service.name} did not start: it {problem}; its log is {self._log(service)}")


def _inherited() -> dict[str, str]:
    """Return our environment without variables that would redirect the services or their clients."""
    kept = (name for name in os.environ if name not in _FOREIGN and not name.startswith(_FOREIGN_PREFIXES))
    return {name: os.environ[name] for name in kept} | _without_proxy()


def _without_proxy() -> dict[str, str]:
    """Return the variables that exclude requests to this machine from proxies, with their current values."""
    variables = {}
    for name in ("NO_PROXY", "no_proxy"):
        hosts = [host for host in os.environ.get(name, "").split(",") if host]
        variables[name] = ",".join([*hosts, *(h for h in ("127.0.0.1", "localhost") if h not in hosts)])
    return variables


def _fingerprint(service: LocalService) -> str:
    """Return a hash of a service's configuration. A service with a changed configuration is restarted."""
    content = json.dumps([service.command(), dict(service.environ()), service.sources], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()
