"""What people write into `.journeyman/environment.yaml`, and what it makes of a detected environment."""

import pytest

from journeyman.environments.definition import apply, kind_from_name, parse_definition
from journeyman.environments.plan import Check, CheckKind, Environment, InstallCommand, Service, ToolNeed

SOURCE = ".journeyman/environment.yaml"
_CONTRACT = """\
install: ["uv sync --frozen --all-groups"]     # set-up phase, registries only
start:   ["docker-entrypoint.sh postgres &"]   # before checks and agents, ended with the sandbox
checks:  {test: "uv run pytest -q", lint: "uv run ruff check .", build: null}
workdir: packages/api
env:     {DJANGO_SETTINGS_MODULE: tests.settings}
network: {setup: [registry.example.com], agent: none}   # agent: none | [hosts]
image:   registry.example.com/acme/dev:1                             # for container sandboxes
"""


def environment_of(text: str, detected: Environment | None = None) -> Environment:
    return apply(parse_definition(text, source=SOURCE), detected or Environment())


def detected_check(name: str, kind: CheckKind) -> Check:
    return Check(name=name, kind=kind, command=name, tool=name, why="pyproject.toml", probe="true")


DETECTED = Environment(
    ecosystems=("Python (uv)",),
    tools=(ToolNeed(tool="python3", version="3.11", said_in=".python-version"),),
    install=(InstallCommand(command="uv sync", why="uv.lock"),),
    start=(Service(command="redis-server &"),),
    checks=(
        detected_check("pytest", "test"),
        detected_check("ruff", "lint"),
        detected_check("mypy", "types"),
    ),
    env={"VIRTUAL_ENV": "/workspace/.venv"},
    path=("/workspace/.venv/bin",),
    directories=(".venv",),
    key_files=("uv.lock",),
    workdir="backend",
)


def test_the_example_of_the_contract_is_understood() -> None:
    environment = environment_of(_CONTRACT)
    assert environment.source == SOURCE
    assert [(one.command, one.workdir) for one in environment.install] == [
        ("uv sync --frozen --all-groups", "packages/api")
    ]
    assert environment.start == (Service(command="docker-entrypoint.sh postgres &"),)
    assert [(one.name, one.kind, one.command, one.workdir) for one in environment.checks] == [
        ("test", "test", "uv run pytest -q", "packages/api"),
        ("lint", "lint", "uv run ruff check .", "packages/api"),
    ]
    assert environment.env == {"DJANGO_SETTINGS_MODULE": "tests.settings"}
    assert (environment.setup_hosts, environment.agent_network) == (("registry.example.com",), "none")
    assert environment.image == "registry.example.com/acme/dev:1"


def test_what_a_definition_leaves_out_comes_from_detection() -> None:
    environment = environment_of("env: {A: b}", DETECTED)
    assert environment.env == {"VIRTUAL_ENV": "/workspace/.venv", "A": "b"}
    assert (environment.install, environment.start) == (DETECTED.install, DETECTED.start)
    assert (environment.checks, environment.tools) == (DETECTED.checks, DETECTED.tools)
    assert (environment.path, environment.key_files) == (DETECTED.path, DETECTED.key_files)
    assert (environment.ecosystems, environment.workdir) == (DETECTED.ecosystems, "backend")
    assert environment_of("workdir: .", DETECTED).workdir == "."


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n", "install:\nchecks:\nnetwork:\n"])
def test_a_file_that_says_nothing_leaves_everything_to_detection(text: str) -> None:
    environment = environment_of(text, DETECTED)
    assert environment == apply(parse_definition("{}", source=SOURCE), DETECTED)
    assert environment.install == DETECTED.install


def test_an_empty_list_of_commands_installs_and_starts_nothing() -> None:
    environment = environment_of("install: []\nstart: []", DETECTED)
    assert (environment.install, environment.start) == ((), ())


def test_a_check_that_is_written_replaces_the_detected_ones_of_its_kind() -> None:
    environment = environment_of("checks: {unit: make unit}", DETECTED)
    assert [(one.name, one.kind) for one in environment.checks] == [
        ("unit", "test"),
        ("ruff", "lint"),
        ("mypy", "types"),
    ]


@pytest.mark.parametrize(
    ("name", "left"), [("lint", ["pytest", "mypy"]), ("ruff", ["pytest", "mypy"]), ("test", ["ruff", "mypy"])]
)
def test_null_switches_off_a_kind_of_checks_or_one_by_its_name(name: str, left: list[str]) -> None:
    environment = environment_of(f"checks: {{{name}: null}}", DETECTED)
    assert [one.name for one in environment.checks] == left
    assert environment.notes == ()


def test_switching_off_a_check_that_is_not_there_is_noted() -> None:
    environment = environment_of("checks: {pytets: null}", DETECTED)
    assert [one.name for one in environment.checks] == ["pytest", "ruff", "mypy"]
    assert "detected are pytest, ruff, mypy" in environment.notes[0]


