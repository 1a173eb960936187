"""Write the security files of SeaweedFS: its certificates, the keys of its components, and the S3 permissions of each identity.

`python -m s2corpus.deployment.s3_security <folder> <policies> <host>` writes these files for the server in `docker-compose.yaml`. The
identities are defined in `deploy/s3/*.json`. Their keys are read from the environment: `S3_<IDENTITY>_ACCESS_KEY`,
`S3_<IDENTITY>_SECRET_KEY`.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path
from string import Template

from s2corpus.deployment.tls import make_certificates
from s2corpus.errors import UserError

_COMPONENTS = ("volume", "master", "filer", "s3", "msg_broker", "msg_agent", "admin", "worker", "mq", "client")
KEYS = {
    "jwt.signing": "weed-write",
    "jwt.signing.read": "weed-read",
    "jwt.filer_signing": "filer-write",
    "jwt.filer_signing.read": "filer-read",
}
"""section of `security.toml` → name of its secret"""


def format_security_toml(keys: Mapping[str, str], folder: str = "") -> str:
    """Return `security.toml`.

    SeaweedFS's components authenticate each other by certificates below `folder`, and sign tokens with `keys`.
    """
    lines = []
    for section, secret in KEYS.items():
        lines += [f"[{section}]", f'key = "{keys[secret]}"']
    identity = [f'cert = "{folder}weed.pem"', f'key = "{folder}weed.key"']
    authority = f'ca = "{folder}ca.pem"'
    lines += ["[grpc]", authority]
    for component in _COMPONENTS:
        lines += [f"[grpc.{component}]", *identity]
    for component in ("master", "volume", "filer", "admin"):
        lines += [f"[https.{component}]", *identity, authority]
    lines += ["[https.client]", "enabled = true", *identity, authority]
    return "\n".join(lines) + "\n"


def format_identities(policies: Path, bucket: str, environ: Mapping[str, str]) -> str:
    """Return SeaweedFS's S3 configuration: an identity for each policy file, with its keys from the environment.

    Raises:
        UserError: a key is missing, or two identities have the same key.
    """
    identities, rules = [], []
    for path in sorted(policies.glob("*.json")):
        names = [f"S3_{path.stem.upper()}_{part}_KEY" for part in ("ACCESS", "SECRET")]
        if missing := [name for name in names if not environ.get(name)]:
            raise UserError(f"{missing[0]} is not set: each identity in {policies} needs its own keys")
        access, secret = (environ[name] for name in names)
        keys = [{"accessKey": access, "secretKey": secret}]
        identities.append({"name": path.stem, "credentials": keys, "actions": [], "policyNames": [path.stem]})
        content = json.loads(Template(path.read_text("utf-8")).substitute(bucket=bucket))
        rules.append({"name": path.stem, "content": json.dumps(content)})
    used = [environ.get("AWS_ACCESS_KEY_ID"), *(identity["credentials"][0]["accessKey"] for identity in identities)]  # type: ignore[index]
    if len(set(used)) < len(used):
        raise UserError("two identities of the lake have one access key: give each its own")
    return json.dumps({"identities": identities, "policies": rules}, indent=1)


def main(folder: Path, policies: Path, host: str) -> None:
    """Write the files: certificates and the components' keys only once, identities each time."""

    def write(name: str, content: str) -> None:
        with open(folder / name, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(content)

    if not (folder / "security.toml").exists():
        for name, content in make_certificates(host).items():
            write(name, content)
        write(
            "security.toml",
            format_security_toml({secret: secrets.token_urlsafe(32) for secret in KEYS.values()}, f"{folder}/"),
        )
    write("s3.json", format_identities(policies, os.environ.get("S2CORPUS_BUCKET") or "corpus", os.environ))


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
    except UserError as error:
        sys.exit(str(error))
