"""Fetch the submodules of a commit, each into a mirror of its own.

What `.gitmodules` says is never handed to git: an address is parsed and rebuilt like one that a person types,
and it may lead only to the forge of the repository itself. Where the repository is a clone on this machine,
what it has of its submodules is used, so nothing is asked from a network. Which mirror belongs to which path
is recorded in the mirror (`submodules.json`), and read from there when files are written.
"""

import json
import os
import posixpath
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from journeyman.errors import InvalidRepository, JourneymanError
from journeyman.forges.base import Remote
from journeyman.forges.local_directory import locate
from journeyman.git.checkout_check import CheckoutCheck
from journeyman.git.mirror import Mirror
from journeyman.git.mirrors import Mirrors
from journeyman.git.missing import Missing
from journeyman.git.refs import PINNED, checked_commit
from journeyman.git.remote_access import resolved_remote
from journeyman.git.run import UPLOAD_PACK, git, run_git
from journeyman.work_orders.repositories import Repository, parse_repository

RECORDED = "submodules.json"
"""File of a mirror: the names of its submodules' mirrors, by path."""
MAX_DEPTH = 3
_MOST = 100
_LOCAL_HINT = "Run `git submodule update --init --recursive` in {path}, then start a new order."


@dataclass
class _Room:
    """What a checkout may still have, over all submodules."""

    files: int
    bytes: int
    submodules: int = _MOST

    def take(self, check: CheckoutCheck) -> None:
        self.files -= check.entries
        self.bytes -= check.total_bytes


@dataclass(frozen=True, kw_only=True)
class Submodules:
    mirrors: Mirrors
    remote_of: Callable[[Repository], Awaitable[Remote]]
    """Asks the forge of a repository."""
    github_url: str
    max_files: int
    max_bytes: int

    async def fetch(self, mirror: Mirror, repository: Repository, commit: str) -> list[Missing]:
        """Fetch what the commit pins, submodules of submodules too; returns what cannot be had.

        Safe to repeat because a commit that is pinned already is not fetched again.
        """
        room = _Room(self.max_files, self.max_bytes)
        return [one async for one in self._fetch_all(mirror, repository, commit, room, depth=1)]

    async def _fetch_all(
        self, mirror: Mirror, repository: Repository, commit: str, room: _Room, *, depth: int
    ) -> AsyncIterator[Missing]:
        check = await mirror.check_checkout(commit, max_files=room.files, max_bytes=room.bytes)
        room.take(check)
        if not check.gitlinks:
            return
        named = await _read_gitmodules(mirror, commit)
        found: dict[str, str] = {}
        for path, pinned in check.gitlinks.items():
            shown = os.fsdecode(path)
            if depth > MAX_DEPTH or room.submodules < 1:
                limit = f"deeper than {MAX_DEPTH} levels" if depth > MAX_DEPTH else f"more than {_MOST}"
                yield _missing(path, f"submodules {limit} are not fetched", "Reduce them.")
                continue
            room.submodules -= 1
            try:
                sub, from_where = await self._fetch(repository, shown, named.get(shown), pinned)
                async for one in self._fetch_all(sub, from_where, pinned, room, depth=depth + 1):
                    yield Missing("submodule", f"{_shown(path)}/{one.path}", one.reason, one.hint)
            except JourneymanError as error:
                yield _missing(path, error.message, error.hint)
                continue
            found[shown] = sub.path.name
        _record(mirror, found)

    async def _fetch(
        self, parent: Repository, path: str, named: "_Named | None", commit: str
    ) -> tuple[Mirror, Repository]:
        """The mirror that has the pinned commit, and the repository it is of."""
        failure: JourneymanError | None = None
        for repository in self._candidates(parent, path, named):
            mirror = self.mirrors.at(repository)
            try:
                if not await _is_pinned(mirror, commit):
                    remote = await self.remote_of(repository)
                    await _pin(await self.mirrors.refresh(repository, remote), remote, commit)
            except JourneymanError as error:
                failure = failure or error
            else:
                return mirror, repository
        raise failure or InvalidRepository("it has no address", hint="Look at the .gitmodules file.")

    def _candidates(self, parent: Repository, path: str, named: "_Named | None") -> Iterator[Repository]:
        """Where the submodule may be had; the first that has the commit is taken."""
        if parent.path is not None:
            for place in _clones_of(parent.path, path, named):
                yield self._parse(str(place), parent)
        if named is None:
            raise InvalidRepository(
                "the .gitmodules file has no address for it", hint="Add it there, on the base branch."
            )
        yield self._parse(resolve_url(parent, named.url, github_url=self.github_url), parent)

    def _parse(self, text: str, parent: Repository) -> Repository:
        is_local = parent.forge == "local"
        try:
            repository = parse_repository(text, github_url=self.github_url, allow_local=is_local)
        except InvalidRepository as error:
            hint = _LOCAL_HINT.format(path=parent.path) if is_local else error.hint
            raise InvalidRepository(error.message, hint=hint) from None
        if repository.forge != parent.forge:
            raise InvalidRepository(
                f"it is on {self.github_url}, which a repository of this machine is not fetched from",
                hint=_LOCAL_HINT.format(path=parent.path),
            )
        return repository


