"""Write the security files of SeaweedFS: its certificates, the keys of its components, and the S3 permissions of each identity.

`python -m s2corpus.deployment.s3_security <folder> <policies> <host> <keys>` writes these files for the server in `docker-compose.yaml`.
The identities are defined in `deploy/s3/*.json`. The folder <keys> has a file of AWS credentials for each: `s3_<identity>`.
"""

from __future__ import annotations

import configparser
import datetime
import ipaddress
import json
import os
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path
from string import Template

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

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


def read_keys(file: Path) -> tuple[str, str]:
    """Return access key and secret key of a file of AWS credentials.

    Raises:
        UserError: the file does not exist, or has no keys.
    """
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(file.read_text("utf-8"))
        return parser["default"]["aws_access_key_id"], parser["default"]["aws_secret_access_key"]
    except (OSError, ValueError, KeyError, configparser.Error) as error:
        raise UserError(f"{file} is no file of AWS credentials ({error}): run deploy/make_secrets.py") from None


def format_identities(policies: Path, bucket: str, keys_of: Path) -> str:
    """Return SeaweedFS's S3 configuration: an identity for each policy file, with its keys from the file `s3_<identity>`.

    Raises:
        UserError: a key is missing, or two identities have the same key.
    """
    identities, rules = [], []
    for path in sorted(policies.glob("*.json")):
        access, secret = read_keys(keys_of / f"s3_{path.stem}")
        keys = [{"accessKey": access, "secretKey": secret}]
        identities.append({"name": path.stem, "credentials": keys, "actions": [], "policyNames": [path.stem]})
        content = json.loads(Template(path.read_text("utf-8")).substitute(bucket=bucket))
        rules.append({"name": path.stem, "content": json.dumps(content)})
    used = [read_keys(keys_of / "s3_admin")[0], *(identity["credentials"][0]["accessKey"] for identity in identities)]  # type: ignore[index]
    if len(set(used)) < len(used):
        raise UserError("two identities of the lake have one access key: give each its own")
    return json.dumps({"identities": identities, "policies": rules}, indent=1)


def make_certificates(host: str = "localhost") -> dict[str, str]:
    """Return the contents of `ca.pem`, `weed.pem` and `weed.key`: an authority and the only certificate that it signs.

    The authority's own key is not stored. Server and client use the same certificate, valid for 127.0.0.1 and `host`.
    """
    authority = generate_private_key(SECP256R1())
    name = _name("s2corpus local services")
    root = _sign(_certificate(name, name, authority, is_authority=True), authority)
    key = generate_private_key(SECP256R1())
    leaf = _sign(_certificate(_name("seaweedfs"), name, key, is_authority=False, host=host), authority)
    return {
        "ca.pem": root.public_bytes(Encoding.PEM).decode(),
        "weed.key": key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
        "weed.pem": leaf.public_bytes(Encoding.PEM).decode(),
    }


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _certificate(
    subject: x509.Name, issuer: x509.Name, key: EllipticCurvePrivateKey, *, is_authority: bool, host: str = "localhost"
) -> x509.CertificateBuilder:
    # A validity of 100 years tolerates wrong clocks: the files never leave the state folder and are deleted with it.
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC))
        .not_valid_after(datetime.datetime(2100, 1, 1, tzinfo=datetime.UTC))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
    )
    if is_authority:
        return builder
    hosts = [
        *(x509.DNSName(name) for name in sorted({"localhost", host})),
        x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
    ]
    return builder.add_extension(x509.SubjectAlternativeName(hosts), critical=False)


def _sign(builder: x509.CertificateBuilder, authority: EllipticCurvePrivateKey) -> x509.Certificate:
    return builder.sign(authority, hashes.SHA256())


def main(folder: Path, policies: Path, host: str, keys: Path) -> None:
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
    write("s3.json", format_identities(policies, os.environ.get("S2CORPUS_BUCKET") or "corpus", keys))


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4]))
    except UserError as error:
        sys.exit(str(error))
