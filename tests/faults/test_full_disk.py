"""No room on the disk: nothing that an agent wrote is given up, and work goes on when there is room again."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from journeyman.failpoints import Moment
from tests.faults.halting import halted, let_go_on
from tests.faults.oracle import told_of, violations
from tests.faults.stage import Customer, Stage, Story, staged
from tests.faults.waiting import wait_for

_DISK_BYTES = 24_000_000


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Stage]:
    """A stage whose home is a small disk of its own."""
    home = tmp_path / "home"
    home.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_DISK_BYTES}", "tmpfs", home], check=True)
    try:
        with staged(tmp_path, "") as stage:
            yield stage
    finally:
        subprocess.run(["umount", "--lazy", home], check=True)


def fill(home: Path) -> Path:
    """Take all the room there is; returns what takes it."""
    ballast = home / "ballast"
    with ballast.open("wb") as file:
        free = os.statvfs(home)
        os.posix_fallocate(file.fileno(), 0, free.f_bavail * free.f_bsize)
    return ballast


def is_waiting(stage: Stage) -> bool:
    return any(word in stage.product.said() for word in ("store_unavailable", "step_retrying"))


@pytest.mark.as_root
@pytest.mark.parametrize(
    ("moment", "story"),
    [
        ("snapshot_started", "pause"),
        ("commit_started", "plain"),
        pytest.param("push_acknowledged", "plain", marks=pytest.mark.lasting),
        pytest.param("teardown_started", "plain", marks=pytest.mark.lasting),
    ],
)
def test_a_full_disk_is_waited_out(small_disk: Stage, moment: Moment, story: Story) -> None:
    customer = Customer(small_disk, story)
    with halted(customer, moment) as seen_through:
        ballast = fill(small_disk.home)
        let_go_on(small_disk)
        # What the database has left in its log may be enough for an order that is nearly done.
        wait_for(lambda: is_waiting(small_disk) or seen_through.done(), "a round that waits, or has ended")
        ballast.unlink()
        order = seen_through.result()
    assert (order["status"], customer.retries) == ("completed", 0), order
    assert violations(customer) == []


def test_a_snapshot_without_room_is_taken_when_there_is_room(stage: Stage) -> None:
    customer = Customer(stage, "pause")
    stage.product.start(JOURNEYMAN_FAILPOINTS="snapshot_started=enospc@1*2")
    order = customer.see_through()
    assert (order["status"], customer.retries) == ("completed", 0), order
    assert violations(customer) == []
    told = told_of(stage, customer.order_id, customer.site.url)
    assert [event["type"] for event in told.events].count("agent_work_order_paused") == 1
    assert stage.product.said().count("git_snapshot_failed") == 1
    assert stage.product.said().count("store_unavailable") == 1
