"""From YAML to a workflow that can be run, or an error that names file, line and remedy.

The text is composed to nodes, never to objects, so that every value keeps its line; anchors and
aliases are refused, because a few of them can describe more text than memory holds.
"""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from journeyman.errors import InvalidWorkflow
from journeyman.workflows.conditions import check_condition
from journeyman.workflows.graph import cycle_in, upstream_of
from journeyman.workflows.references import did_you_mean
from journeyman.workflows.schema import MAX_COMMANDS, MAX_STEPS, StepSpec, Workflow
from journeyman.workflows.templates import check_template

MAX_BYTES = 256_000
_MAX_DEPTH = 10
_KEY_TAGS = ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge")
_ALIASES = {
    "agent_workflow_implement": "agent_workflow_build",
    "agent_workflow_validate": "agent_workflow_test",
}

Path = tuple[str | int, ...]


def load_workflow(text: str, source: str) -> Workflow:
    """Read one workflow. `source` is the file's name, for messages."""
    if len(text.encode(errors="surrogatepass")) > MAX_BYTES:
        raise InvalidWorkflow(
            f"{source} is larger than {MAX_BYTES // 1000} kB",
            hint="Put long texts into files of the repository and refer to them.",
        )
    document = _Document(source, text)
    try:
        workflow = Workflow.model_validate(document.value)
    except ValidationError as error:
        raise document.validation_error(error) from error
    _check_graph(workflow, document)
    _check_expressions(workflow, document)
    return workflow


@cache
def library() -> Mapping[str, Workflow]:
    """The built-in workflows by name; two have a second name."""
    found: dict[str, Workflow] = {}
    for file in resources.files("journeyman.workflows").joinpath("library").iterdir():
        if file.name.endswith(".yaml"):
            workflow = load_workflow(file.read_text(encoding="utf-8"), file.name)
            found[workflow.name] = workflow
    for alias, name in _ALIASES.items():
        found[alias] = found[name]
    return MappingProxyType(dict(sorted(found.items())))


class _Loader(yaml.SafeLoader):
    """Composes nodes of bounded depth, without anchors."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "anchor", None) is not None:
            raise yaml.MarkedYAMLError(
                problem="anchors (&) and aliases (*) are not accepted", problem_mark=event.start_mark
            )
        if self.depth > _MAX_DEPTH:
            raise yaml.MarkedYAMLError(problem="values are nested too deeply", problem_mark=event.start_mark)
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


class _Document:
    """A YAML document as a plain value, with the line of every part."""

    def __init__(self, source: str, text: str) -> None:
        self.source = source
        self.value: Any = None
        self._lines: dict[Path, int] = {}
        try:
            loader = _Loader(text)
            try:
                node = loader.get_single_node()
                if node is not None:
                    self.value = self._value(loader, node, ())
            finally:
                loader.dispose()
        except yaml.YAMLError as error:
            raise self._unreadable(error) from error
        except ValueError as error:
            # A scalar that looks like a date or a number and is none, such as 2024-13-40.
            raise self.error(f"a value cannot be read: {error}", hint="Put it in quotes.") from error
        if not isinstance(self.value, dict):
            raise self.error("a workflow is a mapping with name and steps", hint="Begin with 'name:'.")

    def error(self, what: str, *, hint: str, at: Path = ()) -> InvalidWorkflow:
        return InvalidWorkflow(f"{self.source}:{self._line_of(at)}: {what}", hint=hint)

    def validation_error(self, error: ValidationError) -> InvalidWorkflow:
        """The first thing that is wrong, for the workflow's author."""
        first = min(error.errors(), key=self._rank)
        path = first["loc"]
        what, hint = _in_words(first, self._place(path))
        return self.error(what, hint=hint, at=path)

    def _rank(self, detail: ErrorDetails) -> tuple[bool, int, bool]:
        # A list counts its valid items only, and a misspelt field leaves another one missing: causes first.
        return (detail["type"] == "too_short", self._line_of(detail["loc"]), detail["type"] == "missing")

    def _line_of(self, path: Path) -> int:
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path, 1)

    def _place(self, path: Path) -> str:
        """`step 'lint'`, or `the workflow`."""
        if len(path) < 2 or path[0] != "steps" or not isinstance(path[1], int):
            return "the workflow"
        step = self.value["steps"][path[1]]
        name = step.get("name") if isinstance(step, dict) else None
        return f"step '{name}'" if isinstance(name, str) else f"step number {path[1] + 1}"

    def _value(self, loader: _Loader, node: yaml.Node, path: Path) -> Any:
        self._lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.SequenceNode):
            return [self._value(loader, item, (*path, number)) for number, item in enumerate(node.value)]
        if not isinstance(node, yaml.MappingNode):
            return loader.construct_object(node)
        mapping: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value
            if not isinstance(key, str) or key_node.tag not in _KEY_TAGS:
                raise yaml.MarkedYAMLError(
                    problem="a field's name must be plain text", problem_mark=key_node.start_mark
                )
            if key in mapping:
                raise yaml.MarkedYAMLError(
                    problem=f"the field '{key}' is given twice", problem_mark=key_node.start_mark
                )
            self._lines[(*path, key)] = key_node.start_mark.line + 1
            mapping[key] = self._value(loader, value_node, (*path, key))
        return mapping

    def _unreadable(self, error: yaml.YAMLError) -> InvalidWorkflow:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "the text is not YAML"
        line = mark.line + 1 if mark is not None else 1
        return InvalidWorkflow(
            f"{self.source}:{line}: {problem}",
            hint="Correct the YAML near this line: indent with spaces, quote texts that hold ': ' or '{'.",
        )


