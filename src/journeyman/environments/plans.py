"""The environments of commits, worked out once: a warm order pays for a look into a table, not for a listing."""

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
            _make_room(self._projects)
            self._projects[commit] = await read_project(mirror, commit)
        return self._projects[commit]

    async def at(self, mirror: Mirror, commit: str, stored: str | None) -> Planned:
        """The environment of a commit; `stored` is the definition that the server keeps for the repository."""
        key = commit, hashlib.sha256((stored or "").encode()).hexdigest()
        if key not in self._planned:
            _make_room(self._planned)
            project = await self.project(mirror, commit)
            environment = resolve(project, stored=stored, detected=detect_environment(project))
            self._planned[key] = Planned(project, environment)
        return self._planned[key]


def _make_room(cache: dict[object, object] | dict[str, Project] | dict[tuple[str, str], Planned]) -> None:
    while len(cache) >= _MAX_COMMITS:
        del cache[next(iter(cache))]  # type: ignore[arg-type]
