"""Have an agent that can read but not write judge what the order has changed so far.

Its verdict is an output that the workflow can act on. It is no evidence: only checks that ran are.

Safe to repeat because nothing is changed: the change is judged again.
"""

from journeyman.agents.review import Review
from journeyman.agents.roles import ROLES, reviewing_prompt
from journeyman.errors import AgentFailed
from journeyman.events.types import ReviewCompleted
from journeyman.steps.agent_session import finished_turn
from journeyman.steps.context import StepContext


async def run(context: StepContext) -> Review:
    commit_sha = await context.workspace.head()
    prompt = reviewing_prompt(context.task, context.workspace.base_commit_sha)
    outcome = finished_turn(await context.agent.turn(ROLES["review"], prompt, deliverable=Review))
    review = outcome.deliverable
    if not isinstance(review, Review):
        raise AgentFailed(
            "the reviewing agent handed over no verdict", hint="Try again, or choose another model."
        )
    await context.emit(
        ReviewCompleted(
            step=context.spec.name,
            commit_sha=commit_sha,
            verdict=review.verdict,
            summary=review.summary,
            findings_count=len(review.findings),
        )
    )
    return review
