"""What an installed environment costs an order: its start on a warm layer, and the set-up that made it.

The start of a sandbox with a layer is measured against the same without one, in turns; the set-up of a
virtual environment with pip in it against the same by hand, which begins with `git clone`. No package
registry is involved, so that the figures show the product and not a network.
"""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from bench.measuring import Row, Table, asked_to_be_quick, git, median_ms
from journeyman.environments.layers import Layers
from journeyman.environments.plan import Environment, InstallCommand
from journeyman.environments.project import Project, read_project
from journeyman.environments.setup import EnvironmentSetup, ReadyEnvironment
from journeyman.events.types import Event
from journeyman.forges.base import Remote
from journeyman.git.mirror import FreshMirror
from journeyman.git.mirrors import Mirrors
from journeyman.sandboxes.base import SandboxLimits, SandboxSpec
from journeyman.sandboxes.identity import jail_uid
from journeyman.sandboxes.jail import search_path
from journeyman.sandboxes.local import LocalSandboxes
from journeyman.settings import Settings
from journeyman.work_orders.order import new_order_id
from journeyman.work_orders.repositories import parse_repository

_ALLOWED_MS = 100.0
_COLD_RATIO = 1.15
_WRITE = """python3 - <<'END'
import os
for number in range({files}):
    directory = f"node_modules/package_{{number // 100}}"
    os.makedirs(directory, exist_ok=True)
    with open(f"{{directory}}/{{number}}.js", "w") as file:
        file.write("x" * 500)
END"""
_VENV = "python3 -m venv .venv"


class Bench:
    """A home, and one repository with an environment of one command."""

    def __init__(self, place: Path, command: str) -> None:
        self.source, self.events = place / "source", list[Event]()
        self.source.mkdir(parents=True)
        git(self.source, "init", "-q", "-b", "main")
        (self.source / ".gitignore").write_text("node_modules/\n.venv/\n")
        git(self.source, "add", "-A")
        git(self.source, "commit", "-q", "-m", "Begin")
        self.command = command
        self._place = place
        settings = Settings(home=place / "home")
        settings.home.mkdir()
        self.jails = LocalSandboxes(settings)
        layers = Layers(settings.home / "layers", max_mb=settings.layers_max_mb)
        self._setup = EnvironmentSetup(settings, self.jails, layers, None, SandboxLimits())
        self._mirrors = Mirrors(settings.home / "mirrors")
        self._read: tuple[FreshMirror, Project] | None = None

    async def prepare(self, name: str = "") -> ReadyEnvironment:
        """Another name is another environment."""
        if self._read is None:
            repository = parse_repository(
                str(self.source), github_url="https://forge.example", allow_local=True
            )
            mirror = await self._mirrors.refresh(repository, Remote(self.source.as_uri()))
            self._read = mirror, await read_project(mirror, mirror.resolve("main"))
        mirror, project = self._read
        install = (InstallCommand(command=self.command, why="a benchmark"),)
        return await self._setup.prepare(
            mirror,
            mirror.resolve("main"),
            Environment(install=install, path=(f"/workspace/{name}",)),
            project,
            owner_id=new_order_id(),
            repository_url=str(self.source),
            emit=self._emit,
        )

    async def start(self, *, with_environment: bool) -> None:
        """From an order that is at hand to the first command in its sandbox."""
        order_id = new_order_id()
        tree = self._place / order_id
        tree.mkdir()
        if (uid := jail_uid(order_id)) is not None:
            os.chown(tree, uid, uid)
        mounts = (await self.prepare()).mounts if with_environment else ()
        sandbox = await self.jails.setup(SandboxSpec(order_id=order_id, tree=tree, layers=mounts))
        assert (await sandbox.execute_command(["true"], timeout=60)).ok

    async def _emit(self, event: Event) -> None:
        self.events.append(event)

    def by_hand(self) -> None:
        """Clone, and run the command, as low in priority as commands in sandboxes are."""
        clone = self._place / "by-hand"
        subprocess.run(["git", "clone", "-q", self.source, clone], check=True)
        env = {"PATH": search_path([]), "HOME": str(self._place)}
        subprocess.run(["nice", "-n", "10", "bash", "-c", self.command], cwd=clone, check=True, env=env)

    def clear_hand(self) -> None:
        shutil.rmtree(self._place / "by-hand")


async def _timed(what: Callable[[], Awaitable[object]]) -> float:
    began = time.monotonic()
    await what()
    return time.monotonic() - began


async def _warm(table: Table, place: Path, files: int, repetitions: int) -> None:
    bench = Bench(place, _WRITE.format(files=files))
    ready = await bench.prepare()
    assert ready.layer is not None, ready.problem
    await bench.start(with_environment=True)
    pairs = []
    for _ in range(repetitions):
        plain = await _timed(lambda: bench.start(with_environment=False))
        pairs.append((await _timed(lambda: bench.start(with_environment=True)), plain))
    await bench.jails.close()
    ours, plain_ms = median_ms(ours for ours, _ in pairs), median_ms(plain for _, plain in pairs)
    bar = plain_ms + _ALLOWED_MS
    table.add(Row(f"start on a warm layer of {files:,} files", ours, plain_ms, "no environment", bar=bar))


async def _cold(table: Table, place: Path, repetitions: int) -> None:
    bench = Bench(place, _VENV)
    await bench.prepare("first")  # makes the mirror
    pairs = []
    for number in range(repetitions):
        ours = await _timed(partial(bench.prepare, f"cold-{number}"))
        began = time.monotonic()
        await asyncio.to_thread(bench.by_hand)
        pairs.append((ours, time.monotonic() - began))
        bench.clear_hand()
    await bench.jails.close()
    ours_ms, hand_ms = median_ms(ours for ours, _ in pairs), median_ms(hand for _, hand in pairs)
    bar = hand_ms * _COLD_RATIO
    table.add(Row("cold set-up of a virtual environment", ours_ms, hand_ms, "by hand", bar=bar))
    shortest, by_hand = min(ours for ours, _ in pairs), min(hand for _, hand in pairs)
    table.add(Row("the shortest of each", shortest * 1000, by_hand * 1000, "by hand"))


async def _at_once(table: Table, place: Path) -> None:
    bench = Bench(place, _WRITE.format(files=1_000))
    await asyncio.gather(*(bench.prepare() for _ in range(10)))
    await bench.jails.close()
    made = sum(event.type == "environment_setup_started" for event in bench.events)
    table.add(Row("layers made by ten orders at once", made, 1, "one", unit="", bar=1))


async def _measure(table: Table, place: Path, *, is_quick: bool) -> None:
    repetitions = 7 if is_quick else 21
    for files in (10, 100_000):
        await _warm(table, place / f"warm-{files}", files, repetitions)
    await _cold(table, place / "cold", 3 if is_quick else 7)
    await _at_once(table, place / "ten")


def main() -> int:
    is_quick = asked_to_be_quick(__doc__ or "")
    table = Table("Environments")
    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(_measure(table, Path(directory), is_quick=is_quick))
    return table.finish()


if __name__ == "__main__":
    sys.exit(main())
