"""One name for one thing: no public name in two rooms, and none of the names that were given up."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

import pytest

from tests.house.source import Module, modules, parse

RETIRED = (
    *("at_rest", "bench", "carry_out", "clash", "colleague", "go_on", "handwritten", "hatch", "let_go"),
    *("meet_people", "nobody_asks", "nobody_minds", "outlast", "patience", "set_down", "shelf", "sign_off"),
    *("signs_of_life", "standing", "steering", "stillness", "story", "strike_off", "take_in", "telling"),
    *("told", "workshop"),
)
"""Private metaphors that the field has words for: handle, context, retry, timeout, rebase, event, cache."""
_STEP = "run"
"""What every file of `steps/` calls its one function: a contract of the room, and of no other."""
_ENTRY = "main"
_REGISTERED = ("router", "app", "commands")
"""Decorators of these register a function under a name of the wire or of the command line."""


def public_names(module: Module) -> Iterator[tuple[str, int]]:
    """Classes, functions and type aliases at the top of a module.

    Not those that a decorator registers (HTTP routes, commands), nor constants, type variables, `main`, and
    `run` of a step.
    """
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if not any(_registers(one) for one in node.decorator_list):
                yield node.name, node.lineno
        elif isinstance(node, ast.Assign | ast.AnnAssign) and not _is_type_variable(node.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and re.match(r"[A-Z]\w*[a-z]", target.id):
                    yield target.id, node.lineno


def _registers(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, ast.Attribute) and ast.unparse(called.value).endswith(_REGISTERED)


def _is_type_variable(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func) in ("TypeVar", "ParamSpec")


def homonyms(house: Iterable[Module]) -> list[str]:
    places: dict[str, dict[str, str]] = defaultdict(dict)
    for module in house:
        if module.path.startswith("migrations/versions/"):
            continue
        for name, line in public_names(module):
            if name.startswith("_") or name == _ENTRY or (module.room, name) == ("steps", _STEP):
                continue
            places[name].setdefault(module.room, f"{module.path}:{line}")
    return [
        f"{name}: {', '.join(rooms.values())}" for name, rooms in sorted(places.items()) if len(rooms) > 1
    ]


def retired_names(house: Iterable[Module]) -> list[str]:
    found = []
    for module in house:
        names = {(module.path.removesuffix(".py"), 1), *_names(module.tree)}
        for name, line in sorted(names, key=lambda one: one[1]):
            words = "_".join(re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)).lower()
            if any(f"_{retired}_" in f"_{words}_" for retired in RETIRED):
                found.append(f"{module.path}:{line}: {name}")
    return found


def _names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Everything in a module that its author has given a name to."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno


def test_no_two_rooms_have_a_public_name_in_common() -> None:
    found = homonyms(modules())
    assert not found, "rename the less central one:\n" + "\n".join(found)


def test_no_name_that_was_given_up_comes_back() -> None:
    found = retired_names(modules())
    assert not found, "use the field's word:\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("class Answer: ...", "class Answer: ..."),
        ("def look(): ...", "async def look(): ..."),
        ("class Answer: ...", "Answer = Literal['yes', 'no']"),
        ("class Name: ...", "Name: TypeAlias = str"),
        ("def run(): ...", "def run(): ..."),
    ],
)
def test_a_name_in_two_rooms_is_found(one: str, other: str) -> None:
    assert len(homonyms([parse("git/a.py", one), parse("forges/b.py", other)])) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def _look(): ...", "def _look(): ..."),
        ("def main(): ...", "def main(): ..."),
        ("T = TypeVar('T')", "T = TypeVar('T')"),
        ("LIMIT = 1", "LIMIT = 2"),
        ("class Outer:\n    class Inner: ...", "class Inner: ..."),
        ("@router.get('/x')\nasync def show(): ...", "def show(): ..."),
        ("@app.command()\ndef submit(): ...", "def submit(): ..."),
    ],
)
def test_what_is_not_public_may_be_called_alike(one: str, other: str) -> None:
    assert homonyms([parse("git/a.py", one), parse("forges/b.py", other)]) == []


def test_the_verbs_of_steps_share_their_one_name() -> None:
    verbs = [parse("steps/plan.py", "def run(): ..."), parse("steps/build.py", "def run(): ...")]
    assert homonyms([*verbs, parse("git/run.py", "def run_git(): ...")]) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("engine/workshop.py", ""),
        ("engine/a.py", "class WorkshopParts: ..."),
        ("engine/a.py", "def meet_people(): ..."),
        ("engine/a.py", "def f(patience): ..."),
        ("engine/a.py", "told = 1"),
        ("engine/a.py", "self._telling = 1"),
    ],
)
def test_a_retired_name_is_found(path: str, text: str) -> None:
    assert len(retired_names([parse(path, text)])) == 1


@pytest.mark.parametrize("text", ["untold = 1", "class Benchmark: ...", "def f(impatience): ...", "'told'"])
def test_a_word_that_only_holds_a_retired_one_is_left_alone(text: str) -> None:
    assert retired_names([parse("engine/a.py", text)]) == []
