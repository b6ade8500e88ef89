"""An agent that fills the disk harms its own order alone: the server answers, and others go on.

The oracles are the disk, the clock and the repository's own refs.
"""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.faults.waiting import wait_for
from tests.hostile.frame import give_to, product_of
from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, PLANS, builds, calls, git, make_repository, says
from tests.pace import in_time

_DISK_BYTES = 300_000_000
_FILLS = {
    "a large file": "head -c 2G /dev/zero > full",
    "many files": "mkdir many; for i in $(seq 400); do head -c 5M /dev/zero > many/$i; done",
    "small files": "mkdir many; cd many; seq 200000 | split -l 1 -a 5",
    "its temporary directory": "head -c 2G /dev/zero > /tmp/full",
}


@pytest.fixture(scope="module")
def repository(user: str, place: Path) -> Path:
    return give_to(user, make_repository(place / "adder"))


@pytest.fixture(scope="module")
def bounded(user: str, place: Path) -> Iterator[Product]:
    """A product whose orders may have little of a large disk."""
    product = product_of(user, place, JOURNEYMAN_SANDBOX_DISK_MB="64", JOURNEYMAN_SANDBOX_FILES="5000")
    with product:
        yield product


@pytest.fixture(scope="module")
def small(user: str, place: Path) -> Iterator[Product]:
    """A product on a disk so small that no quota is reached before it is full."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a disk")
    disk = place / "small"
    (disk / "home").mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_DISK_BYTES}", "tmpfs", disk], check=True)
    try:
        with product_of(user, give_to(user, disk)) as product:
            yield product
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def runs(command: str) -> dict[str, Any]:
    return {"when": {"role": "build"}, "replies": [calls("shell", command=command), says("Done.")]}


def free(product: Product) -> int:
    disk = os.statvfs(product.home)
    return disk.f_bavail * disk.f_frsize


def kept_files(product: Product, order: dict[str, Any]) -> list[str]:
    """What the newest snapshot of the order holds."""
    events = product.events(order["agent_work_order_id"])
    commit_sha = [event["commit_sha"] for event in events if event["type"] == "git_snapshot_created"][-1]
    mirror = next((product.home / "mirrors").rglob("objects")).parent
    return git(mirror, "-c", "safe.directory=*", "ls-tree", "-r", "--name-only", commit_sha).split()


@pytest.mark.parametrize("fill", _FILLS)
def test_an_order_over_its_quota_fails_and_its_work_is_kept(
    bounded: Product, repository: Path, fill: str
) -> None:
    command = f"printf w > notes.txt; {_FILLS[fill]}; sleep 1000"  # the smallest files are kept first
    model = bounded.script(f"fills-{list(_FILLS).index(fill)}", PLANS, runs(command))
    order = bounded.finish(bounded.submit(repository, model))
    assert (order["status"], order["error_category"]) == ("failed", "sandbox"), order
    assert "notes.txt" in kept_files(bounded, order)
    assert not (bounded.home / "workspaces" / order["agent_work_order_id"]).exists()
    assert not (bounded.home / "scratch" / order["agent_work_order_id"]).exists()
    left_out = [
        event
        for event in bounded.events(order["agent_work_order_id"])
        if event["type"] == "git_files_left_out"
    ]
    if fill != "small files":  # how many of these there were when it was stopped is the machine's affair
        assert bool(left_out) == (fill in ("a large file", "many files")), left_out


def test_an_order_that_fills_the_disk_is_stopped_and_the_disk_is_free_again(
    small: Product, repository: Path
) -> None:
    before = free(small)
    order = small.finish(
        small.submit(
            repository,
            small.script("fills", PLANS, runs("echo work > notes.txt; cat /dev/zero > full; sleep 1000")),
        )
    )
    assert (order["status"], order["error_category"]) == ("failed", "sandbox"), order
    assert "notes.txt" in kept_files(small, order)
    wait_for(lambda: free(small) > before - 10_000_000, "a disk that is free again")
    after = small.finish(small.submit(repository, small.script("fixes", PLANS, builds(FIXED))))
    assert after["status"] == "completed", (after["error_message"], after["error_category"])


def test_a_full_disk_is_told_and_cancel_answers(small: Product, repository: Path) -> None:
    order_id = small.submit(
        repository, small.script("sleeps", PLANS, runs("echo work > notes.txt; sleep 1000"))
    )
    small.until(order_id, lambda event: event["type"] == "tool_call_started" and event["tool"] == "shell")
    ballast = small.home / "ballast"
    try:
        with ballast.open("wb", 0) as file, suppress(OSError):
            while True:
                file.write(bytes(1_000_000))
        wait_for(lambda: small.request("GET", "/ready").status_code == 503, "a server that is not ready")
        assert small.request("GET", "/ready").json()["checks"]["disk"] is False
        began = time.monotonic()
        answer = small.request("POST", f"/api/agent-work-orders/{order_id}/cancel")
        assert in_time(began, 5)
        assert answer.status_code == 202, answer.text
        assert small.order(order_id)["status"] == "cancelled"
    finally:
        ballast.unlink()
    wait_for(lambda: small.request("GET", "/ready").status_code == 200, "a server that is ready")


def test_an_order_that_is_filling_the_disk_can_be_cancelled(small: Product, repository: Path) -> None:
    fill = "echo work > notes.txt; while true; do cat /dev/zero > full; done"
    order_id = small.submit(repository, small.script("fills-on", PLANS, runs(fill)))
    small.until(order_id, lambda event: event["type"] == "tool_call_started" and event["tool"] == "shell")
    wait_for(lambda: free(small) < 30_000_000 or small.order(order_id)["status"] == "failed", "a full disk")
    began = time.monotonic()
    answer = small.request("POST", f"/api/agent-work-orders/{order_id}/cancel")
    assert in_time(began, 5)
    assert answer.status_code in (202, 409), answer.text
    assert small.finish(order_id)["status"] in ("cancelled", "failed")
