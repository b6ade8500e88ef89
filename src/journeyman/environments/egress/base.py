"""What a set-up needs of a way out of its sandbox."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Protocol


class DeniedConnection(Protocol):
    """Something that a command tried to reach and may not."""

    @property
    def host(self) -> str: ...

    @property
    def port(self) -> int: ...

    @property
    def reason(self) -> str: ...

    @property
    def command(self) -> str | None: ...

    @property
    def may_be_allowed(self) -> bool: ...


class EgressDoor(Protocol):
    """The only way out of one sandbox."""

    command: str | None
    """What runs inside now, for the next denial."""

    @property
    def socket(self) -> Path: ...

    @property
    def shown(self) -> tuple[Path, ...]:
        """Directories to show read-only in the sandbox: certificates."""
        ...

    def variables(self, port: int) -> Mapping[str, str]:
        """For commands inside: where the proxy, its certificates and the package indexes are."""
        ...

    async def close(self) -> None: ...


class Egress(Protocol):
    async def open(
        self,
        tools: Collection[str],
        hosts: tuple[str, ...],
        on_denied: Callable[[DeniedConnection], None],
    ) -> EgressDoor:
        """A way out to the package registries of these tools, and to these hosts.

        `on_denied` is called once for each host.
        """
        ...
