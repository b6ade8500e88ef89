"""GitHub's responses: models of the successful ones, and our errors for the others.

A 403 means three things at GitHub: not allowed, over the hourly limit, or over a secondary limit; only the
message or a Retry-After distinguishes them.
"""

import time
from typing import Literal

import gidgethub
from pydantic import BaseModel, ConfigDict, TypeAdapter

from journeyman.errors import (
    Conflict,
    Internal,
    InvalidInput,
    InvalidRepository,
    JourneymanError,
    NotAllowed,
    RateLimited,
    Transient,
    Unauthenticated,
)
from journeyman.forges.base import PullRequest

_SECONDARY_LIMIT_SECONDS = 60.0
"""The wait that GitHub's documentation asks for when a response names none."""
_ACCESS_HINT = (
    "Set GITHUB_TOKEN to a token that can reach it: a classic one with the `repo` scope, or a "
    "fine-grained one with read and write access to Contents, Issues and Pull requests."
)


class _Response(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Permissions(_Response):
    push: bool = False


class RepositoryResponse(_Response):
    default_branch: str
    archived: bool = False
    permissions: _Permissions = _Permissions()
    """Absent without a signed-in user."""


class ReferenceResponse(_Response):
    ref: str


class UserResponse(_Response):
    id: int
    login: str
    name: str | None = None
    email: str | None = None


class IssueResponse(_Response):
    number: int
    title: str
    body: str | None = None


class _Login(_Response):
    login: str


class CommentResponse(_Response):
    id: int
    html_url: str
    body: str | None = None
    user: _Login | None = None


class _Head(_Response):
    label: str | None = None
    """`owner:branch`; None when the owner is gone."""
    ref: str


class _Base(_Response):
    ref: str


class PullResponse(_Response):
    number: int
    node_id: str
    html_url: str
    title: str
    body: str | None = None
    draft: bool = False
    state: Literal["open", "closed"]
    merged_at: str | None = None
    head: _Head
    base: _Base

    def is_of(self, owner: str, branch: str) -> bool:
        """Checked for every one: GitHub returns all pull requests when it does not understand the filter."""
        of_owner = (self.head.label or "").partition(":")[0].casefold() == owner.casefold()
        return of_owner and self.head.ref == branch

    def pull_request(self, *, was_created: bool = False) -> PullRequest:
        return PullRequest(
            number=self.number,
            url=self.html_url,
            title=self.title,
            body=self.body or "",
            draft=self.draft,
            state="merged" if self.merged_at else self.state,
            branch=self.head.ref,
            base=self.base.ref,
            was_created=was_created,
        )


class _GraphQLError(_Response):
    message: str
    type: str = ""


class GraphQLResponse(_Response):
    errors: list[_GraphQLError] = []


REPOSITORY = TypeAdapter(RepositoryResponse)
REFERENCE = TypeAdapter(ReferenceResponse)
USER = TypeAdapter(UserResponse)
ISSUE = TypeAdapter(IssueResponse)
COMMENT = TypeAdapter(CommentResponse)
COMMENTS = TypeAdapter(list[CommentResponse])
PULL = TypeAdapter(PullResponse)
PULLS = TypeAdapter(list[PullResponse])
GRAPHQL = TypeAdapter(GraphQLResponse)


def error_for_status(
    error: gidgethub.HTTPException, what: str, *, not_found: type[InvalidInput], has_token: bool
) -> JourneymanError:
    """Our error for a response of GitHub about `what`."""
    status = int(error.status_code)
    message = str(error)[:300]
    wait = _wait(error)
    if status >= 500 or status == 408:
        return Transient(
            f"GitHub could not answer about {what}: {status} {message}",
            hint="Try again; www.githubstatus.com tells of its faults.",
            retry_after=wait,
        )
    if status == 429 or (status == 403 and (wait is not None or _is_rate_limit(message))):
        return RateLimited(
            f"GitHub limits our requests about {what}: {message}",
            hint="Wait as long as it asks."
            + ("" if has_token else " With GITHUB_TOKEN set, it allows more."),
            retry_after=_SECONDARY_LIMIT_SECONDS if wait is None else wait,
        )
    if status == 401:
        what_happened = "does not accept the token" if has_token else "asks for a token"
        return Unauthenticated(f"GitHub {what_happened} for {what}: {message}", hint=_ACCESS_HINT)
    if status == 403:
        return NotAllowed(f"GitHub does not allow this on {what}: {message}", hint=_ACCESS_HINT)
    if status in (404, 410):
        return not_found(
            f"{what} was not found, or is private and the token cannot see it", hint=_ACCESS_HINT
        )
    if 300 <= status < 400:
        return InvalidRepository(f"{what} has moved", hint="Use the repository's new address.")
    if status in (409, 422):
        return _conflict(what, message)
    return Internal(f"GitHub did not understand our request about {what}: {status} {message}")


def error_for_graphql(response: GraphQLResponse, what: str) -> JourneymanError | None:
    """Our error for a GraphQL response, whose status is 200 even for a failure."""
    if not response.errors:
        return None
    first = response.errors[0]
    message = f"{what}: {first.message[:300]}"
    if first.type == "RATE_LIMITED":
        return RateLimited(
            f"GitHub limits our requests about {message}",
            hint="Wait as long as it asks.",
            retry_after=_SECONDARY_LIMIT_SECONDS,
        )
    if first.type in ("FORBIDDEN", "INSUFFICIENT_SCOPES", "NOT_FOUND"):
        return NotAllowed(f"GitHub does not allow this on {message}", hint=_ACCESS_HINT)
    return Conflict(f"GitHub refused the change to {message}", hint="Look at its state on GitHub.")


def _conflict(what: str, message: str) -> JourneymanError:
    if "draft pull requests" in message.lower():
        return NotAllowed(
            f"GitHub has no draft pull requests on {what}: {message}",
            hint="Its plan lacks them for private repositories: change the plan, or open the pull request "
            "of the pushed branch by hand. It is then taken over.",
        )
    return Conflict(
        f"GitHub refused the change to {what}: {message}",
        hint="Look at the branch and its pull requests on GitHub; the message names what is in the way.",
    )


def _is_rate_limit(message: str) -> bool:
    return "rate limit" in message.lower() or "abuse" in message.lower()


def _wait(error: gidgethub.HTTPException) -> float | None:
    """Seconds that GitHub asked us to wait, if it did."""
    asked = error.headers.get("retry-after", "")
    if asked.isdecimal():
        return float(asked)
    reset = error.headers.get("x-ratelimit-reset", "")
    if error.headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
        return max(1.0, float(reset) - time.time())
    return None
