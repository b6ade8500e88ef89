"""CMake, Meson, autotools and make, and that a check of them leaves the sources as they are."""

from pathlib import Path

import pytest

from journeyman.environments.detect.found import Hints
from journeyman.environments.detect.native import detect
from tests.environments.detect.small_projects import check, files, git, said, shell, written

CMAKE = "cmake_minimum_required(VERSION 3.10...3.28)\nproject(one C)\n"
WITH_TESTS = CMAKE + "enable_testing()\nadd_executable(a a.c)\nadd_test(NAME a COMMAND a)\n"


def test_cmake_builds_in_a_directory_of_its_own_and_tests_with_ctest() -> None:
    detected = detect(files({"CMakeLists.txt": WITH_TESTS, "a.c": ""}), "", Hints())
    assert detected
    assert [one.kind for one in detected.checks] == ["build", "test"]
    assert "cmake -S . -B build" in check(detected, "ctest").command
    assert check(detected, "ctest").command.endswith("cd build && ctest --output-on-failure")
    assert detected.tools[0].version == ">=3.10"
    assert (detected.install, detected.directories) == ((), ())


def test_a_directory_that_the_repository_uses_itself_is_not_built_in() -> None:
    detected = detect(files({"CMakeLists.txt": CMAKE, "build/cmake/x.cmake": "", "_build": ""}), "", Hints())
    assert "-B build-check " in check(detected, "cmake build").command


def test_without_tests_there_is_only_a_build() -> None:
    detected = detect(files({"CMakeLists.txt": CMAKE}), "", Hints())
    assert detected
    assert [one.kind for one in detected.checks] == ["build"]


@pytest.mark.parametrize(
    ("option", "commands", "is_on"),
    [
        ('option(ONE_BUILD_TESTS "Tests" OFF)', [], True),
        ('option(ENABLE_TESTING "Tests")', [], True),
        ('option(ONE_BUILD_TESTS "Tests" ON)', [], False),
        ('option(ONE_CUDA_TEST "Tests" OFF)', [], False),
        ('option(ONE_TEST "Tests" OFF)', [], False),
        ('option(ONE_TEST "Tests" OFF)', ["cmake -DONE_TEST=On .."], True),
        ('option(ENABLE_SSL_TESTS "Tests" OFF)', ["cmake -DENABLE_SSL_TESTS=ON .."], False),
        ('option(DISABLE_TESTS "No tests" OFF)', [], False),
    ],
)
def test_tests_that_are_off_are_turned_on(option: str, commands: list[str], is_on: bool) -> None:
    detected = detect(files({"CMakeLists.txt": f"{CMAKE}{option}\n"}), "", said(*commands))
    assert ("=ON" in check(detected, "cmake build").command) == is_on


def test_sources_that_cmake_downloads_are_brought_in_the_setup() -> None:
    text = CMAKE + "FetchContent_Declare(json)\n"
    detected = detect(files({"CMakeLists.txt": text, "sub/CMakeLists.txt": ""}), "", Hints())
    assert detected
    assert detected.install[0].is_optional
    assert "DISCONNECTED" not in detected.install[0].command
    assert "FULLY_DISCONNECTED=ON" in check(detected, "cmake build").command
    assert detected.directories == ("build",)
    assert detected.key_files == ("CMakeLists.txt",)
    for path, content in (
        ("docs/use/CMakeLists.txt", text),
        ("sub/CMakeLists.txt", "# FetchContent_Declare(x)"),
    ):
        detected = detect(files({"CMakeLists.txt": CMAKE, path: content}), "", Hints())
        assert detected
        assert detected.install == ()


def test_meson_brings_its_subprojects() -> None:
    project = files({"meson.build": "project('one', 'c')", "subprojects/dep.wrap": ""})
    detected = detect(project, "", Hints())
    assert detected
    assert detected.install[0].command == "meson subprojects download"
    assert detected.key_files == ("subprojects/dep.wrap",)
    assert check(detected, "meson test").command.endswith("meson test -C build --print-errorlogs")
    assert detect(files({"src/meson.build": "sources += 'a.c'"}), "src", Hints()) is None


def test_autotools_make_the_configure_script_where_it_is_missing() -> None:
    detected = detect(files({"configure.ac": ""}), "", Hints())
    assert check(detected, "make check").command.startswith("{ test -x configure || autoreconf -fi; }")
    detected = detect(files({"configure.ac": "", "configure": ""}), "", Hints())
    assert "autoreconf" not in check(detected, "make check").command


def test_a_configure_script_written_by_hand_is_run_outside_of_the_sources() -> None:
    detected = detect(files({"configure": "", "Makefile.in": "", "a.c": ""}), "", Hints())
    assert "cd build && { test -f Makefile || ../configure; }" in check(detected, "make test").command


def test_cmake_that_moves_a_source_away_is_used_only_where_nothing_else_is() -> None:
    text = (
        CMAKE
        + "file(RENAME ${CMAKE_CURRENT_SOURCE_DIR}/zconf.h ${CMAKE_CURRENT_SOURCE_DIR}/zconf.h.included)\n"
    )
    detected = detect(files({"CMakeLists.txt": text, "configure": "", "Makefile.in": ""}), "", Hints())
    assert detected
    assert detected.ecosystem == "C/C++ (configure)"
    detected = detect(files({"CMakeLists.txt": text}), "", Hints())
    assert detected
    assert detected.ecosystem == "C/C++ (CMake)"


