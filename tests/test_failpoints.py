"""Moments at which a test lets the product fail: armed by name, and by nothing else."""

import ast
import errno
from collections.abc import Iterator

import pytest

from journeyman.errors import InvalidSetting, Transient
from journeyman.failpoints import MOMENTS, arm, failpoint
from tests.house.source import modules


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    arm("")


def test_a_moment_that_is_not_armed_passes() -> None:
    arm("commit_made=raise")
    failpoint("commit_started")


def test_a_moment_fails_once_when_it_is_reached() -> None:
    arm("commit_made=raise")
    with pytest.raises(Transient):
        failpoint("commit_made")
    failpoint("commit_made")


def test_a_moment_fails_from_the_time_that_was_named_and_as_often() -> None:
    arm("snapshot_started=enospc@2*2,push_sent=raise")
    failpoint("snapshot_started")
    for _ in range(2):
        with pytest.raises(OSError, match="No space left") as full:
            failpoint("snapshot_started")
        assert full.value.errno == errno.ENOSPC
    failpoint("snapshot_started")


@pytest.mark.parametrize(
    "wrong",
    ["comit=kill", "commit_made", "commit_made=explode", "commit_made=kill@x", "push_sent=kill@1*y"],
)
def test_what_cannot_be_armed_is_refused_with_the_list(wrong: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        arm(wrong)
    assert "push_acknowledged" in refused.value.hint
    assert "stop" in refused.value.hint


def test_every_moment_is_somewhere_in_the_product() -> None:
    named = [
        str(node.args[0].value)
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "failpoint"
        and isinstance(node.args[0], ast.Constant)
    ]
    assert sorted(named) == sorted(MOMENTS)
