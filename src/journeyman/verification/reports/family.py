"""What each family of test runners must say of itself: how it is made to report, and what may start it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from journeyman.verification.per_test import SuiteReport

REPORTS = "reports"
"""Directory of what runners write, below the one of a request; the others hold what is given to them."""


@dataclass(frozen=True, kw_only=True)
class ReportRequest:
    directory: str
    """Absolute, as seen from inside the sandbox; new and empty for each run."""
    workspace: str = "/workspace"
    """The workspace, as seen from inside."""
    seconds_per_test: float | None = None
    """Where the runner can have a limit: pytest, unittest, vitest, jest."""
    only: tuple[str, ...] = ()
    """Run only these tests, where the runner can; empty: all."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """Modules that the repository holds, with their paths in it: `yaml` is `lib/yaml`."""

    @property
    def reports(self) -> str:
        return f"{self.directory}/{REPORTS}"


@dataclass(frozen=True, kw_only=True)
class Instrumented:
    """A check that reports per test."""

    script: str
    """For `bash -c`, instead of the check's command."""
    files: Mapping[str, bytes]
    """To be written before, by their paths below the request's directory."""
    can_select: bool
    """Whether only the tests that were asked for are run."""
    refusals: tuple[str, ...] = ()
    """What is printed where a tool refuses our part in it; then only the plain command counts."""


@dataclass(frozen=True, kw_only=True)
class ReportFile:
    """A file that a runner wrote, with how much of it was read."""

    path: str
    content: bytes
    is_cut: bool = False

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


def _nothing(_request: ReportRequest) -> str:
    return ""


def _no_files(_request: ReportRequest) -> Mapping[str, bytes]:
    return {}


def _as_it_is(command: str, _request: ReportRequest) -> str:
    return command


@dataclass(frozen=True, kw_only=True)
class Family:
    started_by: re.Pattern[str]
    """Commands that lead to this runner and to no other family's."""
    prelude: Callable[[ReportRequest], str] = _nothing
    """Shell text that sets variables, joined with what the repository has set."""
    files: Callable[[ReportRequest], Mapping[str, bytes]] = _no_files
    rewrite: Callable[[str, ReportRequest], str] = _as_it_is
    can_select: bool = False
    refusals: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    """Where in the workspace the tool writes reports by itself, as patterns of `find -path`."""
    shows_code: bool = False
    """Whether it is known that the code of the checkout is tested: built from it, or looked at."""
    reads: Callable[[ReportFile], bool]
    """Whether a file is a report of this family."""
    read: Callable[[Sequence[ReportFile], ReportRequest, str], SuiteReport | None]
    """All of them, and what the check printed, as one report; None where they show no result."""
