"""Go: modules and workspaces.

Go's build cache is keyed by content, so it may be filled in the set-up and shared by all commits.
"""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import replace

from journeyman.environments.detect.found import Detected, Hints, there, under, workdir_of
from journeyman.environments.plan import Check, InstallCommand, ToolNeed
from journeyman.environments.project import Project

_VERSION = re.compile(r"(?m)^go[ \t]+(\d+(?:\.\d+)*)")
_USE = re.compile(r"(?m)^use[ \t]+(?:\(([^)]*)\)|(\S+))")
_REQUIRES = re.compile(r"(?m)^require[ \t(]")
_COMMENT = re.compile(r"//[^\n]*")
_FULL_NAME = re.compile(
    r"(?m)^go_import_path:[ \t]*([\w-]+(?:\.[\w-]+)+(?:/[\w-][\w.-]*)+)[ \t]*$"
    r"|\bgo get (?:-\w+ )*([\w-]+(?:\.[\w-]+)+(?:/[\w-][\w.-]*)+)"
)
_TEST = re.compile(r"go test(?: -(?:v|race|short|count=\d+|cover|timeout[ =]\w+|tags[ =][\w,]+))* \./\.\.\.")


def detect(project: Project, directory: str, hints: Hints) -> Detected | None:
    is_module, is_workspace = (project.has(under(directory, name)) for name in ("go.mod", "go.work"))
    if not is_module and not is_workspace:
        return _without_module(project, directory, hints)
    members = tuple(_members(project, directory)) if is_workspace else ()
    modules = tuple(dict.fromkeys((directory, *members) if is_module else members))
    return Detected(
        ecosystem="Go (workspace)" if members else "Go",
        directory=directory,
        tools=tuple(_tools(project, directory, modules)),
        install=tuple(_install(project, directory, modules)),
        checks=tuple(_checks(directory, modules, hints)),
        env={
            # Never fetch another toolchain: the version is that of the machine, or it is said plainly.
            "GOTOOLCHAIN": "local",
            "GOFLAGS": "-modcacherw",
        },
        key_files=(
            *(under(one, name) for one in modules for name in ("go.mod", "go.sum")),
            under(directory, "go.work"),
            under(directory, "go.work.sum"),
        ),
        members=tuple(one for one in members if one != directory),
    )


def _without_module(project: Project, directory: str, hints: Hints) -> Detected | None:
    """A repository from before modules: its packages are found only below GOPATH, under their full name."""
    if directory or any(posixpath.basename(path) == "go.mod" for path in project.paths):
        return None
    if not any(path.endswith(".go") and "/" not in path for path in project.paths):
        return None
    said = _import_path(project)
    note = "There is no go.mod, so Go does not find the packages of the repository; `go mod init` makes one."
    need = ToolNeed(tool="go", version="", said_in="*.go")
    found = Detected(ecosystem="Go (without a module)", tools=(need,))
    if not said:
        return replace(found, notes=(note,))
    path, said_in = said
    enter = (
        f'place="$HOME/go/src/{path}"; mkdir -p "${{place%/*}}" && ln -sfn "$PWD" "$place" && cd "$place" && '
        "GO111MODULE=off GOPATH=$HOME/go "
    )
    checks = _checks("", (), hints)
    return replace(
        found, checks=tuple(replace(one, command=enter + one.command, why=said_in) for one in checks)
    )


def _import_path(project: Project) -> tuple[str, str] | None:
    """The full name of the repository's packages, and the file that says it."""
    for path in sorted(project.contents, key=lambda path: path != ".travis.yml"):
        if "/" not in path and (found := _FULL_NAME.search(project.text(path))):
            return found[1] or found[2], path
    return None


def _members(project: Project, directory: str) -> Iterator[str]:
    text = _COMMENT.sub("", project.text(under(directory, "go.work")))
    for several, one in _USE.findall(text):
        for path in (several or one).split():
            member = posixpath.normpath(posixpath.join(directory, path.strip('"')))
            member = "" if member == "." else member
            if not member.startswith("..") and project.has(under(member, "go.mod")):
                yield member


def _tools(project: Project, directory: str, modules: tuple[str, ...]) -> Iterator[ToolNeed]:
    files = (under(directory, "go.work"), *(under(one, "go.mod") for one in modules))
    asked = [(found[1], path) for path in files if (found := _VERSION.search(project.text(path)))]
    if not asked:
        yield ToolNeed(tool="go", version="", said_in=under(directory, "go.mod"))
        return
    # The newest that any module asks for: go refuses a workspace with a newer member.
    version, path = max(asked, key=lambda one: tuple(map(int, one[0].split("."))))
    yield ToolNeed(tool="go", version=f">={version}", said_in=path)


def _install(project: Project, directory: str, modules: tuple[str, ...]) -> Iterator[InstallCommand]:
    workdir = workdir_of(directory)
    is_vendored = project.has(under(directory, "vendor/modules.txt"))
    requires = any(_REQUIRES.search(project.text(under(one, "go.mod"))) for one in modules)
    if requires and not is_vendored:
        yield InstallCommand(command="go mod download", why=under(directory, "go.mod"), workdir=workdir)
    yield InstallCommand(
        command=f"go test -run '^$' {_patterns(directory, modules)}",
        why="packages and the standard library are compiled once",
        workdir=workdir,
        is_optional=True,
    )


def _patterns(directory: str, modules: tuple[str, ...]) -> str:
    """`./...` stops at the border of a module, so a workspace names each of its own."""
    inner = [posixpath.relpath(one or ".", directory or ".") for one in modules] or ["."]
    return " ".join("./..." if one == "." else f"./{one}/..." for one in inner)


def _checks(directory: str, modules: tuple[str, ...], hints: Hints) -> Iterator[Check]:
    workdir = workdir_of(directory)
    patterns = _patterns(directory, modules)
    base = Check(
        name="go build",
        kind="build",
        # Without -o the program of a module with one command would be left in the workspace.
        command=f"go build -o /dev/null {patterns}",
        workdir=workdir,
        tool="go",
        why=under(directory, "go.mod"),
        probe=there("go"),
    )
    yield base
    said = next(
        (one for one in hints.commands if one.workdir == workdir and _TEST.fullmatch(one.command)), None
    )
    tests = replace(base, name="go test", kind="test", command=f"go test {patterns}")
    if said and patterns == "./..." and "-tags" in said.command:
        flags = re.findall(r"-tags[ =][\w,]+", said.command)
        tests = replace(tests, command=f"go test {flags[0]} {patterns}", why=said.said_in)
    yield tests
    yield replace(base, name="go vet", kind="lint", command=f"go vet {patterns}")
