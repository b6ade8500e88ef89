"""Have an agent that can read but not write look around, and say what planning has to know.

Safe to repeat because nothing is changed: the repository is explored again.
"""

from pydantic import BaseModel

from journeyman.agents.roles import ROLES, exploring_prompt
from journeyman.steps.agent_session import finished_turn
from journeyman.steps.context import StepContext


class ExploreOutput(BaseModel):
    summary: str


async def run(context: StepContext) -> ExploreOutput:
    outcome = finished_turn(await context.agent.turn(ROLES["explore"], exploring_prompt(context.task)))
    return ExploreOutput(summary=outcome.text)
