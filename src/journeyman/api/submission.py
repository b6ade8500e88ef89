"""Accept a work order: validate it, store it, and wake the worker.

Nothing is stored before every check has passed. A stored order is accepted: workers find it in the table,
whatever happens to this process.
"""

import unicodedata
from datetime import UTC, datetime

from journeyman.agents.base import Agent, check_provider
from journeyman.agents.roles import ROLES_OF, model_for
from journeyman.api.forge_limits import forge_deadline, in_time
from journeyman.api.models import NewWorkOrder
from journeyman.api.sandbox_types import check_sandbox_type
from journeyman.api.services import Services
from journeyman.environments.definition import parse_definition
from journeyman.errors import (
    AgentFailed,
    Conflict,
    InvalidInput,
    NotAllowed,
    NotFound,
    QueueFull,
    RateLimited,
    SandboxUnavailable,
    Transient,
)
from journeyman.events.types import AgentWorkOrderCreated, Event, GithubIssueRead
from journeyman.failpoints import failpoint
from journeyman.forges.base import Forge, Issue, RepositoryFacts
from journeyman.git.sample import is_sample_only, sample_path
from journeyman.work_orders.order import (
    UNFINISHED,
    WorkOrder,
    branch_name_of,
    check_branch_name,
    check_prompt,
    new_order_id,
    title_of,
)
from journeyman.work_orders.repositories import Repository, parse_repository
from journeyman.work_orders.repository_record import (
    ENVIRONMENT_CHECK,
    ENVIRONMENT_FILE,
    ENVIRONMENT_PATH,
)
from journeyman.work_orders.store import OrderFilter, WorkOrders
from journeyman.workflows.references import did_you_mean
from journeyman.workflows.schema import Workflow

_FULL_QUEUE_SECONDS = 15.0
"""The Retry-After of an order that was refused because the queue is full."""


async def submit(services: Services, request: NewWorkOrder, reserved_id: str | None = None) -> WorkOrder:
    """The new order. With an id that was reserved for it, the order that the same request created before."""
    if reserved_id is not None:
        try:
            return await services.orders.get(reserved_id)
        except NotFound:
            pass  # the request is carried out for the first time, or was cut off before it created anything
    await check_room(services)
    order, events = await _prepare(services, request, reserved_id or new_order_id())
    await check_room(services)  # many may have come while this one was looked at
    failpoint("order_accepted")
    try:
        await services.orders.create(order, *events)
    except Conflict:
        if reserved_id is None:
            raise
        # Another process carries out the same request.
        return await services.orders.get(order.agent_work_order_id)
    failpoint("row_written")
    services.control.wake()
    return order


async def check_room(services: Services) -> None:
    """Raise QueueFull when too many orders wait: one that is accepted should start before long."""
    most = services.settings.max_queued_orders
    if await services.orders.count_waiting() >= most:
        raise QueueFull(
            f"{most} orders wait already, and no more are taken in",
            hint="Try again later. More workers, or a higher JOURNEYMAN_MAX_CONCURRENT_ORDERS, shorten the "
            "queue; JOURNEYMAN_MAX_QUEUED_ORDERS says how long it may be.",
            retry_after=_FULL_QUEUE_SECONDS,
        )


async def _prepare(services: Services, request: NewWorkOrder, order_id: str) -> tuple[WorkOrder, list[Event]]:
    settings = services.settings
    repository = parse_repository(
        request.repository_url, github_url=settings.github_url, allow_local=settings.allow_local_repositories
    )
    prompt = _prompt(request)
    _check_definition(request.workflow_type, prompt)
    for branch in (request.git_branch_name, request.base_branch):
        if branch is not None:
            check_branch_name(branch)
    sandbox_type = check_sandbox_type(request.sandbox_type)
    workflow = services.workflows.get(request.workflow_type)
    agent = await ready_agent(services, request.agent)
    model = request.model or settings.model
    if any(step.kind in ROLES_OF for step in workflow.steps):  # else no agent works, and none is needed
        model = usable_model(services, request.model, agent)
        _check_demo(services, repository.url, model)
        await _check_steps(services, workflow, agent.name, model)
    await check_sandbox(services)
    issue = await _look_at_repository(services, request, repository)
    title = _title(request.workflow_type, prompt if issue is None else _plain(issue.title))
    now = datetime.now(UTC)
    order = WorkOrder(
        agent_work_order_id=order_id,
        repository_url=repository.url,
        sandbox_type=sandbox_type,
        workflow_type=request.workflow_type,
        workflow=workflow.model_dump(mode="json"),
        title=title,
        initial_prompt=prompt if issue is None else _task_of(issue, prompt),
        agent=agent.name,
        model=model,
        git_branch_name=request.git_branch_name or branch_name_of(title, order_id),
        base_branch=request.base_branch,
        github_issue_number=request.github_issue_number,
        budget_usd=request.budget_usd,
        priority=request.priority,
        created_at=now,
        updated_at=now,
    )
    return order, _events(order, issue)


