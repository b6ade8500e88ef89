"""Promises about time, on a machine that may be busy with something else."""

import time

_WORK_SECONDS = 0.3


def in_time(began: float, seconds: float) -> bool:
    """Whether what began at `began`, of `time.monotonic`, took no longer than it may on an idle machine."""
    took = time.monotonic() - began
    return took < seconds or took < seconds * slowdown()


def slowdown() -> float:
    """How much longer work takes here and now than it would alone; 1 on a machine with nothing else to do."""
    began, worked = time.monotonic(), time.thread_time()
    while time.thread_time() - worked < _WORK_SECONDS:
        pass
    return max(1.0, (time.monotonic() - began) / _WORK_SECONDS)