def test_the_long_form_of_a_check_says_where_it_runs_and_what_it_needs() -> None:
    text = """\
checks:
  smoke:
    command: ./smoke.sh
    workdir: ./packages/web/
    kind: build
    needs: [node, psql]
    covers: packages/web
"""
    [check] = environment_of(text).checks
    assert (check.kind, check.workdir, check.covers) == ("build", "packages/web", ("packages/web",))
    assert check.tool == "node, psql"
    assert check.probe == "command -v node >/dev/null && command -v psql >/dev/null"


@pytest.mark.parametrize(
    ("command", "tool"),
    [
        ("uv run pytest", "uv"),
        ("DEBUG=1 A=b tox -e py", "tox"),
        ("./gradlew test", "./gradlew"),
        ("cd web && npm test", "npm"),
        ("set -e; export A=b; exec env B=c make", "make"),
        ("true", "bash"),
        ("if x; then y; fi", "bash"),
        ("'it goes on\nhere' x", "bash"),
        ("$RUNNER test", "bash"),
    ],
)
def test_a_check_needs_the_program_that_it_calls_first(command: str, tool: str) -> None:
    [check] = environment_of(f"checks: {{test: {command!r}}}".replace("\\n", "\n\n")).checks
    assert check.tool == tool


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("test", "test"),
        ("Unit tests", "test"),
        ("e2e", "test"),
        ("type-check", "types"),
        ("typecheck", "types"),
        ("lint:css", "lint"),
        ("rust fmt", "lint"),
        ("build_docs", "build"),
        ("latest", None),
        ("smoke", None),
    ],
)
def test_the_kind_of_a_check_is_guessed_from_its_name(name: str, kind: str | None) -> None:
    assert kind_from_name(name) == kind


def test_a_check_of_no_known_kind_decides_as_a_test_does() -> None:
    [check] = environment_of("checks: {smoke: ./smoke.sh}").checks
    assert check.kind == "test"


def test_commands_may_be_one_text_a_list_or_mappings() -> None:
    text = """\
install: |
  set -e
  make deps
start:
  - command: postgres -D data
    ready: pg_isready
    timeout: 30
  - redis-server &
"""
    environment = environment_of(text)
    assert [one.command for one in environment.install] == ["set -e\nmake deps"]
    assert environment.start == (
        Service(command="postgres -D data", ready="pg_isready", timeout=30.0),
        Service(command="redis-server &"),
    )


def test_an_install_command_may_have_a_directory_and_be_optional() -> None:
    text = """\
workdir: a
install:
  - make
  - {command: npm ci, workdir: web, optional: true}
  - {command: make, workdir: .}
"""
    assert [(one.workdir, one.is_optional) for one in environment_of(text).install] == [
        ("a", False),
        ("web", True),
        (".", False),
    ]


def test_variables_and_versions_are_kept_as_they_are_typed() -> None:
    environment = environment_of(
        "env: {A: 1_0, B: yes, C: 1.10, D: 2024-01-01, E: ''}\ntools: {python: 3.10}"
    )
    assert environment.env == {"A": "1_0", "B": "yes", "C": "1.10", "D": "2024-01-01", "E": ""}
    assert [(one.tool, one.version, one.said_in) for one in environment.tools] == [
        ("python3", "3.10", SOURCE)
    ]


def test_a_tool_that_is_written_replaces_the_detected_version() -> None:
    environment = environment_of("tools: {python: '3.12', node: '>=20'}", DETECTED)
    assert [(one.tool, one.version) for one in environment.tools] == [("python3", "3.12"), ("node", ">=20")]


def test_hosts_are_compared_as_the_network_does() -> None:
    environment = environment_of("network: {setup: [Registry.Example.COM., nexus], agent: [api.example.com]}")
    assert environment.setup_hosts == ("registry.example.com", "nexus")
    assert environment.agent_network == ("api.example.com",)


def test_cached_directories_of_the_workspace_belong_to_the_layer() -> None:
    environment = environment_of("cache: [build/, ./out, ~/.m2/repository]", DETECTED)
    assert environment.directories == (".venv", "build", "out")


def test_secrets_are_names_for_the_set_up_unless_the_file_says_more() -> None:
    environment = environment_of("secrets: [NPM_TOKEN]")
    assert (environment.secrets, environment.secrets_in_agent_phase) == (("NPM_TOKEN",), False)
    assert environment_of("secrets: [A]\nsecrets_in_agent_phase: true").secrets_in_agent_phase


def test_a_file_of_windows_with_a_byte_order_mark_is_read() -> None:
    assert environment_of("\ufeffworkdir: api\r\nenv: {A: b}\r\n").workdir == "api"
