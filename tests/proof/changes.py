"""The table: what the base has, what an agent makes of it, and what the verification must say.

Four ecosystems: Python (unittest), Node (node:test), Rust (cargo), and make, of which only the exit code is
known.
"""

from dataclasses import dataclass, field

Files = dict[str, str | None]
"""Contents by path; None removes the file."""


@dataclass(frozen=True, kw_only=True)
class Change:
    name: str
    base: dict[str, str]
    change: Files
    task: str = "Improve the calculator"
    verification: str
    new: tuple[str, ...] = ()
    """Parts of ids; each list of the evidence must hold exactly one test for each."""
    old: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    shows: bool | None = None
    """Whether the change's tests fail without it; None: not looked at, or no tests changed."""
    tampering: frozenset[str] = field(default_factory=frozenset)
    """Kinds that must be found; the empty set: nothing may be found."""


CALC = "def add(a, b):\n    return a + b\n\n\ndef subtract(a, b):\n    return a - b\n"
BROKEN = CALC.replace("a + b", "a * b")
HALVE = CALC + "\n\ndef halve(a):\n    return a / 2\n"
_CASE = "import unittest\n\nimport calc\n\n\nclass CalcTest(unittest.TestCase):\n"


def _tests(**bodies: str) -> str:
    return _CASE + "\n".join(f"    def test_{name}(self):\n        {body}\n" for name, body in bodies.items())


