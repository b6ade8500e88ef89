"""Secrets are taken out of text in every form they may have on the way."""

import base64
import itertools
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


@given(st.lists(st.integers(0, 60)), st.sampled_from([SECRET, RAW.hex(), f"{SECRET}{SECRET}", "ghp_a", "é"]))
def test_a_secret_that_arrives_in_pieces_is_found_and_nothing_else_is_lost(
    cuts: list[int], middle: str
) -> None:
    whole = f"before {middle} after"
    places = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    pieces = Redactor([SECRET]).in_pieces()
    told = [pieces.feed(whole[start:end]) for start, end in itertools.pairwise(places)] + [pieces.end()]
    assert "".join(told) == Redactor([SECRET]).redact(whole)


def test_a_whole_line_is_never_held_back() -> None:
    pieces = Redactor([SECRET]).in_pieces()
    assert pieces.feed("data: ghp\n\n") == "data: ghp\n\n"
    assert (pieces.feed("data: ghp"), pieces.feed("x"), pieces.end()) == ("data: ", "ghpx", "")
