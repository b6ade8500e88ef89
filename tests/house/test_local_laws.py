"""Laws of single rooms: who may touch a library, the environment, an implementation or every exception."""

import ast
import re
import sys
from collections.abc import Callable, Iterable

import pytest

from tests.house.source import Module, imports, modules, own_imports, parse

_SUPERVISOR = "sandboxes/supervisor.py"
"""A program of its own, which runs inside the jail and never as a part of the server."""

_LIBRARIES: dict[str, Callable[[Module], bool]] = {
    "dbos": lambda module: module.room == "engine",
    "fastapi": lambda module: module.room == "api",
    "starlette": lambda module: module.room == "api" or module.path.startswith("gateway/door/"),
    "sqlalchemy": lambda module: (
        module.room in ("database", "migrations")
        or module.path.endswith(("/tables.py", "/store.py", "/log.py"))
        or "/store/" in module.path
    ),
}
_IMPLEMENTATIONS = (
    "agents.acp",
    "agents.builtin",
    "agents.claude_code",
    "agents.codex",
    "agents.gemini",
    "agents.opencode",
    "forges.github",
    "forges.local",
    "gateway.providers",
    "sandboxes.container",
    "sandboxes.dagger",
    "sandboxes.e2b",
    "sandboxes.local",
    "sandboxes.modal",
)
_MAY_CATCH_EVERYTHING = ("engine/perform_step.py", "engine/workers.py", "api/problems.py")
_PUBLIC_HOST = re.compile(
    r"(?<![\w.-])(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|ai|app|cloud)(?![\w-]|\.\w)", re.ASCII
)
_ENVIRONMENT = frozenset({"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"})


def misused_libraries(house: Iterable[Module]) -> list[str]:
    return [
        f"{module.path}:{line}: {name} is not for this file"
        for module in house
        for name, line in imports(module)
        for library, may_use in _LIBRARIES.items()
        if f"{name}.".startswith(f"{library}.") and not may_use(module)
    ]


def named_implementations(house: Iterable[Module]) -> list[str]:
    return [
        f"{module.path}:{line}: only app.py may name {name}; take the Protocol of the room's base.py"
        for module in house
        if module.room != "app"
        for name, line in own_imports(module)
        for implementation in _IMPLEMENTATIONS
        if f"{name}.".startswith(f"{implementation}.") and module.room != name.partition(".")[0]
    ]


def readers_of_the_environment(house: Iterable[Module]) -> list[str]:
    found = []
    for module in house:
        if module.path in ("settings.py", _SUPERVISOR):
            continue
        lines = [line for name, line in imports(module) if name in {f"os.{name}" for name in _ENVIRONMENT}]
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Attribute) and node.attr in _ENVIRONMENT:
                lines.append(node.lineno)
        found += [f"{module.path}:{line}: only settings.py reads the environment" for line in lines]
    return found


def broad_catches(house: Iterable[Module]) -> list[str]:
    """A handler that ends by raising the same exception again only tidies up, and may see all of them."""
    found = []
    for module in house:
        if module.path in _MAY_CATCH_EVERYTHING:
            continue
        for node in ast.walk(module.tree):
            caught: list[ast.expr | None] = []
            if isinstance(node, ast.ExceptHandler):
                last = node.body[-1]
                if not (isinstance(last, ast.Raise) and last.exc is None):
                    caught = list(node.type.elts) if isinstance(node.type, ast.Tuple) else [node.type]
            elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "suppress":
                caught = list(node.args)
            broad = [c for c in caught if c is None or ast.unparse(c) in ("Exception", "BaseException")]
            if broad:
                found.append(f"{module.path}:{getattr(node, 'lineno', 0)}: name the exceptions you expect")
    return found


