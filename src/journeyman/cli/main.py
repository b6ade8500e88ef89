"""`jm`: every command, its options and its exit code.

Nothing heavy is imported before a command needs it, so that `jm --help` answers at once.
"""

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from journeyman.cli.help import GroupedCommands, ShowByDefault
from journeyman.cli.order_request import (
    AgentOption,
    BudgetOption,
    ModelOption,
    OrderRequest,
    repository_address,
    takes_request,
)
from journeyman.errors import Conflict, JourneymanError

app = typer.Typer(
    name="jm",
    cls=GroupedCommands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
agents_app = typer.Typer(rich_markup_mode=None)
evidence_app = typer.Typer(rich_markup_mode=None, cls=ShowByDefault)


OrderArgument = Annotated[str, typer.Argument(metavar="ID", help="The work order, as `jm list` shows it.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON; one document a line when following.")]
StepArgument = Annotated[str | None, typer.Argument(help="Needed only when several steps wait.")]
EvidenceRepository = Annotated[
    str | None, typer.Option("--repository", "-r", metavar="DIR", help="A clone that has the commit.")
]
EvidenceKeyOption = Annotated[
    str | None, typer.Option("--key", metavar="FILE", help="The public key, or what `jm evidence` prints.")
]
EvidenceServer = Annotated[
    str | None, typer.Option("--server", metavar="URL", help="The server whose keys are trusted.")
]
CommentOption = Annotated[str, typer.Option("--comment", help="Why; shown with the order.")]

ORDERS = "Work orders"
CONTROL = "Change an order"
CHOICES = "What can be chosen"
SERVER = "Server"


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"jm {version('journeyman')}")
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit."),
    ] = False,
) -> None:
    """Hand it a work order, get back a draft pull request with proof."""


@app.command(rich_help_panel=ORDERS)
@takes_request
def run(request: OrderRequest, as_json: JsonOption = False) -> None:
    """Submit a task and watch it to the end.

    Starts a server when none answers.
    """
    from journeyman.cli import orders
    from journeyman.settings import load_settings

    raise typer.Exit(orders.submit_and_watch(load_settings(), request, as_json=as_json))