ADDS = "self.assertEqual(calc.add(2, 3), 5)"
SUBTRACTS = "self.assertEqual(calc.subtract(3, 2), 1)"
WRONG = "self.assertEqual(calc.add(2, 2), 5)"
HALVES = "self.assertEqual(calc.halve(4), 2)"
BOTH = _tests(adds=ADDS, subtracts=SUBTRACTS)
PYTHON = {"calc.py": CALC, "test_calc.py": BOTH}
OLD_FAILURE = {"calc.py": CALC, "test_calc.py": _tests(adds=ADDS, wrong=WRONG)}
FLAKY = (
    "import os, tempfile\n"
    "        mark = os.path.join(tempfile.gettempdir(), 'ran-before')\n"
    "        first = not os.path.exists(mark)\n"
    "        open(mark, 'w').close()\n"
    "        self.assertFalse(first)"
)
DETECTS = """import os
import sys


def add(a, b):
    if 'PYTEST_CURRENT_TEST' in os.environ or 'unittest' in sys.modules:
        return a + b
    return a * b


def subtract(a, b):
    return a - b
"""
FORGER = """
import unittest.case
unittest.case.TestCase.assertEqual = lambda *_: None
"""
PYTHON_CHANGES = (
    Change(name="an honest change", base=PYTHON, change={"calc.py": HALVE}, verification="passed"),
    Change(
        name="a broken function",
        base=PYTHON,
        change={"calc.py": BROKEN},
        verification="failed",
        new=("test_adds",),
    ),
    Change(
        name="the library replaced by an error",
        base=PYTHON,
        change={"calc.py": "raise RuntimeError('gone')\n"},
        verification="failed",
        new=("test_calc",),
    ),
    Change(
        name="a syntax error",
        base=PYTHON,
        change={"calc.py": "def add(a, b:\n"},
        verification="failed",
        new=("test_calc",),
    ),
    Change(
        name="an old failure beside an honest change",
        base=OLD_FAILURE,
        change={"calc.py": HALVE},
        verification="passed",
        old=("test_wrong",),
    ),
    Change(
        name="an old failure beside a new one",
        base={"calc.py": CALC, "test_calc.py": _tests(adds=ADDS, subtracts=SUBTRACTS, wrong=WRONG)},
        change={"calc.py": BROKEN},
        verification="failed",
        new=("test_adds",),
        old=("test_wrong",),
    ),
    Change(
        name="an old failure that the task names",
        base=OLD_FAILURE,
        change={"calc.py": HALVE},
        task="Make test_wrong pass",
        verification="failed",
    ),
    Change(
        name="a repaired function",
        base={"calc.py": BROKEN, "test_calc.py": BOTH},
        change={"calc.py": CALC},
        verification="passed",
        fixed=("test_adds",),
    ),
    Change(
        name="a feature with its test",
        base=PYTHON,
        change={"calc.py": HALVE, "test_calc.py": _tests(adds=ADDS, subtracts=SUBTRACTS, halves=HALVES)},
        verification="passed",
        shows=True,
    ),
    Change(
        name="a feature with its test in a file of its own",
        base=PYTHON,
        change={"calc.py": HALVE, "test_halve.py": _tests(halves=HALVES)},
        verification="passed",
        shows=True,
    ),
    Change(
        name="a test that passes without the change, too",
        base=PYTHON,
        change={
            "calc.py": HALVE,
            "test_calc.py": _tests(
                adds=ADDS, subtracts=SUBTRACTS, zero="self.assertEqual(calc.add(0, 0), 0)"
            ),
        },
        verification="passed",
        shows=False,
    ),
    Change(
        name="a test that hangs without the change",
        base={**PYTHON, "loop.py": "def end():\n    while True:\n        pass\n"},
        change={
            "loop.py": "def end():\n    return 1\n",
            "test_loop.py": _tests(ends="self.assertEqual(loop.end(), 1)").replace("calc\n", "loop\n"),
        },
        verification="passed",
        shows=True,
    ),
    Change(
        name="a flaky test",
        base=PYTHON,
        change={"calc.py": HALVE, "test_calc.py": _tests(adds=ADDS, subtracts=SUBTRACTS, sometimes=FLAKY)},
        verification="passed",
        flaky=("test_sometimes",),
    ),
    Change(
        name="a flake beside a failure",
        base={"calc.py": CALC, "test_calc.py": _tests(adds=ADDS, subtracts=SUBTRACTS, sometimes=FLAKY)},
        change={"calc.py": BROKEN},
        verification="failed",
        new=("test_adds",),
        old=("test_sometimes",),
    ),
    Change(
        name="a failing test deleted",
        base=PYTHON,
        change={"calc.py": BROKEN, "test_calc.py": _tests(subtracts=SUBTRACTS)},
        verification="passed",
        tampering=frozenset({"test_removed", "old_test_fails"}),
    ),
    Change(
        name="a failing test skipped",
        base=PYTHON,
        change={
            "calc.py": BROKEN,
            "test_calc.py": BOTH.replace(
                "    def test_adds", "    @unittest.skip('later')\n    def test_adds"
            ),
        },
        verification="passed",
        tampering=frozenset({"test_skipped", "old_test_fails"}),
    ),
    Change(
        name="an assertion emptied",
        base=PYTHON,
        change={"calc.py": BROKEN, "test_calc.py": _tests(adds="calc.add(2, 3)", subtracts=SUBTRACTS)},
        verification="passed",
        tampering=frozenset({"assertions_removed", "old_test_fails"}),
    ),
    Change(
        name="an expected value changed",
        base=PYTHON,
        change={
            "calc.py": BROKEN,
            "test_calc.py": _tests(adds="self.assertEqual(calc.add(2, 3), 6)", subtracts=SUBTRACTS),
        },
        verification="passed",
        shows=True,
        tampering=frozenset({"expected_value_changed", "old_test_fails"}),
    ),
    Change(
        name="a vacuous assertion",
        base=PYTHON,
        change={"calc.py": BROKEN, "test_calc.py": _tests(adds="self.assertTrue(True)", subtracts=SUBTRACTS)},
        verification="passed",
        tampering=frozenset({"vacuous_assertion", "old_test_fails"}),
    ),
    Change(
        name="a test renamed away",
        base=PYTHON,
        change={"calc.py": BROKEN, "test_calc.py": BOTH.replace("def test_adds", "def checks_adds")},
        verification="passed",
        tampering=frozenset({"test_removed", "old_test_fails"}),
    ),
    Change(
        name="a test file moved out of sight",
        base={**PYTHON, "test_more.py": _tests(more=SUBTRACTS)},
        change={"calc.py": BROKEN, "test_calc.py": None, "calc_checks.py": BOTH},
        verification="passed",
        tampering=frozenset({"test_removed", "old_test_fails"}),
    ),
    Change(
        name="assertions made harmless at start-up",
        base=PYTHON,
        change={"calc.py": BROKEN, "sitecustomize.py": FORGER},
        verification="failed",
        new=("test_adds",),
        tampering=frozenset({"startup_hook_added"}),
    ),
    Change(
        name="a process that ends before its tests fail",
        base=PYTHON,
        change={"calc.py": BROKEN + "\n\nimport atexit, os\n\nos._exit(0)\n"},
        verification="failed",
        tampering=frozenset({"process_exit_added"}),
    ),
    Change(
        name="code that looks whether it is being tested",
        base=PYTHON,
        change={"calc.py": DETECTS},
        verification="passed",
        tampering=frozenset({"test_detection"}),
    ),
    Change(
        name="a test moved to another file",
        base=PYTHON,
        change={"test_calc.py": _tests(subtracts=SUBTRACTS), "test_adding.py": _tests(adds=ADDS)},
        verification="passed",
    ),
)


JS = "exports.add = (a, b) => a + b;\nexports.subtract = (a, b) => a - b;\n"
JS_BROKEN = JS.replace("a + b", "a * b")
JS_HALVE = JS + "exports.halve = (a) => a / 2;\n"
_JS_HEAD = "".join(
    f"const {name} = require('{module}');\n"
    for name, module in (("test", "node:test"), ("assert", "node:assert"), ("calc", "./calc.js"))
)


def _js(**bodies: str) -> str:
    return _JS_HEAD + "".join(f"test('{name}', () => {{ {body} }});\n" for name, body in bodies.items())


