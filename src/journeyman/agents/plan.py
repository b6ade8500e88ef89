"""A plan: what a planning agent hands back as a value instead of prose."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def in_one_line(text: Any) -> Any:
    # A title becomes the first line of a commit: a line break in it could forge a trailer.
    return " ".join(text.split()) if isinstance(text, str) else text


class Subtask(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    title: Annotated[str, BeforeValidator(in_one_line)] = Field(
        min_length=1, max_length=200, description="What is done, in one line."
    )
    instructions: str = Field(
        min_length=1, description="What to change, in which files, and how to tell that it works."
    )


class Plan(BaseModel):
    """The subtasks are carried out in order, each by an agent that sees this plan and the files."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reasoning: str = Field(min_length=1, description="What was found, and why the work is cut like this.")
    subtasks: list[Subtask] = Field(min_length=1, max_length=12)


def as_markdown(plan: Plan, task: str) -> str:
    quoted = "\n".join(f"> {line}".rstrip() for line in task.strip().splitlines())
    subtasks = "\n\n".join(
        f"### {number}. {subtask.title}\n\n{subtask.instructions.strip()}"
        for number, subtask in enumerate(plan.subtasks, start=1)
    )
    return f"# Plan\n\n{quoted}\n\n## Reasoning\n\n{plan.reasoning.strip()}\n\n## Subtasks\n\n{subtasks}\n"
