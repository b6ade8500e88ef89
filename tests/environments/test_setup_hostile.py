"""What install scripts of a hostile repository try, and where that ends: as root and as anybody."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from journeyman.sandboxes.base import SandboxLimits, SandboxSpec
from journeyman.settings import Settings
from journeyman.work_orders.order import new_order_id
from tests.environments.repositories import IGNORED, INSTALL, EnvironmentPlace, environment
from tests.git.repositories import make_repository
from tests.hostile.frame import AS_ORDINARY_USER, place_of, run_as
from tests.house.source import ROOT
from tests.sandboxes.layer_trees import output_of
from tests.sandboxes.specs import control_groups_of, give_away, processes_of, wait_until_gone


async def test_one_that_never_ends_is_ended(tmp_path: Path, settings: Settings) -> None:
    place = EnvironmentPlace(tmp_path, settings.model_copy(update={"environment_timeout_seconds": 1.5}))
    order_id = new_order_id()
    ready = await place.prepare(environment("true", "sleep 1000 & sleep 1000", "touch x"), order_id=order_id)
    assert ready.problem
    assert (ready.problem.kind, ready.problem.command) == ("timed_out", "sleep 1000 & sleep 1000")
    wait_until_gone(processes_of(order_id))
    await place.jails.close()
    assert control_groups_of(order_id) == []


async def test_one_that_fills_the_disk_is_stopped_and_its_order_goes_on(
    tmp_path: Path, settings: Settings
) -> None:
    place = EnvironmentPlace(tmp_path, settings, limits=SandboxLimits(disk_mb=20))
    order_id = new_order_id()
    for target in ("~/big", "/tmp/big", ".venv-big"):
        ready = await place.prepare(
            environment(f"head -c 80M /dev/zero > {target}; sleep 60"), order_id=order_id
        )
        assert ready.problem, target
        assert (ready.problem.kind, ready.layer) == ("no_space", None)
    tree = tmp_path / order_id
    tree.mkdir()
    give_away(tree, order_id)
    sandbox = await place.jails.setup(SandboxSpec(order_id=order_id, tree=tree))
    assert (await sandbox.execute_command("true", timeout=20)).ok
    await place.jails.close()
    place.layers.trash.empty()
    assert sorted(path.name for path in (settings.home / "layers").rglob("*big*")) == []


async def test_one_that_forks_without_end_is_stopped(tmp_path: Path, settings: Settings) -> None:
    settings = settings.model_copy(update={"environment_timeout_seconds": 5})
    place = EnvironmentPlace(tmp_path, settings, limits=SandboxLimits(processes=40))
    order_id = new_order_id()
    ready = await place.prepare(
        environment("f() { f & f & wait; }; f & for i in $(seq 100); do sleep 1000 & done; wait"),
        order_id=order_id,
    )
    assert ready.problem
    assert ready.problem.kind in ("processes", "timed_out", "memory", "sandbox")
    wait_until_gone(processes_of(order_id))
    await place.jails.close()


async def test_nothing_outside_is_written_and_no_process_stays(place: EnvironmentPlace) -> None:
    canary = place.directory / "canary"
    canary.write_text("whole\n")
    order_id = new_order_id()
    attempts = (
        f"echo evil > {canary}; echo evil > /usr/evil; echo evil > /etc/evil; mkdir -p /workspace/../evil;"
        f" ln {canary} stolen; cat {canary} > .venv/stolen; (setsid sleep 1000 &) ; true"
    )
    ready = await place.prepare(environment(f"{INSTALL}; {attempts}"), order_id=order_id)
    assert ready.layer
    assert canary.read_text() == "whole\n"
    assert "whole" not in (ready.layer.workspace / ".venv" / "stolen").read_text()
    wait_until_gone(processes_of(order_id))


async def test_no_hook_and_no_configuration_of_git_is_planted(place: EnvironmentPlace) -> None:
    plant = (
        "echo evil > .git/hooks/pre-commit; echo gitdir: /tmp > .git; rm -rf .git;"
        " git config core.fsmonitor evil; git init -q build/nested;"
        " printf '[core]\\nfsmonitor = touch /tmp/evil\\n' >> build/nested/.git/config;"
        " git -C build init -q; echo 'src/' >> .gitignore; echo '*' > src/.gitignore; echo x > src/new"
    )
    ready = await place.prepare(environment(f"{INSTALL}; {plant}; true"))
    assert ready.layer
    assert "src" not in ready.layer.mounts
    assert not any(path.startswith("src/a") for path in ready.layer.files)
    mirrors = list((place.settings.home / "mirrors").rglob("config"))
    assert mirrors
    assert not any("evil" in path.read_text() for path in mirrors)
    assert not any("evil" in path.name for path in (place.settings.home / "mirrors").rglob("*"))
    async with place.sandbox(ready) as sandbox:
        assert await output_of(sandbox, "cat .venv/installed") == "one\n"


async def test_what_an_install_script_plants_reaches_no_order_of_another_repository(
    place: EnvironmentPlace,
) -> None:
    packages = "$(echo .venv/lib/python*/site-packages)"
    venv = "python3 -m venv --without-pip .venv"
    plants = (
        f"{venv}; echo 'import sys; sys.planted = True' > {packages}/planted.pth; "
        "mkdir -p ~/.config/git ~/.local/bin ~/.cache/pip; echo evil > ~/.config/git/config; "
        "echo evil > ~/.bashrc; cp /bin/true ~/.local/bin/git; echo evil > ~/.cache/pip/wheel; "
        "echo evil > /tmp/planted; echo evil > /var/tmp/planted"
    )
    files = {"lock": "one\n", ".gitignore": IGNORED}
    other = make_repository(place.directory / "other", files)
    planted = await place.prepare(environment(plants))
    ready = await place.prepare(environment(venv), source=other)
    looks = (
        ".venv/bin/python -c 'import sys; print(hasattr(sys, \"planted\"))'; "
        "find ~ /tmp /var/tmp -type f 2>/dev/null | xargs -r grep -l evil; command -v git"
    )
    async with place.sandbox(planted) as sandbox:
        assert (await output_of(sandbox, looks)).startswith("True\n")
    async with place.sandbox(ready) as sandbox:
        assert await output_of(sandbox, looks) == "False\n/usr/bin/git\n"


async def test_a_link_in_the_place_of_an_environment_is_dropped(place: EnvironmentPlace) -> None:
    before = {path: path.lstat().st_mode for path in map(Path, ("/etc", "/etc/passwd"))}
    ready = await place.prepare(
        environment(
            "ln -s /etc .venv; ln -s /etc node_modules; ln -s /etc/passwd _version.py; ln -s /etc ~/e"
        )
    )
    assert ready.layer
    assert (ready.layer.mounts, ready.layer.files) == ((), ())
    assert os.readlink(ready.layer.home / "e") == "/etc"
    assert {path: path.lstat().st_mode for path in before} == before


async def test_unreadable_directories_and_odd_files_do_not_stay_so(place: EnvironmentPlace) -> None:
    make = (
        "mkdir -p .venv/closed/inner; echo x > .venv/closed/inner/x; mkfifo .venv/pipe ~/pipe; "
        "mknod .venv/device c 1 3; chmod 4755 .venv/installed; chmod 000 .venv/closed/inner .venv/closed; "
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\".venv/socket\")'; chmod 500 ~; true"
    )
    ready = await place.prepare(environment(f"{INSTALL}; {make}"))
    assert ready.layer
    layer = ready.layer.directory
    kinds = {stat.S_IFMT(path.lstat().st_mode) for path in layer.rglob("*")}
    assert kinds == {stat.S_IFDIR, stat.S_IFREG}
    assert not any(path.lstat().st_mode & 0o6000 for path in layer.rglob("*"))
    async with place.sandbox(ready) as sandbox:
        assert await output_of(sandbox, "cat .venv/closed/inner/x && touch ~/mine .venv/closed/mine") == "x\n"


@pytest.mark.parametrize(
    "command",
    [
        'python3 -c \'import os\nfor i in range(3000): os.mkdir("d" * 9); os.chdir("d" * 9)\'',
        "mkdir -p src/p; for i in $(seq 300); do mkfifo src/p/$i; done",
    ],
)
async def test_what_cannot_be_kept_is_a_problem_and_goes_away(place: EnvironmentPlace, command: str) -> None:
    ready = await place.prepare(environment(f"mkdir -p .venv && cd .venv && {command}", "true"))
    if ready.problem is None:
        assert ready.layer
        assert ready.layer.file_count == 0
    place.layers.trash.empty()
    assert os.listdir(place.settings.home / "layers" / ".trash") == []
    assert os.listdir(place.settings.home / "layers" / ".making") == []


async def test_a_poisoned_layer_cannot_be_made_by_an_agent(place: EnvironmentPlace) -> None:
    ready = await place.prepare()
    async with place.sandbox(ready) as agent:
        await output_of(
            agent,
            "echo evil > .venv/evil.pth; rm .venv/installed; mv .venv/bin .venv/other; echo e > ~/.bashrc",
        )
    again = await place.prepare()
    assert again.layer == ready.layer
    async with place.sandbox(again) as sandbox:
        assert (
            await output_of(sandbox, "ls -A .venv ~") == ".venv:\nbin\ninstalled\n\n/home/agent:\n.package\n"
        )


@pytest.mark.lasting
@pytest.mark.as_root
def test_all_of_this_holds_for_an_ordinary_user() -> None:
    with place_of(AS_ORDINARY_USER) as place:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
        command += [f"--basetemp={place / 'tests'}", "tests/environments/test_setup_hostile.py"]
        command += ["tests/environments/test_setup.py"]
        env = {**os.environ, "HOME": str(place), "TMPDIR": str(place), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            run_as(AS_ORDINARY_USER, command), cwd=ROOT, env=env, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stdout
    assert "." * 20 in done.stdout
