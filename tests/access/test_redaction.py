"""Secrets are taken out of text in every form they may have on the way."""

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journeyman.access.redaction import Redactor

SECRET = 'ghp_a"b/c+d=e0123456789'


RAW = SECRET.encode()


@pytest.mark.parametrize(
    "form",
    [SECRET, quote(SECRET, safe=""), json.dumps(SECRET)[1:-1], RAW.hex(), RAW.hex().upper()],
)
def test_a_secret_is_found_in_the_forms_it_travels_in(form: str) -> None:
    assert Redactor([SECRET]).redact(f"before {form} after") == "before [redacted] after"


@given(st.binary(max_size=10), st.binary(max_size=10))
def test_a_secret_inside_base64_does_not_survive(before: bytes, after: bytes) -> None:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = encode(before + RAW + after).decode()
        assert "[redacted]" in Redactor([SECRET]).redact(encoded)


def test_ordinary_text_is_left_alone() -> None:
    assert Redactor([SECRET, "short"]).redact("a short text") == "a short text"
