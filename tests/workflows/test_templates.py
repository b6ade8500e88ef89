"""Templates: values arrive whole and literal, and no template can exhaust the machine."""

import subprocess
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from journeyman.errors import InvalidWorkflow
from journeyman.workflows.templates import MAX_OUTPUT_CHARACTERS, check_template, render, render_command

CONTEXT: dict[str, Any] = {
    "steps": {
        "lint": {
            "status": "completed",
            "output": {"error_count": 2, "text": "<a & b>", "files": ["a", "b c"]},
        },
        "fix-lint": {"status": "skipped", "output": {}},
    },
    "order": {"title": "Repair", "github_issue_number": None},
}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{steps.lint.output.error_count}} errors", "2 errors"),
        ("{{ steps.lint.output.text }}", "<a & b>"),
        ("{{ steps.fix-lint.status }} {{ steps['fix-lint'].status }}", "skipped skipped"),
        ("{{ steps.lint.output.files }} {{ order.github_issue_number }}", '["a", "b c"] null'),
        ("{{ steps.lint.output.files | join(', ') }}", "a, b c"),
        ("{{ steps.lint.output.files|tojson }}", '["a", "b c"]'),
        ("{% for file in steps.lint.output.files %}- {{ file }}\n{% endfor %}", "- a\n- b c\n"),
        ("{% if steps.lint.output.error_count > 1 %}mend{% else %}rest{% endif %}", "mend"),
        ("{{ steps.lint.output.nothing | default('none') }}", "none"),
        ("{{ 'steps.fix-lint }}' }}", "steps.fix-lint }}"),
        ("{% raw %}{{ steps.nobody }}{% endraw %}{# {{ steps.nobody }} #}", "{{ steps.nobody }}"),
        ("No braces, steps.lint stays.\n", "No braces, steps.lint stays.\n"),
    ],
)
def test_a_template_is_filled_in(template: str, text: str) -> None:
    check_template(template, CONTEXT["steps"])
    assert render(template, CONTEXT) == text


def test_what_a_value_holds_is_not_read_as_a_template() -> None:
    context = {"order": {"title": "{{ steps.lint.output.secret }}"}, "steps": {}}
    assert render("{{ order.title }}", context) == "{{ steps.lint.output.secret }}"


@pytest.mark.parametrize(
    ("template", "what"),
    [
        ("{{ steps.lint.output.x ", "cannot be read"),
        ("{% if order.title %}x", "cannot be read"),
        ("{{ a b }}", "cannot be read"),
        ("{{ '" + "(" * 3000, "cannot be read"),
        ("{{" + "(" * 3000 + "1" + ")" * 3000 + "}}", "cannot be read"),
        ("{{ steps.nobody.output.x }}", "step 'nobody', which does not exist"),
        ("{{ steps }}", "without naming a step"),
        ("{% for step in steps %}{{ step }}{% endfor %}", "without naming a step"),
        ("{{ orders.title }}", "'orders', which does not exist"),
        ("{{ range(9) }}", "'range', which does not exist"),
        ("{{ debug() }}", "'debug', which does not exist"),
        ("{% include '/etc/passwd' %}", "'{% include %}', which is not available"),
        ("{% set a = order.title ~ order.title %}", "'{% set %}', which is not available"),
        ("{% macro m() %}{% endmacro %}", "'{% macro %}', which is not available"),
        ("{{ 'x' * 9000000 }}", "multiplies"),
        ("{{ order.title | replace('a', 'aaaa') }}", "filter 'replace'"),
        ("{{ order.title | indent(999999999) }}", "filter 'indent'"),
        ("{{ order.title\0 }}", "NUL"),
    ],
)
def test_a_template_that_could_not_be_filled_in_is_refused_early(template: str, what: str) -> None:
    with pytest.raises(InvalidWorkflow) as refused:
        check_template(template, {"lint"})
    assert what in refused.value.message
    assert refused.value.hint


