"""`jm`: every command, its options and its exit code.

Nothing heavy is imported before a command needs it, so that `jm --help` answers at once.
"""

import sys
from typing import Annotated

import typer

from journeyman.errors import Conflict, JourneymanError

app = typer.Typer(
    name="jm",
    help="Hand it a work order, get back a draft pull request with proof.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
agents_app = typer.Typer(rich_markup_mode=None)
app.add_typer(agents_app, name="agents")

OrderId = Annotated[str, typer.Argument(metavar="ID", help="The work order, as `jm list` shows it.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON; one document a line when following.")]
Task = Annotated[str | None, typer.Argument(metavar="TASK", help="What is wanted; - reads it from stdin.")]
Repository = Annotated[str, typer.Option("--repository", "-r", help="An address, or a directory.")]
WaitingStep = Annotated[str | None, typer.Argument(help="Needed only when several steps wait.")]
Comment = Annotated[str, typer.Option("--comment", help="Why; shown with the order.")]
WorkflowName = Annotated[str | None, typer.Option("--workflow", help="See `jm workflows`.")]
AgentName = Annotated[str | None, typer.Option("--agent", help="See `jm agents`.")]
ModelName = Annotated[str | None, typer.Option("--model", help="As provider/model; see `jm models`.")]
Sandbox = Annotated[str | None, typer.Option("--sandbox", help="git_worktree or git_branch.")]
Budget = Annotated[float | None, typer.Option("--budget", min=0, help="US dollars that may be spent.")]
Branch = Annotated[str | None, typer.Option("--branch", help="Name of the branch; made up when left out.")]
Base = Annotated[str | None, typer.Option("--base", help="Branch to start from; else the default one.")]
Issue = Annotated[int | None, typer.Option("--issue", min=1, help="GitHub issue that says what is wanted.")]
Priority = Annotated[int | None, typer.Option("--priority", min=0, max=9, help="9 goes first.")]


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Loopback address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="0 picks a free one.")] = None,
    worker: Annotated[bool, typer.Option("--worker/--no-worker", help="Carry out orders too.")] = True,
    as_json: AsJson = False,
) -> None:
    """Start the server, with a worker inside it."""
    from journeyman import app as product
    from journeyman.settings import load_settings

    chosen = {"host": host, "port": port}
    settings = load_settings().model_copy(
        update={name: value for name, value in chosen.items() if value is not None}
    )

    def ready(url: str) -> None:
        _say(f"Journeyman listens on {url}", {"url": url}, as_json)

    product.serve(settings, worker=worker, on_ready=ready)


@app.command()
def worker(as_json: AsJson = False) -> None:
    """Carry out the orders of a shared PostgreSQL database; any number, on any machine."""
    from journeyman import app as product
    from journeyman.settings import load_settings

    def ready(name: str) -> None:
        _say(f"Journeyman works as {name}", {"worker_id": name}, as_json)

    product.work(load_settings(), on_ready=ready)


@app.command()
def migrate(as_json: AsJson = False) -> None:
    """Bring the database up to date."""
    from journeyman import app as product
    from journeyman.settings import load_settings

    product.migrate(load_settings())
    _say("The database is up to date.", {"migrated": True}, as_json)


def _say(text: str, document: dict[str, str | bool], as_json: bool) -> None:
    from journeyman.cli.terminal import print_json_line

    if as_json:
        print_json_line(document)
    else:
        typer.echo(text)


@app.command()
def run(
    task: Task = None,
    repository: Repository = ".",
    workflow: WorkflowName = None,
    agent: AgentName = None,
    model: ModelName = None,
    sandbox: Sandbox = None,
    budget: Budget = None,
    branch: Branch = None,
    base: Base = None,
    issue: Issue = None,
    priority: Priority = None,
    as_json: AsJson = False,
) -> None:
    """Submit a task and watch it to the end; starts a server when none answers."""
    from journeyman.cli import orders
    from journeyman.settings import load_settings

    settings = load_settings()
    order = orders.new_order(
        task, repository, workflow, agent, model, sandbox, budget, branch, base, issue, priority
    )
    raise typer.Exit(orders.run(settings, order, as_json=as_json))