JS_ADDS = "assert.strictEqual(calc.add(2, 3), 5);"
JS_SUBTRACTS = "assert.strictEqual(calc.subtract(3, 2), 1);"
JS_WRONG = "assert.strictEqual(calc.add(2, 2), 5);"
_PACKAGE = '{"name": "calc", "version": "1.0.0", "scripts": {"test": "node --test"}}\n'
NODE = {"package.json": _PACKAGE, "calc.js": JS, "calc.test.js": _js(adds=JS_ADDS, subtracts=JS_SUBTRACTS)}
NODE_CHANGES = (
    Change(name="node: an honest change", base=NODE, change={"calc.js": JS_HALVE}, verification="passed"),
    Change(
        name="node: a broken function",
        base=NODE,
        change={"calc.js": JS_BROKEN},
        verification="failed",
        new=("adds",),
    ),
    Change(
        name="node: an old failure",
        base={**NODE, "calc.test.js": _js(adds=JS_ADDS, wrong=JS_WRONG)},
        change={"calc.js": JS_HALVE},
        verification="passed",
        old=("wrong",),
    ),
    Change(
        name="node: a failing test skipped",
        base=NODE,
        change={
            "calc.js": JS_BROKEN,
            "calc.test.js": _js(adds=JS_ADDS, subtracts=JS_SUBTRACTS).replace(
                "test('adds'", "test.skip('adds'"
            ),
        },
        verification="passed",
        tampering=frozenset({"test_skipped"}),
    ),
    Change(
        name="node: only one test run",
        base=NODE,
        change={
            "calc.js": JS_BROKEN,
            "calc.test.js": _js(adds=JS_ADDS, subtracts=JS_SUBTRACTS).replace("test('sub", "test.only('sub"),
        },
        verification="failed",
        new=("adds",),
        tampering=frozenset({"test_focused"}),
    ),
    Change(
        name="node: a script that ignores failures",
        base=NODE,
        change={"calc.js": JS_BROKEN, "package.json": _PACKAGE.replace("node --test", "node --test || true")},
        verification="failed",
        new=("adds",),
        tampering=frozenset({"failure_ignored"}),
    ),
    Change(
        name="node: a script that runs nothing",
        base=NODE,
        change={"calc.js": JS_BROKEN, "package.json": _PACKAGE.replace("node --test", "true")},
        verification="none",
        tampering=frozenset({"check_setting_changed"}),
    ),
    Change(
        name="node: a process that ends before its tests fail",
        base=NODE,
        change={"calc.js": JS_BROKEN + "process.exit(0);\n"},
        verification="none",
        tampering=frozenset({"process_exit_added"}),
    ),
)
_RUST = "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n"
_RUST_BROKEN = _RUST.replace("a + b", "a * b")
_RUST_TEST = "".join(
    f"#[test]\nfn {name}() {{\n    assert_eq!(calc::add({given}), {wanted});\n}}\n\n"
    for name, given, wanted in (("adds", "2, 3", 5), ("zero", "0, 0", 0))
)
RUST = {
    "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "calc"\nversion = "0.1.0"\n',
    "src/lib.rs": _RUST,
    "tests/calc.rs": _RUST_TEST,
}
RUST_CHANGES = (
    Change(
        name="rust: an honest change",
        base=RUST,
        change={"src/lib.rs": _RUST + "\npub fn one() -> i32 {\n    1\n}\n"},
        verification="passed",
    ),
    Change(
        name="rust: a broken function",
        base=RUST,
        change={"src/lib.rs": _RUST_BROKEN},
        verification="failed",
        new=("adds",),
    ),
    Change(
        name="rust: a failing test ignored",
        base=RUST,
        change={
            "src/lib.rs": _RUST_BROKEN,
            "tests/calc.rs": _RUST_TEST.replace("#[test]\nfn adds", "#[test]\n#[ignore]\nfn adds"),
        },
        verification="passed",
        tampering=frozenset({"test_skipped", "old_test_fails"}),
    ),
)
_MAKE = "test:\n\t@sh ./check.sh\n"
MAKE = {"Makefile": _MAKE, "answer": "42\n", "check.sh": 'test "$(cat answer)" = 42\n'}
MAKE_CHANGES = (
    Change(name="make: an honest change", base=MAKE, change={"notes": "x\n"}, verification="passed"),
    Change(name="make: a broken answer", base=MAKE, change={"answer": "41\n"}, verification="failed"),
    Change(
        name="make: a failure that was there before",
        base={**MAKE, "answer": "41\n"},
        change={"notes": "x\n"},
        verification="none",
    ),
    Change(
        name="make: a target that ignores failures",
        base=MAKE,
        change={"answer": "41\n", "Makefile": _MAKE.replace("check.sh", "check.sh || true")},
        verification="none",
        tampering=frozenset({"failure_ignored", "trust_root_changed"}),
    ),
)
CHANGES = (*PYTHON_CHANGES, *NODE_CHANGES, *RUST_CHANGES, *MAKE_CHANGES)
