"""An environment as people define it: read from YAML, and laid over what was detected.

A definition says what it says and leaves the rest to detection: an empty `install` installs nothing, one that
is left out installs what was detected.
"""

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from pydantic import ValidationError

from journeyman.environments import schema, yaml_text
from journeyman.environments.document import Document, invalid_environment
from journeyman.environments.mistakes import mistakes_in
from journeyman.environments.plan import (
    AgentNetwork,
    Check,
    CheckKind,
    Environment,
    InstallCommand,
    Service,
    ToolNeed,
)
from journeyman.environments.variables import refuse_variable
from journeyman.errors import Mistake

MAX_BYTES = 64_000
_KINDS: tuple[tuple[CheckKind, re.Pattern[str]], ...] = (
    ("types", re.compile("types?|typing|typecheck(?:ing)?|mypy|pyright|tsc")),
    ("lint", re.compile("lint(?:s|er|ing)?|format(?:ting)?|fmt|style|ruff|eslint|clippy|vet")),
    ("build", re.compile("builds?|compiles?|bundle|package|dist")),
    ("test", re.compile("tests?|testing|specs?|unit|integration|e2e|pytest|jest|vitest")),
)
_PACKAGES = re.compile(
    r"(uv|poetry|pdm|pipenv|npm|pnpm|yarn|bun|bundle|composer|cargo|dotnet)"
    r"(?: (?:sync|install|i|ci|fetch|restore))?(?: --?[\w=-]+)*"
)
"""A package manager's command to install what the project's own files say, and nothing else."""
_BEFORE_PROGRAM = re.compile(r"[A-Za-z_]\w*=.*|env|exec|time|command", re.DOTALL)
_BUILTIN = re.compile(r"cd|set|export|source|\.|echo|true|ulimit|umask")
_PROGRAM = re.compile(r"(?!(?:if|for|while|until|case|function)$)[\w.+/-]+")
_EXAMPLE = (
    "# No check was found. Name the commands that test and build the project:",
    "# checks:",
    "#   test: make test",
)
_FIELDS = frozenset(schema.EnvironmentFile.model_fields)
_TOOLS = {"python": "python3", "nodejs": "node", "rust": "cargo", "golang": "go", "jdk": "java"}


@dataclass(frozen=True, kw_only=True)
class Definition:
    source: str
    """A path in the repository, or `server`."""
    install: tuple[InstallCommand, ...] | None = None
    start: tuple[Service, ...] | None = None
    checks: Mapping[str, Check | None] = field(default_factory=dict)
    """None switches a check, or all of a kind, off."""
    workdir: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    setup_hosts: tuple[str, ...] | None = None
    agent_network: AgentNetwork | None = None
    image: str | None = None
    secrets: tuple[str, ...] = ()
    secrets_in_agent_phase: bool = False
    directories: tuple[str, ...] = ()
    tools: tuple[ToolNeed, ...] = ()
    notes: tuple[str, ...] = ()
    is_adopted: bool = False
    """Written for another product, and so for its image: its commands are run after those that were detected,
    and the set-up goes on when one of them fails."""


def parse_definition(text: str, *, source: str) -> Definition:
    """Raises InvalidEnvironment with every mistake. `source` is the file's name, for messages."""
    if len(text) > MAX_BYTES or len(text.encode(errors="replace")) > MAX_BYTES:
        raise too_large(source)
    document = Document(text, source=source, texts=("env", "tools"))
    written = document.value if document.value is not None else {}
    if not isinstance(written, dict):
        what = Mistake(*document.position_of(()), "this is not a mapping of fields", "Begin with 'install:'.")
        raise invalid_environment(source, [what])
    try:
        file = schema.EnvironmentFile.model_validate(
            {name: value for name, value in written.items() if value is not None or name not in _FIELDS}
        )
    except ValidationError as error:
        raise invalid_environment(source, mistakes_in(error, document)) from error
    return _definition(file, source)


def too_large(source: str) -> Exception:
    hint = "Put long commands into scripts of the repository and call those."
    return invalid_environment(source, [Mistake(1, 1, f"it is larger than {MAX_BYTES // 1000} kB", hint)])


