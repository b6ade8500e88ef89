"""A later message of a person to an order.

A prompt is queued until the running round has ended; then it becomes a round of its own.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from journeyman.work_orders.order import title_of

Mode = Literal["work", "ask"]
PromptStatus = Literal["queued", "started", "cancelled"]
REVIEW_COMMENTS = "Review comments on the changes so far."
"""What the page begins comments on a diff with; each follows indented below its file and line."""

_PRAISE = re.compile(
    r"thanks|thank|thx|cheers|great|good|nice|perfect|awesome|excellent|wonderful|brilliant|amazing|lgtm|cool"
    r"|lovely|fine|ok|okay"
)
_BESIDE_PRAISE = re.compile(
    r"a|all|and|as|done|far|for|i|is|it|it's|job|just|like|looks|lot|love|me|much|now|really|so|that|that's"
    r"|the|this|to|very|well|work|works|you"
)
_PULL_REQUEST_WISH = re.compile(
    r"(?:please\s+)?(?:"
    r"(?:mark|set|make|take)\s+(?:(?:the|this|my)\s+)?(?:pull request|pr)\s+(?:(?:as|to)\s+)?"
    r"(?:ready(?:\s+for\s+review)?|out\s+of\s+draft)"
    r"|(?:merge|close|approve)\s+(?:(?:the|this|my)\s+)?(?:pull request|pr)"
    r")(?:,?\s+please)?[.!]*",
    re.IGNORECASE,
)


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
    """The mode of a prompt that was sent without one.

    A text that ends as a question wants an answer, and so does one that only thanks or praises, or wants
    something of the pull request itself, which no change of files can give.
    """
    if text.rstrip().rstrip("\"')").endswith("?"):
        return "ask"
    words = re.findall(r"\w[\w']*", text.lower())
    praise = [word for word in words if _PRAISE.fullmatch(word)]
    is_courtesy = bool(praise) and all(_BESIDE_PRAISE.fullmatch(word) for word in words if word not in praise)
    return "ask" if is_courtesy or _PULL_REQUEST_WISH.fullmatch(text.strip()) else "work"


def subject_of(text: str) -> str:
    """A later prompt in one line, for the subtask that it becomes and its commit."""
    if not text.startswith(REVIEW_COMMENTS):
        return title_of(text)
    comments = [line.strip() for line in text.splitlines()[1:] if line.startswith(" ") and line.strip()]
    return title_of(f"Address review comments: {comments[0]}" if comments else "Address review comments")
