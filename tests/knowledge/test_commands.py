"""Commands of a repository: what counts as one, what is wrong with the others, and what a call becomes."""

import pytest

from journeyman.errors import InvalidInput
from journeyman.knowledge.commands import (
    MAX_BYTES,
    MAX_FILES,
    Command,
    CommandCall,
    CommandFile,
    CommandFileProblem,
    Commands,
    call_in,
    expand,
    read_commands,
)


def file(name: str, content: str | bytes = "Do it.", **more: bool) -> CommandFile:
    content = content.encode() if isinstance(content, str) else content
    return CommandFile(f".claude/commands/{name}", len(content), content=content, **more)


def command(content: str) -> Command:
    [found] = read_commands([file("fix.md", content)]).commands
    return found


def problem(wrong: CommandFile) -> CommandFileProblem:
    """What is said of a file, while another one beside it still counts."""
    read = read_commands([wrong, file("good.md")])
    assert [one.name for one in read.commands] == ["good"]
    [found] = read.problems
    assert found.path == wrong.path
    assert found.hint
    return found


def test_a_command_is_named_by_its_path_and_described_by_its_front_matter() -> None:
    read = read_commands(
        [
            file("fix.md", "---\ndescription: Fix an issue\nargument-hint: [number]\n---\nFix issue $1.\n"),
            file("web/test.md", "# Test the page\n\nRun it."),
        ]
    )
    assert [(one.name, one.description, one.argument_hint) for one in read.commands] == [
        ("fix", "Fix an issue", "[number]"),
        ("web:test", "Test the page", ""),
    ]
    assert read.commands[0].body == "Fix issue $1."
    assert not read.problems


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("argument-hint: [file] [line]", "[file] [line]"),
        ("argument-hint: add: one | remove: one", "add: one | remove: one"),
        ("argument-hint: '[quoted]'", "[quoted]"),
        ("argument-hint:\n  - one\n  - two", "[one] [two]"),
        ("allowed-tools: Bash(git:*)\nmodel: some-model\nargument-hint: 7", "7"),
    ],
)
def test_front_matter_is_read_as_people_write_it(line: str, hint: str) -> None:
    assert command(f"---\n{line}\n---\nGo.").argument_hint == hint


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (file("link.md", is_link=True), "link"),
        (file("two words.md"), "cannot be called"),
        (file("-x.md"), "cannot be called"),
        (file("../up.md"), "cannot be called"),
        (file(f"{'a' * 65}.md"), "cannot be called"),
        (file("a/b/c/d/e/f.md"), "cannot be called"),
        (file("a:b.md"), "cannot be called"),
        (file("\\xff.md"), "cannot be called"),
        (file("big.md", "x" * (MAX_BYTES + 1)), "64,001 bytes"),
        (file("latin.md", b"caf\xe9"), "UTF-8"),
        (file("nul.md", "a\0b"), "U+0000"),
        (file("empty.md", " \n"), "says nothing"),
        (file("head.md", "---\ndescription: x\n---\n"), "says nothing"),
        (file("open.md", "---\ndescription: x\n"), "no end"),
        (file("yaml.md", "---\na: [\n---\nGo."), "not valid YAML"),
        (file("deep.md", f"---\na: {'[' * 20000}\n---\nGo."), "not valid YAML"),
        (file("list.md", "---\n- a\n---\nGo."), "no table"),
        (CommandFile(".claude/commands", 9, is_link=True), "link"),
    ],
    ids=lambda value: value.path if isinstance(value, CommandFile) else None,
)
def test_a_bad_file_is_reported_by_name_and_the_others_count(wrong: CommandFile, said: str) -> None:
    assert said in problem(wrong).message


def test_files_that_are_no_markdown_are_passed_over() -> None:
    assert read_commands([file("notes.txt"), file("run.sh")]) == Commands()


def test_more_files_than_allowed_are_told_in_one_line() -> None:
    read = read_commands([file(f"c{number:03}.md") for number in range(MAX_FILES + 7)])
    assert len(read.commands) == MAX_FILES
    [told] = read.problems
    assert told.message.startswith("7 more files")


@pytest.mark.parametrize(
    ("prompt", "call"),
    [
        ("/fix 12", CommandCall("fix", "12")),
        ("  /fix\n", CommandCall("fix", "")),
        ("/web:test a\nb", CommandCall("web:test", "a\nb")),
        ("/usr/bin/env is missing", None),
        ("/ is full", None),
        ("//comment", None),
        ("fix /etc", None),
        ("/fix, then go", None),
        ("/etc", CommandCall("etc", "")),
    ],
)
def test_a_call_is_a_slash_a_name_and_arguments(prompt: str, call: CommandCall | None) -> None:
    assert call_in(prompt) == call


def test_the_last_part_of_a_name_is_enough_where_it_is_the_only_one() -> None:
    read = read_commands([file("web/test.md"), file("api/test.md"), file("api/lint.md"), file("lint.md")])
    found = {name: read.find(name) for name in ("test", "web:test", "lint", "api:lint", "nothing")}
    assert {name: one.name if one else None for name, one in found.items()} == {
        "test": None,
        "web:test": "web:test",
        "lint": "lint",
        "api:lint": "api:lint",
        "nothing": None,
    }
    only = read_commands([file("web/test.md")]).find("test")
    assert only is not None
    assert only.name == "web:test"


@pytest.mark.parametrize(
    ("body", "arguments", "text"),
    [
        ("Fix $1 in $2.", "12 'the pager'", "Fix 12 in the pager."),
        ("Do: $ARGUMENTS!", "a  b", "Do: a  b!"),
        ("Fix $1$3.", "it's broken", "Fix it's."),
        ("Costs $10 or \\$1, \\$ARGUMENTS", "x", "Costs $10 or $1, $ARGUMENTS\n\nArguments: x"),
        ("Echo $1", "$2 $ARGUMENTS", "Echo $2"),
        ("Just go.", "", "Just go."),
        ("Just go.", "there", "Just go.\n\nArguments: there"),
        ("Run !`ls` and read @file", "", "Run !`ls` and read @file"),
    ],
)
def test_arguments_are_put_in_their_places_once(body: str, arguments: str, text: str) -> None:
    assert expand(command(body), arguments) == text


def test_an_expansion_that_would_be_too_long_is_refused_before_it_is_made() -> None:
    with pytest.raises(InvalidInput, match="200,000"):
        expand(command("$ARGUMENTS " * 5000), "x" * 100_000)
