"""A stand-in GitHub on loopback, laid out as GitHub Enterprise is: API, GraphQL, git over HTTP.

It keeps its own log of every request and every pull request ever made. Tests believe this log and
nothing that the product says of itself. It fails on command, before or after it did what was asked.
"""

import json
import re
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from types import TracebackType
from typing import Any, Literal
from urllib.parse import parse_qs, unquote

from tests.standins.github_git import Repositories, serve_git
from tests.standins.github_http import Reply, Server, Silence, token_of

Kind = Literal[
    401, 403, 404, 409, 422, 429, 500, "timeout", "reset", "reset_after_applying", "500_after_applying"
]
ALL_KINDS: tuple[Kind, ...] = (
    *(401, 403, 404, 409, 422, 429, 500),
    *("timeout", "reset", "reset_after_applying", "500_after_applying"),
)
RETRY_AFTER_SECONDS = 7
_MESSAGES = {
    401: "Bad credentials",
    403: "Resource not accessible by personal access token",
    404: "Not Found",
    409: "Conflict",
    422: "Validation Failed",
    429: "You have exceeded a secondary rate limit.",
    500: "Server Error",
}


@dataclass
class Repository:
    owner: str
    name: str
    private: bool
    can_push: bool
    drafts: bool


@dataclass
class Issue:
    repository: str
    number: int
    title: str
    body: str | None


@dataclass
class Comment:
    id: int
    repository: str
    number: int
    author: str
    body: str


@dataclass
class PullRequest:
    repository: str
    number: int
    branch: str
    base: str
    title: str
    body: str
    draft: bool
    state: Literal["open", "closed"] = "open"
    merged: bool = False

    @property
    def node_id(self) -> str:
        return f"PR_{self.repository}_{self.number}"


@dataclass
class Request:
    """A line of the log."""

    method: str
    path: str
    query: str
    authorized: bool
    body: bytes = field(repr=False)
    fault: Kind | None = None
    status: int | None = None
    """What was answered; None when no answer was given."""
    applied: bool = False
    """Whether what was asked for was done, answered or not."""


@dataclass
class _Fault:
    method: str
    pattern: str
    kind: Kind
    times: int


class _Refused(Exception):
    def __init__(self, status: int, message: str = "", errors: list[dict[str, str]] | None = None) -> None:
        self.status = status
        self.document: dict[str, Any] = {"message": message or _MESSAGES[status]}
        if errors:
            self.document["errors"] = errors


