"""The verbs: what a step of each kind does."""

from collections.abc import Awaitable, Callable, Mapping

from pydantic import BaseModel

from journeyman.steps import answer, build, explore, open_pull_request, plan, review, shell, verify
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
}
"""A step's kind, as workflows name it, and the verb that carries it out."""
