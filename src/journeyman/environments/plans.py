"""The environments of commits, worked out once: a warm order pays for a look-up, not for a listing."""

import asyncio
import hashlib
from dataclasses import dataclass

from journeyman.environments.detect.combine import detect_environment
from journeyman.environments.plan import Environment
from journeyman.environments.project import Project, read_project
from journeyman.environments.resolve import resolve
from journeyman.git.mirror import Mirror

_MAX_COMMITS = 64


@dataclass(frozen=True)
class Planned:
    project: Project
    environment: Environment


class EnvironmentPlans:
    def __init__(self) -> None:
        self._projects: dict[str, Project] = {}
        self._planned: dict[tuple[str, str], Planned] = {}

    async def project(self, mirror: Mirror, commit: str) -> Project:
        if commit not in self._projects:
            while len(self._projects) >= _MAX_COMMITS:
                del self._projects[next(iter(self._projects))]
            self._projects[commit] = await read_project(mirror, commit)
        return self._projects[commit]

    async def at(self, mirror: Mirror, commit: str, definition: str | None) -> Planned:
        """The environment of a commit; `definition` is what the server keeps for the repository, if anything.

        Raises InvalidEnvironment where that, or the repository's own file, is wrong.
        """
        key = commit, hashlib.sha256((definition or "").encode()).hexdigest()
        if key not in self._planned:
            while len(self._planned) >= _MAX_COMMITS:
                del self._planned[next(iter(self._planned))]
            found = await self.detected(mirror, commit)
            environment = resolve(found.project, stored=definition, detected=found.environment)
            self._planned[key] = Planned(found.project, environment)
        return self._planned[key]

    async def detected(self, mirror: Mirror, commit: str) -> Planned:
        """What is detected of a commit, whatever people wrote."""
        project = await self.project(mirror, commit)
        return Planned(project, await asyncio.to_thread(detect_environment, project))
