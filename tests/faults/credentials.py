"""Keys of the running SeaweedFS that tests can create and revoke, as an operator of S3 does."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import ClientError

from devtools.local.s3 import BUCKET
from devtools.local.state import State
from tests.waiting import until


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
        until(lambda: self._is_accepted(key, secret), f"{key} is still refused")
        old = self.file.read_text().split() if self.file.exists() else []
        self.file.write_text(f"[default]\naws_access_key_id = {key}\naws_secret_access_key = {secret}\n")
        if old:
            self._shell(f"-user=user{self._number - 1} -delete")
            until(lambda: not self._is_accepted(old[3], old[6]), f"{old[3]} is still good")

    def _shell(self, arguments: str) -> None:
        ports, home = self.state.ports(), self.state.root / "s3"
        servers = [f"-{name}=127.0.0.1:{ports[name]}.{ports[f'{name}-grpc']}" for name in ("master", "filer")]
        subprocess.run(
            [str(Path(sys.executable).with_name("weed")), "shell", *servers],
            input=f"s3.configure {arguments} -apply\n".encode(),
            cwd=home,
            env={**os.environ, "HOME": str(home)},
            check=True,
            capture_output=True,
        )

    def _is_accepted(self, key: str, secret: str) -> bool:
        url = f"http://127.0.0.1:{self.state.ports()['s3']}"
        keys: dict[str, Any] = {"aws_access_key_id": key, "aws_secret_access_key": secret, "region_name": "us-east-1"}
        client = boto3.client("s3", endpoint_url=url, **keys)
        try:
            client.head_bucket(Bucket=BUCKET)
        except ClientError:
            return False
        return True
