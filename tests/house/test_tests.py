"""Test files hold tests; what several of them use is in a plain module beside them."""

import ast

from tests.house.source import ROOT, imports, parse


def test_no_file_imports_from_a_test_file() -> None:
    files = [path for directory in ("tests", "bench") for path in (ROOT / directory).rglob("*.py")]
    assert len(files) > 100
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in files
        for name, line in imports(parse(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")))
        if name.startswith("tests.") and any(part.startswith("test_") for part in name.split(".")[:-1])
    ]
    assert not found, "move what is shared to a plain module:\n" + "\n".join(found)


def test_every_test_file_has_a_test() -> None:
    empty = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("test_*.py")
        if not any(
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        )
    ]
    assert empty == []
