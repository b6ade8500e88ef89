"""The key that signs evidence, and the public keys that check it.

The private key is made once in the home, or given by a setting, and never leaves the server. It is in no
sandbox: the jail shows nothing of the home but git directories and layers.
"""

import base64
import binascii
import hashlib
import os
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from journeyman.errors import Conflict, InvalidEvidence, InvalidSetting
from journeyman.files.home import EVIDENCE_KEY
from journeyman.settings import Settings

ALGORITHM = "ed25519"
_RAW_BYTES = 32


@dataclass(frozen=True)
class PublicKey:
    raw: bytes

    @property
    def key_id(self) -> str:
        return hashlib.sha256(self.raw).hexdigest()

    @property
    def text(self) -> str:
        """As the API serves it."""
        return base64.b64encode(self.raw).decode()

    def verifies(self, signature: bytes, message: bytes) -> bool:
        try:
            Ed25519PublicKey.from_public_bytes(self.raw).verify(signature, message)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True)
class EvidenceKey:
    private: Ed25519PrivateKey = field(repr=False)

    @property
    def public(self) -> PublicKey:
        return PublicKey(self.private.public_key().public_bytes_raw())

    def sign(self, message: bytes) -> bytes:
        return self.private.sign(message)


def evidence_key(settings: Settings) -> EvidenceKey:
    """The key of the setting, else that of the home."""
    given = settings.evidence_key
    return parse_private_key(given.get_secret_value() if given else stored_key(settings.home))


def stored_key(home: Path) -> str:
    """The private key of a home, in one line of base64; made at the first use."""
    path = home / EVIDENCE_KEY
    with suppress(FileNotFoundError):
        return _body(path)
    _make(path)
    return _body(path)


def parse_private_key(text: str) -> EvidenceKey:
    """A key as PEM, as the base64 lines of a PEM, or as base64 of 32 bytes. Raises InvalidSetting."""
    try:
        der = base64.b64decode("".join(_lines(text)), validate=True)
        if len(der) == _RAW_BYTES:
            return EvidenceKey(Ed25519PrivateKey.from_private_bytes(der))
        found = serialization.load_der_private_key(der, password=None)
    except (binascii.Error, ValueError, TypeError, UnsupportedAlgorithm):
        found = None
    if not isinstance(found, Ed25519PrivateKey):
        raise InvalidSetting(
            "JOURNEYMAN_EVIDENCE_KEY is not an Ed25519 private key",
            hint="Give PEM, as `openssl genpkey -algorithm ed25519` prints it, or base64 of 32 bytes.",
        )
    return EvidenceKey(found)


def parse_public_key(text: str) -> PublicKey:
    """A key as PEM or as base64 of 32 bytes. Raises InvalidEvidence."""
    try:
        der = base64.b64decode("".join(_lines(text)), validate=True)
        if len(der) == _RAW_BYTES:
            return PublicKey(der)
        found = serialization.load_der_public_key(der)
    except (binascii.Error, ValueError, UnsupportedAlgorithm):
        found = None
    if not isinstance(found, Ed25519PublicKey):
        raise InvalidEvidence(
            "it is not an Ed25519 public key", hint="`jm evidence` prints the server's keys."
        )
    return PublicKey(found.public_bytes_raw())


def _lines(text: str) -> list[str]:
    """The base64 of a PEM without its header and footer, or the text itself."""
    lines = (line.strip() for line in text.strip().splitlines())
    return [line for line in lines if not line.startswith("-----")]


def _body(path: Path) -> str:
    try:
        text = path.read_text(encoding="ascii")
        parse_private_key(text)
    except (InvalidSetting, UnicodeDecodeError):
        raise Conflict(
            f"{path} is damaged",
            hint="Restore it from a backup. Without one move it away: a new key is made at the next start, "
            "and evidence of the old one can still be verified.",
        ) from None
    return "".join(_lines(text))


def _make(path: Path) -> None:
    """Write a new key whole, unless another process has done so first: a link never replaces a file."""
    pem = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()
