"""Carry out a sample order on a sample repository: the whole product, without a key or a network."""

import shutil
import subprocess
from importlib.resources import as_file, files
from pathlib import Path

from journeyman.cli import orders
from journeyman.errors import Internal
from journeyman.settings import Settings

_TASK = "Fix the failing last-page test in pager"
_MODEL = "scripted/demo"


def carry_out(settings: Settings, *, as_json: bool) -> int:
    sample = prepare(settings.home / "samples")
    return orders.run(settings, orders.new_order(_TASK, str(sample), model=_MODEL), as_json=as_json)


def prepare(directory: Path) -> Path:
    """The sample as a repository of its own; one that is there already is used again."""
    sample = directory / "pager"
    if sample.exists():
        return sample
    # Made aside and then renamed: an interrupted copy is never taken for the sample.
    making = directory / ".pager-in-the-making"
    shutil.rmtree(making, ignore_errors=True)
    with as_file(files("journeyman") / "samples" / "pager") as bundled:
        shutil.copytree(bundled, making, ignore=shutil.ignore_patterns("__pycache__"))
    _git(making, "init", "--quiet", "--initial-branch=main", "--template=")
    _git(making, "add", "--all")
    _git(making, "commit", "--quiet", "--message=Add pager")
    making.rename(sample)
    return sample


def _git(directory: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Journeyman", "-c", "user.email=agent@journeyman.invalid"]
    plain = ["-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null"]
    done = subprocess.run(
        ["git", *identity, *plain, "-C", str(directory), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Internal(f"git could not make the sample: {done.stderr.strip()}", hint="Run `jm doctor`.")