class GitHubStandIn(AbstractContextManager["GitHubStandIn"]):
    token = "ghp_standin0123456789"
    login = "octavia"

    def __init__(self, directory: Path) -> None:
        self.user = {
            "id": 4711,
            "login": self.login,
            "name": "Octavia Example",
            "email": "octavia@example.org",
        }
        self.repositories: dict[str, Repository] = {}
        self.issues: list[Issue] = []
        self.comments: list[Comment] = []
        """Every comment ever made."""
        self.pull_requests: list[PullRequest] = []
        """Every pull request ever made."""
        self.requests: list[Request] = []
        self.git = Repositories(directory / "github")
        self._faults: list[_Fault] = []
        self._lock = threading.Lock()
        self._server = Server(self._answer)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self.url = self._server.url
        self.api_url = f"{self.url}/api/v3"

    def __enter__(self) -> "GitHubStandIn":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def add_repository(
        self,
        owner: str,
        name: str,
        from_path: Path,
        *,
        private: bool = False,
        can_push: bool = True,
        drafts: bool = True,
    ) -> str:
        """Serve a bare copy of a repository. Returns its address."""
        self.git.add(f"{owner}/{name}", from_path)
        self.repositories[f"{owner}/{name}"] = Repository(owner, name, private, can_push, drafts)
        return f"{self.url}/{owner}/{name}"

    def add_issue(self, repository: str, title: str, body: str | None = None) -> int:
        with self._lock:
            number = self._next_number(repository)
            self.issues.append(Issue(repository, number, title, body))
        return number

    def add_comment(self, repository: str, number: int, author: str, body: str) -> None:
        with self._lock:
            self.comments.append(Comment(len(self.comments) + 1, repository, number, author, body))

    def fail(self, method: str, path_pattern: str, kind: Kind, times: int = 1) -> None:
        """Let the next requests of this method, to paths that match like file names do, go wrong."""
        with self._lock:
            self._faults.append(_Fault(method, path_pattern, kind, times))

    def made(self, method: str, path_pattern: str) -> list[Request]:
        """The requests that came, oldest first."""
        return [one for one in self.requests if one.method == method and fnmatchcase(one.path, path_pattern)]

    def _answer(
        self, method: str, path: str, query: str, headers: dict[str, str], body: bytes
    ) -> Reply | Silence:
        request = Request(method, path, query, token_of(headers) == self.token, body)
        with self._lock:
            self.requests.append(request)
            request.fault = self._take_fault(request)
        if isinstance(request.fault, int):
            more = {"Retry-After": str(RETRY_AFTER_SECONDS)} if request.fault == 429 else {}
            return self._logged(request, _refusal(request.fault, more))
        if request.fault in ("timeout", "reset"):
            return request.fault
        reply = self._git(request, headers) if ".git/" in path else self._api(request, headers)
        request.applied = reply.status < 400
        if request.fault == "reset_after_applying":
            return "reset"
        return self._logged(request, _refusal(500) if request.fault == "500_after_applying" else reply)

    def _logged(self, request: Request, reply: Reply) -> Reply:
        request.status = reply.status
        return reply

    def _take_fault(self, request: Request) -> Kind | None:
        for fault in self._faults:
            if fault.times and fault.method == request.method and fnmatchcase(request.path, fault.pattern):
                fault.times -= 1
                return fault.kind
        return None

    def _git(self, request: Request, headers: dict[str, str]) -> Reply:
        slug = request.path.partition(".git/")[0].lstrip("/")
        repository = self.repositories.get(slug)
        is_push = request.path.endswith("git-receive-pack") or "service=git-receive-pack" in request.query
        sent_wrong = bool(headers.get("authorization")) and not request.authorized
        needs_token = repository is None or repository.private or is_push
        if sent_wrong or (needs_token and not request.authorized):
            return Reply(401, {"WWW-Authenticate": 'Basic realm="GitHub"'}, b"")
        if repository is None:
            return Reply(404, {}, b"")
        if is_push and not repository.can_push:
            return Reply(403, {}, b"")
        return serve_git(
            self.git.root, request.method, request.path, request.query, headers, request.body, self.login
        )

    def _api(self, request: Request, headers: dict[str, str]) -> Reply:
        try:
            if headers.get("authorization") and not request.authorized:
                raise _Refused(401)
            for method, pattern, does in _ROUTES:
                found = re.fullmatch(pattern, request.path)
                if method == request.method and found:
                    if method != "GET" and not request.authorized:
                        raise _Refused(401, "Requires authentication")
                    with self._lock:
                        return does(self, request, *map(unquote, found.groups()))
            raise _Refused(404)
        except _Refused as refused:
            return Reply.of_json(refused.status, refused.document)

    def _repository(self, request: Request, slug: str) -> Repository:
        repository = self.repositories.get(slug)
        if repository is None or (repository.private and not request.authorized):
            raise _Refused(404)
        if request.method != "GET" and not repository.can_push:
            raise _Refused(403)
        return repository

    def _get_repository(self, request: Request, slug: str) -> Reply:
        repository = self._repository(request, slug)
        document = {"full_name": slug, "default_branch": self.git.default_branch(slug), "archived": False}
        if request.authorized:
            document["permissions"] = {"pull": True, "push": repository.can_push}
        return Reply.of_json(200, document)

    def _get_ref(self, request: Request, slug: str, branch: str) -> Reply:
        self._repository(request, slug)
        commit = self.git.commit(slug, branch)
        if not commit:
            raise _Refused(404)
        return Reply.of_json(200, {"ref": f"refs/heads/{branch}", "object": {"sha": commit}})

    def _get_user(self, request: Request) -> Reply:
        if not request.authorized:
            raise _Refused(401, "Requires authentication")
        return Reply.of_json(200, self.user)

    def _get_issue(self, request: Request, slug: str, number: str) -> Reply:
        self._repository(request, slug)
        for issue in self.issues:
            if (issue.repository, issue.number) == (slug, int(number)):
                return Reply.of_json(200, {"number": issue.number, "title": issue.title, "body": issue.body})
        raise _Refused(404)

    def _list_comments(self, request: Request, slug: str, number: str) -> Reply:
        self._repository(request, slug)
        wanted = [one for one in self.comments if (one.repository, one.number) == (slug, int(number))]
        return Reply.of_json(200, [self._comment(one) for one in _page(wanted, request.query)])

    def _create_comment(self, request: Request, slug: str, number: str) -> Reply:
        self._get_issue(request, slug, number)
        body = json.loads(request.body)["body"]
        made = Comment(len(self.comments) + 1, slug, int(number), self.login, body)
        self.comments.append(made)
        return Reply.of_json(201, self._comment(made))

    def _edit_comment(self, request: Request, slug: str, identifier: str) -> Reply:
        self._repository(request, slug)
        for comment in self.comments:
            if (comment.repository, comment.id) == (slug, int(identifier)):
                comment.body = json.loads(request.body)["body"]
                return Reply.of_json(200, self._comment(comment))
        raise _Refused(404)

    def _list_pulls(self, request: Request, slug: str) -> Reply:
        repository = self._repository(request, slug)
        query = {name: values[0] for name, values in parse_qs(request.query).items()}
        state, head = query.get("state", "open"), query.get("head")
        wanted = [
            one
            for one in reversed(self.pull_requests)
            if one.repository == slug
            and state in ("all", one.state)
            and head in (None, f"{repository.owner}:{one.branch}")
        ]
        return Reply.of_json(200, [self._pull(one) for one in _page(wanted, request.query)])

    def _create_pull(self, request: Request, slug: str) -> Reply:
        repository = self._repository(request, slug)
        asked = json.loads(request.body)
        for name in ("head", "base"):
            if not self.git.has_branch(slug, asked[name]):
                error = {"resource": "PullRequest", "field": name, "code": "invalid"}
                raise _Refused(422, errors=[error])
        if asked.get("draft") and not repository.drafts:
            raise _Refused(422, "Draft pull requests are not supported in this repository.")
        for one in self.pull_requests:
            same = (one.repository, one.branch, one.base) == (slug, asked["head"], asked["base"])
            if same and one.state == "open":
                said = f"A pull request already exists for {repository.owner}:{one.branch}."
                raise _Refused(422, errors=[{"resource": "PullRequest", "code": "custom", "message": said}])
        made = PullRequest(
            slug,
            self._next_number(slug),
            asked["head"],
            asked["base"],
            asked["title"],
            asked.get("body") or "",
            bool(asked.get("draft")),
        )
        self.pull_requests.append(made)
        return Reply.of_json(201, self._pull(made))

    def _find_pull(self, slug: str, number: str) -> PullRequest:
        for one in self.pull_requests:
            if (one.repository, one.number) == (slug, int(number)):
                return one
        raise _Refused(404)

    def _get_pull(self, request: Request, slug: str, number: str) -> Reply:
        self._repository(request, slug)
        return Reply.of_json(200, self._pull(self._find_pull(slug, number)))

    def _edit_pull(self, request: Request, slug: str, number: str) -> Reply:
        self._repository(request, slug)
        pull = self._find_pull(slug, number)
        asked = json.loads(request.body)
        pull.title, pull.body = asked.get("title", pull.title), asked.get("body", pull.body)
        return Reply.of_json(200, self._pull(pull))

    def _graphql(self, request: Request) -> Reply:
        asked = json.loads(request.body)
        assert "markPullRequestReadyForReview" in asked["query"]
        for pull in self.pull_requests:
            if pull.node_id == asked["variables"]["id"]:
                if pull.state == "closed":
                    error = {"type": "UNPROCESSABLE", "message": "Pull request is closed"}
                    return Reply.of_json(200, {"data": None, "errors": [error]})
                pull.draft = False
                done = {"markPullRequestReadyForReview": {"pullRequest": {"isDraft": False}}}
                return Reply.of_json(200, {"data": done})
        error = {"type": "NOT_FOUND", "message": "Could not resolve to a node"}
        return Reply.of_json(200, {"data": None, "errors": [error]})

    def _next_number(self, slug: str) -> int:
        taken = [one.repository for one in self.issues] + [one.repository for one in self.pull_requests]
        return 1 + taken.count(slug)

    def _comment(self, comment: Comment) -> dict[str, Any]:
        page = f"{self.url}/{comment.repository}/issues/{comment.number}#issuecomment-{comment.id}"
        return {"id": comment.id, "html_url": page, "body": comment.body, "user": {"login": comment.author}}

    def _pull(self, pull: PullRequest) -> dict[str, Any]:
        owner = pull.repository.partition("/")[0]
        return {
            "number": pull.number,
            "node_id": pull.node_id,
            "html_url": f"{self.url}/{pull.repository}/pull/{pull.number}",
            "title": pull.title,
            "body": pull.body or None,
            "draft": pull.draft,
            "state": pull.state,
            "merged_at": "2026-01-02T03:04:05Z" if pull.merged else None,
            "head": {"label": f"{owner}:{pull.branch}", "ref": pull.branch},
            "base": {"label": f"{owner}:{pull.base}", "ref": pull.base},
        }


