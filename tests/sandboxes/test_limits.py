"""A jail that takes all it can get takes it from nobody else."""

from pathlib import Path

import pytest

from journeyman.sandboxes.base import SandboxLimits
from journeyman.sandboxes.control_groups import ControlGroups
from journeyman.sandboxes.local import LocalSandboxes
from tests.sandboxes.specs import control_groups_of, processes_of, spec_for, wait_until_gone

HOG = "import sys; x = [bytes(range(256)) * 4096 for _ in range(int(sys.argv[1]))]; print(len(x), flush=True)"

SIX = """
import subprocess, sys
start = lambda: subprocess.Popen(
    [sys.executable, "hog.py", "40"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
hogs = [start() for _ in range(6)]
got = [hog for hog in hogs if hog.stdout.readline() == b"40\\n"]
print(sum(hog.poll() is None for hog in got))
"""
"""Six that hold 40 MB each until they are told to go; says how many have it at the same time."""

MANY = """
import subprocess
started = 0
try:
    while started < 100:
        subprocess.Popen(["sleep", "1000"])
        started += 1
except OSError:
    print(started)
"""


@pytest.fixture
def groups(jails: LocalSandboxes) -> None:
    probe = ControlGroups("probe")
    usable = probe.make("wo-probe", SandboxLimits())
    if usable is None:
        pytest.skip("this machine has no control groups to write to")
    usable.remove()
    probe.close()


async def test_a_memory_hog_is_ended_and_the_jail_goes_on(jails: LocalSandboxes, tmp_path: Path) -> None:
    sandbox = await jails.setup(spec_for(tmp_path, limits=SandboxLimits(memory_mb=128)))
    hog = await sandbox.execute_command(["python3", "-c", HOG, "1000"], timeout=120)
    assert not hog.ok
    assert not hog.timed_out
    assert (await sandbox.execute_command(["python3", "-c", HOG, "20"], timeout=60)).output == "20\n"


@pytest.mark.usefixtures("groups")
async def test_the_memory_of_all_processes_is_counted_together(jails: LocalSandboxes, tmp_path: Path) -> None:
    sandbox = await jails.setup(spec_for(tmp_path, limits=SandboxLimits(memory_mb=128)))
    await sandbox.write_file("hog.py", f"{HOG}; sys.stdin.read()".encode())
    await sandbox.write_file("six.py", SIX.encode())
    done = await sandbox.execute_command(["python3", "six.py"], timeout=60)
    assert 1 <= int(done.output) < 6


async def test_full_shared_memory_leaves_room_to_clean_up(jails: LocalSandboxes, tmp_path: Path) -> None:
    sandbox = await jails.setup(spec_for(tmp_path, limits=SandboxLimits(memory_mb=128)))
    fill = "head -c 500M /dev/zero > /dev/shm/a"
    assert "No space left" in (await sandbox.execute_command(fill, timeout=60)).output
    assert (await sandbox.execute_command("rm /dev/shm/a", timeout=60)).ok


async def test_a_fork_bomb_is_contained_and_ended_by_its_time_limit(
    jails: LocalSandboxes, tmp_path: Path
) -> None:
    spec = spec_for(tmp_path, limits=SandboxLimits(processes=40))
    sandbox = await jails.setup(spec)
    done = await sandbox.execute_command("bomb() { bomb | bomb & wait; }; bomb 2>/dev/null", timeout=2)
    assert done.timed_out or not done.ok
    assert (await sandbox.execute_command("true", timeout=20)).ok
    assert len(processes_of(spec.order_id)) <= 40


async def test_more_processes_than_allowed_are_refused(jails: LocalSandboxes, tmp_path: Path) -> None:
    spec = spec_for(tmp_path, limits=SandboxLimits(processes=30))
    sandbox = await jails.setup(spec)
    done = await sandbox.execute_command(["python3", "-c", MANY], timeout=60)
    assert 0 < int(done.output) < 30


@pytest.mark.usefixtures("groups")
async def test_every_command_is_inside_the_group_and_the_group_goes_with_the_jail(
    jails: LocalSandboxes, tmp_path: Path
) -> None:
    spec = spec_for(tmp_path)
    sandbox = await jails.setup(spec)
    await sandbox.execute_command("(setsid sleep 1000 &) ; sleep 1000 & true", timeout=20)
    groups = control_groups_of(spec.order_id)
    held = {int(pid) for path in groups for pid in (path / "cgroup.procs").read_text().split()}
    started = processes_of(spec.order_id)
    assert len(started) >= 3
    assert set(started) <= held
    await jails.cleanup(spec.order_id)
    wait_until_gone(started)
    assert control_groups_of(spec.order_id) == []
