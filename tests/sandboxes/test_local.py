"""How jails begin and end on a machine where things go wrong."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from journeyman.errors import SandboxUnavailable
from journeyman.sandboxes.base import SandboxSpec
from journeyman.sandboxes.local import LocalSandboxes
from journeyman.settings import Settings
from tests.sandboxes.specs import control_groups_of, hold, processes_of, spec_for, wait_until_gone


async def test_when_journeyman_is_killed_its_jails_end(
    jails: LocalSandboxes, home: Path, tmp_path: Path
) -> None:
    spec = spec_for(tmp_path)
    with hold(home, spec) as journeyman:
        assert journeyman.stdout is not None
        assert journeyman.stdout.readline() == "ready\n"
        inside = processes_of(spec.order_id)
        journeyman.kill()
    assert len(inside) >= 2
    wait_until_gone(inside)
    await jails.sweep(set())


async def test_a_sweep_removes_what_a_killed_journeyman_left(
    jails: LocalSandboxes, home: Path, tmp_path: Path
) -> None:
    spec, live = spec_for(tmp_path), spec_for(tmp_path)
    for one in (spec, live):
        with hold(home, one) as journeyman:
            assert journeyman.stdout is not None
            assert journeyman.stdout.readline() == "ready\n"
            journeyman.kill()
    left = control_groups_of(live.order_id)
    await jails.sweep({live.order_id})
    assert control_groups_of(spec.order_id) == []
    assert control_groups_of(live.order_id) == left
    await jails.sweep(set())
    assert control_groups_of(live.order_id) == []


async def test_a_sweep_ends_processes_that_outlived_their_supervisor(home: Path, tmp_path: Path) -> None:
    settings = Settings(home=home, local_isolation="none")
    spec, first = spec_for(tmp_path), LocalSandboxes(settings)
    sandbox = await first.setup(spec)
    (supervisor,) = processes_of(spec.order_id)
    await sandbox.execute_command("(setsid sleep 1000 &)", timeout=20)
    os.kill(supervisor, signal.SIGKILL)
    orphans = [pid for pid in processes_of(spec.order_id) if pid != supervisor]
    assert orphans

    elsewhere, second = LocalSandboxes(Settings(home=tmp_path / "another-home")), LocalSandboxes(settings)
    await elsewhere.sweep(set())
    assert processes_of(spec.order_id) == orphans
    await second.sweep({spec.order_id})
    assert processes_of(spec.order_id) == orphans
    assert await second.sweep(set())
    wait_until_gone(orphans)
    for sandboxes in (first, second, elsewhere):
        await sandboxes.close()


def test_without_bubblewrap_the_hint_says_how_to_get_it(home: Path, tmp_path: Path) -> None:
    with hold(home, spec_for(tmp_path), path="/nonexistent") as journeyman:
        answer, _ = journeyman.communicate(timeout=60)
    assert "bubblewrap is not installed" in answer
    assert "apt-get install bubblewrap" in answer


def test_where_namespaces_are_forbidden_the_hint_says_how_to_allow_them(home: Path, tmp_path: Path) -> None:
    forbidden = tmp_path / "bin" / "bwrap"
    forbidden.parent.mkdir()
    forbidden.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    forbidden.chmod(0o755)
    spec = spec_for(tmp_path)
    with hold(home, spec, path=f"{forbidden.parent}:/usr/bin:/bin") as journeyman:
        answer, _ = journeyman.communicate(timeout=60)
    assert "No permissions to create a new namespace" in answer
    assert "sysctl" in answer
    assert control_groups_of(spec.order_id) == []


async def test_a_provider_is_ready_only_when_a_sandbox_as_orders_get_it_answers(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, picky = shutil.which("bwrap"), tmp_path / "bin" / "bwrap"
    picky.parent.mkdir()
    refuses = "case \"$*\" in *--seccomp*) echo 'bwrap: prctl(PR_SET_SECCOMP)' >&2; exit 1;; esac"
    picky.write_text(f'#!/bin/sh\n{refuses}\nexec {real} "$@"\n')
    picky.chmod(0o755)
    monkeypatch.setenv("PATH", f"{picky.parent}:/usr/bin:/bin")
    jails = LocalSandboxes(Settings(home=home))
    readiness = await jails.readiness()
    assert not readiness.ready
    assert "PR_SET_SECCOMP" in readiness.needs
    monkeypatch.undo()
    assert (await jails.readiness()).ready
    assert control_groups_of("trial") == []
    assert [path.name for path in (home / "scratch").iterdir()] == [".trash"]


async def test_a_missing_workspace_is_named(jails: LocalSandboxes, tmp_path: Path) -> None:
    with pytest.raises(SandboxUnavailable, match="gone"):
        await jails.setup(SandboxSpec(order_id="wo-00000000", tree=tmp_path / "gone"))
    assert control_groups_of("wo-00000000") == []


async def test_a_toolchain_that_is_not_there_makes_the_provider_unready(home: Path) -> None:
    jails = LocalSandboxes(Settings(home=home, sandbox_paths=[home / "missing"]))
    readiness = await jails.readiness()
    assert not readiness.ready
    assert "JOURNEYMAN_SANDBOX_PATHS" in readiness.needs
    assert str(home / "missing") in readiness.needs


async def test_without_isolation_every_surface_says_so(home: Path, tmp_path: Path) -> None:
    sandboxes = LocalSandboxes(Settings(home=home, local_isolation="none"))
    sandbox = await sandboxes.setup(spec_for(tmp_path))
    assert sandboxes.isolation == "none"
    assert (await sandbox.get_current_state()).isolation == "none"
    await sandboxes.close()


async def test_closing_ends_every_sandbox(home: Path, tmp_path: Path) -> None:
    jails = LocalSandboxes(Settings(home=home))
    specs = [spec_for(tmp_path) for _ in range(3)]
    for spec in specs:
        await jails.setup(spec)
    started = [pid for spec in specs for pid in processes_of(spec.order_id)]
    await jails.close()
    wait_until_gone(started)
    assert [path for spec in specs for path in control_groups_of(spec.order_id)] == []
