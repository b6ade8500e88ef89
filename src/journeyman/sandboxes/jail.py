"""The bubblewrap arguments of a jail: a new root directory with what a command may see, and nothing else.

When the server runs as root, bubblewrap stays root while it mounts, because the order's own user may not even
look up paths below a private home; the supervisor becomes that user for good before it serves a request.
Otherwise bubblewrap uses an unprivileged user namespace.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from journeyman.errors import SandboxUnavailable
from journeyman.sandboxes.base import SandboxSpec
from journeyman.sandboxes.network import RESOLVER
from journeyman.sandboxes.scratch import Scratch

WORKSPACE = "/workspace"
HOME = "/home/agent"
SESSIONS = "/home/sessions"
"""The home of programs that keep sessions. HOME of all other commands, checks above all, is elsewhere."""
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - the jail's own
_MEMORY_SHARE = 4
"""The share of the memory limit that /dev/shm may take, so that a full one does not block its own removal."""
_ETC = (
    "alternatives",
    "ca-certificates",
    "java-*",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "maven",
    "php",
    "pki/ca-trust",
    "pki/tls/certs",
    "ssl/certs",
    "ssl/openssl.cnf",
)


@cache
def python_executable() -> str:
    """The real path of the interpreter: that of a virtual environment is a link to outside the jail."""
    return os.path.realpath(sys.executable)


def search_path(shown: Sequence[Path]) -> str:
    first = [str(path / "bin") for path in (*shown, *_python_home()) if (path / "bin").is_dir()]
    return ":".join([*first, "/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"])


def small_files(uid: int, gid: int, network: str) -> dict[str, bytes]:
    """The few files of `/etc` that name the jail's only user, its host and its resolver."""
    result = {
        "/etc/passwd": f"agent:x:{uid}:{gid}:agent:{HOME}:/bin/bash\n".encode(),
        "/etc/group": f"agent:x:{gid}:\n".encode(),
        "/etc/hosts": b"127.0.0.1 localhost sandbox\n::1 localhost\n",
    }
    if network == "open":
        result["/etc/resolv.conf"] = f"nameserver {RESOLVER}\n".encode()
    return result