def test_of_several_ways_that_of_ci_is_taken() -> None:
    project = files({"CMakeLists.txt": CMAKE, "Makefile": "test:\n\t./t\n", "a.c": ""})
    detected = detect(project, "", said("make test"))
    assert detected
    assert detected.ecosystem == "C/C++ (make)"
    detected = detect(project, "", said("cmake ..", "make test"))
    assert detected
    assert detected.ecosystem == "C/C++ (CMake)"


@pytest.mark.parametrize(
    ("makefile", "names"),
    [
        ("all: a\n\ntest: a\n\t./a\n", ["make", "make test"]),
        (".PHONY: check\ncheck: a\n", ["make", "make check"]),
        ("test := 1\nall:\n", ["make"]),
    ],
)
def test_targets_of_a_make_file_are_found(makefile: str, names: list[str]) -> None:
    detected = detect(files({"Makefile": makefile, "a.c": ""}), "", Hints())
    assert detected
    assert [one.name for one in detected.checks] == names


@pytest.mark.parametrize(
    ("rule", "is_run"),
    [
        ("sds-test: sds.c\n\t$(CC) -o sds-test sds.c\n\t@echo run it\n", True),
        ("unit_tests: a.o\n\t@echo linking\n\t$(CC) $^ -o $@\n", True),
        ("test_main: a.o\n\t$(CC) $^ -o $@\n", True),
        ("sds-test: other\n\t@echo nothing\nother: a.c\n\t$(CC) -o $@ a.c\n", False),
        ("latest: a.o\n\t$(CC) $^ -o $@\n", False),
    ],
)
def test_a_program_of_tests_that_a_make_file_only_builds_is_run(rule: str, is_run: bool) -> None:
    detected = detect(files({"Makefile": f"all: x\n\n{rule}", "a.c": ""}), "", Hints())
    assert detected
    name = rule.partition(":")[0]
    tests = [one.command for one in detected.checks if one.kind == "test"]
    assert tests == ([f"make {name} && ./{name}"] if is_run else [])


@pytest.mark.parametrize(
    "contents",
    [
        {"Makefile": "test:\n\tpytest\n", "pyproject.toml": ""},
        {"Makefile": "test:\n\tnpm test\n", "package.json": "{}"},
        {"Makefile": "test:\n\tdotnet test\n", "A.sln": ""},
        {"Makefile": "docs:\n\tsphinx\n"},
        {"CMakeLists.txt": CMAKE, "pyproject.toml": '[build-system]\nrequires = ["scikit-build-core"]\n'},
        {"CMakeLists.txt": "add_library(a a.c)\n"},
    ],
)
def test_what_another_ecosystem_builds_is_left_to_it(contents: dict[str, str]) -> None:
    assert detect(files(contents), "", Hints()) is None


def test_a_directory_below_a_native_project_is_part_of_it() -> None:
    project = files(
        {"Makefile": "test:\n", "a.c": "", "lib/Makefile": "test:\n", "contrib/x/CMakeLists.txt": CMAKE}
    )
    assert detect(project, "lib", Hints()) is None
    assert detect(project, "contrib/x", Hints()) is None
    alone = files({"README.md": "", "expat/CMakeLists.txt": CMAKE})
    assert check(detect(alone, "expat", Hints()), "cmake build").workdir == "expat"
    beside = files({"pyproject.toml": "", "tools/Makefile": "all:\n", "tools/a.c": ""})
    assert detect(beside, "tools", Hints()) is None


def test_a_check_leaves_the_sources_as_they_are(tmp_path: Path) -> None:
    contents = {
        "configure": "#!/bin/sh\n# as a script written by hand does: the make file comes from a template\n"
        'here=$(dirname "$0")\nsed "s|@src@|$here|" "$here/Makefile.in" >Makefile\n',
        "Makefile.in": "all: a\na: @src@/a.c\n\tcc -o a @src@/a.c\ntest: a\n\t./a\n",
        "Makefile": "all:\n\t-@echo run configure first\n",
        "a.c": "int main(void) { return 0; }\n",
    }
    tree = written(tmp_path, contents)
    (tree / "configure").chmod(0o755)
    git(tree, "config", "core.fileMode", "false")
    command = check(detect(files(contents), "", said("./configure")), "make test").command
    done = shell(tree, command)
    assert done.returncode == 0, done.stderr
    assert git(tree, "status", "--porcelain") == ""
    (tree / "a.c").write_text("int main(void) { return 1; }\n")
    assert shell(tree, command).returncode != 0


def test_packages_that_ci_installs_are_named() -> None:
    detected = detect(files({"CMakeLists.txt": CMAKE}), "", Hints(apt=("libevent-dev", "libssl-dev")))
    assert detected
    assert "libevent-dev, libssl-dev" in detected.notes[0]
