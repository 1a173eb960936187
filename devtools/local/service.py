"""Define the common parts of the local services: name, folder, command and a strict health check."""

from __future__ import annotations

import signal
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path

from devtools.local import process
from devtools.local.process import StopStep
from devtools.local.state import State

PYTHON = (Path(sys.executable).resolve().name,)

TERMINATE = (StopStep(signal.SIGTERM, 10.0), StopStep(signal.SIGKILL, 5.0))


class LocalService(ABC):
    """One local service with a state folder; `services.Services` starts it, waits for it and stops it."""

    name: str
    home: Path
    """The service's working folder; its processes are found by it if their record is lost."""
    programs: tuple[str, ...] = PYTHON
    """Names of the executables its processes run."""
    port: int = 0
    """The port on which the service listens, which must be free before the start; 0 for none."""
    patience: float = 30.0
    """Maximum seconds from the start to a healthy answer."""
    steps: tuple[StopStep, ...] = TERMINATE
    sources: str = ""
    """Hash of the project's sources that it has imported; after a change the service is restarted."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.home = state.root / self.name
        self.port = state.ports().get(self.name, 0)

    @property
    def url(self) -> str:
        """The service's address, without credentials; empty if it has none."""
        return f"http://127.0.0.1:{self.port}" if self.port else ""

    def prepare(self) -> None:
        """Create the service's folder and files; called before each start, while none of its processes runs."""
        self.state.folder(str(self.home.relative_to(self.state.root)))

    @abstractmethod
    def command(self) -> list[str]:
        """Return the command line. It contains no secret, because every user can read it."""

    def environ(self) -> Mapping[str, str]:
        """Return the service's environment variables in addition to the inherited environment."""
        return {}

    def start(self, inherited: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
        """Start the service; append its output to `log`."""
        environ = {**inherited, **self.environ()}
        return process.start(self.command(), folder=self.home, log=log, environ=environ)

    @abstractmethod
    def problem(self) -> str | None:
        """Return why it does not answer correctly, or None."""

    def settle(self) -> None:  # noqa: B027
        """Finish the setup after it answers and before others use it. Repeated calls are cheap."""

    def tidy(self) -> None:  # noqa: B027
        """Remove files that a killed server leaves behind; called whenever none of its processes runs."""
