"""Real runners of other languages. Those that the set-up of the tests does not install run where they are."""

import shutil
from pathlib import Path

import pytest

from tests.verification.reports.running import case, checked, outcomes, report_of


def needs(*programs: str) -> tuple[pytest.MarkDecorator, ...]:
    missing = [program for program in programs if not shutil.which(program)]
    return pytest.mark.lasting, pytest.mark.skipif(
        bool(missing), reason=f"{', '.join(missing)} not installed"
    )


CARGO = {
    "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": """
        /// ```
        /// assert_eq!(calc::one(), 1);
        /// ```
        pub fn one() -> u8 { 1 }

        #[cfg(test)]
        mod tests {
            #[test] fn adds() { println!("failed tests::made_up"); assert_eq!(1 + 2, 3); }
            #[test] fn is_wrong() { assert_eq!(1 + 2, 4); }
            #[test] #[ignore] fn later() {}
            #[test] #[should_panic] fn panics() { panic!("yes") }
        }
    """,
    "tests/whole.rs": "#[test] fn works() {}\n",
    "tests/own.rs": "fn main() { assert_eq!(std::env::args().count(), 1) }\n",
}
CARGO["Cargo.toml"] += '[[test]]\nname = "own"\nharness = false\n'


@pytest.mark.parametrize("command", ["cargo test --offline", "make test"])
async def test_each_test_of_cargo_is_reported(tmp_path: Path, command: str) -> None:
    more = {"Makefile": "test:\n\tcargo test --offline --no-fail-fast\n"}
    result = await checked(tmp_path, CARGO | more, command)
    assert outcomes(result) == {
        "calc::calc::tests::adds": "passed",
        "calc::calc::tests::is_wrong": "failed",
        "calc::calc::tests::later": "skipped",
        "calc::calc::tests::panics": "passed",
        "calc::whole::works": "passed",
        "src/lib.rs - one": "passed",
    }
    assert (report_of(result).runner, report_of(result).is_complete) == ("cargo test", True), result.output
    assert (result.outcome, result.summary) == ("failed", "1 failed, 4 passed, 1 skipped")
    assert "right: 4" in case(result, "is_wrong").message


async def test_a_test_of_rust_that_ends_its_binary_is_not_a_pass(tmp_path: Path) -> None:
    body = "#[test] fn a() { std::process::exit(0) }\n#[test] fn b() { panic!() }\n"
    result = await checked(
        tmp_path, {"Cargo.toml": CARGO["Cargo.toml"].partition("[[")[0], "src/lib.rs": body}, "cargo test"
    )
    assert (result.exit_code, result.outcome) == (0, "failed")
    assert "calc::calc has tests without a result" in result.summary


async def test_only_the_tests_of_rust_that_are_asked_for_run(tmp_path: Path) -> None:
    wanted = ("calc::calc::tests::adds",)
    result = await checked(tmp_path, CARGO, "cargo test --lib --offline", only=wanted)
    assert (outcomes(result), result.outcome) == ({wanted[0]: "passed"}, "passed"), result.output


GO = {
    "go.mod": "module example.com/calc\n\ngo 1.19\n",
    "calc_test.go": """
        package calc

        import (
            "fmt"
            "testing"
        )

        func TestAdds(t *testing.T)  { fmt.Print("no end of line") }
        func TestWrong(t *testing.T) { t.Error("no luck") }
        func TestLater(t *testing.T) { t.Skip("not today") }
        func TestTable(t *testing.T) {
            t.Run("one case", func(t *testing.T) {})
            t.Run("other", func(t *testing.T) { t.Fatal("bad case") })
        }
    """,
    "sub/sub_test.go": 'package sub\n\nimport "testing"\n\nfunc TestOk(t *testing.T) {}\n',
}
GO_RESULTS = {
    "TestAdds": "passed",
    "TestWrong": "failed",
    "TestLater": "skipped",
    "TestTable": "failed",
    "TestTable/one_case": "passed",
    "TestTable/other": "failed",
    "sub: TestOk": "passed",
}


@pytest.mark.parametrize(
    "command", [pytest.param(c, marks=needs("go")) for c in ("go test ./...", "make test")]
)
async def test_each_test_of_go_is_reported(tmp_path: Path, command: str) -> None:
    result = await checked(tmp_path, GO | {"Makefile": "test:\n\tgo vet ./... && go test ./...\n"}, command)
    assert outcomes(result) == GO_RESULTS, result.output
    assert (report_of(result).runner, report_of(result).is_complete) == ("go test", True)
    assert result.outcome == "failed"
    assert "no luck" in case(result, "TestWrong").message
    assert "not today" in case(result, "TestLater").message
    assert "--- FAIL: TestWrong" in result.output
    assert "--- PASS" not in result.output, "the project did not ask for it"