async def check_choices(
    services: Services, order: WorkOrder, *, agent: str | None = None, model: str | None = None
) -> None:
    """Raise the error that a new order like this one, with another agent or model, would be refused with."""
    if agent is None and model is None:
        return
    chosen = await ready_agent(services, agent or order.agent)
    name = usable_model(services, model or order.model, chosen)
    _check_demo(services, order.repository_url, name)
    await _check_steps(services, Workflow.model_validate(order.current_workflow), chosen.name, name)


def created_event(order: WorkOrder) -> AgentWorkOrderCreated:
    return AgentWorkOrderCreated(
        repository_url=order.repository_url,
        workflow_type=order.workflow_type,
        sandbox_type=order.sandbox_type,
        agent=order.agent,
        model=order.model,
        title=order.title,
    )


def _events(order: WorkOrder, issue: Issue | None) -> list[Event]:
    created = created_event(order)
    if issue is None:
        return [created]
    return [created, GithubIssueRead(github_issue_number=issue.number, title=_plain(issue.title))]


def _prompt(request: NewWorkOrder) -> str:
    prompt = check_prompt(request.initial_prompt or "").strip()
    if not prompt and request.github_issue_number is None:
        raise InvalidInput(
            "the order has no task", hint="Give initial_prompt, github_issue_number, or both of them."
        )
    return prompt


def _check_definition(workflow_type: str, prompt: str) -> None:
    """Refuse orders about an environment that could only fail."""
    if workflow_type == ENVIRONMENT_CHECK:
        raise InvalidInput(
            "an environment is checked by asking its repository, not by an order of one's own",
            hint="Ask with POST /api/repositories/{repository_id}/environment/check.",
        )
    if workflow_type == ENVIRONMENT_FILE:
        parse_definition(prompt, source=ENVIRONMENT_PATH)


def _title(workflow_type: str, text: str) -> str:
    return "Describe the environment" if workflow_type == ENVIRONMENT_FILE else title_of(text)


async def ready_agent(services: Services, name: str | None) -> Agent:
    name = name or next(iter(services.agents))
    if name not in services.agents:
        hint = did_you_mean(name, services.agents) or f"There are {', '.join(services.agents)}."
        raise InvalidInput(f"there is no agent {name!r}", hint=hint)
    readiness = await services.agents[name].readiness()
    if not readiness.ready:
        raise AgentFailed(f"the agent {name} cannot be used here", hint=readiness.needs)
    return services.agents[name]


async def _check_steps(services: Services, workflow: Workflow, agent: str, model: str) -> None:
    """An agent or model that a step names must exist and fit, as those of the order must."""
    for step in workflow.steps:
        roles = ROLES_OF.get(step.kind, ())
        models = {model_for(role, services.settings, step, model) for role in roles}
        if step.agent or models - {model}:
            chosen = await ready_agent(services, step.agent or agent)
            for name in models:
                usable_model(services, name, chosen)


def usable_model(services: Services, name: str | None, agent: Agent) -> str:
    name = name or services.settings.model
    if not name:
        raise InvalidInput(
            "the order names no model, and the server has no default",
            hint="Choose a model. In a terminal, give --model or set JOURNEYMAN_MODEL, as provider/model; "
            "`jm demo` shows an order at work without a key.",
        )
    check_provider(agent.name, name, agent.about.providers)
    services.models.gateway.check_model(name)
    return name


