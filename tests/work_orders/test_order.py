"""Names and texts of an order, which end up in refs, shells and prompts."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journeyman.errors import InvalidInput
from journeyman.work_orders.order import (
    MAX_PROMPT_CHARACTERS,
    branch_name_of,
    check_branch_name,
    check_prompt,
    new_order_id,
    title_of,
)
from tests.work_orders.orders import an_order


def test_an_order_id_is_what_the_contract_says() -> None:
    assert re.fullmatch(r"wo-[0-9a-z]{8}", new_order_id())


@given(st.text(max_size=300))
def test_a_title_holds_nothing_that_cannot_be_seen(prompt: str) -> None:
    seen = title_of(prompt).replace("\u200c", "").replace("\u200d", "")
    assert not {unicodedata.category(c) for c in seen} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


def test_a_title_does_not_turn_its_text_around() -> None:
    assert title_of("\u2066Fix\u202e the\tpager\u200f\n\nMore.") == "Fix the pager"


def test_a_cancelled_order_says_what_is_kept_of_it() -> None:
    order = an_order(status="cancelled", snapshot_ref="refs/journeyman/snapshots/wo-1/1")
    assert order.kept is not None
    assert order.kept.snapshot_ref == "refs/journeyman/snapshots/wo-1/1"
    assert an_order(status="completed").kept is None


def test_a_branch_name_tells_the_task_and_the_order() -> None:
    assert branch_name_of("Fix the Pager's off-by-one!", "wo-abc12345") == (
        "journeyman/fix-the-pager-s-off-by-one-wo-abc12345"
    )


@given(st.text(max_size=300))
def test_whatever_the_title_the_branch_name_is_safe(title: str) -> None:
    name = branch_name_of(title, "wo-abc12345")
    assert check_branch_name(name) == name
    assert len(name) < 80


@pytest.mark.parametrize(
    "name",
    [
        "",
        "-x",
        "a b",
        "a..b",
        "a`id`",
        "$(id)",
        "${IFS}id",
        "a\u3000b",
        "refs/heads/x",
        "HEAD",
        "@",
        "a/",
        "/a",
        "a//b",
        ".a",
        "a/.b",
        "a.lock",
        "a.",
        "a~1",
        "a^",
        "a:b",
        "a\nb",
        "x" * 201,
        "--upload-pack=x",
    ],
)
def test_a_branch_name_with_tricks_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput):
        check_branch_name(name)


@pytest.mark.parametrize("name", ["fix-auth", "feature/x.y_z", "a", "release/1.2"])
def test_an_ordinary_branch_name_is_accepted(name: str) -> None:
    assert check_branch_name(name) == name


def test_a_title_is_the_first_line_cut_at_a_word() -> None:
    assert title_of("\n  Fix it \nmore") == "Fix it"
    long = title_of("word " * 40)
    assert len(long) <= 72
    assert long.endswith("word…")


@pytest.mark.parametrize("text", ["a\0b", "a\x1b[31m", "a\x07", "a\x9bb", "x" * (MAX_PROMPT_CHARACTERS + 1)])
def test_a_prompt_that_is_not_plain_text_or_too_long_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        check_prompt(text)


def test_a_prompt_keeps_its_lines_tabs_and_letters() -> None:
    assert check_prompt("Füge\r\n\tdas ein 🙂") == "Füge\r\n\tdas ein 🙂"
