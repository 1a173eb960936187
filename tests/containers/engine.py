"""A separate Docker engine for tests. Its processes, socket and firewall rules end with the tests; its images remain in a cache folder."""

import fcntl
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.releases import ROOT

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "s2corpus" / "containers"
STAND_INS = Path(__file__).parent / "stand_ins"
AUTHORITIES = Path("/usr/local/share/ca-certificates")
DEBIAN_PACKAGES = "ca-certificates,python3,python3-pip,python3-venv,netbase,tzdata"
BASE = "standin-python:3.11-slim-bookworm"
IMAGES = {
    "POSTGRES_IMAGE": "standin-postgres:18", "REDIS_IMAGE": "standin-redis:8", "S3_IMAGE": "standin-seaweedfs:latest",
}  # fmt: skip
"""variable of docker-compose.yaml → the stand-in image that replaces the registry's image"""
BUILD_CACHE = "12GB"


class CannotStart(Exception):
    """Raised if no container engine can start here; the message gives the reason."""


def find_obstacle() -> str | None:
    """Return the reason why no engine can start here, or None if no obstacle is found.

    In continuous integration (`CI=true`), the function installs missing packages. On a developer's machine, it only
    returns the command that installs them.
    """
    if os.geteuid() != 0:
        return "a container engine needs root"
    if _missing_packages() and os.environ.get("CI") == "true" and shutil.which("apt-get"):
        environ = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        for command in (["update"], ["install", "-y", "--no-install-recommends", *_missing_packages()]):
            subprocess.run(["apt-get", "-q", *command], env=environ, capture_output=True, check=False)
    if missing := _missing_packages():
        return f"not installed: apt-get install {' '.join(missing)}"
    return None


def _missing_packages() -> list[str]:
    needed = {"dockerd": "docker.io", "docker": "docker.io", "iptables-save": "iptables", "mmdebstrap": "mmdebstrap"}
    return sorted({package for program, package in needed.items() if shutil.which(program) is None})


def mirror() -> str:
    """Return the Debian mirror that this machine uses."""
    for path in (Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))):
        if path.is_file() and (
            found := re.search(r"^[^#\n]*?(https?://\S+/debian)/?\s*(?:\s|$)", path.read_text("utf-8"), re.MULTILINE)
        ):
            return found[1]
    return "http://deb.debian.org/debian"


@dataclass
class Engine:
    """A running engine: its private folder, and the environment of its clients."""

    home: Path
    environ: dict[str, str]

    def run(self, *command: str, check: bool = True, timeout: float = 1800, **more: str) -> str:
        """Run a client's command; return its standard output.

        Raises:
            AssertionError: the command failed; the message contains its output.
        """
        done = subprocess.run(
            command, env=self.environ | more, cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=False
        )
        if check:
            told = f"{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
            assert done.returncode == 0, f"{' '.join(command)[:300]} failed ({done.returncode}): {told}"
        return done.stdout

    def docker(self, *arguments: str, check: bool = True) -> str:
        """Run `docker` with arguments."""
        return self.run("docker", *arguments, check=check)

    def lines(self, *arguments: str) -> list[str]:
        """Return the lines that `docker` prints."""
        return self.docker(*arguments).split("\n")[:-1]

    def remove_containers(self) -> None:
        """Remove every container, volume and network. The engine has no containers except those of tests."""
        for list_, remove in (
            (("ps", "-aq"), ("rm", "-f", "-v")),
            (("volume", "ls", "-q"), ("volume", "rm", "-f")),
            (("network", "ls", "-q", "--filter", "type=custom"), ("network", "rm")),
        ):
            if names := self.lines(*list_):
                self.docker(*remove, *names)

    def build(self, tag: str, context: Path, *arguments: str) -> None:
        """Build an image with the host's network: the engine has no default bridge."""
        self.run("docker", "build", "--quiet", "--network", "host", "--tag", tag, *arguments, str(context))


def install_plugins(folder: Path) -> None:
    """Unpack compose v2 and buildx from Debian 13's packages, where Debian 12 has none."""
    if (folder / "docker-compose").exists() and (folder / "docker-buildx").exists():
        return
    state = CACHE / "apt"
    for name in ("lists/partial", "cache/archives/partial", "packages"):
        (state / name).mkdir(parents=True, exist_ok=True)
    source = f"deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {mirror()} trixie main\n"
    (state / "sources.list").write_text(source)
    options = {
        "Dir::Etc::sourcelist": state / "sources.list", "Dir::Etc::sourceparts": "/dev/null", "Dir::State::lists": state / "lists",
        "Dir::Cache": state / "cache", "APT::Sandbox::User": "root",
    }  # fmt: skip
    apt = ["apt-get", "-q", *(part for name, value in options.items() for part in ("-o", f"{name}={value}"))]
    for command in (["update"], ["download", "docker-compose", "docker-buildx"]):
        subprocess.run([*apt, *command], cwd=state / "packages", check=True, capture_output=True)
    folder.mkdir(parents=True, exist_ok=True)
    for package in (state / "packages").glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, state / "unpacked"], check=True)
    for plugin in (state / "unpacked/usr/libexec/docker/cli-plugins").iterdir():
        shutil.copy2(plugin, folder)
    shutil.rmtree(state)