def apply(definition: Definition, detected: Environment) -> Environment:
    """The environment that a definition makes of what was detected."""
    named = {tool.tool for tool in definition.tools}
    checks, notes = _checks(definition.checks, detected.checks)
    hosts = definition.setup_hosts
    return replace(
        detected,
        source=definition.source,
        tools=(*definition.tools, *(tool for tool in detected.tools if tool.tool not in named)),
        install=_install(definition, detected.install),
        start=detected.start if definition.start is None else definition.start,
        checks=checks,
        env={**detected.env, **definition.env},
        secrets=definition.secrets,
        secrets_in_agent_phase=definition.secrets_in_agent_phase,
        workdir=definition.workdir or detected.workdir,
        setup_hosts=detected.setup_hosts if hosts is None else hosts,
        agent_network=definition.agent_network or detected.agent_network,
        directories=tuple(dict.fromkeys((*detected.directories, *definition.directories))),
        image=definition.image or detected.image,
        notes=(*detected.notes, *definition.notes, *notes),
    )


def with_commands(environment: Environment, commands: Iterable[str], *, why: str) -> Environment:
    """The environment with these commands installed as well, each once."""
    known = {one.command for one in environment.install}
    more = [one for one in dict.fromkeys(commands) if one not in known]
    extra = (InstallCommand(command=one, why=why, workdir=environment.workdir) for one in more)
    return replace(environment, install=(*environment.install, *extra))


def as_yaml(environment: Environment) -> str:
    """A file that says what was detected, for a person to edit. Read again it means the same.

    Fallbacks of checks, PATH and the files that decide about the layer have no words in a file: they are
    detected again. Of hundreds of packages only as many are written as a file may hold.
    """
    most = schema.MAX_COMMANDS
    while True:
        shown = replace(environment, install=environment.install[:most], checks=environment.checks[:most])
        if shown != environment:
            note = "There are more commands and checks than fit into a file; these are the first."
            shown = replace(shown, notes=(*shown.notes, note))
        written = _written(shown)
        if len(written.encode()) <= MAX_BYTES or not most:
            return written
        most //= 2


def _written(environment: Environment) -> str:
    home = environment.workdir
    found = ", ".join(environment.ecosystems) or "nothing that it knows"
    agent = environment.agent_network
    tools = {one.tool: one.version for one in reversed(environment.tools) if one.version}
    example = ["", *_EXAMPLE] if not environment.checks else []
    lines = [
        f"# Proposed by Journeyman, which found {yaml_text.comment(found)}.",
        "# A field that you remove is detected again whenever the repository changes.",
        *(f"# Note: {yaml_text.comment(note)}" for note in environment.notes),
        *(["", f"workdir: {yaml_text.quoted(home)}"] if home != "." else []),
        *yaml_text.section("install", [_written_install(one, home) for one in environment.install]),
        *yaml_text.section("start", [_written_start(one) for one in environment.start]),
        *yaml_text.section("checks", [_written_check(one, home) for one in environment.checks]),
        *example,
        *yaml_text.section(
            "env", [yaml_text.pair(*one) for one in environment.env.items() if not refuse_variable(one[0])]
        ),
        *yaml_text.section("tools", [yaml_text.pair(*one) for one in reversed(tools.items())]),
        *yaml_text.section("cache", [[f"- {yaml_text.quoted(one)}"] for one in environment.directories]),
        *yaml_text.section("secrets", [[f"- {one}"] for one in environment.secrets]),
        *(["", "secrets_in_agent_phase: true"] if environment.secrets_in_agent_phase else []),
    ]
    if environment.setup_hosts or agent != "none":
        hosts = "none" if agent == "none" else f"[{', '.join(agent)}]"
        lines += ["", "network:", f"  setup: [{', '.join(environment.setup_hosts)}]", f"  agent: {hosts}"]
    if environment.image:
        lines += ["", f"image: {yaml_text.quoted(environment.image)}"]
    return "\n".join(lines) + "\n"


def _written_install(one: InstallCommand, home: str) -> list[str]:
    more = {"workdir": one.workdir if one.workdir != home else None, "optional": one.is_optional}
    return yaml_text.item(one.command, more, one.why)


def _written_start(one: Service) -> list[str]:
    timeout = one.timeout if one.timeout != Service.timeout else None
    return yaml_text.item(one.command, {"ready": one.ready, "timeout": timeout})


def _written_check(one: Check, home: str) -> list[str]:
    more = {
        "workdir": one.workdir if one.workdir != home else None,
        "kind": one.kind if one.kind != kind_from_name(one.name) else None,
        "covers": one.covers,
    }
    return yaml_text.named(one.name, one.command, more, one.why)


