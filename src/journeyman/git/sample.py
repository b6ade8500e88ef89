"""The sample repository of the demo: it has a bug and a failing test."""

import shutil
import subprocess
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

from journeyman.errors import Internal

SAMPLE_TASK = "Fix the failing last-page test in pager"
SAMPLE_MODEL = "scripted/demo"


def sample_path(home: Path) -> Path:
    return home / "samples" / "pager"


def is_sample_only(model: str, scripts: Path | None) -> bool:
    """Whether a model knows only the sample: the bundled script, unless scripts are named on purpose."""
    return model == SAMPLE_MODEL and scripts is None


def prepare(home: Path) -> Path:
    """The sample as a repository of its own; one that is there already is used again."""
    sample = sample_path(home)
    if sample.exists():
        return sample
    directory = sample.parent
    directory.mkdir(parents=True, exist_ok=True)
    # Made in a temporary directory and renamed, so that an interrupted copy is never taken for the sample.
    with tempfile.TemporaryDirectory(prefix=".pager-", dir=directory) as temporary:
        _make(making := Path(temporary) / "pager")
        try:
            making.rename(sample)
        except OSError:
            if not sample.exists():  # another process was first
                raise
    return sample


def _make(making: Path) -> None:
    with as_file(files("journeyman") / "samples" / "pager") as bundled:
        shutil.copytree(bundled, making, ignore=shutil.ignore_patterns("__pycache__"))
    _git(making, "init", "--quiet", "--initial-branch=main", "--template=")
    _git(making, "add", "--all")
    _git(making, "commit", "--quiet", "--message=Add pager")


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
