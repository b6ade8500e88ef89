"""A YAML text as plain values that remember where they were written.

The text is composed to nodes, never to objects. Anchors, aliases and tags are refused, because a few of them
can describe more text than memory holds. Below the fields named as `texts` a value stays as it was typed:
read as a number, the version `3.10` would become 3.1.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any

import yaml

from journeyman.errors import InvalidEnvironment, Mistake

_MAX_DEPTH = 10
_NOT_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufffd\ud800-\udfff]")
_YAML_HINT = "Correct the YAML near this line: indent with spaces, quote texts that hold ': ', ' #' or '{'."
_TEXT_HINT = "Remove it: only printable characters in UTF-8 are accepted."
_TRUE_OR_FALSE = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}

Location = tuple[str | int, ...]
Mark = tuple[int, int]


def invalid_environment(source: str, mistakes: Sequence[Mistake]) -> InvalidEnvironment:
    """All of them at once; the message is about the first. `source` is the file's name, for messages."""
    first, *others = mistakes
    more = f" (and {len(others)} more)" if others else ""
    return InvalidEnvironment(
        f"{source}:{first.line}: {first.message}{more}", hint=first.hint, errors=mistakes
    )


def is_printable(text: str) -> bool:
    """Whether it could stand in an environment file."""
    return not _NOT_TEXT.search(text)


class Document:
    """Raises InvalidEnvironment where the text is not the YAML that is accepted here."""

    def __init__(self, text: str, *, source: str, texts: Collection[str] = ()) -> None:
        self.value: Any = None
        self._texts = texts
        self._names: dict[Location, Mark] = {(): (1, 1)}
        self._values: dict[Location, Mark] = {(): (1, 1)}
        text = text.removeprefix("\ufeff").replace("\r\n", "\n")
        if found := _NOT_TEXT.search(text):
            raise invalid_environment(source, [_bad_character(text, found.start())])
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            if node is not None:
                self.value = self._value_of(node, ())
        except yaml.YAMLError as error:
            raise invalid_environment(source, [_in_words(error)]) from error
        finally:
            loader.dispose()

    def position_of(self, location: Location) -> Mark:
        """Line and column of a value, or of the nearest thing around it that was written."""
        while location not in self._values:
            location = location[:-1]
        return self._values[location]

    def position_of_name(self, location: Location) -> Mark:
        """Line and column of the name of a field."""
        return self._names.get(location) or self.position_of(location)

    def _value_of(self, node: yaml.Node, location: Location) -> Any:
        self._values[location] = _mark(node.start_mark)
        if isinstance(node, yaml.SequenceNode):
            return [self._value_of(item, (*location, number)) for number, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            return self._mapping_of(node, location)
        if found := _NOT_TEXT.search(node.value):
            raise _refused(f"a text holds the character U+{ord(found[0]):04X}", _TEXT_HINT, node.start_mark)
        return _scalar(node, is_text=bool(location) and location[0] in self._texts)

    def _mapping_of(self, node: yaml.MappingNode, location: Location) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _refused(
                    "the name of a field must be plain text", "Write a name before the colon.", key.start_mark
                )
            name: str = key.value
            if _NOT_TEXT.search(name):
                raise _refused("the name of a field holds a control character", _TEXT_HINT, key.start_mark)
            if name in mapping:
                raise _refused(f"'{name}' is given twice", "Keep one of them.", key.start_mark)
            self._names[(*location, name)] = _mark(key.start_mark)
            mapping[name] = self._value_of(value, (*location, name))
        return mapping


class _Loader(yaml.SafeLoader):
    """Composes nodes of bounded depth, without anchors and tags."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "anchor", None) is not None:
            raise _refused(
                "anchors (&) and aliases (*) are not accepted",
                "Write the value out at both places.",
                event.start_mark,
            )
        if getattr(event, "tag", None) is not None:
            raise _refused(
                "tags (!) are not accepted",
                "Remove it; put a text that begins with '!' in quotes.",
                event.start_mark,
            )
        if self.depth > _MAX_DEPTH:
            raise _refused(
                "values are nested too deeply", "No field is deeper than three levels.", event.start_mark
            )
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


def _scalar(node: yaml.Node, *, is_text: bool) -> Any:
    kind = node.tag.rpartition(":")[2]
    if kind == "null":
        return None
    if is_text:
        return node.value
    if kind == "bool":
        return _TRUE_OR_FALSE[node.value.lower()]
    if kind in ("int", "float"):
        try:
            return float(node.value)
        except ValueError:  # 0x10, or 1:30, which YAML takes for a number of base 60
            return node.value
    return node.value


def _refused(problem: str, hint: str, mark: yaml.Mark) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, note=hint, problem_mark=mark)


def _mark(mark: yaml.Mark) -> Mark:
    return mark.line + 1, mark.column + 1


def _in_words(error: yaml.YAMLError) -> Mistake:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "the text is not YAML"
    line, column = _mark(mark) if mark is not None else (1, 1)
    return Mistake(line, column, str(problem), getattr(error, "note", None) or _YAML_HINT)


def _bad_character(text: str, place: int) -> Mistake:
    before = text[:place]
    line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
    what = f"the text holds the character U+{ord(text[place]):04X}"
    return Mistake(line, column, what, _TEXT_HINT)