def kind_from_name(name: str) -> CheckKind | None:
    """`lint` of `Lint (ruff)`, `types` of `type-check`; None where the name says nothing."""
    for word in re.findall(r"[a-z0-9]+", name.lower()):
        for kind, words in _KINDS:
            if words.fullmatch(word):
                return kind
    return None


def canonical_tool(name: str) -> str:
    """As it is called: `python3` of `python`, `cargo` of `rust`."""
    return _TOOLS.get(name, name)


def first_program(command: str) -> str:
    """The first program that a command calls; empty where parsing cannot say."""
    for part in re.split(r"&&|;|\n", command):
        try:
            words = shlex.split(part, comments=True)
        except ValueError:  # a quotation that goes on
            return ""
        called = next((word for word in words if not _BEFORE_PROGRAM.fullmatch(word)), "")
        if called and not _BUILTIN.fullmatch(called):
            return called if _PROGRAM.fullmatch(called) else ""
    return ""


def _install(definition: Definition, detected: tuple[InstallCommand, ...]) -> tuple[InstallCommand, ...]:
    if definition.install is None:
        return detected
    if not definition.is_adopted or not detected:
        return definition.install
    more = (replace(one, is_optional=True) for one in definition.install if not _repeats(one, detected))
    return (*detected, *more)


def _repeats(one: InstallCommand, detected: tuple[InstallCommand, ...]) -> bool:
    """Whether it asks a package manager again for what it has just installed."""
    manager = _PACKAGES.fullmatch(one.command)
    return any(
        one.command == other.command or (manager and manager[1] in re.findall(r"[\w-]+", other.command))
        for other in detected
        if other.workdir == one.workdir
    )


def _checks(
    written: Mapping[str, Check | None], detected: tuple[Check, ...]
) -> tuple[tuple[Check, ...], list[str]]:
    """The checks, and what to say about names that mean nothing."""
    own = [check for check in written.values() if check is not None]
    off = {name for name, check in written.items() if check is None}
    replaced = {check.kind for check in own} | {kind for kind, _ in _KINDS if kind in off}
    left = tuple(
        check for check in detected if check.kind not in replaced and check.name not in {*off, *written}
    )
    known = {check.name for check in detected} | {kind for kind, _ in _KINDS}
    notes = [
        f"'{name}' under 'checks' switches off nothing: {_found(detected)}" for name in sorted(off - known)
    ]
    return (*own, *left), notes


def _found(detected: Iterable[Check]) -> str:
    names = ", ".join(check.name for check in detected)
    return f"detected are {names}." if names else "no check was detected."


def _definition(file: schema.EnvironmentFile, source: str) -> Definition:
    agent = file.network.agent
    return Definition(
        source=source,
        install=None
        if file.install is None
        else tuple(_install_command(file, one, source) for one in file.install),
        start=None
        if file.start is None
        else tuple(Service(command=one.command, ready=one.ready, timeout=one.timeout) for one in file.start),
        checks={
            name: None if entry is None else _check(file, name, entry, source)
            for name, entry in file.checks.items()
        },
        workdir=file.workdir,
        env=dict(file.env),
        setup_hosts=file.network.setup,
        agent_network=None if agent is None else agent or "none",
        image=file.image,
        secrets=file.secrets,
        secrets_in_agent_phase=file.secrets_in_agent_phase,
        # The home is kept whole, so directories of it are in the layer anyway.
        directories=tuple(one for one in file.cache if not one.startswith("~/")),
        tools=tuple(
            ToolNeed(tool=canonical_tool(name), version=version, said_in=source)
            for name, version in file.tools.items()
        ),
    )


def _install_command(file: schema.EnvironmentFile, entry: schema.InstallEntry, source: str) -> InstallCommand:
    return InstallCommand(
        command=entry.command,
        why=source,
        workdir=entry.workdir or file.workdir or ".",
        is_optional=entry.optional,
    )


def _check(file: schema.EnvironmentFile, name: str, entry: schema.CheckEntry, source: str) -> Check:
    program = first_program(entry.command)
    needs = entry.needs or ((program,) if program else ())
    return Check(
        name=name,
        kind=entry.kind or kind_from_name(name) or "test",
        command=entry.command,
        workdir=entry.workdir or file.workdir or ".",
        tool=", ".join(needs) or "bash",
        why=source,
        probe=" && ".join(f"command -v {shlex.quote(one)} >/dev/null" for one in needs) or "true",
        covers=entry.covers,
    )
