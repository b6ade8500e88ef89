"""The text of a commit: readable, and its trailers beyond doubt."""

import pytest

from journeyman.forges.base import Person
from journeyman.git.commits import CommitMessage, identity
from journeyman.work_orders.order import branch_name_of


def text_of(
    subject: str = "Add it", body: str = "", subtask: int | None = None, round: int | None = None
) -> str:
    return CommitMessage(
        subject=subject,
        body=body,
        order_id="wo-abc12345",
        phase="implementing",
        step="build",
        subtask=subtask,
        round=round,
    ).text


def test_a_message_ends_in_its_trailers() -> None:
    assert text_of(body="Because.\n\nAnd more.\n") == (
        "Add it\n\n"
        "Because.\n\nAnd more.\n\n"
        "Agent-Work-Order: wo-abc12345\n"
        "Agent-Phase: implementing\n"
        "Agent-Step: build\n"
        "Co-authored-by: Journeyman <agent@journeyman.invalid>\n"
    )


def test_subtask_and_round_are_told_where_they_are_known() -> None:
    assert "Agent-Step: build\nAgent-Subtask: 3\nAgent-Round: 2\nCo-authored-by" in text_of(
        subtask=3, round=2
    )


def test_a_long_subject_is_cut() -> None:
    subject = text_of("word " * 40).partition("\n")[0]
    assert len(subject) <= 72
    assert subject.endswith("…")


def test_a_subject_is_one_line_of_characters_that_can_be_seen() -> None:
    subject = text_of("Add\tit\nnow\x1b[31m \u202ereversed\u200b \ud800!\0").partition("\n")[0]
    assert subject == "Add it now[31m reversed !"


def test_an_empty_subject_says_something() -> None:
    assert text_of(" \n\x00 ").startswith("Change files\n\n")


def test_a_body_keeps_its_lines_and_loses_what_cannot_be_seen() -> None:
    assert "\n\none\n\ttwo\n\nAgent-Work-Order" in text_of(body="one\x07\n\ttwo\ud800  \n\n")


def test_an_author_without_a_usable_name_is_journeyman() -> None:
    assert identity(Person("<>\n", ""))["GIT_AUTHOR_NAME"] == "Journeyman"
    assert identity(Person("Ada\n<Evil>", "ada@example.org"))["GIT_AUTHOR_NAME"] == "Ada <Evil"


@pytest.mark.parametrize(
    "words",
    [
        "Fixes #1",
        "closes: octavia/pager#12",
        "resolves GH-7",
        "Fix https://github.com/o/r/issues/3",
        "@octavia",
        "[skip ci] now",
        "[ci skip]",
        "[no actions]",
    ],
)
def test_a_strangers_words_call_nobody_close_nothing_and_skip_no_checks(words: str) -> None:
    text = CommitMessage(
        subject=words, body=f"Because of\n{words}", order_id="wo-abc12345", phase="implementing", step="build"
    ).text
    assert words not in text
    assert text.replace("\u200b", "").count(words) == 2
    assert text.endswith("\nCo-authored-by: Journeyman <agent@journeyman.invalid>\n")
    assert not set("@#[]") & set(branch_name_of(words, "wo-abc12345"))
