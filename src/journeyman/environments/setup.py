"""Install what a repository needs, before any token is spent, and keep it as a layer.

The install commands run in a jail on a clean checkout of the base commit. What git does not track there
afterwards, and the home, become the layer. A set-up that fails is a result: the order can go on without it.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

from journeyman.environments import layer_files
from journeyman.environments.egress.base import DeniedConnection, Egress, EgressDoor
from journeyman.environments.key import LayerInputs, inputs_of, layer_key, tool_words
from journeyman.environments.layers import Layer, LayerContent, Layers
from journeyman.environments.machine import read_machine
from journeyman.environments.plan import Environment
from journeyman.environments.project import Project
from journeyman.environments.setup_failures import RecentFailures
from journeyman.environments.setup_problems import RefusedHost, SetupProblem
from journeyman.environments.setup_run import SetupRun
from journeyman.environments.tools import Tools, ToolsFound
from journeyman.errors import DiskQuotaExceeded, SandboxLost, SandboxUnavailable, WorkspaceUnreadable
from journeyman.events.types import Event
from journeyman.events.types.environments import (
    EnvironmentReady,
    EnvironmentSetupFailed,
    EnvironmentSetupStarted,
    NetworkDenied,
)
from journeyman.git.checkouts import Checkout, Checkouts
from journeyman.git.mirror import Mirror
from journeyman.sandboxes.base import LayerMount, SandboxLimits, SandboxProvider, SandboxSpec
from journeyman.sandboxes.identity import jail_uid
from journeyman.settings import Settings

Emit = Callable[[Event], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class ReadyEnvironment:
    """An environment as sandboxes are opened with it."""

    environment: Environment
    layer: Layer | None = None
    problem: SetupProblem | None = None
    """Why there is no layer although one is needed."""
    shown: tuple[Path, ...] = ()
    """Directories of this machine with the tools that it needs."""

    @property
    def mounts(self) -> tuple[LayerMount, ...]:
        return self.layer.sandbox_mounts if self.layer else ()

    @property
    def env(self) -> tuple[tuple[str, str], ...]:
        return tuple(sorted(self.environment.env.items()))

    @property
    def path(self) -> tuple[str, ...]:
        return self.environment.path

    @property
    def files(self) -> tuple[str, ...]:
        """Paths of single files in the workspace; `copy_files` brings them there."""
        return self.layer.files if self.layer else ()

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self.environment.notes, *(self.layer.notes if self.layer else ()))

    async def copy_files(self, tree: Path, order_id: str) -> None:
        """Copy the layer's single files into a workspace, where they are missing. Safe to repeat."""
        if self.layer is not None and self.layer.files:
            uid = jail_uid(order_id)
            await asyncio.to_thread(
                layer_files.copy_files, self.layer.workspace, self.layer.files, tree, uid=uid
            )


@dataclass(frozen=True, kw_only=True)
class _Asked:
    mirror: Mirror
    commit_sha: str
    environment: Environment
    project: Project
    owner_id: str
    inputs: LayerInputs
    shown: tuple[Path, ...]
    hosts: tuple[str, ...]
    emit: Emit

    @property
    def key(self) -> str:
        return layer_key(self.inputs)


