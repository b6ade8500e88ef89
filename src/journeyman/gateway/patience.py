"""How long and how large one answer of a model may be, whoever asks for it.

An answer that takes too long is cut off as a fault that may pass: the next one is usually shorter. One that
floods is not asked for again: it would flood once more.
"""

from dataclasses import dataclass

from journeyman.errors import AgentFailed, Transient

LONGEST_CALL_SECONDS = 1800.0
LARGEST_ANSWER_BYTES = 64_000_000


@dataclass(frozen=True)
class Patience:
    idle_seconds: float
    """Silence after which a stream counts as cut."""
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
