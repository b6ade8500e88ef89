"""Run the repository's own checks where no agent has been, and give the agent what failed, a few times.

The result is bound to the commit that was checked: each attempt runs on a clean checkout of it, in a
sandbox of its own that is thrown away, so that nothing an agent or an earlier check left can count.

Safe to repeat because checks are run anew and an attempt's evidence replaces the same attempt's.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from pydantic import BaseModel

from journeyman.agents.roles import ROLES, fixing_prompt
from journeyman.events.types import AgentNotice, VerificationAttemptCompleted
from journeyman.steps.agent_session import finished_turn
from journeyman.steps.context import StepContext
from journeyman.steps.rebase import rebase_onto_pushed
from journeyman.verification.detect import detect_checks
from journeyman.verification.records import as_dict, summary, test_results
from journeyman.verification.run import Verdict, read_project, run_checks
from journeyman.work_orders.order import Evidence, Verification

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
        verdict, commit_sha = await _check(context, attempt)
        while verdict.passed is False and attempt < context.settings.verification_attempts:
            failures.append(_failing(verdict))
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
            verdict, commit_sha = await _check(context, attempt)
        await context.recorder.commit(
            "testing",
            f"Record test results: {summary(verdict)}",
            records={
                "test_results.json": test_results(
                    verdict, commit_sha, attempt, agent_work_order_id=context.order_id
                )
            },
        )
    return VerifyOutput(
        verification=_verification(verdict),
        passed=verdict.passed is True,
        attempts=attempt,
        commit_sha=commit_sha,
        summary=summary(verdict),
    )


def is_stuck(failures: Sequence[str]) -> bool:
    """Whether the last checks failed in the same way; line numbers, times and addresses may differ."""
    last = {_NUMBERS.sub("", failing) for failing in failures[-_SAME_FAILURES:]}
    return len(failures) >= _SAME_FAILURES and len(last) == 1


async def _check(context: StepContext, attempt: int) -> tuple[Verdict, str]:
    commit_sha = await context.workspace.head()
    async with context.sandboxes.clean(commit_sha) as sandbox:
        verdict = await run_checks(
            sandbox,
            detect_checks(await read_project(sandbox)),
            timeout=context.settings.verification_timeout_seconds,
            may_install=context.settings.sandbox_network == "open",
        )
    results = [as_dict(check) for check in verdict.checks]
    evidence = Evidence(
        agent_work_order_id=context.order_id,
        round=context.round,
        step=context.spec.name,
        attempt=attempt,
        commit_sha=commit_sha,
        passed=verdict.passed,
        checks=results,
        summary=summary(verdict),
        created_at=datetime.now(UTC),
    )
    completed = VerificationAttemptCompleted(
        step=context.spec.name,
        attempt=attempt,
        passed=evidence.passed,
        commit_sha=commit_sha,
        checks=results,
        summary=evidence.summary,
    )
    await context.orders.evidence.save(evidence, completed, verification=_verification(verdict))
    return verdict, commit_sha


def _failing(verdict: Verdict) -> str:
    failed = [check for check in verdict.checks if check.status == "failed"]
    return "\n\n".join(f"$ {check.check.command}\n{check.failing or check.summary}" for check in failed)


def _verification(verdict: Verdict) -> Verification:
    if verdict.passed is None:
        return "none"
    return "passed" if verdict.passed else "failed"
