"""The process that runs commands inside a sandbox: starting one costs a spawn, not a whole jail.

It runs alone under `python -I -S`, never as part of Journeyman, and imports only modules written in C:
`os`, `signal` and `json` would double the time that a jail takes to start. It has to stay a single file,
because the host compiles it and passes it in as one open file (`launch.py`).

Protocol. Standard input is a stream socket to the host, used in both directions. A frame is: kind (1 byte),
request number (4 bytes), length of the body (4 bytes), body; numbers are big-endian. The body of a request is
a list of fields, each preceded by its length (4 bytes). Requests:

    R  run a command to its end: timeout, output cap, cwd, has stdin, stdin, count, arguments, environment
    T  start a program on three files that came through the fd channel: cwd, count, arguments, environment
    K  kill what this request started; no reply
    Q  kill what another request started: its number; replies when it is gone
    N  connect to a port, or listen when it is 0; the socket is sent through the fd channel
    G  read a file: path, limit
    P  write a file: path, content
    S  count the processes of the sandbox

Replies: `H` once, when the supervisor is ready; then for each request any number of `O` (output bytes), at
most one `C` (how many bytes were left out at this place), and last `E` (exit code, timed out) or `X` (errno).

Standard output is the fd channel, a SEQPACKET socket on which open files are passed (SCM_RIGHTS), each with
the number of its request.

In a jail the supervisor is process 1 of its PID namespace: orphans are reparented to it, and when it exits
the kernel kills everything else. Without a jail it is an ordinary process, and finds what belongs to the
sandbox by the variable JM_SANDBOX in each process's environment.
"""

import _ctypes
import _signal  # type: ignore[import-not-found]
import posix
import resource
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

CHUNK = 65536
READ = posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC
WRITE = posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC | posix.O_NONBLOCK | posix.O_CLOEXEC
EINVAL = 22
MSG_CMSG_CLOEXEC = 0x40000000
CONNECT_SECONDS = 2.0
LONGEST_KILL_SECONDS = 2.0
NICENESS = 10
"""Added to the nice value of commands: a test suite must not keep the server from answering."""
PR_SET_DUMPABLE = 4
SIGINT, SIGKILL, SIGPIPE, SIGCHLD, SIGXFSZ = 2, 9, 13, 17, 25
MARK = b"JM_SANDBOX"
"""Variable in the environment of every command: a process that left its session is still found by it."""

WORKSPACE = posix.getcwd()
IS_INIT = posix.getpid() == 1


class RunningCommand:
    """One running command: how much of its output may still be sent, and the end of what was not."""

    def __init__(self, request: int, deadline: float, cap: int) -> None:
        self.request = request
        self.pid = 0
        self.deadline = deadline
        self.room = self.half = cap // 2
        self.tail = bytearray()
        self.dropped = 0

    def take(self, data: bytes) -> None:
        if self.room:
            send(b"O", self.request, data[: self.room])
            data, self.room = data[self.room :], max(0, self.room - len(data))
        self.tail += data
        if len(self.tail) > 2 * self.half:
            self.trim_tail()

    def trim_tail(self) -> None:
        excess = max(0, len(self.tail) - self.half)
        del self.tail[:excess]
        self.dropped += excess


commands: dict[int, RunningCommand] = {}
"""By process id."""
pipes: dict[int, RunningCommand | None] = {}
"""Output pipes by descriptor; None after the command ended: output of its children is dropped then."""
poller = select.poll()
fd_sockets: "list[Any]" = []
"""The fd channel as a socket object, once it was needed."""


def main() -> None:
    user, memory, processes = [int(argument) for argument in sys.argv[1:]]
    posix.closerange(3, 256)  # files inherited from the launch, this program's own among them
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    posix.nice(NICENESS)
    for kind, value in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_NPROC, processes)):
        hard = resource.getrlimit(kind)[1]
        if value and (hard == resource.RLIM_INFINITY or value < hard):
            resource.setrlimit(kind, (value, value))
    if user:  # started by root, which bubblewrap needed: from here on the order's own user, for good
        posix.setgroups([])
        posix.setgid(user)
        posix.setuid(user)
    if IS_INIT:
        forbid_inspection()
    # The kernel drops signals to process 1 of a namespace unless it has a handler, as Python has for SIGINT.
    _signal.signal(SIGINT, _signal.SIG_DFL)
    posix.umask(0o022)
    send(b"H", 0, b"")
    serve_requests()


