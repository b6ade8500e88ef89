"""Small projects in a directory, and a sandbox that sees exactly the tools a test wants it to see."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import dedent

from journeyman.environments.project import Project
from journeyman.sandboxes.base import Completed, OnOutput
from tests.standins.plain_sandbox import PlainSandbox

TOOLS_OF_EVERY_SANDBOX = "bash base64 cat env find git grep head ls mktemp rm sed sh sort test tr".split()  # noqa: SIM905


class ToolBox(PlainSandbox):
    """A plain sandbox with a PATH and a place for temporary files of its own."""

    def __init__(self, tree: Path, path: str) -> None:
        super().__init__(tree)
        self.path = path
        self.commands: list[str] = []
        self.prelude = ""
        """What the shell of every command reads first, as the environment's variables are set."""

    async def execute_command(
        self,
        command: Sequence[str] | str,
        *,
        timeout: float,
        cwd: str = ".",
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        on_output: OnOutput | None = None,
    ) -> Completed:
        if self.prelude and isinstance(command, str):
            command = f"{self.prelude}\n{command}"
        self.commands.append(command if isinstance(command, str) else " ".join(command))
        env = {**(env or {}), "PATH": self.path, "TMPDIR": str(self.tree.parent)}
        return await super().execute_command(
            command, timeout=timeout, cwd=cwd, env=env, stdin=stdin, on_output=on_output
        )


def project(directory: Path, files: Mapping[str, str]) -> Path:
    tree = directory / "workspace"
    tree.mkdir()
    for name, text in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"))
    return tree


def files_of(tree: Path) -> Project:
    """What would be read of a commit with these files."""
    found = sorted(path for path in tree.rglob("*") if path.is_file())
    texts = {str(path.relative_to(tree)): path.read_text(errors="replace") for path in found}
    return Project(paths=tuple(texts), contents=texts, blobs=dict.fromkeys(texts, "0" * 40))


def equipped(tree: Path) -> ToolBox:
    """Sees what this machine has, and the Python that runs the tests (which has pytest and ruff)."""
    found = [shutil.which(tool) for tool in ("cargo", "node", "npm")]
    directories = [str(Path(sys.executable).parent), *(str(Path(tool).parent) for tool in found if tool)]
    return ToolBox(tree, ":".join([*directories, "/usr/local/bin", "/usr/bin", "/bin"]))


def bare(tree: Path, **scripts: str) -> ToolBox:
    """Sees only what every sandbox has, and the given scripts."""
    directory = tree.parent / "bin"
    directory.mkdir()
    for tool in TOOLS_OF_EVERY_SANDBOX:
        if found := shutil.which(tool):
            (directory / tool).symlink_to(found)
    for name, script in scripts.items():
        (directory / name).write_text(f"#!/bin/sh\n{script}\n")
        (directory / name).chmod(0o755)
    return ToolBox(tree, str(directory))


PYTHON_WITHOUT_PACKAGES = f'exec "{sys.executable}" -S "$@"'
