"""Directory trees that were made to break whoever walks or removes them."""

import os
import socket
from pathlib import Path


def deep(path: Path, levels: int, name: str = "d") -> Path:
    """A chain of directories as an agent's `mkdir` loop makes it, with a file at its end."""
    path.mkdir(parents=True)
    here = os.open(path, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    return path


def locked(path: Path) -> Path:
    """Directories whose owner has no rights to them, one inside the other, with a file in each."""
    inner = path / "outer" / "inner"
    inner.mkdir(parents=True)
    (inner / "file").touch()
    (inner.parent / "file").touch()
    inner.chmod(0o000)
    inner.parent.chmod(0o400)
    path.chmod(0o500)
    return path


def strange(path: Path) -> Path:
    """Everything that is not a plain file, and names that are not text."""
    path.mkdir(parents=True)
    os.mkfifo(path / "fifo")
    with socket.socket(socket.AF_UNIX) as end:
        here = os.getcwd()
        os.chdir(path)
        end.bind("socket")
        os.chdir(here)
    (path / "dangling").symlink_to("nowhere")
    (path / "loop").symlink_to("loop")
    (path / "root").symlink_to("/")
    for name in (b"\xff\xfe", b"new\nline", b"-rf", b"$(id)", b"x" * 255, b" ", b"\x1b]0;x\x07"):
        os.close(os.open(os.path.join(os.fsencode(path), name), os.O_CREAT | os.O_WRONLY))
    os.mkdir(os.path.join(os.fsencode(path), b"\xff directory"))
    return path


def wide(path: Path, files: int) -> Path:
    path.mkdir(parents=True)
    here = os.open(path, os.O_RDONLY)
    for number in range(files):
        os.close(os.open(f"{number}", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    return path