def forbid_inspection() -> None:
    """Protect the memory, environment and open files of this process from commands of the same user.

    The commands run as the same user as the supervisor, so by default they could attach a debugger to it, or
    open the host's sockets through /proc/1/fd. A process that is not dumpable permits both only to a process
    with CAP_SYS_PTRACE over its user namespace, and there is none inside the jail. Executing another program
    makes a process dumpable again, so commands can still be debugged.
    """
    prctl = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type]
    if _ctypes.call_function(prctl, (PR_SET_DUMPABLE, 0, 0, 0, 0)) != 0:
        sys.exit("the supervisor cannot protect itself from what runs beside it: prctl failed")


def serve_requests() -> None:
    """The event loop: requests, ended children, output of commands, and deadlines."""
    # SIGCHLD writes a byte into a pipe, so that the end of a child wakes `poll` as everything else does.
    woken, wake = posix.pipe()
    posix.set_blocking(woken, False)
    posix.set_blocking(wake, False)
    _signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    _signal.signal(SIGCHLD, lambda *_: None)
    incoming = bytearray()
    poller.register(0, select.POLLIN)
    poller.register(woken, select.POLLIN)
    while True:
        for descriptor, _ in poller.poll(poll_timeout()):
            if descriptor == 0:
                data = posix.read(0, CHUNK)
                if not data:
                    shut_down()
                incoming += data
                handle_frames(incoming)
            elif descriptor == woken:
                posix.read(woken, CHUNK)
                reap()
            elif descriptor in pipes:
                forward_output(descriptor)
        now = time.monotonic()
        for command in [command for command in commands.values() if command.deadline <= now]:
            kill_command(command.request)
            report_exit(command, 0, timed_out=True)


def poll_timeout() -> float | None:
    """Milliseconds until the next deadline, at most an hour; None when no command runs."""
    if not commands:
        return None
    seconds = min(command.deadline for command in commands.values()) - time.monotonic()
    return min(max(0.0, seconds), 3600) * 1000 + 1


def shut_down() -> None:
    """The host has closed the connection. When process 1 exits, the kernel kills the rest of the jail."""
    if not IS_INIT:
        kill_until_gone(set(), belongs_to_sandbox)
    posix._exit(0)


def handle_frames(incoming: bytearray) -> None:
    while len(incoming) >= 9:
        end = 9 + int.from_bytes(incoming[5:9], "big")
        if len(incoming) < end:
            return
        kind, request, body = incoming[:1], int.from_bytes(incoming[1:5], "big"), bytes(incoming[9:end])
        del incoming[:end]
        try:
            handle_request(bytes(kind), request, parse_fields(body))
        except OSError as error:
            send(b"X", request, b"%d" % (error.errno or EINVAL))
        except ValueError:  # a zero byte in a path
            send(b"X", request, b"%d" % EINVAL)


def handle_request(kind: bytes, request: int, fields: list[bytes]) -> None:
    if kind == b"R":
        start_command(request, fields)
    elif kind == b"T":
        start_program(request, fields)
    elif kind == b"K":
        kill_command(request)
    elif kind == b"Q":
        kill_command(int(fields[0]))
        send(b"E", request, b"0 0")
    elif kind == b"N":
        send_socket(request, int(fields[0]))
    elif kind == b"G":
        read_file(request, fields[0], int(fields[1]))
    elif kind == b"P":
        write_file(fields[0], fields[1])
        send(b"E", request, b"0 0")
    elif kind == b"S":
        reap()
        send(b"O", request, b"%d" % sum(map(belongs_to_sandbox, other_processes())))
        send(b"E", request, b"0 0")


def parse_fields(body: bytes) -> list[bytes]:
    fields, at = [], 0
    while at < len(body):
        end = at + 4 + int.from_bytes(body[at : at + 4], "big")
        fields.append(body[at + 4 : end])
        at = end
    return fields


def send(kind: bytes, request: int, body: bytes | bytearray) -> None:
    """Send one frame, or shut down when the host is gone."""
    data = memoryview(kind + request.to_bytes(4, "big") + len(body).to_bytes(4, "big") + body)
    try:
        while data:
            data = data[posix.write(0, data) :]
    except (BrokenPipeError, ConnectionResetError):
        shut_down()


def send_bytes(request: int, data: bytes | bytearray) -> None:
    for at in range(0, len(data), CHUNK):
        send(b"O", request, data[at : at + CHUNK])