@dataclass(frozen=True)
class _Named:
    name: str
    url: str


def resolve_url(parent: Repository, url: str, *, github_url: str) -> str:
    """The address of a submodule: relative ones are relative to the parent's."""
    if url.startswith(("./", "../")):
        if parent.path is not None:
            return posixpath.normpath(posixpath.join(str(parent.path), url))
        base = urlsplit(parent.url)
        return f"{base.scheme}://{base.netloc}{posixpath.normpath(posixpath.join(base.path, url))}"
    parsed = urlsplit(url)
    if parsed.scheme in ("git", "http") and parsed.hostname == urlsplit(github_url).hostname:
        return f"{github_url.rstrip('/')}{parsed.path}"  # as old repositories have it
    return url


def _clones_of(parent: Path, path: str, named: _Named | None) -> Iterator[Path]:
    """What a clone on this machine has of a submodule: its files' own repository, or git's copy of it."""
    if (parent / path / ".git").exists():
        yield parent / path
    if named is not None and ".." not in named.name.split("/") and not named.name.startswith("/"):
        copied = locate(parent).common / "modules" / named.name
        if (copied / "HEAD").is_file():
            yield copied


async def _read_gitmodules(mirror: Mirror, commit: str) -> dict[str, _Named]:
    """Names and addresses by path; nothing where the file is missing or cannot be parsed."""
    answer = await run_git(
        "config", "--no-includes", f"--blob={checked_commit(commit)}:.gitmodules", "-z",
        "--get-regexp", r"^submodule\..*\.(path|url)$",
        git_dir=mirror.path,
    )  # fmt: skip
    values: dict[tuple[str, str], str] = {}
    for entry in os.fsdecode(answer.output if answer.exit_code == 0 else b"").split("\0"):
        key, _, value = entry.partition("\n")
        name, _, which = key.removeprefix("submodule.").rpartition(".")
        values[name, which] = value
    return {
        value.rstrip("/"): _Named(name, values[name, "url"])
        for (name, which), value in values.items()
        if which == "path" and (name, "url") in values
    }


async def _is_pinned(mirror: Mirror, commit: str) -> bool:
    return mirror.path.exists() and bool(await mirror.refs(f"{PINNED}{commit}"))


async def _pin(mirror: Mirror, remote: Remote, commit: str) -> None:
    """Keep the commit in the mirror, whatever becomes of the branches; fetched where no branch has it."""
    ref = f"{PINNED}{checked_commit(commit)}"
    async with mirror.lock.hold():
        mirror.drop_stale_lock(ref)
        if (await run_git("cat-file", "-e", f"{commit}^{{commit}}", git_dir=mirror.path)).exit_code == 0:
            await git("update-ref", ref, commit, git_dir=mirror.path)
            return
        async with resolved_remote(remote) as source:
            answer = await run_git(
                "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
                UPLOAD_PACK, "--", source.remote.url, f"{commit}:{ref}",
                git_dir=mirror.path, remote=source.remote,
            )  # fmt: skip
        if answer.exit_code != 0:
            raise InvalidRepository(
                f"its commit {commit[:10]} is not in the repository it is said to be of",
                hint="Push that commit there, or pin one that is there.",
            )


def recorded(mirror: Path) -> dict[str, str] | None:
    """The names of the mirrors of a mirror's submodules, by path; None where it never had a submodule."""
    try:
        known: dict[str, str] = json.loads((mirror / RECORDED).read_bytes())
    except FileNotFoundError:
        return None
    return known


def _record(mirror: Mirror, found: dict[str, str]) -> None:
    known = recorded(mirror.path)
    if known is not None and known | found == known:
        return
    fresh = mirror.path / f"{RECORDED}.{os.getpid()}"
    fresh.write_text(json.dumps((known or {}) | found))
    os.replace(fresh, mirror.path / RECORDED)


def _missing(path: bytes, reason: str, hint: str) -> Missing:
    return Missing("submodule", _shown(path), reason, hint)


def _shown(path: bytes) -> str:
    return path.decode(errors="backslashreplace")
