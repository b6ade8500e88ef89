"""The arguments that make bubblewrap build a jail: what a command can see, and nothing else.

As root, bubblewrap itself stays root while it builds, because an order's own user could not even look up
paths below a private home; the supervisor then becomes that user for good before it answers. Otherwise
bubblewrap works in a user namespace of its own.
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
"""The home of programs that keep sessions: other commands, checks above all, do not look there."""
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - the jail's own
_MEMORY_SHARE = 4
"""What part of the memory limit shared memory may take: enough is left to start what cleans it up."""
_ETC = (
    "alternatives",
    "ca-certificates",
    "java-*",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "pki/ca-trust",
    "pki/tls/certs",
    "ssl/certs",
    "ssl/openssl.cnf",
)


@cache
def python_executable() -> str:
    """The interpreter behind a virtual environment: it is what the jail can show and start."""
    return os.path.realpath(sys.executable)


def search_path(shown: Sequence[Path]) -> str:
    first = [str(path / "bin") for path in (*shown, *_python_home()) if (path / "bin").is_dir()]
    return ":".join([*first, "/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"])


def small_files(uid: int, gid: int, network: str) -> dict[str, bytes]:
    """What `/etc` says about the jail's only user, its machine, and whom to ask for names."""
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
) -> list[str]:
    """Everything before the program to run. `files` are descriptors with the content of small files."""
    result = ["bwrap", *_namespaces(as_root=as_root), *_system(), "--dir", "/run"]
    size = str(spec.limits.memory_mb * 1024 * 1024 // _MEMORY_SHARE)
    result += ["--perms", "1777", "--size", size, "--tmpfs", _SHARED_MEMORY]
    result += ["--perms", "0755", "--dir", "/home", "--bind", str(scratch.home), HOME]
    result += ["--bind", str(scratch.temporary), "/tmp"]  # noqa: S108 - the jail's own
    result += ["--perms", "0755", "--dir", "/var", "--symlink", "/run", "/var/run"]
    result += ["--symlink", "/tmp", "/var/tmp"]  # noqa: S108 - the jail's own
    for path, descriptor in files.items():
        result += ["--perms", "0644", "--file", str(descriptor), path]
    result += _read_only([*_python_home(), *shown, *spec.shown, *spec.git_directories])
    result += ["--bind" if spec.writable else "--ro-bind", str(spec.tree), WORKSPACE]
    for name in spec.hidden:
        result += _hidden(spec.tree, name)
    if spec.home:
        result += ["--bind", str(spec.home), SESSIONS]
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
    return [*result, "--remount-ro", "/", "--chdir", WORKSPACE, "--"]


def _hidden(tree: Path, name: str) -> list[str]:
    """Something empty in the place of what the workspace has under this name."""
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
    result = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--unshare-cgroup-try"]
    result += ["--hostname", "sandbox", "--as-pid-1", "--die-with-parent", "--new-session"]
    if as_root:
        return [*result, "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    return [*result, "--unshare-user", "--disable-userns"]


@cache
def _system() -> list[str]:
    """The parts of the machine that are the same in every jail."""
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
    """Show paths of this machine under their own names."""
    # Left to itself, bubblewrap closes the directories above to everybody but root.
    above = [
        word for path in sorted({p.parent for p in paths}) for word in ("--perms", "0755", "--dir", str(path))
    ]
    return above + [word for path in paths for word in ("--ro-bind", str(path), str(path))]


@cache
def _python_home() -> list[Path]:
    """Where the interpreter lives, by both its names, when that is not the system's own place."""
    names = sorted({sys.base_prefix, os.path.realpath(sys.base_prefix)})
    return [Path(name) for name in names if not Path(name).is_relative_to("/usr")]
