"""The reference names everything there is, and nothing that is not.

A page lists a thing by a heading, or by the first cell of a table row, that begins with its name in
backquotes. Tables whose first column is headed otherwise than the page's own word are not lists.
"""

import ast
import itertools
import re
from collections.abc import Iterable
from typing import Literal, get_args, get_origin

import pytest
import typer.main
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from journeyman.cli.main import app
from journeyman.events.types import EVENT
from journeyman.settings import SETTING_NAMES, Settings
from journeyman.steps import VERBS
from tests.house.picture import PICTURE, draw
from tests.house.source import PACKAGE, ROOT, modules

_NOT_VERBS = (
    "steps/__init__.py",
    "steps/agent_session.py",
    "steps/context.py",
    "steps/order_environment.py",
    "steps/order_sandboxes.py",
    "steps/branch_recorder.py",
    "steps/write_access.py",
)


def listed(page: str, word: str) -> set[str]:
    """The names that a page under docs/reference lists, under headings or in tables headed `word`."""
    path = ROOT / "docs" / "reference" / page
    assert path.is_file(), f"docs/reference/{page} does not exist; it lists every {word}"
    return set(names(path.read_text(encoding="utf-8"), word))


def names(text: str, word: str) -> Iterable[str]:
    column = ""
    for line in text.splitlines():
        if heading := re.match(r"#+ +`(?:jm )?([^` ]+)", line):
            yield heading[1]
        if not line.startswith("|"):
            column = ""
            continue
        cell = line.strip("|").split("|")[0].strip()
        column = column or cell.lower()
        if column == word and (name := re.match(r"`(?:jm )?([^` ]+)", cell)):
            yield name[1]


def event_types() -> set[str]:
    schema = EVENT.json_schema()
    return set(schema["discriminator"]["mapping"])


def commands() -> dict[str, bool]:
    """Every command of `jm`, and whether its help shows it."""
    group = typer.main.get_group(app)
    return {name: not command.hidden for name, command in group.commands.items()}


def test_every_setting_is_documented_as_the_code_has_it() -> None:
    page = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    missing = [row for row in setting_rows() if row not in page.splitlines()]
    assert not missing, "docs/reference/settings.md should have these rows:\n" + "\n".join(missing)
    assert listed("settings.md", "setting") == set(SETTING_NAMES)


def test_every_command_is_documented_and_no_other() -> None:
    documented = listed("commands.md", "command")
    assert {name for name, shown in commands().items() if shown} - documented == set()
    assert documented - set(commands()) == set()


def test_every_event_is_documented_and_no_other() -> None:
    assert listed("events.md", "event") == event_types()


def test_every_kind_of_step_is_documented_and_no_other() -> None:
    assert listed("workflows.md", "kind") == set(VERBS)


def test_every_step_says_why_it_is_safe_to_repeat() -> None:
    steps = [m for m in modules() if m.room == "steps" and m.path not in _NOT_VERBS]
    assert steps
    silent = [m.path for m in steps if "Safe to repeat because" not in (ast.get_docstring(m.tree) or "")]
    assert not silent, "without 'Safe to repeat because …' in the docstring: " + ", ".join(silent)


def test_the_picture_of_the_house_is_that_of_the_imports() -> None:
    drawn = PICTURE.read_text(encoding="utf-8") if PICTURE.exists() else ""
    assert drawn == draw(), "rooms import each other in another way now; run scripts/picture.sh"


def test_the_ways_through_the_house_name_files_that_exist() -> None:
    page = (ROOT / "docs" / "explanation" / "the-house.md").read_text(encoding="utf-8")
    ways = page.partition("## Two ways through the code")[2].partition("\n## ")[0].split("From ")[1:]
    for way in ways:
        files = re.findall(r"^\| `([\w/.-]+)` \|", way, re.MULTILINE)
        assert 5 < len(files) <= 12
        assert [one for one in files if not (PACKAGE / one).is_file() and not (ROOT / one).is_file()] == []
    assert len(ways) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## `jm submit`\n### `--model`", ["submit", "--model"]),
        ("| Event | when |\n| --- | --- |\n| `step_started` | … |", ["step_started"]),
        ("| field | type |\n| --- | --- |\n| `round` | int |", []),
        ("| event |\n| --- |\n| `a` |\n\n| field |\n| --- |\n| `b` |", ["a"]),
        ("A paragraph about `step_started`.", []),
    ],
)
def test_only_headings_and_tables_of_the_page_list_things(text: str, expected: list[str]) -> None:
    assert list(names(text, "event")) == expected


def setting_rows() -> list[str]:
    """A table row for every setting, from its field and the text under it."""
    meanings = _texts_under_fields()
    return [
        f"| `{alias}` | {_default(Settings.model_fields[name])} | {meanings[name]}{_choices(name)} |"
        for alias, name in SETTING_NAMES.items()
    ]


def _default(field: FieldInfo) -> str:
    if field.alias == "JOURNEYMAN_HOME":
        return "the platform's user data directory"
    value = field.get_default(call_default_factory=True)
    if value in (None, "", []):
        return "not set"
    assert not isinstance(value, SecretStr), "a secret has no default"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _choices(name: str) -> str:
    annotation = Settings.model_fields[name].annotation
    if get_origin(annotation) is not Literal:
        return ""
    return " One of " + ", ".join(f"`{choice}`" for choice in get_args(annotation)) + "."


def _texts_under_fields() -> dict[str, str]:
    tree = ast.parse((PACKAGE / "settings.py").read_text(encoding="utf-8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Settings")
    texts = {}
    for field, text in itertools.pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            assert isinstance(text, ast.Expr), f"the setting {field.target.id} has no text under it"
            assert isinstance(text.value, ast.Constant)
            texts[field.target.id] = " ".join(str(text.value.value).split())
    return texts
