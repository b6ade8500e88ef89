"""Answer a question about the repository and the order's work, by an agent that cannot write.

Safe to repeat because nothing is changed: the question is answered again.
"""

from pydantic import BaseModel

from journeyman.agents.roles import ROLES, question_prompt
from journeyman.events.types import AgentAnswered
from journeyman.steps.bench import Bench, finished_turn


class AnswerOutput(BaseModel):
    text: str


async def run(bench: Bench) -> AnswerOutput:
    question = question_prompt(bench.order.round_prompt or bench.task, bench.order.initial_prompt)
    outcome = finished_turn(await bench.agent_turn(ROLES["answer"], question))
    await bench.emit(AgentAnswered(step=bench.spec.name, text=outcome.text))
    return AnswerOutput(text=outcome.text)
