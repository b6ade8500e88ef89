"""Layers on disk: made whole or not at all, never shared wrongly, and removed when there is no room."""

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from journeyman.environments.key import LayerInputs, Machine, inputs_of, layer_key, nearness, tool_words
from journeyman.environments.layer_files import collect, copy_files, normalise
from journeyman.environments.layers import LayerContent, Layers
from journeyman.environments.plan import Environment, InstallCommand, ToolNeed
from journeyman.environments.project import Project
from journeyman.errors import SandboxUnavailable
from journeyman.sandboxes.layer_mounts import in_use
from journeyman.sandboxes.local import LocalSandboxes
from journeyman.settings import Settings
from tests.house.source import ROOT
from tests.sandboxes.layer_trees import layered
from tests.sandboxes.specs import give_away

_MB = 1024 * 1024


def _inputs(repository: str = "one", private_to: str | None = None, system: str = "debian 12") -> LayerInputs:
    return LayerInputs(repository=repository, private_to=private_to, architecture="x86_64", system=system)


async def _make(layers: Layers, inputs: LayerInputs, *, size: int = 0) -> str:
    async def build(directory: Path) -> LayerContent:
        (directory / "workspace" / ".venv").mkdir(parents=True)
        return LayerContent(inputs=inputs, mounts=(".venv",), files=(), size_bytes=size, file_count=0)

    layer, _ = await layers.make(inputs, build)
    assert layer is not None
    return layer.key


def _age(layers: Layers, key: str, seconds: float) -> None:
    layer = layers.find(key)
    assert layer is not None
    then = datetime.now(UTC).timestamp() - seconds
    os.utime(layer.directory / "layer.json", (then, then))


async def test_a_layer_is_found_as_it_was_made(tmp_path: Path) -> None:
    layers = Layers(tmp_path / "layers", max_mb=100)
    key = await _make(layers, _inputs(), size=7)
    found = Layers(tmp_path / "layers", max_mb=100).find(key)
    assert found is not None
    assert (found.key, found.mounts, found.size_bytes, found.inputs) == (key, (".venv",), 7, _inputs())
    assert stat.S_IMODE((tmp_path / "layers").stat().st_mode) == 0o700


async def test_a_build_that_fails_leaves_nothing(tmp_path: Path) -> None:
    layers = Layers(tmp_path / "layers", max_mb=100)

    async def fail(directory: Path) -> None:
        (directory / "workspace").mkdir()

    async def crash(directory: Path) -> None:
        raise RuntimeError("broken")

    assert await layers.make(_inputs(), fail) == (None, False)
    with pytest.raises(RuntimeError):
        await layers.make(_inputs(), crash)
    assert layers.all() == []
    assert os.listdir(tmp_path / "layers" / ".making") == []


async def test_a_damaged_description_is_no_layer_and_is_made_again(tmp_path: Path) -> None:
    layers = Layers(tmp_path / "layers", max_mb=100)
    key = await _make(layers, _inputs())
    for damage in ("", "{}", "[1]", json.dumps({"created_at": "never"})):
        (tmp_path / "layers" / key / "layer.json").write_text(damage)
        assert layers.find(key) is None
        assert layers.all() == []
    assert await _make(layers, _inputs()) == key
    assert layers.find(key) is not None


async def test_layers_that_were_not_used_for_longest_go_first(tmp_path: Path) -> None:
    layers = Layers(tmp_path / "layers", max_mb=100)
    old, older, new = [
        await _make(layers, _inputs(repository=name), size=40 * _MB) for name in ("old", "older", "new")
    ]
    for key, seconds in ((old, 5_000), (older, 9_000), (new, 4_000)):
        _age(layers, key, seconds)
    assert layers.evict() == [older]
    assert {layer.key for layer in layers.all()} == {old, new}
    layers.trash.empty()
    assert not (tmp_path / "layers" / older).exists()


async def test_a_layer_in_use_or_just_used_is_never_removed(tmp_path: Path) -> None:
    layers = Layers(tmp_path / "layers", max_mb=16)
    used, recent, free = [
        await _make(layers, _inputs(repository=name), size=40 * _MB) for name in ("used", "recent", "free")
    ]
    for key, seconds in ((used, 9_000), (free, 8_000)):
        _age(layers, key, seconds)
    layer = layers.find(used)
    assert layer is not None
    with in_use(layered(tmp_path, layer.sandbox_mounts)):
        assert layers.evict() == [free]
    assert layers.evict() == [used]
    assert [layer.key for layer in layers.all()] == [recent]
    with pytest.raises(SandboxUnavailable, match="removed"), in_use(layered(tmp_path, layer.sandbox_mounts)):
        pass


