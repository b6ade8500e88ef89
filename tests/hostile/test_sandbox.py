"""What code in a jail tries against its supervisor, its machine and its neighbours, for both users.

One jail for each user takes every case, so a case that harms the jail is found by those after it. Each
attempt is a program that ends well only if it succeeds.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from journeyman.files.removal import remove_tree
from tests.hostile.frame import run_as
from tests.pace import in_time
from tests.sandboxes.specs import processes_of, wait_until_gone

_REFUSED = ("Permission denied", "Operation not permitted")
_MISSING = ("No such file or directory",)
_LIMITS = {"memory_mb": 256, "processes": 64, "output_bytes": 50_000}

_PRELUDE = """
import ctypes, os, resource, signal, socket, struct, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

def check(result):
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result

def call(name, *arguments):
    number = NUMBERS[name][0 if os.uname().machine == "x86_64" else 1]
    return check(libc.syscall(number, *arguments))

def vector(data):
    held = ctypes.create_string_buffer(data, 64)
    return ctypes.byref((ctypes.c_void_p * 2)(ctypes.addressof(held), 64)), held

class child:
    def __enter__(self):
        self.process = subprocess.Popen(["sleep", "60"])
        return self.process.pid
    def __exit__(self, *_):
        self.process.kill(); self.process.wait()
"""
_NUMBERS = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "unshare": (272, 97),
    "mount": (165, 40),
    "fsopen": (430, 430),
    "pivot_root": (155, 41),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "open_by_handle_at": (304, 265),
    "init_module": (175, 105),
    "kexec_load": (246, 104),
    "swapon": (167, 224),
    "reboot": (169, 142),
    "io_uring_setup": (425, 425),
    "x32_ptrace": (0x40000000 | 101, 0x40000000 | 117),
}


class Jail:
    """A sandbox that was built by one of the users, and what can be seen of it from outside."""

    def __init__(self, user: str, place: Path, **limits: int) -> None:
        program: list[str | Path] = [
            sys.executable,
            "-m",
            "tests.hostile.jail_host",
            place,
            json.dumps(_LIMITS | limits),
        ]
        self._host = subprocess.Popen(
            run_as(user, program),
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        about = self._answer()
        self.order_id: str = about["order_id"]
        self.tree = Path(about["tree"])
        self.host = psutil.Process(about["pid"])

    def run(self, command: str | list[str], timeout: float = 30) -> dict[str, Any]:
        assert self._host.stdin is not None
        self._host.stdin.write(json.dumps([command, timeout]) + "\n")
        self._host.stdin.flush()
        return self._answer()

    def python(self, code: str, timeout: float = 30) -> dict[str, Any]:
        return self.run(["python3", "-c", f"NUMBERS = {_NUMBERS}\n{_PRELUDE}\n{code}"], timeout)

    def __enter__(self) -> "Jail":
        return self

    def __exit__(self, *_: object) -> None:
        assert self._host.stdin is not None
        self._host.stdin.close()
        assert self._host.wait(60) == 0

    def _answer(self) -> dict[str, Any]:
        assert self._host.stdout is not None
        answer: dict[str, Any] = json.loads(self._host.stdout.readline())
        return answer


@pytest.fixture(scope="module")
def opened(user: str, place: Path) -> Iterator[Jail]:
    with Jail(user, place) as jail:
        yield jail


@pytest.fixture
def jail(opened: Jail) -> Iterator[Jail]:
    """The module's jail, which must still answer truly when the case is over."""
    yield opened
    done = opened.run("echo still here; exit 7")
    assert (done["output"], done["exit_code"]) == ("still here\n", 7)


@dataclass(frozen=True)
class Attempt:
    what: str
    code: str
    answer: tuple[str, ...] = _REFUSED


ON_THE_SUPERVISOR = [
    Attempt("reads its memory", "open('/proc/1/mem', 'rb')"),
    Attempt("writes its memory", "open('/proc/1/mem', 'r+b')"),
    Attempt("reads its environment", "open('/proc/1/environ').read()"),
    Attempt("reads its memory map", "open('/proc/1/maps').read()"),
    Attempt("lists its open files", "os.listdir('/proc/1/fd')"),
    Attempt("opens its wire", "os.open('/proc/1/fd/0', os.O_RDWR)"),
    Attempt("opens its passage for open files", "os.open('/proc/1/fd/1', os.O_RDWR)"),
    Attempt("opens its standard error", "os.open('/proc/1/fd/2', os.O_WRONLY)"),
    Attempt("enters its root directory", "os.listdir('/proc/1/root')"),
    Attempt("spares itself and offers the supervisor", "open('/proc/1/oom_score_adj', 'w').write('1000')"),
    Attempt("attaches to it", "call('ptrace', 16, 1, 0, 0)"),
    Attempt("seizes it", "call('ptrace', 0x4206, 1, 0, 0)"),
    Attempt("attaches by another calling convention", "call('x32_ptrace', 16, 1, 0, 0)"),
    Attempt("copies from it", "v, _ = vector(b''); call('process_vm_readv', 1, v, 1, v, 1, 0)"),
    Attempt("copies into it", "v, _ = vector(b'evil'); call('process_vm_writev', 1, v, 1, v, 1, 0)"),
    Attempt("opens a handle to it", "call('pidfd_open', 1, 0)"),
    Attempt("lowers its limit of open files", "resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))"),
    Attempt("lowers its processor time", "resource.prlimit(1, resource.RLIMIT_CPU, (1, 1))"),
    Attempt("lets it wait for others", "os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))"),
    Attempt("pins it to a processor", "os.sched_setaffinity(1, {0})"),
]

