"""The lines that matter, out of the many that do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journeyman.verification.failing import LIMIT, failing_lines

NOISE = "".join(f"collecting item {number} of the whole\n" for number in range(200))

OUTPUTS = {
    "pytest": (
        "=== FAILURES ===\n____ test_add ____\n\n    def test_add():\n>       assert add(1, 2) == 3\n"
        "E       assert -1 == 3\n\ntests/test_calc.py:5: AssertionError\n=== short test summary info ===\n"
        "FAILED tests/test_calc.py::test_add - assert -1 == 3\n1 failed in 0.1s\n",
        [
            "test_add",
            "assert add(1, 2) == 3",
            "assert -1 == 3",
            "test_calc.py:5",
            "FAILED tests/test_calc.py",
        ],
    ),
    "unittest": (
        "FAIL: test_add (test_calc.Add)\n-----\nTraceback (most recent call last):\n"
        '  File "test_calc.py", line 6, in test_add\n    self.assertEqual(1, 2)\nAssertionError: 1 != 2\n',
        ["FAIL: test_add", "self.assertEqual(1, 2)", "AssertionError: 1 != 2"],
    ),
    "jest": (
        "  ● adds\n\n    expect(received).toBe(expected)\n\n    Expected: 3\n    Received: -1\n",
        ["● adds", "Expected: 3", "Received: -1"],
    ),
    "vitest": (
        " FAIL  calc.test.ts > adds\nAssertionError: expected -1 to be 3\n ❯ calc.test.ts:5:10\n",
        ["calc.test.ts > adds", "expected -1 to be 3", "calc.test.ts:5:10"],
    ),
    "node": (
        "not ok 1 - adds\n  ---\n  failureType: 'testCodeFailure'\n  error: 'wrong sum'\n",
        ["not ok 1 - adds", "wrong sum"],
    ),
    "cargo": (
        "test adds ... FAILED\n\n---- adds stdout ----\n\nthread 'adds' panicked at src/lib.rs:9:5:\n"
        "assertion `left == right` failed\n  left: -1\n right: 3\n",
        ["test adds ... FAILED", "src/lib.rs:9:5", "right: 3"],
    ),
    "rustc": (
        'error[E0308]: mismatched types\n --> src/lib.rs:2:5\n  |\n2 |     "a"\n',
        ["mismatched types", "src/lib.rs:2:5"],
    ),
    "go": ("--- FAIL: TestAdd (0.00s)\n    calc_test.go:7: got -1, want 3\n", ["TestAdd", "got -1, want 3"]),
    "tsc": ("src/a.ts(3,5): error TS2322: Type 'string'.\n", ["TS2322"]),
    "ruff": ("calc.py:1:8: F401 `os` imported but unused\n", ["F401"]),
    "eslint": ("  1:7  error  'a' is assigned a value but never used\n", ["never used"]),
    "gcc": ("main.c:3:2: error: expected ';'\n", ["expected ';'"]),
    "make": ("make: *** [Makefile:2: test] Error 1\n", ["Error 1"]),
}


@pytest.mark.parametrize("tool", OUTPUTS)
def test_what_went_wrong_is_kept_and_the_rest_is_not(tool: str) -> None:
    output, wanted = OUTPUTS[tool]
    kept = failing_lines(NOISE + output + NOISE)
    assert [piece for piece in wanted if piece not in kept] == []
    assert kept.count("collecting item") <= 12


def test_an_unknown_output_is_known_by_its_end() -> None:
    kept = failing_lines(NOISE + "it broke\n\n\n").split("\n")
    assert len(kept) == 40
    assert kept[-1] == "it broke"


def test_colours_are_removed() -> None:
    assert failing_lines("\x1b[31mE       assert 1 == 2\x1b[0m") == "E       assert 1 == 2"


def test_a_gap_is_shown() -> None:
    assert failing_lines("E   first\nnoise\nE   second") == "E   first\n…\nE   second"


def test_many_failures_keep_their_head_and_their_tail() -> None:
    kept = failing_lines("".join(f"E   failure {number:06}\n" for number in range(5_000)))
    assert kept.startswith("E   failure 000000")
    assert kept.endswith("E   failure 004999")
    assert "characters left out" in kept
    assert len(kept) < LIMIT


@given(st.text(max_size=3_000), st.integers(50, 1_000))
def test_any_output_is_cut_to_the_limit(output: str, limit: int) -> None:
    assert len(failing_lines(output, limit)) <= limit + 40
