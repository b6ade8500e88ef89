"""The way out of a set-up: the proxy, with the registries of the tools that the set-up calls."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from journeyman.environments.egress.indexes import RegistryHosts
from journeyman.environments.egress.proxy import EgressProxy, EgressSession
from journeyman.environments.egress.registries import Registries
from journeyman.environments.egress.rules import Denial, EgressRules


class RegistryDoor:
    """A session of the proxy that also knows where the package indexes are."""

    def __init__(self, session: EgressSession, registries: RegistryHosts) -> None:
        self._session = session
        self._registries = registries

    @property
    def socket(self) -> Path:
        return self._session.socket

    @property
    def command(self) -> str | None:
        return self._session.command

    @command.setter
    def command(self, command: str | None) -> None:
        self._session.command = command

    @property
    def shown(self) -> tuple[Path, ...]:
        return (self._session.certificates, *(path for path in self._registries.paths if path.is_dir()))

    def variables(self, port: int) -> Mapping[str, str]:
        return {**self._registries.variables, **self._session.variables(port)}

    async def close(self) -> None:
        await self._session.close()


class RegistryEgress:
    def __init__(self, proxy: EgressProxy, registries: Registries) -> None:
        self._proxy = proxy
        self._registries = registries

    async def open(
        self, tools: Collection[str], hosts: tuple[str, ...], on_denied: Callable[[Denial], None]
    ) -> RegistryDoor:
        found = await self._registries.find(tools)
        rules = EgressRules(
            registries=found.registries,
            hosts=hosts,
            private_hosts=found.private_hosts,
            credentials=found.credentials,
        )
        return RegistryDoor(await self._proxy.open(rules, on_denied), found)
