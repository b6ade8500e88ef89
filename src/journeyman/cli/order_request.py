"""What `jm run` and `jm submit` ask for: one value, whose fields are the options of both commands."""

import inspect
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from journeyman.errors import InvalidInput

AgentOption = Annotated[str | None, typer.Option("--agent", help="See `jm agents`.")]
ModelOption = Annotated[str | None, typer.Option("--model", help="As provider/model; see `jm models`.")]
BudgetOption = Annotated[float | None, typer.Option("--budget", min=0, help="US dollars that may be spent.")]


@dataclass(frozen=True)
class OrderRequest:
    """A new order; what is None is left to the server."""

    task: Annotated[
        str | None, typer.Argument(metavar="TASK", help="What is wanted; - reads it from stdin.")
    ] = None
    repository: Annotated[str, typer.Option("--repository", "-r", help="An address, or a directory.")] = "."
    workflow: Annotated[str | None, typer.Option("--workflow", help="See `jm workflows`.")] = None
    agent: AgentOption = None
    model: ModelOption = None
    sandbox: Annotated[str | None, typer.Option("--sandbox", help="git_worktree or git_branch.")] = None
    budget: BudgetOption = None
    branch: Annotated[
        str | None, typer.Option("--branch", help="Name of the branch; made up when left out.")
    ] = None
    base: Annotated[
        str | None, typer.Option("--base", help="Branch to start from; else the default one.")
    ] = None
    issue: Annotated[
        int | None, typer.Option("--issue", min=1, help="GitHub issue that says what is wanted.")
    ] = None
    priority: Annotated[int | None, typer.Option("--priority", min=0, max=9, help="9 goes first.")] = None

    def body(self) -> dict[str, Any]:
        """The body of the HTTP request."""
        task = sys.stdin.read() if self.task == "-" else self.task
        if not task and self.issue is None:
            raise InvalidInput("there is no task", hint='Say what is wanted: jm run "Fix the failing test".')
        given = {
            "repository_url": repository_address(self.repository),
            "initial_prompt": task,
            "workflow_type": self.workflow,
            "agent": self.agent,
            "model": self.model,
            "sandbox_type": self.sandbox,
            "budget_usd": self.budget,
            "git_branch_name": self.branch,
            "base_branch": self.base,
            "github_issue_number": None if self.issue is None else str(self.issue),
            "priority": self.priority,
        }
        return {name: value for name, value in given.items() if value is not None}


def takes_request(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of an OrderRequest, which becomes its first argument.

    Typer reads options from a function's signature, so the signature is put together from the fields.
    """
    hints = get_type_hints(OrderRequest, include_extras=True)
    own = list(inspect.signature(command).parameters.values())[1:]
    names = [field.name for field in fields(OrderRequest)]

    @wraps(command)
    def with_request(**options: Any) -> None:
        command(OrderRequest(**{name: options.pop(name) for name in names}), **options)

    of_request = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(OrderRequest)
    ]
    parameters = [*of_request, *(one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own)]
    with_request.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_request.__annotations__ = {one.name: one.annotation for one in parameters}
    del with_request.__wrapped__  # else Typer reads the annotations of that one
    return with_request


def repository_address(text: str) -> str:
    """An address as it is; a directory as the absolute path of the repository around it."""
    if "://" in text:
        return text
    path = Path(text).expanduser()
    if not path.is_dir():
        return text
    found = subprocess.run(
        ["git", "-C", str(path), "rev-parse", "--show-toplevel"], capture_output=True, text=True, check=False
    )
    # A bare repository has no top-level directory and is named by its own path.
    return found.stdout.removesuffix("\n") if found.returncode == 0 else str(path.resolve())
