"""Installing agents: whole or not at all, at one version, and said plainly when something is missing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from journeyman.agents.npm_packages import PACKAGES, NpmPackages
from journeyman.cli import install
from journeyman.errors import InvalidInput
from journeyman.settings import Settings
from tests.agents.installed import INSTALLED


def jm(*arguments: str, directory: Path, path: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).with_name("jm")), "agents", "install", *arguments],
        env={"PATH": path, "HOME": str(directory), "JOURNEYMAN_AGENTS_DIRECTORY": str(directory / "agents")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", PACKAGES)
def test_every_agent_is_installed_for_these_tests(name: str, home: Path) -> None:
    packages = NpmPackages(Settings(home=home, agents_directory=INSTALLED))
    assert packages.readiness(name).ready, "run scripts/setup.sh test"
    assert Path(packages.command(name)[-1]).is_file()
    assert not packages.install(name)


def test_an_agent_that_is_not_there_says_how_to_get_it(settings: Settings) -> None:
    readiness = NpmPackages(settings).readiness("codex")
    assert (readiness.ready, readiness.needs) == (False, "Install it: jm agents install codex.")


def test_an_installation_that_broke_off_is_not_taken_for_a_whole_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = tmp_path / "agents"
    left = directory / ".gemini-abc" / "whole" / "node_modules"
    left.mkdir(parents=True)
    settings = Settings(home=tmp_path, agents_directory=directory)
    assert not NpmPackages(settings).readiness("gemini").ready
    install.install(settings, ["gemini"], as_json=False)
    assert NpmPackages(settings).readiness("gemini").ready
    assert sorted(path.name for path in directory.iterdir()) == [".lock", "gemini"]
    said = capsys.readouterr().out
    assert "gemini 0.61.0 is installed." in said
    assert "terms of use are between you and its maker" in said


def test_without_npm_it_says_what_to_install_and_leaves_nothing(tmp_path: Path) -> None:
    done = jm("codex", directory=tmp_path, path="/nowhere")
    assert done.returncode == 1
    assert "apt-get install npm" in done.stderr
    assert [path.name for path in (tmp_path / "agents").iterdir()] == [".lock"]


def test_an_installation_that_fails_passes_on_what_npm_said_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / ".npmrc").write_text("registry=http://127.0.0.1:9/\nfetch-retries=0\n")
    npm = shutil.which("npm")
    assert npm
    done = jm("gemini", directory=tmp_path, path=os.path.dirname(npm))
    assert done.returncode == 1
    assert "npm could not install gemini" in done.stderr
    assert [path.name for path in (tmp_path / "agents").iterdir()] == [".lock"]


def test_installing_twice_is_installing_once(tmp_path: Path) -> None:
    shutil.copytree(INSTALLED / "codex", tmp_path / "agents" / "codex", copy_function=os.link)
    done = jm("codex", directory=tmp_path, path="/nowhere")
    assert (done.returncode, done.stdout) == (0, "codex 0.166.0 was installed already.\n")


def test_an_agent_that_nobody_packaged_is_refused_by_name(settings: Settings) -> None:
    with pytest.raises(InvalidInput, match="hal9000"):
        NpmPackages(settings).install("hal9000")