def _check_demo(services: Services, repository_url: str, model: str) -> None:
    """The demo's recorded model fits the sample repository only; on another one its plan fails."""
    settings = services.settings
    sample = sample_path(settings.home).resolve().as_uri()
    if is_sample_only(model, settings.scripts) and repository_url != sample:
        raise InvalidInput(
            f"{model} is a recorded demo: it can only work on the sample repository",
            hint="Choose a model of a provider whose key is set. Keys are ANTHROPIC_API_KEY, OPENAI_API_KEY "
            "and GEMINI_API_KEY, in the server's environment or in journeyman.toml.",
        )


async def check_sandbox(services: Services) -> None:
    readiness = await services.host.sandboxes.readiness()
    if not readiness.ready:
        raise SandboxUnavailable("no sandbox can be opened on this machine", hint=readiness.needs)


async def _look_at_repository(
    services: Services, request: NewWorkOrder, repository: Repository
) -> Issue | None:
    """The issue that the order names, if it does; an error where the repository refuses the order."""
    forge, deadline = services.forges[repository.forge], forge_deadline()
    facts = await in_time(forge.verify(repository), repository, deadline)
    check_may_push(repository, facts)
    if request.git_branch_name in (facts.default_branch, request.base_branch or facts.default_branch):
        raise InvalidInput(
            f"git_branch_name is {request.git_branch_name!r}, which the work starts from",
            hint="Leave it out, or name a branch of its own: the pull request goes from it to the base.",
        )
    issue = None
    if request.github_issue_number is not None:
        reading = forge.read_issue(repository, request.github_issue_number)
        issue = await in_time(reading, repository, deadline)
    if request.git_branch_name is not None:
        await _check_no_order_has(services.orders, repository, request.git_branch_name)
    await _check_branches(forge, repository, request, deadline)
    return issue


def check_may_push(repository: Repository, facts: RepositoryFacts) -> None:
    if not facts.can_push:
        needed = {
            "github": "Set GITHUB_TOKEN to a token that may write contents and pull requests there.",
            "local": "Let the user that runs the server write to the repository.",
        }
        raise NotAllowed(f"{repository.url} can be read but not pushed to", hint=needed[repository.forge])


async def _check_branches(
    forge: Forge, repository: Repository, request: NewWorkOrder, deadline: float
) -> None:
    """Refuse a base that is not there and a branch that is.

    A forge that cannot answer this now refuses no order: the worker makes the same check.
    """
    base, branch = request.base_branch, request.git_branch_name
    asked = [name for name in (base, branch) if name is not None]
    if not asked:
        return
    try:
        existing = await in_time(forge.existing_branches(repository, asked), repository, deadline)
    except (Transient, RateLimited):
        return
    if base is not None and base not in existing:
        raise InvalidInput(
            f"{repository.url} has no branch {base!r} to start from",
            hint="Correct base_branch, or leave it out to start from the default branch.",
        )
    if branch in existing:
        raise _taken(f"{repository.url} has a branch {branch!r} already")


async def _check_no_order_has(orders: WorkOrders, repository: Repository, branch: str) -> None:
    """Refuse a branch that another order is at work on, pushed or not."""
    of_branch = OrderFilter(repository_url=repository.url, git_branch_name=branch, statuses=tuple(UNFINISHED))
    found, _ = await orders.find(of_branch, limit=1)
    if found:
        raise _taken(f"order {found[0].agent_work_order_id} works on a branch {branch!r} of this repository")


def _taken(what: str) -> Conflict:
    return Conflict(what, hint="Choose another git_branch_name, or leave it out to have one made up.")


def _task_of(issue: Issue, prompt: str) -> str:
    issue_text = (f"Issue #{issue.number}: {_plain(issue.title)}", _plain(issue.body))
    # A command of the repository stands at the beginning; the issue is what it is called with.
    parts = (prompt, *issue_text) if prompt.startswith("/") else (*issue_text, prompt)
    return "\n\n".join(part for part in parts if part)


def _plain(text: str) -> str:
    """Text of others without control characters, which a prompt may not hold."""
    kept = (c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs"))
    return "".join(kept).strip()
