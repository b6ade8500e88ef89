"""Text of others does nothing on a forge, and ours stays apart from people's."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journeyman.forges.body import (
    BEGIN,
    END,
    MAX_CHARACTERS,
    fenced,
    marked,
    marker,
    merge_body,
    sanitize,
    title_line,
)

ACTIVE = re.compile(
    r"@[\w&]|#\d|\bGH-\d|<[a-z/!?]|&#?\w+;|!\[|^[ \t]*/[a-z]|\b(?:close|fix|resolve)[sd]?:?\s+https?://",
    re.IGNORECASE | re.MULTILINE,
)
PIECES = st.sampled_from(
    (
        *("@", "octavia", "#", "12", "GH-", "Fixes ", "closed: ", "https://github.com/a/b/issues/1"),
        *("<", "!--", "-->", "img src=x>", "!", "[", "](u)", "&", "#64;", "lt;", "/merge", "\n", " "),
        *("\\", "`", "\x1b[31m", "\x00", "\u202e", "\U000e0041", BEGIN, END, "\r\n", "ordinary words"),
    )
)
TEXTS = st.lists(PIECES | st.text(max_size=3), max_size=12).map("".join)


@pytest.mark.parametrize(
    "text",
    [
        "ask @octavia",
        "&#64;octavia and &commat;octavia",
        "fixes #12",
        "closes acme/api#12",
        "GH-12",
        "Resolves: https://github.com/acme/api/issues/12",
        "fixes [it](https://github.com/acme/api/issues/12)",
        f"a {END} b",
        "<img src=https://example.org/x.png>",
        "![shot](https://example.org/x.png)",
        "/merge",
        "  /approve",
    ],
)
def test_text_that_would_do_something_is_changed_only_by_zero_width_spaces(text: str) -> None:
    assert sanitize(text) != text
    assert not ACTIVE.search(sanitize(text))
    assert sanitize(text).replace("\u200b", "") == text


@pytest.mark.parametrize(
    "text",
    ["a < b and b > c", "a & b", "see https://example.org/x", "fixes the greeting", "# Title", "and/or"],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert sanitize(text) == text


def test_colours_and_invisible_characters_are_taken_out() -> None:
    assert sanitize("\x1b[31mred\x1b[0m\x07 \x1b]8;;http://x\x07link\u202e\r\nnext") == "red link\nnext"


@given(TEXTS)
def test_nothing_active_is_left_in_any_text(text: str) -> None:
    assert not ACTIVE.search(sanitize(text))


@given(TEXTS)
def test_a_title_is_one_short_line(text: str) -> None:
    title = title_line(text)

    assert "\n" not in title
    assert len(title) <= 250


@given(st.lists(st.sampled_from(["`", "``", "```", "````", "\n", "text", BEGIN]), max_size=10).map("".join))
def test_no_text_leaves_its_code_block(text: str) -> None:
    first, *inside, last = fenced(text, "console").split("\n")

    assert first == last + "console"
    assert all(last not in line for line in inside)


def test_our_part_goes_below_what_people_wrote_when_the_markers_are_gone() -> None:
    assert merge_body("Their words\n", "ours") == f"Their words\n\n{BEGIN}\nours\n{END}"


def test_a_stray_marker_does_not_swallow_what_people_wrote() -> None:
    body = f"{BEGIN} theirs {BEGIN}\nold\n{END} theirs too {END}"

    assert merge_body(body, "new") == f"{BEGIN} theirs {BEGIN}\nnew\n{END} theirs too {END}"


@given(TEXTS, TEXTS)
def test_merging_twice_is_merging_once(existing: str, own: str) -> None:
    once = merge_body(existing, own)

    assert merge_body(once, own) == once


@given(st.text(), st.text(), st.text(), st.text())
def test_text_around_our_part_survives_every_update(before: str, after: str, old: str, new: str) -> None:
    body = before + merge_body("", old) + after

    assert merge_body(body, new) == before + merge_body("", new) + after


def test_our_part_is_cut_where_the_forge_would_refuse_it() -> None:
    body = merge_body("Their words", "x" * 100_000)

    assert len(body) <= MAX_CHARACTERS
    assert body.startswith("Their words")
    assert body.endswith(END)


def test_a_comment_keeps_its_marker_however_long_it_is() -> None:
    sign = marker("wo-abc12345")

    text = marked("x" * 100_000 + sign, sign)

    assert text.startswith(sign)
    assert len(text) <= MAX_CHARACTERS
