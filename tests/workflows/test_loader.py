"""What the loader accepts, and how it says no: file, line, remedy."""

from textwrap import dedent

import pytest

from journeyman.errors import InvalidWorkflow
from journeyman.workflows.loader import MAX_BYTES, library, load_workflow
from journeyman.workflows.schema import Workflow


def load(text: str) -> Workflow:
    return load_workflow(dedent(text).lstrip("\n"), "release.yaml")


def test_a_workflow_is_read_with_its_defaults() -> None:
    workflow = load("""
        name: release
        description: Lint, then build.
        steps:
          - name: lint
            kind: shell
            command: make lint
            timeout: 10m
          - {name: build, kind: build, depends_on: [lint], retries: 2, on_failure: continue}
    """)
    lint, build = workflow.steps
    assert (workflow.version, lint.timeout, lint.on_failure, lint.retries) == (1, 600.0, "stop", 0)
    assert (build.depends_on, build.retries, build.on_failure) == (("lint",), 2, "continue")


@pytest.mark.parametrize(
    ("written", "seconds"), [("90", 90.0), ("1.5", 1.5), ("90s", 90.0), ("10m", 600.0), ("2h", 7200.0)]
)
def test_a_timeout_is_read_in_seconds(written: str, seconds: float) -> None:
    workflow = load(f"{{name: w, steps: [{{name: a, kind: build, timeout: {written}}}]}}")
    assert workflow.steps[0].timeout == seconds


def test_a_workflow_survives_the_way_through_the_database() -> None:
    for workflow in library().values():
        assert Workflow.model_validate(workflow.model_dump(mode="json")) == workflow


def test_a_verify_step_takes_commands_by_the_names_of_checks() -> None:
    workflow = load("""
        name: w
        steps:
          - {name: verify, kind: verify, commands: {test: make check, lint: null, "api: go test": go test}}
    """)
    assert workflow.steps[0].commands == {"test": "make check", "lint": None, "api: go test": "go test"}
    assert Workflow.model_validate(workflow.model_dump(mode="json")) == workflow


VERIFY = "name: w\nsteps:\n  - name: verify\n    kind: verify\n    commands:"

STEP = "name: w\nsteps:\n  - name: lint\n    kind: shell\n    command: make\n"