def test_a_missing_field_is_an_error_and_not_an_empty_place() -> None:
    with pytest.raises(InvalidWorkflow, match="undefined value in its line 2") as refused:
        render("\n{{ steps.lint.output.nothing }}", CONTEXT)
    assert "default" in refused.value.hint


@pytest.mark.parametrize(
    "template",
    [
        "{{ order.long }}{{ order.long }}",
        "{{ order.many | join(order.long) }}",
        "{% for one in order.many %}" + "x" * 5_000 + "{% endfor %}",
    ],
)
@pytest.mark.parametrize("fill", [render, render_command])
def test_a_filled_in_template_has_a_largest_size(template: str, fill: object) -> None:
    context = {
        "order": {"long": "x" * (MAX_OUTPUT_CHARACTERS * 2 // 3), "many": list(range(1_000))},
        "steps": {},
    }
    assert callable(fill)
    with pytest.raises(InvalidWorkflow, match="more than 100,000 characters"):
        fill(template, context)


def test_a_template_cannot_loop_for_ever() -> None:
    nested = "{% for a in order.many %}{% for b in order.many %}{% for c in order.many %}{% endfor %}"
    with pytest.raises(InvalidWorkflow, match="fuel"):
        render(nested + "{% endfor %}{% endfor %}", {"order": {"many": list(range(10_000))}, "steps": {}})


def said_by(command: str, value: object) -> list[str]:
    """Run a command that prints its arguments, and give them back."""
    script = render_command(command.replace("show", "printf '%s\\0'"), {"order": {"x": value}, "steps": {}})
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=30, check=True)
    assert done.stderr == b""
    return done.stdout.decode().split("\0")[:-1]


HOSTILE = [
    "$(id)",
    "`id`",
    "'; rm -rf / #",
    '"; rm -rf / #',
    "\\",
    "\\' $(id) '",
    "a\nid\n",
    "*",
    "",
    "~",
    "-n",
    "${HOME}",
    "!!",
    "\n",
    "é ü 中",
]


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize(
    ("command", "around"),
    [
        ("show {{ order.x }}", "{}"),
        ('show "{{ order.x }}"', "{}"),
        ("show '{{ order.x }}'", "{}"),
        ('show "found {{ order.x }} there"', "found {} there"),
        ("show --name={{ order.x }}", "--name={}"),
        (r"show \{{ order.x }}", "\\{}"),
        ('show "cost ${{ order.x }}"', "cost ${}"),
        ("show ${{ order.x }}", "${}"),
        ("# don't {{ order.x }} \"\nshow {{ order.x }}", "{}"),
        ('show "$(printf %s_ {{ order.x }})"', None),
    ],
)
def test_a_hostile_value_arrives_as_one_literal_argument(
    command: str, around: str | None, value: str
) -> None:
    if around is None:
        # Substitution inside quotes may split the value, but it must not run it.
        assert "uid=" not in "".join(said_by(command, value))
    else:
        assert said_by(command, value) == [around.format(value)]


@settings(max_examples=60, deadline=None)
@given(
    value=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    quote=st.sampled_from(["", "'", '"']),
)
def test_any_text_arrives_as_one_literal_argument(value: str, quote: str) -> None:
    assert said_by(f"show {quote}{{{{ order.x }}}}{quote}", value) == [value]


def test_a_value_with_a_nul_is_refused_in_a_command() -> None:
    with pytest.raises(InvalidWorkflow, match="NUL"):
        render_command("show {{ order.x }}", {"order": {"x": "a\0b"}, "steps": {}})


def test_numbers_truths_and_lists_reach_a_command_as_json() -> None:
    assert said_by("show {{ order.x }}", 3) == ["3"]
    assert said_by("show {{ order.x }}", True) == ["true"]
    assert said_by("show {{ order.x }}", ["a b", 1]) == ['["a b", 1]']
    assert said_by(
        "for one in {% for one in order.x %}{{ one }} {% endfor %}; do show $one; done", [1, 2]
    ) == [
        "1",
        "2",
    ]
