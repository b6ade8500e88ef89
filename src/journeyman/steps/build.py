"""Have an agent carry out the plan's subtasks, one after the other, each ending in a commit.

Where a later prompt needed no change, the agent's words are the answer.

Safe to repeat because a subtask whose commit is on the branch is not begun again, and what an
interrupted one wrote is still in the workspace or restored from its newest snapshot.
"""

from pydantic import BaseModel

from journeyman.agents.roles import ROLES, subtask_prompt
from journeyman.errors import AgentFailed
from journeyman.events.types import AgentAnswered, SubtaskStarted
from journeyman.steps.agent_session import finished_turn
from journeyman.steps.context import StepContext
from journeyman.steps.plan import single_task


class BuildOutput(BaseModel):
    subtasks_count: int
    commits: list[str]
    changed: bool
    """False where a later prompt needed no change: the summary is the answer to it."""
    summary: str
    """The agent's own last words of each subtask; a claim, not evidence."""


async def run(context: StepContext) -> BuildOutput:
    plan = context.given.plan or single_task(context)
    commits: list[str] = []
    said: list[str] = []
    async with context.write_access.exclusive():
        for number, subtask in enumerate(plan.subtasks, start=1):
            earlier = await context.workspace.find_commit(
                step=context.spec.name,
                subtask=number,
                round=context.round,
                after=context.order.redo_after_sha,
            )
            if earlier is not None:
                commits.append(earlier)
                continue
            await context.emit(
                SubtaskStarted(
                    step=context.spec.name, number=number, of=len(plan.subtasks), title=subtask.title
                )
            )
            outcome = await context.agent.turn(ROLES["build"], subtask_prompt(context.task, plan, number))
            commit_sha = await context.recorder.commit("implementing", subtask.title, subtask=number)
            finished_turn(outcome)
            said.append(outcome.text)
            if commit_sha is not None:
                commits.append(commit_sha)
    summary = "\n\n".join(filter(None, said))
    if not commits:
        await _answer_instead(context, summary)
    return BuildOutput(
        subtasks_count=len(plan.subtasks), commits=commits, changed=bool(commits), summary=summary
    )


async def _answer_instead(context: StepContext, summary: str) -> None:
    """A later prompt may need words alone ("Thanks!"); the order's own task may not."""
    if context.order.round_prompt is None or not summary:
        raise AgentFailed(
            "the agent finished without changing any file",
            hint="Say more exactly what should change, or choose another model.",
        )
    await context.emit(AgentAnswered(step=context.spec.name, text=summary))
