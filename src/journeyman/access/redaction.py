"""Take secrets out of text before it is stored, logged or shown.

No secret enters a sandbox, so none should ever come out of one; this is the second lock on the
same door. Values are replaced plain, URL-quoted, in hex and in base64, as JSON writes them.
"""

import base64
import json
import re
from collections.abc import Iterable
from urllib.parse import quote

_SHORTEST = 8
"""Shorter values would turn ordinary words into stars."""


class Redactor:
    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {form for secret in secrets if len(secret) >= _SHORTEST for form in _forms(secret)}
        longest_first = sorted(forms, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def redact(self, text: str) -> str:
        return self._pattern.sub("[redacted]", text) if self._pattern else text


def _forms(secret: str) -> Iterable[str]:
    yield secret
    yield quote(secret, safe="")
    yield json.dumps(secret)[1:-1]
    yield secret.encode().hex()
    yield secret.encode().hex().upper()
    # Base64 of a text that holds the secret depends on where it begins: take the part common to each offset.
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + secret.encode()).decode().rstrip("=")
        common = encoded[(0, 2, 3)[offset] : len(encoded) - (0 if (offset + len(secret)) % 3 == 0 else 1)]
        yield common
        yield common.replace("+", "-").replace("/", "_")
