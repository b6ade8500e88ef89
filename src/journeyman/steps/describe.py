"""Say in a pull request and on an issue what was done, and what shows it.

Everything that an agent, a repository or a user wrote goes through `plain`, so that it reads as text
and mentions nobody. Safe to repeat because it only makes text.
"""

from collections.abc import Sequence

from journeyman.agents.plan import Plan
from journeyman.events.types import GitFilesLeftOut
from journeyman.forges.body import sanitize
from journeyman.steps.describe_verification import cell, verification_section
from journeyman.work_orders.order import Evidence, StepRecord, WorkOrder

_SUMMARY_CHARACTERS = 2000


def pull_request_body(
    order: WorkOrder,
    steps: Sequence[StepRecord],
    evidence: Sequence[Evidence],
    *,
    left_out: GitFilesLeftOut | None = None,
) -> str:
    """`steps` are those of all rounds, oldest first."""
    plan, summaries = _newest_plan(steps), _summaries(steps)
    parts = [
        "## What changed\n\n"
        f"{_counted(order.git_commit_count, 'commit')}, {_counted(order.git_files_changed, 'file')}, "
        f"+{order.git_lines_added} −{order.git_lines_removed} lines.",
        *([f"In the agent's words:\n\n{summaries}"] if summaries else []),
        f"## Verification\n\n{verification_section(order, evidence)}",
        f"<details><summary>Task</summary>\n\n{_quoted(order.initial_prompt)}\n\n</details>",
    ]
    if left_out is not None and left_out.files:
        parts.append(f"## Not in this pull request\n\n{_left_out(left_out)}")
    if plan is not None:
        subtasks = "\n".join(f"{n}. {sanitize(s.title)}" for n, s in enumerate(plan.subtasks, start=1))
        parts.append(
            f"<details><summary>Plan</summary>\n\n{sanitize(plan.reasoning)}\n\n{subtasks}\n\n</details>"
        )
    if order.github_issue_number:
        parts.append(f"Closes #{order.github_issue_number}")
    cost = "unknown" if order.cost_usd is None else f"${order.cost_usd:.2f}"
    parts.append(
        f"<sub>Work order `{order.agent_work_order_id}` · workflow `{order.workflow_type}` · "
        f"agent `{order.agent}` · model `{sanitize(order.model)}` · cost {cost}</sub>"
    )
    return "\n\n".join(parts)


def _newest_plan(steps: Sequence[StepRecord]) -> Plan | None:
    made = [one.output for one in steps if one.kind == "plan" and one.status == "completed" and one.output]
    return Plan.model_validate({name: made[-1][name] for name in Plan.model_fields}) if made else None


def _summaries(steps: Sequence[StepRecord]) -> str:
    """What building agents said of their changes, round by round."""
    built = [one.output for one in steps if one.kind == "build" and one.status == "completed" and one.output]
    summaries = [str(one["summary"]).strip() for one in built if one.get("changed", True)]
    return "\n\n".join(_quoted(text, _SUMMARY_CHARACTERS) for text in summaries if text)


def issue_comment(order: WorkOrder, pull_request_url: str) -> str:
    result = {"passed": "its checks passed", "failed": "its checks did not pass yet"}.get(
        order.verification, "it has not been verified"
    )
    return f"Work order `{order.agent_work_order_id}` proposes {pull_request_url}; {result}."


def _left_out(left_out: GitFilesLeftOut) -> str:
    rows = [f"| {cell(one.path)} | {one.size:,} | {cell(one.reason)} |" for one in left_out.files]
    more = left_out.count - len(left_out.files)
    rows += [f"| and {more:,} more | | |"] if more else []
    return "\n".join(["| file | bytes | why |", "| --- | ---: | --- |", *rows])


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _quoted(text: str, most: int = 4000) -> str:
    cut = text if len(text) <= most else text[:most] + " …"
    return "\n".join(f"> {line}" for line in sanitize(cut).splitlines())
