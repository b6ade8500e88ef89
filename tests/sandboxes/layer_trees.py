"""Small layers as a set-up leaves them, and sandboxes that show them."""

from dataclasses import replace
from pathlib import Path

from journeyman.sandboxes.base import LayerMount, Sandbox, SandboxSpec
from journeyman.sandboxes.jail import HOME, WORKSPACE
from tests.sandboxes.specs import spec_for


def make_layer(directory: Path, *names: str) -> tuple[LayerMount, ...]:
    """A layer with these directories of the workspace and a home; in each lies a file `installed`."""
    mounts = []
    for name in names:
        source = directory / "workspace" / name
        source.mkdir(parents=True)
        (source / "installed").write_text(f"{name}\n")
        mounts.append(LayerMount(source, f"{WORKSPACE}/{name}"))
    home = directory / "home"
    (home / ".cache").mkdir(parents=True)
    (home / ".cache" / "package").write_text("cached\n")
    for path in (directory, *directory.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    return (*mounts, LayerMount(home, HOME))


def layered(directory: Path, layers: tuple[LayerMount, ...], *, writable: bool = True) -> SandboxSpec:
    return replace(spec_for(directory, writable=writable), layers=layers)


async def output_of(sandbox: Sandbox, command: str) -> str:
    done = await sandbox.execute_command(command, timeout=60)
    assert done.ok, done.output
    return done.output
