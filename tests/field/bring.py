"""Bring a pinned repository here: from a directory of mirrors where there is one, else from GitHub."""

import os
import subprocess
from pathlib import Path

from tests.field.projects import FieldProject

_MIRRORS = "FIELD_MIRRORS"
"""Variable that names a directory with mirrors, as `<owner>+<name>/repo`."""


def bring(project: FieldProject, directory: Path) -> Path:
    """A bare repository whose branch `main` is the pinned commit; taken as it is where it was made before."""
    target = directory / f"{project.name.replace('/', '+')}.git"
    if (target / "brought").exists():
        return target
    _git("init", "--quiet", "--bare", "--initial-branch=main", str(target))
    source = _source(project)
    try:
        _git("-C", str(target), "fetch", "--quiet", "--tags", source, "+refs/heads/*:refs/remotes/*")
    except subprocess.CalledProcessError:  # a mirror without all of its history
        _git("-C", str(target), "fetch", "--quiet", "--depth=1", source, project.commit)
    _git("-C", str(target), "update-ref", "refs/heads/main", project.commit)
    (target / "brought").touch()
    return target


def checkout(repository: Path, directory: Path) -> Path:
    """A plain clone, as a person would have it."""
    _git("clone", "--quiet", str(repository), str(directory))
    return directory


def _source(project: FieldProject) -> str:
    mirrors = os.environ.get(_MIRRORS)
    if mirrors and (mirror := Path(mirrors) / project.name.replace("/", "+") / "repo").is_dir():
        return str(mirror)
    return f"https://github.com/{project.name}.git"


def _git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True)
