"""What a later prompt is taken for where no model sorts it, and what it is called."""

import pytest

from journeyman.work_orders.prompts import Mode, mode_of, subject_of


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("Why does it round up?", "ask"),
        ("Thanks, looks good to me!", "ask"),
        ("LGTM", "ask"),
        ("Perfect! Thank you so much.", "ask"),
        ("Mark the pull request as ready for review", "ask"),
        ("Please merge the PR.", "ask"),
        ("Great, now add a test", "work"),
        ("Merge the two pull request helpers", "work"),
        ("Make it work", "work"),
        ("Take the draft notice out of the README", "work"),
        ("", "work"),
    ],
)
def test_what_asks_for_no_change_is_answered(text: str, mode: Mode) -> None:
    assert mode_of(text) == mode


def test_review_comments_are_called_by_the_first_of_them() -> None:
    comments = "- adder.py:2\n  Use sum().\n- b.py:1\n  No."
    text = f"Review comments on the changes so far. Take each of them up:\n\n{comments}"
    assert subject_of(text) == "Address review comments: Use sum()."
    assert subject_of("Add a test\n\nFor zero.") == "Add a test"
