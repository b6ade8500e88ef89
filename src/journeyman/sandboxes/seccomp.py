"""A seccomp filter that refuses system calls which no command in a jail needs.

They lead to new namespaces, mounts, keys, the supervisor and rarely audited parts of the kernel. The filter
uses system call numbers, so it exists only for the processors listed here; it is a second line of defence,
and the jail holds without it.
"""

import os
import struct
from dataclasses import dataclass
from functools import cache

_EPERM, _ENOSYS = 1, 38
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NEW_NAMESPACE = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET in one mask."""
_TIOCSTI = 0x5412
_AF_VSOCK = 40
"""Sockets to the hypervisor, which a network namespace does not isolate."""
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24


@dataclass(frozen=True)
class _Processor:
    audit: int
    unshare: int
    clone: int
    ioctl: int
    refused: tuple[int, ...]
    """mount umount2 pivot_root chroot setns, keys (3), bpf, perf_event_open, userfaultfd, open_by_handle_at,
    kernel modules (3), kexec (2), swap (2), reboot: in this order."""
    socket: int
    ptrace: int
    on_process: tuple[int, ...]
    """Calls whose first argument is a process: process_vm_readv process_vm_writev prlimit64, sched_setparam
    sched_setscheduler sched_setaffinity sched_setattr, in this order."""


_X86_KERNEL = (175, 176, 313, 246, 320, 167, 168, 169)
_ARM_KERNEL = (105, 106, 273, 104, 294, 224, 225, 142)
_PROCESSORS = {
    "x86_64": _Processor(
        audit=0xC000003E,
        unshare=272,
        clone=56,
        ioctl=16,
        refused=(165, 166, 155, 161, 308, 248, 249, 250, 321, 298, 323, 304, *_X86_KERNEL),
        socket=41,
        ptrace=101,
        on_process=(310, 311, 302, 142, 144, 203, 314),
    ),
    "aarch64": _Processor(
        audit=0xC00000B7,
        unshare=97,
        clone=220,
        ioctl=29,
        refused=(40, 39, 41, 51, 268, 217, 218, 219, 280, 241, 282, 265, *_ARM_KERNEL),
        socket=198,
        ptrace=117,
        on_process=(270, 271, 261, 118, 119, 122, 274),
    ),
}
_SINCE_424 = (425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442)
"""io_uring, the newer mount calls and pidfd_getfd, which have the same number everywhere."""
_PIDFD_OPEN, _CLONE3 = 434, 435
_SUPERVISOR = 1
"""The jail's first process. Debuggers and leak checkers still work on what an agent started itself."""
_X32 = 0x40000000


@cache
def filter_program() -> bytes | None:
    """The filter in the kernel's own form, or None on a processor that is not known here."""
    processor = _PROCESSORS.get(os.uname().machine)
    if processor is None:
        return None
    refuse = [_step(_RETURN, _ERRNO | _EPERM)]
    program = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, processor.audit, 1, 0),
        *refuse,
        _step(_LOAD, _NUMBER),
        _step(_AT_LEAST, _X32, 0, 1),
        *refuse,
        _step(_EQUAL, _CLONE3, 0, 1),
        _step(_RETURN, _ERRNO | _ENOSYS),
    ]
    for number in (*processor.refused, *_SINCE_424):
        program += [_step(_EQUAL, number, 0, 1), *refuse]
    checked = [
        (processor.unshare, _FIRST_ARGUMENT, _ANY_BIT, _NEW_NAMESPACE),
        (processor.clone, _FIRST_ARGUMENT, _ANY_BIT, _NEW_NAMESPACE),
        (processor.ioctl, _SECOND_ARGUMENT, _EQUAL, _TIOCSTI),
        (processor.socket, _FIRST_ARGUMENT, _EQUAL, _AF_VSOCK),
        (processor.ptrace, _SECOND_ARGUMENT, _EQUAL, _SUPERVISOR),
        *((call, _FIRST_ARGUMENT, _EQUAL, _SUPERVISOR) for call in (*processor.on_process, _PIDFD_OPEN)),
    ]
    for call, argument, test, value in checked:
        program += [_step(_EQUAL, call, 0, 4), _step(_LOAD, argument), _step(test, value, 0, 1), *refuse]
        program += [_step(_RETURN, _ALLOW)]
    return b"".join([*program, _step(_RETURN, _ALLOW)])


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
