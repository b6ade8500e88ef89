"""Which workflows can be named."""

from pathlib import Path

import pytest

from journeyman.errors import InvalidInput, InvalidWorkflow
from journeyman.workflows.catalog import WorkflowCatalog

OWN = "name: mine\ndescription: Mine.\nsteps:\n  - {name: look, kind: shell, command: ls}\n"


def test_the_built_in_workflows_are_always_there(tmp_path: Path) -> None:
    assert WorkflowCatalog(tmp_path / "nowhere").get("agent_workflow_plan_build_test").steps[0].name == "plan"


def test_a_file_in_the_directory_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(OWN)
    assert WorkflowCatalog(tmp_path).get("mine").description == "Mine."


def test_a_changed_file_is_read_anew(tmp_path: Path) -> None:
    shelf = WorkflowCatalog(tmp_path)
    (tmp_path / "mine.yaml").write_text(OWN)
    assert shelf.get("mine").version == 1
    (tmp_path / "mine.yaml").write_text(OWN + "version: 2\n")
    assert shelf.get("mine").version == 2


def test_a_bad_file_says_what_is_wrong_and_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(OWN)
    (tmp_path / "bad.yaml").write_text("name: bad\nsteps: 3\n")
    shelf = WorkflowCatalog(tmp_path)
    assert shelf.get("mine")
    assert isinstance(shelf.all()["bad"], InvalidWorkflow)
    with pytest.raises(InvalidWorkflow, match=r"bad\.yaml"):
        shelf.get("bad")


def test_a_file_named_otherwise_than_its_workflow_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text(OWN)
    with pytest.raises(InvalidWorkflow, match="mine"):
        WorkflowCatalog(tmp_path).get("other")


def test_a_built_in_workflow_cannot_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "agent_workflow_plan.yaml").write_text(OWN.replace("mine", "agent_workflow_plan"))
    assert WorkflowCatalog(tmp_path).get("agent_workflow_plan").steps[0].kind == "plan"


def test_an_unknown_name_gets_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        WorkflowCatalog(tmp_path).get("agent_workflow_plam")
    assert "agent_workflow_plan" in refused.value.hint


def test_a_file_with_the_name_of_a_built_in_workflow_is_said_not_to_be_used(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(OWN)
    (tmp_path / "agent_workflow_build.yaml").write_text(OWN.replace("mine", "agent_workflow_build"))
    shelf = WorkflowCatalog(tmp_path)
    assert shelf.get("agent_workflow_build").steps[0].name == "build"
    [told] = shelf.ignored()
    assert "agent_workflow_build.yaml is not used" in told
