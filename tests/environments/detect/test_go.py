"""Modules and workspaces of Go."""

import shutil
from pathlib import Path

import pytest

from journeyman.environments.detect.found import Hints
from journeyman.environments.detect.go import detect
from journeyman.environments.plan import ToolNeed
from tests.environments.detect.small_projects import check, files, git, said, shell, written

MODULE = "module example.org/one\n\ngo 1.19\n"


def test_a_module_with_requirements_is_downloaded() -> None:
    text = MODULE + "require example.org/two v1.0.0\n"
    detected = detect(files({"go.mod": text, "go.sum": ""}), "", Hints())
    assert detected
    assert detected.install[0].command == "go mod download"
    assert set(detected.key_files) >= {"go.mod", "go.sum"}
    assert detected.env["GOTOOLCHAIN"] == "local"
    assert [one.name for one in detected.checks] == ["go build", "go test", "go vet"]


@pytest.mark.parametrize("extra", [{}, {"vendor/modules.txt": ""}])
def test_nothing_is_downloaded_where_nothing_is_required_or_all_is_vendored(extra: dict[str, str]) -> None:
    text = MODULE + ("require example.org/two v1.0.0\n" if extra else "")
    detected = detect(files({"go.mod": text, **extra}), "", Hints())
    assert detected
    assert all("download" not in one.command for one in detected.install)
    assert all(one.is_optional for one in detected.install)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("module a\ngo 1.22\ntoolchain go1.22.3\n", ">=1.22"),
        ("module a\ngo 1.21.0 // why\n", ">=1.21.0"),
        ("module a\n", ""),
    ],
)
def test_the_version_is_the_least_that_the_module_asks_for(text: str, version: str) -> None:
    detected = detect(files({"go.mod": text}), "", Hints())
    assert detected
    assert detected.tools == (ToolNeed(tool="go", version=version, said_in="go.mod"),)


def test_a_workspace_names_each_of_its_modules() -> None:
    project = files(
        {
            "go.work": "go 1.21\n// use ./old\nuse (\n\t./api\n\t./lib // it\n\t../outside\n\t./missing\n)\n",
            "api/go.mod": "module a\ngo 1.22\n",
            "lib/go.mod": "module l\ngo 1.20\n",
            "old/go.mod": "module o\n",
        }
    )
    detected = detect(project, "", Hints())
    assert detected
    assert detected.members == ("api", "lib")
    assert check(detected, "go test").command == "go test ./api/... ./lib/..."
    assert detected.tools[0].version == ">=1.22"
    assert "api/go.mod" in detected.key_files


def test_a_workspace_with_a_module_at_its_root_names_it_once() -> None:
    project = files({"go.work": "go 1.21\nuse .\nuse ./sub\n", "go.mod": MODULE, "sub/go.mod": MODULE})
    detected = detect(project, "", Hints())
    assert check(detected, "go vet").command == "go vet ./... ./sub/..."
    assert detected
    assert detected.members == ("sub",)


def test_build_tags_of_ci_are_used() -> None:
    detected = detect(files({"go.mod": MODULE}), "", said("go test -race -tags integration ./..."))
    assert check(detected, "go test").command == "go test -tags integration ./..."
    detected = detect(files({"go.mod": MODULE}), "", said("go test -race -v ./..."))
    assert check(detected, "go test").command == "go test ./..."


def test_a_repository_without_a_module_is_told_apart() -> None:
    detected = detect(files({"errors.go": "", "README.md": ""}), "", Hints())
    assert detected
    assert detected.checks == ()
    assert "go mod init" in detected.notes[0]
    assert detect(files({"tool.go": "", "sub/go.mod": MODULE}), "", Hints()) is None
    assert detect(files({"README.md": ""}), "", Hints()) is None


@pytest.mark.parametrize(
    "said_in",
    [
        {".travis.yml": "language: go\ngo_import_path: example.org/one\n"},
        {"README.md": "`go get -u example.org/one`"},
    ],
)
def test_a_repository_without_a_module_is_tested_under_its_full_name(said_in: dict[str, str]) -> None:
    detected = detect(files({"errors.go": "", **said_in}), "", Hints())
    tests = check(detected, "go test")
    assert '"$HOME/go/src/example.org/one"' in tests.command
    assert tests.command.endswith("GO111MODULE=off GOPATH=$HOME/go go test ./...")
    assert tests.why in said_in


@pytest.mark.skipif(not shutil.which("go"), reason="needs go")
def test_a_package_from_before_modules_finds_itself(tmp_path: Path) -> None:
    contents = {
        ".travis.yml": "go_import_path: example.org/one\n",
        "one.go": "package one\n\nconst One = 1\n",
        "one_test.go": 'package one_test\n\nimport (\n"example.org/one"\n"testing"\n)\n\n'
        "func TestOne(t *testing.T) {\n\tif one.One != 1 {\n\t\tt.Fail()\n\t}\n}\n",
    }
    tree = written(tmp_path, contents)
    tested = shell(tree, check(detect(files(contents), "", Hints()), "go test").command)
    assert "ok" in tested.stdout, tested
    assert git(tree, "status", "--porcelain") == ""


@pytest.mark.skipif(not shutil.which("go"), reason="needs go")
def test_building_a_program_leaves_none_in_the_workspace(tmp_path: Path) -> None:
    contents = {"go.mod": MODULE, "main.go": "package main\n\nfunc main() {}\n"}
    tree = written(tmp_path, contents)
    built = shell(tree, check(detect(files(contents), "", Hints()), "go build").command)
    assert (built.returncode, built.stderr) == (0, "")
    assert git(tree, "status", "--porcelain") == ""
