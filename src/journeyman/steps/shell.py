"""Run a command of the workflow in the sandbox.

What the command leaves changed is committed. When the last line of its output is a JSON object, its
fields become the step's output, for templates and conditions of later steps.

Safe to repeat because a command can reach nothing outside the sandbox, and its commit holds only what
is not committed yet.
"""

import json
from typing import Any

from pydantic import BaseModel, ConfigDict

from journeyman.steps.bench import Bench, StepBroken
from journeyman.workflows.templates import render_command

_OUTPUT_KEPT = 20_000


class ShellOutput(BaseModel):
    model_config = ConfigDict(extra="allow")

    exit_code: int | None
    output: str


async def run(bench: Bench) -> ShellOutput:
    command = render_command(bench.spec.command or "", bench.context)
    sandbox = await bench.open_sandbox(True)
    completed = await sandbox.execute_command(
        command, timeout=bench.spec.timeout or bench.settings.sandbox_command_timeout_seconds
    )
    async with bench.workspace_lock:
        await bench.commit(bench.order.current_phase or "implementing", f"Run {bench.spec.name}")
    text = completed.output[-_OUTPUT_KEPT:]
    output = ShellOutput(exit_code=completed.exit_code, output=text, **_fields(text))
    if completed.timed_out:
        raise StepBroken("the command did not end in time", output, hint="Give the step a longer `timeout`.")
    if completed.exit_code != 0:
        raise StepBroken(
            f"the command ended with exit code {completed.exit_code}: {_last_line(text)}",
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
