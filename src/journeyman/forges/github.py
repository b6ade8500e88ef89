"""GitHub or GitHub Enterprise, as the owner of one token; public repositories can be read without one.

A response that was lost does not tell whether the change was made. So every call that creates something reads
the state first, and reads it again before it reports an error.
"""

import asyncio
import base64
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

import gidgethub
import httpx2
from gidgethub.httpx import GitHubAPI
from pydantic import TypeAdapter

from journeyman.errors import Conflict, InvalidInput, InvalidRepository, NotAllowed, NotFound, Transient
from journeyman.forges import body as bodies
from journeyman.forges import github_responses as responses
from journeyman.forges.base import Issue, Person, PullRequest, Remote, RepositoryFacts
from journeyman.settings import Settings
from journeyman.work_orders.repositories import Repository

T = TypeVar("T")
_PAGE = 100
_MOST_PAGES = 30
"""GitHub keeps at most 2,500 comments on an issue."""
_PAUSES = (0.1, 0.5)
"""Seconds between the attempts of one read; longer faults are retried by the engine."""
_PUSH_SECONDS = 2.0
"""How long `verify` waits for git's own answer, before it relies on the API's permissions."""
_PUSH_ANSWERS = {200: True, 401: False, 403: False, 404: False}
_REPOSITORY = "/repos/{owner}/{name}"
_MARK_READY = """
mutation($id: ID!) {
  markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } }
}
"""


