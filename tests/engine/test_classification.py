"""One classification for all faults: whatever stumbles, its error has a category, and that says what follows.

Each row is a case as its source really words it: a provider's or a forge's answer, what git wrote, a sandbox
that is gone, an error of the operating system.
"""

import errno
import re
import socket
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any, Literal, get_args

import gidgethub
import pytest

from journeyman.access.redaction import Redactor
from journeyman.agents.base import Outcome, StopReason
from journeyman.engine.perform_step import as_ours
from journeyman.engine.retries import wait_before_retry
from journeyman.engine.transitions import what_pauses
from journeyman.environments.plan import Check
from journeyman.errors import Category, InvalidRepository, JourneymanError
from journeyman.forges.github_responses import error_for_status
from journeyman.gateway.budget import Purse
from journeyman.gateway.budget import budget_error as too_expensive
from journeyman.gateway.faults import broken_call_error, cut_stream_error, status_error
from journeyman.git.faults import fault_of
from journeyman.git.push import branch_deleted
from journeyman.sandboxes.base import Completed, SandboxSpec
from journeyman.sandboxes.launch import launch
from journeyman.sandboxes.supervisor_connection import SupervisorConnection
from journeyman.settings import Settings
from journeyman.steps.agent_session import finished_turn
from journeyman.steps.context import StepBroken
from journeyman.steps.shell import ShellOutput
from journeyman.steps.verify import what_to_approve, what_to_ask
from journeyman.verification.own_code import CodeUnderTest
from journeyman.verification.run import assess
from journeyman.verification.tampering.findings import TamperFinding
from journeyman.verification.verdict import judge
from journeyman.work_orders.repositories import parse_repository
from journeyman.workflows.progress import Done
from tests.house.source import ROOT

Then = Literal["tried again", "pauses", "fails"]
Case = tuple[str, Callable[[], JourneymanError | Awaitable[JourneymanError]], Category, Then]
NOBODYS = Redactor([])


