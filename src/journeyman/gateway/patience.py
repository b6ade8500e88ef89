"""How long and how large one answer of a model may be, whoever asks for it.

An answer that does not stop is cut off as a fault that may pass: the next one is usually shorter.
"""

from dataclasses import dataclass

from journeyman.errors import Transient

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
            hint="It is tried again by itself; JOURNEYMAN_MODEL_IDLE_TIMEOUT_SECONDS sets the patience.",
        )

    def too_long(self, model: str) -> Transient:
        return _endless(model, f"took more than {self.call_seconds:g} seconds")

    def too_large(self, model: str) -> Transient:
        return _endless(model, f"sent more than {self.answer_bytes:,} bytes")


def _endless(model: str, what: str) -> Transient:
    return Transient(f"{model}: the answer {what}", hint="It is cut off and tried again.")
