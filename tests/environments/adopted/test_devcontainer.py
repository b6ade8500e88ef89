"""What a repository says in `devcontainer.json` is used as far as it can be."""

import json

import pytest

from journeyman.environments.adopted.devcontainer import adopt
from journeyman.environments.definition import Definition
from journeyman.environments.plan import Service
from tests.environments.projects import project_of

PATH = ".devcontainer/devcontainer.json"


def adopted(file: object, *others: str) -> Definition:
    text = file if isinstance(file, str) else json.dumps(file)
    definition = adopt(project_of({PATH: text, **dict.fromkeys(others, "")}))
    assert definition is not None
    return definition


def commands(definition: Definition) -> list[str]:
    return [one.command for one in definition.install or ()]


def test_a_repository_without_one_has_none() -> None:
    assert adopt(project_of({"README.md": ""})) is None


def test_comments_and_trailing_commas_are_read() -> None:
    text = """\ufeff{
      // the image
      "image": "registry.example/python:3.12", /* and "more" // of it */
      "containerEnv": {"URL": "https://x.example/a//b", "GLOB": "/*", "C": ",}",},
      "postCreateCommand": "make \\"a // b\\"", }
    """
    definition = adopted(text)
    assert definition.image == "registry.example/python:3.12"
    assert definition.env == {"URL": "https://x.example/a//b", "GLOB": "/*", "C": ",}"}
    assert commands(definition) == ['make "a // b"']
    assert definition.notes == ()


def test_commands_of_the_first_stages_install_in_their_order() -> None:
    definition = adopted(
        {
            "postCreateCommand": {"web": "npm ci", "api": ["pip", "install", "-r", "a b.txt"]},
            "onCreateCommand": "make one",
            "updateContentCommand": ["make", "two"],
            "postStartCommand": "redis-server --daemonize yes",
        }
    )
    assert commands(definition) == ["make one", "make two", "npm ci", "pip install -r 'a b.txt'"]
    assert definition.start == (Service(command="redis-server --daemonize yes"),)
    assert definition.is_adopted
    assert definition.source == PATH


def test_paths_of_the_container_become_those_of_the_sandbox() -> None:
    definition = adopted(
        {
            "workspaceFolder": "/workspaces/${localWorkspaceFolderBasename}/api",
            "postCreateCommand": "ls ${containerWorkspaceFolder} /workspaces/workspace/a /workspaces/x",
            "containerEnv": {"ROOT": "${containerWorkspaceFolder}/src"},
        },
        "api/setup.sh",
    )
    assert commands(definition) == ["ls /workspace /workspace/a /workspaces/x"]
    assert definition.workdir == "api"
    assert definition.env == {"ROOT": "/workspace/src"}


@pytest.mark.parametrize("folder", ["/app", "/", "", "/workspaces/repo", "/workspaces/repo/gone", 5, "../.."])
def test_a_folder_that_is_not_a_directory_of_the_repository_is_its_root(folder: object) -> None:
    definition = adopted({"workspaceFolder": folder, "postCreateCommand": "/app/x /apple"}, "app/x")
    assert definition.workdir is None
    assert commands(definition) == ["/workspace/x /apple" if folder == "/app" else "/app/x /apple"]


def test_variables_of_another_machine_and_of_the_sandbox_are_left_out_and_noted() -> None:
    definition = adopted(
        {
            "containerEnv": {"PATH": "/x", "A": "1", "N": 5, "B": True, "L": ["x"], "X-Y": "z"},
            "remoteEnv": {"TOKEN": "${localEnv:TOKEN}", "D": "${localEnv:D:default}", "GONE": None},
        }
    )
    assert definition.env == {"A": "1", "N": "5", "B": "true", "D": "default"}
    for name in ("PATH", "TOKEN", "variable L", "X-Y"):
        assert any(name in note for note in definition.notes), name


def test_what_cannot_be_had_here_is_noted() -> None:
    definition = adopted(
        {
            "build": {"dockerfile": "Dockerfile"},
            "dockerComposeFile": "compose.yml",
            "features": {
                "registry.example/devcontainers/features/node:1": {"version": "20"},
                "registry.example/devcontainers/features/python:1": {"version": "latest"},
                "registry.example/devcontainers/features/github-cli:1": {},
            },
            "initializeCommand": "echo host",
            "postAttachCommand": "echo editor",
        }
    )
    text = "\n".join(definition.notes)
    for word in ("Dockerfile", "containers", "github-cli", "initializeCommand", "postAttachCommand"):
        assert word in text
    assert [(one.tool, one.version) for one in definition.tools] == [("node", "20")]
    assert definition.install is None


def test_system_packages_are_left_out_and_the_rest_of_the_command_stays() -> None:
    definition = adopted(
        {"postCreateCommand": "sudo apt-get update && sudo apt-get install -y libpq-dev && pip install -e ."}
    )
    assert commands(definition) == ["pip install -e ."]
    assert "left out `sudo apt-get update`" in definition.notes[0]
    assert "needs root" in definition.notes[0]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ('{"image": "x"', "not JSON"),
        ("[1]", "not a mapping"),
        ("null", "not a mapping"),
        ("[" * 100_000, "not JSON"),
        ('{"a": ' * 50_000, "not JSON"),
        ("9" * 100_000, "not JSON"),
        ("/*" * 100_000, "not JSON"),
        ('"' + '\\"' * 100_000, "not JSON"),
        ("," * 200_000, "not JSON"),
    ],
)
def test_a_broken_file_is_a_note(text: str, note: str) -> None:
    definition = adopted(text)
    assert note in definition.notes[0]
    assert (definition.install, definition.start, definition.env) == (None, None, {})


@pytest.mark.parametrize(
    "value",
    [5, True, [5], {"a": {"b": "c"}}, {"a": 5}, "a\u0000b", "a\u202eb", "x" * 30_000, [[]], {"a": [1]}],
)
def test_a_command_that_is_none_is_a_note_and_the_others_stay(value: object) -> None:
    definition = adopted({"onCreateCommand": value, "postCreateCommand": "make"})
    assert commands(definition) == ["make"]
    assert definition.notes


@pytest.mark.parametrize(
    "file",
    [
        {"containerEnv": 5, "remoteEnv": [], "features": [], "build": "x", "image": 5, "workspaceFolder": []},
        {"image": "-v /:/host", "features": {"a": 5}, "build": {"dockerfile": {}}},
        {"containerEnv": {"": "x", "A": {}, "B\u0000": "x", "C": "\u0000"}},
    ],
)
def test_wrong_types_never_crash(file: dict[str, object]) -> None:
    definition = adopted({**file, "postCreateCommand": "make"})
    assert (commands(definition), definition.env, definition.image) == (["make"], {}, None)


def test_ten_thousand_commands_are_cut() -> None:
    definition = adopted({"postCreateCommand": {str(number): f"make {number}" for number in range(10_000)}})
    assert len(commands(definition)) == 200
    assert "more than 200 commands" in definition.notes[-1]


def test_a_file_that_was_too_large_to_be_read_is_a_note() -> None:
    definition = adopt(project_of({PATH: None}))
    assert definition is not None
    assert "too large" in definition.notes[0]


def test_of_several_the_first_is_used_and_that_is_noted() -> None:
    files: dict[str, str | None] = {
        f".devcontainer/{name}/devcontainer.json": f'{{"postCreateCommand": "make {name}"}}'
        for name in ("b", "a")
    }
    definition = adopt(project_of(files))
    assert definition is not None
    assert commands(definition) == ["make a"]
    assert "2 such files" in definition.notes[0]
