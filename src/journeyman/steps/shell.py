"""Run a command of the workflow in the sandbox.

What a command that succeeds leaves changed is committed. One that fails leaves nothing on the branch,
unless the round goes on after it: its files are set aside by the next writer. When the last line of the
output is a JSON object, its fields become the step's output, for templates and conditions of later steps.

Safe to repeat because a command begins from the branch's head, can reach nothing outside the sandbox, and is
not run again once its commit is there: its result was saved before.
"""

import json
from typing import Any

from pydantic import BaseModel, ConfigDict

from journeyman.steps.context import StepBroken, StepContext
from journeyman.workflows.templates import render_command

_OUTPUT_KEPT = 20_000


class ShellOutput(BaseModel):
    model_config = ConfigDict(extra="allow")

    exit_code: int | None
    output: str


async def run(context: StepContext) -> ShellOutput:
    command = render_command(context.spec.command or "", context.given.variables)
    async with context.write_access.exclusive():
        if (earlier := await _committed(context)) is not None:
            return _judged(earlier)
        sandbox = await context.sandboxes.open(True)
        completed = await sandbox.execute_command(
            command, timeout=context.spec.timeout or context.settings.sandbox_command_timeout_seconds
        )
        text = completed.output[-_OUTPUT_KEPT:]
        output = ShellOutput(exit_code=completed.exit_code, output=text, **_fields(text))
        if completed.exit_code == 0 or _round_goes_on(context):
            await context.recorder.save_output(output)
            await context.recorder.commit(
                context.order.current_phase or "implementing", f"Run {context.spec.name}"
            )
    if completed.timed_out:
        raise StepBroken("the command did not end in time", output, hint="Give the step a longer `timeout`.")
    return _judged(output)


async def _committed(context: StepContext) -> ShellOutput | None:
    """The result of a command whose commit is there, though the step was cut off before it could end."""
    if context.given.saved_output is None:
        return None
    commit = await context.workspace.find_commit(
        step=context.spec.name, round=context.round, after=context.order.redo_after_sha
    )
    return None if commit is None else ShellOutput.model_validate(context.given.saved_output)


def _round_goes_on(context: StepContext) -> bool:
    """Whether later steps go on from what a failed command left: not if it is tried again."""
    return context.spec.on_failure == "continue" and context.given.attempt > context.spec.retries


def _judged(output: ShellOutput) -> ShellOutput:
    if output.exit_code != 0:
        raise StepBroken(
            f"the command ended with exit code {output.exit_code}: {_last_line(output.output)}",
            output,
            hint="See the step's output. With `on_failure: continue` later steps run all the same.",
        )
    return output


def _fields(output: str) -> dict[str, Any]:
    try:
        value = json.loads(_last_line(output))
    except ValueError:
        return {}
    if not isinstance(value, dict):
        return {}
    return {name: field for name, field in value.items() if name not in ShellOutput.model_fields}


def _last_line(output: str) -> str:
    return next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "")