async def test_an_open_sandbox_keeps_its_layer(tmp_path: Path, settings: Settings) -> None:
    layers = Layers(tmp_path / "layers", max_mb=16)
    key = await _make(layers, _inputs(), size=40 * _MB)
    layer = layers.find(key)
    assert layer is not None
    _age(layers, key, 9_000)
    jails = LocalSandboxes(settings)
    spec = layered(tmp_path, layer.sandbox_mounts)
    await jails.setup(spec)
    assert layers.evict() == []
    await jails.cleanup(spec.order_id)
    assert layers.evict() == [key]
    await jails.close()


async def test_what_a_killed_process_was_making_is_made_by_the_next(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "tests.environments.hold_layer", str(tmp_path / "layers")]
    with subprocess.Popen(program, cwd=ROOT, stdout=subprocess.PIPE, text=True) as maker:  # noqa: ASYNC220
        assert maker.stdout is not None
        key = maker.stdout.readline().strip()
        layers = Layers(tmp_path / "layers", max_mb=100)
        assert layers.sweep() == 0
        waiting = asyncio.create_task(_make(layers, _inputs()))
        done, _ = await asyncio.wait([waiting], timeout=0.3)
        assert not done
        maker.send_signal(signal.SIGKILL)
    assert await waiting == key
    assert os.listdir(tmp_path / "layers" / ".making") == []
    layers.trash.empty()
    assert os.listdir(tmp_path / "layers" / ".trash") == []


