"""What a forge is: the place of repositories, issues and pull requests.

Every call that changes something reads the state first, because a step may be repeated and the response to an
earlier call may have been lost.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from journeyman.work_orders.repositories import Repository


@dataclass(frozen=True)
class Remote:
    """Where git fetches and pushes. The headers carry the credential and go to git by environment only."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class RepositoryFacts:
    default_branch: str
    can_push: bool
    """Whether a push with our credential would be accepted."""


@dataclass(frozen=True)
class Person:
    name: str
    email: str


@dataclass(frozen=True)
class Issue:
    number: str
    title: str
    body: str


@dataclass(frozen=True)
class PullRequest:
    number: int
    url: str
    title: str
    body: str
    draft: bool
    state: Literal["open", "closed", "merged"]
    branch: str
    base: str
    was_created: bool = False
    """True only in the result of the call that created it."""
    repository_url: str = ""
    """Set by the local forge, which stores pull requests of many repositories."""


class Forge(Protocol):
    @property
    def name(self) -> str: ...

    async def verify(self, repository: Repository) -> RepositoryFacts:
        """Facts about the repository, or an error that says why it cannot be reached and what to do."""
        ...

    async def existing_branches(self, repository: Repository, names: Collection[str]) -> frozenset[str]:
        """Those of the names that are branches there now."""
        ...

    async def remote(self, repository: Repository) -> Remote: ...

    async def author(self) -> Person | None:
        """The person that commits and pull requests are made for; None when the forge does not know one."""
        ...

    async def read_issue(self, repository: Repository, number: str) -> Issue: ...

    async def comment_on_issue(self, repository: Repository, number: str, body: str, *, marker: str) -> str:
        """Write one comment, or rewrite the one that holds this marker. Returns its address."""
        ...

    async def open_pull_request(
        self, repository: Repository, *, branch: str, base: str, title: str, body: str
    ) -> PullRequest:
        """The pull request of this branch: the existing one, open or not, else a new draft."""
        ...

    async def update_pull_request(
        self, repository: Repository, number: int, *, body: str, title: str | None = None
    ) -> PullRequest:
        """Replace our part of the body, between its markers; what people wrote around it stays."""
        ...

    async def read_pull_request(self, repository: Repository, number: int) -> PullRequest:
        """The pull request as it is now."""
        ...

    async def mark_ready(self, repository: Repository, number: int) -> PullRequest:
        """Take a pull request out of draft; one that is out already stays as it is."""
        ...


class PullRequestStore(Protocol):
    """A forge of our own that can list all its pull requests."""

    async def list_pull_requests(
        self, *, repository_url: str | None = None, limit: int = 50, offset: int = 0
    ) -> tuple[list[PullRequest], int]: ...

    async def get_pull_request(self, number: int) -> PullRequest: ...

    async def mark_merged(self, number: int) -> PullRequest:
        """Record that its branch was merged; the merge itself is done by git."""
        ...
