"""Prove one commit: run its checks on a clean checkout, and read the results against the base.

Three more runs show what the first cannot: the change's tests on the old code, the old tests on the new
code, and, where the change edits what judges it, the checks with the base's settings. Each is a commit of its
own that nothing is pushed from.

Safe to repeat because everything is run anew; what was measured of the base is found.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from journeyman.environments.detect.combine import checks_for
from journeyman.environments.plan import Check
from journeyman.git.mixed_commit import commit_with
from journeyman.sandboxes.base import Sandbox
from journeyman.steps.baseline import measure_base
from journeyman.steps.context import StepContext
from journeyman.steps.flakes import rerun_new_failures
from journeyman.verification.choose import choose_checks
from journeyman.verification.own_code import CodeUnderTest, code_under_test
from journeyman.verification.per_test import CaseResult
from journeyman.verification.red_to_green import (
    RedToGreen,
    broken_old_tests,
    changed_cases,
    file_of,
    red_to_green,
    seconds_for,
)
from journeyman.verification.reports.collect import can_select
from journeyman.verification.run import CheckResult, run_checks
from journeyman.verification.tampering.apart import find_tampering_apart
from journeyman.verification.tampering.changed_file import ChangedFile
from journeyman.verification.tampering.findings import TamperFinding, as_code
from journeyman.verification.tampering.gather import gather_changes
from journeyman.verification.test_files import is_test_file
from journeyman.verification.trust_roots import restored_files, settle
from journeyman.verification.verdict import (
    Verdict,
    against_base,
    judge,
    single_outcomes,
    without_lost_tests,
)

_MOST_TESTS = 500
"""Tests of one run that are asked for by name."""


@dataclass(frozen=True, kw_only=True)
class Proof:
    verdict: Verdict
    red_to_green: tuple[RedToGreen, ...] | None = None
    """None where it was not looked at: the checks failed, or single results are not to be had."""
    tampering: tuple[TamperFinding, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Plan:
    commit_sha: str
    checks: Sequence[Check]
    code: CodeUnderTest
    files: Sequence[ChangedFile]
    test_files: Sequence[str]
    """Those that the change touches."""
    base: Mapping[str, CheckResult]


async def prove(context: StepContext, commit_sha: str) -> Proof:
    plan = await _plan(context, commit_sha)
    results = await _check_head(context, plan)
    verdict = judge(results)
    if verdict.passed is False:  # a file that cannot be imported loses its tests, and that is said already
        return Proof(verdict=verdict, tampering=await find_tampering_apart(plan.files))
    findings = await find_tampering_apart(
        plan.files,
        collected_on_base=_collected(plan.base.values()),
        collected_on_head=_collected(results),
    )
    verdict, unproven = await _with_base_settings(context, plan, verdict)
    proofs, broken = await _square(context, plan, results)
    return Proof(verdict=verdict, red_to_green=proofs, tampering=(*findings, *unproven, *broken))


async def _plan(context: StepContext, commit_sha: str) -> _Plan:
    mirror, base_sha = context.workspace.mirror, context.workspace.base_commit_sha
    base, head = await context.environment.planned(), await context.environment.detected(commit_sha)
    changed = await mirror.changed_paths(base_sha, commit_sha)
    of_base = checks_for(base.environment, changed, context.settings.check_packages)
    checks = choose_checks(of_base, head.environment.checks, context.spec.commands or {})
    diff = await mirror.diff(base_sha, commit_sha, context_lines=0)
    return _Plan(
        commit_sha=commit_sha,
        checks=checks,
        code=code_under_test(base.project, head.project, changed=changed, diff=diff),
        files=await gather_changes(mirror, base_sha, commit_sha),
        test_files=[path for path in changed if is_test_file(path)],
        base=await measure_base(context.sandboxes, checks),
    )


async def _check_head(context: StepContext, plan: _Plan) -> list[CheckResult]:
    """The results on the commit, with its flaky tests kept apart from those that fail."""
    repository = await context.orders.repositories.find(context.order.repository_url)
    known = await context.orders.flaky_tests.of_repository(repository.repository_id) if repository else []
    trusted = {one.test_id for one in known if one.is_trusted}
    seconds = context.settings.verification_timeout_seconds
    async with context.sandboxes.clean(plan.commit_sha) as sandbox:
        results = await _run(context, sandbox, plan)

        async def rerun(check: Check, tests: tuple[str, ...]) -> CheckResult:
            return (await run_checks(sandbox, [check], timeout=seconds, code=plan.code, only=tests))[0]

        settled = [
            await rerun_new_failures(check, result, rerun, can_select=can_select(check), trusted=trusted)
            for check, result in zip(plan.checks, results, strict=True)
        ]
    flaky = [test for result in settled if result.comparison for test in result.comparison.flaky]
    if repository and flaky:
        await context.orders.flaky_tests.count(repository.repository_id, flaky)
    return settled


async def _run(context: StepContext, sandbox: Sandbox, plan: _Plan) -> list[CheckResult]:
    seconds = context.settings.verification_timeout_seconds
    results = await run_checks(sandbox, plan.checks, timeout=seconds, code=plan.code)
    compared = (
        against_base(result, plan.base.get(check.name), context.task)
        for check, result in zip(plan.checks, results, strict=True)
    )
    return [without_lost_tests(result, plan.code.changed) for result in compared]


async def _with_base_settings(
    context: StepContext, plan: _Plan, verdict: Verdict
) -> tuple[Verdict, tuple[TamperFinding, ...]]:
    """The verdict with the base's settings of runners and scripts, where the change edits those."""
    shown = restored_files({file.path: (file.base, file.head) for file in plan.files})
    if not shown or verdict.passed is None:
        return verdict, ()
    proving = await commit_with(
        context.workspace.mirror,
        plan.commit_sha,
        written={path: content for path, content in shown.items() if content is not None},
        removed=[path for path, content in shown.items() if content is None],
    )
    async with context.sandboxes.clean(proving) as sandbox:
        results = await _run(context, sandbox, plan)
    settled = settle(
        single_outcomes(verdict.checks),
        single_outcomes(results),
        changed=sorted(shown),
        has_checks_on_base=bool(plan.base),
    )
    if settled.outcome != "needs_approval":
        return verdict, ()
    finding = TamperFinding(
        kind="trust_root_changed", path=sorted(shown)[0], lines=None, detail=settled.reason, severity="ask"
    )
    return replace(verdict, passed=None, reason=settled.reason), (finding,)


