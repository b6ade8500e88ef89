from collections.abc import Callable
from typing import Any

import pytest

from journeyman.agents.builtin.tools import TOOLS
from journeyman.agents.deliverables import plain_schema
from journeyman.agents.limits import MAX_OUTPUT_CHARACTERS, clip
from journeyman.agents.plan import Plan
from journeyman.errors import SandboxLost
from journeyman.events.types import ToolCallCompleted, ToolCallStarted
from tests.agents.turns import Workplace, call, calls, says
from tests.standins.plain_sandbox import PlainSandbox


async def used(place: Workplace, name: str, **arguments: Any) -> ToolCallCompleted:
    await place.play(calls(name, **arguments), says("Done."))
    *_, finished = place.of(ToolCallCompleted)
    return finished


@pytest.mark.parametrize(
    ("before", "edit", "after"),
    [
        ("a = 1\n", {"old": "a = 1", "new": "a = 2"}, "a = 2\n"),
        ("x\nx\n", {"old": "x", "new": "y", "replace_all": True}, "y\ny\n"),
        ("a\r\nb\r\n", {"old": "a\nb", "new": "c\nd\ne"}, "c\r\nd\r\ne\r\n"),
        ("naïve\n", {"old": "ï", "new": "i"}, "naive\n"),
        ("keep\ngone\n", {"old": "gone\n", "new": ""}, "keep\n"),
    ],
)
async def test_an_edit_replaces_exactly_what_it_names(
    place: Workplace, before: str, edit: dict[str, Any], after: str
) -> None:
    file = place.tree / "file.txt"
    file.write_bytes(before.encode())
    assert (await used(place, "edit_file", path="file.txt", **edit)).ok
    assert file.read_bytes().decode() == after


@pytest.mark.parametrize(
    ("content", "edit", "said"),
    [
        (b"x\nx\n", {"old": "x", "new": "y"}, "occurs 2 times"),
        (b"    deep()\n", {"old": "deep()\nmore", "new": "y"}, "Line 1 is '    deep()'"),
        (b"a\n", {"old": "b", "new": "c"}, "not found"),
        (b"a\n", {"old": "a", "new": "a"}, "the same"),
        (b"a\n", {"old": "", "new": "a"}, "at least 1 character"),
        (b"\xff\xfe", {"old": "a", "new": "b"}, "not UTF-8"),
        (b"a" * 2_000_001, {"old": "a", "new": "b"}, "too large"),
    ],
)
async def test_an_edit_that_is_not_certain_changes_nothing_and_says_why(
    place: Workplace, content: bytes, edit: dict[str, Any], said: str
) -> None:
    file = place.tree / "file.txt"
    file.write_bytes(content)
    finished = await used(place, "edit_file", path="file.txt", **edit)
    assert not finished.ok
    assert said in finished.output
    assert file.read_bytes() == content


async def test_edits_of_one_answer_to_one_file_do_not_lose_each_other(place: Workplace) -> None:
    names = [f"name{number}" for number in range(10)]
    (place.tree / "file.txt").write_text("\n".join(f"<{name}>" for name in names))
    edits = [call("edit_file", path="file.txt", old=f"<{name}>", new=name) for name in names]
    await place.play({"tools": edits}, says("Done."))
    assert (place.tree / "file.txt").read_text() == "\n".join(names)


async def test_a_file_is_read_in_pieces_that_say_what_they_are(place: Workplace) -> None:
    (place.tree / "file.txt").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    finished = await used(place, "read_file", path="file.txt", offset=4, limit=2)
    assert finished.output == "[lines 4 to 5 of 10; go on with offset 6]\n4\tline 4\n5\tline 5"
    whole = await used(place, "read_file", path="file.txt")
    assert whole.output.startswith("1\tline 1\n2\tline 2\n")


async def test_a_long_file_is_cut_at_the_end_of_a_line_and_can_be_read_on_to_its_end(
    place: Workplace,
) -> None:
    lines = [f"{number} " + "x" * (number % 40) for number in range(1, 3125)]
    lines[7] = "y" * 200_000
    (place.tree / "long.txt").write_text("\n".join(lines) + "\n")
    seen: list[str] = []
    while len(seen) < len(lines):
        finished = await used(place, "read_file", path="long.txt", offset=len(seen) + 1)
        assert len(finished.output) <= MAX_OUTPUT_CHARACTERS
        assert "characters left out" not in finished.output
        header, *numbered = finished.output.split("\n")
        first, last = len(seen) + 1, len(seen) + len(numbered)
        assert header.startswith(f"[lines {first} to {last} of 3124")
        assert (f"offset {last + 1}" in header) is (last < 3124)
        assert [int(line.split("\t")[0]) for line in numbered] == list(range(first, last + 1))
        seen += [line.split("\t", 1)[1] for line in numbered]
    assert seen[:7] + seen[8:] == lines[:7] + lines[8:]
    assert "195,000 more characters of this line" in seen[7]


@pytest.mark.parametrize(
    ("path", "ok", "said"),
    [
        ("missing.txt", False, "No such file"),
        (".", False, "Is a directory"),
        ("binary", False, "binary file"),
        ("empty", True, "the file is empty"),
        ("nul\0name", False, "NUL"),
    ],
)
async def test_what_cannot_be_read_is_answered(place: Workplace, path: str, ok: bool, said: str) -> None:
    (place.tree / "binary").write_bytes(b"\x7fELF\0\0")
    (place.tree / "empty").touch()
    finished = await used(place, "read_file", path=path)
    assert (finished.ok, said in finished.output) == (ok, True)


