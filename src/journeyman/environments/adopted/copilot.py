"""`copilot-setup-steps.yml`: the one job of a workflow that prepares the machine for GitHub's own agent.

Steps that need GitHub's runner (expressions, conditions, files that pass variables on) are left out: run
half, they would do something else than their author meant.
"""

import re
import shlex
from collections.abc import Mapping
from typing import Any

from journeyman.environments.adopted.reader import Reader
from journeyman.environments.definition import MAX_BYTES, Definition
from journeyman.environments.document import Document
from journeyman.environments.project import Project
from journeyman.errors import InvalidEnvironment

_PATHS = (".github/workflows/copilot-setup-steps.yml", ".github/workflows/copilot-setup-steps.yaml")
_JOB = "copilot-setup-steps"
_VERSIONS = {
    "setup-python": ("python", "python-version"),
    "setup-uv": ("python", "python-version"),
    "setup-node": ("node", "node-version"),
    "setup-go": ("go", "go-version"),
    "setup-java": ("java", "java-version"),
    "setup-ruby": ("ruby", "ruby-version"),
    "setup-php": ("php", "php-version"),
    "setup-dotnet": ("dotnet", "dotnet-version"),
    "rust-toolchain": ("rust", "toolchain"),
    "setup-rust-toolchain": ("rust", "toolchain"),
}
_SILENT = re.compile(r"checkout|cache(?:/\w+)?|setup-\w+|rust-cache|upload-artifact|action-setup|corepack")
_RUNNER = re.compile(r"\$\{\{|\$\{?GITHUB_(?:ENV|PATH|OUTPUT|STATE)")


def adopt(project: Project) -> Definition | None:
    path = next((one for one in _PATHS if project.has(one)), None)
    if path is None:
        return None
    reader = Reader(path)
    job = _job(reader, project)
    if job is None:
        return reader.definition()
    reader.set_variables(_plain(reader, job.get("env")))
    services = job.get("services")
    if isinstance(services, dict) and services:
        reader.note(
            f"services are containers, which are not started here ({', '.join(services)}); "
            "name programs under 'start' of an environment file instead"
        )
    directory = _directory(reader, _below(_below(job, "defaults"), "run"))
    steps = job.get("steps")
    for step in steps if isinstance(steps, list) else []:
        if isinstance(step, dict):
            _step(reader, step, directory)
    return reader.definition()


def _job(reader: Reader, project: Project) -> Mapping[str, Any] | None:
    text = reader.text(project)
    if text is None:
        return None
    if len(text) > MAX_BYTES:
        reader.note(f"it is larger than {MAX_BYTES // 1000} kB, and was left out")
        return None
    try:
        jobs = _below(Document(text, source=reader.source, texts=("jobs",)).value, "jobs")
    except InvalidEnvironment as error:
        reader.note(f"it cannot be read, and was left out: {error.message}")
        return None
    job = _below(jobs, _JOB)
    if not job:
        reader.note(f"it has no job '{_JOB}', and was left out")
    return job or None


def _step(reader: Reader, step: Mapping[str, Any], directory: str) -> None:
    uses, run = step.get("uses"), step.get("run")
    if isinstance(uses, str):
        _action(reader, uses.partition("@")[0], _below(step, "with"))
    if run is None:
        return
    name = str(step.get("name") or run).strip().partition("\n")[0]
    if "if" in step:
        reader.note(f"the step '{name}' was left out: it depends on a condition of GitHub's")
    elif not isinstance(run, str) or _RUNNER.search(run):
        reader.note(f"the step '{name}' was left out: it needs GitHub's runner")
    elif not str(step.get("shell", "bash")).startswith(("bash", "sh")):
        reader.note(f"the step '{name}' was left out: it is not for a shell of this machine")
    else:
        exports = [
            f"export {key}={shlex.quote(value)}" for key, value in _variables(reader, step.get("env")).items()
        ]
        # GitHub stops at the first command that fails.
        lines = [*exports, run.strip("\n")]
        is_single = len(lines) == 1 and "\n" not in lines[0]
        reader.install(
            lines[0] if is_single else "\n".join(["set -e", *lines]), _directory(reader, step, directory)
        )


def _action(reader: Reader, action: str, options: Mapping[str, Any]) -> None:
    name = action.rpartition("/")[2]
    if name in _VERSIONS:
        tool, option = _VERSIONS[name]
        version = options.get(option)
        if isinstance(version, str) and "${{" not in version and version.strip():
            reader.need_tool(tool, version.strip().splitlines()[-1].strip())
    elif not _SILENT.fullmatch(name):
        reader.note(f"the action '{action}' was left out: actions are not run here")


def _variables(reader: Reader, values: object) -> dict[str, str]:
    kept = _plain(reader, values)
    if not isinstance(kept, dict):
        return {}
    return {name: str(value) for name, value in kept.items() if reader.valid("env", {name: str(value)})}


def _plain(reader: Reader, values: object) -> object:
    if not isinstance(values, dict):
        return None
    for name, value in values.items():
        if "${{" in str(value):
            reader.note(f"the variable {name} was left out: its value is an expression of GitHub's")
    return {name: value for name, value in values.items() if "${{" not in str(value) and value is not None}


def _directory(reader: Reader, step: Mapping[str, Any], otherwise: str = ".") -> str:
    written = step.get("working-directory")
    if not isinstance(written, str):
        return otherwise
    directory = reader.valid("workdir", written)
    return directory if isinstance(directory, str) else otherwise


def _below(value: object, name: str) -> Mapping[str, Any]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}
