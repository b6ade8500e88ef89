"""What may happen next: examples, then properties over any workflow."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from journeyman.workflows.loader import library
from journeyman.workflows.progress import Done, Fail, Run, Skip, context_of, next_moves, stopped_by, to_repeat
from journeyman.workflows.schema import StepSpec, Workflow

COMPLETED = Done("completed")


def flow(*steps: dict[str, Any]) -> Workflow:
    return Workflow(name="w", steps=tuple(StepSpec(**{"kind": "build", **step}) for step in steps))


def names(moves: tuple[Run | Skip | Fail, ...]) -> list[str]:
    return [move.step.name for move in moves]


def test_a_step_waits_for_everything_it_needs() -> None:
    workflow = flow({"name": "a"}, {"name": "b"}, {"name": "c", "depends_on": ("a", "b")})
    assert names(next_moves(workflow, {}, {})) == ["a", "b"]
    assert names(next_moves(workflow, {"a": COMPLETED}, {})) == ["b"]
    assert names(next_moves(workflow, {"a": COMPLETED, "b": COMPLETED}, {})) == ["c"]


def test_a_round_is_over_when_every_step_is_done() -> None:
    assert next_moves(flow({"name": "a"}), {"a": COMPLETED}, {}) == ()


def test_the_draft_is_opened_beside_the_building() -> None:
    workflow = library()["agent_workflow_plan_build_test"]
    assert names(next_moves(workflow, {}, {})) == ["plan"]
    assert names(next_moves(workflow, {"plan": COMPLETED}, {})) == ["draft", "build"]


def test_a_draft_that_cannot_be_opened_does_not_end_the_round() -> None:
    workflow = library()["agent_workflow_plan_build_test"]
    done = {"plan": COMPLETED, "draft": Done("failed"), "build": COMPLETED, "verify": COMPLETED}
    assert names(next_moves(workflow, done, {})) == ["publish"]


def test_a_failed_step_ends_the_round() -> None:
    workflow = flow({"name": "a"}, {"name": "b"}, {"name": "c", "depends_on": ("a",)})
    done = {"a": Done("failed")}
    assert next_moves(workflow, done, {}) == ()
    assert stopped_by(workflow, done) == workflow.steps[0]


def test_a_step_that_may_fail_counts_as_done() -> None:
    workflow = flow({"name": "a", "on_failure": "continue"}, {"name": "b", "depends_on": ("a",)})
    assert names(next_moves(workflow, {"a": Done("failed")}, {})) == ["b"]
    assert stopped_by(workflow, {"a": Done("failed")}) is None


def test_a_skipped_step_counts_as_done() -> None:
    workflow = flow({"name": "a"}, {"name": "b", "depends_on": ("a",)})
    assert names(next_moves(workflow, {"a": Done("skipped")}, {})) == ["b"]


def test_a_false_condition_skips_and_is_quoted() -> None:
    workflow = flow(
        {"name": "a"}, {"name": "b", "depends_on": ("a",), "condition": "{{steps.a.output.n}} > 0"}
    )
    (move,) = next_moves(workflow, {"a": Done("completed", {"n": 0})}, {})
    assert move == Skip(workflow.steps[1], "the condition `{{steps.a.output.n}} > 0` is false")
    assert next_moves(workflow, {"a": Done("completed", {"n": 1})}, {}) == (Run(workflow.steps[1]),)


def test_a_condition_can_ask_how_a_step_ended_and_what_was_ordered() -> None:
    condition = "steps.a.status == 'failed' && order.title == 'Repair'"
    workflow = flow(
        {"name": "a", "on_failure": "continue"}, {"name": "b", "depends_on": ("a",), "condition": condition}
    )
    assert next_moves(workflow, {"a": Done("failed")}, {"title": "Repair"}) == (Run(workflow.steps[1]),)


def test_a_condition_without_an_answer_fails_its_step() -> None:
    workflow = flow({"name": "a"}, {"name": "b", "depends_on": ("a",), "condition": "steps.a.output.n > 0"})
    (move,) = next_moves(workflow, {"a": Done("skipped")}, {})
    assert isinstance(move, Fail)
    assert "'n', which is not there" in move.message
    assert "has(" in move.hint


def test_what_templates_see_is_plain() -> None:
    assert context_of({"a": Done("completed", {"n": 1})}, {"title": "t"}) == {
        "steps": {"a": {"status": "completed", "output": {"n": 1}}},
        "order": {"title": "t"},
    }


CONDITIONS = st.sampled_from([None, None, "true", "false", "order.there > 0", "order.missing > 0"])


@st.composite
def workflows(draw: st.DrawFn) -> Workflow:
    """Any DAG: a step may need any of those before it, and the definition is then shuffled."""
    steps: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 10))):
        before = [step["name"] for step in steps]
        needed = draw(st.lists(st.sampled_from(before), unique=True, max_size=4)) if before else []
        steps.append(
            {
                "name": f"s{number}",
                "depends_on": tuple(needed),
                "on_failure": draw(st.sampled_from(["stop", "continue"])),
                "condition": draw(CONDITIONS),
            }
        )
    return flow(*draw(st.permutations(steps)))


@given(workflow=workflows(), data=st.data())
def test_every_step_moves_once_after_its_needs_until_all_are_done_or_one_stops(
    workflow: Workflow, data: st.DataObject
) -> None:
    order = {"there": 1}
    places = {step.name: place for place, step in enumerate(workflow.steps)}
    done: dict[str, Done] = {}
    moved: list[str] = []
    while moves := next_moves(workflow, done, order):
        assert moves == next_moves(workflow, dict(reversed(done.items())), order)
        ready = {s.name for s in workflow.steps if s.name not in done and set(s.depends_on) <= set(done)}
        assert set(names(moves)) == ready
        assert names(moves) == sorted(names(moves), key=places.__getitem__)
        move = data.draw(st.sampled_from(moves))
        moved.append(move.step.name)
        if isinstance(move, Run):
            done[move.step.name] = Done(data.draw(st.sampled_from(["completed", "completed", "failed"])))
        else:
            done[move.step.name] = Done("skipped" if isinstance(move, Skip) else "failed")
    assert len(moved) == len(set(moved))
    assert set(done) == set(places) or stopped_by(workflow, done) is not None


@given(workflow=workflows())
def test_a_whole_layer_moves_together(workflow: Workflow) -> None:
    depth: dict[str, int] = {}
    while len(depth) < len(workflow.steps):
        for step in workflow.steps:
            if set(step.depends_on) <= set(depth):
                depth[step.name] = 1 + max((depth[name] for name in step.depends_on), default=0)
    done: dict[str, Done] = {}
    for layer in range(1, max(depth.values()) + 1):
        moves = next_moves(workflow, done, {"there": 1})
        assert set(names(moves)) == {name for name, at in depth.items() if at == layer}
        done |= dict.fromkeys(names(moves), COMPLETED)


CHECKED = flow(
    {"name": "build"},
    {"name": "lint"},
    {"name": "verify", "depends_on": ("build",)},
    {"name": "hold", "depends_on": ("verify",)},
    {"name": "publish", "depends_on": ("hold",)},
)


def test_outdated_checks_are_repeated_with_all_that_comes_after_them() -> None:
    done = {
        "build": Done("completed", kind="build"),
        "lint": Done("completed", kind="shell"),
        "verify": Done("completed", kind="verify"),
        "hold": Done("completed", kind="shell"),
        "publish": Done("outdated", kind="open_pull_request"),
    }
    assert to_repeat(CHECKED, done) == {"verify", "hold", "publish"}


def test_nothing_is_repeated_while_the_checks_hold() -> None:
    done = {name: Done("completed", kind="verify") for name in ("build", "verify", "publish")}
    assert to_repeat(CHECKED, done) == frozenset()
