"""Open-Inspect's scripts are run as they are."""

from journeyman.environments.adopted.open_inspect import adopt
from journeyman.environments.plan import Service
from tests.environments.projects import project_of


def test_its_scripts_install_and_start() -> None:
    definition = adopt(project_of({".openinspect/setup.sh": "npm ci", ".openinspect/start.sh": "x"}))
    assert definition is not None
    assert [one.command for one in definition.install or ()] == ["bash .openinspect/setup.sh"]
    assert definition.start == (Service(command="bash .openinspect/start.sh"),)
    assert (definition.source, definition.notes) == (".openinspect/setup.sh", ())


def test_a_script_that_asks_for_root_is_noted() -> None:
    definition = adopt(project_of({".openinspect/start.sh": "if true; then\n  sudo service x start\nfi"}))
    assert definition is not None
    assert "asks for root" in definition.notes[0]
    assert definition.install is None


def test_a_long_hostile_script_is_read_in_no_time() -> None:
    for text in (";A=" * 80_000, "\n" * 250_000, "/" * 250_000, "A=b " * 60_000, "(" * 250_000):
        definition = adopt(project_of({".openinspect/setup.sh": text}))
        assert definition is not None
        assert definition.notes == ()


def test_a_repository_without_one_has_none() -> None:
    assert adopt(project_of({"setup.sh": ""})) is None
