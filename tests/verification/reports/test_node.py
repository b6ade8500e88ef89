"""The real runners of Node. Those that are packages are brought from the registry, which takes long."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.verification.projects import equipped, project
from tests.verification.reports.running import case, checked, outcomes, report_of

NODE_TEST = """
    const test = require("node:test");
    const assert = require("node:assert");

    test("adds", () => assert.equal(1 + 2, 3));
    test("is wrong", () => assert.equal(1 + 2, 4));
    test("is left out", { skip: true }, () => {});
    test.describe("sums", () => {
      test.describe("of two", () => {
        test.it("adds", () => assert.equal(2 + 2, 4));
      });
      test.it("is wrong", () => assert.equal(2 + 2, 5));
    });
"""
NODE_RESULTS = {
    "calc.test.js > adds": "passed",
    "calc.test.js > is wrong": "failed",
    "calc.test.js > is left out": "skipped",
    "calc.test.js > sums > of two > adds": "passed",
    "calc.test.js > sums > is wrong": "failed",
}


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("node --test", {}),
        ("npm test", {"package.json": '{"scripts": {"test": "node --version && node --test"}}'}),
        ("make test", {"Makefile": "test:\n\tnode --test\n"}),
    ],
)
async def test_each_test_of_node_is_reported(tmp_path: Path, command: str, more: Mapping[str, str]) -> None:
    result = await checked(tmp_path, {"calc.test.js": NODE_TEST, **more}, command)
    assert outcomes(result) == NODE_RESULTS
    assert (report_of(result).runner, report_of(result).is_complete) == ("node test", True)
    assert (result.outcome, result.summary) == ("failed", "2 failed, 2 passed, 1 skipped")
    assert "is wrong" in result.output
    assert "4" in case(result, "test.js > is wrong").message
    assert case(result, "test.js > is wrong").file == "calc.test.js"


async def test_a_reporter_that_the_project_names_is_left_alone(tmp_path: Path) -> None:
    files = {"calc.test.js": NODE_TEST, "run.sh": "node --test --test-reporter=spec\n"}
    for script in ("node --test --test-reporter=spec", "sh run.sh"):
        manifest = {"package.json": json.dumps({"scripts": {"test": script}})}
        (place := tmp_path / script.split()[0]).mkdir()
        result = await checked(place, {**files, **manifest}, "npm test")
        assert (result.outcome, result.summary) == ("failed", "2 failed, 2 passed, 1 skipped"), result
        assert result.report is None


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """vitest, jest and mocha, installed once."""
    npm = shutil.which("npm")
    assert npm, "npm is not installed; run `make setup`"
    directory = tmp_path_factory.mktemp("node_packages")
    (directory / "package.json").write_text("{}")
    command = [npm, "install", "--no-audit", "--no-fund", "vitest", "jest", "mocha"]
    subprocess.run(command, cwd=directory, check=True, capture_output=True)
    return directory / "node_modules"


SUITE = """
    {imports}
    describe("sums", () => {{
      it("adds", () => assert.equal(1 + 2, 3));
      it("is wrong", () => assert.equal(1 + 2, 4));
      it.skip("is left out", () => {{}});
    }});
    it("stands alone", () => {{}});
"""
RESULTS = {
    "{file} > sums > adds": "passed",
    "{file} > sums > is wrong": "failed",
    "{file} > sums > is left out": "skipped",
    "{file} > stands alone": "passed",
}
IMPORT = 'import { describe, it } from "vitest"; import assert from "node:assert";'
ASSERT = 'const assert = require("node:assert");'
RUNNERS = {
    "vitest": (
        "vitest run",
        'import { describe, it } from "vitest"; import assert from "node:assert";',
        "mjs",
    ),
    "jest": ("jest", ASSERT, "js"),
    "mocha": ("mocha '*.test.js'", ASSERT, "js"),
}


@pytest.mark.lasting
@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("script", ["{}", "node --version && {}"])
async def test_each_test_of_a_package_s_runner_is_reported(
    tmp_path: Path, packages: Path, runner: str, script: str
) -> None:
    command, imports, suffix = RUNNERS[runner]
    file = f"calc.test.{suffix}"
    files = {
        file: SUITE.format(imports=imports),
        "package.json": json.dumps({"scripts": {"test": script.format(command)}}),
    }
    tree = project(tmp_path, files)
    (tree / "node_modules").symlink_to(packages)
    result = await checked(tmp_path, {}, "npm test", sandbox=equipped(tree))
    assert outcomes(result) == {name.format(file=file): outcome for name, outcome in RESULTS.items()}
    assert (report_of(result).runner, report_of(result).is_complete) == (runner, True)
    assert (result.outcome, result.summary) == ("failed", "1 failed, 2 passed, 1 skipped")
    assert "is wrong" in result.output, "the runner prints what it always prints"
    assert "3" in case(result, "is wrong").message


@pytest.mark.lasting
@pytest.mark.parametrize("runner", RUNNERS)
async def test_only_the_tests_that_are_asked_for_run(tmp_path: Path, packages: Path, runner: str) -> None:
    command, imports, suffix = RUNNERS[runner]
    file = f"calc.test.{suffix}"
    tree = project(tmp_path, {file: SUITE.format(imports=imports), "package.json": "{}"})
    (tree / "node_modules").symlink_to(packages)
    wanted = (f"{file} > sums > adds",)
    result = await checked(tmp_path, {}, f"npx {command}", sandbox=equipped(tree), only=wanted)
    assert (outcomes(result), result.outcome) == ({wanted[0]: "passed"}, "passed"), result.output


@pytest.mark.lasting
@pytest.mark.parametrize("runner", RUNNERS)
async def test_a_file_that_cannot_be_loaded_has_failed(tmp_path: Path, packages: Path, runner: str) -> None:
    command, imports, suffix = RUNNERS[runner]
    files = {
        f"a.test.{suffix}": SUITE.format(imports=imports).replace("4", "3"),
        f"b.test.{suffix}": "throw new Error('no luck');",
        "package.json": "{}",
    }
    tree = project(tmp_path, files)
    (tree / "node_modules").symlink_to(packages)
    result = await checked(tmp_path, {}, f"npx {command}", sandbox=equipped(tree))
    assert result.outcome == "failed"
    if runner != "mocha":  # which reads all files before it begins
        assert outcomes(result)[f"b.test.{suffix}"] == "failed"


@pytest.mark.lasting
@pytest.mark.parametrize("runner", ["vitest", "jest"])
async def test_a_test_that_takes_too_long_fails(tmp_path: Path, packages: Path, runner: str) -> None:
    command, imports, suffix = RUNNERS[runner]
    body = f'{imports}\nit("waits", () => new Promise(() => setTimeout(() => {{}}, 60000)));\n'
    tree = project(tmp_path, {f"a.test.{suffix}": body, "package.json": "{}"})
    (tree / "node_modules").symlink_to(packages)
    result = await checked(tmp_path, {}, f"npx {command}", sandbox=equipped(tree), seconds_per_test=0.2)
    assert outcomes(result) == {f"a.test.{suffix} > waits": "failed"}
