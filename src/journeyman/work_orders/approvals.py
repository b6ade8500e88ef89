"""A person's word on a step that asks for it.

An approval is bound to the commit that was shown: when the branch has moved on since, it says nothing.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Decision = Literal["waiting", "approved", "rejected", "rework"]
"""`rework`: no, and what came before the step is to be done again with the comment taken in."""
Answer = Literal["approved", "rejected", "rework"]


@dataclass(frozen=True, kw_only=True)
class Approval:
    agent_work_order_id: str
    round: int
    step: str
    commit_sha: str
    """What the branch was at when the question was asked."""
    decision: Decision = "waiting"
    comment: str = ""
    requested_at: datetime
    decided_at: datetime | None = None