async def _square(
    context: StepContext, plan: _Plan, results: Sequence[CheckResult]
) -> tuple[tuple[RedToGreen, ...] | None, tuple[TamperFinding, ...]]:
    """New tests on the old code, and old tests on the new code, where the change edits tests."""
    mirror, base_sha = context.workspace.mirror, context.workspace.base_commit_sha
    reported = [
        (check, result)
        for check, result in zip(plan.checks, results, strict=True)
        if result.report is not None and can_select(check)
    ]
    if not plan.test_files or not reported:
        return None, ()
    on_old = await commit_with(mirror, base_sha, taken={plan.commit_sha: plan.test_files})
    on_new = await commit_with(mirror, plan.commit_sha, taken={base_sha: plan.test_files})
    proofs: list[RedToGreen] = []
    broken: list[TamperFinding] = []
    for check, result in reported:
        before = plan.base.get(check.name)
        baseline = before.report if before else None
        assert result.report is not None
        flaky = result.comparison.flaky if result.comparison else ()
        changed = changed_cases(plan.test_files, result.report, baseline)
        tests = tuple(test for test in changed if test not in flaky)[:_MOST_TESTS]
        if tests:
            red = await _run_some(context, plan, on_old, check, tests, seconds_for(tests, result.report))
            proofs += red_to_green(tests, result.report, red.report, baseline)
        old = changed_cases(plan.test_files, baseline, baseline)[:_MOST_TESTS] if baseline else ()
        if old and baseline is not None:
            again = await _run_some(context, plan, on_new, check, old, seconds_for(old, baseline))
            failing = broken_old_tests(baseline, again.report) if again.report else ()
            broken += [_broken(baseline.by_id()[test]) for test in failing]
    return tuple(proofs), tuple(broken)


async def _run_some(
    context: StepContext, plan: _Plan, commit_sha: str, check: Check, tests: tuple[str, ...], seconds: float
) -> CheckResult:
    async with context.sandboxes.clean(commit_sha) as sandbox:
        limit = context.settings.verification_timeout_seconds
        [result] = await run_checks(
            sandbox, [check], timeout=limit, code=plan.code, only=tests, seconds_per_test=seconds
        )
        return result


def _broken(case: CaseResult) -> TamperFinding:
    return TamperFinding(
        kind="old_test_fails",
        path=file_of(case),
        lines=None,
        detail=f"The test {as_code(case.test_id)}, as it was before the change, fails on the new code.",
        severity="notice",
    )


def _collected(results: Iterable[CheckResult]) -> frozenset[str]:
    return frozenset(
        case.test_id for result in results if result.report is not None for case in result.report.tests
    )