@contextmanager
def running_engine() -> Iterator[Engine]:
    """Run an engine with its own socket and with its data in the cache folder; only the data remains afterwards.

    Raises:
        CannotStart: no engine is installed here, or the engine does not start.
    """
    if obstacle := find_obstacle():
        raise CannotStart(obstacle)
    CACHE.mkdir(parents=True, exist_ok=True)
    forward = Path("/proc/sys/net/ipv4/ip_forward")
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # Only one engine at a time may use the data folder.
        home = Path(tempfile.mkdtemp(prefix="s2corpus-engine-"))
        forwarded = forward.read_text()
        firewall = subprocess.run(["iptables-save"], check=True, capture_output=True, text=True).stdout
        with (CACHE / "dockerd.log").open("wb") as log:
            process = subprocess.Popen(
                [
                    *("dockerd", "--bridge", "none", "--host", f"unix://{home}/docker.sock", "--pidfile", home / "pid"),
                    *("--data-root", CACHE / "data", "--exec-root", home / "exec"),
                ],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        config = CACHE / "client"
        engine = Engine(
            home,
            {
                name: value
                for name, value in os.environ.items()
                if not name.startswith(("DOCKER_", "COMPOSE_", "S2CORPUS_"))
            }
            | {"DOCKER_HOST": f"unix://{home}/docker.sock", "DOCKER_CONFIG": str(config), "DOCKER_BUILDKIT": "1"},
        )
        try:
            _wait_until_started(engine, process)
            install_plugins(config / "cli-plugins")
            engine.remove_containers()
            yield engine
            engine.docker("image", "prune", "-f")
            engine.docker("builder", "prune", "-f", "--keep-storage", BUILD_CACHE)
        finally:
            if process.poll() is None:
                with suppress(AssertionError, subprocess.TimeoutExpired):
                    engine.remove_containers()
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(60)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            if "DOCKER" not in firewall:  # No other engine had rules before.
                subprocess.run(["iptables-restore"], input=firewall, text=True, check=True)
                forward.write_text(forwarded)
            shutil.rmtree(home, ignore_errors=True)


def _wait_until_started(engine: Engine, process: subprocess.Popen[bytes]) -> None:
    for _ in range(120):
        if process.poll() is not None:
            break
        if engine.run("docker", "version", "--format", "{{.Server.Version}}", check=False).strip():
            return
        time.sleep(0.5)
    lines = (CACHE / "dockerd.log").read_text("utf-8", "replace").splitlines()
    raise CannotStart(f"dockerd does not start: {lines[-1] if lines else 'it says nothing'}")


def build_stand_ins(engine: Engine) -> None:
    """Build the images that replace the registry's images, on a Debian base built from Debian's packages."""
    digest = hashlib.sha256(DEBIAN_PACKAGES.encode()).hexdigest()[:8]
    debian = f"standin-debian:{digest}"
    if not engine.lines("image", "ls", "-q", debian):
        archive = CACHE / "debian.tar"
        engine.run(
            *("mmdebstrap", "--variant=minbase", "--components=main", f"--include={DEBIAN_PACKAGES}"),
            *(f"--customize-hook={STAND_INS / 'debian' / 'customize'}", "bookworm", str(archive), mirror()),
        )
        engine.docker("import", str(archive), debian)
        archive.unlink()
    engine.docker("tag", debian, "standin-debian:bookworm")
    with tempfile.TemporaryDirectory() as name:
        for source in STAND_INS.iterdir():
            context = Path(shutil.copytree(source, Path(name) / source.name))
            if source.name == "python":
                (context / "authorities").mkdir()
                for path in AUTHORITIES.glob("*.crt"):
                    shutil.copy2(path, context / "authorities")
            if source.name == "seaweedfs":
                shutil.copy2(Path(sys.executable).parent / "weed", context / "weed")
        for tag in (BASE, *IMAGES.values()):
            engine.build(tag, Path(name) / tag.removeprefix("standin-").partition(":")[0])


def build_images(engine: Engine, names: Mapping[str, str]) -> None:
    """Build targets of the project's Dockerfile on the stand-in of its base image, and tag them with the given names."""
    for target, tag in names.items():
        engine.build(tag, ROOT, "--build-arg", f"BASE={BASE}", "--target", target)
