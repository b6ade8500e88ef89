"""Take secrets out of text before it is stored, logged or shown.

No secret enters a sandbox, so none should ever come out of one; this is the second line of defence.
Values are replaced plain, URL-quoted, in hex and in base64, and as JSON escapes them.
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
        self._forms = longest_first
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def redact(self, text: str) -> str:
        return self._pattern.sub("[redacted]", text) if self._pattern else text

    def places_in(self, text: str) -> list[int]:
        """Where secrets begin in a text."""
        return [found.start() for found in self._pattern.finditer(text)] if self._pattern else []

    def in_pieces(self) -> "Pieces":
        """For one text that arrives in pieces."""
        return Pieces(self, self._forms)


class Pieces:
    """Redacts a text as it arrives. Only what may be the beginning of a secret is held back for a moment."""

    def __init__(self, redactor: Redactor, forms: list[str]) -> None:
        self._redactor = redactor
        self._forms = forms
        self._longest = len(forms[0]) if forms else 0
        self._held = ""

    def feed(self, piece: str) -> str:
        if not self._forms:
            return piece
        text = self._redactor.redact(self._held + piece)
        # No secret goes over the end of a line, and most pieces end with one.
        place = len(text) if text.endswith("\n") else self._beginning_in(text)
        self._held = text[place:]
        return text[:place]

    def end(self) -> str:
        """What was held back and turned out to be no secret."""
        rest, self._held = self._held, ""
        return rest

    def _beginning_in(self, text: str) -> int:
        for place in range(max(0, len(text) - self._longest + 1), len(text)):
            tail = text[place:]
            if any(form.startswith(tail) for form in self._forms):
                return place
        return len(text)


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
