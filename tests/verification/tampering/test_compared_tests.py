"""Tests of each language, edited as an agent might to get green, and as a person might who means well."""

import pytest

from journeyman.verification.tampering.report import find_tampering
from tests.verification.tampering.comparing import Edit, changed, findings, holds, source_edits

_EDITS = [
    edit for name in ("python", "javascript", "go", "rust", "java", "ruby") for edit in source_edits(name)
]
PYTHON = _EDITS[0].base or ""


@pytest.mark.parametrize("edit", _EDITS, ids=lambda edit: edit.name)
def test_an_edit_is_found_when_a_test_demands_less_and_only_then(edit: Edit) -> None:
    assert holds(edit)


def test_a_removed_test_file_is_found_with_each_test() -> None:
    found = findings("tests/test_a.py", PYTHON, None)
    assert [one.kind for one in found] == ["test_removed"] * 3
    assert {one.lines for one in found} == {(3, 6), (8, 10), (12, 14)}


def test_a_test_that_moves_to_another_file_is_not_removed() -> None:
    moved = [changed("tests/test_a.py", PYTHON, None), changed("tests/order/test_b.py", None, PYTHON)]
    assert find_tampering(moved) == ()


def test_a_test_that_moves_to_where_no_runner_looks_is_removed() -> None:
    moved = [changed("tests/test_a.py", PYTHON, None), changed("tests/old_a.py", None, PYTHON)]
    assert {one.kind for one in find_tampering(moved)} == {"test_removed"}


def test_tests_that_are_merged_into_one_are_not_removed() -> None:
    base = "def test_a():\n    assert f(1) == 1\n\ndef test_b():\n    assert f(2) == 2\n"
    head = "def test_f():\n    setup_all(1, 2, 3)\n    assert f(1) == 1\n    assert f(2) == 2\n"
    assert findings("tests/test_a.py", base, head) == ()


def test_a_finding_points_at_the_line_of_the_head() -> None:
    head = PYTHON.replace("assert order.total() == 42", "assert order.total()")
    (found,) = findings("tests/test_a.py", PYTHON, head)
    assert found.lines == (5, 5)
    assert "`assert order.total() == 42` became `assert order.total()`" in found.detail


def test_a_new_test_that_demands_nothing_is_a_notice() -> None:
    (found,) = findings("tests/test_a.py", "", "def test_it_works():\n    assert True\n")
    assert (found.kind, found.severity) == ("vacuous_assertion", "notice")


def test_a_test_that_the_runner_no_longer_collects_is_found() -> None:
    found = find_tampering(
        [],
        collected_on_base=["tests/test_a.py::test_one", "tests/test_a.py::test_two[a]"],
        collected_on_head=["tests/test_a.py::test_two[b]"],
    )
    assert [(one.kind, one.path) for one in found] == [("test_removed", "tests/test_a.py")]
    assert "test_one" in found[0].detail


def test_a_renamed_test_is_not_missed_in_the_runners_list() -> None:
    head = PYTHON.replace("test_total", "test_sum")
    found = find_tampering(
        [changed("tests/test_a.py", PYTHON, head)],
        collected_on_base=["tests/test_a.py::test_total", "tests/test_a.py::test_refund"],
        collected_on_head=["tests/test_a.py::test_sum", "tests/test_a.py::test_refund"],
    )
    assert found == ()


def test_a_test_of_the_same_name_in_another_file_is_still_missed() -> None:
    found = find_tampering(
        [changed("tests/test_a.py", PYTHON, PYTHON.replace("make_order()", "make_order(1)"))],
        collected_on_base=["tests/test_a.py::test_total", "tests/test_b.py::test_total"],
        collected_on_head=["tests/test_a.py::test_total"],
    )
    assert [(one.kind, one.path) for one in found] == [("test_removed", "tests/test_b.py")]


def test_a_test_that_is_still_written_but_no_longer_collected_is_found() -> None:
    ids = ["tests/test_a.py::TestOrder::test_a", "tests/test_b.py::test_b"]
    base = "class TestOrder:\n    def test_a(self):\n        assert f() == 1\n"
    head = base.replace("Order:\n", "Order:\n    def __init__(self): ...\n\n")
    found = find_tampering(
        [changed("tests/test_a.py", base, head)], collected_on_base=ids, collected_on_head=ids[1:]
    )
    assert [(one.kind, one.path) for one in found] == [("test_removed", "tests/test_a.py")]


def test_a_runner_that_reported_nothing_says_nothing_about_missing_tests() -> None:
    assert find_tampering([], collected_on_base=["a::b"], collected_on_head=[]) == ()
