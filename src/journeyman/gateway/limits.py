"""Limits of one answer of a model, for the built-in agent and at the door: silence, duration, size.

A stream is broken when nothing arrives for `idle_seconds`, whatever was sent before; each chunk starts the
timeout anew. Too long a silence or an answer is worth a retry, because the next is usually shorter. Too large
an answer is not: it would be as large again.
"""

from dataclasses import dataclass

from journeyman.errors import AgentFailed, Transient

LONGEST_CALL_SECONDS = 1800.0
LARGEST_ANSWER_BYTES = 64_000_000


@dataclass(frozen=True)
class CallLimits:
    idle_seconds: float
    """Silence after which a stream counts as broken."""
    call_seconds: float = LONGEST_CALL_SECONDS
    answer_bytes: int = LARGEST_ANSWER_BYTES

    def too_silent(self, model: str) -> Transient:
        return Transient(
            f"{model}: the provider was silent for {self.idle_seconds:g} seconds",
            hint="JOURNEYMAN_MODEL_IDLE_TIMEOUT_SECONDS says how long silence is waited out.",
        )

    def too_long(self, model: str) -> Transient:
        return Transient(
            f"{model}: the answer took more than {self.call_seconds:g} seconds and was cut off",
            hint="A model that answers more quickly may help.",
        )

    def too_large(self, model: str) -> AgentFailed:
        return AgentFailed(
            f"{model}: the answer has more than {self.answer_bytes:,} bytes and was cut off",
            hint="The model repeats itself, or its server is broken: choose another model.",
        )
