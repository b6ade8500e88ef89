"""Small real repositories to work on, and scripts of an agent that works on them."""

import subprocess
from pathlib import Path
from typing import Any

BROKEN = "def add(a, b):\n    return a - b\n"
FIXED = "def add(a, b):\n    return a + b\n"
TESTS = """import unittest

from adder import add


class Adding(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(add(2, 3), 5)
"""
NEVER = """import unittest


class NeverTest(unittest.TestCase):
    def test_never(self):
        self.fail('this can never pass')
"""


def git(repository: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *arguments],
        cwd=repository,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def make_repository(path: Path, tests: str = TESTS) -> Path:
    """A repository with a bug and a test that finds it."""
    path.mkdir(parents=True)
    git(path, "init", "-q", "-b", "main")
    (path / "adder.py").write_text(BROKEN)
    (path / "test_adder.py").write_text(tests)
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", "Begin")
    return path


def says(text: str) -> dict[str, Any]:
    return {"say": text}


def calls(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tools": [{"name": name, "arguments": arguments}]}


PLANS: dict[str, Any] = {
    "when": {"role": "plan"},
    "replies": [
        calls("read_file", path="adder.py"),
        {
            "deliver": {
                "reasoning": "It subtracts.",
                "subtasks": [{"title": "Make it add", "instructions": "Add instead of subtracting."}],
            }
        },
    ],
}


def builds(content: str, contains: str | None = None, role: str = "build") -> dict[str, Any]:
    """A turn that writes the module and says so."""
    when = {"role": role} | ({"contains": contains} if contains else {})
    replies = [calls("write_file", path="adder.py", content=content), says("Done.")]
    return {"when": when, "replies": replies}


LASTING: dict[str, Any] = {
    "when": {"role": "build"},
    "replies": [
        calls("write_file", path="adder.py", content=FIXED),
        calls("write_file", path="notes.txt", content="an untracked file\n"),
        calls("shell", command="test -e /workspace/go || { setsid sleep 600 & sleep 600; }"),
        says("Done."),
    ],
}
"""A turn whose command does not end by itself, nor does what it left in the background."""
