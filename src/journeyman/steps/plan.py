"""Have the task split into subtasks by an agent that can read but not write.

Without a valid plan the whole task becomes its one subtask: planning helps, it is not a gate.

Safe to repeat because planning changes no file; a plan that an interrupted run committed is replaced.
"""

from pydantic import BaseModel

from journeyman.agents.plan import Plan, Subtask, as_markdown
from journeyman.agents.roles import ROLES, planning_prompt
from journeyman.events.types import PlanCreated
from journeyman.steps.agent_session import finished_turn
from journeyman.steps.context import StepContext


class PlanOutput(BaseModel):
    reasoning: str
    subtasks: list[Subtask]
    planned: bool
    """False when there was no valid plan and the task stands alone."""


async def run(context: StepContext) -> PlanOutput:
    outcome = await context.agent.turn(
        ROLES["plan"], planning_prompt(context.task, context.given.explored), deliverable=Plan
    )
    finished_turn(outcome)
    planned = isinstance(outcome.deliverable, Plan)
    plan = outcome.deliverable if isinstance(outcome.deliverable, Plan) else single_task(context)
    await context.emit(
        PlanCreated(
            step=context.spec.name,
            reasoning=plan.reasoning,
            subtasks=[subtask.title for subtask in plan.subtasks],
        )
    )
    async with context.write_access.exclusive():
        await context.recorder.commit(
            "planning",
            f"Plan: {context.order.title}",
            records={"plan.md": as_markdown(plan, context.task).encode()},
        )
    return PlanOutput(reasoning=plan.reasoning, subtasks=plan.subtasks, planned=planned)


def single_task(context: StepContext) -> Plan:
    return Plan(
        reasoning="There is no plan: the task is carried out as a whole.",
        subtasks=[Subtask(title=context.subject or "The task", instructions=context.task)],
    )