def test_files_are_for_everybody_and_nothing_odd_stays(tmp_path: Path) -> None:
    top = tmp_path / "top"
    (top / "closed").mkdir(parents=True)
    for name, mode in (("plain", 0o600), ("tool", 0o4711), ("closed/inner", 0o000)):
        (top / name).write_text("x" * 5000)
        (top / name).chmod(mode)
    (top / "link").symlink_to("/etc/passwd")
    os.link(top / "plain", top / "same")
    os.mkfifo(top / "pipe")
    if os.geteuid() == 0:
        os.mknod(top / "device", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        give_away(top, "wo-12345678")
    (top / "closed").chmod(0o000)
    before = stat.S_IMODE(os.stat("/etc/passwd").st_mode)
    size = normalise(top)
    modes = {
        path.name: stat.S_IMODE(path.lstat().st_mode) for path in top.rglob("*") if not path.is_symlink()
    }
    assert modes == {"plain": 0o666, "same": 0o666, "tool": 0o777, "closed": 0o777, "inner": 0o666}
    assert {path.lstat().st_uid for path in top.rglob("*")} == {os.geteuid()}
    assert (top / "plain").samefile(top / "same")
    assert (top / "link").is_symlink()
    assert stat.S_IMODE(os.stat("/etc/passwd").st_mode) == before
    assert (size.file_count, size.size_bytes >= 3 * 5000) == (5, True)


@pytest.mark.lasting
def test_two_hundred_thousand_small_files_are_a_layer(tmp_path: Path) -> None:
    top = tmp_path / "tree" / "node_modules"
    for number in range(1000):
        (top / str(number)).mkdir(parents=True)
        for name in range(200):
            (top / str(number) / str(name)).touch()
    collected = collect(tmp_path / "tree", tmp_path / "workspace", ["node_modules/"], ())
    assert collected.mounts == ("node_modules",)
    assert normalise(tmp_path / "workspace").file_count == 200_000


def test_only_what_the_repository_does_not_track_is_collected(tmp_path: Path) -> None:
    tree, target = tmp_path / "tree", tmp_path / "target"
    for name in (
        "src/lib/tracked",
        "src/__pycache__/a.pyc",
        "node_modules/a/b",
        "one",
        "mod.pyc",
        "nested/.git/x",
    ):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("x")
    (tree / "empty").mkdir()
    (tree / ".venv").symlink_to("/etc")
    (tree / "linked").symlink_to(tmp_path)
    ignored = [
        *("src/lib/", "src/__pycache__/", "node_modules/", "node_modules/a", "one", "mod.pyc", "empty/"),
        *(".venv", "linked/target", "../target", "nested/.git/", ".git", "/etc", "gone"),
    ]
    collected = collect(tree, target, ignored, {"src/lib/tracked"})
    assert (collected.mounts, collected.files) == (("node_modules",), ("one",))
    assert sorted(os.listdir(target)) == ["node_modules", "one"]


def test_single_files_are_copied_where_nothing_is_and_no_link_is_followed(tmp_path: Path) -> None:
    source, tree, outside = tmp_path / "source", tmp_path / "tree", tmp_path / "outside"
    for name in ("src/_version.py", "there", "linked/file", "link"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("of the layer")
    tree.mkdir()
    outside.mkdir()
    (tree / "there").write_text("of the workspace")
    (tree / "linked").symlink_to(outside)
    (tree / "link").symlink_to(outside / "target")
    paths = ("src/_version.py", "there", "linked/file", "link")
    copy_files(source, paths, tree, uid=None)
    copy_files(source, paths, tree, uid=None)
    assert (tree / "src" / "_version.py").read_text() == "of the layer"
    assert (tree / "there").read_text() == "of the workspace"
    assert os.listdir(outside) == []


_ENVIRONMENT = Environment(
    install=(InstallCommand(command="uv sync --frozen", why=""),),
    key_files=("uv.lock",),
    env={"A": "b"},
    path=("/workspace/.venv/bin",),
    secrets=("TOKEN",),
    tools=(ToolNeed(tool="python3", version="3.12", said_in="a"),),
    notes=("a note",),
)
_PROJECT = Project(paths=("uv.lock", "a.py"), blobs={"uv.lock": "1" * 40, "a.py": "2" * 40})
_MACHINE = Machine(architecture="x86_64", system="debian 12", tools={"uv": "1", "python3": "1"})


def _key(
    environment: Environment = _ENVIRONMENT,
    project: Project = _PROJECT,
    machine: Machine = _MACHINE,
    repository_url: str = "https://forge.example/a/b",
    private_to: str | None = None,
) -> str:
    return layer_key(
        inputs_of(environment, project, machine, repository_url=repository_url, private_to=private_to)
    )


def test_a_key_changes_with_everything_that_decides_what_is_installed() -> None:
    keys = [
        _key(),
        _key(project=replace(_PROJECT, blobs={"uv.lock": "3" * 40})),
        _key(project=replace(_PROJECT, blobs={})),
        _key(replace(_ENVIRONMENT, install=(InstallCommand(command="uv sync", why=""),))),
        _key(replace(_ENVIRONMENT, env={"A": "c"})),
        _key(replace(_ENVIRONMENT, path=())),
        _key(replace(_ENVIRONMENT, secrets=())),
        _key(replace(_ENVIRONMENT, directories=("store",))),
        _key(machine=replace(_MACHINE, architecture="aarch64")),
        _key(machine=replace(_MACHINE, system="debian 13")),
        _key(machine=replace(_MACHINE, tools={"uv": "2", "python3": "1"})),
        _key(repository_url="https://forge.example/a/c"),
        _key(private_to="wo-12345678"),
    ]
    assert len(set(keys)) == len(keys)


def test_a_key_stays_with_everything_else() -> None:
    same = [
        _key(project=replace(_PROJECT, blobs={**_PROJECT.blobs, "a.py": "3" * 40})),
        _key(replace(_ENVIRONMENT, notes=(), source="server", setup_hosts=("more.example",))),
        _key(machine=replace(_MACHINE, tools={**_MACHINE.tools, "cargo": "1"})),
        _key(repository_url="https://forge.example/a/b.git"),
        _key(repository_url="https://forge.example/a/b/"),
    ]
    assert set(same) == {_key()}


def test_the_tools_of_an_environment_are_the_words_of_its_commands() -> None:
    assert {"uv", "python3"} <= set(tool_words(_ENVIRONMENT))


def test_nothing_is_taken_from_another_repository_or_an_orders_own_layer() -> None:
    wanted = _inputs()
    assert nearness(wanted, wanted) == 1
    assert nearness(_inputs(repository="two"), wanted) is None
    assert nearness(_inputs(private_to="wo-12345678"), wanted) is None
    assert nearness(_inputs(system="debian 13"), wanted) is None
    assert nearness(_inputs(), _inputs(private_to="wo-12345678")) == 1
