"""No class knows too much: at most ten things that act are given to it.

What acts is a class with an asynchronous method, a Protocol, a class that is neither record nor error, or a
callback. A class that acts itself counts everything that it is given. A record (a dataclass without such
methods, a model of the wire, the settings) counts only what acts, so a record of values may be long.
"""

import ast
from collections.abc import Iterable, Iterator

import pytest

from tests.house.source import Module, modules, parse

_MOST = 10
_VALUES = ("BaseModel", "TypedDict", "Enum", "StrEnum", "IntEnum", "NamedTuple")
_CALLBACKS = ("Callable", "Awaitable")
_WORDS = ast.Name | ast.Attribute


def crowded(house: Iterable[Module]) -> list[str]:
    found = list(house)
    acting = set(_CALLBACKS) | _callbacks(found)
    classes = [(module, node) for module in found for node in _classes(module)]
    acting |= {node.name for _, node in classes if _acts(node)}
    return [
        f"{module.path}:{node.lineno}: {node.name} is given {len(given)} collaborators: {', '.join(given)}"
        for module, node in classes
        if len(given := _given(node, acting)) > _MOST
    ]


def _classes(module: Module) -> Iterator[ast.ClassDef]:
    return (node for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef))


def _callbacks(house: Iterable[Module]) -> set[str]:
    """Names of type aliases that are callables, as `OnOutput = Callable[[bytes], None]`."""
    return {
        target.id
        for module in house
        for node in module.tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("Callable[")
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _acts(node: ast.ClassDef) -> bool:
    bases = {ast.unparse(base).partition("[")[0] for base in node.bases}
    if "Protocol" in bases or any(isinstance(one, ast.AsyncFunctionDef) for one in node.body):
        return True
    is_value = _is_dataclass(node) or bool(bases)
    return not is_value and _constructor(node) is not None


def _is_dataclass(node: ast.ClassDef) -> bool:
    return any(ast.unparse(one).startswith("dataclass") for one in node.decorator_list)


def _constructor(node: ast.ClassDef) -> ast.FunctionDef | None:
    found = (one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__")
    return next(found, None)


def _given(node: ast.ClassDef, acting: set[str]) -> list[str]:
    """The names of what is given to the class and counts."""
    constructor = _constructor(node)
    if constructor:
        arguments = constructor.args
        pairs = [(one.arg, one.annotation) for one in (*arguments.args, *arguments.kwonlyargs)][1:]
    else:
        pairs = [
            (one.target.id, one.annotation)
            for one in node.body
            if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and not _is_own(one)
        ]
    if _acts(node):
        return [name for name, _ in pairs]
    return [name for name, annotation in pairs if annotation and acting & _names_in(annotation)]


def _is_own(field: ast.AnnAssign) -> bool:
    """Made by the class itself, or a constant of it."""
    text = ast.unparse(field.value) if field.value else ""
    return "init=False" in text or ast.unparse(field.annotation).startswith("ClassVar")


def _names_in(annotation: ast.expr) -> set[str]:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    words = (node for node in ast.walk(annotation) if isinstance(node, _WORDS))
    return {word.id if isinstance(word, ast.Name) else word.attr for word in words}


def test_no_class_is_given_more_than_ten_collaborators() -> None:
    found = crowded(modules())
    assert not found, "\n".join(found)


def _fields(annotation: str, count: int = 11) -> str:
    return "\n".join(f"    field_{number}: {annotation}" for number in range(count))


_ACTING = "class Forge(Protocol):\n    async def push(self) -> None: ...\n"


@pytest.mark.parametrize(
    "text",
    [
        f"@dataclass\nclass Engine:\n{_fields('int')}\n    async def run(self) -> None: ...",
        f"{_ACTING}@dataclass(frozen=True)\nclass Services:\n{_fields('Forge | None')}",
        f"On = Callable[[int], None]\n@dataclass\nclass Hooks:\n{_fields('On')}",
        "class Plain:\n    def __init__(self, "
        + ", ".join(f"a{n}: int" for n in range(11))
        + ") -> None: ...",
    ],
)
def test_a_class_that_knows_too_much_is_found(text: str) -> None:
    assert len(crowded([parse("engine/x.py", text)])) == 1


@pytest.mark.parametrize(
    "text",
    [
        f"@dataclass(frozen=True)\nclass WorkOrder:\n{_fields('int', 50)}\n    def x(self) -> int: ...",
        f"class Settings(BaseModel):\n{_fields('str', 70)}",
        f"{_ACTING}@dataclass\nclass Some:\n{_fields('Forge', 10)}\n{_fields('int')}",
        f"@dataclass\nclass O:\n{_fields('int', 10)}\n    o: int = field(init=False)\n    async def f(): ...",
    ],
)
def test_a_record_of_values_may_be_long(text: str) -> None:
    assert crowded([parse("engine/x.py", text)]) == []
