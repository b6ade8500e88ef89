"""What GitHub's refusals mean, where the status alone does not tell."""

import time
from http import HTTPStatus

import gidgethub
import pytest

from journeyman.errors import (
    Conflict,
    Internal,
    InvalidRepository,
    JourneymanError,
    NotAllowed,
    RateLimited,
    Transient,
)
from journeyman.forges.github_responses import GRAPHQL, PULL, error_for_graphql, error_for_status


def refused(status: int, message: str, headers: dict[str, str] | None = None) -> JourneymanError:
    error = gidgethub.HTTPException(HTTPStatus(status), message, headers=headers or {})
    return error_for_status(error, "acme/api", not_found=InvalidRepository, has_token=True)


def test_a_forbidden_answer_with_nothing_left_is_a_limit_until_the_reset() -> None:
    reset = str(int(time.time()) + 900)

    error = refused(
        403, "API rate limit exceeded", {"x-ratelimit-remaining": "0", "x-ratelimit-reset": reset}
    )

    assert isinstance(error, RateLimited)
    assert error.retry_after is not None
    assert 0 < error.retry_after <= 900


def test_a_secondary_limit_that_names_no_time_asks_for_a_minute() -> None:
    error = refused(403, "You have exceeded a secondary rate limit. Please wait a few minutes.")

    assert isinstance(error, RateLimited)
    assert error.retry_after == 60


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (403, NotAllowed),
        (301, InvalidRepository),
        (410, InvalidRepository),
        (503, Transient),
        (400, Internal),
    ],
)
def test_other_answers_have_their_own_errors(status: int, kind: type[JourneymanError]) -> None:
    assert type(refused(status, "No")) is kind


@pytest.mark.parametrize(
    ("type_", "kind"), [("RATE_LIMITED", RateLimited), ("FORBIDDEN", NotAllowed), ("UNPROCESSABLE", Conflict)]
)
def test_graphql_says_no_inside_a_good_answer(type_: str, kind: type[JourneymanError]) -> None:
    answer = GRAPHQL.validate_python({"data": None, "errors": [{"type": type_, "message": "No"}]})

    assert type(error_for_graphql(answer, "acme/api#1")) is kind


@pytest.mark.parametrize(
    ("label", "ref", "ours"),
    [
        ("acme:fix", "fix", True),
        ("Acme:fix", "fix", True),
        ("mallory:fix", "fix", False),
        ("acme:other", "other", False),
        (None, "fix", False),
    ],
)
def test_a_pull_request_of_a_fork_or_another_branch_is_not_ours(
    label: str | None, ref: str, ours: bool
) -> None:
    pull = PULL.validate_python(
        {
            "number": 1,
            "node_id": "PR_1",
            "html_url": "https://github.com/acme/api/pull/1",
            "title": "T",
            "state": "open",
            "head": {"label": label, "ref": ref},
            "base": {"ref": "main"},
        }
    )

    assert pull.is_of("acme", "fix") is ours
