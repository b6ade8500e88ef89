"""A person's decision on a step that needs approval.

An approval is bound to the commit that was shown: once the branch has moved on, it counts no more.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

ApprovalState = Literal["waiting", "approved", "rejected", "rework"]
"""`rework`: no, and what came before the step is redone with the comment."""
ApprovalDecision = Literal["approved", "rejected", "rework"]


@dataclass(frozen=True, kw_only=True)
class Approval:
    agent_work_order_id: str
    round: int
    step: str
    commit_sha: str
    """What the branch was at when the question was asked."""
    decision: ApprovalState = "waiting"
    comment: str = ""
    requested_at: datetime
    decided_at: datetime | None = None
