"""How many tests ran, as each tool says it."""

import pytest

from journeyman.verification.counts import Counts, count_tests

SAID = {
    "pytest": ("===== 1 failed, 12 passed, 2 skipped, 1 warning in 0.12s =====", Counts(12, 1, 2)),
    "pytest quiet": ("..F\n1 failed, 2 passed in 0.10s", Counts(2, 1)),
    "pytest for minutes": ("== 3 passed in 65.20s (0:01:05) ==", Counts(3)),
    "pytest error": ("=== no tests collected, 1 error in 0.05s ===", Counts(0, 1)),
    "pytest errors": ("= 2 passed, 3 errors in 0.05s =", Counts(2, 3)),
    "pytest nothing": ("===== no tests ran in 0.01s =====", Counts()),
    "pytest only skipped": ("===== 4 skipped in 0.01s =====", Counts(0, 0, 4)),
    "pytest only expected failures": ("===== 2 xfailed in 0.01s =====", Counts(0, 0, 2)),
    "pytest deselected": ("===== 5 deselected in 0.01s =====", Counts()),
    "pytest says it last": ("1 passed in 9.99s\n==== 2 failed in 0.01s ====", Counts(0, 2)),
    "unittest": ("Ran 3 tests in 0.001s\n\nOK", Counts(3)),
    "unittest one": ("Ran 1 test in 0.001s\n\nOK", Counts(1)),
    "unittest failed": ("Ran 4 tests in 0.1s\n\nFAILED (failures=1, errors=1, skipped=1)", Counts(1, 2, 1)),
    "unittest expected": ("Ran 2 tests in 0.1s\n\nOK (expected failures=2)", Counts(0, 0, 2)),
    "unittest skipped": ("Ran 3 tests in 0.1s\n\nOK (skipped=3)", Counts(0, 0, 3)),
    "unittest nothing": ("Ran 0 tests in 0.000s\n\nOK", Counts()),
    "unittest nothing, newer": ("Ran 0 tests in 0.000s\n\nNO TESTS RAN", Counts()),
    "cargo": (
        "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
        "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out",
        Counts(3, 1, 1),
    ),
    "cargo nothing": ("running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored", Counts()),
    "go": ("ok  \texample.com/a\t0.004s\nok  \texample.com/b\t(cached)\n", Counts(2)),
    "go failed": ("--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.com/a\t0.004s\nFAIL\n", Counts(0, 1)),
    "go does not build": ("FAIL\texample.com/a [build failed]\nFAIL\n", Counts(0, 1)),
    "go nothing": ("?   \texample.com/a\t[no test files]\n", Counts()),
    "go nothing to run": ("ok  \texample.com/a\t0.004s [no tests to run]\n", Counts()),
    "jest": ("Tests:       1 failed, 1 skipped, 7 passed, 9 total\n", Counts(7, 1, 1)),
    "jest nothing": ("No tests found, exiting with code 0\n", Counts()),
    "vitest": (" Test Files  1 passed (1)\n      Tests  1 failed | 2 passed (3)\n", Counts(2, 1)),
    "vitest nothing": ("No test files found, exiting with code 0\n", Counts()),
    "node": ("ℹ tests 3\nℹ suites 0\nℹ pass 2\nℹ fail 1\nℹ cancelled 0\nℹ skipped 0", Counts(2, 1)),
    "node as TAP": ("ok 1 - adds\n1..1\n# tests 1\n# pass 1\n# fail 0\n", Counts(1)),
    "node nothing": ("# tests 0\n# suites 0\n# pass 0\n# fail 0", Counts()),
    "mocha": ("  3 passing (10ms)\n  1 pending\n  1 failing\n", Counts(3, 1, 1)),
    "ava": ("  ✔ adds\n  ─\n\n  1 test failed\n  31 tests passed\n  2 tests todo\n", Counts(31, 1, 2)),
    "ctest": ("100% tests passed, 0 tests failed out of 19\n", Counts(19)),
    "ctest failed": ("50% tests passed, 1 tests failed out of 2\n", Counts(1, 1)),
    "ctest nothing": ("No tests were found!!!\n", Counts()),
    "meson": (
        "Ok:                 7   \nExpected Fail:      1   \nFail:               1   \n",
        Counts(7, 1, 1),
    ),
    "meson nothing": ("No tests defined.\n", Counts()),
    "automake": ("# TOTAL: 4\n# PASS:  2\n# SKIP:  1\n# XFAIL: 0\n# FAIL:  1\n# ERROR: 0\n", Counts(2, 1, 1)),
    "maven": (
        "[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 0.1 s -- in a.B\n"
        "[WARNING] Tests run: 4, Failures: 1, Errors: 0, Skipped: 1\n",
        Counts(2, 1, 1),
    ),
    "maven nothing": ("[INFO] No tests to run.\n", Counts()),
    "gradle": ("12 tests completed, 2 failed, 1 skipped\n", Counts(9, 2, 1)),
    "minitest": ("9 runs, 20 assertions, 1 failures, 1 errors, 2 skips\n", Counts(5, 2, 2)),
    "test-unit": (
        "9 tests, 20 assertions, 1 failures, 0 errors, 1 pendings, 0 omissions, 0 notifications\n",
        Counts(7, 1, 1),
    ),
    "rspec": ("5 examples, 1 failure, 1 pending\n", Counts(3, 1, 1)),
    "phpunit": ("OK (3 tests, 5 assertions)\n", Counts(3)),
    "phpunit failed": ("Tests: 5, Assertions: 9, Failures: 1, Warnings: 2, Skipped: 1.\n", Counts(3, 1, 1)),
    "dotnet": (
        "Failed!  - Failed:     1, Passed:     2, Skipped:     1, Total:     4, Duration: 9 ms",
        Counts(2, 1, 1),
    ),
    "a small runner": ("17 tests, 16 passed, 1 failed\n", Counts(16, 1)),
    "bats": ("3 tests, 1 failure, 1 skipped\n", Counts(1, 1, 1)),
    "two tools": ("== 3 passed in 0.10s ==\nTests:       2 passed, 2 total\n", Counts(5)),
    "nobody": ("all is well\n", None),
    "a compiler": ("error[E0308]: mismatched types\nerror: could not compile `calc`\n", None),
}


@pytest.mark.parametrize("tool", SAID)
def test_the_numbers_are_read_as_the_tool_means_them(tool: str) -> None:
    output, expected = SAID[tool]
    assert count_tests(output) == expected


def test_counts_say_failures_first_and_leave_out_zeros() -> None:
    assert str(Counts(12, 1, 0)) == "1 failed, 12 passed"
    assert str(Counts()) == "no tests"
