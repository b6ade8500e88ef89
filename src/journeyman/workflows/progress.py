"""What may happen next in a round: a pure decision.

The engine calls `next_moves` after every change; because the result depends only on its arguments, a
replay after a crash takes the same road. A move that is under way is not done: it is returned again, and
the caller leaves out what it has already started.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from journeyman.errors import Category, InvalidWorkflow
from journeyman.workflows.conditions import holds
from journeyman.workflows.graph import upstream_of
from journeyman.workflows.schema import StepSpec, Workflow


@dataclass(frozen=True)
class Done:
    """How a step ended in this round."""

    status: Literal["completed", "failed", "skipped", "awaiting_approval", "outdated"]
    """`outdated`: people's commits came in after the checks that it relies on."""
    output: Mapping[str, Any] = field(default_factory=dict)
    kind: str = ""
    error_message: str = ""
    error_category: Category = "internal"
    hint: str = ""
    retry_after: float | None = None
    """Seconds after which what failed may work again, when that is known."""


@dataclass(frozen=True)
class Run:
    step: StepSpec


@dataclass(frozen=True)
class Skip:
    step: StepSpec
    reason: str


@dataclass(frozen=True)
class Fail:
    """The step cannot even be begun: its condition has no answer."""

    step: StepSpec
    message: str
    hint: str = ""


Move = Run | Skip | Fail


def next_moves(workflow: Workflow, done: Mapping[str, Done], order: Mapping[str, Any]) -> tuple[Move, ...]:
    """Every step that is free to move, in the order of the definition; empty when the round is over."""
    if stopped_by(workflow, done):
        return ()
    return tuple(
        _move(step, done, order)
        for step in workflow.steps
        if step.name not in done and all(needed in done for needed in step.depends_on)
    )


def stopped_by(workflow: Workflow, done: Mapping[str, Done]) -> StepSpec | None:
    """The failed step that ends the round, if there is one."""
    for step in workflow.steps:
        if step.on_failure == "stop" and step.name in done and done[step.name].status == "failed":
            return step
    return None


def to_repeat(workflow: Workflow, done: Mapping[str, Done]) -> frozenset[str]:
    """The steps to do again where one found its checks outdated: every check, and all that comes after it."""
    if not any(end.status == "outdated" for end in done.values()):
        return frozenset()
    again = {name for name, end in done.items() if end.kind == "verify" or end.status == "outdated"}
    needs = {step.name: step.depends_on for step in workflow.steps}
    return frozenset(name for name in done if again & {name, *upstream_of(name, needs)})


def context_of(done: Mapping[str, Done], order: Mapping[str, Any]) -> dict[str, Any]:
    """What conditions and templates can see."""
    steps = {name: {"status": step.status, "output": dict(step.output)} for name, step in done.items()}
    return {"steps": steps, "order": dict(order)}


def _move(step: StepSpec, done: Mapping[str, Done], order: Mapping[str, Any]) -> Move:
    if step.condition is None:
        return Run(step)
    try:
        wanted = holds(step.condition, context_of(done, order))
    except InvalidWorkflow as error:
        return Fail(step, error.message, error.hint)
    return Run(step) if wanted else Skip(step, f"the condition `{step.condition}` is false")
