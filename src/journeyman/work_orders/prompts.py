"""What a person says to an order after it was accepted.

A prompt waits until the round that is under way has ended; then it becomes a round of its own.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Mode = Literal["work", "ask"]
PromptStatus = Literal["queued", "started", "cancelled"]


@dataclass(frozen=True, kw_only=True)
class Prompt:
    agent_work_order_id: str
    number: int
    """Counts the order's prompts, from 1."""
    text: str
    mode: Mode
    status: PromptStatus = "queued"
    round: int | None = None
    """The round that it became."""
    created_at: datetime


def mode_of(text: str) -> Mode:
    """What a prompt asks for when nobody says it: a text that ends as a question wants an answer."""
    return "ask" if text.rstrip().rstrip("\"')").endswith("?") else "work"
