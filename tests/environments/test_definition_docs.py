"""The pages about environment files: every example is one, every field is described, the database starts."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from journeyman.environments import schema
from journeyman.environments.definition import MAX_BYTES, Definition, apply, parse_definition
from journeyman.environments.plan import Environment
from journeyman.environments.services import start_services
from journeyman.errors import InvalidEnvironment
from journeyman.sandboxes.local import LocalSandboxes
from journeyman.settings import Settings
from tests.house.source import ROOT
from tests.sandboxes.specs import spec_for

_REFERENCE = "docs/reference/environment-file.md"
_HOW_TO = "docs/how-to/set-up-an-environment.md"
_ENTRIES: dict[str, type[BaseModel]] = {
    "install": schema.InstallEntry,
    "start": schema.StartEntry,
    "checks": schema.CheckEntry,
    "network": schema.NetworkEntry,
}


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def examples(page: str) -> list[str]:
    return re.findall(r"^```yaml\n(.*?)^```", text_of(page), re.MULTILINE | re.DOTALL)


def sections() -> dict[str, str]:
    """The text under the heading of each field."""
    found = re.split(
        r"^### `(\w+)`$", text_of(_REFERENCE).partition("\n## What is refused")[0], flags=re.MULTILINE
    )
    return dict(zip(found[1::2], found[2::2], strict=True))


@pytest.mark.parametrize("page", [_REFERENCE, _HOW_TO])
def test_every_example_can_be_used_as_it_is(page: str) -> None:
    found = examples(page)
    assert len(found) >= 7
    for example in found:
        environment = apply(parse_definition(example, source=page), Environment())
        assert environment != Environment(source=page), example


def test_every_field_has_a_section_with_an_example_of_it() -> None:
    assert set(sections()) == set(schema.EnvironmentFile.model_fields)
    for name, text in sections().items():
        shown = "\n".join(re.findall(r"```yaml\n(.*?)```", text, re.DOTALL))
        assert re.search(rf"^{name}:", shown, re.MULTILINE), name


@pytest.mark.parametrize("field", _ENTRIES)
def test_every_key_of_an_entry_is_described_and_no_other(field: str) -> None:
    keys = re.findall(r"^\| `(\w+)` \|", sections()[field], re.MULTILINE)
    assert set(keys) == set(_ENTRIES[field].model_fields)


def test_the_limits_are_those_of_the_code() -> None:
    page = text_of(_REFERENCE)
    assert f"| size of the file | {MAX_BYTES // 1000} kB |" in page
    assert f"{schema.MAX_COMMANDS}, {schema.MAX_SERVICES}, {schema.MAX_CHECKS} |" in page
    assert f"{schema.MAX_COMMAND:,} characters" in page


def test_the_mistake_that_is_shown_is_the_one_that_is_reported() -> None:
    with pytest.raises(InvalidEnvironment) as caught:
        parse_definition("workdir: api\ninstal: [make]", source=".journeyman/environment.yaml")
    assert f"{caught.value.message}\n{caught.value.hint}\n" in text_of(_HOW_TO)


def example_with_database() -> Definition:
    [example] = [one for one in examples(_HOW_TO) if "initdb" in one]
    return parse_definition(example, source=_HOW_TO)


async def test_the_database_of_the_guide_starts_in_a_sandbox(home: Path, tmp_path: Path) -> None:
    definition = example_with_database()
    sandboxes = LocalSandboxes(Settings(home=home))
    try:
        sandbox = await sandboxes.setup(spec_for(tmp_path))
        [started] = await start_services(sandbox, definition.start or (), definition.env)
        assert started.problem == "", started.output
        query = 'psql "$DATABASE_URL" -Atc "select 6 * 7"'
        answer = await sandbox.execute_command(query, timeout=30, env=definition.env)
        assert answer.output.strip() == "42"
    finally:
        await sandboxes.close()
