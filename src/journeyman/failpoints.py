"""Failpoints: named places in the code at which a test can make the product fail.

A failpoint costs a lookup in an empty dictionary unless JOURNEYMAN_FAILPOINTS names it. For faults that
cannot be made from inside, such as killing a jail at an exact moment, the action `stop` halts the process
meanwhile.
"""

import errno
import os
import signal
from collections.abc import Callable
from typing import Literal, get_args

from journeyman.errors import InvalidSetting, Transient

Moment = Literal[
    "order_accepted",
    "row_written",
    "enqueued",
    "workspace_started",
    "workspace_made",
    "sandbox_started",
    "sandbox_created",
    "agent_started",
    "agent_ended",
    "tool_call_started",
    "tool_call_ended",
    "snapshot_started",
    "snapshot_taken",
    "commit_started",
    "commit_made",
    "push_sent",
    "push_acknowledged",
    "push_recorded",
    "pull_request_sent",
    "pull_request_answered",
    "pull_request_recorded",
    "approval_received",
    "approval_recorded",
    "teardown_started",
    "teardown_ended",
]
"""In the order in which a work order reaches them."""
MOMENTS: tuple[Moment, ...] = get_args(Moment)


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _stop() -> None:
    """Halt until SIGCONT."""
    os.kill(os.getpid(), signal.SIGSTOP)


def _raise() -> None:
    raise Transient("a failpoint was reached", hint="JOURNEYMAN_FAILPOINTS is for tests only.")


def _enospc() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


ACTIONS: dict[str, Callable[[], None]] = {"kill": _kill, "stop": _stop, "raise": _raise, "enospc": _enospc}


class _Armed:
    def __init__(self, act: Callable[[], None], first: int, times: int) -> None:
        self.act = act
        self.first = first
        self.times = times
        self.passed = 0

    def reach(self) -> None:
        self.passed += 1
        if self.first <= self.passed < self.first + self.times:
            self.act()


_armed: dict[str, _Armed] = {}


def failpoint(moment: Moment) -> None:
    if _armed and moment in _armed:
        _armed[moment].reach()


def arm(text: str) -> None:
    """Arm what `moment=action@first*times` names, separated by commas; without more, the first time once."""
    _armed.clear()
    for part in filter(None, text.split(",")):
        moment, _, rest = part.partition("=")
        action, _, count = rest.partition("@")
        first, _, times = count.partition("*")
        numbers = [word or "1" for word in (first, times)]
        if moment not in MOMENTS or action not in ACTIONS or not all(map(str.isdecimal, numbers)):
            raise InvalidSetting(
                f"JOURNEYMAN_FAILPOINTS cannot be {part!r}",
                hint=f"Use moment=action@first*times. Moments: {', '.join(MOMENTS)}. "
                f"Actions: {', '.join(ACTIONS)}. It is for tests only.",
            )
        _armed[moment] = _Armed(ACTIONS[action], *map(int, numbers))
