"""Make the secrets of docker-compose.yaml: `python3 deploy/make_secrets.py [FOLDER]`, with `secrets` as the folder by default.

Each file contains one secret. Existing files do not change, so the command also adds missing secrets. The folder is readable by its
owner only; the files in it are readable by all, because compose mounts each into the containers that need it, whose users differ.
"""

from __future__ import annotations

import base64
import os
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path

IDENTITIES = ("admin", "deliver", "worker", "consumer", "page")
"""identities of the lake (deploy/s3/)"""


def make_contents() -> Mapping[str, str]:
    """Return new secrets by file name."""
    keys = {f"s3_{who}": (f"{who}-{secrets.token_hex(8)}", secrets.token_urlsafe(32)) for who in IDENTITIES}
    return {
        "postgres_password": secrets.token_urlsafe(32),
        "catalog": f"postgresql+psycopg2://catalog:{secrets.token_urlsafe(32)}@postgres/catalog",
        "redis_password": secrets.token_urlsafe(32),
        "fernet_key": base64.urlsafe_b64encode(os.urandom(32)).decode(),
        "secret_key": secrets.token_urlsafe(48),
        "jwt_secret": secrets.token_urlsafe(48),
        "admin_password": secrets.token_urlsafe(18),
        "extractor_token": secrets.token_urlsafe(32),
        "alerts_webhook": "",  # an address of your own (docs/monitoring.md)
        **{
            name: f"[default]\naws_access_key_id = {key}\naws_secret_access_key = {secret}"
            for name, (key, secret) in keys.items()
        },
    }


def main(folder: Path) -> None:
    """Write the files that do not exist, and print their names."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, content in make_contents().items():
        if not (folder / name).exists():
            (folder / name).write_text(f"{content}\n", "utf-8")
            (folder / name).chmod(0o444)
            print(f"{folder / name}: made")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "secrets"))
