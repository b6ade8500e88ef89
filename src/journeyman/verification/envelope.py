"""DSSE envelopes: a payload with an Ed25519 signature over its type and its bytes.

The reader is strict, because an envelope may come from anywhere: one signature, no field that is not signed,
canonical base64, bounded size. Nothing of the payload is parsed before the signature is known to be good.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from journeyman.access.signing import EvidenceKey, PublicKey
from journeyman.errors import InvalidEvidence

PAYLOAD_TYPE = "application/vnd.in-toto+json"
MEDIA_TYPE = "application/vnd.dsse.envelope.v1+json"
MAX_BYTES = 8_000_000
"""Larger envelopes are not read; ours stay below a tenth of it."""

_Text = Annotated[str, Field(max_length=MAX_BYTES)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Signature(_Model):
    keyid: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    sig: Annotated[str, Field(max_length=200)]


class Envelope(_Model):
    """As it is on the wire."""

    payloadType: Annotated[str, Field(max_length=200)]
    payload: _Text
    signatures: Annotated[list[Signature], Field(min_length=1, max_length=1)]

    @property
    def key_id(self) -> str:
        """The key that claims to have signed it: a hint, which nothing protects."""
        return self.signatures[0].keyid


@dataclass(frozen=True)
class Opened:
    payload: bytes
    key: PublicKey


def pae(payload_type: str, payload: bytes) -> bytes:
    """What is signed: DSSE's pre-authentication encoding."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def seal(payload: bytes, key: EvidenceKey) -> dict[str, Any]:
    """The envelope of a payload, as a JSON document."""
    signature = key.sign(pae(PAYLOAD_TYPE, payload))
    return {
        "payloadType": PAYLOAD_TYPE,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [{"keyid": key.public.key_id, "sig": base64.b64encode(signature).decode()}],
    }


def read_envelope(content: bytes) -> Envelope:
    """An envelope of unknown origin. Raises InvalidEvidence."""
    if len(content) > MAX_BYTES:
        raise InvalidEvidence(f"the envelope has more than {MAX_BYTES:,} bytes")
    try:
        return Envelope.model_validate(strict_json(content))
    except ValidationError as error:
        raise InvalidEvidence(f"it is not a DSSE envelope: {first_mistake(error)}") from None


def open_envelope(envelope: Envelope, keys: Mapping[str, PublicKey]) -> Opened:
    """The payload, once its signature is known to be good by one of the keys, which are named by their id.

    Raises InvalidEvidence.
    """
    if envelope.payloadType != PAYLOAD_TYPE:
        raise InvalidEvidence(f"its payload is {envelope.payloadType!r}, not an in-toto statement")
    key = keys.get(envelope.key_id)
    if key is None:
        raise InvalidEvidence(
            f"it is signed by the key {envelope.key_id[:16]}…, which is not known here",
            hint="Give the public key of the server that made it (--key), or ask that server (--server).",
        )
    payload = _decoded(envelope.payload, "payload")
    if not key.verifies(_decoded(envelope.signatures[0].sig, "signature"), pae(PAYLOAD_TYPE, payload)):
        raise InvalidEvidence("the signature does not fit: it was changed, or another key made it")
    return Opened(payload, key)


def strict_json(content: bytes) -> Any:
    """JSON in which no name is given twice. Raises InvalidEvidence."""
    try:
        return json.loads(content, object_pairs_hook=_unique, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise InvalidEvidence(f"it is not JSON: {str(error)[:200]}") from None


def first_mistake(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'document'}: {first['msg']}"[:300]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is given twice")
    return found


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number of JSON")


def _decoded(text: str, what: str) -> bytes:
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        decoded = b""
    if base64.b64encode(decoded).decode() != text:
        raise InvalidEvidence(f"the {what} is not base64")
    return decoded