@app.command()
def submit(
    task: Task = None,
    repository: Repository = ".",
    workflow: WorkflowName = None,
    agent: AgentName = None,
    model: ModelName = None,
    sandbox: Sandbox = None,
    budget: Budget = None,
    branch: Branch = None,
    base: Base = None,
    issue: Issue = None,
    priority: Priority = None,
    watch: Annotated[bool, typer.Option("--watch", help="Stay and watch.")] = False,
    as_json: AsJson = False,
) -> None:
    """Submit a task to the server and come back at once."""
    from journeyman.cli import orders
    from journeyman.settings import load_settings

    settings = load_settings()
    order = orders.new_order(
        task, repository, workflow, agent, model, sandbox, budget, branch, base, issue, priority
    )
    raise typer.Exit(orders.submit(settings, order, watch=watch, as_json=as_json))


@app.command("list")
def list_orders(
    status: Annotated[str | None, typer.Option(help="Only orders with this status.")] = None,
    query: Annotated[str | None, typer.Option("--query", "-q", help="Only orders with this text.")] = None,
    repository: Annotated[str | None, typer.Option("--repository", "-r", help="Only of this one.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200)] = 50,
    offset: Annotated[int, typer.Option(min=0)] = 0,
    as_json: AsJson = False,
) -> None:
    """List work orders, the newest first."""
    from journeyman.cli import orders, views
    from journeyman.settings import load_settings

    where = None if repository is None else orders.repository_address(repository)
    views.list_orders(
        load_settings(),
        as_json=as_json,
        status=status,
        q=query,
        repository_url=where,
        limit=limit,
        offset=offset,
    )


@app.command()
def show(order_id: OrderId, as_json: AsJson = False) -> None:
    """Show one work order: its state, steps, cost, verification and pull request."""
    from journeyman.cli import views
    from journeyman.settings import load_settings

    views.show(load_settings(), order_id, as_json=as_json)


@app.command()
def watch(order_id: OrderId, as_json: AsJson = False) -> None:
    """Watch a work order from its beginning to its end."""
    from journeyman.cli import orders
    from journeyman.settings import load_settings

    raise typer.Exit(orders.watch(load_settings(), order_id, as_json=as_json))


@app.command()
def logs(
    order_id: OrderId,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the order ends.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the log of a work order."""
    from journeyman.cli import views
    from journeyman.settings import load_settings

    raise typer.Exit(views.logs(load_settings(), order_id, follow=follow, as_json=as_json))


@app.command()
def diff(order_id: OrderId, as_json: AsJson = False) -> None:
    """Print what a work order changed, as a unified diff."""
    from journeyman.cli import views
    from journeyman.settings import load_settings

    views.diff(load_settings(), order_id, as_json=as_json)


@app.command()
def prompt(
    order_id: OrderId,
    text: Annotated[str, typer.Argument(help="Work for the order's branch, or a question about it.")],
    mode: Annotated[
        str | None, typer.Option("--mode", help="work or ask; left out, a text that ends with ? asks.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say something more to a work order; it is queued while a round runs."""
    from journeyman.cli import orders
    from journeyman.settings import load_settings

    orders.prompt(load_settings(), order_id, text, mode, as_json=as_json)


@app.command()
def commands(order_id: OrderId, as_json: AsJson = False) -> None:
    """List the commands of an order's repository, which prompts can call as `/name arguments`."""
    from journeyman.cli import views
    from journeyman.settings import load_settings

    views.commands(load_settings(), order_id, as_json=as_json)


@app.command()
def pause(order_id: OrderId, as_json: AsJson = False) -> None:
    """Stop a work order where it is; `jm resume` lets it go on."""
    _control(order_id, "pause", as_json)


@app.command()
def resume(order_id: OrderId, as_json: AsJson = False) -> None:
    """Let a paused work order go on."""
    _control(order_id, "resume", as_json)


@app.command()
def cancel(order_id: OrderId, as_json: AsJson = False) -> None:
    """Stop a work order for good; its branch and commits stay."""
    _control(order_id, "cancel", as_json)


@app.command()
def retry(
    order_id: OrderId,
    from_step: Annotated[
        str | None, typer.Option("--from", metavar="STEP", help="Do this step and all after it again.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Let a failed or cancelled work order go on from the step that failed."""
    _control(order_id, "retry", as_json, {"from_step": from_step} if from_step else None)


@app.command()
def fork(
    order_id: OrderId,
    from_step: Annotated[str, typer.Option("--from", metavar="STEP", help="Where the ways part.")],
    task: Annotated[str | None, typer.Option("--task", help="Another task.")] = None,
    agent: AgentName = None,
    model: ModelName = None,
    budget: Budget = None,
    as_json: AsJson = False,
) -> None:
    """Make another work order that goes on from a step of this one, with other choices."""
    chosen = {
        "from_step": from_step,
        "initial_prompt": task,
        "agent": agent,
        "model": model,
        "budget_usd": budget,
    }
    _control(order_id, "fork", as_json, {name: value for name, value in chosen.items() if value is not None})


@app.command()
def approve(
    order_id: OrderId, step: WaitingStep = None, comment: Comment = "", as_json: AsJson = False
) -> None:
    """Agree to a step that waits for a person."""
    _decide(order_id, step, "approve", comment, as_json)


@app.command()
def reject(
    order_id: OrderId,
    step: WaitingStep = None,
    comment: Comment = "",
    rework: Annotated[bool, typer.Option("--rework", help="Have it done again, with the comment.")] = False,
    as_json: AsJson = False,
) -> None:
    """Refuse a step that waits for a person; the order then fails with your comment, or is reworked."""
    _decide(order_id, step, "reject", comment, as_json, rework=rework)


def _decide(
    order_id: str, step: str | None, decision: str, comment: str, as_json: bool, *, rework: bool = False
) -> None:
    from journeyman.cli import orders
    from journeyman.settings import load_settings

    orders.decide(load_settings(), order_id, step, decision, comment, rework=rework, as_json=as_json)


def _control(order_id: str, action: str, as_json: bool, body: dict[str, str | float] | None = None) -> None:
    from journeyman.cli import orders
    from journeyman.settings import load_settings

    orders.control(load_settings(), order_id, action, body, as_json=as_json)


@app.command()
def cleanup(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    as_json: AsJson = False,
) -> None:
    """Clear away what the retention policy lets go of; the server does so every hour by itself."""
    from journeyman.cli import orders
    from journeyman.settings import load_settings

    orders.cleanup(load_settings(), dry_run=dry_run, as_json=as_json)


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Check git, sandbox, database, models and forge, and say what to do."""
    from journeyman.cli import doctor as checks
    from journeyman.settings import load_settings

    raise typer.Exit(checks.examine(load_settings(), as_json=as_json))


@app.command()
def models(as_json: AsJson = False) -> None:
    """List the models that can be chosen."""
    from journeyman.cli import views
    from journeyman.settings import load_settings

    views.choices(load_settings(), "models", as_json=as_json)


@agents_app.callback(invoke_without_command=True)
def agents(context: typer.Context, as_json: AsJson = False) -> None:
    """List the agents that can be chosen, or install one: `jm agents install NAME`."""
    from journeyman.cli import views
    from journeyman.settings import load_settings

    if context.invoked_subcommand is None:
        views.choices(load_settings(), "agents", as_json=as_json)


@agents_app.command("install")
def install_agents(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME…", help="claude_code, opencode, codex, gemini.")
    ],
    as_json: AsJson = False,
) -> None:
    """Install agents that others make, with npm, at the versions that Journeyman was tested with."""
    from journeyman.cli import install
    from journeyman.settings import load_settings

    install.install(load_settings(), names, as_json=as_json)


@app.command()
def workflows(as_json: AsJson = False) -> None:
    """List the workflows that can be chosen."""
    from journeyman.cli import views
    from journeyman.settings import load_settings

    views.choices(load_settings(), "workflows", as_json=as_json)


@app.command()
def demo(as_json: AsJson = False) -> None:
    """Carry out a sample order with the scripted model: no key and no network needed."""
    from journeyman.cli import demo as sample
    from journeyman.settings import load_settings

    raise typer.Exit(sample.carry_out(load_settings(), as_json=as_json))


def exit_code_of(error: JourneymanError) -> int:
    """1 failed, 2 asked wrongly, 4 not allowed."""
    return {"invalid_input": 2, "auth": 4, "permission": 4}.get(error.category, 1)


def main() -> None:
    try:
        app()
    except (JourneymanError, OSError) as error:
        from journeyman.cli.terminal import tell_error

        told = error if isinstance(error, JourneymanError) else _of_the_machine(error)
        tell_error(told, as_json="--json" in sys.argv)
        sys.exit(exit_code_of(told))


def _of_the_machine(error: OSError) -> JourneymanError:
    where = f": {error.filename}" if error.filename else ""
    return Conflict(
        f"{error.strerror or error}{where}", hint="`jm doctor` looks at everything that is needed here."
    )


if __name__ == "__main__":
    main()
