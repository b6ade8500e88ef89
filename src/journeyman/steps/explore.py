"""Have an agent that can read but not write look around, and say what planning has to know.

Safe to repeat because nothing is changed: the repository is explored again.
"""

from pydantic import BaseModel

from journeyman.agents.roles import ROLES, exploring_prompt
from journeyman.steps.bench import Bench, finished_turn


class ExploreOutput(BaseModel):
    summary: str


async def run(bench: Bench) -> ExploreOutput:
    outcome = finished_turn(await bench.agent_turn(ROLES["explore"], exploring_prompt(bench.task)))
    return ExploreOutput(summary=outcome.text)
