"""Workflows of one's own: parallel steps, conditions, templates, failures, retries and time limits."""

from pathlib import Path
from typing import Any

import pytest

from tests.journeys.conftest import on_each_store
from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, PLANS, builds, calls, git, make_repository, says


def carry_out(
    product: Product, repository: Path, name: str, steps: str, *turns: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The finished order and its steps by name."""
    directory = product.home / "workflows"
    directory.mkdir(exist_ok=True)
    (directory / f"{name}.yaml").write_text(f"name: {name}\ndescription: A test.\nsteps:\n{steps}")
    model = product.script("fix", *turns, builds(FIXED))
    order = product.finish(product.submit(repository, model, workflow_type=name))
    records = product.get(f"/api/agent-work-orders/{order['agent_work_order_id']}/steps")["steps"]
    return order, {record["step"]: record for record in records}


def test_steps_of_one_layer_that_only_read_run_at_the_same_time(product: Product, tmp_path: Path) -> None:
    meet = "touch /tmp/{0}; until [ -e /tmp/{1} ]; do sleep 0.01; done"
    looks = [
        {
            "when": {"role": "explore", "contains": f"look {here}"},
            "replies": [calls("shell", command=meet.format(here, there)), says("Met.")],
        }
        for here, there in (("left", "right"), ("right", "left"))
    ]
    order, steps = carry_out(
        product,
        make_repository(tmp_path / "adder"),
        "meeting",
        """
  - {name: left, kind: explore, timeout: 60s, prompt: "look left"}
  - {name: right, kind: explore, timeout: 60s, prompt: "look right"}
""",
        *looks,
    )
    assert order["status"] == "completed", order
    assert {record["status"] for record in steps.values()} == {"completed"}


def files_of(repository: Path, commit: str) -> set[str]:
    """What a commit changed."""
    return set(git(repository, "show", "--format=", "--name-only", commit).split())


def test_steps_of_one_layer_that_write_take_turns(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder", tests="import adder\n")
    alone = "[ ! -e half ] && touch half && sleep 0.5 && rm half && ls > {0}.txt"
    order, steps = carry_out(
        product,
        repository,
        "turns",
        f"""
  - {{name: one, kind: shell, command: "{alone.format("one")}"}}
  - {{name: two, kind: shell, command: "{alone.format("two")}"}}
  - {{name: build, kind: build}}
  - {{name: checks, kind: verify}}
  - {{name: publish, kind: open_pull_request, depends_on: [one, two, build, checks]}}
""",
    )
    assert {record["status"] for record in steps.values()} == {"completed"}, order
    branch = order["git_branch_name"]
    assert git(repository, "ls-tree", "--name-only", branch, "one.txt", "two.txt").split() == [
        "one.txt",
        "two.txt",
    ]
    commits = git(repository, "log", "--format=%H %(trailers:key=Agent-Step,valueonly,separator=)", branch)
    made = {step: commit for commit, _, step in (line.partition(" ") for line in commits.splitlines())}
    assert files_of(repository, made["one"]) == {"one.txt"}
    assert files_of(repository, made["two"]) == {"two.txt"}
    assert files_of(repository, made["build"]) == {"adder.py"}


def test_what_a_failed_command_left_is_not_committed_by_the_next_step(
    product: Product, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "adder")
    order, steps = carry_out(
        product,
        repository,
        "leftovers",
        """
  - {name: twice, kind: shell, retries: 1,
     command: "echo x >> count.txt; test -e /tmp/k || { touch /tmp/k; exit 1; }"}
  - {name: slow, kind: shell, depends_on: [twice], timeout: 1s, on_failure: continue,
     command: "echo half > half.txt; sleep 1000"}
  - {name: next, kind: shell, depends_on: [slow], command: "echo whole > whole.txt"}
  - {name: publish, kind: open_pull_request, depends_on: [next]}
""",
    )
    assert order["status"] == "completed", order
    assert steps["twice"]["attempts"] == 2
    branch = order["git_branch_name"]
    assert git(repository, "show", f"{branch}:count.txt") == "x"
    assert git(repository, "ls-tree", "--name-only", branch, "half.txt", "whole.txt") == "whole.txt"
    notices = [
        one["text"] for one in product.events(order["agent_work_order_id"]) if one["type"] == "agent_notice"
    ]
    assert any("set aside in refs/journeyman/snapshots/" in text for text in notices)


def test_an_output_decides_what_runs_and_what_it_is_told(product: Product, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "adder")
    order, steps = carry_out(
        product,
        repository,
        "deciding",
        """
  - name: lint
    kind: shell
    command: |
      echo '{"error_count": 2, "hostile": "$(touch /workspace/pwned); `id`"}'
  - {name: fix, kind: shell, depends_on: [lint], condition: "{{steps.lint.output.error_count}} > 0",
     command: "echo {{ steps.lint.output.hostile }} {{ steps.lint.output.error_count }} > fixed.txt"}
  - {name: celebrate, kind: shell, depends_on: [lint], condition: "steps.lint.output.error_count == 0",
     command: "touch party.txt"}
  - {name: publish, kind: open_pull_request, depends_on: [fix, celebrate]}
""",
    )
    assert order["status"] == "completed", order
    assert steps["celebrate"]["status"] == "skipped"
    branch = order["git_branch_name"]
    assert git(repository, "show", f"{branch}:fixed.txt") == "$(touch /workspace/pwned); `id` 2"
    assert git(repository, "ls-tree", "--name-only", branch).split() == [
        "adder.py",
        "fixed.txt",
        "test_adder.py",
    ]


_LOOKED = "It subtracts in adder.py, and test_adder.py shows it."
_FOUND = {"path": "adder.py", "line": 2, "problem": "add(1, 2) gives -1"}


def test_what_was_explored_is_planned_with_and_what_a_review_finds_is_built(
    product: Product, tmp_path: Path
) -> None:
    repository = make_repository(tmp_path / "adder")
    planned = PLANS | {"when": {"role": "plan", "contains": f"(?s)exploration.*{_LOOKED}"}}
    order, steps = carry_out(
        product,
        repository,
        "careful",
        """
  - {name: look, kind: explore}
  - {name: plan, kind: plan, depends_on: [look]}
  - {name: build, kind: build, depends_on: [plan]}
  - {name: review, kind: review, depends_on: [build]}
  - name: rework
    kind: build
    depends_on: [review]
    condition: steps.review.output.verdict == "request_changes"
    prompt: "{% for one in steps.review.output.findings %}{{ one.path }}: {{ one.problem }}{% endfor %}"
  - {name: publish, kind: open_pull_request, depends_on: [rework]}
""",
        {
            "when": {"role": "explore"},
            "replies": [calls("shell", command="touch mark || echo refused"), says(_LOOKED)],
        },
        planned,
        {
            "when": {"role": "review", "contains": "git diff [0-9a-f]{40} HEAD"},
            "replies": [
                {"deliver": {"verdict": "request_changes", "summary": "Wrong.", "findings": [_FOUND]}}
            ],
        },
        builds(FIXED, "adder.py: add\\(1, 2\\) gives -1"),
        builds("def add(a, b):\n    return b - a\n"),
    )
    assert order["status"] == "completed", order
    assert steps["look"]["output"] == {"summary": _LOOKED}
    assert steps["review"]["output"]["findings"] == [_FOUND]
    events = product.events(order["agent_work_order_id"])
    refused = next(one for one in events if one["type"] == "tool_call_completed" and one["tool"] == "shell")
    assert "refused" in refused["output"]
    [told] = [one for one in events if one["type"] == "review_completed"]
    assert (told["verdict"], told["findings_count"]) == ("request_changes", 1)
    assert git(repository, "show", f"{order['git_branch_name']}:adder.py") == FIXED.strip()


def test_a_review_without_a_verdict_fails_its_step(product: Product, tmp_path: Path) -> None:
    order, steps = carry_out(
        product,
        make_repository(tmp_path / "adder"),
        "opinions",
        """
  - {name: build, kind: build}
  - {name: review, kind: review, depends_on: [build]}
""",
        {"when": {"role": "review"}, "replies": [says("Looks good to me."), says("Really.")]},
    )
    assert (order["status"], order["error_category"]) == ("failed", "agent")
    assert "no verdict" in steps["review"]["error_message"]


def test_a_step_that_may_fail_does_not_stop_the_round(product: Product, tmp_path: Path) -> None:
    order, steps = carry_out(
        product,
        make_repository(tmp_path / "adder"),
        "forgiving",
        """
  - {name: fails, kind: shell, command: "exit 3", on_failure: continue}
  - {name: after, kind: shell, depends_on: [fails], condition: "steps.fails.status == 'failed'", command: ":"}
""",
    )
    assert order["status"] == "completed", order
    assert (steps["fails"]["status"], steps["fails"]["output"]["exit_code"]) == ("failed", 3)
    assert steps["after"]["status"] == "completed"


def test_a_step_that_may_not_fail_stops_the_round(product: Product, tmp_path: Path) -> None:
    order, steps = carry_out(
        product,
        make_repository(tmp_path / "adder"),
        "strict",
        """
  - {name: fails, kind: shell, command: "echo no luck; exit 3"}
  - {name: after, kind: shell, depends_on: [fails], command: "exit 0"}
""",
    )
    assert order["status"] == "failed"
    assert "exit code 3" in order["error_message"]
    assert "no luck" in order["error_message"]
    assert "after" not in steps


def test_a_step_is_tried_again_as_often_as_it_says(product: Product, tmp_path: Path) -> None:
    order, steps = carry_out(
        product,
        make_repository(tmp_path / "adder"),
        "stubborn",
        """
  - {name: second, kind: shell, retries: 1, command: "test -e /tmp/tried || { touch /tmp/tried; exit 1; }"}
""",
    )
    assert order["status"] == "completed", order
    assert steps["second"]["attempts"] == 2
    kinds = [event["type"] for event in product.events(order["agent_work_order_id"])]
    assert kinds.count("step_retrying") == 1


def test_a_step_ends_at_its_time_limit_with_everything_it_started(product: Product, tmp_path: Path) -> None:
    order, steps = carry_out(
        product,
        make_repository(tmp_path / "adder"),
        "hasty",
        """
  - {name: slow, kind: shell, timeout: 1s, on_failure: continue, command: "setsid sleep 1000 & sleep 1000"}
  - {name: look, kind: shell, depends_on: [slow], command: "pgrep -c sleep || true"}
""",
    )
    assert order["status"] == "completed", order
    assert steps["slow"]["status"] == "failed"
    assert "longer than 1 s" in steps["slow"]["error_message"]
    assert steps["look"]["output"]["output"].strip() == "0"


@on_each_store
@pytest.mark.parametrize("moment", ["commit_started", "commit_made"])
def test_a_command_that_a_crash_cut_off_takes_effect_once(
    product: Product, tmp_path: Path, moment: str
) -> None:
    repository = make_repository(tmp_path / "adder")
    directory = product.home / "workflows"
    directory.mkdir(exist_ok=True)
    (directory / "appends.yaml").write_text(
        """name: appends
steps:
  - {name: count, kind: shell, command: "echo x >> count.txt; echo '{\\"lines\\": 1}'"}
  - {name: publish, kind: open_pull_request, depends_on: [count], condition: steps.count.output.lines == 1}
"""
    )
    product.stop()
    product.start(JOURNEYMAN_FAILPOINTS=f"{moment}=kill")
    order_id = product.submit(repository, product.script("fix", builds(FIXED)), workflow_type="appends")
    product.wait_for_end()
    product.start()
    order = product.finish(order_id)
    assert order["status"] == "completed", order
    assert git(repository, "show", f"{order['git_branch_name']}:count.txt") == "x"


def test_a_workflow_with_a_mistake_is_refused_and_says_where(product: Product, tmp_path: Path) -> None:
    (product.home / "workflows").mkdir(exist_ok=True)
    text = "name: circle\ndescription: A test.\nsteps:\n"
    text += "  - {name: a, kind: plan, depends_on: [b]}\n  - {name: b, kind: build, depends_on: [a]}\n"
    (product.home / "workflows" / "circle.yaml").write_text(text)
    body = {
        "repository_url": str(make_repository(tmp_path / "adder")),
        "workflow_type": "circle",
        "initial_prompt": "x",
        "model": "scripted/demo",
    }
    answer = product.request("POST", "/api/agent-work-orders", json=body)
    assert answer.status_code == 422
    problem = answer.json()
    assert "circle.yaml" in problem["detail"]
    assert "circle" in problem["detail"]
    assert problem["hint"]
