"""Push the order's branch and open its draft pull request, or bring the one there is up to date.

What people pushed meanwhile is taken in first, and nothing is pushed that the round's checks did not see
because of it. Safe to repeat because a head that is pushed already is not pushed again, and a pull request
of this branch, open or closed, is returned instead of a second one.
"""

from pydantic import BaseModel

from journeyman.events.types import (
    AgentNotice,
    GithubIssueCommented,
    GithubPullRequestCreated,
    GithubPullRequestUpdated,
    GitPushCompleted,
)
from journeyman.failpoints import failpoint
from journeyman.forges.base import PullRequest
from journeyman.forges.pull_request_state import check_still_open, note_state
from journeyman.git.progress import is_record
from journeyman.git.push import BranchMoved
from journeyman.git.rebase import has_foreign_commits
from journeyman.steps.context import ChecksOutdated, StepContext
from journeyman.steps.describe import issue_comment, pull_request_body
from journeyman.steps.rebase import rebase_onto_pushed
from journeyman.verification.records import EVIDENCE_FILE, RESULTS_FILE

_MOST_TRIES = 5
"""People who push faster than this are left to finish first."""


class PullRequestOutput(BaseModel):
    github_pull_request_url: str | None
    number: int | None
    commit_sha: str
    note: str = ""


async def run(context: StepContext) -> PullRequestOutput:
    head = await context.workspace.head()
    if await _changed_nothing(context, head):
        note = "Nothing is changed so far, so there is nothing to propose and no pull request."
        await context.emit(AgentNotice(step=context.spec.name, text=note))
        return PullRequestOutput(github_pull_request_url=None, number=None, commit_sha=head, note=note)
    head = await _push(context)
    pull_request = await _open_or_update(context)
    if context.order.github_issue_number:
        await _comment(context, pull_request)
    return PullRequestOutput(
        github_pull_request_url=pull_request.url,
        number=pull_request.number,
        commit_sha=head,
        note=""
        if pull_request.state == "open"
        else f"The pull request is {pull_request.state}; it stays so.",
    )


async def _changed_nothing(context: StepContext, head: str) -> bool:
    """Whether there is nothing to propose but test results; a plan is worth one."""
    if head == context.workspace.base_commit_sha:
        return True
    if context.order.pushed_commit_sha is not None:
        return False
    paths = await context.workspace.mirror.changed_paths(context.workspace.base_commit_sha, head)
    return all(is_record(path) and path.endswith((f"/{RESULTS_FILE}", f"/{EVIDENCE_FILE}")) for path in paths)


async def _push(context: StepContext) -> str:
    tries = 1
    while True:
        order, head = await context.orders.get(context.order_id), await context.workspace.head()
        if order.pushed_commit_sha != head:
            await check_still_open(context.orders, context.forge, context.repository, order)
        await _check_the_checks(context, head)
        try:
            await context.workspace.push(
                await context.remote(), expected_sha=order.pushed_commit_sha, commit_sha=head
            )
        except BranchMoved:
            async with context.write_access.lock:
                if tries == _MOST_TRIES or await rebase_onto_pushed(context) is None:
                    raise
            tries += 1
            continue
        if order.pushed_commit_sha != head:
            pushed = GitPushCompleted(git_branch_name=order.git_branch_name, commit_sha=head)
            await context.orders.change(context.order_id, pushed, pushed_commit_sha=head)
            failpoint("push_recorded")
        return head


async def _check_the_checks(context: StepContext, head: str) -> None:
    """Raise ChecksOutdated where people's commits came in after the round's checks."""
    checked = [
        done.output["commit_sha"]
        for done in context.given.done.values()
        if done.kind == "verify" and done.status == "completed"
    ]
    if checked and await has_foreign_commits(context.workspace, checked[-1], head):
        raise ChecksOutdated("commits of people came in after the checks", hint="The checks run again.")


async def _open_or_update(context: StepContext) -> PullRequest:
    order = await context.orders.get(context.order_id)
    body = pull_request_body(
        order,
        await context.orders.steps.of_order(context.order_id),
        await context.orders.evidence.of_order(context.order_id),
        left_out=await context.recorder.files_left_out(),
    )
    await context.orders.check_held(context.order_id)
    failpoint("pull_request_sent")
    pull_request = await context.forge.open_pull_request(
        context.repository,
        branch=order.git_branch_name,
        base=order.base_branch or "",
        title=order.title,
        body=body,
    )
    failpoint("pull_request_answered")
    if order.github_pull_request_number is None:
        created = GithubPullRequestCreated(
            github_pull_request_url=pull_request.url, number=pull_request.number, draft=pull_request.draft
        )
        await note_state(
            context.orders,
            order,
            pull_request,
            created,
            github_pull_request_url=pull_request.url,
            github_pull_request_number=pull_request.number,
        )
        failpoint("pull_request_recorded")
    else:
        await note_state(context.orders, order, pull_request)
    if pull_request.state != "open" or pull_request.was_created:
        return pull_request
    pull_request = await context.forge.update_pull_request(context.repository, pull_request.number, body=body)
    await context.emit(
        GithubPullRequestUpdated(
            github_pull_request_url=pull_request.url, number=pull_request.number, draft=pull_request.draft
        )
    )
    return pull_request


async def _comment(context: StepContext, pull_request: PullRequest) -> None:
    order = await context.orders.get(context.order_id)
    number = order.github_issue_number or ""
    url = await context.forge.comment_on_issue(
        context.repository,
        number,
        issue_comment(order, pull_request.url),
        marker=f"<!-- journeyman:order={order.agent_work_order_id} -->",
    )
    await context.emit(GithubIssueCommented(github_issue_number=number, url=url))