ON_THE_MACHINE = [
    Attempt("makes a user namespace", "call('unshare', 0x10000000)"),
    Attempt("makes a mount namespace", "call('unshare', 0x00020000)"),
    Attempt("enters a namespace", "os.close(0); check(libc.setns(os.open('/proc/self/ns/net', 0), 0))"),
    Attempt("mounts", "call('mount', b'none', b'/tmp', b'tmpfs', 0, 0)"),
    Attempt("mounts by the newer calls", "call('fsopen', b'tmpfs', 0)"),
    Attempt("changes the root", "call('pivot_root', b'/tmp', b'/tmp')"),
    Attempt("changes its own root", "os.chroot('/tmp')"),
    Attempt("makes a device", "os.mknod('/tmp/sda', 0o60666, os.makedev(8, 0))"),
    Attempt("becomes root", "os.setuid(0)", (*_REFUSED, "Invalid argument")),
    Attempt("reads kernel keys", "call('keyctl', 0, -3, 0)"),
    Attempt("loads a kernel program", "call('bpf', 0, 0, 0)"),
    Attempt("watches the processor", "call('perf_event_open', 0, 0, -1, -1, 0)"),
    Attempt("handles page faults", "call('userfaultfd', 0)"),
    Attempt("opens files by number", "call('open_by_handle_at', 0, 0, 0)"),
    Attempt("loads a kernel module", "call('init_module', 0, 0, b'')"),
    Attempt("replaces the kernel", "call('kexec_load', 0, 0, 0, 0)"),
    Attempt("swaps", "call('swapon', b'/tmp/x', 0)"),
    Attempt("restarts the machine", "call('reboot', 0xfee1dead, 672274793, 0, 0)"),
    Attempt("queues unchecked calls", "call('io_uring_setup', 1, 0)"),
    Attempt("takes files out of a process", "call('pidfd_getfd', 0, 0, 0)"),
    Attempt("sends raw packets", "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"),
    Attempt("speaks to the hypervisor", "socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)"),
    Attempt(
        "types into a terminal",
        "import fcntl, pty, termios; fcntl.ioctl(pty.openpty()[1], termios.TIOCSTI, b'x')",
    ),
    Attempt(
        "has its crashes handled by the machine",
        "open('/proc/sys/kernel/core_pattern', 'w')",
        (*_REFUSED, "Read-only file system"),
    ),
    Attempt(
        "presses the system's request key",
        "open('/proc/sysrq-trigger', 'w')",
        (*_REFUSED, *_MISSING, "Read-only file system"),
    ),
    Attempt("reads the kernel's log", "open('/dev/kmsg')", _MISSING),
    Attempt("reads the machine's memory", "open('/dev/mem', 'rb')", _MISSING),
    Attempt("dumps core", "resource.setrlimit(resource.RLIMIT_CORE, (1, 1))", ("not allowed to raise",)),
]


@pytest.mark.parametrize("attempt", ON_THE_SUPERVISOR, ids=lambda one: one.what)
def test_a_supervisor_is_out_of_reach_of_code_that(jail: Jail, attempt: Attempt) -> None:
    _is_refused(jail, attempt)


@pytest.mark.parametrize("attempt", ON_THE_MACHINE, ids=lambda one: one.what)
def test_a_machine_is_out_of_reach_of_code_that(jail: Jail, attempt: Attempt) -> None:
    _is_refused(jail, attempt)


def _is_refused(jail: Jail, attempt: Attempt) -> None:
    done = jail.python(attempt.code)
    assert done["exit_code"] == 1, done
    assert any(answer in done["output"] for answer in attempt.answer), done


@pytest.mark.parametrize(
    "code",
    [
        "with child() as pid: call('ptrace', 0x4206, pid, 0, 0)",
        "with child() as pid: open(f'/proc/{pid}/mem', 'rb')",
        "with child() as pid: os.close(call('pidfd_open', pid, 0))",
        "with child() as pid: resource.prlimit(pid, resource.RLIMIT_NOFILE, (64, 64))",
        "v, _ = vector(b''); call('process_vm_readv', os.getpid(), v, 1, v, 1, 0)",
        "os.sched_setaffinity(0, os.sched_getaffinity(0))",
    ],
    ids=["traced", "read", "held", "limited", "copied", "pinned"],
)
def test_what_an_agent_started_can_still_be(jail: Jail, code: str) -> None:
    done = jail.python(code)
    assert done["exit_code"] == 0, done


