"""Run documented commands as a person would: outside any jail, with a network, in a home of its own."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from journeyman.verification.counts import Counts, count_tests
from tests.field.projects import FieldProject

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Result:
    outcome: str
    """`passed`, `failed`, `environment` (it cannot be set up here), `timed_out`."""
    counts: Counts | None
    detail: str = ""
    seconds: float = 0.0


def missing(project: FieldProject) -> list[str]:
    return [name for name in project.needs if shutil.which(name) is None]


def by_hand(project: FieldProject, tree: Path, home: Path) -> Result:
    home.mkdir(parents=True, exist_ok=True)
    prepare = f"set -e\n{project.install}\n" if project.install else ""
    script = f"{prepare}set +e\necho '--- the tests begin'\n{project.test}\n"
    environment = {
        **{
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("JOURNEYMAN_", "PYTEST_"))
        },
        "HOME": str(home),
        # The toolchains stay where they are; rustup looks for them in the home.
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup")),
    }
    for name in ("VIRTUAL_ENV", "CI", "NO_COLOR"):
        environment.pop(name, None)
    try:
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=tree,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=project.minutes * 60,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Result("timed_out", None)
    output = _COLOUR.sub("", done.stdout.decode(errors="replace"))
    _, began, tested = output.partition("--- the tests begin")
    if not began:
        return Result("environment", None, _last_line(output))
    counts = count_tests(tested)
    return Result("passed" if done.returncode == 0 else "failed", counts, _last_line(tested))


def _last_line(output: str) -> str:
    """The test that pytest names as failed, else what was said last."""
    lines = [line.strip("= \t") for line in output.splitlines()]
    named = (line for line in lines if line.startswith("FAILED "))
    return next(named, next((line for line in reversed(lines) if line), ""))[:120]
