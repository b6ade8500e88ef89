"""Run a program as a user without any rights: `python ordinary.py PROGRAM ARGUMENT…`, started by root.

Root's interpreter and this checkout may lie below directories that nobody else can enter. In a mount
namespace of its own the program finds them there all the same; the rest of the machine is as it is.
"""

import ctypes
import os
import sys
from pathlib import Path

UID = 61_000
"""A user that owns nothing on this machine."""
_CLONE_NEWNS = 0x00020000
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000
_libc = ctypes.CDLL(None, use_errno=True)
_NEEDED = tuple(
    Path(os.path.realpath(path)) for path in (sys.prefix, sys.base_prefix, Path(__file__).parents[2])
)


def main() -> None:
    _check(_libc.unshare(_CLONE_NEWNS))
    _mount("none", "/", flags=_MS_REC | _MS_PRIVATE)
    for closed in _closed(_NEEDED):
        _show_only(closed, [path for path in _NEEDED if path.is_relative_to(closed)])
    os.setgroups([])
    os.setgid(UID)
    os.setuid(UID)
    os.execvp(sys.argv[1], sys.argv[1:])


def _closed(paths: tuple[Path, ...]) -> list[Path]:
    """The topmost directory above each path that others cannot enter."""
    above = (
        next((p for p in reversed((path, *path.parents)) if not p.stat().st_mode & 0o001), None)
        for path in paths
    )
    return sorted({path for path in above if path is not None})


def _show_only(directory: Path, paths: list[Path]) -> None:
    held = {path: os.open(path, os.O_PATH) for path in paths}
    _mount("tmpfs", str(directory), kind="tmpfs", options="mode=0755")
    for path, descriptor in held.items():
        path.mkdir(parents=True, exist_ok=True)
        # The command `mount` would look the name up, and find the empty directory.
        _mount(f"/proc/self/fd/{descriptor}", str(path), flags=_MS_BIND | _MS_REC)
        os.close(descriptor)


def _mount(source: str, target: str, *, kind: str = "", flags: int = 0, options: str = "") -> None:
    words = [word.encode() for word in (source, target, kind)]
    _check(_libc.mount(*words, ctypes.c_ulong(flags), options.encode()))


def _check(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


if __name__ == "__main__":
    main()
