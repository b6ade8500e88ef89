"""What sandboxes write to the disk: counted, bounded, thrown away, and never at the server's cost."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from journeyman.errors import DiskQuotaExceeded, StoreUnavailable
from journeyman.files.removal import remove_tree
from journeyman.sandboxes.base import SandboxLimits, SandboxSpec
from journeyman.sandboxes.local import LocalSandboxes
from journeyman.sandboxes.quota import DiskUsage, measure
from journeyman.sandboxes.reserve import Disk, DiskReserve
from journeyman.settings import Settings
from tests.faults.waiting import wait_for
from tests.sandboxes.specs import hold, spec_for

_MB = 1024 * 1024
_NEVER = "head -c 40M /dev/zero > {0}; sleep 1000"


@pytest.fixture
async def watched(jails: LocalSandboxes) -> AsyncIterator[LocalSandboxes]:
    watching = asyncio.create_task(jails.monitor_disk())
    yield jails
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("only root may mount a disk")
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100M", "tmpfs", place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


async def until(holds: Callable[[], bool], what: str) -> None:
    await asyncio.to_thread(wait_for, holds, what, 20)


@pytest.mark.parametrize(
    ("usage", "what"),
    [
        (DiskUsage(size=64 * _MB, files=1000), None),
        (DiskUsage(size=64 * _MB + 1), "more than 64 MB"),
        (DiskUsage(files=1001), "more than 1,000 files"),
        (DiskUsage(is_too_deep=True), "nested too deeply"),
    ],
)
def test_a_quota_has_bytes_files_and_depth(usage: DiskUsage, what: str | None) -> None:
    exceeded = usage.exceeds(SandboxLimits(disk_mb=64, files=1000))
    assert exceeded is None if what is None else what in str(exceeded)


@pytest.mark.parametrize(
    ("free", "held", "is_low", "has_room"),
    [(0, 10, True, False), (9, 10, True, False), (10, 10, False, False), (20, 10, False, True)],
)
def test_the_reserve_counts_as_taken_whether_its_file_is_there_or_not(
    free: int, held: int, is_low: bool, has_room: bool
) -> None:
    for disk in (Disk(free, held, reserve=10), Disk(free + held, 0, reserve=10)):
        assert (disk.is_low, disk.has_room_again) == (is_low, has_room)


def test_blocks_are_counted_and_a_file_with_two_names_once(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one").write_bytes(os.urandom(_MB))
    os.link(tmp_path / "a" / "one", tmp_path / "two")
    with (tmp_path / "sparse").open("wb") as sparse:
        sparse.truncate(1000 * _MB)
    usage = measure([tmp_path], SandboxLimits())
    assert _MB <= usage.size < 2 * _MB
    assert usage.files == 4


def test_a_file_that_is_open_and_has_no_name_is_counted(tmp_path: Path) -> None:
    with (tmp_path / "hidden").open("wb") as hidden:
        hidden.write(os.urandom(_MB))
        hidden.flush()
        (tmp_path / "hidden").unlink()
        assert measure([tmp_path], SandboxLimits()).size < _MB
        assert measure([tmp_path], SandboxLimits(), [os.getpid()]).size >= _MB


def test_directories_that_no_path_can_name_are_noticed(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    for _ in range(30):
        os.mkdir("d" * 200, dir_fd=descriptor)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    os.close(descriptor)
    assert measure([tmp_path], SandboxLimits()).is_too_deep
    remove_tree(tmp_path)


def test_counting_ends_where_it_is_too_much(tmp_path: Path) -> None:
    for name in range(50):
        (tmp_path / str(name)).mkdir()
        for number in range(10):
            (tmp_path / str(name) / str(number)).touch()
    assert 100 < measure([tmp_path], SandboxLimits(files=100)).files < 200


@pytest.mark.parametrize("place", ["/workspace/full", "/tmp/full", "/home/agent/full"])
async def test_a_sandbox_that_writes_more_than_its_quota_is_stopped(
    watched: LocalSandboxes, tmp_path: Path, place: str
) -> None:
    spec = spec_for(tmp_path, limits=SandboxLimits(disk_mb=20))
    sandbox = await watched.setup(spec)
    with pytest.raises(DiskQuotaExceeded, match="more than 20 MB"):
        await sandbox.execute_command(_NEVER.format(place), timeout=60)
    assert not sandbox.is_alive
    with pytest.raises(DiskQuotaExceeded):
        await watched.setup(spec)
    await watched.cleanup(spec.order_id)
    (spec.tree / "full").unlink(missing_ok=True)
    assert (await (await watched.setup(spec)).execute_command("true", timeout=20)).ok


async def test_a_quota_is_the_orders_and_not_each_sandboxs(watched: LocalSandboxes, tmp_path: Path) -> None:
    spec = spec_for(tmp_path, limits=SandboxLimits(disk_mb=30))
    reader = await watched.setup(spec_for_reading(spec))
    await reader.execute_command("head -c 20M /dev/urandom > /tmp/a", timeout=60)
    writer = await watched.setup(spec)
    with pytest.raises(DiskQuotaExceeded):
        await writer.execute_command("head -c 20M /dev/urandom > /tmp/b; sleep 1000", timeout=60)


async def test_a_home_and_tmp_have_room_that_memory_would_not_give(
    watched: LocalSandboxes, tmp_path: Path
) -> None:
    sandbox = await watched.setup(spec_for(tmp_path, limits=SandboxLimits(memory_mb=64)))
    fill = "for d in /tmp /home/agent; do head -c 100M /dev/zero > $d/a || exit; done; stat -fc %T /tmp ~"
    done = await sandbox.execute_command(fill, timeout=120)
    assert done.ok, done.output
    assert "tmpfs" not in done.output


async def test_nothing_in_a_home_or_tmp_is_there_in_the_next_sandbox(
    watched: LocalSandboxes, home: Path, tmp_path: Path
) -> None:
    spec = spec_for(tmp_path)
    first = await watched.setup(spec)
    leave = "echo evil > ~/.bashrc; mkdir -p ~/.local; echo evil > /tmp/x; chmod 0 ~/.local ~"
    assert (await first.execute_command(leave, timeout=20)).ok
    other = await watched.setup(spec_for_reading(spec))
    assert (await other.execute_command("ls -A ~ /tmp", timeout=20)).output == "/home/agent:\n\n/tmp:\n"
    await watched.cleanup(spec.order_id)
    again = await watched.setup(spec)
    assert (await again.execute_command("ls -A ~ /tmp", timeout=20)).output == "/home/agent:\n\n/tmp:\n"
    await watched.cleanup(spec.order_id)
    trash = home / "scratch" / ".trash"
    await until(lambda: list(trash.iterdir()) == [], "scratch directories are deleted")
    assert list((home / "scratch").iterdir()) == [trash]


async def test_a_sweep_throws_away_what_a_killed_server_left_and_nothing_in_use(
    jails: LocalSandboxes, home: Path, tmp_path: Path
) -> None:
    left, kept = spec_for(tmp_path), spec_for(tmp_path)
    with hold(home, left) as journeyman:
        assert journeyman.stdout is not None
        assert journeyman.stdout.readline() == "ready\n"
        journeyman.kill()
    sandbox = await jails.setup(kept)
    assert f"scratch directories of {left.order_id}" in await jails.sweep({left.order_id, kept.order_id})
    assert not (home / "scratch" / left.order_id).exists()
    assert (await sandbox.execute_command("touch ~/x /tmp/x", timeout=20)).ok


async def test_a_full_disk_stops_the_sandbox_that_filled_it_and_no_other(
    small_disk: Path, tmp_path: Path
) -> None:
    home = small_disk / "home"
    home.mkdir()
    jails = LocalSandboxes(Settings(home=home))
    watching = asyncio.create_task(jails.monitor_disk())
    reserve = DiskReserve(home, 256)
    await until(lambda: reserve.look().held > 0, "the reserve is taken")
    innocent, hostile = await jails.setup(spec_for(small_disk)), await jails.setup(spec_for(small_disk))
    with pytest.raises(DiskQuotaExceeded, match="the disk is full"):
        await hostile.execute_command("cat /dev/zero > full; sleep 1000", timeout=60)
    await until(lambda: reserve.look().held == 0, "the reserve is given back")
    (home / "what the server writes").write_bytes(bytes(500_000))
    assert (await innocent.execute_command("true", timeout=20)).ok
    with pytest.raises(StoreUnavailable):
        await jails.setup(spec_for(small_disk))
    (hostile.spec.tree / "full").unlink()
    await until(lambda: reserve.look().held > 0, "the reserve is taken again")
    watching.cancel()
    await jails.close()


async def test_a_disk_that_somebody_else_filled_stops_no_sandbox(small_disk: Path) -> None:
    home = small_disk / "home"
    home.mkdir()
    jails = LocalSandboxes(Settings(home=home))
    watching = asyncio.create_task(jails.monitor_disk())
    sandbox = await jails.setup(spec_for(small_disk))
    ballast = small_disk / "ballast"
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(small_disk).free)
    reserve = DiskReserve(home, 256)
    await until(lambda: reserve.look().held == 0, "the reserve is given back")
    assert (await sandbox.execute_command("true", timeout=20)).ok
    watching.cancel()
    await jails.close()


def spec_for_reading(spec: SandboxSpec) -> SandboxSpec:
    return replace(spec, writable=False)