def arguments(
    spec: SandboxSpec,
    scratch: Scratch,
    *,
    shown: Sequence[Path],
    as_root: bool,
    files: dict[str, int],
    filter_fd: int | None,
    workspace: Path | None = None,
    layers: Sequence[str] = (),
) -> list[str]:
    """Everything before the program to run. `files` are descriptors with the content of small files.

    `workspace`: where it is mounted together with its layers. `layers`: options that mount these otherwise.

    The order matters: bubblewrap applies its options from left to right, so a later mount hides an earlier
    one.
    """
    result = ["bwrap", *_namespaces(as_root=as_root), *_system(), "--dir", "/run"]
    # The /dev/shm of --dev has no size limit, and without control groups nothing counts what is in it.
    size = str(spec.limits.memory_mb * 1024 * 1024 // _MEMORY_SHARE)
    result += ["--perms", "1777", "--size", size, "--tmpfs", _SHARED_MEMORY]
    # Home and /tmp are directories on disk, made empty for each sandbox: a tmpfs would take memory.
    result += ["--perms", "0755", "--dir", "/home", "--bind", str(spec.user_home or scratch.home), HOME]
    result += ["--bind", str(scratch.temporary), "/tmp"]  # noqa: S108 - the jail's own
    result += ["--perms", "0755", "--dir", "/var", "--symlink", "/run", "/var/run"]
    result += ["--symlink", "/tmp", "/var/tmp"]  # noqa: S108 - the jail's own
    for path, descriptor in files.items():
        result += ["--perms", "0644", "--file", str(descriptor), path]
    result += _read_only([*_python_home(), *shown, *spec.shown, *spec.git_directories])
    # A read-only role gets a read-only mount: the kernel refuses the write, whatever the role attempts.
    # With layers mounted it is read-only already, and they can be written all the same.
    is_bound = spec.writable or workspace is not None
    result += ["--bind" if is_bound else "--ro-bind", str(workspace or spec.tree), WORKSPACE, *layers]
    for name in spec.hidden:
        result += _hidden(spec.tree, name)
    if spec.home:
        result += ["--bind", str(spec.home), SESSIONS]
    # The workspace's .git stays ours: git in the jail can read the history but not configure, hook or move
    # it.
    git = spec.tree / ".git"
    if git.is_symlink():
        raise SandboxUnavailable(
            f"{git} is a symbolic link",
            hint="A workspace's .git must be a file or a directory; make the workspace again.",
        )
    if git.exists():
        result += ["--ro-bind", str(git), f"{WORKSPACE}/.git"]
    if filter_fd is not None:
        result += ["--seccomp", str(filter_fd)]
    # The root is a tmpfs: read-only, else a command could fill memory there and make directories beside ours.
    return [*result, "--remount-ro", "/", "--chdir", WORKSPACE, "--"]


def _hidden(tree: Path, name: str) -> list[str]:
    """Mount something empty over what the workspace has under this name."""
    place, inside = tree / name, f"{WORKSPACE}/{name}"
    if place.is_symlink():
        raise SandboxUnavailable(
            f"{name} of the repository is a symbolic link, which cannot be hidden from the agent",
            hint="Make it a file or a directory, or choose another agent.",
        )
    if place.is_dir():
        return ["--perms", "0555", "--size", "4096", "--tmpfs", inside, "--remount-ro", inside]
    return ["--ro-bind", "/dev/null", inside] if place.exists() else []


def _namespaces(*, as_root: bool) -> list[str]:
    result = [
        "--unshare-pid",  # other processes cannot be seen or signalled, and the jail ends with process 1
        "--unshare-ipc",  # no shared memory or message queues of the host
        "--unshare-uts",  # needed for --hostname
        "--unshare-net",  # no network but an own loopback; `network.py` connects it where that is wanted
        "--unshare-cgroup-try",  # the host's control groups are not named in /proc; not on every kernel
        *("--hostname", "sandbox"),  # the host's name tells an agent nothing it needs
        "--as-pid-1",  # the supervisor itself is process 1: it reaps orphans and ends the jail
        "--die-with-parent",  # a killed server leaves no jail behind
        "--new-session",  # no controlling terminal, into which TIOCSTI could type
    ]
    if as_root:
        # The supervisor needs these two to become the order's user; they are gone after that.
        return [*result, "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    # --disable-userns: no further user namespace, in which a command would get capabilities again.
    return [*result, "--unshare-user", "--disable-userns"]


@cache
def _system() -> list[str]:
    """The parts of the machine that every jail shows read-only; of /etc only what programs need to run."""
    result = ["--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        path = Path("/") / name
        if path.is_symlink():
            result += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            result += ["--ro-bind", str(path), str(path)]
    if Path("/opt").is_dir():
        result += ["--ro-bind", "/opt", "/opt"]
    return result + _read_only(_present(_ETC))


def _present(patterns: Iterable[str]) -> list[Path]:
    return [path for pattern in patterns for path in sorted(Path("/etc").glob(pattern))]


def _read_only(paths: Sequence[Path]) -> list[str]:
    """Mount paths of this machine under their own names."""
    # Without --perms bubblewrap makes the directories above with mode 0700, owned by root.
    above = [
        word for path in sorted({p.parent for p in paths}) for word in ("--perms", "0755", "--dir", str(path))
    ]
    return above + [word for path in paths for word in ("--ro-bind", str(path), str(path))]


@cache
def _python_home() -> list[Path]:
    """The installation directory of the interpreter, under both its names, where that is not below /usr."""
    names = sorted({sys.base_prefix, os.path.realpath(sys.base_prefix)})
    return [Path(name) for name in names if not Path(name).is_relative_to("/usr")]
