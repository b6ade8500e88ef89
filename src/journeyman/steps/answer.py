"""Answer a question about the repository and the order's work, by an agent that cannot write.

Safe to repeat because nothing is changed: the question is answered again.
"""

from pydantic import BaseModel

from journeyman.agents.roles import ROLES, question_prompt
from journeyman.events.types import AgentAnswered
from journeyman.steps.agent_session import finished_turn
from journeyman.steps.context import StepContext


class AnswerOutput(BaseModel):
    text: str


async def run(context: StepContext) -> AnswerOutput:
    question = question_prompt(context.order.round_prompt or context.task, context.order.initial_prompt)
    outcome = finished_turn(await context.agent.turn(ROLES["answer"], question))
    await context.emit(AgentAnswered(step=context.spec.name, text=outcome.text))
    return AnswerOutput(text=outcome.text)
