"""Keep what an attempt at verification showed: signed, with everything that its checks printed.

Safe to repeat because an attempt's evidence replaces the same attempt's.
"""

from dataclasses import asdict
from datetime import UTC, datetime

from journeyman.access.signing import evidence_key
from journeyman.access.store import SigningKeys
from journeyman.events.types import VerificationAttemptCompleted
from journeyman.steps.context import StepContext
from journeyman.steps.prove import Proof
from journeyman.verification.records import as_dict, summary
from journeyman.verification.run import CheckResult
from journeyman.verification.statement import attest
from journeyman.verification.verdict import Verdict
from journeyman.work_orders.order import CheckOutput, Evidence, Verification


async def keep_evidence(context: StepContext, attempt: int, commit_sha: str, proof: Proof) -> Evidence:
    evidence = await _signed(context, await _evidence(context, attempt, commit_sha, proof), proof.verdict)
    completed = VerificationAttemptCompleted(
        step=evidence.step,
        attempt=attempt,
        passed=evidence.passed,
        commit_sha=commit_sha,
        checks=evidence.checks,
        summary=evidence.summary,
    )
    await context.orders.evidence.save(evidence, completed, verification=verification_of(proof.verdict))
    return evidence


def verification_of(verdict: Verdict) -> Verification:
    if verdict.passed is None:
        return "none"
    return "passed" if verdict.passed else "failed"


async def _evidence(context: StepContext, attempt: int, commit_sha: str, proof: Proof) -> Evidence:
    mirror, base_sha = context.workspace.mirror, context.workspace.base_commit_sha
    proofs = proof.red_to_green
    return Evidence(
        agent_work_order_id=context.order_id,
        round=context.round,
        step=context.spec.name,
        attempt=attempt,
        commit_sha=commit_sha,
        tree_sha=await mirror.tree_of(commit_sha),
        base_commit_sha=base_sha,
        base_tree_sha=await mirror.tree_of(base_sha),
        environment=await context.sandboxes.describe_environment(commit_sha),
        passed=proof.verdict.passed,
        checks=[as_dict(check) for check in proof.verdict.checks],
        red_to_green=None if proofs is None else [asdict(one) for one in proofs],
        tampering=[asdict(one) for one in proof.tampering],
        summary=summary(proof.verdict),
        created_at=datetime.now(UTC),
    )


async def _signed(context: StepContext, evidence: Evidence, verdict: Verdict) -> Evidence:
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
    return CheckOutput(
        check_name=result.check.name,
        output=printed,
        truncated=result.truncated,
        results=[asdict(one) for one in result.report.tests] if result.report else None,
    )
