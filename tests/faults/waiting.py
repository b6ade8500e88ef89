"""Wait for what must come, and fail with its name when it does not."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_LOOK_AGAIN_SECONDS = 0.02


def wait_for(look: Callable[[], T | None], what: str, seconds: float = 180.0) -> T:
    """The first answer that is true in the sense of `if`."""
    end = time.monotonic() + seconds
    while not (found := look()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds:g} s: {what}")
        time.sleep(_LOOK_AGAIN_SECONDS)
    return found
