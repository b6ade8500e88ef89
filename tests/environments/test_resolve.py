"""Who says what a repository needs, best first."""

from pathlib import Path

import pytest

from journeyman.environments.plan import Environment, InstallCommand
from journeyman.environments.project import Project, read_project
from journeyman.environments.resolve import resolve
from journeyman.errors import InvalidEnvironment
from journeyman.git.locks import FileLock
from journeyman.git.mirror import Mirror
from tests.environments.projects import project_of
from tests.git.repositories import git, make_repository

OWN = ".journeyman/environment.yaml"
DEVCONTAINER = ".devcontainer/devcontainer.json"
COPILOT = ".github/workflows/copilot-setup-steps.yml"
EVERY: dict[str, str | None] = {
    OWN: "install: [make own]",
    DEVCONTAINER: '{"postCreateCommand": "make devcontainer"}',
    ".cursor/environment.json": '{"install": "make cursor"}',
    COPILOT: "jobs: {copilot-setup-steps: {steps: [{run: make copilot}]}}",
    ".openinspect/setup.sh": "make",
}
NOTHING = Environment()
DETECTED = Environment(
    ecosystems=("Python (pip)",),
    install=(InstallCommand(command="pip install -e .", why="pyproject.toml"),),
    key_files=("pyproject.toml",),
)


def installed(environment: Environment) -> list[str]:
    return [one.command for one in environment.install]


def test_what_the_server_has_decides_before_everything() -> None:
    environment = resolve(project_of(EVERY), stored="install: [make server]", detected=DETECTED)
    assert (installed(environment), environment.source) == (["make server"], "server")


@pytest.mark.parametrize(
    ("taken_away", "command"),
    [
        (0, "make own"),
        (1, "make devcontainer"),
        (2, "make cursor"),
        (3, "make copilot"),
        (4, "bash .openinspect/setup.sh"),
    ],
)
def test_the_best_file_that_is_there_decides(taken_away: int, command: str) -> None:
    files = dict(list(EVERY.items())[taken_away:])
    environment = resolve(project_of(files), stored=None, detected=NOTHING)
    assert installed(environment) == [command]
    assert environment.source == next(iter(files))


def test_without_any_definition_the_environment_is_what_was_detected() -> None:
    assert resolve(project_of({"pyproject.toml": ""}), stored=None, detected=DETECTED) is DETECTED


def test_our_own_file_replaces_what_was_detected() -> None:
    environment = resolve(project_of({OWN: "install: [make]"}), stored=None, detected=DETECTED)
    assert installed(environment) == ["make"]
    assert not environment.install[0].is_optional


def test_what_other_products_install_comes_after_what_was_detected_and_may_fail() -> None:
    file = '{"onCreateCommand": "pip install -e .", "postCreateCommand": "pre-commit install"}'
    environment = resolve(project_of({DEVCONTAINER: file}), stored=None, detected=DETECTED)
    assert [(one.command, one.is_optional) for one in environment.install] == [
        ("pip install -e .", False),
        ("pre-commit install", True),
    ]


@pytest.mark.parametrize(
    ("command", "is_run"),
    [
        ("npm install", False),
        ("npm ci --no-audit", False),
        ("npm install -g pnpm@9", True),
        ("npm run build", True),
        ("yarn", True),
        ("pip install -r requirements-ci.txt", True),
    ],
)
def test_packages_that_were_just_installed_are_not_installed_again(command: str, is_run: bool) -> None:
    detected = Environment(install=(InstallCommand(command="npm ci", why="package-lock.json"),))
    file = f'{{"install": "{command}"}}'
    environment = resolve(project_of({".cursor/environment.json": file}), stored=None, detected=detected)
    assert installed(environment) == (["npm ci", command] if is_run else ["npm ci"])
    elsewhere = Environment(install=(InstallCommand(command="npm ci", why="x", workdir="web"),))
    environment = resolve(project_of({".cursor/environment.json": file}), stored=None, detected=elsewhere)
    assert installed(environment) == ["npm ci", command]


def test_a_mistake_in_our_own_file_is_an_error_with_its_line() -> None:
    with pytest.raises(InvalidEnvironment) as caught:
        resolve(project_of({**EVERY, OWN: "env: {A: b}\ninstal: [x]"}), stored=None, detected=DETECTED)
    assert caught.value.message.startswith(f"{OWN}:2: ")
    with pytest.raises(InvalidEnvironment, match="server:1: "):
        resolve(project_of(EVERY), stored="instal: [x]", detected=DETECTED)


