"""The field suite in small: projects of a few lines, which need no network, judged as the real ones are."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from journeyman.verification.counts import Counts
from tests.environments.detect.small_projects import written
from tests.field.bring import checkout
from tests.field.by_hand import Result, by_hand
from tests.field.product import agrees, check
from tests.field.projects import FieldProject
from tests.journeys.product import Product

_HALF_RIGHT = """import unittest
class Sums(unittest.TestCase):
    def test_small(self): self.assertEqual(1 + 1, 2)
    def test_large(self): self.assertEqual(2 + 2, 5)
"""
_FOR_NODE = """const test = require("node:test"), assert = require("node:assert");
test("adds", () => assert.equal(1 + 1, 2));
test("subtracts", () => assert.equal(2 - 1, 1));
"""
_MAKEFILE = "test: sum\n\t./sum\nsum: sum.c\n\t$(CC) -o sum sum.c\n"


@dataclass(frozen=True)
class Small:
    files: Mapping[str, str]
    by_hand: str
    outcome: str
    """That of both; what is missing is the environment for us and a failed command by hand."""


SMALL = {
    "python": Small({"test_sums.py": _HALF_RIGHT}, "python3 -m unittest", "failed"),
    "node": Small(
        {"package.json": '{"name": "sums", "scripts": {"test": "node --test"}}', "test/sums.js": _FOR_NODE},
        "npm test",
        "passed",
    ),
    "c": Small({"Makefile": _MAKEFILE, "sum.c": "int main(void) { return 0; }\n"}, "make test", "passed"),
    "c-library-missing": Small(
        {"Makefile": _MAKEFILE, "sum.c": "#include <no_such_library.h>\nint main(void) { return 0; }\n"},
        "make test",
        "environment",
    ),
}


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    home = tmp_path_factory.mktemp("field") / "home"
    home.mkdir()
    with Product(home, PATH=os.environ["PATH"]) as running:
        yield running


@pytest.mark.parametrize("name", SMALL)
def test_the_doctor_agrees_with_the_commands_by_hand(name: str, product: Product, tmp_path: Path) -> None:
    small = SMALL[name]
    project = FieldProject(name=f"small/{name}", commit="", ecosystem=name, test=small.by_hand, minutes=2)
    repository = written(tmp_path / "repository", small.files)
    ours = check(project, repository, product.url)
    hand = by_hand(project, checkout(repository, tmp_path / "tree"), tmp_path / "home")
    assert agrees(project, ours, hand), (ours, hand)
    assert ours.outcome == small.outcome


def test_another_outcome_or_another_number_of_tests_is_no_agreement() -> None:
    project = FieldProject(name="a/b", commit="", ecosystem="", test="")
    passed = Result("passed", Counts(passed=3))
    assert agrees(project, passed, Result("passed", Counts(passed=3, skipped=1)))
    assert not agrees(project, passed, Result("passed", Counts(passed=4)))
    assert not agrees(project, passed, Result("failed", Counts(passed=3, failed=1)))


def test_what_is_missing_agrees_only_where_nothing_ran_by_hand_or_the_reason_is_known() -> None:
    project = FieldProject(name="a/b", commit="", ecosystem="", test="")
    lacking = FieldProject(name="a/b", commit="", ecosystem="", test="", lacks="a network")
    missing = Result("environment", Counts(passed=3, failed=1))
    assert agrees(project, missing, Result("failed", None))
    assert not agrees(project, missing, Result("passed", None))
    assert not agrees(project, missing, Result("failed", Counts(passed=3, failed=1)))
    assert agrees(lacking, missing, Result("failed", Counts(passed=3, failed=1)))
    assert agrees(lacking, missing, Result("passed", Counts(passed=4)))
    assert not agrees(lacking, missing, Result("failed", Counts(passed=2, failed=1)))


def test_only_as_many_tests_may_be_flaky_as_are_known() -> None:
    project = FieldProject(name="a/b", commit="", ecosystem="", test="", flaky=1)
    passed, failed = Result("passed", Counts(passed=3)), Result("failed", Counts(passed=2, failed=1))
    assert agrees(project, failed, passed)
    assert not agrees(project, Result("failed", Counts(passed=1, failed=2)), passed)
    assert not agrees(project, failed, Result("passed", Counts(passed=2)))
