"""A script's calls in the words of each agent's tools."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from journeyman.gateway.door.tools import in_words_of
from journeyman.gateway.messages import ToolCall, ToolOffer


def offer(name: str, *properties: str, required: tuple[str, ...] = (), **types: str) -> ToolOffer:
    given = {each: {"type": types.get(each, "string")} for each in properties}
    return ToolOffer(name, "", {"type": "object", "properties": given, "required": list(required)})


CLAUDE = (
    offer("Bash", "command", "description", "timeout"),
    offer("Read", "file_path", "offset", "limit"),
    offer("Write", "file_path", "content"),
    offer("Edit", "file_path", "old_string", "new_string", "replace_all"),
    offer("Grep", "pattern", "path"),
)
OPENCODE = (
    offer("bash", "command", "description", required=("command", "description")),
    offer("read", "filePath"),
    offer("write", "filePath", "content"),
    offer("edit", "filePath", "oldString", "newString", "replaceAll"),
    offer("grep", "pattern", "path"),
)
GEMINI = (
    offer("run_shell_command", "command", "description"),
    offer("read_file", "file_path"),
    offer("write_file", "file_path", "content"),
    offer("replace", "file_path", "instruction", "old_string", "new_string", required=("instruction",)),
    offer("grep_search", "pattern", "dir_path"),
)
CODEX = (offer("exec_command", "cmd", "workdir"),)


@pytest.mark.parametrize(
    ("offers", "tool", "arguments", "expected"),
    [
        (CLAUDE, "shell", {"command": "ls", "timeout_seconds": 5}, ("Bash", {"command": "ls"})),
        (CLAUDE, "read_file", {"path": "a", "limit": 3}, ("Read", {"file_path": "a", "limit": 3})),
        (CLAUDE, "write_file", {"path": "a", "content": "b"}, ("Write", {"file_path": "a", "content": "b"})),
        (
            CLAUDE,
            "edit_file",
            {"path": "a", "old": "b", "new": "c", "replace_all": True},
            ("Edit", {"file_path": "a", "old_string": "b", "new_string": "c", "replace_all": True}),
        ),
        (CLAUDE, "search", {"pattern": "x", "path": "."}, ("Grep", {"pattern": "x", "path": "."})),
        (
            OPENCODE,
            "shell",
            {"command": "ls"},
            ("bash", {"command": "ls", "description": "As the script says."}),
        ),
        (
            OPENCODE,
            "edit_file",
            {"path": "a", "old": "b", "new": "c"},
            ("edit", {"filePath": "a", "oldString": "b", "newString": "c"}),
        ),
        (
            GEMINI,
            "search",
            {"pattern": "x", "path": "src"},
            ("grep_search", {"pattern": "x", "dir_path": "src"}),
        ),
        (
            GEMINI,
            "edit_file",
            {"path": "a", "old": "b", "new": "c"},
            (
                "replace",
                {
                    "file_path": "a",
                    "old_string": "b",
                    "new_string": "c",
                    "instruction": "As the script says.",
                },
            ),
        ),
        (CODEX, "shell", {"command": "ls"}, ("exec_command", {"cmd": "ls"})),
        (
            (offer("shell", "command", command="array"),),
            "shell",
            {"command": "ls"},
            ("shell", {"command": ["bash", "-c", "ls"]}),
        ),
        (CLAUDE, "TodoWrite", {"todos": []}, ("TodoWrite", {"todos": []})),
        ((), "shell", {"command": "ls"}, ("shell", {"command": "ls"})),
    ],
)
def test_a_call_is_made_of_the_tool_that_does_the_same(
    offers: tuple[ToolOffer, ...], tool: str, arguments: Any, expected: tuple[str, Any]
) -> None:
    call = in_words_of(offers, ToolCall("c1", tool, json.dumps(arguments)))
    assert (call.call_id, call.tool, json.loads(call.arguments)) == ("c1", *expected)


def test_broken_arguments_stay_broken_and_go_to_the_agents_own_tool() -> None:
    call = in_words_of(CLAUDE, ToolCall("c1", "shell", '{"command": '))
    assert (call.tool, call.arguments) == ("Bash", '{"command": ')


def test_an_agent_with_a_shell_alone_does_everything_with_it(tmp_path: Path) -> None:
    def run(tool: str, **arguments: str) -> subprocess.CompletedProcess[str]:
        call = in_words_of(CODEX, ToolCall("c1", tool, json.dumps(arguments)))
        command = json.loads(call.arguments)["cmd"]
        return subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True)

    awkward = 'it\'s "odd" $HOME `x` \\n\n'
    assert run("write_file", path="new dir/a b.txt", content=awkward).returncode == 0
    assert (tmp_path / "new dir" / "a b.txt").read_text() == awkward
    assert run("read_file", path="new dir/a b.txt").stdout == awkward
    assert run("edit_file", path="new dir/a b.txt", old="$HOME `x`", new="'y'").returncode == 0
    assert (tmp_path / "new dir" / "a b.txt").read_text() == "it's \"odd\" 'y' \\n\n"
    assert "a b.txt:1:it's" in run("search", pattern="it's", path=".").stdout
    missing = run("edit_file", path="new dir/a b.txt", old="absent", new="z")
    assert missing.returncode == 1
    assert "not found exactly once" in missing.stderr