def start_command(request: int, fields: list[bytes]) -> None:
    """Run a command to its end, with its output sent as it comes."""
    timeout, cap, cwd, has_stdin, stdin, count, *rest = fields
    command = RunningCommand(request, time.monotonic() + float(timeout), int(cap))
    reading, writing = posix.pipe()
    source = posix.memfd_create("stdin") if has_stdin == b"1" else posix.open("/dev/null", READ)
    try:
        if has_stdin == b"1":
            with open(source, "wb", closefd=False) as file:
                file.write(stdin)
            posix.lseek(source, 0, 0)
        if not spawn(command, cwd, int(count), rest, (source, writing, writing)):
            posix.close(reading)
            return
    finally:
        posix.close(writing)
        posix.close(source)
    posix.set_blocking(reading, False)
    pipes[reading] = command
    poller.register(reading, select.POLLIN)


def start_program(request: int, fields: list[bytes]) -> None:
    """Start a program on three open files that were sent ahead through the fd channel."""
    cwd, count, *rest = fields
    files = receive_files(request)
    try:
        spawn(RunningCommand(request, float("inf"), 0), cwd, int(count), rest, files)
    finally:
        for descriptor in files:
            posix.close(descriptor)


def spawn(
    command: RunningCommand, cwd: bytes, count: int, words: list[bytes], files: "Sequence[int]"
) -> bool:
    """Start a command in a session of its own, or reply why it cannot be started.

    `words` are its arguments, then names and values for its environment. posix_spawn does not copy the memory
    of this process as fork would; all its own files are close-on-exec, so only the given ones are inherited.
    """
    arguments, extra = words[:count], words[count:]
    mark = posix.environ[MARK] + b"%d" % command.request
    environment = {**posix.environ, **dict(zip(extra[::2], extra[1::2], strict=True)), MARK: mark}
    try:
        posix.chdir(cwd)
        command.pid = posix.posix_spawnp(
            arguments[0],
            arguments,
            environment,
            file_actions=[(posix.POSIX_SPAWN_DUP2, file, place) for place, file in enumerate(files)],
            setsid=True,
            setsigmask=(),
            setsigdef=(SIGPIPE, SIGXFSZ),
        )
    except (OSError, ValueError) as error:
        missing = isinstance(error, (FileNotFoundError, NotADirectoryError))
        complaint = b"cannot start %s: %s\n" % (arguments[0][:200], str(error)[:200].encode())
        send_bytes(command.request, complaint)
        send(b"E", command.request, b"%d 0" % (127 if missing else 126))
        return False
    finally:
        posix.chdir(WORKSPACE)
    offer_to_oom_killer(command.pid)
    commands[command.pid] = command
    return True


def receive_files(request: int) -> list[int]:
    """The open files that were sent for a request; those of requests that failed before are closed."""
    while True:
        tag, rights, _, _ = fd_channel().recvmsg(4, 256, MSG_CMSG_CLOEXEC)
        data = b"".join(each for _, _, each in rights)
        files = [int.from_bytes(data[at : at + 4], sys.byteorder) for at in range(0, len(data), 4)]
        if int.from_bytes(tag, "big") == request:
            return files
        for descriptor in files:
            posix.close(descriptor)


def send_socket(request: int, port: int) -> None:
    """Send the host a connection to a port of the sandbox or, for port 0, a listening socket."""
    made = _socket().socket(_socket().AF_INET, _socket().SOCK_STREAM)
    try:
        if port:
            made.settimeout(CONNECT_SECONDS)
            made.connect(("127.0.0.1", port))
        else:
            made.bind(("127.0.0.1", 0))
            made.listen(128)
        rights = (_socket().SOL_SOCKET, _socket().SCM_RIGHTS, made.fileno().to_bytes(4, sys.byteorder))
        fd_channel().sendmsg([request.to_bytes(4, "big")], [rights])
    finally:
        made.close()
    send(b"E", request, b"0 0")


def fd_channel() -> "Any":
    if not fd_sockets:
        fd_sockets.append(_socket().socket(fileno=1))
    return fd_sockets[0]


def _socket() -> "Any":
    """The module, loaded when it is first needed: most sandboxes never do."""
    import _socket

    return _socket


def offer_to_oom_killer(pid: int) -> None:
    """When memory runs out, let the kernel kill the command and not this supervisor."""
    try:
        with open(f"/proc/{pid}/oom_score_adj", "wb", 0) as file:
            file.write(b"1000")
    except OSError:  # it has ended already
        return


