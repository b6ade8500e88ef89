"""Run the repository's own checks where no agent has been, and give the agent what failed, a few times.

The result is bound to the commit that was checked: each attempt runs on a clean checkout of it, in a
sandbox of its own that is thrown away, so that nothing an agent or an earlier check left can count. Each
attempt leaves evidence that the server signs. What the environment lacks is never given to an agent: a person
is asked, or the result says that nothing was shown.

Safe to repeat because checks are run anew and an attempt's evidence replaces the same attempt's.
"""

import json
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel

from journeyman.access.signing import evidence_key
from journeyman.access.store import SigningKeys
from journeyman.agents.roles import ROLES, fixing_prompt
from journeyman.environments.detect.combine import checks_for
from journeyman.environments.plan import Check
from journeyman.errors import EnvironmentIncomplete
from journeyman.events import log
from journeyman.events.types import AgentNotice, AgentWorkOrderPaused, Event, VerificationAttemptCompleted
from journeyman.steps.agent_session import finished_turn
from journeyman.steps.context import StepContext
from journeyman.steps.rebase import rebase_onto_pushed
from journeyman.verification.choose import choose_checks
from journeyman.verification.own_code import CodeUnderTest, code_under_test
from journeyman.verification.records import EVIDENCE_FILE, RESULTS_FILE, as_dict, summary, test_results
from journeyman.verification.run import CheckResult, Verdict, run_checks
from journeyman.verification.statement import attest
from journeyman.work_orders.order import CheckOutput, Evidence, Verification

_SAME_FAILURES = 3
_NUMBERS = re.compile(r"0x[0-9a-f]+|[0-9.]+")


class VerifyOutput(BaseModel):
    verification: Verification
    passed: bool
    attempts: int
    commit_sha: str
    """The commit that the last attempt checked."""
    summary: str


async def run(context: StepContext) -> VerifyOutput:
    async with context.write_access.exclusive():
        await context.recorder.commit("testing", "Keep uncommitted changes")
        if context.order.pushed_commit_sha is not None:
            await rebase_onto_pushed(context)
        attempt = 1
        failures: list[str] = []
        earlier: Verdict | None = None
        verdict, evidence = await _check(context, attempt)
        while verdict.passed is False and attempt < context.settings.verification_attempts:
            if not (repairable := to_repair(verdict, earlier)):
                break
            failures.append(_failing(repairable))
            role = ROLES["build"]
            if is_stuck(failures):
                role = ROLES["debug"]
                notice = "the same checks fail after every repair: a debugging agent takes over"
                await context.emit(AgentNotice(step=context.spec.name, text=notice))
            outcome = await context.agent.turn(role, fixing_prompt(context.task, failures[-1], attempt))
            fixed = await context.recorder.commit("testing", f"Fix what the checks found: {summary(verdict)}")
            finished_turn(outcome)
            if fixed is None:
                break
            attempt += 1
            earlier = verdict
            verdict, evidence = await _check(context, attempt)
        await _ask(context, verdict)
        await context.recorder.commit(
            "testing",
            f"Record test results: {summary(verdict)}",
            records={
                RESULTS_FILE: test_results(
                    verdict, evidence.commit_sha, attempt, agent_work_order_id=context.order_id
                ),
                EVIDENCE_FILE: json.dumps(evidence.statement).encode() + b"\n",
            },
        )
    return VerifyOutput(
        verification=_verification(verdict),
        passed=verdict.passed is True,
        attempts=attempt,
        commit_sha=evidence.commit_sha,
        summary=summary(verdict),
    )


def is_stuck(failures: Sequence[str]) -> bool:
    """Whether the last checks failed in the same way; line numbers, times and addresses may differ."""
    last = {_NUMBERS.sub("", failing) for failing in failures[-_SAME_FAILURES:]}
    return len(failures) >= _SAME_FAILURES and len(last) == 1


def to_repair(verdict: Verdict, earlier: Verdict | None) -> list[CheckResult]:
    """What an agent is given to repair: what failed, and what took too long for the first time."""
    slow = {one.check.name for one in earlier.checks if one.outcome == "timed_out"} if earlier else set()
    return [
        one
        for one in verdict.checks
        if one.outcome == "failed" or (one.outcome == "timed_out" and one.check.name not in slow)
    ]


