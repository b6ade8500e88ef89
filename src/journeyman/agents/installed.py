"""What the agents that `jm agents install` gets have in common; how to speak with one is its own module's."""

from typing import ClassVar

from journeyman.agents.base import About
from journeyman.agents.installs import Installs
from journeyman.agents.turn import Programs
from journeyman.gateway.door.door import Door
from journeyman.sandboxes.base import Readiness


class InstalledAgent:
    name: ClassVar[str]
    providers: ClassVar[tuple[str, ...]]

    def __init__(self, door: Door, installs: Installs) -> None:
        self._installs = installs
        self._programs = Programs(door, providers=self.providers)

    @property
    def about(self) -> About:
        return self._installs.about(self.name, self.providers)

    async def readiness(self) -> Readiness:
        return self._installs.readiness(self.name)

    @property
    def _command(self) -> list[str]:
        """What starts the program, to which its arguments are added."""
        return self._installs.command(self.name)
