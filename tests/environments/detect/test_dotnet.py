"""Solutions and projects of .NET."""

import json

import pytest

from journeyman.environments.detect.dotnet import detect
from journeyman.environments.detect.found import Hints
from journeyman.environments.tool_versions import fits
from tests.environments.detect.small_projects import check, files

PROJECT = "<Project><PropertyGroup><TargetFramework>net8.0</TargetFramework></PropertyGroup>{}</Project>"
TESTS = PROJECT.format('<PackageReference Include="Microsoft.NET.Test.Sdk" />')


def test_a_solution_is_restored_once_and_tested_without_a_restore() -> None:
    project = files({"All.sln": "", "src/A/A.csproj": PROJECT.format(""), "test/T/T.csproj": TESTS})
    detected = detect(project, "", Hints())
    assert detected
    assert [one.command for one in detected.install] == ["dotnet restore All.sln"]
    assert check(detected, "dotnet test").command == "dotnet test All.sln --no-restore"
    assert set(detected.directories) == {"src/A/obj", "test/T/obj"}
    assert set(detected.members) == {"src/A", "test/T"}
    assert detected.tools[0].version == ">=8"


def test_a_project_alone_needs_no_name_and_without_tests_is_only_built() -> None:
    detected = detect(files({"A.csproj": PROJECT.format("")}), "", Hints())
    assert detected
    assert [one.command for one in detected.checks] == ["dotnet build --no-restore"]


def test_of_several_the_command_line_is_told_which() -> None:
    detected = detect(files({"A B.csproj": PROJECT.format(""), "C.csproj": ""}), "", Hints())
    assert detected
    assert detected.install[0].command == "dotnet restore 'A B.csproj'"


@pytest.mark.parametrize(
    ("sdk", "fitting", "other"),
    [
        ({"version": "8.0.100"}, "8.0.402", "9.0.100"),
        ({"version": "8.0.100", "rollForward": "latestMajor"}, "10.0.100", "7.0.400"),
        ({"version": "8.0.100", "rollForward": "latestMinor"}, "8.2.100", "9.0.100"),
    ],
)
def test_the_sdk_is_that_of_global_json(sdk: dict[str, str], fitting: str, other: str) -> None:
    project = files({"A.csproj": PROJECT.format(""), "global.json": json.dumps({"sdk": sdk})})
    detected = detect(project, "", Hints())
    assert detected
    need = detected.tools[0]
    assert need.said_in == "global.json"
    assert fits(need.version, fitting)
    assert not fits(need.version, other)


@pytest.mark.parametrize("text", ["", "[]", '{"sdk": 3}', '{"sdk": {"version": 8}}'])
def test_a_global_json_that_makes_no_sense_is_passed_over(text: str) -> None:
    detected = detect(files({"A.csproj": PROJECT.format(""), "global.json": text}), "", Hints())
    assert detected
    assert detected.tools[0].said_in == "A.csproj"


def test_what_has_no_project_is_not_dotnet() -> None:
    assert detect(files({"a.cs": ""}), "", Hints()) is None
