"""The verbs: what a step of each kind does."""

from collections.abc import Awaitable, Callable, Mapping

from pydantic import BaseModel

from journeyman.steps import (
    answer,
    build,
    check_environment,
    explore,
    open_pull_request,
    plan,
    review,
    shell,
    verify,
    write_environment,
)
from journeyman.steps.context import StepContext

Verb = Callable[[StepContext], Awaitable[BaseModel]]

VERBS: Mapping[str, Verb] = {
    "explore": explore.run,
    "plan": plan.run,
    "build": build.run,
    "verify": verify.run,
    "review": review.run,
    "open_pull_request": open_pull_request.run,
    "shell": shell.run,
    "answer": answer.run,
    "check_environment": check_environment.run,
    "write_environment": write_environment.run,
}
"""A step's kind, as workflows name it, and the verb that carries it out."""