def provider(status: int, body: Any = None, *, model: str = "openai/gpt-5.5", **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda: status_error(status, named, body, model, NOBODYS)


def github(status: int, said: str = "", **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    error = gidgethub.HTTPException(HTTPStatus(status), said, headers=named)
    return lambda: error_for_status(error, "acme/api", not_found=InvalidRepository, has_token=True)


def git(said: str) -> Any:
    return lambda: fault_of(said, "push")


def system(error: Exception) -> Any:
    return lambda: as_ours(error)


def raised(act: Callable[[], object]) -> Any:
    def case() -> JourneymanError:
        with pytest.raises(JourneymanError) as caught:
            act()
        return caught.value

    return case


def turn(reason: StopReason) -> Any:
    return raised(lambda: finished_turn(Outcome(stop_reason=reason, text="")))


async def lost_sandbox() -> JourneymanError:
    with pytest.raises(JourneymanError) as caught:
        await SupervisorConnection("wo-1a2b3c4d").call(b"R", ())
    return caught.value


def unverified() -> JourneymanError:
    check = Check(name="x", kind="test", command="x", tool="x", why="x", probe="x")
    ended = Completed(exit_code=1, output="ModuleNotFoundError: No module named 'freezegun'")
    question = what_to_ask(judge([assess(check, ended, 60, CodeUnderTest())]), [])
    assert question is not None
    return question


def unapproved() -> JourneymanError:
    finding = TamperFinding(kind="test_skipped", path="t.py", lines=None, detail="skipped", severity="ask")
    question = what_to_approve([finding], [])
    assert question is not None
    return question


def workspace_gone() -> object:
    spec, ends = SandboxSpec(order_id="wo-1a2b3c4d", tree=Path("/nonexistent")), socket.socketpair()
    try:
        return launch(Settings(), spec, None, *ends, mark="", has_group=False)
    finally:
        for end in ends:
            end.close()


PURSE = Purse("the order's budget", "usd", 1.0, 0.9, 0.0, 0.2, 0.5, "Give it more.")
OPENAI_QUOTA = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
TOO_LONG = {"error": {"message": "maximum context length is 8192", "code": "context_length_exceeded"}}
LIMITED = "You have exceeded a secondary rate limit."

CASES: list[Case] = [
    ("provider 500", provider(500), "transient", "tried again"),
    ("provider 529", provider(529, {"error": {"message": "Overloaded"}}), "transient", "tried again"),
    ("provider 503, for an hour", provider(503, retry_after="3600"), "transient", "pauses"),
    ("provider: reset", lambda: broken_call_error("reset", "openai/x", NOBODYS), "transient", "tried again"),
    ("provider: cut stream", lambda: cut_stream_error("openai/x"), "transient", "tried again"),
    ("provider 429", provider(429, retry_after="2"), "rate_limited", "tried again"),
    ("provider 429, for an hour", provider(429, retry_after="3600"), "rate_limited", "pauses"),
    ("provider 429 quota", provider(429, OPENAI_QUOTA), "quota", "pauses"),
    ("provider 402", provider(402, {"error": {"message": "Insufficient credits"}}), "quota", "pauses"),
    ("provider 401", provider(401), "auth", "fails"),
    ("provider 400 bad key", provider(400, {"error": {"status": "API_KEY_INVALID"}}), "auth", "fails"),
    ("provider 403", provider(403), "permission", "fails"),
    ("provider 404", provider(404), "invalid_input", "fails"),
    ("provider 400", provider(400, {"error": {"message": "no such tool"}}), "agent", "fails"),
    ("provider: too long", provider(400, TOO_LONG), "agent", "fails"),
    ("github 502", github(502, "Bad gateway"), "transient", "tried again"),
    ("github 429", github(429, LIMITED, retry_after="30"), "rate_limited", "tried again"),
    ("github 403 limit", github(403, LIMITED), "rate_limited", "tried again"),
    ("github 429, for an hour", github(429, LIMITED, retry_after="3600"), "rate_limited", "pauses"),
    ("github 401", github(401, "Bad credentials"), "auth", "fails"),
    ("github 403", github(403, "Resource not accessible"), "permission", "fails"),
    ("github 404", github(404, "Not Found"), "invalid_input", "fails"),
    ("github 422", github(422, "Validation Failed"), "conflict", "fails"),
    ("github 400", github(400, "Problems parsing JSON"), "internal", "fails"),
    ("git: no host", git("fatal: unable to access: Could not resolve host: x"), "transient", "tried again"),
    ("git: 502", git("fatal: The requested URL returned error: 502"), "transient", "tried again"),
    ("git: cut off", git("fatal: the remote end hung up unexpectedly"), "transient", "tried again"),
    ("git: full disk", git("error: a/b: No space left on device"), "transient", "tried again"),
    ("git: 429", git("fatal: The requested URL returned error: 429"), "rate_limited", "tried again"),
    ("git: 403", git("fatal: The requested URL returned error: 403"), "auth", "fails"),
    ("git: no user", git("fatal: could not read Username for 'https://x'"), "auth", "fails"),
    ("git: no repository", git("fatal: repository 'https://x/y' not found"), "invalid_input", "fails"),
    ("git: moved ref", git("error: cannot lock ref 'refs/heads/x': is at a"), "conflict", "fails"),
    ("git: deleted branch", lambda: branch_deleted("fix", "0" * 40), "conflict", "fails"),
    ("git: damaged objects", git("fatal: bad object HEAD"), "invalid_input", "fails"),
    ("git: anything else", git("fatal: something new"), "internal", "fails"),
    ("sandbox: gone", lost_sandbox, "sandbox", "tried again"),
    ("sandbox: cannot be had", raised(workspace_gone), "sandbox", "fails"),
    ("agent: refused", turn("refused"), "agent", "fails"),
    ("agent: repeats itself", turn("repetition"), "agent", "fails"),
    ("agent: out of time", turn("time_limit"), "agent", "fails"),
    (
        "a command of the workflow fails",
        lambda: StepBroken("exit 1", ShellOutput(exit_code=1, output="")),
        "verification",
        "fails",
    ),
    ("the environment lacks a package", unverified, "environment", "pauses"),
    ("the change touches what judges it", unapproved, "approval", "pauses"),
    ("budget used up", lambda: too_expensive("openai/x", PURSE), "budget", "pauses"),
    (
        "an address that is none",
        raised(lambda: parse_repository("ext::x", github_url="https://github.com", allow_local=True)),
        "invalid_input",
        "fails",
    ),
    ("system: full disk", system(OSError(errno.ENOSPC, "No space left")), "transient", "tried again"),
    ("system: over quota", system(OSError(errno.EDQUOT, "Quota exceeded")), "transient", "tried again"),
    ("system: reset", system(ConnectionResetError("reset")), "transient", "tried again"),
    ("system: timeout", system(TimeoutError()), "transient", "tried again"),
    ("system: no permission", system(PermissionError(errno.EACCES, "denied")), "internal", "fails"),
    ("a fault of ours", system(KeyError("x")), "internal", "fails"),
]


@pytest.mark.parametrize(
    ("case", "category", "then"), [row[1:] for row in CASES], ids=[row[0] for row in CASES]
)
async def test_a_fault_has_its_category_and_what_follows_from_it(
    case: Callable[[], JourneymanError | Awaitable[JourneymanError]], category: Category, then: Then
) -> None:
    made = case()
    error = made if isinstance(made, JourneymanError) else await made
    assert error.category == category
    assert error.message
    assert consequence_of(error) == then


def consequence_of(error: JourneymanError) -> Then:
    """As the engine decides it, for a step of a workflow that asks for no retries."""
    end = Done(status="failed", error_category=error.category, retry_after=error.retry_after)
    again = wait_before_retry(error.category, 1, 0, passes=error.retryable, retry_after=error.retry_after)
    if again is not None:
        return "tried again"
    return "fails" if what_pauses([end]) is None else "pauses"


def test_every_category_has_a_case_and_is_explained() -> None:
    page = (ROOT / "docs" / "how-to" / "when-something-fails.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    categories = set(get_args(Category))
    assert {row[2] for row in CASES} == categories
    assert categories <= explained


def test_every_error_of_the_tree_has_a_known_category() -> None:
    found, known = [JourneymanError], set(get_args(Category))
    for kind in found:
        found += kind.__subclasses__()
    assert {kind.__name__ for kind in found if kind.category not in known} == set()
