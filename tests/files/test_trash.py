"""Throwing away takes no time, and what is thrown away is deleted beside the work."""

import asyncio
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from journeyman.files.trash import Trash, undeletable
from tests.faults.waiting import wait_for
from tests.files import traps


@pytest.fixture
def trash(tmp_path: Path) -> Trash:
    return Trash(tmp_path / "trash")


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """Something thrown away with a mount inside: it cannot be deleted, even by root."""
    inside = tmp_path / "trash" / "wo-1" / "a"
    inside.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "none", inside], check=True)
    yield inside.parent
    for line in Path("/proc/self/mounts").read_text().splitlines():
        if str(tmp_path) in line:
            subprocess.run(["umount", line.split()[1]], check=True)


async def test_what_is_thrown_away_is_deleted_while_the_loop_goes_on(trash: Trash, tmp_path: Path) -> None:
    emptying = asyncio.create_task(trash.keep_empty())
    tree = traps.deep(tmp_path / "tree", 1_000)
    trash.put(tree)
    assert not tree.exists()
    await asyncio.to_thread(wait_for, lambda: not list((tmp_path / "trash").iterdir()), "an empty trash")
    emptying.cancel()
    await asyncio.gather(emptying, return_exceptions=True)


async def test_what_another_process_throws_away_is_deleted_too(trash: Trash, tmp_path: Path) -> None:
    emptying = asyncio.create_task(trash.keep_empty())
    await asyncio.sleep(0)
    (tmp_path / "tree").mkdir()
    Trash(tmp_path / "trash").put(tmp_path / "tree")
    await asyncio.to_thread(wait_for, lambda: not list((tmp_path / "trash").iterdir()), "an empty trash")
    emptying.cancel()
    await asyncio.gather(emptying, return_exceptions=True)


def test_what_cannot_be_deleted_is_set_aside_and_told_once_and_all_else_goes(
    trash: Trash, tmp_path: Path, mounted: Path
) -> None:
    traps.wide(tmp_path / "trash" / "wo-2", 3)
    with capture_logs() as told:
        trash.empty()
        trash.empty()
    [aside] = undeletable(tmp_path / "trash")
    assert [entry.name for entry in (tmp_path / "trash").iterdir()] == [aside.name]
    [line] = told
    assert (line["event"], line["path"]) == ("leftover_set_aside", str(aside))


def test_the_next_process_tries_again_what_was_set_aside(trash: Trash, tmp_path: Path, mounted: Path) -> None:
    trash.empty()
    [aside] = undeletable(tmp_path / "trash")
    [mount] = aside.iterdir()
    subprocess.run(["umount", mount], check=True)
    Trash(tmp_path / "trash").empty()
    assert list((tmp_path / "trash").iterdir()) == []


def test_stopping_does_not_wait_for_a_deletion(trash: Trash, tmp_path: Path) -> None:
    traps.wide(tmp_path / "trash" / "wo-1", 100)
    stopped = threading.Event()
    stopped.set()
    trash.empty(stopped)
    assert len(list((tmp_path / "trash" / "wo-1").iterdir())) == 100


def test_throwing_away_nothing_is_fine(trash: Trash, tmp_path: Path) -> None:
    trash.put(tmp_path / "nowhere")
    (tmp_path / "dangling").symlink_to("nowhere")
    trash.put(tmp_path / "dangling")
    trash.empty()
    assert list((tmp_path / "trash").iterdir()) == []
