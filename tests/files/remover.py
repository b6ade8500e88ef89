"""Runs what is tested in a process of its own: as a chosen user, with few descriptors and frames."""

import ctypes
import os
import resource
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from journeyman.files.removal import remove_tree

ORDINARY = 65534
_PR_SET_DUMPABLE = 4


@dataclass(frozen=True)
class Remover:
    user: int | None

    def remove(self, path: Path) -> str:
        return self.run(lambda: "gone" if remove_tree(path) else "stopped")

    def run(self, act: Callable[[], str]) -> str:
        """What it answers, or the name of the OSError that it raised.

        A fork, not a program: the interpreter may lie where an ordinary user may not go.
        """
        reading, writing = os.pipe()
        if (child := os.fork()) == 0:
            answer = "died"
            try:
                self._become()
                answer = act()
            except OSError as error:
                answer = type(error).__name__
            finally:
                os.write(writing, answer.encode())
                os._exit(0)
        os.close(writing)
        with open(reading) as answered:
            answer = answered.read()
        os.waitpid(child, 0)
        return answer

    def _become(self) -> None:
        if self.user is not None and os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(self.user, self.user, self.user)
            os.setresuid(self.user, self.user, self.user)
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1)  # as for any program of this user
        top = max(map(int, os.listdir("/proc/self/fd")))
        resource.setrlimit(resource.RLIMIT_NOFILE, (top + 10, top + 10))
        depth, frame = 0, sys._getframe()
        while frame is not None:
            depth, frame = depth + 1, frame.f_back  # type: ignore[assignment]
        sys.setrecursionlimit(depth + 50)