_SLUG = r"/api/v3/repos/([^/]+/[^/]+)"
_ROUTES: list[tuple[str, str, Callable[..., Reply]]] = [
    ("GET", r"/api/v3/user", GitHubStandIn._get_user),
    ("GET", _SLUG, GitHubStandIn._get_repository),
    ("GET", rf"{_SLUG}/git/ref/heads/(.+)", GitHubStandIn._get_ref),
    ("GET", rf"{_SLUG}/issues/(\d+)", GitHubStandIn._get_issue),
    ("GET", rf"{_SLUG}/issues/(\d+)/comments", GitHubStandIn._list_comments),
    ("POST", rf"{_SLUG}/issues/(\d+)/comments", GitHubStandIn._create_comment),
    ("PATCH", rf"{_SLUG}/issues/comments/(\d+)", GitHubStandIn._edit_comment),
    ("GET", rf"{_SLUG}/pulls", GitHubStandIn._list_pulls),
    ("POST", rf"{_SLUG}/pulls", GitHubStandIn._create_pull),
    ("GET", rf"{_SLUG}/pulls/(\d+)", GitHubStandIn._get_pull),
    ("PATCH", rf"{_SLUG}/pulls/(\d+)", GitHubStandIn._edit_pull),
    ("POST", r"/api/graphql", GitHubStandIn._graphql),
]


def _refusal(status: int, headers: dict[str, str] | None = None) -> Reply:
    return Reply.of_json(status, {"message": _MESSAGES[status]}, headers)


def _page(wanted: list[Any], query: str) -> list[Any]:
    asked = parse_qs(query)
    size, page = int(asked.get("per_page", ["30"])[0]), int(asked.get("page", ["1"])[0])
    return wanted[size * (page - 1) : size * page]
