"""Carry out the checks of a statement again, on the same commit, and compare.

Nothing is taken from the server that made it: the environment is installed anew from what the base commit
says, and the checks run in a jail of this machine. Only the commands are those of the statement.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass

from journeyman.environments.plan import Check
from journeyman.environments.plans import EnvironmentPlans, Planned
from journeyman.environments.services import start_services
from journeyman.environments.setup import EnvironmentSetup, ReadyEnvironment
from journeyman.errors import EnvironmentIncomplete
from journeyman.events.types import Event
from journeyman.git.checkouts import Checkouts
from journeyman.git.mirror import Mirror
from journeyman.sandboxes.base import Sandbox, SandboxLimits, SandboxProvider, SandboxSpec
from journeyman.verification.own_code import CodeUnderTest, code_under_test
from journeyman.verification.run import CheckResult, run_checks
from journeyman.verification.statement import CheckFacts, Statement

_OWNER = "replay"
"""Stands for an order's id."""


@dataclass(frozen=True)
class ReplayedCheck:
    name: str
    recorded: str
    """What the evidence says, in words."""
    again: str
    is_same: bool


@dataclass(frozen=True)
class Replayed:
    checks: list[ReplayedCheck]
    layer: str | None
    """The environment that they ran in; another one than the evidence names may explain a difference."""

    @property
    def is_same(self) -> bool:
        return all(one.is_same for one in self.checks)


@dataclass(frozen=True, kw_only=True)
class Replays:
    sandboxes: SandboxProvider
    setup: EnvironmentSetup
    checkouts: Checkouts
    limits: SandboxLimits
    timeout: float
    """Seconds for each check."""

    async def run(self, statement: Statement, mirror: Mirror, repository_url: str) -> Replayed:
        """Raises EnvironmentIncomplete where what the checks need cannot be installed here."""
        commit, base = statement.head.gitCommit, statement.facts.base.gitCommit
        plans = EnvironmentPlans()
        planned, head = await plans.at(mirror, base, None), await plans.detected(mirror, commit)
        ready = await self._ready(statement, mirror, planned, head, repository_url)
        code = await _code(mirror, base, commit, planned, head)
        ran = [
            one for one in statement.facts.checks if one.exit_code is not None or one.outcome == "timed_out"
        ]
        async with self._sandbox(mirror, commit, ready) as sandbox:
            results = await run_checks(sandbox, list(map(_check, ran)), timeout=self.timeout, code=code)
        return Replayed(compare_checks(ran, results), ready.layer.key if ready.layer else None)

    async def _ready(
        self, statement: Statement, mirror: Mirror, planned: Planned, head: Planned, repository_url: str
    ) -> ReadyEnvironment:
        environment = planned.environment
        is_changed = any(
            head.project.blobs.get(path) != planned.project.blobs.get(path) for path in environment.key_files
        )
        digest = statement.head if is_changed else statement.facts.base
        ready = await self.setup.prepare(
            mirror,
            digest.gitCommit,
            environment,
            head.project if is_changed else planned.project,
            owner_id=_OWNER,
            repository_url=repository_url,
            private_to=statement.facts.agent_work_order_id if is_changed else None,
            emit=_ignore,
        )
        if statement.facts.environment.layer is not None and ready.layer is None:
            problem = ready.problem
            raise EnvironmentIncomplete(
                "the environment that the checks ran in cannot be had here"
                + (f": {problem.reason}" if problem else ""),
                hint=problem.remedy if problem else "Let it be installed: JOURNEYMAN_ENVIRONMENT_SETUP=auto.",
            )
        return ready

    @asynccontextmanager
    async def _sandbox(self, mirror: Mirror, commit: str, ready: ReadyEnvironment) -> AsyncIterator[Sandbox]:
        async with self.checkouts.open(mirror, _OWNER, commit) as checkout:
            await ready.copy_files(checkout.tree, _OWNER)
            sandbox = await self.sandboxes.setup(
                SandboxSpec(
                    order_id=_OWNER,
                    purpose="proof",
                    tree=checkout.tree,
                    git_directories=checkout.git_directories,
                    shown=ready.shown,
                    layers=ready.mounts,
                    env=ready.env,
                    path=ready.path,
                    limits=self.limits,
                )
            )
            try:
                environment = ready.environment
                await start_services(sandbox, environment.start, environment.env, workdir=environment.workdir)
                yield sandbox
            finally:
                await sandbox.cleanup()


def compare_checks(recorded: Sequence[CheckFacts], again: Sequence[CheckResult]) -> list[ReplayedCheck]:
    """The exit code and the numbers of tests decide; how long it took and what it printed may differ."""
    return [
        ReplayedCheck(
            name=then.name,
            recorded=_words(then.exit_code, then.tests),
            again=_words(now.exit_code, _counts(now)),
            is_same=(then.exit_code, then.tests) == (now.exit_code, _counts(now)),
        )
        for then, now in zip(recorded, again, strict=True)
    ]


def _counts(result: CheckResult) -> dict[str, int] | None:
    return asdict(result.counts) if result.counts else None


def _words(exit_code: int | None, tests: dict[str, int] | None) -> str:
    ended = "did not end" if exit_code is None else f"exit code {exit_code}"
    counted = ", ".join(f"{tests[word]} {word}" for word in ("passed", "failed", "skipped")) if tests else ""
    return f"{ended}, {counted}" if counted else ended


def _check(facts: CheckFacts) -> Check:
    return Check(
        name=facts.name,
        kind=facts.kind,
        command=facts.command,
        workdir=facts.workdir,
        tool=facts.name,
        why="the evidence",
        probe="true",
    )


async def _code(mirror: Mirror, base: str, commit: str, planned: Planned, head: Planned) -> CodeUnderTest:
    changed = await mirror.changed_paths(base, commit)
    diff = await mirror.diff(base, commit, context_lines=0)
    return code_under_test(planned.project, head.project, changed=changed, diff=diff)


async def _ignore(event: Event) -> None:
    """The events of a set-up are for an order's readers, and here is no order."""
