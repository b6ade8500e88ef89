"""What a repository's CI files say in passing: commands, versions, packages of the system, variables.

Hints only: a command of CI is never run because it stands there. Scalars are read as text, because YAML would
make a number of `3.10`. A file that cannot be read is a note, never an error.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from journeyman.environments.detect.document_hints import of_documents, of_makefiles
from journeyman.environments.detect.found import Hints, SeenCommand
from journeyman.environments.detect.shell_lines import apt_packages, commands_of
from journeyman.environments.project import Project

_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_WORKFLOW = re.compile(r"\.github/workflows/[^/]+\.ya?ml")
_ASIDE = re.compile(
    r"release|publish|deploy|docs?\b|pages|stale|codeql|label|fuzz|bench|nightly|cifuzz|scorecard|dependabot|docker"
    r"|wheels?\b|copilot|sync|backport|lock\b|welcome|translat",
    re.IGNORECASE,
)
"""Workflows and jobs that do something else than to test."""
_OTHER_SYSTEM = re.compile(r"windows|macos|osx|freebsd", re.IGNORECASE)
_TOOLS = (
    (re.compile(r"python", re.IGNORECASE), "python3"),
    (re.compile(r"node", re.IGNORECASE), "node"),
    (re.compile(r"^go(?:-?version|lang)?s?$|^go_", re.IGNORECASE), "go"),
    (re.compile(r"java|jdk", re.IGNORECASE), "java"),
    (re.compile(r"ruby|rvm", re.IGNORECASE), "ruby"),
    (re.compile(r"php", re.IGNORECASE), "php"),
    (re.compile(r"rust|toolchain", re.IGNORECASE), "cargo"),
    (re.compile(r"dotnet", re.IGNORECASE), "dotnet"),
)
_VERSION = re.compile(r"[\w.*<>=^~|/ -]{1,40}")
_IMAGE = re.compile(
    r"(?:^|/)(python|node|golang|ruby|php|rust|openjdk|eclipse-temurin|dotnet/sdk):(\d[\d.]*)"
)
_IMAGES = {
    "golang": "go",
    "openjdk": "java",
    "eclipse-temurin": "java",
    "rust": "cargo",
    "dotnet/sdk": "dotnet",
}
_MAX_COMMANDS = 400
_MAX_NAMES = 50


@dataclass
class _Seen:
    """What is gathered from one file after the other."""

    commands: list[SeenCommand] = field(default_factory=list)
    apt: dict[str, None] = field(default_factory=dict)
    versions: dict[str, dict[str, None]] = field(default_factory=dict)
    env: list[Mapping[str, str]] = field(default_factory=list)
    services: dict[str, None] = field(default_factory=dict)

    def script(self, text: object, said_in: str, workdir: object = "") -> None:
        for command in commands_of(_script(text), workdir if isinstance(workdir, str) else ""):
            packages = apt_packages(command.command)
            self.apt.update(dict.fromkeys(packages))
            if not packages and len(self.commands) < _MAX_COMMANDS:
                self.commands.append(
                    SeenCommand(command=command.command, said_in=said_in, workdir=command.workdir)
                )

    def version(self, key: str, value: object) -> None:
        tool = next((name for pattern, name in _TOOLS if pattern.search(key)), None)
        for one in _texts(value):
            if tool and "${{" not in one and _VERSION.fullmatch(one) and any(c.isdigit() for c in one):
                self.versions.setdefault(tool, {})[one] = None

    def image(self, value: object) -> None:
        name = value.get("name") or value.get("image") if isinstance(value, dict) else value
        if isinstance(name, str) and (found := _IMAGE.search(name)):
            self.version(_IMAGES.get(found[1], found[1]), found[2])

    def service(self, value: object) -> None:
        name = value.get("image") or value.get("name") if isinstance(value, dict) else value
        if isinstance(name, str) and "${{" not in name and len(self.services) < _MAX_NAMES:
            self.services[name.rpartition("/")[2].partition(":")[0].partition("@")[0]] = None


def read_hints(project: Project) -> tuple[Hints, tuple[str, ...]]:
    """The hints, and notes for people: files that cannot be read, services that CI starts."""
    seen, notes = _Seen(), []
    for path in sorted(project.contents, key=lambda path: (bool(_ASIDE.search(path)), path)):
        reader = _reader(path)
        if reader is None:
            continue
        try:
            content = yaml.load(project.text(path), Loader=_LOADER)  # noqa: S506 - makes nothing but text
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            mark = getattr(error, "problem_mark", None)
            line = f", line {mark.line + 1}" if mark else ""
            notes.append(f"{path}{line}: not valid YAML, so its commands are not known.")
            continue
        before = len(seen.services)
        if isinstance(content, dict):
            reader(seen, path, content)
        if names := list(seen.services)[before:]:
            notes.append(
                f"{path} starts {', '.join(names)} beside its tests; where tests need it, an environment file"
                " starts it with `start`."
            )
    hints = Hints(
        commands=(*seen.commands, *of_makefiles(project), *of_documents(project)),
        apt=tuple(seen.apt)[:_MAX_NAMES],
        versions={tool: tuple(found)[:_MAX_NAMES] for tool, found in seen.versions.items()},
        env=_agreed(seen.env),
    )
    return hints, tuple(notes)


def _reader(path: str) -> Any:
    if _WORKFLOW.fullmatch(path):
        return _github
    return {
        ".gitlab-ci.yml": _gitlab,
        ".travis.yml": _travis,
        ".circleci/config.yml": _circle,
        "azure-pipelines.yml": _azure,
    }.get(path)


def _github(seen: _Seen, path: str, content: Mapping[str, Any]) -> None:
    if _ASIDE.search(path.rpartition("/")[2]):
        return
    seen.env.append(_variables(content.get("env")))
    outer = _dig(content, "defaults", "run", "working-directory")
    for name, job in _table(content.get("jobs")).items():
        if not isinstance(job, dict) or _ASIDE.search(str(name)) or _is_elsewhere(job.get("runs-on")):
            continue
        _github_matrix(seen, _dig(job, "strategy", "matrix"))
        workdir = _dig(job, "defaults", "run", "working-directory") or outer
        seen.image(job.get("container"))
        for service in _table(job.get("services")).values():
            seen.service(service)
        for step in _list(job.get("steps")):
            if not isinstance(step, dict):
                continue
            for key, value in _table(step.get("with")).items():
                if str(key).endswith("-version") or "toolchain" in str(key):
                    seen.version(str(key), value)
            seen.script(step.get("run"), path, step.get("working-directory") or workdir)


def _github_matrix(seen: _Seen, matrix: object) -> None:
    for key, value in _table(matrix).items():
        if key in ("include", "exclude"):
            for row in _list(value) if key == "include" else ():
                for inner, version in _table(row).items():
                    seen.version(str(inner), version)
        else:
            seen.version(str(key), value)


def _is_elsewhere(runs_on: object) -> bool:
    return isinstance(runs_on, str) and bool(_OTHER_SYSTEM.search(runs_on))


def _gitlab(seen: _Seen, path: str, content: Mapping[str, Any]) -> None:
    seen.env.append(_variables(content.get("variables")))
    for name, job in content.items():
        if name in ("image", "default"):
            seen.image(job.get("image") if isinstance(job, dict) else job)
        if name == "services":
            for service in _list(job):
                seen.service(service)
        if not isinstance(job, dict) or _ASIDE.search(str(name)):
            continue
        seen.image(job.get("image"))
        for service in _list(job.get("services")):
            seen.service(service)
        seen.script([*_list(job.get("before_script")), *_list(job.get("script"))], path)


def _travis(seen: _Seen, path: str, content: Mapping[str, Any]) -> None:
    for key in ("python", "node_js", "go", "rvm", "php", "jdk", "rust", "dotnet"):
        seen.version(key, content.get(key))
    for package in _texts(_dig(content, "addons", "apt", "packages")):
        seen.apt[package] = None
    for service in _list(content.get("services")):
        seen.service(service)
    for key in ("before_install", "install", "before_script", "script"):
        seen.script(content.get(key), path)


def _circle(seen: _Seen, path: str, content: Mapping[str, Any]) -> None:
    for name, job in _table(content.get("jobs")).items():
        if not isinstance(job, dict) or _ASIDE.search(str(name)):
            continue
        images = _list(job.get("docker"))
        for image in images[:1]:
            seen.image(image)
        for image in images[1:]:
            seen.service(image)
        for step in _list(job.get("steps")):
            run = step.get("run") if isinstance(step, dict) else None
            if isinstance(run, dict):
                seen.script(
                    run.get("command"), path, run.get("working_directory") or job.get("working_directory")
                )
            else:
                seen.script(run, path)


def _azure(seen: _Seen, path: str, content: Mapping[str, Any]) -> None:
    for job in _azure_jobs(content):
        if _OTHER_SYSTEM.search(str(_dig(job, "pool", "vmImage") or "")):
            continue
        for row in _table(_dig(job, "strategy", "matrix")).values():
            for key, value in _table(row).items():
                seen.version(str(key), value)
        for step in _list(job.get("steps")):
            if isinstance(step, dict):
                for key in ("script", "bash"):
                    seen.script(step.get(key), path, step.get("workingDirectory"))


def _azure_jobs(content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    stages = [one for one in _list(content.get("stages")) if isinstance(one, dict)]
    for holder in (content, *stages):
        yield from (one for one in _list(holder.get("jobs")) if isinstance(one, dict))
    if "steps" in content:
        yield content


def _script(text: object) -> str:
    return "\n".join(_texts(text))


def _texts(value: object) -> list[str]:
    """The texts of a scalar or of a list, one level of nesting included."""
    if isinstance(value, str):
        return [value]
    return [
        one
        for item in _list(value)
        for one in ([item] if isinstance(item, str) else _list(item))
        if isinstance(one, str)
    ]


def _list(value: object) -> list[Any]:
    if isinstance(value, list):
        return value
    return [] if value in (None, "") else [value]


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _dig(value: object, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _variables(value: object) -> dict[str, str]:
    return {
        str(name): text
        for name, text in _table(value).items()
        if isinstance(text, str) and "$" not in text and re.fullmatch(r"[A-Za-z_]\w*", str(name))
    }


def _agreed(files: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Variables that no two files set to different values."""
    values: dict[str, set[str]] = {}
    for file in files:
        for name, text in file.items():
            values.setdefault(name, set()).add(text)
    return {name: next(iter(texts)) for name, texts in values.items() if len(texts) == 1}
