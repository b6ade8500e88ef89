"""Events of issues and pull requests."""

from typing import Literal

from journeyman.events.types.base import EventModel


class GithubIssueRead(EventModel):
    type: Literal["github_issue_read"] = "github_issue_read"
    github_issue_number: str
    title: str


class GithubIssueCommented(EventModel):
    type: Literal["github_issue_commented"] = "github_issue_commented"
    github_issue_number: str
    url: str


class GithubPullRequestCreated(EventModel):
    type: Literal["github_pull_request_created"] = "github_pull_request_created"
    github_pull_request_url: str
    number: int
    draft: bool


class GithubPullRequestUpdated(EventModel):
    type: Literal["github_pull_request_updated"] = "github_pull_request_updated"
    github_pull_request_url: str
    number: int
    draft: bool


class GithubPullRequestClosed(EventModel):
    """A person closed it; it is never opened a second time."""

    type: Literal["github_pull_request_closed"] = "github_pull_request_closed"
    github_pull_request_url: str
    number: int


class GithubPullRequestMerged(EventModel):
    type: Literal["github_pull_request_merged"] = "github_pull_request_merged"
    github_pull_request_url: str
    number: int


class GithubPullRequestReopened(EventModel):
    type: Literal["github_pull_request_reopened"] = "github_pull_request_reopened"
    github_pull_request_url: str
    number: int
