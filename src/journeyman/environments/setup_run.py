"""The install commands of one set-up, run one after another until one of them fails."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

from journeyman.access.redaction import Redactor
from journeyman.environments.plan import InstallCommand
from journeyman.environments.setup_problems import RefusedHost, SetupProblem, problem_of
from journeyman.events.types.environments import EnvironmentCommandCompleted
from journeyman.sandboxes.base import Completed, Sandbox

_OUTPUT_LINES = 40
_OUTPUT_CHARACTERS = 4000


class SetupRun:
    def __init__(
        self,
        sandbox: Sandbox,
        emit: Callable[[EnvironmentCommandCompleted], Awaitable[None]],
        secrets: Mapping[str, str],
        seconds: float,
    ) -> None:
        self.problem: SetupProblem | None = None
        self.notes: list[str] = []
        """What optional commands could not do."""
        self._sandbox = sandbox
        self._emit = emit
        self._secrets = secrets
        self._redactor = Redactor(secrets.values())
        self._ends_at = time.monotonic() + seconds

    async def execute(
        self, command: InstallCommand, variables: Mapping[str, str], denied: Sequence[RefusedHost]
    ) -> None:
        before = len(denied)
        done = await self._sandbox.execute_command(
            command.command,
            timeout=max(0.0, self._ends_at - time.monotonic()),
            cwd=command.workdir,
            env={**variables, **self._secrets},
        )
        output = self._redactor.redact(done.output)
        await self._emit(
            EnvironmentCommandCompleted(
                command=command.command,
                exit_code=done.exit_code,
                duration_seconds=round(done.duration_seconds, 3),
                output=_end_of(output),
            )
        )
        if done.ok:
            return
        redacted = Completed(done.exit_code, output, timed_out=done.timed_out)
        problem = problem_of(command.command, redacted, denied[before:])
        if command.is_optional and not done.timed_out:
            self.notes.append(f"`{command.command}` failed, and the set-up went on: {problem.reason}")
        else:
            self.problem = problem


def _end_of(output: str) -> str:
    lines = output.splitlines()[-_OUTPUT_LINES:]
    return "\n".join(lines)[-_OUTPUT_CHARACTERS:]
