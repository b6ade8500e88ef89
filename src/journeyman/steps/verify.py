"""Prove the change where no agent has been, and give the agent what it broke, a few times.

The result is bound to the commit that was checked: each attempt runs on a clean checkout of it, in a
sandbox of its own that is thrown away, so that nothing an agent or an earlier check left can count. Each
attempt leaves evidence that the server signs. An agent gets only what its change broke: never what the
environment lacks, what failed before, or what is flaky.

Safe to repeat because checks are run anew and an attempt's evidence replaces the same attempt's.
"""

import json
from collections.abc import Iterable, Sequence

from pydantic import BaseModel

from journeyman.agents.roles import ROLES, fixing_prompt
from journeyman.errors import ApprovalNeeded, EnvironmentIncomplete
from journeyman.events import log
from journeyman.events.types import AgentNotice, Event
from journeyman.steps.agent_session import finished_turn
from journeyman.steps.attest import keep_evidence, verification_of
from journeyman.steps.context import StepContext
from journeyman.steps.prove import Proof, prove
from journeyman.steps.rebase import rebase_onto_pushed
from journeyman.verification.failure_report import describe_failures, failure_signature
from journeyman.verification.records import EVIDENCE_FILE, RESULTS_FILE, summary, test_results
from journeyman.verification.run import CheckResult
from journeyman.verification.tampering.findings import TamperFinding
from journeyman.verification.verdict import Verdict
from journeyman.work_orders.lifecycle import was_asked
from journeyman.work_orders.order import Evidence, Verification

_SAME_FAILURES = 3
_MOST_NAMED = 5


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
        failures: list[frozenset[str]] = []
        earlier: Verdict | None = None
        proof, evidence = await _attempt(context, attempt)
        while proof.verdict.passed is False and attempt < context.settings.verification_attempts:
            if not (repairable := to_repair(proof.verdict, earlier)):
                break
            failures.append(failure_signature(repairable))
            if not await _repair(context, proof.verdict, repairable, failures):
                break
            attempt += 1
            earlier = proof.verdict
            proof, evidence = await _attempt(context, attempt)
        await _ask(context, proof)
        await _record(context, proof.verdict, evidence)
    return VerifyOutput(
        verification=verification_of(proof.verdict),
        passed=proof.verdict.passed is True,
        attempts=attempt,
        commit_sha=evidence.commit_sha,
        summary=summary(proof.verdict),
    )


def is_stuck(failures: Sequence[frozenset[str]]) -> bool:
    """Whether the last attempts failed in the same way."""
    return len(failures) >= _SAME_FAILURES and len(set(failures[-_SAME_FAILURES:])) == 1


def to_repair(verdict: Verdict, earlier: Verdict | None) -> list[CheckResult]:
    """What an agent is given to repair: what its change broke, and what took too long for the first time."""
    slow = {one.check.name for one in earlier.checks if one.outcome == "timed_out"} if earlier else set()
    return [
        one
        for one in verdict.checks
        if not one.was_failing
        and (one.outcome == "failed" or (one.outcome == "timed_out" and one.check.name not in slow))
    ]


def what_to_ask(verdict: Verdict, events: Iterable[Event]) -> EnvironmentIncomplete | None:
    """The question to a person whose order cannot be verified; None where there is none, or it was asked."""
    if verdict.passed is not None or not verdict.faults:
        return None
    remedies = dict.fromkeys(fault.remedy for fault in verdict.faults)
    commands = dict.fromkeys(fault.command for fault in verdict.faults if fault.command)
    hint = [*remedies, *(f"This command brings it: {command}." for command in commands)]
    question = EnvironmentIncomplete(
        "the checks could not be run: " + "; ".join(fault.what for fault in verdict.faults),
        hint=" ".join([*hint, "Then resume the order; resumed as it is, it goes on unverified."]),
    )
    return None if was_asked(question.message, events) else question


def what_to_approve(findings: Iterable[TamperFinding], events: Iterable[Event]) -> ApprovalNeeded | None:
    """The question about a change to what judges it; None where there is none, or it was asked."""
    found = [f"{one.path}: {one.detail}" for one in findings if one.severity == "ask"]
    if not found:
        return None
    more = f"; and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    question = ApprovalNeeded(
        f"the change touches what judges it: {'; '.join(found[:_MOST_NAMED])}{more}",
        hint="Look at these lines. Resume the order to accept them, or send a prompt that says what to undo.",
    )
    return None if was_asked(question.message, events) else question


async def _ask(context: StepContext, proof: Proof) -> None:
    settings = context.settings
    events = [one.event for one in await log.read_all(context.orders.database, context.order_id)]
    questions = (
        what_to_ask(proof.verdict, events) if settings.environment_problems == "ask" else None,
        what_to_approve(proof.tampering, events) if settings.tampering == "ask" else None,
    )
    if (question := next((one for one in questions if one is not None), None)) is not None:
        raise question


async def _attempt(context: StepContext, attempt: int) -> tuple[Proof, Evidence]:
    commit_sha = await context.workspace.head()
    proof = await prove(context, commit_sha)
    return proof, await keep_evidence(context, attempt, commit_sha, proof)


async def _repair(
    context: StepContext,
    verdict: Verdict,
    repairable: Sequence[CheckResult],
    failures: Sequence[frozenset[str]],
) -> bool:
    """Let an agent repair what its change broke; whether it changed anything."""
    role = ROLES["build"]
    if is_stuck(failures):
        role = ROLES["debug"]
        notice = "the same checks fail after every repair: a debugging agent takes over"
        await context.emit(AgentNotice(step=context.spec.name, text=notice))
    workspace = context.workspace
    diff = await workspace.mirror.diff(workspace.base_commit_sha, await workspace.head())
    prompt = fixing_prompt(context.task, describe_failures(repairable, diff), len(failures))
    outcome = await context.agent.turn(role, prompt)
    fixed = await context.recorder.commit("testing", f"Fix what the checks found: {summary(verdict)}")
    finished_turn(outcome)
    return fixed is not None


async def _record(context: StepContext, verdict: Verdict, evidence: Evidence) -> None:
    results = test_results(
        verdict, evidence.commit_sha, evidence.attempt, agent_work_order_id=context.order_id
    )
    statement = json.dumps(evidence.statement).encode() + b"\n"
    await context.recorder.commit(
        "testing",
        f"Record test results: {summary(verdict)}",
        records={RESULTS_FILE: results, EVIDENCE_FILE: statement},
    )
