"""Small projects as detection sees them, and on the disk to run what was detected."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from journeyman.environments.detect.found import Detected, Hints, SeenCommand
from journeyman.environments.plan import Check
from journeyman.environments.project import Project


def files(contents: Mapping[str, str]) -> Project:
    return Project(
        paths=tuple(sorted(contents)),
        contents=contents,
        blobs={path: f"{number:040x}" for number, path in enumerate(sorted(contents))},
    )


def said(*commands: str, workdir: str = ".") -> Hints:
    """CI runs these commands."""
    seen = (SeenCommand(command=one, said_in=".github/workflows/ci.yml", workdir=workdir) for one in commands)
    return Hints(commands=tuple(seen))


def check(detected: Detected | None, name: str) -> Check:
    assert detected is not None
    found = {one.name: one for one in detected.checks}
    assert name in found, f"there is only {sorted(found)}"
    return found[name]


def written(directory: Path, contents: Mapping[str, str]) -> Path:
    """A repository with these files in a first commit."""
    tree = directory / "workspace"
    for name, text in contents.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(tree, "init", "--quiet")
    git(tree, "add", "--all")
    git(tree, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--quiet", "-m", "first")
    return tree


def git(tree: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=tree, check=True, capture_output=True, text=True).stdout


def shell(tree: Path, command: str, *, path: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command as a sandbox would, with a home of its own."""
    home = tree.parent / "home"
    home.mkdir(exist_ok=True)
    env = {"PATH": f"{path}:{os.environ['PATH']}" if path else os.environ["PATH"], "HOME": str(home)}
    return subprocess.run(
        ["bash", "-c", command], cwd=tree, env=env, capture_output=True, text=True, timeout=300
    )
