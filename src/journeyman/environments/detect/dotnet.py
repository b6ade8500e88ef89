"""C#, F# and Visual Basic: the .NET command line.

A restore only writes what was resolved below `obj`; nothing is compiled before a check, so nothing can be
stale.
"""

import json
import posixpath
import re
import shlex
from collections.abc import Iterator

from journeyman.environments.detect.found import Detected, Hints, there, under, workdir_of
from journeyman.environments.detect.listing import paths_below
from journeyman.environments.detect.pins import pinned
from journeyman.environments.plan import Check, InstallCommand, ToolNeed
from journeyman.environments.project import Project

_PROJECTS = (".csproj", ".fsproj", ".vbproj")
_SOLUTIONS = (".slnx", ".sln")
_FRAMEWORK = re.compile(r"<TargetFrameworks?>\s*([^<]+?)\s*<")
_NET = re.compile(r"net(?:coreapp)?(\d+)\.\d+")
_TESTS = re.compile(r"Microsoft\.NET\.Test\.Sdk|xunit|NUnit|MSTest|TUnit", re.IGNORECASE)
_ROLLS = {"latestMajor": ">={0}", "major": ">={0}", "latestMinor": "^{1}", "minor": "^{1}"}


def detect(project: Project, directory: str, hints: Hints) -> Detected | None:
    names = sorted(project.names(directory))
    solutions = [name for ending in _SOLUTIONS for name in names if name.endswith(ending)]
    own = [name for name in names if name.endswith(_PROJECTS)]
    if not solutions and not own:
        return None
    projects = [path for path in paths_below(project, directory) if path.endswith(_PROJECTS)]
    if not solutions:
        projects = [under(directory, name) for name in own]
    # With several in one directory the command line refuses to choose.
    target = f" {shlex.quote((solutions or own)[0])}" if len(solutions or own) > 1 or solutions else ""
    places = list(dict.fromkeys(posixpath.dirname(path) for path in projects))
    why = under(directory, (solutions or own)[0])
    return Detected(
        ecosystem=".NET",
        directory=directory,
        tools=(_sdk(project, directory, projects, why),),
        install=(InstallCommand(command=f"dotnet restore{target}", why=why, workdir=workdir_of(directory)),),
        checks=tuple(_checks(project, directory, projects, target, why)),
        env={
            "DOTNET_CLI_TELEMETRY_OPTOUT": "1",
            "DOTNET_NOLOGO": "1",
            # A build that left processes behind would wait for them at its end.
            "MSBUILDDISABLENODEREUSE": "1",
        },
        directories=tuple(under(place, "obj") for place in places),
        key_files=(
            *projects,
            *(under(directory, name) for name in solutions),
            *(under(place, "packages.lock.json") for place in places),
            *(
                under(place, name)
                for place in dict.fromkeys((directory, ""))
                for name in (
                    "global.json",
                    "NuGet.config",
                    "nuget.config",
                    "NuGet.Config",
                    "Directory.Build.props",
                    "Directory.Packages.props",
                )
            ),
        ),
        members=tuple(place for place in places if place != directory),
    )


def _sdk(project: Project, directory: str, projects: list[str], why: str) -> ToolNeed:
    for place in dict.fromkeys((directory, "")):
        if version := _of_global_json(project.text(path := under(place, "global.json"))):
            return ToolNeed(tool="dotnet", version=version, said_in=path)
    if pin := pinned(project, directory, "dotnet"):
        return pin
    asked = [
        (int(major), path)
        for path in projects
        for frameworks in _FRAMEWORK.findall(project.text(path))
        for major in _NET.findall(frameworks)
    ]
    if not asked:
        return ToolNeed(tool="dotnet", version="", said_in=why)
    newest, path = max(asked)
    return ToolNeed(tool="dotnet", version=f">={newest}", said_in=path)


def _of_global_json(text: str) -> str:
    try:
        read = json.loads(text)
        sdk = read["sdk"]
        version, roll = sdk["version"], sdk.get("rollForward", "latestPatch")
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""
    if not isinstance(version, str) or not isinstance(roll, str):
        return ""
    parts = version.split(".")
    # The third number of an SDK is a band of features and a patch in it: 8.0.1xx.
    minor = ".".join(parts[:2])
    return _ROLLS.get(roll, "{1}").format(version, minor)


def _checks(project: Project, directory: str, projects: list[str], target: str, why: str) -> Iterator[Check]:
    workdir = workdir_of(directory)
    yield Check(
        name="dotnet build",
        kind="build",
        command=f"dotnet build{target} --no-restore",
        workdir=workdir,
        tool=".NET SDK",
        why=why,
        probe=there("dotnet"),
    )
    if any(_TESTS.search(project.text(path)) for path in projects):
        yield Check(
            name="dotnet test",
            kind="test",
            command=f"dotnet test{target} --no-restore",
            workdir=workdir,
            tool=".NET SDK",
            why=why,
            probe=there("dotnet"),
        )
