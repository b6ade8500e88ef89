"""A source file of one of the commits, with its tests and the functions that they call."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from journeyman.verification.tampering.cases import Behaviour, Case, Language, read_behaviour
from journeyman.verification.tampering.languages import LANGUAGES
from journeyman.verification.tampering.syntax import descendants, field, grammar_of, parse, text

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_DEPTH = 3


@dataclass(frozen=True)
class Source:
    path: str
    language: Language
    root: "Node"

    @cached_property
    def cases(self) -> list[Case]:
        return list(self.language.find(self.root))

    @cached_property
    def _functions(self) -> "dict[str, Node]":
        names = self.language.functions
        return {text(field(one, "name")): one for one in descendants(self.root) if one.type in names}

    @cached_property
    def helpers(self) -> dict[str, Case]:
        """The functions that are no tests, as if they were."""
        tests = {case.body.id for case in self.cases if case.body is not None}
        found = {}
        for name, node in self._functions.items():
            body = field(node, "body") or field(node, "value")
            if body is not None and body.id not in tests:
                found[name] = Case(name=name, node=node, body=body)
        return found

    @cached_property
    def _behaviours(self) -> dict[int, Behaviour]:
        return {}

    def behaviour(self, case: Case) -> Behaviour:
        if (known := self._behaviours.get(case.node.id)) is None:
            known = self._behaviours[case.node.id] = read_behaviour(case.body or case.node, self.language)
        return known

    def assertions_called(self, behaviour: Behaviour) -> Counter[str]:
        """The assertions of the file's own functions that a test calls, and of those that they call."""
        found: Counter[str] = Counter()
        seen: set[str] = set()
        calls = set(behaviour.calls)
        for _ in range(_MAX_DEPTH):
            known = [name for name in calls - seen if name in self._functions]
            seen |= calls
            inner = [read_behaviour(self._functions[name], self.language) for name in known]
            found.update(one.text for each in inner for one in each.assertions)
            calls = {name for each in inner for name in each.calls}
        return found


def read_source(path: str, content: bytes | None) -> Source | None:
    """None where there is no file, or no grammar for it."""
    grammar = grammar_of(path)
    if content is None or grammar is None:
        return None
    return Source(path, LANGUAGES[grammar], parse(grammar, content))