def test_our_own_file_that_was_too_large_to_be_read_is_an_error() -> None:
    with pytest.raises(InvalidEnvironment, match="larger than"):
        resolve(project_of({OWN: None}), stored=None, detected=DETECTED)


def test_a_broken_file_of_another_product_is_a_note_and_the_next_one_counts() -> None:
    files = {DEVCONTAINER: "{", ".cursor/environment.json": EVERY[".cursor/environment.json"]}
    environment = resolve(project_of(files), stored=None, detected=NOTHING)
    assert installed(environment) == ["make cursor"]
    assert [note for note in environment.notes if DEVCONTAINER in note]


def test_where_no_file_can_be_used_detection_counts_with_notes() -> None:
    files: dict[str, str | None] = {DEVCONTAINER: "{", COPILOT: "jobs: ["}
    environment = resolve(project_of(files), stored=None, detected=DETECTED)
    assert (environment.install, environment.source) == (DETECTED.install, "detected")
    assert len(environment.notes) == 2


def test_a_file_that_names_only_an_image_does_not_hide_one_that_installs() -> None:
    files = {DEVCONTAINER: '{"image": "registry.example/a"}', COPILOT: EVERY[COPILOT]}
    environment = resolve(project_of(files), stored=None, detected=NOTHING)
    assert (installed(environment), environment.source) == (["make copilot"], COPILOT)
    alone = resolve(project_of({DEVCONTAINER: files[DEVCONTAINER]}), stored=None, detected=DETECTED)
    assert (alone.image, alone.source, alone.install) == (
        "registry.example/a",
        DEVCONTAINER,
        DETECTED.install,
    )


def test_scripts_that_are_called_and_the_definition_itself_decide_about_the_layer() -> None:
    text = """\
install:
  - bash ./scripts/setup.sh --all; echo 'x
  - {command: "/workspace/web/go.sh && cat deps.txt", workdir: web}
"""
    files: dict[str, str | None] = {
        OWN: text,
        "scripts/setup.sh": "",
        "web/go.sh": "",
        "web/deps.txt": "",
        "b": "",
    }
    environment = resolve(project_of(files), stored=None, detected=DETECTED)
    assert environment.key_files == ("pyproject.toml", OWN, "scripts/setup.sh", "web/go.sh", "web/deps.txt")


def test_the_other_spelling_of_the_file_is_read_and_two_are_noted() -> None:
    other = ".journeyman/environment.yml"
    alone = resolve(project_of({other: "install: [make]"}), stored=None, detected=NOTHING)
    assert (installed(alone), alone.source) == (["make"], other)
    both = resolve(project_of({OWN: "install: [a]", other: "install: [b]"}), stored=None, detected=NOTHING)
    assert installed(both) == ["a"]
    assert other in both.notes[0]


async def read_commit(repository: Path, tmp_path: Path) -> Project:
    """A commit of a real repository, read as orders read theirs."""
    commit = git(repository, "rev-parse", "HEAD").strip()
    mirror = Mirror(repository / ".git", FileLock(tmp_path / "mirror.lock"))
    return await read_project(mirror, commit)


async def test_the_file_counts_as_it_is_in_the_commit_and_not_as_an_agent_leaves_it(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "repository", {OWN: "network: {agent: none}\n"})
    (repository / OWN).write_text("network: {agent: [evil.example]}\n")
    project = await read_commit(repository, tmp_path)
    assert resolve(project, stored=None, detected=DETECTED).agent_network == "none"


@pytest.mark.parametrize("target", ["/etc/passwd", "../other.yaml"])
async def test_a_link_in_place_of_the_file_is_not_followed(tmp_path: Path, target: str) -> None:
    repository = make_repository(tmp_path / "repository", {"other.yaml": "install: [evil]\n"})
    (repository / ".journeyman").mkdir()
    (repository / OWN).symlink_to(target)
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "Link")
    project = await read_commit(repository, tmp_path)
    assert resolve(project, stored=None, detected=DETECTED) is DETECTED


async def test_a_definition_of_ten_megabytes_in_a_commit_is_an_error(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "repository", {OWN: "# x\n" * 2_500_000})
    project = await read_commit(repository, tmp_path)
    with pytest.raises(InvalidEnvironment, match=f"{OWN}:1: it is larger than 64 kB"):
        resolve(project, stored=None, detected=DETECTED)