@pytest.mark.parametrize("flag", [pytest.param(flag, marks=needs("go")) for flag in ("-v", "-json")])
async def test_what_a_project_asks_go_to_print_is_printed(tmp_path: Path, flag: str) -> None:
    result = await checked(tmp_path, GO, f"go test {flag} ./...")
    assert outcomes(result) == GO_RESULTS, result.output
    assert ('"Action":"pass"' if flag == "-json" else "--- PASS: TestOk") in result.output


@pytest.mark.parametrize(
    ("body", "why"),
    [
        pytest.param("func TestA(t *testing.T) { syscall.Exit(0) }", "no result: TestA", marks=needs("go")),
        pytest.param("func TestA(t *testing.T) { nothing() }", "", marks=needs("go")),
    ],
)
async def test_a_package_of_go_that_does_not_end_has_failed(tmp_path: Path, body: str, why: str) -> None:
    source = f'package calc\n\nimport (\n"testing"\n"syscall"\n)\n\nvar _ = syscall.Exit\n\n{body}\n'
    result = await checked(tmp_path, {"go.mod": GO["go.mod"], "a_test.go": source}, "go test ./...")
    assert (result.outcome, why in result.summary) == ("failed", True), result


@pytest.mark.parametrize("wanted", [pytest.param("TestTable/one_case", marks=needs("go"))])
async def test_only_the_tests_of_go_that_are_asked_for_run(tmp_path: Path, wanted: str) -> None:
    result = await checked(tmp_path, GO, "go test ./...", only=(wanted,))
    assert outcomes(result) == {wanted: "passed"}
    assert "TestWrong" not in result.output


CMAKE = {
    "CMakeLists.txt": """
        cmake_minimum_required(VERSION 3.16)
        project(calc NONE)
        enable_testing()
        add_test(NAME adds COMMAND true)
        add_test(NAME wrong COMMAND sh -c "echo no luck; exit 1")
        add_test(NAME missing COMMAND no-such-program)
        add_test(NAME later COMMAND sh -c "exit 77")
        set_tests_properties(later PROPERTIES SKIP_RETURN_CODE 77)
        add_test(NAME off COMMAND true)
        set_tests_properties(off PROPERTIES DISABLED TRUE)
    """
}


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(f"cmake -B build . >/dev/null && {rest}", marks=needs("cmake", "ctest"))
        for rest in ("ctest --test-dir build -j2", "make -C build test")
    ],
)
async def test_each_test_of_ctest_is_reported(tmp_path: Path, command: str) -> None:
    result = await checked(tmp_path, CMAKE, command)
    found = outcomes(result)
    assert {name: found.get(name) for name in ("adds", "wrong", "later", "missing", "off")} == {
        "adds": "passed",
        "wrong": "failed",
        "later": "skipped",
        "missing": "failed",
        "off": "skipped",
    }
    assert report_of(result).is_complete, report_of(result)
    assert result.outcome == "failed"
    assert "no luck" in case(result, "wrong").message


PHP = {
    "tests/CalcTest.php": """
        <?php
        use PHPUnit\\Framework\\TestCase;
        final class CalcTest extends TestCase {
            public function testAdds(): void { $this->assertSame(3, 1 + 2); }
            public function testIsWrong(): void { $this->assertSame(4, 1 + 2, "no luck"); }
            public function testLater(): void { $this->markTestSkipped("not today"); }
        }
    """,
    "Makefile": "test:\n\tphpunit tests\n",
}


@pytest.mark.parametrize(
    "command", [pytest.param(c, marks=needs("phpunit")) for c in ("phpunit tests", "make test")]
)
async def test_each_test_of_phpunit_is_reported(tmp_path: Path, command: str) -> None:
    result = await checked(tmp_path, PHP, command)
    assert outcomes(result) == {
        "CalcTest::testAdds": "passed",
        "CalcTest::testIsWrong": "failed",
        "CalcTest::testLater": "skipped",
    }
    assert (report_of(result).is_complete, result.outcome) == (True, "failed")
    assert case(result, "testIsWrong").file == "tests/CalcTest.php"
    assert "no luck" in case(result, "testIsWrong").message


RSPEC = {
    "spec/calc_spec.rb": """
        RSpec.describe "sums" do
          it("adds") { expect(1 + 2).to eq 3 }
          it("is wrong") { expect(1 + 2).to eq 4 }
          xit("is left out") { }
        end
    """,
    "Makefile": "test:\n\trspec\n",
}


@pytest.mark.parametrize(
    ("command", "more"),
    [
        pytest.param("rspec", {}, marks=needs("rspec")),
        pytest.param("make test", {".rspec": "--format documentation\n"}, marks=needs("rspec")),
    ],
)
async def test_each_example_of_rspec_is_reported(tmp_path: Path, command: str, more: dict[str, str]) -> None:
    result = await checked(tmp_path, RSPEC | more, command)
    assert outcomes(result) == {
        "spec/calc_spec.rb > sums adds": "passed",
        "spec/calc_spec.rb > sums is wrong": "failed",
        "spec/calc_spec.rb > sums is left out": "skipped",
    }
    assert (report_of(result).is_complete, result.outcome) == (True, "failed")
    assert "3 examples, 1 failure" in result.output
