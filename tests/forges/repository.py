"""What tests of forges work on: a small repository with a branch that wants a pull request."""

import os
import subprocess
from pathlib import Path

from journeyman.forges.base import Remote

BRANCH = "journeyman/add-greeting-wo-abc12345"


def git(directory: Path, *arguments: str, remote: Remote | None = None) -> str:
    """Run git without anybody's configuration; a remote's headers go by environment."""
    headers = [f"{name}: {value}" for name, value in (remote.headers if remote else {}).items()]
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_NAME": "Test",
        "GIT_AUTHOR_EMAIL": "test@example.org",
        "GIT_COMMITTER_NAME": "Test",
        "GIT_COMMITTER_EMAIL": "test@example.org",
        "GIT_CONFIG_COUNT": str(len(headers)),
    }
    for place, header in enumerate(headers):
        environment |= {f"GIT_CONFIG_KEY_{place}": "http.extraHeader", f"GIT_CONFIG_VALUE_{place}": header}
    completed = subprocess.run(
        ["git", "-C", str(directory), *arguments],
        check=True,
        capture_output=True,
        env=environment,
        text=True,
    )
    return completed.stdout.strip()


def make_repository(path: Path) -> Path:
    """A repository with `trunk` checked out, and BRANCH one commit ahead of it."""
    path.mkdir(parents=True)
    git(path, "init", "--quiet", "--initial-branch=trunk")
    git(path, "commit", "--quiet", "--allow-empty", "--message=Begin")
    git(path, "checkout", "--quiet", "-b", BRANCH)
    (path / "greeting.txt").write_text("hello\n", encoding="utf-8")
    git(path, "add", "greeting.txt")
    git(path, "commit", "--quiet", "--message=Add greeting")
    git(path, "checkout", "--quiet", "trunk")
    return path
