"""A way out of a sandbox that leads nowhere: it denies every host that it is told."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from journeyman.environments.egress.base import DeniedConnection


@dataclass(frozen=True)
class Denial:
    host: str
    port: int
    reason: str
    command: str | None
    may_be_allowed: bool


class DenyingEgress:
    """A host is told by its name in a line; the answer is `denied`."""

    def __init__(self, socket: Path) -> None:
        self.command: str | None = None
        self.opened: list[tuple[str, ...]] = []
        self.is_closed = False
        self.socket = socket
        self._server: asyncio.Server | None = None
        self._on_denied: Callable[[DeniedConnection], None] = lambda _: None

    async def open(
        self,
        tools: Collection[str],
        hosts: tuple[str, ...],
        on_denied: Callable[[DeniedConnection], None],
    ) -> "DenyingEgress":
        self.opened.append(hosts)
        self._on_denied = on_denied
        self.shown[0].mkdir()
        (self.shown[0] / "ca").write_text("certificate\n")
        self._server = await asyncio.start_unix_server(self._answer, self.socket)
        return self

    @property
    def shown(self) -> tuple[Path, ...]:
        return (self.socket.parent / "shown",)

    def variables(self, port: int) -> Mapping[str, str]:
        return {"EGRESS_PORT": str(port)}

    async def close(self) -> None:
        self.is_closed = True
        if self._server:
            self._server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host = (await reader.readline()).decode().strip()
        self._on_denied(Denial(host, 443, "nobody has allowed it", self.command, may_be_allowed=True))
        writer.write(b"denied\n")
        writer.close()