def reap() -> None:
    """Collect every child that ended: commands and, as process 1, orphans that were reparented here."""
    while True:
        try:
            pid, status = posix.waitpid(-1, posix.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        command = commands.get(pid)
        if command:
            code = posix.waitstatus_to_exitcode(status)
            report_exit(command, code if code >= 0 else 128 - code, timed_out=False)


def report_exit(command: RunningCommand, code: int, *, timed_out: bool) -> None:
    """Reply that a command ended. What its pipe holds now is sent; later output of its children is not."""
    del commands[command.pid]
    for descriptor in [d for d, owner in pipes.items() if owner is command]:
        for _ in range(16):
            if not forward_output(descriptor):
                break
        if descriptor in pipes:
            pipes[descriptor] = None
    if command.dropped or len(command.tail) > command.half:
        command.trim_tail()
        send(b"C", command.request, b"%d" % command.dropped)
    send_bytes(command.request, command.tail)
    send(b"E", command.request, b"%d %d" % (code, timed_out))


def forward_output(descriptor: int) -> bool:
    """Send one chunk from a command's pipe; False when there is none."""
    try:
        data = posix.read(descriptor, CHUNK)
    except BlockingIOError:
        return False
    if not data:
        poller.unregister(descriptor)
        posix.close(descriptor)
        del pipes[descriptor]
        return False
    owner = pipes[descriptor]
    if owner:
        owner.take(data)
    return True


def kill_command(request: int) -> None:
    """Kill a command and everything it started, also what left its session or lost its parent."""
    mark = posix.environ[MARK] + b"%d\0" % request
    started = [command.pid for command in commands.values() if command.request == request]
    kill_until_gone({*started, *(-pid for pid in started)}, lambda pid: is_marked(pid, mark))


def kill_until_gone(targets: set[int], belongs: "Callable[[int], bool]") -> None:
    """Kill the targets, their descendants and all that belongs, again and again until none is alive.

    A process can fork between the listing and the kill, so one pass is not enough. One that was killed dies
    when the kernel gets to it; one that the kernel cannot end now is not waited for any longer.
    """
    give_up = time.monotonic() + LONGEST_KILL_SECONDS
    while time.monotonic() < give_up:
        status = {
            pid: read_proc(f"/proc/{pid}/stat").rpartition(b") ")[2].split() for pid in other_processes()
        }
        parents = {pid: int(words[1]) for pid, words in status.items() if words and words[0] not in b"ZX"}
        found = {pid for pid in parents if pid in targets or belongs(pid)}
        while more := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= more
        if not found:
            return
        targets |= found  # once its parent is dead, a descendant is not known by it any more
        for pid in sorted(targets):
            kill(pid)
        time.sleep(0.001)


def kill(pid: int) -> None:
    try:
        posix.kill(pid, SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def other_processes() -> list[int]:
    own = posix.getpid()
    return [int(name) for name in posix.listdir("/proc") if name.isdigit() and int(name) != own]


def belongs_to_sandbox(pid: int) -> bool:
    return IS_INIT or is_marked(pid, posix.environ[MARK])


def is_marked(pid: int, mark: bytes) -> bool:
    return b"\0" + MARK + b"=" + mark in b"\0" + read_proc(f"/proc/{pid}/environ")


def read_proc(path: str) -> bytes:
    """A file of /proc, or nothing when its process is gone or another user's."""
    try:
        with open(path, "rb", 0) as file:
            return file.read()
    except OSError:
        return b""


def read_file(request: int, path: bytes, size: int) -> None:
    with open(path, "rb", 0, opener=lambda name, _: posix.open(name, READ)) as file:
        if posix.fstat(file.fileno()).st_mode & 0o170000 != 0o100000:
            raise OSError(EINVAL, "not a regular file: reading a pipe or a device could block")
        while size and (data := file.read(min(size, CHUNK))):
            send(b"O", request, data)
            size -= len(data)
    send(b"E", request, b"0 0")


def write_file(path: bytes, content: bytes) -> None:
    parts = path.split(b"/")
    for count in range(1, len(parts)):
        try:
            posix.mkdir(b"/".join(parts[:count]) or b"/")
        except FileExistsError:
            continue
    with open(posix.open(path, WRITE, 0o666), "wb") as file:
        file.write(content)


if __name__ == "__main__":
    main()
