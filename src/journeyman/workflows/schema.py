"""A workflow as a value: a named, versioned DAG of steps.

What a single step can get wrong is refused here, wherever the value came from. What only the whole
can get wrong (names, cycles, references) is the loader's, because only it knows the lines.
"""

import re
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

StepKind = Literal[
    "explore",
    "plan",
    "build",
    "verify",
    "review",
    "open_pull_request",
    "shell",
    "answer",
    "check_environment",
    "write_environment",
]

_UNITS = {"s": 1, "m": 60, "h": 3600}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smh])")
MAX_STEPS = 100
MAX_COMMANDS = 50
MAX_TIMEOUT_SECONDS = 7 * 24 * 3600


def _seconds(value: object) -> object:
    """`90`, `"90s"`, `"10m"` or `"2h"` as seconds."""
    if isinstance(value, str) and (match := _DURATION.fullmatch(value.strip())):
        return float(match[1]) * _UNITS[match[2]]
    if isinstance(value, bool) or not isinstance(value, int | float | None):
        raise PydanticCustomError(
            "duration", "should be a number of seconds, or a text such as '90s', '10m' or '2h'"
        )
    return value


StepName = Annotated[
    str,
    StringConstraints(strict=True, pattern=r"^[a-z][a-z0-9_-]{0,63}$"),
]
Seconds = Annotated[
    float, BeforeValidator(_seconds), Field(gt=0, le=MAX_TIMEOUT_SECONDS, allow_inf_nan=False)
]


CheckName = Annotated[str, StringConstraints(strict=True, pattern=r"^[^\s\x00-\x1f][^\x00-\x1f]{0,63}$")]
CheckCommand = Annotated[str, Field(strict=True, min_length=1, max_length=20_000)]


class StepSpec(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: StepName
    kind: StepKind
    depends_on: tuple[StepName, ...] = ()
    condition: Annotated[str, Field(strict=True, max_length=2_000)] | None = None
    """A CEL expression over what ran before; false means the step is skipped."""
    prompt: Annotated[str, Field(strict=True, min_length=1, max_length=20_000)] | None = None
    """For explore, plan, build and review: a template that takes the place of the order's task."""
    agent: Annotated[str, Field(strict=True, min_length=1, max_length=64)] | None = None
    """For steps that let an agent work: who takes the place of the order's agent."""
    model: Annotated[str, Field(strict=True, min_length=1, max_length=200)] | None = None
    """For steps that let an agent work: what takes the place of the order's model."""
    command: Annotated[str, Field(strict=True, min_length=1, max_length=20_000)] | None = None
    """For shell: a template whose values arrive as literal text, whatever they hold."""
    commands: Annotated[dict[CheckName, CheckCommand | None], Field(max_length=MAX_COMMANDS)] | None = None
    """For verify: what takes the place of the checks of these names or kinds; null leaves one out."""
    on_failure: Literal["stop", "continue"] = "stop"
    requires_approval: Annotated[bool, Field(strict=True)] = False
    """The step is begun when a person has agreed to what the branch holds then."""
    retries: Annotated[int, Field(strict=True, ge=0, le=10)] = 0
    timeout: Seconds | None = None

    @model_validator(mode="after")
    def _fields_fit_the_kind(self) -> Self:
        if self.kind == "shell" and self.command is None:
            raise PydanticCustomError("fit", "a shell step needs 'command'")
        if self.kind != "shell" and self.command is not None:
            raise PydanticCustomError("fit", "'command' belongs to shell steps only")
        if self.kind != "verify" and self.commands is not None:
            raise PydanticCustomError("fit", "'commands' belongs to verify steps only")
        if self.kind not in ("explore", "plan", "build", "review") and self.prompt is not None:
            raise PydanticCustomError("fit", "'prompt' belongs to explore, plan, build and review steps only")
        if self.kind in ("shell", "open_pull_request", "write_environment") and (self.agent or self.model):
            raise PydanticCustomError("fit", "'agent' and 'model' belong to steps that let an agent work")
        return self


class Workflow(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: StepName
    version: Annotated[int, Field(strict=True, ge=1)] = 1
    description: Annotated[str, Field(strict=True, max_length=2_000)] = ""
    steps: Annotated[tuple[StepSpec, ...], Field(min_length=1, max_length=MAX_STEPS)]
