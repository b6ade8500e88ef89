"""The forge of repositories on this machine: pull requests without an external server."""

import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from journeyman.database import Database
from journeyman.errors import InvalidInput, InvalidRepository
from journeyman.forges import body as bodies
from journeyman.forges.base import Issue, Person, PullRequest, Remote, RepositoryFacts
from journeyman.forges.local_directory import ask_git, stand_in
from journeyman.forges.store import LocalPullRequests
from journeyman.work_orders.order import check_branch_name
from journeyman.work_orders.repositories import Repository


class LocalForge:
    name = "local"

    def __init__(self, database: Database, server_url: str) -> None:
        self._pull_requests = LocalPullRequests(database, server_url)

    async def verify(self, repository: Repository) -> RepositoryFacts:
        path = _path(repository)
        async with stand_in(path) as shown:
            branch = shown.source.head_branch()
            if branch is None:
                raise InvalidRepository(
                    f"{path} has no branch checked out",
                    hint="Check out a branch there: it is what work begins from.",
                )
            ref = f"refs/heads/{branch}^{{commit}}"
            code, _ = await ask_git(f"--git-dir={shown.path}", "rev-parse", "--verify", "--quiet", ref)
            if code != 0:
                raise InvalidRepository(f"{path} has no commit yet", hint="Commit something there first.")
            return RepositoryFacts(branch, can_push=os.access(shown.source.common, os.W_OK))

    async def existing_branches(self, repository: Repository, names: Collection[str]) -> frozenset[str]:
        refs = {f"refs/heads/{check_branch_name(name)}": name for name in names}
        async with stand_in(_path(repository)) as shown:
            _, answer = await ask_git(
                f"--git-dir={shown.path}", "for-each-ref", "--format=%(refname)", "--", *refs
            )
        # A pattern also matches what is below it: `a` finds `a/b`.
        return frozenset(refs[ref] for ref in answer.splitlines() if ref in refs)

    async def remote(self, repository: Repository) -> Remote:
        return Remote(repository.url)

    async def author(self) -> Person | None:
        return None

    async def read_issue(self, repository: Repository, number: str) -> Issue:
        raise _no_issues(repository)

    async def comment_on_issue(self, repository: Repository, number: str, body: str, *, marker: str) -> str:
        raise _no_issues(repository)

    async def open_pull_request(
        self, repository: Repository, *, branch: str, base: str, title: str, body: str
    ) -> PullRequest:
        return await self._pull_requests.open(
            repository.url,
            branch=branch,
            base=base,
            title=bodies.title_line(title),
            body=bodies.merge_body("", body),
        )

    async def update_pull_request(
        self, repository: Repository, number: int, *, body: str, title: str | None = None
    ) -> PullRequest:
        def changed(now: PullRequest) -> PullRequest:
            kept = now.title if title is None else bodies.title_line(title)
            return replace(now, title=kept, body=bodies.merge_body(now.body, body))

        return await self._pull_requests.change(repository.url, number, changed)

    async def read_pull_request(self, repository: Repository, number: int) -> PullRequest:
        return await self._pull_requests.get(number)

    async def mark_ready(self, repository: Repository, number: int) -> PullRequest:
        return await self._pull_requests.change(repository.url, number, lambda now: replace(now, draft=False))

    async def list_pull_requests(
        self, *, repository_url: str | None = None, limit: int = 50, offset: int = 0
    ) -> tuple[list[PullRequest], int]:
        return await self._pull_requests.page(repository_url=repository_url, limit=limit, offset=offset)

    async def get_pull_request(self, number: int) -> PullRequest:
        return await self._pull_requests.get(number)

    async def mark_merged(self, number: int) -> PullRequest:
        kept = await self._pull_requests.get(number)
        return await self._pull_requests.change(
            kept.repository_url, number, lambda now: replace(now, state="merged")
        )


def _path(repository: Repository) -> Path:
    if repository.path is None:
        raise InvalidRepository(
            f"{repository.url} is not a directory of this machine", hint="The local forge keeps only those."
        )
    return repository.path


def _no_issues(repository: Repository) -> InvalidInput:
    return InvalidInput(
        f"{repository.url} is a local repository, which has no issues",
        hint="Say what is wanted in the prompt, and leave the issue number out.",
    )
