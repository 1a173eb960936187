"""Keys of the running SeaweedFS that tests can create and revoke, as an operator of S3 does."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from pathlib import Path

import boto3
from botocore.exceptions import ClientError

from devtools.local.s3 import BUCKET
from devtools.local.state import State


class Keys:
    """Manages one key at a time, in a credentials file that every AWS tool can read."""

    def __init__(self, state: State, file: Path) -> None:
        self.state, self.file = state, file
        self._number = 0

    def rotate(self) -> None:
        """Create a new key and write it to the file; revoke the old key."""
        self._number += 1
        key, secret = f"KEY{self._number}", secrets.token_hex(20)
        self._shell(f"-access_key={key} -secret_key={secret} -user=user{self._number} -actions=Admin,Read,Write,List")
        self._await(key, secret, refused=False)
        old = self.file.read_text().split() if self.file.exists() else []
        self.file.write_text(f"[default]\naws_access_key_id = {key}\naws_secret_access_key = {secret}\n")
        if old:
            self._shell(f"-user=user{self._number - 1} -delete")
            self._await(old[3], old[6], refused=True)

    def _shell(self, arguments: str) -> None:
        ports, home = self.state.ports(), self.state.root / "s3"
        command = [
            str(Path(sys.executable).with_name("weed")),
            "shell",
            f"-master=127.0.0.1:{ports['master']}.{ports['master-grpc']}",
            f"-filer=127.0.0.1:{ports['filer']}.{ports['filer-grpc']}",
        ]
        subprocess.run(
            command,
            input=f"s3.configure {arguments} -apply\n".encode(),
            cwd=home,
            env={**os.environ, "HOME": str(home)},
            check=True,
            capture_output=True,
            timeout=60,
        )

    def _await(self, key: str, secret: str, *, refused: bool) -> None:
        client = boto3.session.Session().client(
            "s3",
            endpoint_url=f"http://127.0.0.1:{self.state.ports()['s3']}",
            region_name="us-east-1",
            aws_access_key_id=key,
            aws_secret_access_key=secret,
        )
        deadline = time.monotonic() + 20
        while True:
            try:
                client.head_bucket(Bucket=BUCKET)
                found = False
            except ClientError:
                found = True
            if found is refused:
                return
            assert time.monotonic() < deadline, f"{key} is {'still good' if refused else 'still refused'}"
            time.sleep(0.1)
