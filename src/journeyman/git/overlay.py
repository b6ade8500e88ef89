"""Mount a directory that many share as one that each can write: an overlay on a read-only layer.

The lower layer is shown with another owner (an idmapped mount), so the user of a jail owns every file, as in
a checkout of its own, and nothing is copied for that. Needs a server that runs as root, and Linux 5.19.
"""

import ctypes
import errno
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_CURRENT = -100
_EMPTY_PATH = 0x1000
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442
"""System calls that the C library may not have; their numbers are the same on every architecture."""
_CLONE, _CLOEXEC = 1, os.O_CLOEXEC
_FROM_EMPTY_PATH = 0x4
_READ_ONLY, _IDMAP = 0x1, 0x00100000
_DETACH = 2
_NOTHING_MOUNTED = (errno.EINVAL, errno.ENOENT, errno.ENOTDIR, errno.EPERM)
"""What `umount2` fails with where there is no mount, no such path, or a user who never could mount."""
_libc = ctypes.CDLL(None, use_errno=True)


class _Attributes(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("namespace", ctypes.c_uint64),
    )


def can_mount(directory: Path) -> bool:
    """Whether overlays work here: tried once, in a directory on the disk that is to hold them."""
    if os.geteuid() != 0:
        return False
    try:
        with tempfile.TemporaryDirectory(dir=directory, prefix=".overlay-") as made:
            places = [Path(made) / name for name in ("shared", "upper", "work", "tree")]
            for place in places:
                place.mkdir()
            (places[0] / "file").touch()
            mount_workspace(*places, uid=1000)
            try:
                return (places[3] / "file").stat().st_uid == 1000
            finally:
                unmount_below(Path(made))
    except (OSError, subprocess.SubprocessError):
        return False


def mount_workspace(lower: Path, upper: Path, work: Path, tree: Path, *, uid: int) -> None:
    """Show `lower` at `tree`, its files owned by a user instead of root; what is written goes to `upper`.

    All but `lower` lie on one disk. What a user owns in `lower` that is not root cannot be shown.
    """
    shown = tree.with_name("lower")
    shown.mkdir(exist_ok=True)
    with _namespace(uid) as namespace:
        clone = _call(_OPEN_TREE, _CURRENT, os.fsencode(lower), _CLONE | _CLOEXEC)
        try:
            attributes = _Attributes(set=_READ_ONLY | _IDMAP, namespace=namespace)
            size = ctypes.sizeof(attributes)
            _call(_MOUNT_SETATTR, clone, b"", _EMPTY_PATH, ctypes.byref(attributes), size)
            _call(_MOVE_MOUNT, clone, b"", _CURRENT, os.fsencode(shown), _FROM_EMPTY_PATH)
        finally:
            os.close(clone)
    try:
        layers = (("lowerdir", shown), ("upperdir", upper), ("workdir", work))
        # Without redirects a directory of the lower layer could not be renamed.
        _mount(tree, ",".join([*(f"{name}={_escaped(path)}" for name, path in layers), "redirect_dir=on"]))
    finally:  # an overlay keeps the mount that it was given
        unmount(shown)


def unmount(place: Path) -> None:
    """Take every mount there away; processes that still use one keep it until they end. Safe to repeat."""
    while _libc.umount2(os.fsencode(place), _DETACH) == 0:
        pass
    if (error := ctypes.get_errno()) not in _NOTHING_MOUNTED:
        raise OSError(error, "cannot unmount", str(place))


def unmount_below(directory: Path) -> None:
    """Take away what `mount_workspace` mounted in a directory, whole or half. Safe to repeat."""
    for name in ("tree", "lower"):
        unmount(directory / name)


def _mount(tree: Path, options: str) -> None:
    if _libc.mount(b"overlay", os.fsencode(tree), b"overlay", 0, os.fsencode(options)) != 0:
        raise OSError(ctypes.get_errno(), "cannot mount an overlay", str(tree))


def _call(number: int, *arguments: object) -> int:
    values = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result = int(_libc.syscall(ctypes.c_long(number), *values))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def _escaped(path: Path) -> str:
    text = str(path)
    for sign in ("\\", ",", ":"):
        text = text.replace(sign, f"\\{sign}")
    return text


@contextmanager
def _namespace(uid: int) -> Iterator[int]:
    """A descriptor of a user namespace whose root is the given user."""
    holder = subprocess.Popen(["unshare", "--user", "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert holder.stdin is not None
        assert holder.stdout is not None
        holder.stdin.write(b"\n")
        holder.stdin.flush()
        holder.stdout.read(1)  # cat answers, so the namespace is made
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{holder.pid}/{name}").write_text(f"0 {uid} 1\n")
        descriptor = os.open(f"/proc/{holder.pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
        try:
            yield descriptor
        finally:
            os.close(descriptor)
    finally:
        holder.kill()
        holder.communicate()