def hosts_of_environments(house: Iterable[Module]) -> list[str]:
    """Where packages come from is asked of the tools; only hosts that belong to nobody may be written."""
    return [
        f"{module.path}:{node.lineno}: {host} is written here; ask the tool, or let people configure it"
        for module in house
        if module.room == "environments"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for host in _PUBLIC_HOST.findall(node.value.lower())
        if not host.endswith(("example.com", "example.org", "example.net"))
    ]


LAWS = (
    misused_libraries,
    named_implementations,
    readers_of_the_environment,
    broad_catches,
    hosts_of_environments,
)


@pytest.mark.parametrize("law", LAWS)
def test_the_house_keeps_its_local_laws(law: Callable[[Iterable[Module]], list[str]]) -> None:
    found = law(modules())
    assert not found, "\n".join(found)


def test_the_program_inside_the_jail_needs_nothing_but_python() -> None:
    needed = {name.partition(".")[0] for m in modules() if m.path == _SUPERVISOR for name, _ in imports(m)}
    assert needed, f"{_SUPERVISOR} was not found, or imports nothing at all"
    assert needed <= sys.stdlib_module_names


@pytest.mark.parametrize(
    ("law", "path", "text"),
    [
        (misused_libraries, "api/health.py", "import dbos"),
        (misused_libraries, "app.py", "from fastapi.responses import Response"),
        (misused_libraries, "engine/workers.py", "def f():\n    import starlette.types"),
        (misused_libraries, "work_orders/order.py", "from sqlalchemy import select"),
        (misused_libraries, "gateway/gateway.py", "from starlette.requests import Request"),
        (named_implementations, "api/local_forge.py", "from journeyman.forges.local import LocalForge"),
        (named_implementations, "engine/checkout.py", "from journeyman.sandboxes import local"),
        (named_implementations, "steps/context.py", "import journeyman.agents.builtin.agent"),
        (readers_of_the_environment, "telemetry.py", "import os\nlevel = os.environ['LEVEL']"),
        (readers_of_the_environment, "git/push.py", "import os as system\nsystem.getenv('TOKEN')"),
        (readers_of_the_environment, "git/push.py", "from os import environ as surroundings"),
        (hosts_of_environments, "environments/egress/tools.py", "DEFAULT = 'https://crates.io/api/v1'"),
        (hosts_of_environments, "environments/detect/ruby.py", "run('gem sources -a https://RubyGems.org')"),
        (broad_catches, "git/push.py", "try:\n    f()\nexcept:\n    pass"),
        (broad_catches, "git/push.py", "try:\n    f()\nexcept (OSError, Exception) as e:\n    print(e)"),
        (broad_catches, "git/push.py", "try:\n    f()\nexcept BaseException:\n    raise OSError from None"),
        (broad_catches, "git/push.py", "import contextlib\nwith contextlib.suppress(Exception):\n    f()"),
    ],
)
def test_a_broken_local_law_is_found(
    law: Callable[[Iterable[Module]], list[str]], path: str, text: str
) -> None:
    assert len(law([parse(path, text)])) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("engine/workers.py", "from dbos import DBOS\ntry:\n    f()\nexcept Exception:\n    pass"),
        ("api/live.py", "from starlette.websockets import WebSocket"),
        ("gateway/door/door.py", "from starlette.requests import Request"),
        ("migrations/versions/0001_first.py", "import sqlalchemy"),
        ("work_orders/store/prompts.py", "from sqlalchemy import select"),
        ("forges/local.py", "from journeyman.forges.github import GitHubForge"),
        ("api/services.py", "from journeyman.forges.base import Forge"),
        ("database.py", "import sqlalchemy\ntry:\n    f()\nexcept BaseException:\n    undo()\n    raise"),
        ("environments/schema.py", "'Write registry.example.com, or javax.net.ssl.trustStore.'"),
        ("app.py", "from journeyman.agents.builtin.agent import BuiltinAgent"),
        ("settings.py", "import os\nos.environ"),
    ],
)
def test_what_the_local_laws_allow_is_left_alone(path: str, text: str) -> None:
    assert [found for law in LAWS for found in law([parse(path, text)])] == []