@app.command(rich_help_panel=ORDERS)
@takes_request
def submit(
    request: OrderRequest,
    watch: Annotated[bool, typer.Option("--watch", help="Stay and watch.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Submit a task to the server and return at once."""
    from journeyman.cli import orders
    from journeyman.settings import load_settings

    raise typer.Exit(orders.submit_order(load_settings(), request, watch=watch, as_json=as_json))


@app.command("list", rich_help_panel=ORDERS)
def list_orders(
    status: Annotated[str | None, typer.Option(help="Only orders with this status.")] = None,
    query: Annotated[str | None, typer.Option("--query", "-q", help="Only orders with this text.")] = None,
    repository: Annotated[str | None, typer.Option("--repository", "-r", help="Only of this one.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200)] = 50,
    offset: Annotated[int, typer.Option(min=0)] = 0,
    as_json: JsonOption = False,
) -> None:
    """List work orders, the newest first."""
    from journeyman.cli import views
    from journeyman.settings import load_settings

    where = None if repository is None else repository_address(repository)
    views.list_orders(
        load_settings(),
        as_json=as_json,
        status=status,
        q=query,
        repository_url=where,
        limit=limit,
        offset=offset,
    )


@app.command(rich_help_panel=ORDERS)
def show(order_id: OrderArgument, as_json: JsonOption = False) -> None:
    """Show a work order: state, steps, cost, checks, pull request."""
    from journeyman.cli import views
    from journeyman.settings import load_settings

    views.show(load_settings(), order_id, as_json=as_json)


@app.command(rich_help_panel=ORDERS)
def watch(order_id: OrderArgument, as_json: JsonOption = False) -> None:
    """Watch a work order from its beginning to its end."""
    from journeyman.cli import orders
    from journeyman.settings import load_settings

    raise typer.Exit(orders.watch(load_settings(), order_id, as_json=as_json))


@app.command(rich_help_panel=ORDERS)
def logs(
    order_id: OrderArgument,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the order ends.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Print the log of a work order."""
    from journeyman.cli import views
    from journeyman.settings import load_settings

    raise typer.Exit(views.logs(load_settings(), order_id, follow=follow, as_json=as_json))


@app.command(rich_help_panel=ORDERS)
def diff(order_id: OrderArgument, as_json: JsonOption = False) -> None:
    """Print what a work order changed, as a unified diff."""
    from journeyman.cli import views
    from journeyman.settings import load_settings

    views.diff(load_settings(), order_id, as_json=as_json)


app.add_typer(evidence_app, name="evidence", rich_help_panel=ORDERS)


@evidence_app.callback(invoke_without_command=True)
def evidence(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show what verified an order, check it, or run it again.

    `jm evidence ID` shows an order's; alone it prints the server's public keys.
    """
    from journeyman.cli import evidence_views
    from journeyman.settings import load_settings

    if context.invoked_subcommand is None:
        evidence_views.show_keys(load_settings(), as_json=as_json)


@evidence_app.command("show")
def show_evidence(
    order_id: OrderArgument,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the newest, signed, there.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what the checks of an order showed."""
    from journeyman.cli import evidence_views
    from journeyman.settings import load_settings

    evidence_views.show_evidence(load_settings(), order_id, output=output, as_json=as_json)


@evidence_app.command("verify")
def verify_evidence(
    target: Annotated[
        str, typer.Argument(metavar="FILE|COMMIT", help="Signed evidence, or a commit of --repository.")
    ],
    repository: EvidenceRepository = None,
    commit: Annotated[
        str | None, typer.Option("--commit", help="The commit that a file has to be about.")
    ] = None,
    passed: Annotated[bool, typer.Option("--passed", help="The checks must have passed.")] = False,
    key: EvidenceKeyOption = None,
    server: EvidenceServer = None,
    as_json: JsonOption = False,
) -> None:
    """Check signed evidence; exits with 0 where it is valid.

    Needs no server with --key.
    """
    from journeyman.cli import evidence_checks
    from journeyman.settings import load_settings

    source = evidence_checks.KeySource(load_settings(), key, server)
    wanted = evidence_checks.Wanted(target, repository, commit, must_have_passed=passed)
    raise typer.Exit(evidence_checks.verify(source, wanted, as_json=as_json))


@evidence_app.command("replay")
def replay_evidence(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Signed evidence.")],
    repository: EvidenceRepository = None,
    key: EvidenceKeyOption = None,
    server: EvidenceServer = None,
    as_json: JsonOption = False,
) -> None:
    """Run the same checks again; exits with 0 where they end the same.

    In a sandbox of this machine, on the same commit.
    """
    from journeyman.cli import evidence_checks
    from journeyman.settings import load_settings

    source = evidence_checks.KeySource(load_settings(), key, server)
    raise typer.Exit(evidence_checks.replay(source, file, repository or ".", as_json=as_json))


@app.command(rich_help_panel=CONTROL)
def prompt(
    order_id: OrderArgument,
    text: Annotated[str, typer.Argument(help="Work for the order's branch, or a question about it.")],
    mode: Annotated[
        str | None, typer.Option("--mode", help="work or ask; left out, a text that ends with ? asks.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Give a work order more work, or ask it a question.

    The prompt is queued while a round runs.
    """
    from journeyman.cli import orders
    from journeyman.settings import load_settings

    orders.prompt(load_settings(), order_id, text, mode, as_json=as_json)


@app.command(rich_help_panel=CONTROL)
def commands(order_id: OrderArgument, as_json: JsonOption = False) -> None:
    """List the commands that the order's repository brings.

    A prompt calls one as `/name arguments`.
    """
    from journeyman.cli import views
    from journeyman.settings import load_settings

    views.commands(load_settings(), order_id, as_json=as_json)


@app.command(rich_help_panel=CONTROL)
def pause(order_id: OrderArgument, as_json: JsonOption = False) -> None:
    """Stop a work order until it is resumed."""
    _control(order_id, "pause", as_json)


@app.command(rich_help_panel=CONTROL)
def resume(order_id: OrderArgument, as_json: JsonOption = False) -> None:
    """Continue a paused work order."""
    _control(order_id, "resume", as_json)


@app.command(rich_help_panel=CONTROL)
def cancel(order_id: OrderArgument, as_json: JsonOption = False) -> None:
    """Stop a work order for good; its branch and commits stay."""
    _control(order_id, "cancel", as_json)


@app.command(rich_help_panel=CONTROL)
def retry(
    order_id: OrderArgument,
    from_step: Annotated[
        str | None, typer.Option("--from", metavar="STEP", help="Do this step and all after it again.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Continue a failed or cancelled work order.

    It continues from the step that failed.
    """
    _control(order_id, "retry", as_json, {"from_step": from_step} if from_step else None)


@app.command(rich_help_panel=CONTROL)
def fork(
    order_id: OrderArgument,
    from_step: Annotated[str, typer.Option("--from", metavar="STEP", help="Where the ways part.")],
    task: Annotated[str | None, typer.Option("--task", help="Another task.")] = None,
    agent: AgentOption = None,
    model: ModelOption = None,
    budget: BudgetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy a work order from a step on, with other choices."""
    chosen = {
        "from_step": from_step,
        "initial_prompt": task,
        "agent": agent,
        "model": model,
        "budget_usd": budget,
    }
    _control(order_id, "fork", as_json, {name: value for name, value in chosen.items() if value is not None})


@app.command(rich_help_panel=CONTROL)
def approve(
    order_id: OrderArgument,
    step: StepArgument = None,
    comment: CommentOption = "",
    as_json: JsonOption = False,
) -> None:
    """Approve a step that waits for a person."""
    _decide(order_id, step, "approve", comment, as_json)


@app.command(rich_help_panel=CONTROL)
def reject(
    order_id: OrderArgument,
    step: StepArgument = None,
    comment: CommentOption = "",
    rework: Annotated[bool, typer.Option("--rework", help="Have it done again, with the comment.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Reject a step that waits for a person.

    The order then fails with your comment, or is reworked.
    """
    _decide(order_id, step, "reject", comment, as_json, rework=rework)


def _decide(
    order_id: str, step: str | None, decision: str, comment: str, as_json: bool, *, rework: bool = False
) -> None:
    from journeyman.cli import orders
    from journeyman.settings import load_settings

    orders.answer_approval(load_settings(), order_id, step, decision, comment, rework=rework, as_json=as_json)


def _control(order_id: str, action: str, as_json: bool, body: dict[str, str | float] | None = None) -> None:
    from journeyman.cli import orders
    from journeyman.settings import load_settings

    orders.control(load_settings(), order_id, action, body, as_json=as_json)


@app.command(rich_help_panel=CHOICES)
def models(as_json: JsonOption = False) -> None:
    """List the models."""
    from journeyman.cli import views
    from journeyman.settings import load_settings

    views.choices(load_settings(), "models", as_json=as_json)


app.add_typer(agents_app, name="agents", rich_help_panel=CHOICES)


@agents_app.callback(invoke_without_command=True)
def agents(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the agents, or install one."""
    from journeyman.cli import views
    from journeyman.settings import load_settings

    if context.invoked_subcommand is None:
        views.choices(load_settings(), "agents", as_json=as_json)


@agents_app.command("install")
def install_agents(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME…", help="claude_code, opencode, codex, gemini.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Install agents of other makers with npm.

    Each at the version that Journeyman was tested with.
    """
    from journeyman.cli import install
    from journeyman.settings import load_settings

    install.install(load_settings(), names, as_json=as_json)


@app.command(rich_help_panel=CHOICES)
def workflows(as_json: JsonOption = False) -> None:
    """List the workflows."""
    from journeyman.cli import views
    from journeyman.settings import load_settings

    views.choices(load_settings(), "workflows", as_json=as_json)


@app.command(rich_help_panel=SERVER)
def serve(
    host: Annotated[str | None, typer.Option(help="Loopback address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="0 picks a free one.")] = None,
    worker: Annotated[bool, typer.Option("--worker/--no-worker", help="Carry out orders too.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Start the server, with a worker inside it."""
    from journeyman import app as product
    from journeyman.settings import load_settings

    chosen = {"host": host, "port": port}
    settings = load_settings().model_copy(
        update={name: value for name, value in chosen.items() if value is not None}
    )

    def ready(url: str) -> None:
        _print_result(f"Journeyman listens on {url}", {"url": url}, as_json)

    product.serve(settings, worker=worker, on_ready=ready)


@app.command(rich_help_panel=SERVER)
def worker(as_json: JsonOption = False) -> None:
    """Start a worker for the orders of a shared PostgreSQL database.

    Any number of workers, on any machine.
    """
    from journeyman import app as product
    from journeyman.settings import load_settings

    def ready(name: str) -> None:
        _print_result(f"Journeyman works as {name}", {"worker_id": name}, as_json)

    product.work(load_settings(), on_ready=ready)


@app.command(rich_help_panel=SERVER)
def migrate(as_json: JsonOption = False) -> None:
    """Bring the database up to date."""
    from journeyman import app as product
    from journeyman.settings import load_settings

    product.migrate(load_settings())
    _print_result("The database is up to date.", {"migrated": True}, as_json)


@app.command(rich_help_panel=SERVER)
def cleanup(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove what the retention policy no longer keeps.

    The server does the same every hour.
    """
    from journeyman.cli import orders
    from journeyman.settings import load_settings

    orders.cleanup(load_settings(), dry_run=dry_run, as_json=as_json)


@app.command(rich_help_panel=SERVER)
def doctor(
    repository: Annotated[
        str | None, typer.Option("--repository", "-r", help="Check this repository instead.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check what orders need on this machine, and say what to do."""
    from journeyman.cli import doctor as checks
    from journeyman.cli import repository_doctor
    from journeyman.settings import load_settings

    if repository is not None:
        where = repository_address(repository)
        raise typer.Exit(repository_doctor.check_repository(load_settings(), where, as_json=as_json))
    raise typer.Exit(checks.examine(load_settings(), as_json=as_json))


@app.command(rich_help_panel=SERVER)
def demo(as_json: JsonOption = False) -> None:
    """Run a sample order; needs no key and no network."""
    from journeyman.cli import demo as sample
    from journeyman.settings import load_settings

    raise typer.Exit(sample.run_demo(load_settings(), as_json=as_json))


def _print_result(text: str, document: dict[str, str | bool], as_json: bool) -> None:
    from journeyman.cli.terminal import print_json_line

    if as_json:
        print_json_line(document)
    else:
        typer.echo(text)


def exit_code_of(error: JourneymanError) -> int:
    """1 failed, 2 asked wrongly, 4 not allowed."""
    return {"invalid_input": 2, "auth": 4, "permission": 4}.get(error.category, 1)


def main() -> None:
    try:
        app()
    except (JourneymanError, OSError) as error:
        from journeyman.cli.terminal import print_error

        problem = error if isinstance(error, JourneymanError) else _of_the_machine(error)
        print_error(problem, as_json="--json" in sys.argv)
        sys.exit(exit_code_of(problem))


def _of_the_machine(error: OSError) -> JourneymanError:
    where = f": {error.filename}" if error.filename else ""
    return Conflict(
        f"{error.strerror or error}{where}", hint="`jm doctor` looks at everything that is needed here."
    )


if __name__ == "__main__":
    main()
