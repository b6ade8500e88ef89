"""What the repository's files must hold, and what none of them may."""

import fnmatch
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.house.source import PACKAGE, ROOT

_THIS_MACHINE = re.compile(
    r"(?<![\w.~-])(?:"
    r"/(?:home|Users)/(?!(?:agent|user|you|someone|alice|bob)\b)\w[\w.-]*/\w"
    r"|/root/\.?(?:pyenv|cache|config|local|venv)"
    r"|/work/(?:main|shared)\b"
    r")"
)
"""Where the project lay when a file was written. Homes of invented people are fine in examples."""
_REGISTRY = re.compile(
    r"pythonhosted\.org|pypi\.org/simple|registry\.(?:npmjs|yarnpkg)\.|(?:index|extra-index)-url|/opt/(?:pypi|wheels)"
)
_CONTRACT_TARGETS = ("run", "test", "setup", "lint", "bench")


def our_files() -> Iterator[Path]:
    """Every file that git would track, found without git: an unpacked archive is tested as well."""
    lines = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    ignored = [".git", *(line.strip("/") for line in lines)]
    for directory, below, files in os.walk(ROOT):
        below[:] = [name for name in below if not _is_ignored(name, ignored)]
        yield from (Path(directory, name) for name in files if not _is_ignored(name, ignored))


def _is_ignored(name: str, patterns: list[str]) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def holding(pattern: re.Pattern[str]) -> list[str]:
    found = []
    for path in our_files():
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="ignore").splitlines(), 1):
            if pattern.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    return found


def test_no_file_names_a_directory_of_the_machine_it_was_written_on() -> None:
    found = holding(_THIS_MACHINE)
    assert not found, "\n".join(found)


def test_no_file_names_a_package_registry() -> None:
    found = holding(_REGISTRY)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (_THIS_MACHINE, "see /" + "work/main/src"),
        (_THIS_MACHINE, "HOME=/" + "home/jdoe/journeyman"),
        (_THIS_MACHINE, '"/' + 'Users/jdoe/x"'),
        (_REGISTRY, "https://files.python" + "hosted.org/packages/x"),
        (_REGISTRY, "--index" + "-url https://mirror.example/simple"),
        (_REGISTRY, "https://registry." + "npmjs.org/react"),
    ],
)
def test_what_no_file_may_hold_is_found(pattern: re.Pattern[str], text: str) -> None:
    assert pattern.search(text)


@pytest.mark.parametrize("text", ["/home/agent/work", "~/work/main.py", "/workspace/main", "lib/home/x/y"])
def test_a_path_that_belongs_to_no_machine_is_left_alone(text: str) -> None:
    assert not _THIS_MACHINE.search(text)


def test_the_locks_hold_hashes_and_no_address() -> None:
    locks = [path for path in our_files() if path.name == "package-lock.json" or path.suffix == ".lock"]
    assert ROOT / "requirements.lock" in locks
    assert [path.name for path in locks if "://" in path.read_text(encoding="utf-8")] == []
    requirements = (ROOT / "requirements.lock").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    assert [line for line in requirements if "--hash=sha256:" not in line] == []


def test_the_lock_holds_the_versions_that_the_project_asks_for() -> None:
    project = _pyproject()["project"]
    asked = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    locked = {line.partition(" ")[0] for line in lock}
    missing = {re.sub(r"\[.*?\]", "", requirement) for requirement in asked} - locked
    assert not missing, f"not in requirements.lock, run `make lock`: {sorted(missing)}"


def test_the_changelog_tells_of_this_version() -> None:
    changelog = ROOT / "CHANGELOG.md"
    assert changelog.is_file(), "CHANGELOG.md does not exist"
    version = re.escape(_pyproject()["project"]["version"])
    assert re.search(rf"^## .*({version}|Unreleased)", changelog.read_text(encoding="utf-8"), re.MULTILINE)


def test_every_promised_command_of_make_is_a_script_that_runs_without_make() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = dict(re.findall(r"^(\w+): ; @(scripts/\w+\.sh)", makefile, re.MULTILINE))
    assert set(_CONTRACT_TARGETS) <= set(targets)
    assert [script for script in targets.values() if not os.access(ROOT / script, os.X_OK)] == []


def test_the_wheel_carries_everything_that_lies_in_the_package(tmp_path: Path) -> None:
    """The build takes the package without what .gitignore names, so nothing needed may be named there."""
    build = _pyproject()["tool"]["hatch"]["build"]
    assert build["targets"]["wheel"] == {"packages": ["src/journeyman"]}
    assert build["artifacts"] == ["src/journeyman/web_dist/**"]
    data = [path.relative_to(ROOT) for path in PACKAGE.rglob("*") if path.is_file()]
    needed = [str(path) for path in data if path.suffix != ".pyc" and "web_dist" not in path.parts]
    for pattern in (
        "workflows/library/*.yaml",
        "agents/prompts/*.md",
        "gateway/scripts/*.yaml",
        "migrations/versions/*.py",
        "samples/*/*",
    ):
        assert list(PACKAGE.glob(pattern)), f"src/journeyman/{pattern} matches nothing"
    (tmp_path / ".gitignore").write_bytes((ROOT / ".gitignore").read_bytes())
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    ignored = subprocess.run(
        ["git", "-C", tmp_path, "check-ignore", "--stdin"],
        input="\n".join(needed),
        capture_output=True,
        text=True,
    )
    assert (ignored.returncode, ignored.stdout) == (1, ""), "left out of the wheel"


def _pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
