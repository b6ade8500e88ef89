"""Results of single tests, as the project's own runner reports them.

A report is untrusted: it was written where the code under test could write. What it claims counts only
together with the exit code, and `rewritten` names tests whose reported pass is contradicted.
"""

from dataclasses import dataclass
from typing import Literal

CaseOutcome = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, kw_only=True)
class CaseResult:
    test_id: str
    """As the runner names it, the same on every commit: `tests/test_api.py::test_get[json]`."""
    outcome: CaseOutcome
    message: str = ""
    """Why it failed, or was skipped; cut."""
    file: str | None = None
    """Path in the repository, where the runner says it."""
    duration_seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class ForeignModule:
    """A module of the repository that the tests imported from somewhere else, with other content."""

    name: str
    location: str


@dataclass(frozen=True, kw_only=True)
class SuiteReport:
    runner: str
    """`pytest`, `vitest`, `go test`, …; several with commas."""
    tests: tuple[CaseResult, ...]
    is_complete: bool
    """Whether the runner said that it came to its end, and all of it was read: else missing tests mean
    nothing."""
    rewritten: tuple[str, ...] = ()
    """Tests that were reported as passed although they raised: something rewrote the report."""
    code_locations: tuple[str, ...] = ()
    """Where modules that the repository also holds were imported from, as paths inside the sandbox."""
    foreign_modules: tuple[ForeignModule, ...] = ()
    """Those of them that are not the code of this commit."""
    notes: tuple[str, ...] = ()
    """What could not be read or shown, in sentences."""

    def by_id(self) -> dict[str, CaseResult]:
        return {one.test_id: one for one in self.tests}
