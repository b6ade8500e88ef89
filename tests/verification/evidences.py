"""Evidence as a verification leaves it, and envelopes of it."""

import base64
import json
from datetime import UTC, datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from journeyman.access.signing import EvidenceKey
from journeyman.verification.envelope import seal
from journeyman.verification.statement import attest, statement_of
from journeyman.work_orders.order import CheckOutput, Evidence

KEY = EvidenceKey(Ed25519PrivateKey.from_private_bytes(b"k" * 32))
OTHER_KEY = EvidenceKey(Ed25519PrivateKey.from_private_bytes(b"o" * 32))
KNOWN = {KEY.public.key_id: KEY.public}
PRINTED = CheckOutput(check_name="pytest", output=b"12 passed\n")


def a_check(name: str = "pytest", **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "kind": "test",
        "command": "python -m pytest",
        "workdir": ".",
        "outcome": "passed",
        "summary": "12 passed",
        "tests": {"passed": 12, "failed": 0, "skipped": 0},
        "exit_code": 0,
        "duration_seconds": 1.5,
        **fields,
    }


def an_evidence(**fields: Any) -> Evidence:
    known: dict[str, Any] = {
        "agent_work_order_id": "wo-1a2b3c4d",
        "round": 1,
        "step": "verify",
        "attempt": 1,
        "commit_sha": "a" * 40,
        "tree_sha": "b" * 40,
        "base_commit_sha": "c" * 40,
        "base_tree_sha": "d" * 40,
        "environment": {"layer": "e" * 40, "image": None, "variables": ["DATABASE_URL"]},
        "passed": True,
        "checks": [a_check()],
        "summary": "pytest: 12 passed",
        "created_at": datetime(2026, 11, 17, tzinfo=UTC),
    }
    return Evidence(**{**known, **fields})


def payload_of(evidence: Evidence, *outputs: CheckOutput) -> bytes:
    return statement_of(
        evidence,
        outputs,
        repository_url="https://github.com/acme/api",
        branch="journeyman/fix-wo-1a2b3c4d",
        journeyman="1.0",
    )


def statement(evidence: Evidence, *outputs: CheckOutput) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(payload_of(evidence, *outputs))
    return document


def sealed(evidence: Evidence | None = None, key: EvidenceKey = KEY) -> dict[str, Any]:
    return seal(payload_of(evidence or an_evidence(), PRINTED), key)


def resealed(envelope: dict[str, Any], change: Any, key: EvidenceKey = KEY) -> dict[str, Any]:
    """The same statement with something changed in it, signed again."""
    document = json.loads(base64.b64decode(envelope["payload"]))
    change(document)
    return seal(json.dumps(document).encode(), key)


def attested(evidence: Evidence) -> Evidence:
    return attest(
        evidence, [PRINTED], KEY, repository_url="file:///srv/api", branch="b", redact=lambda text: text
    )
