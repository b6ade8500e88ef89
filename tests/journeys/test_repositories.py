"""A repository is checked before anything is spent, and its environment file becomes a pull request."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.product import Product, run_jm
from tests.journeys.repositories import FIXED, git, make_repository

PROPOSED = "checks:\n  test: python3 -m unittest\n"


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    home = tmp_path_factory.mktemp("repositories") / "home"
    home.mkdir()
    product = Product(home, JOURNEYMAN_MODEL="scripted/explorer", JOURNEYMAN_ENVIRONMENT_SETUP="auto")
    product.script(
        "explorer", {"when": {"role": "explore"}, "replies": [{"deliver": {"definition": PROPOSED}}]}
    )
    with product as running:
        yield running


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made = make_repository(tmp_path / "adder")
    (made / "adder.py").write_text(FIXED)
    git(made, "commit", "-qam", "Add")
    return made


def known(product: Product, repository: Path) -> str:
    answer = product.request("POST", "/api/repositories", json={"repository_url": str(repository)})
    assert answer.status_code == 201, answer.text
    repository_id: str = answer.json()["repository"]["repository_id"]
    return repository_id


def checked(product: Product, repository_id: str, **body: Any) -> dict[str, Any]:
    """The environment as the check left it."""
    path = f"/api/repositories/{repository_id}/environment"
    begun = product.request("POST", f"{path}/check", json=body)
    assert begun.status_code == 202, begun.text
    order = product.finish(begun.json()["agent_work_order_id"])
    assert order["status"] == "completed", order
    answer: dict[str, Any] = product.get(path)
    return answer


def test_a_repository_whose_tests_pass_is_ready(product: Product, repository: Path) -> None:
    answer = checked(product, known(product, repository))
    assert answer["repository"]["environment_state"] == "ready", answer
    report = answer["report"]
    assert [one["outcome"] for one in report["checks"] if one["kind"] == "test"] == ["passed"]
    assert report["commit_sha"] == git(repository, "rev-parse", "HEAD")
    assert report["clone"]["files"] == 2
    assert report["proposed_definition"]
    assert answer["repository"]["rights"]["push"] is True
    assert git(repository, "branch", "--list", "journeyman/*") == ""


def test_tests_that_fail_before_any_change_need_attention(product: Product, tmp_path: Path) -> None:
    answer = checked(product, known(product, make_repository(tmp_path / "broken")))
    assert answer["repository"]["environment_state"] == "needs_attention"
    assert "fails before anything is changed" in answer["repository"]["attention"]


def test_a_definition_is_tried_and_then_holds_once_it_is_stored(product: Product, repository: Path) -> None:
    repository_id = known(product, repository)
    tried = checked(product, repository_id, definition="checks: {test: 'exit 3'}\n")
    [check] = [one for one in tried["report"]["checks"] if one["kind"] == "test"]
    assert (check["command"], check["outcome"]) == ("exit 3", "failed")
    assert tried["report"]["is_trial"] is True
    assert tried["definition"] is None
    own = "checks: {test: python3 -m unittest -v}\n"
    path = f"/api/repositories/{repository_id}/environment"
    assert product.request("PUT", path, json={"definition": own}).status_code == 200
    stored = checked(product, repository_id)
    assert stored["source"] == "server"
    assert [one["command"] for one in stored["report"]["checks"]] == ["python3 -m unittest -v"]
    assert stored["report"]["proposed_definition"] == own


def test_what_is_only_tried_leaves_open_what_is_in_force(product: Product, repository: Path) -> None:
    tried = checked(product, known(product, repository), definition="checks: {test: 'true'}\n")
    assert (tried["report"]["state"], tried["source"]) == ("ready", "definition")
    assert tried["repository"]["environment_state"] == "unknown"
    path = f"/api/repositories/{tried['repository']['repository_id']}/environment"
    stored = product.request("PUT", path, json={"definition": "checks: {test: 'true'}\n"}).json()
    assert stored["repository"]["environment_state"] == "ready", "it is what was tried"
    other = product.request("PUT", path, json={"definition": "checks: {test: 'false'}\n"}).json()
    assert other["repository"]["environment_state"] == "unknown"


def test_what_tests_lack_is_in_the_finding_and_in_the_proposal_which_an_edit_makes_ready(
    product: Product, repository: Path
) -> None:
    tests = (repository / "test_adder.py").read_text()
    (repository / "test_adder.py").write_text(f"import freezegun_x\n{tests}")
    git(repository, "commit", "-qam", "Freeze")
    repository_id = known(product, repository)
    report = checked(product, repository_id)["report"]
    [finding] = [one for one in report["findings"] if one["blocks"]]
    assert "the Python package freezegun-x is not installed" in finding["what"]
    assert (finding["command"], finding["who"]) == ("pip install freezegun-x", "maintainer")
    proposed = report["proposed_definition"]
    assert "- pip install freezegun-x" in proposed
    makes_it = "mkdir -p lacked && touch lacked/freezegun_x.py"
    edited = proposed.replace("pip install freezegun-x", makes_it) + "\ncache: [lacked]\n"
    edited += "env: {PYTHONPATH: /workspace/lacked}\n"
    tried = checked(product, repository_id, definition=edited)
    assert tried["report"]["state"] == "ready", tried["report"]


def test_mistakes_in_the_file_of_a_repository_are_findings_and_its_text_is_there_to_correct(
    product: Product, repository: Path
) -> None:
    wrong = "install: []\ncheks: {test: 'true'}\nworkdir: /etc\n"
    (repository / ".journeyman").mkdir()
    (repository / ".journeyman" / "environment.yaml").write_text(wrong)
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "Say what it needs")
    report = checked(product, known(product, repository))["report"]
    assert (report["score"], report["proposed_definition"]) == (0, wrong)
    assert [one["what"].partition(": ")[0] for one in report["findings"]] == [
        ".journeyman/environment.yaml, line 2",
        ".journeyman/environment.yaml, line 3",
    ]


def test_an_agent_proposes_a_definition_when_it_is_asked(product: Product, repository: Path) -> None:
    answer = checked(product, known(product, repository), ask_agent=True)
    assert answer["report"]["proposed_definition"] == PROPOSED


def test_a_repository_that_has_gone_needs_attention_and_says_why(product: Product, repository: Path) -> None:
    repository_id = known(product, repository)
    git(repository, "symbolic-ref", "HEAD", "refs/heads/nothing")
    git(repository, "branch", "-D", "main")
    path = f"/api/repositories/{repository_id}/environment"
    begun = product.request("POST", f"{path}/check", json={})
    assert begun.status_code == 202, begun.text
    list(product.follow(begun.json()["agent_work_order_id"]))
    answer = product.get(path)
    assert answer["repository"]["environment_state"] == "needs_attention", answer
    assert answer["report"]["findings"][0]["what"]


def test_a_definition_becomes_a_pull_request_with_the_file(product: Product, repository: Path) -> None:
    body = {
        "repository_url": str(repository),
        "workflow_type": "environment_file",
        "initial_prompt": PROPOSED,
    }
    made = product.request("POST", "/api/agent-work-orders", json=body)
    assert made.status_code == 201, made.text
    order = product.finish(made.json()["agent_work_order"]["agent_work_order_id"])
    assert order["status"] == "completed", order
    assert order["github_pull_request_url"]
    branch = order["git_branch_name"]
    assert git(repository, "show", f"{branch}:.journeyman/environment.yaml") + "\n" == PROPOSED
    assert git(repository, "diff", "--name-only", f"main...{branch}") == ".journeyman/environment.yaml"


def test_a_wrong_environment_file_is_corrected_by_a_pull_request(product: Product, repository: Path) -> None:
    (repository / ".journeyman").mkdir()
    (repository / ".journeyman" / "environment.yaml").write_text("cheks: {}\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "Say what it needs")
    body = {
        "repository_url": str(repository),
        "workflow_type": "environment_file",
        "initial_prompt": PROPOSED,
    }
    made = product.request("POST", "/api/agent-work-orders", json=body)
    order = product.finish(made.json()["agent_work_order"]["agent_work_order_id"])
    assert order["status"] == "completed", order
    assert (
        git(repository, "show", f"{order['git_branch_name']}:.journeyman/environment.yaml") + "\n" == PROPOSED
    )


def test_a_link_in_place_of_the_file_is_not_followed(
    product: Product, repository: Path, tmp_path: Path
) -> None:
    (outside := tmp_path / "outside").mkdir()
    (repository / ".journeyman").symlink_to(outside)
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "A trap")
    body = {
        "repository_url": str(repository),
        "workflow_type": "environment_file",
        "initial_prompt": PROPOSED,
    }
    made = product.request("POST", "/api/agent-work-orders", json=body)
    list(product.follow(made.json()["agent_work_order"]["agent_work_order_id"]))
    order = product.order(made.json()["agent_work_order"]["agent_work_order_id"])
    assert order["status"] in ("failed", "paused")
    assert list(outside.iterdir()) == []


def test_the_doctor_of_the_command_line_prints_score_checks_and_remedies(
    product: Product, repository: Path, tmp_path: Path
) -> None:
    place = {"JOURNEYMAN_URL": product.url, "JOURNEYMAN_HOME": str(tmp_path / "person")}
    good = run_jm("doctor", "--repository", str(repository), **place)
    assert good.returncode == 0, good.stderr
    assert "ready  " in good.stdout
    assert "passed" in good.stdout
    bad = run_jm("doctor", "-r", str(make_repository(tmp_path / "broken")), **place)
    assert bad.returncode == 1, bad.stdout
    assert "needs attention" in bad.stdout
    assert "What to do: " in bad.stdout
    assert "Proposed .journeyman/environment.yaml" in bad.stdout
    as_json = run_jm("doctor", "-r", str(repository), "--json", **place)
    assert as_json.returncode == 0
    assert '"environment_state": "ready"' in as_json.stdout
