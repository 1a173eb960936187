"""Define the common parts of the local services: name, folder, command and a strict health check."""

from __future__ import annotations

import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from devtools.local import process
from devtools.local.process import Step
from devtools.local.state import State

PYTHON = (Path(sys.executable).resolve().name,)

TERMINATE = (Step(signal.SIGTERM, 10.0), Step(signal.SIGKILL, 5.0))


class Child(Protocol):
    """The first process of a service that was started."""

    @property
    def pid(self) -> int:
        """Its number."""

    def poll(self) -> int | None:
        """Return its exit status, None while it runs."""


class Service(ABC):
    """One local service over a state folder; `services.Services` starts, awaits and stops it."""

    name: str
    home: Path
    """Its working folder, by which its processes are found when their record is lost."""
    programs: tuple[str, ...] = PYTHON
    """Names of the executables its processes run."""
    port: int = 0
    """What it listens on and must be free before it starts; 0 for none."""
    patience: float = 30.0
    """Seconds it may take from its start to a healthy answer."""
    steps: tuple[Step, ...] = TERMINATE
    sources: str = ""
    """Hash of the project's sources that it has imported; after a change the service is restarted."""

    def __init__(self, state: State) -> None:
        self.state = state

    @property
    def url(self) -> str:
        """Where it answers, without credentials; empty if nowhere."""
        return f"http://127.0.0.1:{self.port}" if self.port else ""

    def prepare(self) -> None:
        """Make its folder and files; called before each start, while nothing of it runs."""
        self.state.folder(str(self.home.relative_to(self.state.root)))

    @abstractmethod
    def command(self) -> list[str]:
        """Return what to run: no secret in it, because everybody can read it."""

    def environ(self) -> Mapping[str, str]:
        """Return what its environment has beyond the inherited one."""
        return {}

    def start(self, inherited: Mapping[str, str], log: Path) -> Child:
        """Start it, its output appended to `log`."""
        environ = {**inherited, **self.environ()}
        return process.start(self.command(), folder=self.home, log=log, environ=environ)

    @abstractmethod
    def problem(self) -> str | None:
        """Return why it does not answer correctly, or None."""

    def settle(self) -> None:  # noqa: B027
        """Finish the setup after it answers and before others use it. Repeated calls are cheap."""

    def tidy(self) -> None:  # noqa: B027
        """Remove files that a killed server leaves behind; called whenever none of its processes runs."""
