"""Agents' roles, and the prompts that begin their turns.

Instructions and prompts are Markdown files under `prompts/`. The texts put into a prompt are the
user's or the repository's: they are filled in as they are and never read as a template.
"""

from collections.abc import Sequence
from pathlib import Path

from journeyman.agents.base import Role
from journeyman.agents.plan import Plan
from journeyman.settings import RoleName, Settings
from journeyman.workflows.schema import StepKind, StepSpec

_PROMPTS = Path(__file__).parent / "prompts"


def _text(name: str) -> str:
    return (_PROMPTS / f"{name}.md").read_text(encoding="utf-8")


_ENVIRONMENT = _text("environment")
_TASK = _text("task")
_SUBTASK = _text("subtask")
_FIX = _text("fix")
_QUESTION = _text("question")
_FOLLOW_UP = _text("follow_up")
_REWORK = _text("rework")
_SUMMARY = _text("summary")
_REBASE_CONFLICT = _text("rebase_conflict")
_EXPLORATION = _text("exploration")
_CHANGE = _text("change")
_DEFINITION = _text("definition")


def _role(name: RoleName, *, may_write: bool) -> Role:
    return Role(name, f"{_text(name)}\n{_ENVIRONMENT}", may_write=may_write)


ROLES: dict[RoleName, Role] = {
    "explore": _role("explore", may_write=False),
    "plan": _role("plan", may_write=False),
    "build": _role("build", may_write=True),
    "debug": _role("debug", may_write=True),
    "review": _role("review", may_write=False),
    "answer": _role("answer", may_write=False),
}
ROLES_OF: dict[StepKind, tuple[RoleName, ...]] = {
    "explore": ("explore",),
    "plan": ("plan",),
    "build": ("build",),
    "verify": ("build", "debug"),
    "review": ("review",),
    "answer": ("answer",),
}
"""The roles that an agent may have in a step of each kind."""


def model_for(role: RoleName, settings: Settings, spec: StepSpec, order_model: str) -> str:
    """The model of an agent: the step's own, else the order's.

    Where the order's is only the default of this installation, the role's own setting comes first.
    """
    chosen = settings.role_models.get(role) if order_model == settings.model else None
    return spec.model or chosen or order_model


def exploring_prompt(task: str) -> str:
    return _EXPLORATION.format(task=task)


def planning_prompt(task: str, found: Sequence[str] = ()) -> str:
    """The prompt to plan a task, with what was found out before."""
    explorations = "\n\n".join(f"<exploration>\n{summary}\n</exploration>" for summary in found)
    return "\n".join(part for part in (_TASK.format(task=task), explorations) if part)


def reviewing_prompt(task: str, base_commit_sha: str) -> str:
    return _CHANGE.format(task=task, base=base_commit_sha)


def environment_prompt(detected: str) -> str:
    """Asks for the definition of the repository's environment, given what was detected."""
    return _DEFINITION.format(detected=detected)


def subtask_prompt(task: str, plan: Plan, number: int) -> str:
    """The prompt for one subtask, counted from 1."""
    subtask = plan.subtasks[number - 1]
    return _SUBTASK.format(
        task=task,
        reasoning=plan.reasoning,
        overview="\n".join(f"{place}. {each.title}" for place, each in enumerate(plan.subtasks, start=1)),
        number=number,
        total=len(plan.subtasks),
        title=subtask.title,
        instructions=subtask.instructions,
    )


def fixing_prompt(task: str, failing: str, attempt: int = 1) -> str:
    """The prompt after checks failed; `attempt` counts the repairs of this round."""
    return _FIX.format(task=task, failing=failing, attempt=attempt)


def question_prompt(question: str, task: str) -> str:
    return _QUESTION.format(question=question, task=task)


def follow_up_task(prompt: str, task: str) -> str:
    """A later prompt as a task of its own, with where it comes from."""
    return _FOLLOW_UP.format(prompt=prompt, task=task)


def rework_task(task: str, comments: Sequence[str]) -> str:
    """A task that was done once, with what a person wants otherwise."""
    return _REWORK.format(task=task, comments="\n\n".join(comments))


def summary_prompt(task: str, transcript: str) -> str:
    """Asks the model to summarize what it did, so that it can continue from the summary."""
    return _SUMMARY.format(task=task, transcript=transcript)


def rebase_conflict_task(task: str, diff: str) -> str:
    """A task on a branch that holds what people pushed, with the order's own changes that conflicted."""
    return _REBASE_CONFLICT.format(task=task, diff=diff)
