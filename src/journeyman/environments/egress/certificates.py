"""A certificate authority that lives as long as this process, and the files by which a sandbox trusts it.

Its key is never written: not even the server's own disk has it. OpenSSL reads keys from files alone, so the
key of the leaf certificates passes through a file in memory.
"""

import datetime
import ipaddress
import os
import ssl
import warnings
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import httpcore2
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.utils import CryptographyDeprecationWarning
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from journeyman.errors import InvalidSetting

BUNDLE = "bundle.pem"
JAVA_TRUST_STORE = "truststore.p12"
JAVA_PASSWORD = "changeit"  # noqa: S105 - what Java expects where nothing secret is kept
_AUTHORITY = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Journeyman egress proxy")])
_YEARS = 10


class CertificateAuthority:
    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._leaf_key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(_AUTHORITY, self._key.public_key())
        usage = {name: name in ("key_cert_sign", "crl_sign") for name in _KEY_USAGES}
        self.certificate = (
            builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(x509.KeyUsage(**usage), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        self._contexts: dict[str, ssl.SSLContext] = {}

    def context_for(self, host: str) -> ssl.SSLContext:
        """What a connection is ended with by which something inside wants to reach the host."""
        if host not in self._contexts:
            self._contexts[host] = self._make_context(host)
        return self._contexts[host]

    def _make_context(self, host: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        content = self._leaf(host).public_bytes(serialization.Encoding.PEM) + self._leaf_key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        descriptor = os.memfd_create("leaf", os.MFD_CLOEXEC)
        try:
            os.write(descriptor, content)
            context.load_cert_chain(f"/proc/self/fd/{descriptor}")
        finally:
            os.close(descriptor)
        return context

    def _leaf(self, host: str) -> x509.Certificate:
        key = self._key.public_key()
        names = [x509.NameAttribute(NameOID.COMMON_NAME, host)] if len(host) <= 64 else []
        authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(key)
        return (
            _builder(x509.Name(names), self._leaf_key.public_key())
            .add_extension(x509.SubjectAlternativeName([_alternative(host)]), critical=not names)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(authority, critical=False)
            .sign(self._key, hashes.SHA256())
        )

    def write_bundle(self, directory: Path, registry_ca_file: Path | None) -> None:
        """Write what every program inside trusts: the authorities of this machine, the owner's and ours."""
        directory.mkdir(mode=0o755)
        own = self.certificate.public_bytes(serialization.Encoding.DER)
        trusted = dict.fromkeys([*upstream_context(None).get_ca_certs(True)])
        if registry_ca_file is not None:
            trusted |= dict.fromkeys(upstream_context(registry_ca_file).get_ca_certs(True))
        trusted[own] = None
        (directory / BUNDLE).write_text("".join(map(ssl.DER_cert_to_PEM_cert, trusted)))
        (directory / JAVA_TRUST_STORE).write_bytes(_java_trust_store(trusted))
        for path in (directory, *directory.iterdir()):
            path.chmod(0o755 if path == directory else 0o644)


def upstream_context(registry_ca_file: Path | None) -> ssl.SSLContext:
    """By what a registry's own certificate is checked. Reading the roots takes a while."""
    if registry_ca_file is None:
        return httpcore2.default_ssl_context()
    try:
        return ssl.create_default_context(cafile=registry_ca_file)
    except (OSError, ssl.SSLError) as error:
        raise InvalidSetting(
            f"JOURNEYMAN_REGISTRY_CA_FILE cannot be used: {error}",
            hint="Name a file that holds certificates in PEM format.",
        ) from None


_KEY_USAGES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
)


def _builder(subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(_AUTHORITY)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=365 * _YEARS))
    )


def _alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _java_trust_store(trusted: Iterable[bytes]) -> bytes:
    entries = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CryptographyDeprecationWarning)
        for number, der in enumerate(trusted):
            with suppress(ValueError):  # an authority that is older than today's rules
                certificate = x509.load_der_x509_certificate(der)
                entries.append(pkcs12.PKCS12Certificate(certificate, f"authority {number}".encode()))
    encryption = serialization.BestAvailableEncryption(JAVA_PASSWORD.encode())
    return pkcs12.serialize_java_truststore(entries, encryption)
