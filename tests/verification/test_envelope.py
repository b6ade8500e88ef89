"""Envelopes: what we sign others can check, and nothing that was touched is accepted."""

import base64
import json
from typing import Any

import pytest
from securesystemslib.dsse import Envelope as ForeignEnvelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer._key import SSlibKey

from journeyman.access.signing import EvidenceKey
from journeyman.errors import InvalidEvidence
from journeyman.verification.envelope import MAX_BYTES, open_envelope, pae, read_envelope
from tests.verification.evidences import KEY, KNOWN, OTHER_KEY, PRINTED, an_evidence, payload_of, sealed


def opened(envelope: Any) -> bytes:
    content = envelope if isinstance(envelope, bytes) else json.dumps(envelope).encode()
    return open_envelope(read_envelope(content), KNOWN).payload


def _foreign_key(key: EvidenceKey) -> SSlibKey:
    return SSlibKey(key.public.key_id, "ed25519", "ed25519", {"public": key.public.raw.hex()})


def test_what_was_signed_comes_out_again() -> None:
    assert opened(sealed()) == payload_of(an_evidence(), PRINTED)


def test_another_implementation_of_dsse_verifies_our_envelope() -> None:
    foreign = ForeignEnvelope.from_dict(sealed())
    assert list(foreign.verify([_foreign_key(KEY)], 1)) == [KEY.public.key_id]
    with pytest.raises(VerificationError):
        foreign.verify([_foreign_key(OTHER_KEY)], 1)


def test_what_is_signed_is_the_encoding_of_the_standard() -> None:
    assert pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )


def test_no_byte_of_an_envelope_can_be_changed() -> None:
    whole = json.dumps(sealed(), separators=(",", ":")).encode()
    accepted = []
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1
        try:
            opened(bytes(changed))
        except InvalidEvidence:
            continue
        accepted.append(place)
    assert accepted == []


def _with(**fields: Any) -> dict[str, Any]:
    return {**sealed(), **fields}


def _signature(**fields: Any) -> dict[str, Any]:
    return {**sealed()["signatures"][0], **fields}


HOSTILE = {
    "empty": b"",
    "no JSON": b"\x00\xff\xfe",
    "a list": b"[]",
    "deeper than any stack": b"[" * 1_000_000,
    "too large": b" " * (MAX_BYTES + 1),
    "a number of a million digits": b'{"payload": ' + b"9" * 1_000_000 + b"}",
    "a name given twice": json.dumps(sealed()).encode().replace(b"{", b'{"payload": "", ', 1),
    "an unsigned field": _with(passed=True),
    "another payload type": _with(payloadType="application/json"),
    "a type that is a number": _with(payloadType=1),
    "a payload that is an object": _with(payload={}),
    "a payload that is not base64": _with(payload="%%%"),
    "a payload in the alphabet of addresses": _with(
        payload=base64.urlsafe_b64encode(b"\xff\xfe\xfd" * 10).decode()
    ),
    "no signature": _with(signatures=[]),
    "a second signature": _with(signatures=[_signature(), sealed(key=OTHER_KEY)["signatures"][0]]),
    "the same signature twice": _with(signatures=[_signature(), _signature()]),
    "a signature that is a text": _with(signatures=["x"]),
    "a signature of another length": _with(signatures=[_signature(sig="AAAA")]),
    "a signature by an unknown key": sealed(key=OTHER_KEY),
    "a signature by another key under a known name": _with(
        signatures=[_signature(sig=sealed(key=OTHER_KEY)["signatures"][0]["sig"])]
    ),
    "a signature of another payload": _with(payload=sealed(an_evidence(attempt=2))["payload"]),
    "a key that is no hash": _with(signatures=[_signature(keyid="../../etc/passwd")]),
}


@pytest.mark.parametrize("envelope", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_forged_or_broken_envelope_is_refused(envelope: Any) -> None:
    with pytest.raises(InvalidEvidence):
        opened(envelope)
