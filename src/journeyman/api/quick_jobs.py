"""Quick jobs: a repository and a task in, a pull request out. A job is a work order with the defaults."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel

from journeyman.api.fields import Address, OrderId, Task
from journeyman.api.idempotency import ReservedId
from journeyman.api.models import Body, NewWorkOrder
from journeyman.api.services import Given
from journeyman.api.submission import submit
from journeyman.api.work_orders import find_order
from journeyman.events.types import Phase
from journeyman.work_orders.order import Status, StepRecord, Verification, WorkOrder

router = APIRouter(tags=["quick jobs"])


class QuickJob(Body):
    repo_url: Address
    task: Task


class Submitted(BaseModel):
    job_id: str
    status: Status


class JobStatus(Submitted):
    current_phase: Phase | None
    title: str
    git_branch_name: str
    pr_url: str | None
    error_message: str | None


class JobResult(Submitted):
    """Nulls and zeros until the job is finished; `status` says whether it is."""

    pr_url: str | None
    iterations: int
    """Times that the checks ran."""
    verification: Verification
    total_cost: float | None
    total_tokens_in: int
    total_tokens_out: int
    subtasks_count: int | None
    plan_reasoning: str | None
    error_message: str | None


async def _find_job(job_id: OrderId, services: Given) -> WorkOrder:
    return await find_order(job_id, services)


Job = Annotated[WorkOrder, Depends(_find_job)]


@router.post("/submit", status_code=201)
async def submit_job(job: QuickJob, services: Given, reserved_id: ReservedId) -> Submitted:
    request = NewWorkOrder(repository_url=job.repo_url, initial_prompt=job.task)
    order = await submit(services, request, reserved_id)
    return Submitted(job_id=order.agent_work_order_id, status=order.status)


@router.get("/status/{job_id}")
async def job_status(job: Job) -> JobStatus:
    return JobStatus(
        job_id=job.agent_work_order_id,
        status=job.status,
        current_phase=job.current_phase,
        title=job.title,
        git_branch_name=job.git_branch_name,
        pr_url=job.github_pull_request_url,
        error_message=job.error_message,
    )


@router.get("/result/{job_id}")
async def job_result(job: Job, services: Given) -> JobResult:
    steps = await services.orders.steps.of_order(job.agent_work_order_id)
    plan, checks = _newest_output(steps, "plan"), _newest_output(steps, "verify")
    return JobResult(
        job_id=job.agent_work_order_id,
        status=job.status,
        pr_url=job.github_pull_request_url,
        iterations=checks.get("attempts", 0),
        verification=job.verification,
        total_cost=job.cost_usd,
        total_tokens_in=job.tokens_in,
        total_tokens_out=job.tokens_out,
        subtasks_count=len(plan["subtasks"]) if plan else None,
        plan_reasoning=plan.get("reasoning"),
        error_message=job.error_message,
    )


def _newest_output(steps: Sequence[StepRecord], kind: str) -> dict[str, Any]:
    return next((step.output for step in reversed(steps) if step.kind == kind and step.output), {})
