"""Every file says why it exists, and is called after what it is about."""

import ast
import re
from pathlib import PurePosixPath

from tests.house.source import modules

_EMPTY_WORDS = re.compile(r"(?:^|_)(manager|service|factory|factorie|helper|util|core|common)s?(?:_|$)")
_COMMANDS = re.compile(r"`jm (retry|prompt|approve|reject|cancel|pause|resume|fork)\b")
_EXEMPT = ("api/services.py", "environments/services.py")
"""The record of what the handlers are given holds the services of the product, and is not one; those of an
environment are what people call by that name: a database, a cache."""


def test_every_module_says_why_it_exists() -> None:
    silent = [module.path for module in modules() if not ast.get_docstring(module.tree)]
    assert not silent, "without a docstring: " + ", ".join(silent)


def test_no_module_hides_behind_an_empty_word() -> None:
    paths = [module.path for module in modules() if module.path not in _EXEMPT]
    empty = [path for path in paths if any(map(_EMPTY_WORDS.search, _parts(path)))]
    assert not empty, "called after no thing of the product: " + ", ".join(empty)


def test_an_empty_word_is_found_wherever_it_stands() -> None:
    parts = _parts("common/order_manager.py") + _parts("a/services.py") + _parts("a/utils.py")
    assert [part for part in parts if _EMPTY_WORDS.search(part)] == [
        "common",
        "order_manager",
        "services",
        "utils",
    ]
    assert not any(map(_EMPTY_WORDS.search, _parts("git/commits.py") + _parts("sandboxes/scores.py")))


def test_no_hint_sends_a_reader_of_the_page_to_the_terminal() -> None:
    """Messages reach the page as well as the terminal; what both can do is called by its name alone."""
    told = [
        f"{module.path}:{node.lineno}"
        for module in modules()
        if module.room != "cli"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _COMMANDS.search(node.value)
    ]
    assert told == []


def _parts(path: str) -> tuple[str, ...]:
    return PurePosixPath(path).with_suffix("").parts