def test_no_signal_ends_or_stops_a_supervisor(jail: Jail) -> None:
    done = jail.python("for number in signal.valid_signals(): os.kill(1, number)")
    assert done["exit_code"] == 0, done


def test_a_command_inherits_no_open_file(jail: Jail) -> None:
    code = "print([name for name in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{name}')])"
    assert jail.python(code)["output"] == "['0', '1', '2']\n"
    links = jail.python("print([os.readlink(f'/proc/self/fd/{n}').split(':')[0] for n in range(3)])")
    assert links["output"] == "['/dev/null', 'pipe', 'pipe']\n"


def test_an_abstract_socket_of_the_machine_is_not_found(jail: Jail) -> None:
    knock = f"socket.socket(socket.AF_UNIX).connect('\\0{jail.order_id}')"
    assert "Connection refused" in jail.python(knock)["output"]


def test_a_fork_bomb_is_contained(jail: Jail) -> None:
    done = jail.run("bomb() { bomb | bomb & wait; }; bomb 2>/dev/null", timeout=2)
    assert done["timed_out"] or done["exit_code"] != 0
    assert len(_inside(jail)) <= _LIMITS["processes"] + 2


def test_a_memory_bomb_ends_itself_and_not_the_supervisor(jail: Jail) -> None:
    before = _inside(jail)[0]
    done = jail.python("held = []\nwhile True: held.append(bytes(range(256)) * 65536)", timeout=60)
    assert not done["timed_out"]
    assert done["exit_code"] != 0
    assert _inside(jail)[0] == before


def test_a_flood_of_output_is_cut_and_costs_its_host_no_memory(jail: Jail) -> None:
    before = jail.host.memory_info().rss
    done = jail.run("head -c 300M /dev/zero | tr '\\0' x", timeout=60)
    assert done["truncated"]
    assert len(done["output"]) < 2 * _LIMITS["output_bytes"]
    assert jail.host.memory_info().rss - before < 20_000_000


def test_shared_memory_is_bounded(jail: Jail) -> None:
    done = jail.run("head -c 1G /dev/zero > /dev/shm/full; stat -c %s /dev/shm/full; rm /dev/shm/full")
    assert int(done["output"].splitlines()[-1]) <= _LIMITS["memory_mb"] * 1024 * 1024


def test_a_crash_leaves_no_core(jail: Jail) -> None:
    done = jail.run("cd /workspace && bash -c 'kill -SEGV $$'; find /workspace /tmp -name 'core*'")
    assert done["output"].count("core") == 0


def test_a_daemon_ends_with_its_time_limit(jail: Jail) -> None:
    done = jail.run("setsid sleep 1000 & nohup sleep 1000 & wait", timeout=1)
    assert done["timed_out"]
    wait_until_gone(_inside(jail)[1:])


def test_no_process_outlives_its_sandbox(user: str, place: Path) -> None:
    with Jail(user, place) as jail:
        jail.run("(env -i setsid sleep 1000 & env -i setsid sleep 1000 &)")
        started = [process.pid for process in jail.host.children(recursive=True)]
        assert len(started) >= 4
    wait_until_gone(started)
    assert processes_of(jail.order_id) == []


FILLING = {
    "the workspace": "cat /dev/zero > /workspace/full",
    "a temporary directory": "cat /dev/zero > /tmp/full",
    "the home": "cat /dev/zero > ~/full",
    "many small files": "i=0; mkdir d; while true; do i=$((i+1)); : > d/$i; done",
    "a file without a name": "exec 3> gone; rm gone; cat /dev/zero >&3",
    "a deep directory": "python3 -c \"import os\nwhile True: os.mkdir('deeper'); os.chdir('deeper')\"",
    "a daemon": "(env -i setsid sh -c 'cat /dev/zero > full' &) ; sleep 1000",
}


@pytest.mark.parametrize("code", FILLING.values(), ids=FILLING.keys())
def test_a_disk_is_not_filled_by(user: str, place: Path, code: str) -> None:
    with Jail(user, place, disk_mb=64, files=2000) as jail:
        began = time.monotonic()
        done = jail.run(f"{code}; sleep 1000", timeout=60)
        assert done.get("category") == "sandbox", done
        assert in_time(began, 20)
        left = [process.pid for process in jail.host.children(recursive=True)]
    wait_until_gone(left)
    remove_tree(jail.tree)


def _inside(jail: Jail) -> list[int]:
    """The supervisor and all that runs in its jail, seen from outside; the supervisor is the first."""
    (outer,) = [process for process in jail.host.children() if process.name() == "bwrap"]
    return sorted(process.pid for process in outer.children(recursive=True))
