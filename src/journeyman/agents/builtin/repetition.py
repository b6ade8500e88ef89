"""Detects a model that repeats itself.

Only the same calls with the same results count: a command that is run again after a change is work.
"""

from collections.abc import Sequence

from journeyman.gateway.messages import ToolCall, ToolResult

REMARK_AT = 3
END_AT = 5


class Repetition:
    def __init__(self) -> None:
        self._last: object = None
        self._times = 0

    def times(self, calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> int:
        """How often in a row these calls had these results, this time included."""
        done = ([(call.tool, call.arguments) for call in calls], [result.output for result in results])
        self._times = self._times + 1 if done == self._last else 1
        self._last = done
        return self._times


def remark(times: int) -> str:
    return (
        f"\n[The same call had the same result {times} times in a row. Repeating it changes nothing:"
        " do something else, or say what keeps you from going on.]"
    )