def _in_words(detail: ErrorDetails, place: str) -> tuple[str, str]:
    """What is wrong and what to do, for one validation error of pydantic."""
    path = detail["loc"]
    field = str(path[-1]) if path else ""
    kind = detail["type"]
    model: type[BaseModel] = StepSpec if place.startswith("step") else Workflow
    fields = ", ".join(model.model_fields)
    if kind == "extra_forbidden":
        meant = did_you_mean(field, model.model_fields)
        return f"{place} has an unknown field '{field}'", meant or f"Fields: {fields}."
    if kind == "missing":
        return f"{place} lacks '{field}'", f"Add '{field}: …'."
    if "commands" in path:
        return _about_commands(detail, place)
    if kind == "string_pattern_mismatch":
        return (
            f"{detail['input']!r} cannot be a name in {place}",
            "Begin with a small letter; go on with small letters, digits, '_' or '-', 64 at the most.",
        )
    if kind == "literal_error":
        expected = str(detail["ctx"]["expected"])
        meant = did_you_mean(
            str(detail["input"]), expected.replace("'", "").replace(" or ", ", ").split(", ")
        )
        return f"'{field}' of {place} is {detail['input']!r}", f"Use {expected}. {meant}".rstrip()
    if kind == "too_long" and field == "steps":
        return f"the workflow has more than {MAX_STEPS} steps", "Split it into several workflows."
    if kind == "fit":
        return f"{place}: {detail['msg']}", "Add the missing field, remove the other, or change 'kind'."
    if kind in ("model_type", "tuple_type"):
        wanted = "a list, such as [plan, build]" if kind == "tuple_type" else "a mapping with name and kind"
        return f"'{field}' of {place} is not {wanted.partition(',')[0]}", f"Write {wanted}."
    message = detail["msg"][0].lower() + detail["msg"][1:]
    return f"'{field}' of {place}: {message}", "Correct the value."


def _about_commands(detail: ErrorDetails, place: str) -> tuple[str, str]:
    path = detail["loc"]
    name = path[path.index("commands") + 1] if path[-1] != "commands" else None
    if name is None and detail["type"] == "too_long":
        return f"'commands' of {place} has more than {MAX_COMMANDS} entries", "Put them into a script."
    if name is None:
        return f"'commands' of {place} is not a mapping", "Write names with commands: {test: make check}."
    if path[-1] == "[key]":
        return f"{name!r} cannot be the name of a check in {place}", "Use up to 64 characters on one line."
    return (
        f"the command '{name}' of {place} is not a text of 1 to 20,000 characters",
        "Write a command, or null to leave the check out.",
    )


def _check_graph(workflow: Workflow, document: _Document) -> None:
    seen: dict[str, int] = {}
    for number, step in enumerate(workflow.steps):
        if step.name in seen:
            raise document.error(
                f"there are two steps named '{step.name}'",
                hint="Give one of them another name.",
                at=("steps", number, "name"),
            )
        seen[step.name] = number
    for number, step in enumerate(workflow.steps):
        for place, needed in enumerate(step.depends_on):
            at: Path = ("steps", number, "depends_on", place)
            if needed == step.name:
                raise document.error(
                    f"step '{step.name}' depends on itself", hint="Remove it from depends_on.", at=at
                )
            if needed not in seen:
                raise document.error(
                    f"step '{step.name}' depends on '{needed}', which does not exist",
                    hint=did_you_mean(needed, seen) or "Correct the name, or add the step.",
                    at=at,
                )
    if cycle := cycle_in({step.name: step.depends_on for step in workflow.steps}):
        raise document.error(
            f"steps wait for one another in a circle: {' → '.join(cycle)}",
            hint="Remove one of these dependencies.",
            at=("steps", seen[cycle[0]], "depends_on"),
        )


def _check_expressions(workflow: Workflow, document: _Document) -> None:
    needs = {step.name: step.depends_on for step in workflow.steps}
    for number, step in enumerate(workflow.steps):
        before = upstream_of(step.name, needs)
        for field, check in (
            ("condition", check_condition),
            ("prompt", check_template),
            ("command", check_template),
        ):
            text = getattr(step, field)
            if text is None:
                continue
            try:
                check(text, before, needs)
            except InvalidWorkflow as error:
                raise document.error(
                    f"'{field}' of step '{step.name}': {error.message}",
                    hint=error.hint,
                    at=("steps", number, field),
                ) from error
