"""The git side of the stand-in GitHub: bare repositories, served by `git http-backend`."""

import os
import subprocess
from pathlib import Path

from tests.standins.github_http import Reply


class Repositories:
    """Bare repositories in a directory, as `owner/name.git`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def add(self, slug: str, from_path: Path) -> None:
        target = self.root / f"{slug}.git"
        target.parent.mkdir(parents=True, exist_ok=True)
        _git("clone", "--quiet", "--bare", "--", str(from_path), str(target))

    def default_branch(self, slug: str) -> str:
        return _git("-C", str(self.root / f"{slug}.git"), "symbolic-ref", "--short", "HEAD")

    def has_branch(self, slug: str, branch: str) -> bool:
        return bool(self.commit(slug, branch))

    def commit(self, slug: str, branch: str) -> str:
        """The commit that a branch is at, or an empty text."""
        ref = f"refs/heads/{branch}"
        where = ("-C", str(self.root / f"{slug}.git"))
        found = _git(*where, "for-each-ref", "--format=%(refname) %(objectname)", ref)
        return dict(line.split() for line in found.splitlines()).get(ref, "")


def serve_git(
    root: Path, method: str, path: str, query: str, headers: dict[str, str], body: bytes, user: str
) -> Reply:
    """One request of git's smart HTTP, as a CGI call of git's own server."""
    completed = subprocess.run(
        ["git", "http-backend"],
        input=body,
        stdout=subprocess.PIPE,
        check=True,
        env={
            **_environment(),
            "GIT_PROJECT_ROOT": str(root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": headers.get("git-protocol", ""),
            "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "REMOTE_USER": user,
            "REMOTE_ADDR": "127.0.0.1",
        },
    )
    head, _, content = completed.stdout.partition(b"\r\n\r\n")
    answered = dict(line.split(": ", 1) for line in head.decode().splitlines())
    status = int(answered.pop("Status", "200").split()[0])
    return Reply(status, answered, content)


def _git(*arguments: str) -> str:
    completed = subprocess.run(
        ["git", *arguments], check=True, stdout=subprocess.PIPE, env=_environment(), text=True
    )
    return completed.stdout.strip()


def _environment() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
