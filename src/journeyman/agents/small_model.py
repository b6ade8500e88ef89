"""Small questions to a small model: what to call an order, and what a later prompt asks for.

Nothing depends on it. A fault is returned as a sentence, and the caller falls back to its own rule.
"""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Generic, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from journeyman.agents.base import model_call_completed
from journeyman.agents.deliverables import deliverable_in, plain_schema
from journeyman.agents.plan import in_one_line
from journeyman.errors import JourneymanError, StoreUnavailable
from journeyman.events.types import ModelCallCompleted
from journeyman.gateway.accounts import Account
from journeyman.gateway.gateway import Completion, Gateway, ModelCall
from journeyman.gateway.messages import ToolOffer, UserMessage
from journeyman.work_orders.order import WorkOrder
from journeyman.work_orders.prompts import Mode

_SECONDS = 15.0
_READ_CHARACTERS = 8000
_PROMPTS = Path(__file__).parent / "prompts"
_NAME = (_PROMPTS / "name.md").read_text(encoding="utf-8")
_MODE = (_PROMPTS / "mode.md").read_text(encoding="utf-8")


def _visible(text: str) -> str:
    if not text.isprintable():
        raise ValueError("it holds characters that cannot be seen")
    return text


_Line = Annotated[str, BeforeValidator(in_one_line), AfterValidator(_visible)]


class Names(BaseModel):
    model_config = ConfigDict(frozen=True)

    title: _Line = Field(min_length=3, max_length=120, description="What will be different, in one line.")
    branch: _Line = Field(min_length=3, max_length=120, description="Three to six words for the branch.")


class PromptIntent(BaseModel):
    model_config = ConfigDict(frozen=True)

    mode: Mode = Field(description="`ask` when an answer in words is all that is wanted, else `work`.")


Value = TypeVar("Value", bound=BaseModel)


@dataclass(frozen=True)
class Suggestion(Generic[Value]):
    """The value that the model suggests, or why there is none; and its answer, for the usage."""

    value: Value | None
    fault: str = ""
    answer: Completion | None = None


class SmallModel:
    def __init__(self, gateway: Gateway, model: str, *, seconds: float = _SECONDS) -> None:
        self.model = model
        self._gateway = gateway
        self._seconds = seconds

    async def names(self, order: WorkOrder, task: str) -> Suggestion[Names]:
        """A title and a branch name for an order that the caller holds."""
        account = self._account(order, "prepare", "name")
        return await self._ask(Names, _NAME, task, account)

    async def prompt_intent(self, order: WorkOrder, text: str) -> Suggestion[PromptIntent]:
        """Whether a prompt to an order wants work or an answer; the caller need not hold the order."""
        account = self._account(order, "prompt", "mode")
        return await self._ask(PromptIntent, _MODE, text, account)

    def event_of(self, step: Literal["prepare", "prompt"], answer: Completion) -> ModelCallCompleted:
        return model_call_completed(step, self.model, answer.usage, answer.duration_seconds)

    def _account(self, order: WorkOrder, step: str, role: str) -> Account:
        return Account(
            order_id=order.agent_work_order_id,
            round=order.round,
            step=step,
            role=role,
            agent="journeyman",
            model=self.model,
            holds_order=role == "name",
        )

    async def _ask(
        self, wanted: type[Value], instructions: str, text: str, account: Account
    ) -> Suggestion[Value]:
        call = ModelCall(
            model=self.model,
            messages=[UserMessage(text[:_READ_CHARACTERS])],
            instructions=instructions,
            tools=[ToolOffer("deliver", "Hand over the result.", plain_schema(wanted))],
            role=account.role,
            account=account,
        )
        try:
            async with asyncio.timeout(self._seconds):
                answer = await self._answer(call)
        except StoreUnavailable:
            raise
        except JourneymanError as error:
            return Suggestion(None, error.message)
        except TimeoutError:
            return Suggestion(None, f"{self.model} took longer than {self._seconds:g} seconds")
        value = _value_in(answer, wanted)
        return Suggestion(value, "" if value else f"{self.model} gave no answer that could be used", answer)

    async def _answer(self, call: ModelCall) -> Completion:
        async with aclosing(self._gateway.stream(call)) as pieces:
            return [piece async for piece in pieces if isinstance(piece, Completion)][-1]


def _value_in(answer: Completion, wanted: type[Value]) -> Value | None:
    for call in answer.message.calls:
        try:
            return wanted.model_validate_json(call.arguments)
        except ValidationError:
            continue
    found = deliverable_in(answer.message.text, wanted)
    return found if isinstance(found, wanted) else None
