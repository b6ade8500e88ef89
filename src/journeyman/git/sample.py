"""A small repository with a real mistake and a failing test, to see the product at work on."""

import shutil
import subprocess
from importlib.resources import as_file, files
from pathlib import Path

from journeyman.errors import Internal

SAMPLE_TASK = "Fix the failing last-page test in pager"
SAMPLE_MODEL = "scripted/demo"


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
