"""A PostgreSQL server that belongs to one run of the tests.

It is started by the first test that needs it and shared by all workers of the run; the process that
began the run stops it. The server of the machine, if there is one, is never touched.
"""

import fcntl
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

_OPTIONS = {
    "listen_addresses": "127.0.0.1",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_connections": "400",
}


def find_programs() -> Path | None:
    """Where initdb and pg_ctl are: Debian keeps them out of PATH, one directory for each version."""
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).resolve().parent
    found = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    return max((path.parent for path in found), key=lambda path: float(path.parent.name), default=None)


@dataclass(frozen=True)
class PrivatePostgres:
    """The server that lives, or will live, in a directory."""

    directory: Path

    @classmethod
    def prepare(cls) -> "PrivatePostgres":
        directory = Path(tempfile.mkdtemp(prefix="journeyman-postgres-"))
        user = _user()
        if user:
            shutil.chown(directory, user, user)
        return cls(directory)

    def start(self) -> str:
        """The server's address, ending in `/`. Started by whoever comes first; the others wait for it."""
        address = self.directory / "address"
        with (self.directory / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not address.exists():
                address.write_text(self._start(), encoding="utf-8")
            return address.read_text(encoding="utf-8")

    @contextmanager
    def fresh_database(self) -> Iterator[str]:
        server = self.start()
        name = f"test_{secrets.token_hex(8)}"
        with psycopg.connect(server + "postgres", autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield server + name
        finally:
            with psycopg.connect(server + "postgres", autocommit=True) as connection:
                connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def crash(self) -> None:
        """End the server without a goodbye; its data stays."""
        programs = find_programs()
        if programs and (self._data / "postmaster.pid").exists():
            self._run(programs / "pg_ctl", "stop", "-D", self._data, "-m", "immediate")

    def come_back(self) -> None:
        """Start the server again, at the address it had."""
        self._launch((self.directory / "arguments").read_text(encoding="utf-8"))

    def discard(self) -> None:
        self.crash()
        shutil.rmtree(self.directory)

    @property
    def _data(self) -> Path:
        return self.directory / "data"

    def _start(self) -> str:
        programs = find_programs()
        if programs is None:
            pytest.fail("PostgreSQL is not installed. Run `make setup`, or install its server package.")
        password = secrets.token_hex(16)
        password_file = self.directory / "password"
        password_file.write_text(password, encoding="utf-8")
        how = [
            "-U",
            "journeyman",
            "--auth-local=trust",
            "--auth-host=password",
            "--encoding=UTF8",
            "--locale=C",
        ]
        self._run(programs / "initdb", "-D", self._data, "--no-sync", "--pwfile", password_file, *how)
        # Another program may take the port between our look and the server's start: then look again.
        for attempts_left in reversed(range(5)):
            port = _free_port()
            options = {**_OPTIONS, "port": str(port), "unix_socket_directories": str(self.directory)}
            arguments = " ".join(f"-c {name}={value}" for name, value in options.items())
            try:
                self._launch(arguments)
                break
            except RuntimeError:
                if not attempts_left:
                    raise
        (self.directory / "arguments").write_text(arguments, encoding="utf-8")
        return f"postgresql://journeyman:{password}@127.0.0.1:{port}/"

    def _launch(self, arguments: str) -> None:
        programs, log = find_programs(), self.directory / "log"
        assert programs is not None
        self._run(programs / "pg_ctl", "start", "-D", self._data, "-w", "-l", log, "-o", arguments)

    def _run(self, *command: Path | str) -> None:
        user = _user()
        output = self.directory / "output"
        with output.open("wb") as sink:  # a pipe would stay open as long as the server lives
            completed = subprocess.run(
                command,
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                user=user,
                group=user,
                extra_groups=[] if user else None,
            )
        if completed.returncode != 0:
            log = self.directory / "log"
            said = "".join(file.read_text(errors="replace") for file in (output, log) if file.exists())
            raise RuntimeError(f"{command[0]} ended with {completed.returncode}:\n{said}")


def _user() -> str | None:
    """PostgreSQL refuses to run as root; everybody else runs it as themselves."""
    if os.getuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port
