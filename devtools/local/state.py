"""Manage the state folder of the local services: stored ports and secrets, running processes, and the lock."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import socket
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet

import s2corpus
from devtools.local.process import Process, boot_id, identify
from s2corpus.errors import UserError

PORTS = (
    "airflow", "s3", "postgres", "extractor", "s3-grpc", "master", "master-grpc", "filer", "filer-grpc", "volume", "volume-grpc",
)  # fmt: skip
SECRETS = (
    "s3-access-key", "s3-secret-key", "weed-write", "weed-read", "filer-write", "filer-read", "postgres", "airflow-database",
    "catalog-database", "extractor", "airflow-admin", "airflow-approver", "airflow-jwt", "airflow-session", "airflow-fernet",
)  # fmt: skip
TYPED = ("airflow-admin", "airflow-approver")
"""passwords that people type"""
_MARK = "s2corpus-state"
# Below Linux's ephemeral range (from 32768), so that no outgoing connection occupies a port while its service is down.
_FIRST_PORT, _LAST_PORT = 20_000, 32_000


def project() -> Path:
    """Return the project's folder, which contains `include/s2corpus` and `dags/`."""
    return Path(s2corpus.__file__).resolve().parents[2]


def default_state() -> Path:
    """Return the state folder: `S2CORPUS_STATE`, or by default `.s2corpus` in the project."""
    return Path(os.environ.get("S2CORPUS_STATE") or project() / ".s2corpus").absolute()


class State:
    """One state folder, mode 0700. `create` makes it; reading a missing folder gives empty answers."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self.logs = self.root / "logs"

    def exists(self) -> bool:
        """Return whether the folder is a state folder."""
        return (self.root / _MARK).is_file()

    def create(self) -> None:
        """Create the folder, its ports and its secrets, if missing."""
        try:
            self.root.mkdir(parents=True, mode=0o700, exist_ok=True)
            if not self.exists():
                if any(self.root.iterdir()):
                    raise UserError(
                        f"{self.root} is not empty and no state folder of the local services: "
                        "set S2CORPUS_STATE to a folder that is empty or does not exist"
                    )
                self.root.chmod(0o700)
                self.write(_MARK, "1\n")
        except (FileExistsError, NotADirectoryError, PermissionError) as error:
            raise UserError(
                f"cannot make the state folder {self.root} ({error.strerror}): set S2CORPUS_STATE to a folder you may write"
            ) from None
        info = self.root.stat()
        if info.st_uid != os.geteuid() or stat.S_IMODE(info.st_mode) & 0o077:
            raise UserError(
                f"the state folder {self.root} contains passwords, but other users may enter or own it: "
                f"make it yours alone (chown, chmod 700) or set S2CORPUS_STATE to another folder"
            )
        for name in ("logs", "run"):
            (self.root / name).mkdir(mode=0o700, exist_ok=True)
        known = self.secrets()
        if missing := [name for name in SECRETS if name not in known]:
            fresh = {name: secrets.token_hex(10 if name in TYPED else 32) for name in missing}
            if "airflow-fernet" in fresh:
                fresh["airflow-fernet"] = Fernet.generate_key().decode()
            self.write("secrets.json", json.dumps(known | fresh, indent=1))

    def folder(self, name: str) -> Path:
        """Return a subfolder; create it with mode 0700 if it is missing."""
        path = self.root
        for part in Path(name).parts:
            path = path / part
            path.mkdir(mode=0o700, exist_ok=True)
        return path

    def write(self, name: str, text: str) -> None:
        """Write a file of the state folder atomically, readable by its owner only."""
        path = self.root / name
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w") as out:
            out.write(text)
        Path(temporary).replace(path)

    def _read(self, name: str) -> dict[str, object]:
        try:
            content: dict[str, object] = json.loads((self.root / name).read_text())
        except FileNotFoundError:
            return {}
        except ValueError:
            raise UserError(
                f"{self.root / name} is not JSON: run `make down`, then remove {self.root} to start over"
            ) from None
        return content

    def secrets(self) -> dict[str, str]:
        """Return the generated secrets by name."""
        return {name: str(value) for name, value in self._read("secrets.json").items()}

    def ports(self) -> dict[str, int]:
        """Return the chosen ports by name."""
        return {name: int(str(value)) for name, value in self._read("ports.json").items()}

    def choose_ports(self) -> None:
        """Reuse the stored ports, and choose free ports for the rest."""
        ports = self.ports()
        if missing := [name for name in PORTS if name not in ports]:
            free = _free_ports(len(missing), taken=set(ports.values()))
            ports |= dict(zip(missing, free, strict=True))
            self.write("ports.json", json.dumps(ports, indent=1))

    def leader(self, service: str) -> Process | None:
        """Return the recorded first process of a service, alive or not."""
        record: Any = self._read(f"run/{service}.json")
        return Process(**record) if record else None

    def record(self, service: str, pid: int) -> None:
        """Record the first process of a service that was just started."""
        process = identify(pid) or Process(pid, 0, boot_id())
        self.write(f"run/{service}.json", json.dumps(asdict(process)))

    def forget(self, service: str) -> None:
        """Delete the record of a stopped service."""
        (self.root / f"run/{service}.json").unlink(missing_ok=True)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the folder exclusively, so that two simultaneous `up` commands start everything once."""
        handle = os.open(self.root / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def port_free(port: int) -> bool:
    """Return whether a server could listen on 127.0.0.1:`port` now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def require_free(service: str, port: int) -> None:
    """Raise a `UserError` if `service` cannot listen on the port."""
    for _ in range(50):  # A killed process releases its port only when the kernel has finished with it.
        if port_free(port):
            return
        time.sleep(0.1)
    raise UserError(
        f"port {port} of {service} is in use: stop the program that listens on it, or change the port in `ports.json` of the state folder"
    )


def _free_ports(count: int, taken: set[int]) -> list[int]:
    """Return adjacent free ports. Two folders set up at the same instant rarely choose the same range."""
    width = 2 * count
    for _ in range(200):
        first = _FIRST_PORT + width * secrets.randbelow((_LAST_PORT - _FIRST_PORT) // width)
        free = [port for port in range(first, first + width) if port not in taken and port_free(port)]
        if len(free) >= count:
            return free[:count]
    raise UserError(f"no {count} free ports between {_FIRST_PORT} and {_LAST_PORT} on 127.0.0.1")
