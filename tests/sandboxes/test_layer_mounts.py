"""What a sandbox shows of an environment's layers, and what it can do to them: as root and as anybody."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from journeyman.errors import Internal
from journeyman.sandboxes.base import LayerMount, SandboxLimits
from journeyman.sandboxes.jail import HOME
from journeyman.sandboxes.layer_mounts import grouped
from journeyman.sandboxes.local import LocalSandboxes
from journeyman.settings import Settings
from tests.hostile.frame import AS_ORDINARY_USER, place_of, run_as
from tests.house.source import ROOT
from tests.sandboxes.layer_trees import layered, make_layer, output_of
from tests.sandboxes.specs import spec_for


async def test_a_layer_is_at_its_place_and_can_be_written(jails: LocalSandboxes, tmp_path: Path) -> None:
    sandbox = await jails.setup(layered(tmp_path, make_layer(tmp_path / "layer", ".venv")))
    assert await output_of(sandbox, "cat .venv/installed ~/.cache/package") == ".venv\ncached\n"
    await output_of(
        sandbox,
        "echo mine > .venv/installed && echo new > .venv/new && rm ~/.cache/package && mkdir ~/.cache/deep"
        " && touch ~/own && chmod 700 ~/own && cat .venv/installed .venv/new",
    )
    assert await output_of(sandbox, "cat .venv/*; ls -A ~") == "mine\nnew\n.cache\nown\n"


async def test_what_one_sandbox_writes_to_a_layer_is_not_seen_by_the_next(
    jails: LocalSandboxes, tmp_path: Path
) -> None:
    layers = make_layer(tmp_path / "layer", ".venv")
    first = await jails.setup(layered(tmp_path, layers))
    await output_of(
        first,
        "echo evil > .venv/installed; echo evil > .venv/evil.pth; echo evil > ~/.bashrc; rm -r ~/.cache",
    )
    second = await jails.setup(layered(tmp_path, layers))
    assert await output_of(second, "find .venv ~ -type f | xargs cat") == ".venv\ncached\n"
    assert (tmp_path / "layer" / "workspace" / ".venv" / "installed").read_text() == ".venv\n"
    assert sorted(os.listdir(tmp_path / "layer" / "workspace" / ".venv")) == ["installed"]


async def test_the_workspace_outside_shows_an_empty_directory_and_no_layer(
    jails: LocalSandboxes, tmp_path: Path
) -> None:
    spec = layered(tmp_path, make_layer(tmp_path / "layer", "packages/a/node_modules"))
    sandbox = await jails.setup(spec)
    await output_of(sandbox, "echo x > packages/a/node_modules/more; echo y > packages/a/mine")
    assert os.listdir(spec.tree / "packages" / "a" / "node_modules") == []
    assert (spec.tree / "packages" / "a" / "mine").read_text() == "y\n"


async def test_a_read_only_role_can_write_to_a_layer_but_not_to_the_workspace(
    jails: LocalSandboxes, tmp_path: Path
) -> None:
    sandbox = await jails.setup(
        layered(tmp_path, make_layer(tmp_path / "layer", "node_modules"), writable=False)
    )
    await output_of(sandbox, "touch node_modules/.cache ~/x")
    for attempt in ("touch x", "rmdir node_modules", "mv node_modules other", "umount node_modules"):
        assert not (await sandbox.execute_command(attempt, timeout=20)).ok, attempt


async def test_a_command_beside_a_layer_is_nobody_special_and_learns_no_path_of_the_host(
    jails: LocalSandboxes, tmp_path: Path
) -> None:
    sandbox = await jails.setup(layered(tmp_path, make_layer(tmp_path / "layer", ".venv")))
    status = await output_of(sandbox, "grep -E '^(Cap(Prm|Eff|Amb)|NoNewPrivs)' /proc/self/status")
    assert {int(line.split()[1], 16) for line in status.splitlines()[:3]} == {0}
    assert status.splitlines()[3].split()[1] == "1"
    for attempt in ("umount .venv", "unshare --user true", "mount -o remount,ro .venv", "rmdir .venv"):
        assert not (await sandbox.execute_command(attempt, timeout=20)).ok, attempt
    overlays = await output_of(sandbox, "grep ' overlay ' /proc/self/mountinfo")
    assert len(overlays.splitlines()) == 2
    assert str(tmp_path) not in overlays


@pytest.mark.parametrize("link", ["/etc", "/", "..", "/home/agent", "inside"])
async def test_a_link_in_the_place_of_a_layer_is_never_followed(
    jails: LocalSandboxes, tmp_path: Path, link: str
) -> None:
    spec = layered(tmp_path, make_layer(tmp_path / "layer", ".venv", "a/b"))
    outside = tmp_path / "outside"
    outside.mkdir()
    (spec.tree / "inside").mkdir()
    (spec.tree / ".venv").symlink_to(link)
    (spec.tree / "a").symlink_to(outside)
    sandbox = await jails.setup(spec)
    assert await output_of(sandbox, "readlink .venv; ls -A inside; ls /etc/installed || true") == (
        f"{link}\nls: cannot access '/etc/installed': No such file or directory\n"
    )
    assert os.listdir(outside) == []


async def test_a_link_that_comes_and_goes_meanwhile_is_not_followed_either(
    jails: LocalSandboxes, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o777)
    outside.chmod(0o777)
    spec = layered(tmp_path, make_layer(tmp_path / "layer", "a/b", "c"))
    attacker = await jails.setup(replace(spec, layers=()))
    swap = f"while :; do rm -rf a c; ln -s {outside} a; ln -s {outside} c; rm -f a c; mkdir -p a/b c; done"
    running = await attacker.start(["bash", "-c", swap], env={})
    for _ in range(8):
        reader = await jails.setup(replace(spec, writable=False))
        await reader.cleanup()
    await running.terminate()
    assert os.listdir(outside) == []


async def test_what_the_tree_itself_holds_at_the_place_wins(jails: LocalSandboxes, tmp_path: Path) -> None:
    spec = layered(tmp_path, make_layer(tmp_path / "layer", "vendor", "build", "dist"))
    (spec.tree / "vendor").mkdir()
    (spec.tree / "vendor" / "tracked").write_text("theirs\n")
    (spec.tree / "build").write_text("a file\n")
    sandbox = await jails.setup(spec)
    assert await output_of(sandbox, "ls vendor; cat build; ls dist") == "tracked\na file\ninstalled\n"


async def test_some_hundred_packages_have_their_directories(jails: LocalSandboxes, tmp_path: Path) -> None:
    names = [f"packages/p{number}/node_modules" for number in range(300)]
    sandbox = await jails.setup(layered(tmp_path, make_layer(tmp_path / "layer", *names)))
    count = "for d in packages/*/node_modules; do cp $d/installed $d/new; done; cat packages/*/*/new | wc -l"
    assert await output_of(sandbox, count) == "300\n"


async def test_variables_and_the_path_reach_every_command(jails: LocalSandboxes, tmp_path: Path) -> None:
    layers = make_layer(tmp_path / "layer", ".venv/bin")
    tool = tmp_path / "layer" / "workspace" / ".venv" / "bin" / "tool"
    tool.write_text("#!/bin/sh\necho $GREETING $1\n")
    tool.chmod(0o777)
    spec = replace(layered(tmp_path, layers), env=(("GREETING", "hello"),), path=("/workspace/.venv/bin",))
    sandbox = await jails.setup(spec)
    assert await output_of(sandbox, "tool there") == "hello there\n"
    assert (await sandbox.execute_command(["tool", "list"], timeout=20)).output == "hello list\n"
    own = await sandbox.execute_command("tool own", timeout=20, env={"GREETING": "other"})
    assert own.output == "other own\n"
    running = await sandbox.start(["tool", "started"], env={})
    assert await running.stdout.read() == b"hello started\n"
    assert await running.wait() == 0


async def test_a_preloaded_library_of_a_repository_is_never_loaded_by_what_starts_the_jail(
    jails: LocalSandboxes, tmp_path: Path
) -> None:
    spec = replace(spec_for(tmp_path), env=(("LD_PRELOAD", "/workspace/no-such.so"),))
    sandbox = await jails.setup(spec)
    assert "no-such.so" in (await sandbox.execute_command("true", timeout=20)).output
    await sandbox.cleanup()
    assert sandbox.stderr == ""


async def test_a_home_that_is_kept_is_where_a_set_up_writes(jails: LocalSandboxes, tmp_path: Path) -> None:
    spec = spec_for(tmp_path)
    kept = tmp_path / "kept"
    kept.mkdir()
    os.chown(kept, spec.tree.stat().st_uid, -1)
    sandbox = await jails.setup(replace(spec, purpose="setup", user_home=kept))
    assert sandbox.identifier.endswith("-setup")
    await output_of(sandbox, "echo here > $HOME/file")
    assert (kept / "file").read_text() == "here\n"


async def test_what_is_written_to_a_layer_counts_to_the_order(jails: LocalSandboxes, tmp_path: Path) -> None:
    limits = SandboxLimits(disk_mb=20)
    spec = replace(layered(tmp_path, make_layer(tmp_path / "layer", "target")), limits=limits)
    sandbox = await jails.setup(spec)
    with pytest.raises(Exception, match="more than 20 MB"):
        await sandbox.execute_command("head -c 60M /dev/zero > target/big; sleep 60", timeout=90)


async def test_without_overlays_layers_are_read_only_and_the_readiness_says_so(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(_: object) -> bool:
        return False

    monkeypatch.setattr("journeyman.sandboxes.local.can_mount_overlays", refused)
    jails = LocalSandboxes(Settings(home=home))
    ready = await jails.readiness()
    assert ready.ready
    assert "read-only in sandboxes" in ready.needs
    spec = layered(tmp_path, make_layer(tmp_path / "layer", ".venv", "a/b"))
    (spec.tree / "a").symlink_to("/etc")
    sandbox = await jails.setup(spec)
    shown = "cat .venv/installed ~/.cache/package && touch ~/own && touch mine"
    assert await output_of(sandbox, shown) == ".venv\ncached\n"
    assert "Read-only" in (await sandbox.execute_command("touch .venv/x", timeout=20)).output
    await jails.close()


async def test_without_a_jail_nothing_is_mounted_and_nothing_breaks(home: Path, tmp_path: Path) -> None:
    plain = LocalSandboxes(Settings(home=home, local_isolation="none"))
    spec = replace(layered(tmp_path, make_layer(tmp_path / "layer", ".venv")), env=(("A", "b"),))
    sandbox = await plain.setup(spec)
    assert await output_of(sandbox, "ls -A; echo $A") == "b\n"
    await plain.close()


@pytest.mark.parametrize("target", ["/etc", "/workspace", "/workspace/../etc", "/workspace/a//b", "x"])
def test_a_layer_cannot_be_mounted_elsewhere(tmp_path: Path, target: str) -> None:
    with pytest.raises(Internal):
        grouped([LayerMount(tmp_path / "etc", target)])


def test_mounts_of_one_layer_share_an_overlay(tmp_path: Path) -> None:
    made = make_layer(tmp_path / "layer", "a/node_modules", "b/node_modules")
    groups = grouped(made)
    assert [(group.lower, group.targets) for group in groups] == [
        (tmp_path / "layer" / "workspace", ("a/node_modules", "b/node_modules")),
        (tmp_path / "layer" / "home", ("",)),
    ]
    assert made[-1].target == HOME


@pytest.mark.lasting
@pytest.mark.as_root
def test_all_of_this_holds_for_an_ordinary_user() -> None:
    with place_of(AS_ORDINARY_USER) as place:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
        command += [f"--basetemp={place / 'tests'}", "tests/sandboxes/test_layer_mounts.py"]
        env = {**os.environ, "HOME": str(place), "TMPDIR": str(place), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            run_as(AS_ORDINARY_USER, command), cwd=ROOT, env=env, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stdout
    assert "." * 15 in done.stdout
