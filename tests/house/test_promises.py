"""Every promise of the documentation names tests that exist."""

import ast
import re
from pathlib import Path

from tests.house.source import ROOT

_PAGE = ROOT / "docs" / "explanation" / "promises.md"


def promises() -> list[list[str]]:
    """The tests that each row of the page's first table names."""
    table = _PAGE.read_text(encoding="utf-8").partition("| --- | --- |\n")[2].partition("\n\n")[0]
    return [re.findall(r"`(test_\w+)`", row) for row in table.splitlines()]


def test_every_promise_is_held_by_tests_that_exist() -> None:
    assert len(promises()) > 10
    assert [names for names in promises() if not names] == []
    missing = {name for names in promises() for name in names} - set(_tests(ROOT / "tests"))
    assert not missing, f"promised in {_PAGE.name}, tested nowhere: {sorted(missing)}"


def _tests(directory: Path) -> list[str]:
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in directory.rglob("test_*.py"))
    return [
        node.name
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
