"""The package's source as the laws of the house read it: parsed, never imported.

Sample repositories are data that the package carries, not rooms of the house, and are left out.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "journeyman"
FLOOR_PLAN: tuple[frozenset[str], ...] = tuple(
    frozenset(rooms.split())
    for rooms in (
        "cli",
        "app",
        "api",
        "engine",
        "steps",
        "agents verification knowledge",
        "environments",
        "gateway git",
        "sandboxes forges",
        "work_orders",
        "workflows events access",
        "migrations files",
        "database telemetry failpoints",
        "settings",
        "errors",
    )
)
"""From left to right; rooms of one entry lie side by side."""


@dataclass(frozen=True)
class Module:
    path: str
    """Inside the package, as `forges/local.py`."""
    tree: ast.Module = field(repr=False)

    @property
    def name(self) -> str:
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def room(self) -> str:
        return self.name.partition(".")[0]


def parse(path: str, text: str) -> Module:
    return Module(path, ast.parse(text, filename=path))


@cache
def modules() -> tuple[Module, ...]:
    paths = [path.relative_to(PACKAGE) for path in sorted(PACKAGE.rglob("*.py"))]
    ours = [path for path in paths if path.parts[0] != "samples"]
    return tuple(parse(path.as_posix(), (PACKAGE / path).read_text(encoding="utf-8")) for path in ours)


def imports(module: Module) -> Iterator[tuple[str, int]]:
    """Everything a module imports, wherever in it, as absolute dotted names with the line."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            origin = _origin(module, node)
            for alias in node.names:
                yield f"{origin}.{alias.name}", node.lineno
        elif isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__"):
            for argument in node.args[:1]:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value, node.lineno


def own_imports(module: Module) -> Iterator[tuple[str, int]]:
    """What a module imports of the package itself, without the package's name."""
    for name, line in imports(module):
        if name.startswith("journeyman."):
            yield name.removeprefix("journeyman."), line


def _origin(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    here = ["journeyman", *module.path.split("/")[:-1]]
    base = here[: len(here) - node.level + 1]
    return ".".join([*base, node.module] if node.module else base)


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""
