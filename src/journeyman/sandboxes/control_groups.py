"""Memory and process limits of a whole jail, by control groups (v2 or v1) where they can be created.

Elsewhere the supervisor sets resource limits on itself, and the memory limit holds for each process instead
of their sum. Moving a process into a group takes milliseconds, so a jail is moved while it starts.
"""

import contextlib
import os
import secrets
import signal
from dataclasses import dataclass
from pathlib import Path

from journeyman.sandboxes.base import SandboxLimits

_ROOT = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class ControlGroup:
    """The directories, one for each hierarchy, that hold one jail."""

    directories: tuple[Path, ...]

    def enter(self, pid: int) -> None:
        """Move a process that has started at most one child; what it starts later is in the group as well."""
        with contextlib.suppress(
            FileNotFoundError, ProcessLookupError
        ):  # it has ended, which its caller notices
            self._move(pid)
            for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
                self._move(int(child))

    def _move(self, pid: int) -> None:
        for path in self.directories:
            (path / "cgroup.procs").write_text(str(pid))

    def processes(self) -> set[int]:
        found: set[int] = set()
        for path in self.directories:
            with contextlib.suppress(FileNotFoundError):
                found.update(map(int, (path / "cgroup.procs").read_text().split()))
        return found

    def kill(self) -> None:
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def remove(self) -> bool:
        """Remove it, or say that processes are still ending in it."""
        for path in self.directories:
            try:
                path.rmdir()
            except FileNotFoundError:
                continue
            except OSError:
                return False
        return True


class ControlGroups:
    """All groups that belong to one Journeyman home."""

    def __init__(self, tag: str) -> None:
        self._parents = _usable_parents(f"journeyman-{tag}")

    def make(self, order_id: str, limits: SandboxLimits) -> ControlGroup | None:
        """A new group with these limits; None where groups cannot be created."""
        if not self._parents:
            return None
        name = f"{order_id}.{secrets.token_hex(4)}"
        group = ControlGroup(tuple(parent / name for parent in self._parents))
        for path in group.directories:
            try:
                path.mkdir()
            except FileNotFoundError:
                _prepare(path.parent)
                path.mkdir()
            _set_limits(path, limits)
        return group

    def leftovers(self, order_id: str = "") -> list[tuple[str, ControlGroup]]:
        """Every group there is, or an order's, with its order's id."""
        names = {name for parent in self._parents for name in _groups_in(parent, order_id)}
        return [
            (name.rpartition(".")[0], ControlGroup(tuple(parent / name for parent in self._parents)))
            for name in sorted(names)
        ]

    def close(self) -> None:
        """Remove the home's own group unless another process of this home still uses it."""
        for parent in self._parents:
            with contextlib.suppress(OSError):
                parent.rmdir()


def _usable_parents(name: str) -> tuple[Path, ...]:
    for parents in ((_ROOT / name,), (_ROOT / "memory" / name, _ROOT / "pids" / name)):
        try:
            for parent in parents:
                if not (parent.parent / "cgroup.procs").exists():
                    raise FileNotFoundError(parent.parent)
                _prepare(parent)
        except OSError:
            continue
        return parents
    return ()


def _prepare(parent: Path) -> None:
    """Create the home's own group; another process of this home may have removed it at its end."""
    parent.mkdir(exist_ok=True)
    for path in (parent.parent, parent):
        if (path / "cgroup.subtree_control").exists():
            (path / "cgroup.subtree_control").write_text("+memory +pids")


def _groups_in(parent: Path, order_id: str) -> list[str]:
    beginning = f"{order_id}." if order_id else ""
    with contextlib.suppress(FileNotFoundError), os.scandir(parent) as entries:
        return [entry.name for entry in entries if entry.name.startswith(beginning) and entry.is_dir()]
    return []


def _set_limits(path: Path, limits: SandboxLimits) -> None:
    memory = str(limits.memory_mb * 1024 * 1024)
    for file, value in (
        ("memory.max", memory),
        ("memory.swap.max", "0"),
        ("memory.limit_in_bytes", memory),
        ("memory.memsw.limit_in_bytes", memory),
        ("pids.max", str(limits.processes)),
    ):
        try:
            descriptor = os.open(path / file, os.O_WRONLY)
        except FileNotFoundError:
            continue
        try:
            os.write(descriptor, value.encode())
        finally:
            os.close(descriptor)