class EnvironmentSetup:
    def __init__(
        self,
        settings: Settings,
        sandboxes: SandboxProvider,
        layers: Layers,
        egress: Egress | None,
        limits: SandboxLimits,
        tools: Tools | None = None,
    ) -> None:
        """Without `egress` install commands reach nothing; without `tools` they find only the system's."""
        self._settings = settings
        self._sandboxes = sandboxes
        self._layers = layers
        self._egress = egress
        self._limits = limits
        self._tools = tools
        self._failures = RecentFailures(settings.home.absolute() / "layers" / ".failed")

    async def prepare(
        self,
        mirror: Mirror,
        commit_sha: str,
        environment: Environment,
        project: Project,
        *,
        owner_id: str,
        repository_url: str,
        private_to: str | None = None,
        hosts: tuple[str, ...] = (),
        emit: Emit,
    ) -> ReadyEnvironment:
        """The environment with its layer, made now if no fitting one is there.

        `owner_id` is whose sandbox installs it; `hosts` are what people allowed beside the registries. With
        `private_to` nothing else will ever use the layer: for a commit that agents have changed. Safe to
        repeat because a layer that exists is used.
        """
        is_wanted = environment.needs_setup and self._settings.environment_setup != "off"
        if self._sandboxes.isolation == "none":
            return ReadyEnvironment(environment=environment)
        found = await self._tools.find(environment.tools) if self._tools else ToolsFound()
        environment = replace(
            environment, path=(*environment.path, *found.path), notes=(*environment.notes, *found.notes)
        )
        if not is_wanted:
            return ReadyEnvironment(environment=environment, shown=found.shown)
        started = time.monotonic()
        machine = read_machine(self._settings, tool_words(environment))
        inputs = inputs_of(
            environment, project, machine, repository_url=repository_url, private_to=private_to
        )
        asked = _Asked(
            mirror=mirror,
            commit_sha=commit_sha,
            environment=environment,
            project=project,
            owner_id=owner_id,
            inputs=inputs,
            shown=found.shown,
            hosts=tuple(sorted({*environment.setup_hosts, *self._settings.setup_hosts, *hosts})),
            emit=emit,
        )
        layer, reused, problem = await self._layer_for(asked)
        if layer is None:
            return await _failed(asked, problem)
        self._layers.touch(layer)
        ready = EnvironmentReady(
            layer=layer.key,
            reused=reused,
            duration_seconds=round(time.monotonic() - started, 3),
            size_bytes=layer.size_bytes,
            files=layer.file_count,
        )
        await emit(ready)
        return ReadyEnvironment(environment=environment, layer=layer, shown=found.shown)

    async def delete_discarded(self) -> None:
        """Delete layers that were discarded, and what killed set-ups left, for as long as this runs."""
        await asyncio.to_thread(self._layers.sweep)
        await self._layers.trash.keep_empty()

    def forget_failure(self, key: str) -> None:
        """Let the next order try at once what has failed just now."""
        self._failures.forget(key)

    async def _layer_for(self, asked: _Asked) -> tuple[Layer | None, bool, SetupProblem | None]:
        if (layer := self._layers.find(asked.key)) is not None:
            return layer, True, None
        problem: SetupProblem | None = None

        async def build(directory: Path) -> LayerContent | None:
            nonlocal problem
            problem = self._failures.recent(asked.key, asked.hosts)
            if problem is not None:
                return None
            built = await self._build(asked, directory)
            if isinstance(built, SetupProblem):
                problem = built
                if built.kind != "sandbox":
                    self._failures.remember(asked.key, built, asked.hosts)
                return None
            return built

        layer, reused = await self._layers.make(asked.inputs, build)
        return layer, reused, problem

    async def _build(self, asked: _Asked, directory: Path) -> LayerContent | SetupProblem:
        environment = asked.environment
        await asked.emit(
            EnvironmentSetupStarted(
                layer=asked.key,
                source=environment.source,
                ecosystems=list(environment.ecosystems),
                commands=[one.command for one in environment.install],
            )
        )
        home = directory / "home"
        home.mkdir()
        checkouts = Checkouts(directory / "checkouts", discard=self._layers.trash.put)
        async with checkouts.open(asked.mirror, asked.owner_id, asked.commit_sha) as checkout:
            await self._seed(asked, checkout, home)
            try:
                run = await self._install(asked, checkout, home)
                if run.problem is not None:
                    return run.problem
                return await self._keep(asked, checkout, directory, tuple(run.notes))
            except DiskQuotaExceeded as error:
                return SetupProblem(kind="no_space", reason=error.message, remedy=_ROOM)
            except WorkspaceUnreadable as error:
                return SetupProblem(kind="command_failed", reason=error.message, remedy=error.hint)
            except (SandboxLost, SandboxUnavailable) as error:
                return SetupProblem(kind="sandbox", reason=error.message, remedy=error.hint)

    async def _seed(self, asked: _Asked, checkout: Checkout, home: Path) -> None:
        """Begin with what the nearest older layer of the repository holds: most of it stays as it is."""
        uid = jail_uid(asked.owner_id)
        older = await asyncio.to_thread(self._layers.nearest, asked.inputs)
        if older is not None:
            self._layers.touch(older)  # so that nobody removes it meanwhile
            paths = (*older.mounts, *older.files)
            await asyncio.to_thread(
                layer_files.copy_trees, older.workspace, paths, checkout.tree, asked.project.blobs, uid=uid
            )
            await asyncio.to_thread(layer_files.copy_tree, older.home, home, uid=uid)
        elif uid is not None:
            os.chown(home, uid, uid)

    async def _install(self, asked: _Asked, checkout: Checkout, home: Path) -> SetupRun:
        async with self._way_out(asked) as (door, denied):
            environment = asked.environment
            sandbox = await self._sandboxes.setup(
                SandboxSpec(
                    order_id=asked.owner_id,
                    purpose="setup",
                    tree=checkout.tree,
                    git_directories=checkout.git_directories,
                    shown=(*asked.shown, *(door.shown if door else ())),
                    env=tuple(sorted(environment.env.items())),
                    path=environment.path,
                    user_home=home,
                    limits=self._limits,
                )
            )
            secrets = self._secrets(environment)
            run = SetupRun(sandbox, asked.emit, secrets, self._settings.environment_timeout_seconds)
            try:
                port = await sandbox.open_door(door.socket) if door else None
                variables = dict(door.variables(port)) if door and port else {}
                for command in environment.install:
                    if door:
                        door.command = command.command
                    await run.execute(command, variables, denied)
                    if run.problem is not None:
                        break
            finally:
                await sandbox.cleanup()
        return run

    @contextlib.asynccontextmanager
    async def _way_out(self, asked: _Asked) -> AsyncIterator[tuple[EgressDoor | None, list[RefusedHost]]]:
        """The door, and the hosts that were denied at it so far."""
        denied: list[RefusedHost] = []
        emitting: set[asyncio.Task[None]] = set()

        def on_denied(one: DeniedConnection) -> None:
            denied.append(RefusedHost(one.host, one.may_be_allowed))
            event = NetworkDenied(
                host=one.host,
                port=one.port,
                phase="setup",
                step=None,
                command=one.command,
                reason=one.reason,
                may_be_allowed=one.may_be_allowed,
            )
            emitting.add(asyncio.ensure_future(asked.emit(event)))

        tools = tool_words(asked.environment)
        door = await self._egress.open(tools, asked.hosts, on_denied) if self._egress else None
        try:
            yield door, denied
        finally:
            if door is not None:
                await door.close()
            await asyncio.gather(*emitting)

    async def _keep(
        self, asked: _Asked, checkout: Checkout, directory: Path, notes: tuple[str, ...]
    ) -> LayerContent | SetupProblem:
        """Move what the commands left out of the checkout. No process of the sandbox is there any more."""
        tree, workspace, home = checkout.tree, directory / "workspace", directory / "home"
        await asyncio.to_thread(layer_files.make_accessible, tree)
        ignored = [*await checkout.ignored(asked.owner_id), *asked.environment.directories]
        workspace.mkdir()
        collected = await asyncio.to_thread(
            layer_files.collect, tree, workspace, ignored, asked.project.blobs.keys()
        )
        sizes = [await asyncio.to_thread(layer_files.normalise, path) for path in (workspace, home)]
        if secrets := self._secrets(asked.environment):
            found = await asyncio.to_thread(layer_files.find_secret, (workspace, home), secrets.values())
            if found is not None:
                return SetupProblem(
                    kind="secret_in_layer",
                    reason=f"the install commands left a secret in {found}",
                    remedy="Let the command remove it at its end: other orders would be able to read it.",
                )
        return LayerContent(
            inputs=asked.inputs,
            mounts=collected.mounts,
            files=collected.files,
            size_bytes=sum(one.size_bytes for one in sizes),
            file_count=sum(one.file_count for one in sizes),
            notes=notes,
        )

    def _secrets(self, environment: Environment) -> dict[str, str]:
        stored = self._settings.environment_secrets
        return {name: stored[name].get_secret_value() for name in environment.secrets if name in stored}


_ROOM = (
    "Let the install commands write less, or raise JOURNEYMAN_SANDBOX_DISK_MB or JOURNEYMAN_SANDBOX_FILES."
)


async def _failed(asked: _Asked, problem: SetupProblem | None) -> ReadyEnvironment:
    assert problem is not None
    await asked.emit(
        EnvironmentSetupFailed(
            layer=asked.key, reason=problem.reason, remedy=problem.remedy, command=problem.command
        )
    )
    return ReadyEnvironment(environment=asked.environment, problem=problem, shown=asked.shown)