class GitHubForge:
    name = "github"

    def __init__(self, settings: Settings, *, timeout_seconds: float = 20.0) -> None:
        self._web_url = settings.github_url.rstrip("/")
        self._api_url = settings.github_api_url.rstrip("/")
        self._token = settings.github_token.get_secret_value() if settings.github_token else None
        self._timeout = timeout_seconds
        self._push_timeout = min(timeout_seconds, _PUSH_SECONDS)
        self._client: httpx2.AsyncClient | None = None
        self._user: responses.UserResponse | None = None

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def verify(self, repository: Repository) -> RepositoryFacts:
        found = await self._read(
            _REPOSITORY, _names(repository), responses.REPOSITORY, what=_slug(repository)
        )
        can_push = False
        if self._token is not None and not found.archived:
            may_push = await self._may_push(repository)
            can_push = found.permissions.push if may_push is None else may_push
        return RepositoryFacts(found.default_branch, can_push)

    async def existing_branches(self, repository: Repository, names: Collection[str]) -> frozenset[str]:
        asked = sorted(set(names))
        found = await asyncio.gather(*(self._has_branch(repository, name) for name in asked))
        return frozenset(name for name, exists in zip(asked, found, strict=True) if exists)

    async def remote(self, repository: Repository) -> Remote:
        url = f"{self._web_url}/{repository.owner}/{repository.name}.git"
        if self._token is None:
            return Remote(url)
        credential = base64.b64encode(f"x-access-token:{self._token}".encode()).decode()
        return Remote(url, {"Authorization": f"Basic {credential}"})

    async def author(self) -> Person | None:
        user = await self._signed_in()
        if user is None:
            return None
        host = urlsplit(self._web_url).hostname
        return Person(user.name or user.login, user.email or f"{user.id}+{user.login}@users.noreply.{host}")

    async def read_issue(self, repository: Repository, number: str) -> Issue:
        found = await self._read(
            f"{_REPOSITORY}/issues/{{number}}",
            _names(repository) | {"number": _issue_number(number)},
            responses.ISSUE,
            what=f"issue {_slug(repository)}#{number}",
            not_found=NotFound,
        )
        return Issue(str(found.number), found.title, found.body or "")

    async def comment_on_issue(self, repository: Repository, number: str, body: str, *, marker: str) -> str:
        names = _names(repository) | {"number": _issue_number(number)}
        what = f"issue {_slug(repository)}#{number}"
        text = bodies.marked(body, marker)
        existing = await self._find_comment(names, what, marker)
        if existing is None:
            try:
                made = await self._send(
                    "POST",
                    f"{_REPOSITORY}/issues/{{number}}/comments",
                    names,
                    responses.COMMENT,
                    what=what,
                    not_found=NotFound,
                    data={"body": text},
                )
            except Transient:
                existing = await self._find_comment(names, what, marker)
                if existing is None:
                    raise
            else:
                return made.html_url
        if (existing.body or "") == text:
            return existing.html_url
        edited = await self._send(
            "PATCH",
            f"{_REPOSITORY}/issues/comments/{{id}}",
            names | {"id": str(existing.id)},
            responses.COMMENT,
            what=what,
            not_found=NotFound,
            data={"body": text},
        )
        return edited.html_url

    async def open_pull_request(
        self, repository: Repository, *, branch: str, base: str, title: str, body: str
    ) -> PullRequest:
        existing = await self._find_pull(repository, branch)
        if existing is not None:
            return existing.pull_request()
        new = {
            "head": branch,
            "base": base,
            "title": bodies.title_line(title),
            "body": bodies.merge_body("", body),
            "draft": True,
        }
        try:
            made = await self._send(
                "POST",
                f"{_REPOSITORY}/pulls",
                _names(repository),
                responses.PULL,
                what=_slug(repository),
                data=new,
            )
        except (Transient, Conflict) as error:
            existing = await self._find_pull(repository, branch)
            if existing is None:
                raise
            # There was none a moment ago: after a lost response it is ours, after a refusal another author's.
            return existing.pull_request(was_created=isinstance(error, Transient))
        return made.pull_request(was_created=True)

    async def update_pull_request(
        self, repository: Repository, number: int, *, body: str, title: str | None = None
    ) -> PullRequest:
        now = await self._read_pull(repository, number)
        merged = bodies.merge_body(now.body or "", body)
        changes = {} if merged == (now.body or "") else {"body": merged}
        if title is not None and bodies.title_line(title) != now.title:
            changes["title"] = bodies.title_line(title)
        if not changes:
            return now.pull_request()
        changed = await self._send(
            "PATCH",
            f"{_REPOSITORY}/pulls/{{number}}",
            _names(repository) | {"number": str(number)},
            responses.PULL,
            what=f"pull request {_slug(repository)}#{number}",
            not_found=NotFound,
            data=changes,
        )
        return changed.pull_request()

    async def read_pull_request(self, repository: Repository, number: int) -> PullRequest:
        return (await self._read_pull(repository, number)).pull_request()

    async def mark_ready(self, repository: Repository, number: int) -> PullRequest:
        now = await self._read_pull(repository, number)
        if not now.draft:
            return now.pull_request()
        what = f"pull request {_slug(repository)}#{number}"
        asked = {"query": _MARK_READY, "variables": {"id": now.node_id}}
        try:
            answer = await self._send(
                "POST", graphql_url(self._api_url), {}, responses.GRAPHQL, what=what, data=asked
            )
            refused = responses.error_for_graphql(answer, what)
            if refused is not None:
                raise refused
        except (Transient, Conflict):
            now = await self._read_pull(repository, number)
            if now.draft:
                raise
        return replace(now.pull_request(), draft=False)

    async def _may_push(self, repository: Repository) -> bool | None:
        """Whether git's own endpoint would accept a push; None when it does not say now.

        The API's permissions are those of the token's owner, and of nobody for an app's installation: a
        fine-grained token may do less than its owner, an installation more.
        """
        remote = await self.remote(repository)
        url = f"{remote.url}/info/refs?service=git-receive-pack"
        try:
            async with (
                asyncio.timeout(self._push_timeout),
                self._http().stream("GET", url, headers=dict(remote.headers)) as answer,
            ):
                return _PUSH_ANSWERS.get(answer.status_code)
        except (httpx2.HTTPError, TimeoutError):
            return None

    async def _has_branch(self, repository: Repository, name: str) -> bool:
        try:
            await self._read(
                f"{_REPOSITORY}/git/ref/heads/{{+branch}}",
                _names(repository) | {"branch": name},
                responses.REFERENCE,
                what=f"branch {name!r} of {_slug(repository)}",
                not_found=NotFound,
            )
        except NotFound:
            return False
        return True

    async def _signed_in(self) -> responses.UserResponse | None:
        if self._user is None and self._token is not None:
            try:
                self._user = await self._read("/user", {}, responses.USER, what="the token's owner")
            except NotAllowed:
                # The token of an app's installation belongs to no user; everything else works with it.
                return None
        return self._user

    async def _find_pull(self, repository: Repository, branch: str) -> responses.PullResponse | None:
        """The branch's open pull request, else the newest closed or merged one."""
        found = await self._read(
            f"{_REPOSITORY}/pulls{{?head,state,per_page}}",
            _names(repository)
            | {"head": f"{repository.owner}:{branch}", "state": "all", "per_page": str(_PAGE)},
            responses.PULLS,
            what=_slug(repository),
        )
        ours = [pull for pull in found if pull.is_of(repository.owner, branch)]
        return max(ours, key=lambda pull: (pull.state == "open", pull.number), default=None)

    async def _read_pull(self, repository: Repository, number: int) -> responses.PullResponse:
        return await self._read(
            f"{_REPOSITORY}/pulls/{{number}}",
            _names(repository) | {"number": str(number)},
            responses.PULL,
            what=f"pull request {_slug(repository)}#{number}",
            not_found=NotFound,
        )

    async def _find_comment(
        self, names: dict[str, str], what: str, marker: str
    ) -> responses.CommentResponse | None:
        """Our comment with this marker; anybody can copy a marker, so comments of others are skipped."""
        user = await self._signed_in()
        for page in range(1, _MOST_PAGES + 1):
            comments = await self._read(
                f"{_REPOSITORY}/issues/{{number}}/comments{{?per_page,page}}",
                names | {"per_page": str(_PAGE), "page": str(page)},
                responses.COMMENTS,
                what=what,
                not_found=NotFound,
            )
            for comment in comments:
                is_ours = user is None or (comment.user is not None and comment.user.login == user.login)
                if is_ours and marker in (comment.body or ""):
                    return comment
            if len(comments) < _PAGE:
                break
        return None

    async def _read(
        self,
        url: str,
        names: dict[str, str],
        answer: TypeAdapter[T],
        *,
        what: str,
        not_found: type[InvalidInput] = InvalidRepository,
    ) -> T:
        for pause in _PAUSES:
            try:
                return await self._send("GET", url, names, answer, what=what, not_found=not_found)
            except Transient:
                await asyncio.sleep(pause)
        return await self._send("GET", url, names, answer, what=what, not_found=not_found)

    async def _send(
        self,
        method: Literal["GET", "POST", "PATCH"],
        url: str,
        names: dict[str, str],
        answer: TypeAdapter[T],
        *,
        what: str,
        not_found: type[InvalidInput] = InvalidRepository,
        data: dict[str, Any] | None = None,
    ) -> T:
        """One request, without retries. Every failure becomes one of our errors."""
        api = self._api()
        calls: dict[str, Callable[[], Awaitable[Any]]] = {
            "GET": lambda: api.getitem(url, names),
            "POST": lambda: api.post(url, names, data=data),
            "PATCH": lambda: api.patch(url, names, data=data),
        }
        try:
            async with asyncio.timeout(self._timeout):
                found = await calls[method]()
            return answer.validate_python(found)
        except (httpx2.HTTPError, TimeoutError) as error:
            raise Transient(
                f"no answer from GitHub about {what}: {str(error) or type(error).__name__}",
                hint="Check the network, and JOURNEYMAN_GITHUB_API_URL if you set it.",
            ) from error
        except gidgethub.HTTPException as error:
            raise responses.error_for_status(
                error, what, not_found=not_found, has_token=self._token is not None
            ) from error
        except (ValueError, KeyError) as error:
            # Not JSON, truncated, or JSON of another shape: a proxy's page, or a broken connection.
            raise Transient(
                f"GitHub's answer about {what} cannot be read",
                hint="Try again; if it stays, something between here and GitHub changes the responses.",
            ) from error

    def _api(self) -> GitHubAPI:
        return GitHubAPI(self._http(), "journeyman", oauth_token=self._token, base_url=self._api_url)

    def _http(self) -> httpx2.AsyncClient:
        if self._client is None:
            self._client = httpx2.AsyncClient(timeout=self._timeout)
        return self._client


def graphql_url(api_url: str) -> str:
    """Where an API's GraphQL is: beside `/api/v3` on Enterprise, under the root on github.com."""
    root = api_url.rstrip("/")
    return f"{root.removesuffix('/v3')}/graphql" if root.endswith("/api/v3") else f"{root}/graphql"


def _names(repository: Repository) -> dict[str, str]:
    return {"owner": repository.owner, "name": repository.name}


def _slug(repository: Repository) -> str:
    return f"{repository.owner}/{repository.name}"


def _issue_number(text: str) -> str:
    if not (text.isascii() and text.isdecimal() and len(text) < 12):
        raise InvalidInput(f"{text!r} is not an issue's number", hint="Give the digits alone, as in 42.")
    return text
