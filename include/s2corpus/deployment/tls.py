"""Create a private certificate authority and one certificate, so that SeaweedFS's components trust only each other."""

from __future__ import annotations

import datetime
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


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
