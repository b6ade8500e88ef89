"""Why a set-up failed is told apart, so that each failure comes with the remedy that helps."""

import pytest

from journeyman.environments.setup_problems import ProblemKind, RefusedHost, problem_of
from journeyman.sandboxes.base import Completed

_SEEN: list[tuple[ProblemKind, str]] = [
    ("no_space", "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"),
    ("no_space", "npm error nospc ENOSPC: no space left on device, write"),
    ("processes", "bash: fork: retry: Resource temporarily unavailable"),
    (
        "lock_mismatch",
        "npm error `npm ci` can only install packages when your package.json and package-lock.json or"
        " npm-shrinkwrap.json are in sync.",
    ),
    ("lock_mismatch", ' ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile"'),
    (
        "lock_mismatch",
        "➤ YN0028: │ The lockfile would have been modified by this install, which is forbidden.",
    ),
    ("lock_mismatch", "error Your lockfile needs to be updated, but yarn was run with `--frozen-lockfile`."),
    (
        "lock_mismatch",
        "pyproject.toml changed significantly since poetry.lock was last generated. Run `poetry lock`.",
    ),
    (
        "lock_mismatch",
        "error: the lock file /workspace/Cargo.lock needs to be updated but --locked was passed",
    ),
    (
        "lock_mismatch",
        "error: The lockfile at `uv.lock` needs to be updated, but `--frozen` was provided.",
    ),
    ("lock_mismatch", "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."),
    ("lock_mismatch", "go: updates to go.mod needed; to update it: go mod tidy"),
    (
        "credentials",
        "ERROR: 401 Client Error: Unauthorized for url: https://registry.example/simple/private/",
    ),
    ("credentials", "npm error code E401\nnpm error Incorrect or missing password."),
    ("credentials", "HTTP error 403 Forbidden while getting https://registry.example/a.whl"),
    ("tool_version", "ERROR: Package 'demo' requires a different Python: 3.11.7 not in '>=3.13'"),
    (
        "tool_version",
        "npm error code EBADENGINE\nnpm error engine Unsupported engine",
    ),
    ("tool_version", "error: rustc 1.63.0 is not supported by the following package:"),
    ("tool_version", "go: go.mod requires go >= 1.24 (running go 1.19.8; GOTOOLCHAIN=local)"),
    ("compiler", "psycopg/pg.c:4:10: fatal error: libpq-fe.h: No such file or directory"),
    ("compiler", "error: command 'gcc' failed: No such file or directory"),
    ("compiler", "/usr/bin/ld: cannot find -lxml2: No such file or directory"),
    ("compiler", "Error: pg_config executable not found."),
    (
        "registry",
        "WARNING: Retrying after connection broken by 'ProtocolError(\\'Connection aborted.\\')': /simple/a/",
    ),
    ("registry", "npm error code ECONNRESET\nnpm error network aborted"),
    ("registry", "urllib3.exceptions.IncompleteRead: IncompleteRead(512 bytes read, 3584 more expected)"),
    ("registry", "error: 503 Service Unavailable"),
    ("registry", "npm error code EINTEGRITY"),
    ("registry", "body:\n  Journeyman: index.example cannot be reached: Name or service not known"),
    ("tool_missing", "bash: line 1: poetry: command not found"),
    ("command_failed", "Traceback (most recent call last):\nKeyError: 'VERSION'"),
]


@pytest.mark.parametrize(("kind", "output"), _SEEN)
def test_what_tools_say_is_told_apart(kind: ProblemKind, output: str) -> None:
    problem = problem_of("install", Completed(1, f"Collecting things\n{output}\n"))
    assert problem.kind == kind
    assert problem.remedy
    assert problem.command == "install"


def test_the_reason_holds_the_tools_own_line() -> None:
    problem = problem_of("install", Completed(1, "one\na.c:1: fatal error: zlib.h: No such file\ntwo\n"))
    assert problem.reason.endswith("a.c:1: fatal error: zlib.h: No such file")


def test_what_is_known_for_sure_comes_before_what_a_tool_says() -> None:
    said = "connection reset"
    denied = [RefusedHost("files.example", may_be_allowed=True)]
    assert problem_of("x", Completed(None, said, timed_out=True), denied).kind == "timed_out"
    problem = problem_of("x", Completed(1, said), denied)
    assert problem.kind == "denied_host"
    assert "files.example" in problem.reason
    assert "Allow it" in problem.remedy
    private = [RefusedHost("10.0.0.1", may_be_allowed=False)]
    assert problem_of("x", Completed(1, said), private).kind == "registry"


def test_a_killed_command_and_a_silent_one_are_reasons_too() -> None:
    assert problem_of("x", Completed(137, "")).kind == "memory"
    assert "printed nothing" in problem_of("x", Completed(2, "")).reason


def test_a_long_output_does_not_take_long() -> None:
    output = "\n".join(("lock file " * 100_000, "x" * 1_000_000, *("y" * 999 for _ in range(1000))))
    assert problem_of("x", Completed(1, output)).kind == "command_failed"
