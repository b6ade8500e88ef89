"""The parts of a conftest.py that act on tests which did not ask for them.

A fixture that a test names belongs to the tests, like a module that they import. A hook, a plugin, an
automatic fixture or code that runs on import changes how every test is run and reported: six lines of it can
make a failing test pass with a clean report.
"""

import ast
from collections import Counter
from collections.abc import Iterator

_MAX_BYTES = 100_000
_LISTS = frozenset({"pytest_plugins", "collect_ignore", "collect_ignore_glob", "pytestmark"})


def acts_on_all_tests(base: bytes | None, head: bytes) -> bool:
    """Whether the change of a conftest.py touches such a part. What cannot be read may hold one."""
    old, new = parts_of(base or b""), parts_of(head)
    return old is None or new is None or old != new


def parts_of(source: bytes) -> Counter[str] | None:
    """Such parts as normalised source; None where it is no Python."""
    if len(source) > _MAX_BYTES:
        return None
    try:
        return Counter(ast.unparse(node) for node in _parts(ast.parse(source).body))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _parts(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith("pytest_") or any(map(_is_automatic, node.decorator_list)):
                yield node
        elif isinstance(node, ast.ClassDef):
            continue
        elif isinstance(node, ast.Import | ast.ImportFrom):
            if any(
                alias.name == "*" or (alias.asname or alias.name).startswith("pytest_")
                for alias in node.names
            ):
                yield node
        elif not _is_constant(node):
            yield node


def _is_automatic(decorator: ast.expr) -> bool:
    """Whether it makes a hook, or a fixture that every test gets."""
    if not isinstance(decorator, ast.Call):
        return ast.unparse(decorator).endswith(("hookimpl", "hookspec"))
    is_automatic = any(
        keyword.arg is None
        or (
            keyword.arg == "autouse"
            and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)
        )
        for keyword in decorator.keywords
    )
    return is_automatic or ast.unparse(decorator.func).endswith(("hookimpl", "hookspec"))


def _is_constant(node: ast.stmt) -> bool:
    """A docstring, or a name that is given a value without calling anything."""
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if not all(isinstance(target, ast.Name) and _is_ordinary(target.id) for target in targets):
            return False
    elif not isinstance(node, ast.Expr | ast.Pass):
        return False
    return not any(
        isinstance(inner, ast.Call | ast.Await | ast.Yield | ast.NamedExpr) for inner in ast.walk(node)
    )


def _is_ordinary(name: str) -> bool:
    return name not in _LISTS and not name.startswith("pytest_")
