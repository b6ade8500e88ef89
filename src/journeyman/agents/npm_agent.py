"""What the agents of `jm agents install` have in common; the protocol of each is in its own module."""

from typing import ClassVar

from journeyman.agents.base import About
from journeyman.agents.npm_packages import NpmPackages
from journeyman.agents.turn import TurnRunner
from journeyman.gateway.door.door import Door
from journeyman.sandboxes.base import Readiness


class NpmAgent:
    name: ClassVar[str]
    providers: ClassVar[tuple[str, ...]]

    def __init__(self, door: Door, packages: NpmPackages) -> None:
        self._packages = packages
        self._runner = TurnRunner(door, providers=self.providers)

    @property
    def about(self) -> About:
        return self._packages.about(self.name, self.providers)

    async def readiness(self) -> Readiness:
        return self._packages.readiness(self.name)

    @property
    def _command(self) -> list[str]:
        """The command line of the program, without arguments."""
        return self._packages.command(self.name)
