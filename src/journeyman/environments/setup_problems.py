"""Why a set-up failed, and what to do about it, read from what its commands printed.

Decided without doing anything. What the sandbox and the proxy know for sure (a timeout, a quota, a denied
host) comes before what is guessed from a tool's words.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from journeyman.sandboxes.base import Completed

ProblemKind = Literal[
    "timed_out", "no_space", "denied_host", "lock_mismatch", "credentials", "registry", "compiler",
    "tool_missing", "tool_version", "processes", "memory", "secret_in_layer", "sandbox", "command_failed",
]  # fmt: skip
_LAST_LINES = 3
_LONGEST_LINE = 300
_LINES_READ = 2000
_CHARACTERS_READ = 1000
"""Of each line: what a script prints must not keep the patterns busy."""


@dataclass(frozen=True, kw_only=True)
class SetupProblem:
    kind: ProblemKind
    reason: str
    """What happened, in one sentence."""
    remedy: str
    """What a person can do, in one sentence."""
    command: str | None = None


@dataclass(frozen=True)
class RefusedHost:
    """A host that a command tried to reach and may not."""

    host: str
    may_be_allowed: bool


@dataclass(frozen=True)
class _Sign:
    kind: ProblemKind
    pattern: re.Pattern[str]
    reason: str
    remedy: str


def _sign(kind: ProblemKind, pattern: str, reason: str, remedy: str) -> _Sign:
    return _Sign(kind, re.compile(pattern, re.IGNORECASE), reason, remedy)


_SIGNS = (
    _sign(
        "no_space",
        r"no space left on device|disk quota exceeded|ENOSPC",
        "there was no space left on the disk",
        "Free some space on the disk that holds JOURNEYMAN_HOME, or raise JOURNEYMAN_SANDBOX_DISK_MB.",
    ),
    _sign(
        "processes",
        r"fork: (?:retry: )?resource temporarily unavailable|can't start new thread"
        r"|cannot fork|BlockingIOError: \[Errno 11\]",
        "it started more processes than a sandbox may have",
        "Let the command start fewer at once, or raise JOURNEYMAN_SANDBOX_PROCESSES.",
    ),
    _sign(
        "lock_mismatch",
        r"npm (?:err!|error) .*(?:not in sync|can only install packages when your package\.json)"
        r"|ERR_PNPM_OUTDATED_LOCKFILE|lockfile would have been modified|YN0028"
        r"|lockfile (?:needs to be updated|had changes, but lockfile is frozen)"
        r"|lock ?file .{0,80}needs to be updated|pyproject\.toml changed significantly since poetry\.lock"
        r"|cannot update the lock file"
        r"|(?:uv|pdm)\.lock.{0,40}(?:outdated|not up[- ]to[- ]date|does not match)"
        r"|gemfile\.lock.{0,80}(?:frozen|does not satisfy)|do not match the hashes"
        r"|the lock file is not up to date|updates to go\.(?:sum|mod) needed|missing go\.sum entry",
        "the lock file does not match the manifest",
        "Update the lock file on the base branch and commit it.",
    ),
    _sign(
        "credentials",
        r"\b(?:401|403)\b.{0,40}(?:unauthorized|forbidden|client error)|E401|E403"
        r"|(?:unauthorized|forbidden|authentication (?:required|failed)|status code:? (?:401|403))",
        "a registry asked for credentials that are not there",
        "Store the registry's credentials in JOURNEYMAN_REGISTRY_CREDENTIALS.",
    ),
    _sign(
        "tool_version",
        r"requires a different python|requires-python|the current project's (?:supported )?python"
        r"|EBADENGINE|the engine \"?node\"? is incompatible|ERR_PNPM_UNSUPPORTED_ENGINE"
        r"|requires rustc|rustc \d[\d.]* is not supported|go\.mod requires go|toolchain not available"
        r"|requires at least (?:java|jdk|gradle|ruby|php)|your (?:ruby|php) version"
        r"|no interpreter found for python"
        r"|a compatible \.net sdk was not found|source option \d+ is no longer",
        "the project asks for another version of a tool than there is",
        "Install that version on this machine and name it in JOURNEYMAN_SANDBOX_PATHS.",
    ),
    _sign(
        "compiler",
        r"fatal error: \S+\.h: no such file|unable to execute '?(?:gcc|cc|g\+\+|clang)|command '?gcc'? failed"
        r"|error: (?:linker|command) .{0,30}(?:cc|gcc).{0,20}(?:not found|failed)|no acceptable c compiler"
        r"|cannot find -l\w+|pkg-config.{0,60}(?:not found|could not)|Package '?\S+'?,? required by|pg_config"
        r"|gyp ERR! (?:find python|stack error: not found: make)|Python\.h",
        "a compiler or a library's header is missing",
        "Install the compiler or the library's development package on this machine.",
    ),
    _sign(
        "registry",
        r"connection (?:reset|refused|aborted|broken)|read timed out|ETIMEDOUT|ECONNRESET|ECONNREFUSED"
        r"|EAI_AGAIN|temporary failure in name resolution|could not resolve host|IncompleteRead"
        r"|unexpected (?:eof|end of file)|remote end closed|\b50[0234]\b.{0,40}(?:error|gateway|unavailable)"
        r"|tunnel connection failed|proxyerror|proxy (?:error|authentication)|integrity checksum failed"
        r"|journeyman: \S+ cannot be reached"
        r"|EINTEGRITY|socket hang up|network is unreachable|dial tcp|failed to download",
        "a package registry could not be reached, or its answer broke off",
        "Try again; if it stays so, look whether this machine reaches the registry.",
    ),
    _sign(
        "tool_missing",
        r"(?:^|\n)(?:bash: )?(?:line \d+: )?\S+: command not found|cannot start \S+: "
        r"|\[Errno 2\].{0,40}'(?:git|make|cmake)'",
        "a program that the command needs is not installed",
        "Install it on this machine, or name its directory in JOURNEYMAN_SANDBOX_PATHS.",
    ),
)
_KILLED = 137
_ERROR = re.compile(r"(?im)^\s*((?:\w*error|fatal|E)\b: (?!subprocess-exited|metadata-generation).+)$")
"""What a tool calls an error says more than its last line."""


def problem_of(command: str, done: Completed, denied: Sequence[RefusedHost] = ()) -> SetupProblem:
    """Why a command failed. `denied`: hosts that it tried to reach and may not."""
    if done.timed_out:
        return SetupProblem(
            kind="timed_out",
            reason="the set-up did not end within its time",
            remedy="Look at what the command waits for, or raise JOURNEYMAN_ENVIRONMENT_TIMEOUT_SECONDS.",
            command=command,
        )
    allowable = list(dict.fromkeys(one.host for one in denied if one.may_be_allowed))
    if allowable:
        return SetupProblem(
            kind="denied_host",
            reason=f"it needs {_listed(allowable)}, which the set-up may not reach",
            remedy="Allow it for this order or this repository, or add it to `network.setup`.",
            command=command,
        )
    output = "\n".join(line[:_CHARACTERS_READ] for line in done.output.splitlines()[-_LINES_READ:])
    for sign in _SIGNS:
        if sign.pattern.search(output):
            return SetupProblem(
                kind=sign.kind, reason=_with_line(sign, output), remedy=sign.remedy, command=command
            )
    if done.exit_code == _KILLED:
        return SetupProblem(
            kind="memory",
            reason="it was killed, most likely because it used more memory than a sandbox may",
            remedy="Let the command use less, or raise JOURNEYMAN_SANDBOX_MEMORY_MB.",
            command=command,
        )
    said = _ERROR.search(output)
    last = said[1][:_LONGEST_LINE] if said else " / ".join(_last_lines(done.output))
    return SetupProblem(
        kind="command_failed",
        reason=f"it ended with exit code {done.exit_code}: {last or 'it printed nothing'}",
        remedy="Correct the install command, in .journeyman/environment.yaml or on the repository's page.",
        command=command,
    )


def _with_line(sign: _Sign, output: str) -> str:
    """The reason, and the tool's own line that it was read from."""
    found = sign.pattern.search(output)
    assert found is not None
    begin = output.rfind("\n", 0, found.end() - 1) + 1
    line = output[begin:].partition("\n")[0].strip()
    return f"{sign.reason}: {line[:_LONGEST_LINE]}" if line else sign.reason


def _last_lines(output: str) -> list[str]:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return [line[:_LONGEST_LINE] for line in lines[-_LAST_LINES:]]


def _listed(hosts: Sequence[str]) -> str:
    shown = ", ".join(hosts[:5])
    return shown if len(hosts) <= 5 else f"{shown} and {len(hosts) - 5} more"