WRONG = {
    "unclosed list": ("name: w\nsteps: [\n", 3, "expected", "YAML"),
    "tab": ("name: w\nsteps:\n\t- a\n", 3, "cannot start any token", "spaces"),
    "empty": ("", 1, "mapping", "Begin with 'name:'"),
    "list": ("- a\n", 1, "mapping", "Begin with 'name:'"),
    "two documents": ("name: w\n---\nname: v\n", 2, "document", "YAML"),
    "control character": ("name: w\x00\n", 1, "not allowed", "YAML"),
    "object tag": ("name: !!python/object/apply:os.system [x]\n", 1, "name", "Correct the value"),
    "impossible date": ("name: 2024-13-40\n", 1, "month", "quotes"),
    "unknown field": (STEP + "    retry: 2\n", 6, "unknown field 'retry'", "Did you mean 'retries'?"),
    "unknown workflow field": ("nam: w\n" + STEP, 1, "unknown field 'nam'", "Did you mean 'name'?"),
    "commands elsewhere": (
        STEP + "    commands: {test: x}\n",
        3,
        "'commands' belongs to verify steps",
        "remove",
    ),
    "commands as a list": (VERIFY + " [make]\n", 5, "'commands' of step 'verify' is not a mapping", "{test:"),
    "a number as a command": (VERIFY + "\n      test: 5\n", 6, "command 'test' of step 'verify'", "null"),
    "an empty command": (VERIFY + "\n      test: ''\n", 6, "command 'test' of step 'verify'", "null"),
    "a name of two lines": (VERIFY + '\n      "a\\nb": x\n', 6, "cannot be the name of a check", "one line"),
    "many commands": (
        VERIFY + "".join(f"\n      c{n}: x" for n in range(51)) + "\n",
        5,
        "more than 50",
        "script",
    ),
    "missing field": ("name: w\nsteps:\n  - name: a\n", 3, "step 'a' lacks 'kind'", "Add 'kind"),
    "missing steps": ("name: w\n", 1, "the workflow lacks 'steps'", "Add 'steps"),
    "no steps": ("name: w\nsteps: []\n", 2, "steps", "Correct"),
    "steps not a list": (
        "name: w\nsteps: build\n",
        2,
        "'steps' of the workflow is not a list",
        "Write a list",
    ),
    "step not a mapping": ("name: w\nsteps:\n  - build\n", 3, "is not a mapping", "name and kind"),
    "name with a space": (STEP.replace("lint", "Lint it"), 3, "'Lint it' cannot be a name", "small letter"),
    "unknown kind": (STEP.replace("shell", "shel"), 4, "'kind' of step 'lint' is 'shel'", "mean 'shell'?"),
    "text for a number": (STEP + "    retries: many\n", 6, "'retries' of step 'lint'", "Correct"),
    "truth for a number": (STEP + "    retries: true\n", 6, "'retries' of step 'lint'", "Correct"),
    "too many retries": (STEP + "    retries: 11\n", 6, "less than or equal to 10", "Correct"),
    "bad timeout": (STEP + "    timeout: soon\n", 6, "'90s', '10m' or '2h'", "Correct"),
    "zero timeout": (STEP + "    timeout: 0\n", 6, "greater than 0", "Correct"),
    "endless timeout": (STEP + "    timeout: .inf\n", 6, "'timeout' of step 'lint'", "Correct"),
    "depends_on a word": (STEP + "    depends_on: plan\n", 6, "'depends_on' of step 'lint'", "[plan, build]"),
    "shell without command": ("name: w\nsteps:\n  - {name: a, kind: shell}\n", 3, "needs 'command'", "Add"),
    "command elsewhere": (STEP.replace("shell", "build"), 3, "belongs to shell steps", "kind"),
    "prompt elsewhere": (STEP + "    prompt: hello\n", 3, "belongs to explore, plan, build", "kind"),
    "key twice": (STEP + "    kind: build\n", 6, "'kind' is given twice", "YAML"),
    "number as key": ("1: w\n", 1, "plain text", "YAML"),
    "anchor": ("name: &a w\ndescription: *a\n", 1, "anchors", "YAML"),
    "merge": (STEP + "    <<: {retries: 1}\n", 6, "unknown field '<<'", "Fields"),
    "nesting": ("name: " + "[" * 200_000, 1, "nested too deeply", "YAML"),
    "step twice": (STEP + "  - name: lint\n    kind: build\n", 6, "two steps named 'lint'", "another name"),
    "unknown dependency": (
        STEP + "  - name: b\n    kind: build\n    depends_on:\n      - lnt\n",
        9,
        "step 'b' depends on 'lnt', which does not exist",
        "Did you mean 'lint'?",
    ),
    "itself": (STEP + "    depends_on: [lint]\n", 6, "depends on itself", "Remove it"),
    "condition syntax": (STEP + "    condition: '1 >'\n", 6, "cannot be read", "CEL"),
    "condition on nobody": (
        STEP + "    condition: steps.lin.output.x > 0\n",
        6,
        "'condition' of step 'lint': it refers to step 'lin', which does not exist",
        "Did you mean 'lint'?",
    ),
    "template syntax": (STEP.replace("make", "'{{ steps. }}'"), 5, "cannot be read", "close every"),
    "template on a later step": (
        STEP.replace("make", "echo {{ steps.b.status }}") + "  - {name: b, kind: build}\n",
        5,
        "refers to step 'b', which does not have to be done before this one",
        "Add 'b' to depends_on",
    ),
    "template on itself": (
        STEP.replace("make", "echo {{ steps.lint.status }}"),
        5,
        "refers to step 'lint'",
        "depends_on",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_mistake_is_named_with_file_line_and_remedy(case: str) -> None:
    text, line, what, remedy = WRONG[case]
    with pytest.raises(InvalidWorkflow) as refused:
        load_workflow(text, "release.yaml")
    assert refused.value.message.startswith(f"release.yaml:{line}: ")
    assert what in refused.value.message
    assert remedy in refused.value.hint


def test_a_circle_is_named_in_full() -> None:
    with pytest.raises(InvalidWorkflow, match="a → c → b → a"):
        load("""
            name: w
            steps:
              - {name: first, kind: plan}
              - {name: a, kind: build, depends_on: [first, c]}
              - {name: b, kind: build, depends_on: [a]}
              - {name: c, kind: build, depends_on: [b]}
        """)


def test_a_reference_may_reach_over_several_steps() -> None:
    workflow = load("""
        name: w
        steps:
          - {name: a, kind: plan}
          - {name: b, kind: build, depends_on: [a]}
          - name: c
            kind: build
            depends_on: [b]
            condition: "{{steps.a.output.size}} > 0"
            prompt: "Go on from {{ steps.a.output.summary }}"
    """)
    assert workflow.steps[2].condition == "{{steps.a.output.size}} > 0"


def test_a_very_large_text_is_refused_before_it_is_read() -> None:
    with pytest.raises(InvalidWorkflow, match="larger than 256 kB"):
        load_workflow("#" * (MAX_BYTES + 1), "release.yaml")


def test_more_than_a_hundred_steps_are_refused() -> None:
    steps = "".join(f"  - {{name: s{number}, kind: build}}\n" for number in range(101))
    with pytest.raises(InvalidWorkflow, match="more than 100 steps"):
        load_workflow("name: w\nsteps:\n" + steps, "release.yaml")


def test_the_library_holds_every_promised_name() -> None:
    names = {"plan", "build", "test", "plan_build", "plan_build_test", "implement", "validate"}
    names |= {"follow_up", "answer"}
    about_environments = {"environment_check", "environment_file"}
    assert set(library()) == {f"agent_workflow_{name}" for name in names} | about_environments
    assert library()["agent_workflow_implement"] is library()["agent_workflow_build"]
    assert library()["agent_workflow_validate"] is library()["agent_workflow_test"]


def test_every_built_in_workflow_that_changes_something_ends_by_publishing_it() -> None:
    changes_nothing = ("agent_workflow_answer", "environment_check")
    for workflow in (each for name, each in library().items() if name not in changes_nothing):
        *others, last = workflow.steps
        assert (last.name, last.kind) == ("publish", "open_pull_request")
        needed = {name for step in workflow.steps for name in step.depends_on}
        assert {step.name for step in others} <= needed
