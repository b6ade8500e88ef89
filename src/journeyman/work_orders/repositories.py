"""A repository's address, parsed and rebuilt from its parts.

What a user typed is never handed to git: only the address rebuilt here is. That is what keeps
`--upload-pack=…`, `ext::…` and credentials inside an address from ever reaching a command line.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from journeyman.errors import InvalidRepository

_PART = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_SSH = re.compile(r"(?:ssh://git@(?P<host>[^/:@]+)(?::\d+)?/|git@(?P<short>[^/:@]+):)(?P<path>[^@:]+)")
"""What `git remote -v` shows of a clone over SSH, in both ways of writing it."""


@dataclass(frozen=True)
class Repository:
    forge: Literal["github", "local"]
    url: str
    """The canonical address, as shown and stored."""
    owner: str
    name: str
    path: Path | None = None
    """Where a local repository lies."""


def parse_repository(text: str, *, github_url: str, allow_local: bool, must_exist: bool = True) -> Repository:
    """The repository that a text names, or an InvalidRepository that says what is accepted.

    That of an accepted order is known: its directory may be gone, and the order must still end.
    """
    if not text or len(text) > 2000 or any(ord(c) < 32 or ord(c) == 127 for c in text):
        raise _refused("the repository's address is empty, too long or holds control characters", github_url)
    if text.startswith("-") or "::" in text:
        raise _refused(f"{text!r} is not a repository's address", github_url)
    if text.startswith(("/", "file://")):
        return _local(text, allow_local, must_exist)
    base = urlsplit(github_url)
    by_ssh = _SSH.fullmatch(text)
    if by_ssh is not None:
        host = by_ssh["host"] or by_ssh["short"]
        if host.lower() != base.hostname:
            raise _refused(f"{text!r} is not on {github_url}", github_url)
        text = f"{github_url.rstrip('/')}/{by_ssh['path'].lstrip('/')}"
    parsed = urlsplit(text)
    if "@" in parsed.netloc or (not parsed.scheme and "@" in text):
        raise InvalidRepository(
            "the repository's address must not hold a user name or password",
            hint=f"Use {github_url}/owner/name and set GITHUB_TOKEN for access.",
        )
    if (parsed.scheme, parsed.netloc.lower()) != (base.scheme, base.netloc.lower()):
        raise _refused(f"{text!r} is not on {github_url}", github_url)
    if parsed.query or parsed.fragment:
        raise _refused("the repository's address must not have a query or fragment", github_url)
    parts = [part for part in parsed.path.removesuffix("/").split("/") if part]
    if len(parts) != 2:
        raise _refused(f"{text!r} does not name an owner and a repository", github_url)
    owner, name = parts[0], parts[1].removesuffix(".git")
    if not all(
        _PART.fullmatch(part) and part.strip(".") and not part.startswith("-") for part in (owner, name)
    ):
        raise _refused(f"{text!r} is not a repository's address", github_url)
    return Repository("github", f"{github_url.rstrip('/')}/{owner}/{name}", owner, name)


def _local(text: str, allow_local: bool, must_exist: bool) -> Repository:
    if not allow_local:
        raise InvalidRepository(
            "directories of this machine cannot be named here",
            hint="An operator can allow it with JOURNEYMAN_ALLOW_LOCAL_REPOSITORIES=true.",
        )
    if text.startswith("file://"):
        parsed = urlsplit(text)
        if parsed.netloc not in ("", "localhost") or parsed.query or parsed.fragment:
            raise InvalidRepository(
                f"{text!r} is not a local repository's address", hint="Use file:///path/to/repository."
            )
        text = unquote(parsed.path)
    if "\0" in text or any(ord(c) < 32 for c in text):
        raise InvalidRepository("the path holds control characters", hint="Use file:///path/to/repository.")
    path = Path(text).resolve()
    if must_exist:
        try:
            _check_is_repository(path)
        except OSError as error:
            raise InvalidRepository(
                f"{path} cannot be looked at: {error.strerror}",
                hint="Let the user that runs the server read it, or name another directory.",
            ) from None
    return Repository("local", path.as_uri(), "local", path.name.removesuffix(".git") or "repository", path)


def _check_is_repository(path: Path) -> None:
    if not path.is_dir():
        raise InvalidRepository(f"there is no directory {path}", hint="Give the path of a git repository.")
    if not ((path / ".git").exists() or ((path / "objects").is_dir() and (path / "HEAD").is_file())):
        raise InvalidRepository(
            f"{path} is not a git repository", hint="Run `git init` there and commit first."
        )


def _refused(what: str, github_url: str) -> InvalidRepository:
    return InvalidRepository(
        what, hint=f"Use {github_url}/owner/name, or the absolute path of a repository on this machine."
    )
