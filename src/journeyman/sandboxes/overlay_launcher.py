"""Mounts an environment's layers and then becomes bubblewrap, which knows no overlays before 0.11.

It runs alone under `python -I -S` in a mount namespace of its own, so no other process sees its mounts, and
everything is gone with the jail. It imports only modules written in C, as the supervisor does, and is passed
in as one open file (`launch.py`).

A directory of the workspace may have become a symbolic link of an agent, at this very moment: every directory
on the way to a mount point is opened without following links, and the mount is made on what was opened.
"""

import _ctypes
import posix
import sys

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND = 1, 2, 4, 8, 32, 4096
MS_REC, MS_PRIVATE, MS_RELATIME = 0x4000, 0x40000, 1 << 21
ST_RELATIME = 4096
SAME_IN_BOTH = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC | 1024 | 2048
"""Flags with the same value in mount and statvfs; the last two are noatime and nodiratime."""
DIRECTORY = posix.O_RDONLY | posix.O_DIRECTORY | posix.O_NOFOLLOW | posix.O_CLOEXEC
PROBE = b"probe"


def main() -> None:
    plan, *command = sys.argv[1:]
    fields = read_plan(int(plan)).split(b"\0")
    user, tree, writable, scratch, *groups = fields
    enter_namespace()
    if tree == PROBE:
        mount_overlay(scratch + b"/tmp", scratch, PROBE, 0)
        return
    place = scratch + b"/workspace"
    call("mount", tree, place, None, MS_BIND | MS_REC, None)
    roots = {b"workspace": posix.open(place, DIRECTORY), b"home": posix.open(scratch + b"/home", DIRECTORY)}
    while groups:
        lower, name, root, count = groups[:4]
        targets, groups = groups[4 : 4 + int(count)], groups[4 + int(count) :]
        merged = mount_overlay(lower, scratch, name, int(user))
        for target in targets:
            mount_directory(merged, roots[root], target, int(user))
    if writable == b"0":
        make_read_only(place)
    posix.execv(command[0], ["bwrap", *command[1:]])


def enter_namespace() -> None:
    """Root needs only a mount namespace. Another user is nobody special in its user namespace either: after
    bubblewrap was started it has no capability there."""
    user, group = posix.getuid(), posix.getgid()
    if user == 0:
        call("unshare", CLONE_NEWNS)
    else:
        call("unshare", CLONE_NEWNS | CLONE_NEWUSER)
        for name, content in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(content)
    call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)


def mount_overlay(lower: bytes, scratch: bytes, name: bytes, user: int) -> int:
    """The merged directory, open. What is written to it lies in the sandbox's scratch directory."""
    place = scratch + b"/" + name
    for path in (place, place + b"/upper", place + b"/work", place + b"/merged"):
        posix.mkdir(path, 0o755)
    if user:
        posix.chown(place + b"/upper", user, user)
    opened = [posix.open(path, DIRECTORY) for path in (lower, place + b"/upper", place + b"/work")]
    # By descriptor, because a path may hold a comma or a colon. Volatile: without it every end of a sandbox
    # would wait until the whole disk is written. Only root may store where a renamed directory was.
    options = b"lowerdir=/proc/self/fd/%d,upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d" % tuple(opened)
    options += b",volatile" + (b",userxattr" if posix.getuid() else b",redirect_dir=on")
    call("mount", b"overlay", place + b"/merged", b"overlay", MS_NOSUID | MS_NODEV, options)
    posix.chmod(place + b"/work/work", 0o700)  # else the count of the order's files could not look into it
    return posix.open(place + b"/merged", DIRECTORY)


def mount_directory(merged: int, root: int, target: bytes, user: int) -> None:
    """Bind one directory of the layer to its place, unless something is there already."""
    place = open_mount_point(root, target, user)
    if place is None:
        return
    source = open_below(merged, target)
    # Fails where an agent removes the directory at this moment: then it is left out like any other.
    succeeds("mount", b"/proc/self/fd/%d" % source, b"/proc/self/fd/%d" % place, None, MS_BIND | MS_REC, None)
    posix.close(source)
    posix.close(place)


def open_mount_point(root: int, target: bytes, user: int) -> int | None:
    """An empty directory, made where it is missing; None where a file, a link or files of the tree are."""
    directory = posix.dup(root)
    try:
        for name in parts(target):
            is_new = make_directory(directory, name)
            below = posix.open(name, DIRECTORY, dir_fd=directory)
            posix.close(directory)
            directory = below
            if is_new and user:
                posix.fchown(directory, user, user)
        if posix.listdir(directory):
            posix.close(directory)
            return None
    except OSError:
        posix.close(directory)
        return None
    return directory


def make_directory(parent: int, name: bytes) -> bool:
    try:
        posix.mkdir(name, 0o755, dir_fd=parent)
    except FileExistsError:
        return False
    return True


def open_below(root: int, path: bytes) -> int:
    directory = posix.dup(root)
    for name in parts(path):
        below = posix.open(name, DIRECTORY, dir_fd=directory)
        posix.close(directory)
        directory = below
    return directory


def parts(path: bytes) -> list[bytes]:
    return [name for name in path.split(b"/") if name]


def make_read_only(place: bytes) -> None:
    """The tree alone, not what is mounted in it; other flags may not be taken away in a user namespace."""
    flags = posix.statvfs(place).f_flag
    kept = flags & SAME_IN_BOTH | (MS_RELATIME if flags & ST_RELATIME else 0)
    call("mount", b"none", place, None, MS_REMOUNT | MS_BIND | MS_RDONLY | kept, None)


def call(name: str, *arguments: "int | bytes | None") -> None:
    if not succeeds(name, *arguments):
        shown = b" ".join(word for word in arguments if isinstance(word, bytes))
        succeeds("perror", b"layers: %s %s" % (name.encode(), shown))
        posix._exit(1)


def succeeds(name: str, *arguments: "int | bytes | None") -> bool:
    library = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]
    return bool(_ctypes.call_function(_ctypes.dlsym(library, name), arguments) == 0)


def read_plan(descriptor: int) -> bytes:
    with open(descriptor, "rb") as file:
        return file.read()


if __name__ == "__main__":
    main()
