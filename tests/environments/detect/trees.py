"""Projects for tests: a few files and their content, as detection sees them."""

import json

from journeyman.environments.plan import Check, Environment
from journeyman.environments.project import Project

UNIT = "import unittest\nclass T(unittest.TestCase): ...\n"
PYTEST_STYLE = "def test_a(): ...\n"


def tree(files: dict[str, str] | None = None, *names: str) -> Project:
    """A project of files with their content, and of others that are only there."""
    contents = dict.fromkeys(names, "") | (files or {})
    return Project(
        paths=tuple(sorted(contents)),
        contents=contents,
        blobs={path: f"{number:040x}" for number, path in enumerate(sorted(contents))},
    )


def package(**fields: object) -> str:
    return json.dumps(fields)


def commands(environment: Environment) -> dict[str, str]:
    assert len({check.name for check in environment.checks}) == len(environment.checks)
    return {check.name: check.command for check in environment.checks}


def installs(environment: Environment) -> str:
    return "\n".join(one.command for one in environment.install)


def ways(check: Check) -> list[str]:
    return [check.command, *(ways(check.otherwise) if check.otherwise else [])]
