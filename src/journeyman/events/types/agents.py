"""Events of an agent at work: what it says, its tool calls and its model calls."""

from typing import Any, Literal

from journeyman.events.types.base import EventModel


class AgentText(EventModel):
    """A piece of what the agent says, as it streams."""

    type: Literal["agent_text"] = "agent_text"
    step: str
    text: str


class AgentAnswered(EventModel):
    """The answer to a question, whole."""

    type: Literal["agent_answered"] = "agent_answered"
    step: str
    text: str


class AgentNotice(EventModel):
    """Something went wrong between model and agent and was dealt with."""

    type: Literal["agent_notice"] = "agent_notice"
    step: str
    text: str
    wait_seconds: float | None = None
    """When a call of the model is tried again: how long it waits for that."""


class ToolCallStarted(EventModel):
    type: Literal["tool_call_started"] = "tool_call_started"
    step: str
    call_id: str
    tool: str
    arguments: dict[str, Any]


class ToolCallCompleted(EventModel):
    type: Literal["tool_call_completed"] = "tool_call_completed"
    step: str
    call_id: str
    tool: str
    ok: bool
    exit_code: int | None = None
    duration_seconds: float
    output: str


class ModelCallCompleted(EventModel):
    type: Literal["model_call_completed"] = "model_call_completed"
    step: str
    model: str
    tokens_in: int
    tokens_out: int
    tokens_cache_read: int
    cost_usd: float | None
    duration_seconds: float
