"""A detected environment, proposed as a file: commented, stable, and the same environment when read."""

from dataclasses import replace

import pytest

from journeyman.environments.definition import apply, as_yaml, parse_definition, with_commands
from journeyman.environments.plan import Check, CheckKind, Environment, InstallCommand, Service, ToolNeed


def check(
    name: str, kind: CheckKind, command: str, workdir: str = ".", covers: tuple[str, ...] = ()
) -> Check:
    return Check(
        name=name,
        kind=kind,
        command=command,
        workdir=workdir,
        covers=covers,
        tool="x",
        why="Makefile",
        probe="true",
    )


FULL = Environment(
    ecosystems=("Python (uv)", "Node (npm)"),
    tools=(
        ToolNeed(tool="python3", version="3.10", said_in=".python-version"),
        ToolNeed(tool="node", version=">=20", said_in="package.json"),
    ),
    install=(
        InstallCommand(command="uv sync --frozen", why="uv.lock"),
        InstallCommand(command="npm ci", why="package-lock.json", workdir="web", is_optional=True),
        InstallCommand(command="set -e\n  a: b # c\n- d", why="tox.ini"),
    ),
    start=(Service(command="redis-server &"), Service(command="pg", ready="pg_isready", timeout=7.5)),
    checks=(
        check("pytest", "test", "uv run pytest -q"),
        check("api: go test", "test", "go test ./...", "api", ("api", "lib, old")),
        check("weird", "lint", "a\n\nb"),
        check("null", "test", "true"),
        check("make", "build", "make 'all: x' # {"),
    ),
    env={"A": "1", "B": "yes", "C": "", "D": "a\nb", "E": "${X}: #", "F": " x", "G": "ü"},
    secrets=("TOKEN",),
    secrets_in_agent_phase=True,
    setup_hosts=("registry.example",),
    agent_network=("a.example", "b.example"),
    directories=(".venv", "a b"),
    image="registry.example/x:1",
)


def again(environment: Environment) -> Environment:
    return apply(parse_definition(as_yaml(environment), source="x"), Environment())


@pytest.mark.parametrize("environment", [FULL, replace(FULL, workdir="api"), Environment()])
def test_a_proposal_means_the_environment_that_it_was_made_of(environment: Environment) -> None:
    read = again(environment)
    for name in ("start", "env", "secrets", "secrets_in_agent_phase", "setup_hosts", "agent_network"):
        assert getattr(read, name) == getattr(environment, name)
    for name in ("directories", "image", "workdir"):
        assert getattr(read, name) == getattr(environment, name)
    assert [(one.command, one.workdir, one.is_optional) for one in read.install] == [
        (one.command, one.workdir, one.is_optional) for one in environment.install
    ]
    assert [(one.name, one.kind, one.command, one.workdir, one.covers) for one in read.checks] == [
        (one.name, one.kind, one.command, one.workdir, one.covers) for one in environment.checks
    ]
    assert [(one.tool, one.version) for one in read.tools] == [
        (one.tool, one.version) for one in environment.tools
    ]


def test_a_proposal_of_the_usual_project_is_short_and_says_why() -> None:
    environment = Environment(
        ecosystems=("Python (uv)",),
        install=(InstallCommand(command="uv sync --frozen", why="uv.lock"),),
        checks=(check("pytest", "test", "uv run pytest -q"),),
        notes=("Python 3.9 is asked for\nand not there.",),
    )
    assert as_yaml(environment) == (
        "# Proposed by Journeyman, which found Python (uv).\n"
        "# A field that you remove is detected again whenever the repository changes.\n"
        "# Note: Python 3.9 is asked for and not there.\n"
        "\n"
        "install:\n"
        "  - uv sync --frozen  # uv.lock\n"
        "\n"
        "checks:\n"
        "  pytest: uv run pytest -q  # Makefile\n"
    )


def test_a_proposal_installs_what_a_check_lacked_and_nothing_twice() -> None:
    found = Environment(install=(InstallCommand(command="npm ci", why="package-lock.json"),))
    text = as_yaml(with_commands(found, ["npm ci", "npm i x", "npm i x"], why="a check lacks it"))
    assert "  - npm ci  # package-lock.json\n  - npm i x  # a check lacks it\n" in text
    assert text.count("npm i x") == 1


def test_a_proposal_without_checks_shows_how_to_name_one() -> None:
    text = as_yaml(Environment())
    assert "#   test: make test" in text
    assert apply(parse_definition(text, source="x"), Environment()).checks == ()


def test_a_proposal_is_the_same_each_time() -> None:
    assert as_yaml(again(FULL)) == as_yaml(again(again(FULL)))


def test_hostile_names_and_comments_of_a_repository_stay_what_they_are() -> None:
    text = "x\ninstall: [rm -rf /]\u2028secrets: [A]\x1b[31m\x00"
    environment = Environment(
        ecosystems=(text,),
        notes=(text, "y" * 5000),
        checks=(Check(name="a: {b}", kind="test", command="#x", tool="x", why=text, probe="true"),),
        env={"PATH": "/evil", "A": "b"},
    )
    read = again(environment)
    assert (read.install, read.secrets, read.env) == ((), (), {"A": "b"})
    assert [(one.name, one.command) for one in read.checks] == [("a: {b}", "#x")]


@pytest.mark.parametrize("length", [1, 300])
def test_a_proposal_for_a_thousand_packages_can_be_read(length: int) -> None:
    environment = Environment(
        install=tuple(InstallCommand(command=f"make p{n} {'x' * length}", why="x") for n in range(1000)),
        checks=tuple(check(f"p{n}: test", "test", "y" * length, f"packages/p{n}") for n in range(1000)),
    )
    read = again(environment)
    assert len(read.install) == len(read.checks) == (200 if length == 1 else 50)
    assert "these are the first" in as_yaml(environment)
