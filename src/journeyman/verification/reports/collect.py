"""Make a check report per test, and read what was reported.

Nothing of the repository is changed and its command stays: runners are reached by variables that they all
read, through whatever starts them. Only those that the command may start are set.
"""

import asyncio
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace

from journeyman.environments.plan import Check
from journeyman.sandboxes.base import Sandbox
from journeyman.verification.per_test import SuiteReport
from journeyman.verification.reports import cargo, ctest, dotnet, golang, java, node, php, python, ruby
from journeyman.verification.reports.cases import merge_reports
from journeyman.verification.reports.family import REPORTS, Family, Instrumented, ReportFile, ReportRequest

_FAMILIES: tuple[Family, ...] = (
    python.FAMILY,
    node.FAMILY,
    golang.FAMILY,
    cargo.FAMILY,
    java.FAMILY,
    ctest.FAMILY,
    ruby.FAMILY,
    php.FAMILY,
    dotnet.FAMILY,
)
_PARTS = re.compile(r"&&|\|\||[;|\n]")
_WRAPPERS = re.compile(
    r"(?:^|\s)(?:g?make|just|task|bash|sh|invoke|inv|ninja|cmake|mise|nix\S*|\.{1,2}/\S+|\w[\w.-]*/\S+|\S+\.sh)(?=\s|$)"
)
"""Programs that start anything."""
_SECONDS = 60.0
_START = "start"
"""A file whose time is that of the run's beginning."""
_ALL_RAN = "the runner cannot choose single tests: others ran as well"
_TOO_MUCH = "there are more reports than are read"
_MOST_FILES = 10_000
_MOST_BYTES = 64_000_000
"""Of one file, and of all together."""


def families_of(command: str) -> tuple[Family, ...]:
    """The families of runners that a command may start."""
    found: set[int] = set()
    for part in _PARTS.split(command):
        matching = {number for number, one in enumerate(_FAMILIES) if one.started_by.search(part)}
        if not matching and _WRAPPERS.search(part):
            return _FAMILIES
        found |= matching
    return tuple(_FAMILIES[number] for number in sorted(found))


def can_select(check: Check) -> bool:
    """Whether single tests of the check can be run."""
    return any(family.can_select for family in families_of(check.command))


def instrument(check: Check, request: ReportRequest) -> Instrumented:
    families, command = families_of(check.command), check.command
    for family in families:
        command = family.rewrite(command, request)
    return Instrumented(
        script="".join(family.prelude(request) for family in families) + command,
        files={
            f"{REPORTS}/.{_START}": b"",
            **{name: content for family in families for name, content in family.files(request).items()},
        }
        if families
        else {},
        can_select=can_select(check),
        refusals=tuple(text for family in families for text in family.refusals),
    )


async def read_report(
    sandbox: Sandbox, request: ReportRequest, check: Check, output: str
) -> SuiteReport | None:
    """What the runners reported; None when none did, so that only the exit code counts."""
    families = families_of(check.command)
    if not families:
        return None
    names, is_cut = await _find(sandbox, request, families)
    files: list[ReportFile] = []
    left = _MOST_BYTES
    for name in names:
        if left > 0 and (file := await _read_file(sandbox, name, left)) is not None:
            files.append(file)
            left -= len(file.content)
    reports = await asyncio.to_thread(_parse, files, families, request, output)
    if not reports:
        return None
    merged = _chosen(merge_reports(reports), request.only)
    if is_cut or left <= 0:
        return replace(merged, is_complete=False, notes=(*merged.notes, _TOO_MUCH))
    return merged


def _chosen(report: SuiteReport, only: tuple[str, ...]) -> SuiteReport:
    """Without the tests that were not asked for; some runners name them as skipped, others run them."""
    if not only:
        return report
    others = [case for case in report.tests if case.test_id not in only]
    notes = (_ALL_RAN,) if any(case.outcome == "passed" for case in others) else ()
    chosen = tuple(case for case in report.tests if case.test_id in only)
    return replace(report, tests=chosen, notes=(*report.notes, *notes))


def _parse(
    files: Sequence[ReportFile], families: Sequence[Family], request: ReportRequest, output: str
) -> list[SuiteReport]:
    reports = []
    for family in families:
        own = [file for file in files if family.reads(file)]
        if own and (report := family.read(own, request, output)) is not None:
            unknown = f"where {report.runner} loaded the tested code from is not shown"
            notes = report.notes if family.shows_code else (*report.notes, unknown)
            reports.append(replace(report, notes=notes))
    return reports


async def _find(
    sandbox: Sandbox, request: ReportRequest, families: Sequence[Family]
) -> tuple[list[str], bool]:
    """Regular files that were written since the start, by us or where tools write them."""
    quoted = shlex.quote(request.reports)
    commands = [f"find {quoted} -type f ! -name '.*' -print0"]
    places = [place for family in families for place in family.places]
    if places:
        patterns = " -o ".join(f"-path {shlex.quote(place)}" for place in places)
        commands.append(
            f"find {shlex.quote(request.workspace)} -name node_modules -prune -o -name .git -prune -o "
            rf"-type f -newer {quoted}/.{_START} \( {patterns} \) -print0"
        )
    listing = await sandbox.execute_command(
        "{ " + "; ".join(commands) + f"; }} 2>/dev/null | sort -z | head -z -n {_MOST_FILES + 1}",
        timeout=_SECONDS,
    )
    names = [name for name in listing.output.split("\0") if name.startswith("/")]
    return names[:_MOST_FILES], listing.truncated or len(names) > _MOST_FILES


async def _read_file(sandbox: Sandbox, path: str, limit: int) -> ReportFile | None:
    try:
        content = await sandbox.read_file(path, limit=limit + 1)
    except OSError:
        return None
    return ReportFile(path=path, content=content[:limit], is_cut=len(content) > limit)