def what_to_ask(verdict: Verdict, events: Iterable[Event]) -> EnvironmentIncomplete | None:
    """The question to a person whose order cannot be verified; None where it was asked and the order resumed.

    Asked once for the same thing: a person who resumes an order without changing anything wants it to go on.
    """
    if verdict.passed is not None or not verdict.faults:
        return None
    message = "the checks could not be run: " + "; ".join(fault.what for fault in verdict.faults)
    asked = (event.reason for event in events if isinstance(event, AgentWorkOrderPaused))
    if message in asked:
        return None
    remedies = dict.fromkeys(fault.remedy for fault in verdict.faults)
    commands = dict.fromkeys(fault.command for fault in verdict.faults if fault.command)
    hint = [*remedies, *(f"This command brings it: {command}." for command in commands)]
    return EnvironmentIncomplete(
        message, hint=" ".join([*hint, "Then resume the order; resumed as it is, it goes on unverified."])
    )


async def _ask(context: StepContext, verdict: Verdict) -> None:
    if context.settings.environment_problems != "ask":
        return
    stored = await log.read_all(context.orders.database, context.order_id)
    if (question := what_to_ask(verdict, (one.event for one in stored))) is not None:
        raise question


async def _check(context: StepContext, attempt: int) -> tuple[Verdict, Evidence]:
    commit_sha = await context.workspace.head()
    checks, code = await _plan(context, commit_sha)
    environment = await context.sandboxes.describe_environment(commit_sha)
    async with context.sandboxes.clean(commit_sha) as sandbox:
        verdict = await run_checks(
            sandbox, checks, timeout=context.settings.verification_timeout_seconds, code=code
        )
    evidence = await _evidence(context, attempt, commit_sha, environment, verdict)
    completed = VerificationAttemptCompleted(
        step=context.spec.name,
        attempt=attempt,
        passed=evidence.passed,
        commit_sha=commit_sha,
        checks=evidence.checks,
        summary=evidence.summary,
    )
    await context.orders.evidence.save(evidence, completed, verification=_verification(verdict))
    return verdict, evidence


async def _evidence(
    context: StepContext, attempt: int, commit_sha: str, environment: dict[str, Any], verdict: Verdict
) -> Evidence:
    """What the attempt showed, signed; what its checks printed is kept beside it."""
    mirror, base_sha = context.workspace.mirror, context.workspace.base_commit_sha
    evidence = Evidence(
        agent_work_order_id=context.order_id,
        round=context.round,
        step=context.spec.name,
        attempt=attempt,
        commit_sha=commit_sha,
        tree_sha=await mirror.tree_of(commit_sha),
        base_commit_sha=base_sha,
        base_tree_sha=await mirror.tree_of(base_sha),
        environment=environment,
        passed=verdict.passed,
        checks=[as_dict(check) for check in verdict.checks],
        summary=summary(verdict),
        created_at=datetime.now(UTC),
    )
    outputs = [_output(context, result) for result in verdict.checks]
    key = evidence_key(context.settings)
    await SigningKeys(context.orders.database).register(key.public)
    await context.orders.check_outputs.save(evidence, outputs)
    return attest(
        evidence,
        outputs,
        key,
        repository_url=context.order.repository_url,
        branch=context.order.git_branch_name,
        redact=context.orders.redact,
    )


def _output(context: StepContext, result: CheckResult) -> CheckOutput:
    printed = context.orders.redact(result.full_output).encode(errors="replace")
    return CheckOutput(check_name=result.check.name, output=printed, truncated=result.truncated)


async def _plan(context: StepContext, commit_sha: str) -> tuple[list[Check], CodeUnderTest]:
    """The checks of a commit, and what of it is the repository's own."""
    mirror, base_sha = context.workspace.mirror, context.workspace.base_commit_sha
    base, head = await context.environment.planned(), await context.environment.detected(commit_sha)
    changed = await mirror.changed_paths(base_sha, commit_sha)
    checks = choose_checks(
        checks_for(base.environment, changed, context.settings.check_packages),
        head.environment.checks,
        context.spec.commands or {},
    )
    diff = await mirror.diff(base_sha, commit_sha, context_lines=0)
    return checks, code_under_test(base.project, head.project, changed=changed, diff=diff)


def _failing(failed: Sequence[CheckResult]) -> str:
    return "\n\n".join(f"$ {check.check.command}\n{check.failing or check.summary}" for check in failed)


def _verification(verdict: Verdict) -> Verification:
    if verdict.passed is None:
        return "none"
    return "passed" if verdict.passed else "failed"