async def test_a_file_is_written_with_the_directories_above_it(place: Workplace) -> None:
    assert (await used(place, "write_file", path="a/b/c.txt", content="ä\n")).ok
    assert (place.tree / "a/b/c.txt").read_text() == "ä\n"


async def test_a_refused_write_is_answered(place: Workplace) -> None:
    place.sandbox = PlainSandbox(place.tree, writable=False)
    finished = await used(place, "write_file", path="a.txt", content="x")
    assert not finished.ok
    assert "read-only" in finished.output


async def test_a_command_gives_output_and_exit_code(place: Workplace) -> None:
    finished = await used(place, "shell", command="echo out; echo err >&2; exit 3")
    assert (finished.ok, finished.exit_code) == (False, 3)
    assert finished.output == "out\nerr\n[exit code 3]"


async def test_a_command_ends_at_its_time_limit(place: Workplace) -> None:
    finished = await used(place, "shell", command="echo begun; sleep 600", timeout_seconds=0.3)
    assert (finished.ok, finished.exit_code) == (False, None)
    assert "time limit" in finished.output


async def test_no_command_may_ask_for_more_time_than_the_operator_allows(home: Any) -> None:
    place = Workplace(home, {"JOURNEYMAN_SANDBOX_COMMAND_TIMEOUT_SECONDS": "0.3"})
    finished = await used(place, "shell", command="sleep 600", timeout_seconds=500)
    assert "ended after 0.3 seconds" in finished.output


@pytest.mark.parametrize(
    ("arguments", "ok", "said"),
    [
        ({"pattern": r"def \w+"}, True, "code.py:1:def found"),
        ({"pattern": "found", "path": "code.py"}, True, "found"),
        ({"pattern": "nowhere"}, True, "[no matches]"),
        ({"pattern": "-x"}, True, "[no matches]"),
        ({"pattern": "("}, False, "("),
        ({"pattern": "a", "path": "missing"}, False, "missing"),
    ],
)
async def test_a_search_answers_with_path_and_line(
    place: Workplace, arguments: dict[str, Any], ok: bool, said: str
) -> None:
    (place.tree / "code.py").write_text("def found():\n    pass\n")
    finished = await used(place, "search", **arguments)
    assert (finished.ok, said in finished.output) == (ok, True), finished.output


async def test_long_output_keeps_head_and_tail(place: Workplace) -> None:
    finished = await used(place, "shell", command="echo first; seq 100000; echo last")
    assert len(finished.output) < MAX_OUTPUT_CHARACTERS + 100
    assert finished.output.startswith("first\n")
    assert "characters left out" in finished.output
    assert finished.output.endswith("last\n[exit code 0]")


@pytest.mark.parametrize("length", [0, 1, 99, 100])
def test_short_text_is_not_clipped(length: int) -> None:
    assert clip("x" * length, 100) == "x" * length


async def test_parallel_tools_run_at_the_same_time_and_answer_in_order(place: Workplace) -> None:
    """Each command waits for what the other one makes: one after the other they could not end well."""
    wait = "for _ in $(seq 500); do [ -e {0} ] && break; sleep 0.01; done; [ -e {0} ]"
    first = call("shell", command="touch a; " + wait.format("b") + "; echo first $?")
    second = call("shell", command="touch b; " + wait.format("a") + "; echo second $?")
    echo = calls("shell", command="cat > seen <<'END'\n{{ last_output }}\nEND")
    await place.play({"tools": [first, second]}, echo, says("Done."))
    outputs = {finished.call_id: finished.output for finished in place.of(ToolCallCompleted)}
    assert outputs["call-1-1"].startswith("first 0")
    assert outputs["call-1-2"].startswith("second 0")
    assert (place.tree / "seen").read_text().startswith("second 0"), "answers are not in the calls' order"


async def test_a_lost_sandbox_ends_the_turn_and_the_other_tools_with_it(place: Workplace) -> None:
    class Failing(PlainSandbox):
        async def read_file(self, path: str, *, limit: int = 2_000_000) -> bytes:
            await self.started.get()
            raise SandboxLost("gone")

    sandbox = Failing(place.tree)
    place.sandbox = sandbox
    with pytest.raises(SandboxLost):
        await place.play({"tools": [call("shell", command="sleep 600"), call("read_file", path="a")]})
    assert sandbox.running == set()


async def test_arguments_too_long_to_show_are_shortened_in_what_is_told(place: Workplace) -> None:
    await place.play(calls("write_file", path="a.txt", content="x" * 10_000), says("Done."))
    (started,) = place.of(ToolCallStarted)
    assert len(started.arguments["content"]) < 5000
    assert len((place.tree / "a.txt").read_text()) == 10_000


@pytest.mark.parametrize("model", [*(tool.arguments for tool in TOOLS.values()), Plan])
def test_schemas_carry_no_titles_but_keep_fields_called_title(model: Any) -> None:
    schema = plain_schema(model)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    titles: list[Any] = []

    def walk(node: Any, visit: Callable[[Any], None]) -> None:
        for value in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            visit(value)
            walk(value, visit)

    walk({"": schema}, lambda node: titles.append(node.get("title")) if isinstance(node, dict) else None)
    assert [title for title in titles if isinstance(title, str)] == []
    if model is Plan:
        assert "title" in schema["$defs"]["Subtask"]["properties"]
